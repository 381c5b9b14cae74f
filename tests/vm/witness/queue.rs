//! Queues: the block layer's own account in debugfs, and commands under way.

use super::await_that;
use crate::settings::{number, text};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{fs, thread};

/// Names of the queue's flags that are set: `SAME_COMP|NOMERGES|...`.
fn flags(disk: &str) -> Result<String, String> {
    text(format!("/sys/kernel/debug/block/{disk}/state")).ok_or_else(|| "no account of the queue in debugfs".into())
}

fn flags_with(disk: &str, wanted: &[(&str, bool)]) -> Result<String, String> {
    let flags = flags(disk)?;
    let has = |flag: &str| flags.split('|').any(|f| f.trim() == flag);
    let said = wanted.iter().map(|(flag, _)| format!("{flag} {}", has(flag))).collect::<Vec<_>>().join(", ");
    if wanted.iter().all(|(flag, set)| has(flag) == *set) { Ok(said) } else { Err(said) }
}

/// `block.nomerges`: `simple` forbids the costly search, `none` every merge.
pub(super) fn merges(disk: &str, value: &str) -> Result<String, String> {
    flags_with(disk, &[("NOMERGES", value == "none"), ("NOXMERGES", value == "simple")])
}

/// `block.rq-affinity`: completes near the CPU that asked, or on it.
pub(super) fn affinity(disk: &str, value: &str) -> Result<String, String> {
    flags_with(disk, &[("SAME_COMP", value != "any"), ("SAME_FORCE", value == "same")])
}

/// `block.scheduler`: each has parameters of its own.
pub(super) fn scheduler(disk: &str, value: &str) -> Result<String, String> {
    let own = match value {
        "mq-deadline" => "read_expire",
        "kyber" => "read_lat_nsec",
        "bfq" => "slice_idle",
        _ => "",
    };
    let dir = format!("/sys/block/{disk}/queue/iosched");
    let names: Vec<_> = fs::read_dir(&dir).into_iter().flatten().flatten().map(|e| e.file_name()).collect();
    let good = if own.is_empty() { names.is_empty() } else { names.iter().any(|n| n == own) };
    let said = format!("{} parameters in iosched", names.len());
    if good { Ok(said) } else { Err(said) }
}

/// `block.wbt`: the target that the throttle works with.
pub(super) fn throttling(disk: &str, value: &str) -> Result<String, String> {
    let target = number(format!("/sys/kernel/debug/block/{disk}/rqos/wbt/min_lat_nsec")).map(|ns| ns / 1000);
    let said = target.map_or("no throttle".into(), |us| format!("target {us} us"));
    let good = match (value, target) {
        ("off", target) => target.is_none_or(|us| us == 0),
        ("on", target) => target.is_some_and(|us| us > 0),
        (value, target) => target.is_some_and(|us| value == format!("{us} us")),
    };
    if good { Ok(said) } else { Err(said) }
}

/// `sata.ncq`: how many commands the drive has at most while many threads read.
pub(super) fn commands(disk: &str, value: &str) -> Result<String, String> {
    await_that(|| {
        let most = most_at_once(disk).map_err(|e| e.to_string())?;
        let said = format!("at most {most} commands at once");
        if most > 0 && (most > 1) == (value == "on") { Ok(said) } else { Err(said) }
    })
}

fn most_at_once(disk: &str) -> std::io::Result<u64> {
    let flags = rustix::fs::OFlags::DIRECT.bits().cast_signed();
    let file = fs::File::options().read(true).custom_flags(flags).open(Path::new("/dev").join(disk))?;
    let (stop, most, reads) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for reader in 0..8_u64 {
            let (file, stop, reads) = (&file, &stop, &reads);
            scope.spawn(move || {
                // Room for an aligned block, wherever the allocation begins.
                let mut room = vec![0; 8192];
                let start = room.as_ptr().align_offset(4096);
                let mut at = reader * 7919;
                while !stop.load(Ordering::Relaxed) {
                    at = (at * 25 + 13) % 50_000;
                    if let Some(block) = room.get_mut(start..start + 4096) {
                        let _ = file.read_at(block, at * 4096);
                    }
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        while reads.load(Ordering::Relaxed) < 500 {
            let busy = number(format!("/sys/block/{disk}/device/device_busy")).unwrap_or(0);
            most.fetch_max(busy, Ordering::Relaxed);
        }
        stop.store(true, Ordering::Relaxed);
    });
    Ok(most.into_inner())
}
