//! Embeds the page that Trunk built in `app/dist`, or a placeholder where there is none, and works out the hashes of
//! its inline scripts for the content security policy.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../app/dist");
    let built = dist.join("index.html").is_file();
    // A missing path would count as changed at every build; its parent changes when it appears.
    let watched = if built { "../app/dist" } else { "../app" };
    println!("cargo::rerun-if-changed={watched}");
    println!("cargo::rerun-if-changed=placeholder");
    let page = if built { dist } else { Path::new(env!("CARGO_MANIFEST_DIR")).join("placeholder") };
    let index = fs::read_to_string(page.join("index.html"))?;
    println!("cargo::rustc-env=BRAKECHECK_SCRIPT_HASHES={}", script_hashes(&index).join(" "));
    memory_serve::load_directory_with_embed(page.canonicalize()?.to_str().ok_or("path is not UTF-8")?, true);
    Ok(())
}

/// `'sha256-...'` of each inline script of an HTML page.
fn script_hashes(html: &str) -> Vec<String> {
    let scripts = html.split("<script").skip(1).filter_map(|rest| {
        let (attributes, rest) = rest.split_once('>')?;
        let (body, _) = rest.split_once("</script>")?;
        (!attributes.contains("src=") && !body.is_empty()).then_some(body)
    });
    scripts.map(|body| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(body)))).collect()
}
