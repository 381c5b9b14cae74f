//! `brakecheck kiosk`.

use anyhow::{Context, Result, ensure};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tests::{Cli, Finished, Server, scratch};

/// Runs the command with this display, and its own directory for what the browser keeps.
fn kiosk(mut command: Command, display: &str, runtime: &Path) -> Result<Finished> {
    command.env_remove("WAYLAND_DISPLAY").env("DISPLAY", display).env("XDG_RUNTIME_DIR", runtime);
    Finished::of(command.spawn()?)
}

#[test]
fn without_a_display_or_a_server_it_says_so() -> Result<()> {
    let (cli, runtime) = (Cli::new()?, scratch()?);
    kiosk(cli.command(["kiosk"])?, "", runtime.path())?.refused(2, &["There is no display", "cage"])?;
    let browser = ["kiosk", "--browser", "/bin/true"];
    kiosk(cli.command(browser)?, ":9", runtime.path())?
        .refused(2, &["No server uses this state directory", "--url"])?;
    let nowhere = ["kiosk", "--browser", "/bin/true", "--url", "ftp://bench"];
    kiosk(cli.command(nowhere)?, ":9", runtime.path())?.refused(2, &["--url ftp://bench", "http://bench7:7412/"])?;
    kiosk(cli.command(["kiosk", "--show", "verdit"])?, ":9", runtime.path())?.refused(2, &["did you mean `verdict`?"])
}

#[test]
fn the_browser_is_let_in_without_a_token_on_its_command_line() -> Result<()> {
    let (server, runtime) = (Server::start()?, scratch()?);
    let browser = runtime.path().join("chromium");
    let told = runtime.path().join("told");
    std::fs::write(&browser, format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > '{}'\n", told.display()))?;
    std::fs::set_permissions(&browser, Permissions::from_mode(0o755))?;
    let mut command = Command::new(tests::program()?);
    command.arg("--state-dir").arg(server.state_dir()).args(["kiosk", "--show", "run,host", "--browser"]).arg(&browser);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let finished = kiosk(command, ":9", runtime.path())?;
    ensure!(finished.code == Some(0), "{finished:?}");
    let token = server.url().rsplit("#token=").next().context("it has a token")?;
    let told = std::fs::read_to_string(&told)?;
    ensure!(told.contains("--kiosk") && told.contains("file://") && !told.contains(token), "{told}");
    let start = runtime.path().join("brakecheck-kiosk/start.html");
    let page = std::fs::read_to_string(&start)?;
    ensure!(page.contains(&format!("{}#token={token}", server.page("/kiosk?show=run,host"))), "{page}");
    ensure!(start.metadata()?.permissions().mode() & 0o777 == 0o600);
    Ok(())
}
