//! Support archives, made and looked at by the program.

use anyhow::{Result, ensure};
use std::process::Command;
use tests::{Cli, scratch};

#[test]
fn an_archive_shows_the_machine_without_its_names() -> Result<()> {
    let (cli, dir) = (Cli::new()?, scratch()?);
    let file = dir.path().join("machine.tar.gz");
    let written = cli.run(["doctor".as_ref(), "--json".as_ref(), "--archive".as_ref(), file.as_os_str()])?.json()?;
    ensure!(written["files"].as_u64() > Some(20) && written["truncated"] == false, "{written}");
    let again = cli.run(["doctor".as_ref(), "--archive".as_ref(), file.as_os_str()])?;
    again.refused(2, &["is there already", "does not exist yet"])?;
    let tree = dir.path().join("tree");
    std::fs::create_dir(&tree)?;
    ensure!(Command::new("tar").arg("-xzf").arg(&file).arg("-C").arg(&tree).status()?.success(), "tar failed");

    let here = cli.run(["doctor", "--json"])?.json()?;
    let there = cli.run(["doctor".as_ref(), "--json".as_ref(), "--sysroot".as_ref(), tree.as_os_str()])?.json()?;
    for fact in ["kernel", "os", "cpu_model", "cpus", "machine", "virtualization", "settings", "daemons"] {
        ensure!(
            here["host"][fact] == there["host"][fact],
            "{fact}: {} and {}",
            here["host"][fact],
            there["host"][fact]
        );
    }
    ensure!(here["host"]["boot_id"] != there["host"]["boot_id"], "the boot id is not masked");
    Ok(())
}
