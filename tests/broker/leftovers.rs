//! What a crash has left goes back, even where nothing else can be done.

use anyhow::{Result, ensure};
use rustix::process::{Signal, geteuid};
use serde_json::json;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use tests::{Finished, Process, Server, Tree, program, scratch};

/// A command on this tree with this state directory.
fn run(tree: &Tree, state: &Path, args: &[&str]) -> Result<Finished> {
    let mut command = Command::new(program()?);
    command.arg("--sysroot").arg(tree.path()).arg("--state-dir").arg(state).args(args);
    Finished::of(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
}

/// `serve`, which is to be refused.
fn serve(tree: &Tree, state: &Path) -> Result<Finished> {
    run(tree, state, &["serve", "--port", "0", "--user", "nobody"])
}

#[tokio::test]
async fn a_server_that_may_not_start_puts_back_first() -> Result<()> {
    let tree = Tree::laptop()?;
    let mut server = Server::below(tree.path())?;
    server.post("/knobs", &json!({ "set": [{ "id": "cpu.turbo", "value": "off" }] })).await?;
    let broker = Process::child(server.id(), "broker", None)?;
    let sentinel = Process::child(broker.pid, "sentinel", None)?;
    // At one blow: none of them has the time to put back.
    for signal in [Signal::STOP, Signal::KILL] {
        for process in [&sentinel, &broker] {
            process.signal(signal)?;
        }
    }
    server.end(Signal::KILL)?;
    broker.ended()?;
    sentinel.ended()?;
    ensure!(!tree.changes()?.is_empty(), "somebody has put back");
    fs::write(server.state_dir().join("stray"), "")?;
    // Not root, it is refused for the user.
    let why = if geteuid().is_root() { "stray" } else { "sudo" };
    serve(&tree, &server.state_dir())?.refused(5, &[why, "Put back", "cpu.turbo"])?;
    tree.assert_as_found()
}

#[test]
fn what_an_earlier_one_left_is_told_without_what_a_terminal_would_obey() -> Result<()> {
    let (tree, dir) = (Tree::laptop()?, scratch()?);
    let state = dir.path().join("st\u{1b}[2Jate\nPut back: nothing");
    ensure!(run(&tree, &state, &["knobs", "set", "cpu.turbo=off"])?.code == Some(0));
    for file in fs::read_dir(state.join("journal"))? {
        let mut file = fs::File::options().append(true).open(file?.path())?;
        file.write_all(b"damaged\n")?;
    }
    fs::write(state.join("stray"), "")?;
    let told = serve(&tree, &state)?;
    told.refused(5, &["of the journal was skipped", "st\\u{1b}[2Jate\\nPut back: nothing"])?;
    ensure!(!told.stderr.contains('\u{1b}'), "{told:?}");
    Ok(())
}

#[test]
fn what_stands_on_a_read_only_disk_is_put_back() -> Result<()> {
    if !geteuid().is_root() {
        eprintln!("skipped: needs root");
        return Ok(());
    }
    let (tree, dir) = (Tree::laptop()?, scratch()?);
    let mount =
        |args: &[&str]| -> Result<bool> { Ok(Command::new("mount").args(args).arg(dir.path()).status()?.success()) };
    if !mount(&["-t", "tmpfs", "-o", "mode=755", "brakecheck-test"])? {
        eprintln!("skipped: nothing can be mounted");
        return Ok(());
    }
    let state = dir.path().join("state");
    let result = (|| {
        ensure!(run(&tree, &state, &["knobs", "set", "cpu.turbo=off"])?.code == Some(0));
        ensure!(!tree.changes()?.is_empty());
        ensure!(mount(&["-o", "remount,ro"])?, "the disk stays writable");
        let listed = run(&tree, &state, &["knobs"])?;
        ensure!(listed.stdout.contains("set by Brakecheck; was on"), "{listed:?}");
        let restored = run(&tree, &state, &["restore"])?;
        ensure!(restored.stdout.contains("Everything is back"), "{restored:?}");
        tree.assert_as_found()
    })();
    ensure!(Command::new("umount").arg(dir.path()).status()?.success());
    result
}

#[test]
fn a_state_directory_that_somebody_planted_is_not_root_s() -> Result<()> {
    if !geteuid().is_root() {
        eprintln!("skipped: needs root");
        return Ok(());
    }
    let (tree, dir) = (Tree::laptop()?, scratch()?);
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755))?;
    let (link, target) = (dir.path().join("link"), dir.path().join("target"));
    fs::create_dir(&target)?;
    symlink(&target, &link)?;
    serve(&tree, &link)?.refused(5, &["is a link to", "--state-dir"])?;
    run(&tree, &link, &["knobs", "set", "cpu.turbo=off"])?.refused(5, &["is a link to"])?;
    chown(&target, Some(1), Some(1))?;
    serve(&tree, &target)?.refused(5, &["belongs to user 1", "nobody"])?;
    ensure!(fs::read_dir(&target)?.next().is_none(), "something was put into it");
    tree.assert_as_found()
}
