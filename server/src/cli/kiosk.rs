//! `brakecheck kiosk`.

use super::Globals;
use crate::lock;
use crate::state_dir::StateDir;
use crate::token::Token;
use axum::http::Uri;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::kiosk::{Dim, Kiosk, Panel};
use protocol::units::Seconds;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Options of `kiosk`.
#[derive(Debug, clap::Args)]
pub struct KioskArgs {
    /// The viewers' address of a server, here or elsewhere [default: the server of this state directory]
    #[arg(long)]
    pub url: Option<Uri>,
    /// What is shown, in this order: run, verdict, ladder, host [default: as the server is configured]
    #[arg(long, value_delimiter = ',')]
    pub show: Vec<Panel>,
    /// How long each is shown, 5 s to an hour
    #[arg(long, value_parser = dwell)]
    pub dwell: Option<Seconds>,
    /// When the screen is darker, as 22:00-06:00
    #[arg(long)]
    pub dim: Option<Dim>,
    /// The browser [default: the first that is found of chromium, chromium-browser, google-chrome, firefox]
    #[arg(long, value_name = "PROGRAM")]
    pub browser: Option<PathBuf>,
}

fn dwell(text: &str) -> Result<Seconds, String> {
    Kiosk::checked_dwell(text.parse().map_err(|e: protocol::units::UnitError| e.to_string())?)
}

/// Browsers that have a mode without anything around the page.
const BROWSERS: [&str; 5] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "firefox"];
/// Options of Chromium for a screen that nobody stands at.
const ALONE: [&str; 6] = [
    "--kiosk",
    "--noerrdialogs",
    "--disable-infobars",
    "--no-first-run",
    "--disable-session-crashed-bubble",
    "--disable-features=Translate",
];
/// Pause between two questions whether the server answers.
const AGAIN: Duration = Duration::from_secs(1);

/// Shows the kiosk page on this host's display until the browser ends.
pub fn run(args: &KioskArgs, globals: &Globals) -> Result<(), ErrorBody> {
    let display =
        ["WAYLAND_DISPLAY", "DISPLAY"].iter().any(|name| std::env::var_os(name).is_some_and(|d| !d.is_empty()));
    if !display {
        return Err(usage("There is no display: neither WAYLAND_DISPLAY nor DISPLAY is set.")
            .hint("Start it within a desktop, or alone on a screen with `cage -- brakecheck kiosk`."));
    }
    let browser = browser(args.browser.as_deref())?;
    let (address, token) = server(args.url.as_ref(), globals)?;
    await_answer(&address);
    let profile = profile()?;
    let target = format!("{}/kiosk{}{token}", address.to_string().trim_end_matches('/'), query(args));
    let start = profile.join("start.html");
    let failed = |e: std::io::Error| usage(format!("{} cannot be written: {e}.", start.display()));
    // The address holds a token; a program's arguments can be read by every user of the machine.
    let page = format!("<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={}\">\n", escaped(&target));
    crate::state_dir::open_private(&start)
        .and_then(|mut file| file.set_len(0).and_then(|()| file.write_all(page.as_bytes())))
        .map_err(failed)?;
    let mut command = Command::new(&browser);
    if browser.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"firefox")) {
        command.arg("--kiosk").arg("--profile").arg(&profile);
    } else {
        let mut own = std::ffi::OsString::from("--user-data-dir=");
        own.push(&profile);
        command.args(ALONE).arg(own);
    }
    let cannot = |e: std::io::Error| {
        ErrorBody::new(ErrorCode::Internal, format!("{} cannot be started: {e}.", browser.display()))
    };
    let status = command.arg(format!("file://{}", start.display())).stdin(Stdio::null()).status().map_err(cannot)?;
    if status.success() {
        return Ok(());
    }
    Err(ErrorBody::new(ErrorCode::Internal, format!("{} ended with {status}.", browser.display())))
}

fn usage(message: impl Into<String>) -> ErrorBody {
    ErrorBody::new(ErrorCode::Usage, message)
}

/// The browser asked for, else the first one there is.
fn browser(asked: Option<&Path>) -> Result<PathBuf, ErrorBody> {
    if let Some(asked) = asked {
        return Ok(asked.to_owned());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        BROWSERS.iter().find_map(|name| std::env::split_paths(&path).map(|d| d.join(name)).find(|p| p.is_file()));
    found.ok_or_else(|| {
        usage(format!("No browser was found: there is none of {}.", BROWSERS.join(", ")))
            .hint("Install chromium, or name a browser with --browser.")
    })
}

/// Where the server is, and the fragment that lets the browser in.
fn server(url: Option<&Uri>, globals: &Globals) -> Result<(Uri, String), ErrorBody> {
    if let Some(url) = url {
        if url.authority().is_none() || !matches!(url.scheme_str(), Some("http" | "https")) || url.path() != "/" {
            return Err(usage(format!("--url {url} is not an address such as http://bench7:7412/.")));
        }
        return Ok((url.clone(), String::new()));
    }
    let none = || {
        usage("No server uses this state directory.")
            .hint("Start `brakecheck serve`, or name the viewers' address of one with --url.")
    };
    let state = StateDir::find(globals.state_path()?)?.ok_or_else(none)?;
    let holder = lock::holder(&state.server_lock())
        .map_err(|e| ErrorBody::new(ErrorCode::Internal, format!("The server's lock cannot be read: {e}.")))?;
    let address =
        holder.and_then(|h| h.what.parse::<Uri>().ok()).filter(|a| a.authority().is_some()).ok_or_else(none)?;
    let token = Token::load(&state).map_err(|e| {
        ErrorBody::new(ErrorCode::NotPermitted, e.message)
            .hint("Run it as the user of the server, or name the viewers' address with --url.")
    })?;
    Ok((address, format!("#token={}", token.secret())))
}

/// What the address asks the page for.
fn query(args: &KioskArgs) -> String {
    let show = args.show.iter().map(|panel| panel.name()).collect::<Vec<_>>().join(",");
    let asked = [
        (!show.is_empty()).then(|| format!("show={show}")),
        args.dwell.map(|dwell| format!("dwell={}", dwell.as_f64())),
        args.dim.map(|dim| format!("dim={dim}")),
    ];
    let asked = asked.into_iter().flatten().collect::<Vec<_>>().join("&");
    if asked.is_empty() { asked } else { format!("?{asked}") }
}

/// A directory of the browser's own, so that it opens nothing that was open before.
fn profile() -> Result<PathBuf, ErrorBody> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute("XDG_RUNTIME_DIR")
        .or_else(|| absolute("XDG_CACHE_HOME"))
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .ok_or_else(|| usage("No place for the browser's profile: neither XDG_RUNTIME_DIR nor HOME is set."))?;
    let profile = base.join("brakecheck-kiosk");
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&profile)
        .map_err(|e| usage(format!("{} cannot be made: {e}.", profile.display())))?;
    Ok(profile)
}

/// Waits until the server answers, so that the browser never shows a page of its own about it.
fn await_answer(address: &Uri) {
    let mut said = false;
    while !answers(address) {
        if !said {
            eprintln!("Waiting for the server at {address}. Ctrl-C ends it.");
            said = true;
        }
        std::thread::sleep(AGAIN);
    }
}

fn answers(address: &Uri) -> bool {
    let Some(host) = address.host() else { return false };
    let port = address.port_u16().unwrap_or(if address.scheme_str() == Some("https") { 443 } else { 80 });
    let name = host.trim_start_matches('[').trim_end_matches(']');
    let Ok(mut found) = (name, port).to_socket_addrs() else { return false };
    let Some(mut stream) = found.find_map(|a| TcpStream::connect_timeout(&a, AGAIN).ok()) else { return false };
    if address.scheme_str() == Some("https") {
        return true;
    }
    let asked = format!("GET /healthz HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n");
    let mut answer = [0; 12];
    stream.set_read_timeout(Some(AGAIN * 3)).is_ok()
        && stream.write_all(asked.as_bytes()).is_ok()
        && stream.read_exact(&mut answer).is_ok()
        && answer.starts_with(b"HTTP/1.1 ")
}

/// As the value of an attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        kiosk: KioskArgs,
    }

    #[test]
    fn options_become_the_address_and_what_is_wrong_is_named() {
        let line = |args: &[&str]| Line::try_parse_from(["kiosk"].iter().chain(args)).map(|l| query(&l.kiosk));
        assert_eq!(line(&[]).unwrap(), "");
        let all = ["--show", "run,verdict", "--dwell", "20", "--dim", "22:00-6:00"];
        assert_eq!(line(&all).unwrap(), "?show=run,verdict&dwell=20&dim=22:00-06:00");
        assert!(line(&["--show", "verdit"]).unwrap_err().to_string().contains("did you mean `verdict`?"));
        assert!(line(&["--dwell", "2"]).unwrap_err().to_string().contains("5 to 3600"));
    }
}
