//! What a server that root starts may still do, and what it does to its state directory.

use anyhow::{Context, Result, ensure};
use rustix::process::{Signal, geteuid};
use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use tests::{Disk, Finished, Process, Server, Tree, program, scratch};

fn root() -> bool {
    let root = geteuid().is_root();
    if !root {
        eprintln!("skipped: needs root");
    }
    root
}

/// `serve` on this state directory, to its end.
fn serve(state: &Path, options: &[&str]) -> Result<Finished> {
    let mut command = Command::new(program()?);
    command.arg("--state-dir").arg(state).args(["serve", "--port", "0"]).args(options);
    Finished::of(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
}

#[tokio::test]
async fn the_server_has_no_rights_left_and_its_broker_no_network() -> Result<()> {
    if !root() {
        return Ok(());
    }
    let tree = Tree::laptop()?;
    let mut server = Server::below(tree.path())?;
    let process = Process::of(server.id())?;
    let ids = format!("{} {}", process.status("Uid")?, process.status("Gid")?);
    ensure!(ids.split_whitespace().all(|id| id != "0"), "{ids}");
    ensure!(process.status("NoNewPrivs")? == "1");
    for set in ["CapPrm", "CapEff", "CapInh", "CapAmb"] {
        ensure!(u64::from_str_radix(&process.status(set)?, 16)? == 0, "{set}");
    }
    ensure!(process.status("Groups")?.split_whitespace().all(|group| group != "0"));
    let broker = Process::child(server.id(), "broker", None)?;
    for entry in fs::read_dir(format!("/proc/{}/fd", broker.pid))?.flatten() {
        let target = fs::read_link(entry.path()).unwrap_or_default();
        if let Some(inode) = target.to_str().and_then(|t| t.strip_prefix("socket:[")?.strip_suffix(']')) {
            let tcp = |name: &str| fs::read_to_string(format!("/proc/net/{name}")).unwrap_or_default();
            let net = ["tcp", "tcp6", "udp", "udp6"].map(tcp).concat();
            ensure!(!net.split_whitespace().any(|word| word == inode), "a socket of the broker faces the network");
        }
    }
    let owner = fs::metadata(server.state_dir())?.uid();
    ensure!(process.status("Uid")?.split_whitespace().next() == Some(owner.to_string().as_str()));
    let journal = fs::metadata(server.state_dir().join("journal"))?;
    ensure!((journal.uid(), journal.mode() & 0o777) == (0, 0o700));
    ensure!(server.end(Signal::TERM)? == Some(0));
    Ok(())
}

#[tokio::test]
async fn a_device_that_the_server_may_not_open_is_measured_all_the_same() -> Result<()> {
    let Some(disk) = Disk::bare(64)? else { return Ok(()) };
    let tree = Tree::laptop()?;
    let server = Server::below(tree.path())?;
    let run =
        json!({ "target": disk.device(), "workloads": [{ "rw": "randread", "size": "16m", "runtime": "300ms" }] });
    let id = server.post("/runs", &run).await?["id"].as_str().context("an id")?.to_owned();
    server.ended(&id).await?;
    let record = server.get(&format!("/runs/{id}")).await?;
    ensure!(record["state"] == "done" || record["record"]["state"] == "done", "{record}");
    Ok(())
}

#[test]
fn a_directory_that_is_not_ours_is_not_given_away() -> Result<()> {
    if !root() {
        return Ok(());
    }
    let dir = scratch()?;
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755))?;
    let (home, secret) = (dir.path().join("home"), dir.path().join("secret"));
    fs::create_dir(&home)?;
    fs::write(home.join("letter"), "")?;
    fs::write(&secret, "")?;
    serve(&home, &["--user", "nobody"])?.refused(5, &["letter", "--state-dir"])?;
    ensure!(fs::metadata(&home)?.uid() == 0);

    let state = dir.path().join("state");
    for name in ["token", "results.db", "targets"] {
        let _ = fs::remove_dir_all(&state);
        fs::create_dir(&state)?;
        symlink(&secret, state.join(name))?;
        serve(&state, &["--user", "nobody"])?.refused(5, &[name])?;
        ensure!(fs::metadata(&secret)?.uid() == 0, "{name} led to another file");
    }
    fs::remove_dir_all(&state)?;
    fs::create_dir(&state)?;
    symlink(dir.path(), state.join("journal"))?;
    serve(&state, &["--user", "nobody"])?.refused(5, &["journal"])
}

#[test]
fn a_state_directory_out_of_the_users_reach_is_said_to_be_so() -> Result<()> {
    if !root() {
        return Ok(());
    }
    let dir = scratch()?;
    let closed = dir.path().join("closed");
    fs::create_dir(&closed)?;
    fs::set_permissions(&closed, Permissions::from_mode(0o700))?;
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755))?;
    let name = closed.display().to_string();
    serve(&closed.join("state"), &["--user", "nobody"])?.refused(5, &["nobody", &name, "--state-dir"])
}

#[test]
fn root_is_no_user_to_serve_as() -> Result<()> {
    let dir = scratch()?;
    if geteuid().is_root() {
        serve(&dir.path().join("state"), &["--user", "root"])?.refused(2, &["root's rights"])?;
        serve(&dir.path().join("state"), &["--user", "no-such-user"])?.refused(2, &["no-such-user", "--user"])
    } else {
        serve(&dir.path().join("state"), &["--user", "root"])?.refused(5, &["sudo"])
    }
}
