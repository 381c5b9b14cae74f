//! The journal, however it is left.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
mod knobs;

use knobs::{GOVERNOR_0, Host, wish};
use power::journal::{JournalError, is_noted};
use power::keeper::{Keeper, KeeperError, Scope};
use protocol::knob::{Lifetime, Restored};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// A machine whose governor was set by a keeper that is gone, its journal, and where in it the intents end.
fn abandoned() -> (Host, Vec<u8>, usize) {
    let host = Host::new();
    host.set(&mut host.keeper(), &[("cpu.governor", "performance"), ("cpu.turbo", "off")]);
    let journal = fs::read(host.journal()).unwrap();
    let intents = String::from_utf8_lossy(&journal).find(r#"{"kind":"mark""#).unwrap() - 9;
    (host, journal, intents)
}

#[test]
fn torn_anywhere_after_the_intents_it_still_puts_everything_back() {
    let (host, journal, intents) = abandoned();
    let changed = host.files();
    let original = Host::new();
    for cut in intents..journal.len() {
        fs::write(host.journal(), &journal[..cut]).unwrap();
        let report = host.keeper().restore(Scope::All, false);
        assert_eq!(report.items.iter().map(|i| i.end).collect::<Vec<_>>(), [Restored::Back; 3], "cut at {cut}");
        for (path, text) in changed.iter().filter(|(path, _)| path.is_file()) {
            let same = original.path(&format!("/{}", path.strip_prefix(host.root.path()).unwrap().display()));
            assert_eq!(fs::read(path).unwrap(), fs::read(same).unwrap(), "cut at {cut}");
            fs::write(path, text).unwrap();
        }
    }
}

#[test]
fn torn_within_the_intents_nothing_was_written_and_nothing_is_touched() {
    let (host, journal, intents) = abandoned();
    let original = Host::new();
    host.write(GOVERNOR_0, &original.read(GOVERNOR_0));
    let first = journal.iter().position(|b| *b == b'\n').unwrap() + 1;
    for cut in (first..intents).step_by(7) {
        fs::write(host.journal(), &journal[..cut]).unwrap();
        let report = host.keeper().restore(Scope::All, false);
        assert!(report.is_complete(), "cut at {cut}");
        assert_eq!(host.read(GOVERNOR_0), "powersave\n", "cut at {cut}");
    }
}

#[test]
fn a_damaged_line_is_told_and_every_other_one_counts() {
    let (host, journal, _) = abandoned();
    let second_line = journal.iter().position(|b| *b == b'\n').unwrap() + 30;
    let mut damaged = journal.clone();
    damaged[second_line] ^= 0x20;
    fs::write(host.journal(), &damaged).unwrap();
    let report = host.keeper().restore(Scope::All, false);
    assert_eq!(report.items.len(), 2, "{report:?}");
    assert!(report.notes[0].starts_with("1 damaged line of the journal was skipped"), "{report:?}");

    for garbage in [&b"\0\xff garbage\n\n\n{}"[..], &[0; 5000], b"00000000 {}\n"] {
        fs::write(host.journal(), garbage).unwrap();
        let report = host.keeper().restore(Scope::All, false);
        assert_eq!((report.items.as_slice(), report.is_complete()), (&[][..], false));
    }
}

#[test]
fn damage_is_told_until_everything_was_put_back_once_and_the_evidence_kept() {
    for damage in [&b"garbage\n"[..], b"", b"0badc0de {\"kind\""] {
        let (host, ..) = abandoned();
        fs::write(host.journal(), damage).unwrap();
        for _ in 0..2 {
            let notes = host.keeper().list_among(&host.controls()).notes;
            assert!(notes.len() == 1 && notes[0].contains("a reboot puts everything back"), "{notes:?}");
            assert!(!host.keeper().restore(Scope::Session, false).is_complete());
        }
        let mut keeper = host.keeper();
        let report = keeper.restore(Scope::All, false);
        let kept = host.journal().with_extension("damaged-1");
        assert!(report.damaged == 1 && report.notes[0].contains(&*kept.to_string_lossy()), "{report:?}");
        assert_eq!(fs::read(kept).unwrap(), damage);
        assert!(keeper.restore(Scope::All, false).is_complete());
        drop(keeper);
        assert_eq!(host.keeper().list_among(&host.controls()).notes, [""; 0]);
    }
}

#[test]
fn a_boot_that_is_not_known_is_not_another_one() {
    let (host, ..) = abandoned();
    fs::remove_file(host.path("/proc/sys/kernel/random/boot_id")).unwrap();
    assert_eq!(host.keeper().changed(), 2);
    host.write("/proc/sys/kernel/random/boot_id", "6f1c9a3e\n");
    assert_eq!(host.keeper().restore(Scope::All, false).items.len(), 3);
}

#[test]
fn a_host_has_one_keeper_whatever_the_directory() {
    let host = Host::new();
    let elsewhere = host.journal_dir().with_file_name("elsewhere");
    let open = || Keeper::open(host.root.clone(), &elsewhere);
    let mut first = host.keeper();
    assert_eq!(open().unwrap_err(), KeeperError::Journal(JournalError::Held { pid: std::process::id() }));
    host.set(&mut first, &[("cpu.turbo", "off")]);
    drop(first);
    assert!(is_noted(&host.root));
    let state = host.journal_dir().parent().unwrap().to_owned();
    assert_eq!(open().unwrap_err(), KeeperError::Journal(JournalError::Elsewhere { state }));
    assert!(host.keeper().restore(Scope::All, false).is_complete());
    assert!(open().unwrap().restore(Scope::All, false).is_complete());
    assert!(!is_noted(&host.root) && !host.path("/run").exists());
}

#[test]
fn a_journal_that_is_gone_is_missed() {
    for is_elsewhere in [false, true] {
        let (host, ..) = abandoned();
        let away = host.journal_dir().with_file_name("away");
        fs::rename(host.journal_dir(), &away).unwrap();
        let dir = if is_elsewhere { host.journal_dir().with_file_name("other") } else { host.journal_dir() };
        drop(Keeper::open(host.root.clone(), &dir).unwrap());
        let report = Keeper::open(host.root.clone(), &dir).unwrap().restore(Scope::All, false);
        assert_eq!((report.is_complete(), report.damaged), (false, 1));
        assert!(report.notes[0].contains("is gone; a reboot puts everything back"), "{report:?}");
        // Who finds it can use it.
        assert_eq!(Keeper::open(host.root.clone(), &away).unwrap().restore(Scope::All, false).items.len(), 3);
    }
}

#[test]
fn what_is_set_back_by_hand_leaves_no_trace() {
    let host = Host::new();
    let mut keeper = host.keeper();
    host.set(&mut keeper, &[("cpu.governor", "performance")]);
    assert!(is_noted(&host.root));
    host.set(&mut keeper, &[("cpu.governor", "powersave")]);
    assert!(!is_noted(&host.root) && !host.path("/run/brakecheck").exists());
}

#[test]
fn what_a_process_leaves_that_dies_while_it_writes_is_removed() {
    let host = Host::new();
    drop(host.keeper());
    let before = host.files();
    let place = host.path("/run/brakecheck");
    let left = [place.join("journal.place.new"), host.journal().with_extension("new")];
    fs::create_dir_all(&place).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o700)).unwrap();
    for path in &left {
        fs::write(path, "half").unwrap();
    }
    drop(host.keeper());
    for path in left.iter().chain([&place]) {
        assert!(!path.exists(), "{} is left", path.display());
    }
    assert_eq!(host.files(), before);
}

#[test]
fn a_journal_that_somebody_removes_or_cuts_is_written_anew() {
    let spoil: [fn(&Host); 3] = [
        |host| fs::remove_file(host.journal()).unwrap(),
        |host| fs::write(host.journal(), "").unwrap(),
        |host| fs::rename(host.journal(), host.journal().with_extension("old")).unwrap(),
    ];
    for spoil in spoil {
        for by_setting in [true, false] {
            let host = Host::new();
            let before = host.files();
            let mut keeper = host.keeper();
            host.set(&mut keeper, &[("cpu.turbo", "off")]);
            spoil(&host);
            if by_setting {
                host.set(&mut keeper, &[("cpu.governor", "performance")]);
            } else {
                keeper.keep_journal().unwrap();
            }
            drop(keeper);
            assert!(host.keeper().restore(Scope::All, false).is_complete());
            assert_eq!(host.files(), before);
        }
    }
}

#[test]
fn without_a_directory_for_the_journal_nothing_is_set() {
    let host = Host::new();
    let before = host.files();
    let mut keeper = host.keeper();
    fs::remove_dir_all(host.journal_dir()).unwrap();
    let wishes = [wish("cpu.turbo", "off")];
    let error = keeper.set_among(&host.controls(), &wishes, Lifetime::Session, false).unwrap_err();
    assert!(error.to_string().ends_with("was removed"), "{error}");
    assert_eq!(host.files(), before);
}

#[test]
fn a_journal_of_an_earlier_boot_is_dropped() {
    let (host, ..) = abandoned();
    host.write("/proc/sys/kernel/random/boot_id", "another\n");
    let mut keeper = host.keeper();
    let report = keeper.restore(Scope::All, true);
    assert_eq!(report.items, []);
    assert_eq!(report.notes, ["a journal of an earlier boot was dropped: settings do not outlive a boot"]);
    assert!(keeper.is_clean() && host.read(GOVERNOR_0) == "performance\n");
}

#[test]
fn a_second_keeper_is_refused_and_told_who_is_first() {
    let host = Host::new();
    let _first = host.keeper();
    let second = Keeper::open(host.root.clone(), &host.journal_dir()).unwrap_err();
    assert_eq!(second, KeeperError::Journal(JournalError::Busy { pid: std::process::id() }));
}

#[test]
fn a_directory_that_others_can_write_to_is_refused() {
    let host = Host::new();
    fs::create_dir(host.journal_dir()).unwrap();
    fs::set_permissions(host.journal_dir(), fs::Permissions::from_mode(0o777)).unwrap();
    let open = |dir: &Path| Keeper::open(host.root.clone(), dir).map(drop).unwrap_err().to_string();
    assert!(open(&host.journal_dir()).ends_with("other users may write there"));
    let link = host.journal_dir().with_file_name("link");
    std::os::unix::fs::symlink("journal", &link).unwrap();
    assert!(open(&link).ends_with("it is a link or no directory"));
}

#[test]
fn a_journal_of_a_later_version_is_left_alone() {
    let (host, ..) = abandoned();
    let header = r#"{"kind":"header","version":99,"boot":"6f1c9a3e","root":"/"}"#;
    let line = format!("{:08x} {header}\n", crc32fast::hash(header.as_bytes()));
    fs::write(host.journal(), &line).unwrap();
    let error = Keeper::open(host.root.clone(), &host.journal_dir()).unwrap_err().to_string();
    assert!(error.ends_with("it has version 99, this program knows 1"), "{error}");
    assert_eq!(fs::read_to_string(host.journal()).unwrap(), line);
}

/// A small filesystem of its own.
struct Small(std::path::PathBuf);

impl Small {
    fn mount(at: &Path) -> Option<Self> {
        fs::create_dir(at).unwrap();
        let options = "size=64k,mode=0700";
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "small"]).arg(at).output();
        if mounted.is_ok_and(|o| o.status.success()) {
            return Some(Self(at.to_owned()));
        }
        eprintln!("skipped: mounting a filesystem needs root");
        None
    }

    fn remount(&self, options: &str) {
        let status = Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.0).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn on_a_full_disk_nothing_is_set_but_everything_goes_back() {
    let host = Host::new();
    let Some(small) = Small::mount(&host.journal_dir()) else { return };
    let before = host.files();
    let mut keeper = host.keeper();
    host.set(&mut keeper, &[("cpu.governor", "performance")]);
    let fill = small.0.join("fill");
    fs::write(&fill, vec![0; 1 << 20]).unwrap_err();
    // Something may still fit into the journal's last page.
    let mut refused = None;
    for value in ["none", "mq-deadline"].iter().cycle().take(1000) {
        let now = host.files();
        if let Err(error) =
            keeper.set_among(&host.controls(), &[wish("block.scheduler@sda", value)], Lifetime::Session, false)
        {
            assert_eq!(host.files(), now);
            refused = Some(error);
            break;
        }
    }
    assert_eq!(refused, Some(JournalError::Full { dir: host.journal_dir() }));
    drop(keeper);
    let report = host.keeper().restore(Scope::All, false);
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(host.files(), before);
    fs::remove_file(fill).unwrap();
    assert!(host.keeper().restore(Scope::All, false).items.is_empty());
}

#[test]
fn on_a_read_only_disk_nothing_is_set_but_everything_goes_back() {
    let host = Host::new();
    let Some(small) = Small::mount(&host.journal_dir()) else { return };
    let before = host.files();
    host.set(&mut host.keeper(), &[("cpu.governor", "performance")]);
    small.remount("ro");
    let mut keeper = host.keeper();
    let error = keeper.set_among(&host.controls(), &[wish("cpu.turbo", "off")], Lifetime::Session, false).unwrap_err();
    assert!(error.to_string().ends_with("Read-only file system (os error 30)"), "{error}");
    let report = keeper.restore(Scope::All, false);
    assert!(report.is_complete() && report.notes.len() == 1, "{report:?}");
    assert_eq!(host.files(), before);
    drop(keeper);
    assert_eq!(host.keeper().restore(Scope::All, false).items[0].end, Restored::Already);
}
