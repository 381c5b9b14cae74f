//! `knobs` and `restore`, with and without a server.

use anyhow::{Result, ensure};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use tests::{Finished, Server, Tree, await_that, program, scratch};

/// A command on this tree with this state directory.
fn run(tree: &Tree, state: &Path, args: &[&str]) -> Result<Finished> {
    let mut command = Command::new(program()?);
    command.arg("--sysroot").arg(tree.path()).arg("--state-dir").arg(state).args(args);
    Finished::of(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
}

fn value(state: &Value, id: &str) -> Option<String> {
    let knob = state["knobs"].as_array()?.iter().find(|k| k["id"] == id)?;
    Some(format!("{} {}", knob["value"].as_str()?, knob["origin"].as_str()?))
}

#[test]
fn settings_are_listed_set_and_put_back_without_a_server() -> Result<()> {
    let (tree, state) = (Tree::laptop()?, scratch()?);
    let run = |args: &[&str]| run(&tree, state.path(), args);
    let before = run(&["knobs", "--json"])?.json()?;
    ensure!(value(&before, "cpu.turbo").as_deref() == Some("on found"), "{before}");
    ensure!(!state.path().join("journal").exists(), "a look leaves nothing behind");

    let set = run(&["knobs", "set", "cpu.turbo=off", "--json"])?.json()?;
    ensure!(set["outcomes"][0]["verdict"] == "applied", "{set}");
    ensure!(value(&run(&["knobs", "list", "--json"])?.json()?, "cpu.turbo").as_deref() == Some("off ours"));
    ensure!(run(&["restore", "--session"])?.code == Some(0));
    ensure!(!tree.changes()?.is_empty(), "it was to be kept");

    let script = run(&["restore", "--dry-run"])?;
    ensure!(!tree.changes()?.is_empty(), "a dry run changes something");
    let shell = Command::new("sh").arg("-c").arg(&script.stdout).status()?;
    ensure!(shell.success(), "{}", script.stdout);
    // But for the note of where the settings are written down: the shell knows nothing of it.
    let left = tree.changes()?;
    ensure!(left.iter().all(|change| change.contains("/run/brakecheck/")), "{left:?}");
    ensure!(run(&["restore"])?.code == Some(0));
    tree.assert_as_found()
}

#[test]
fn what_cannot_be_set_is_said_and_nothing_is_set() -> Result<()> {
    let (tree, state) = (Tree::laptop()?, scratch()?);
    let run = |args: &[&str]| run(&tree, state.path(), args);
    let before = run(&["knobs"])?.stdout;
    run(&["knobs", "set", "cpu.turbo=maybe", "cpu.governor=performance"])?.refused(2, &["cpu.turbo", "on, off"])?;
    run(&["knobs", "set", "cpu.warp=on"])?.refused(2, &["cpu.warp"])?;
    run(&["knobs", "set", "cpu.turbo"])?.refused(2, &["ID=VALUE"])?;
    run(&["knobs", "set", "cpu.turbo=off", "--for", "0"])?.refused(2, &["1 s"])?;
    if before.contains("cpu.latency-limit") {
        run(&["knobs", "set", "cpu.latency-limit=none"])?.refused(5, &["serve"])?;
    }
    tree.assert_as_found()
}

#[test]
fn somebody_elses_change_is_left_alone_unless_forced() -> Result<()> {
    let (tree, state) = (Tree::laptop()?, scratch()?);
    let run = |args: &[&str]| run(&tree, state.path(), args);
    ensure!(run(&["knobs", "set", "cpu.governor=performance"])?.code == Some(0));
    let changed = tree.changes()?;
    let file = changed.iter().find_map(|c| c.split(": ").next().filter(|p| p.ends_with("scaling_governor")));
    let file = file.map(std::path::PathBuf::from).ok_or_else(|| anyhow::anyhow!("no governor in {changed:?}"))?;
    std::fs::write(&file, "userspace\n")?;
    let restored = run(&["restore"])?;
    ensure!(restored.code == Some(0) && restored.stdout.contains("somebody else"), "{restored:?}");
    ensure!(std::fs::read_to_string(&file)? == "userspace\n");
    ensure!(run(&["restore", "--force"])?.code == Some(0));
    tree.assert_as_found()
}

#[test]
fn what_is_set_for_a_time_goes_back_by_itself() -> Result<()> {
    let (tree, state) = (Tree::laptop()?, scratch()?);
    let set = run(&tree, state.path(), &["knobs", "set", "cpu.turbo=off", "--for", "1s"])?;
    ensure!(set.code == Some(0), "{set:?}");
    await_that("it is back", || Ok(tree.changes()?.is_empty().then_some(())))
}

#[tokio::test]
async fn a_running_server_is_asked_and_outlived() -> Result<()> {
    let tree = Tree::laptop()?;
    let mut server = Server::below(tree.path())?;
    let state = server.state_dir();
    let run = |args: &[&str]| run(&tree, &state, args);
    ensure!(run(&["knobs", "set", "cpu.turbo=off"])?.code == Some(0));
    ensure!(run(&["knobs", "set", "cpu.governor=performance", "--for", "2s"])?.code == Some(0));
    let seen = server.get("/knobs").await?;
    ensure!(value(&seen, "cpu.turbo").as_deref() == Some("off ours"), "{seen}");
    ensure!(server.end(Signal::TERM)? == Some(0));
    // The governor goes when its time is over, though the server is not there any more.
    let governor = |change: &String| change.contains("scaling_governor");
    await_that("the governor is back", || Ok((!tree.changes()?.iter().any(governor)).then_some(())))?;
    ensure!(!tree.changes()?.is_empty(), "turbo was to be kept");
    ensure!(run(&["restore"])?.code == Some(0));
    tree.assert_as_found()
}

#[tokio::test]
async fn settings_that_another_state_directory_holds_are_left_to_it() -> Result<()> {
    let tree = Tree::laptop()?;
    let server = Server::below(tree.path())?;
    server.post("/knobs", &json!({ "set": [{ "id": "cpu.turbo", "value": "off" }] })).await?;
    let (elsewhere, before) = (scratch()?, tree.changes()?);
    for command in [&["knobs", "set", "cpu.epb=normal"][..], &["restore"]] {
        let told = ["with a state directory of its own", "--state-dir"];
        run(&tree, elsewhere.path(), command)?.refused(6, &told)?;
    }
    ensure!(tree.changes()? == before, "the holder's settings were touched");
    Ok(())
}

/// A write beyond the limit brings a signal that ends whoever does not expect it.
#[test]
fn a_limit_of_file_sizes_keeps_nothing_changed() -> Result<()> {
    let (tree, state) = (Tree::laptop()?, scratch()?);
    ensure!(run(&tree, state.path(), &["knobs", "set", "cpu.turbo=off"])?.code == Some(0));
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 0; exec \"$@\"", "sh"]).arg(program()?);
    limited.arg("--sysroot").arg(tree.path()).arg("--state-dir").arg(state.path()).arg("restore");
    let status = limited.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    ensure!(status.signal().is_none(), "{status:?}");
    Ok(())
}
