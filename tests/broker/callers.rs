//! Who may call, and what a caller may get.

use crate::{Broker, Talk};
use anyhow::{Context, Result, ensure};
use power::broker::Client;
use power::broker::wire::{Answer, Verb};
use power::desk::Desk;
use rustix::fs::{OFlags, fcntl_getfl, stat};
use rustix::process::{Gid, Uid, geteuid};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use tests::Disk;

#[test]
fn another_user_is_hung_up_on() -> Result<()> {
    if !geteuid().is_root() {
        eprintln!("skipped: only root can call as somebody else");
        return Ok(());
    }
    let (broker, socket) = Broker::start()?;
    let mut server = Talk::on(socket)?;
    server.ask(1, Verb::Renew)?;
    // Even if somebody opens the doors: the directory and its parents are closed.
    for entry in std::fs::read_dir(broker.journal.path())? {
        std::fs::set_permissions(entry?.path(), Permissions::from_mode(0o666))?;
    }
    std::fs::set_permissions(broker.journal.path(), Permissions::from_mode(0o755))?;
    let refused = std::thread::scope(|scope| {
        // The rights of one thread alone: that is how the system call works.
        let stranger = scope.spawn(|| -> Result<bool> {
            let (uid, gid) = (Uid::from_raw(65534), Gid::from_raw(65534));
            rustix::thread::set_thread_res_gid(gid, gid, gid)?;
            rustix::thread::set_thread_res_uid(uid, uid, uid)?;
            let mut caller = Talk::on(broker.call()?)?;
            // Asked or not, there is no answer.
            let _ = caller.send(r#"{"seq":1,"verb":"list"}"#);
            Ok(caller.hear()?.is_none())
        });
        stranger.join().map_err(|_| anyhow::anyhow!("the stranger panicked"))?
    })?;
    ensure!(refused, "another user is answered");
    ensure!(matches!(Talk::on(broker.call()?)?.ask(1, Verb::Renew)?.answer, Answer::Done), "root is not");
    Ok(())
}

#[test]
fn block_devices_are_opened_for_reading_and_nothing_else_is() -> Result<()> {
    let (broker, socket) = Broker::start()?;
    let server = Client::new(socket);
    server.greet().map_err(anyhow::Error::from)?;
    // The character devices with these numbers are /dev/null and /dev/mem.
    for dev in [(1, 3), (1, 1), (4095, 1)] {
        if !std::path::Path::new(&format!("/sys/dev/block/{}:{}", dev.0, dev.1)).exists() {
            ensure!(server.open_device(dev, false).is_err(), "{dev:?}");
        }
    }
    if let Some(disk) = Disk::bare(4)? {
        let rdev = stat(disk.device())?.st_rdev;
        let dev = (rustix::fs::major(rdev), rustix::fs::minor(rdev));
        for direct in [false, true] {
            let device = server.open_device(dev, direct).map_err(anyhow::Error::from)?;
            let flags = fcntl_getfl(&device)?;
            ensure!(flags & OFlags::ACCMODE == OFlags::RDONLY && flags.contains(OFlags::DIRECT) == direct, "{flags:?}");
            let name = std::fs::read_link(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&device)))?;
            ensure!(stat(&name).context("it has a name")?.st_rdev == rdev);
        }
    }
    drop(server);
    broker.ended().map(drop)
}
