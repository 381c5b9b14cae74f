//! Everything that can be set on whole machines, set and put back to the byte; and the running machine, as far as it
//! may be touched.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use power::Root;
use power::control::{Choice, Control, Hints, Write, controls};
use power::keeper::{Keeper, Scope};
use power::name::Name;
use power::site::Site;
use protocol::knob::{Assignment, Lifetime, Outcome, Restored, Verdict};
use protocol::power::Profile;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(dir).unwrap().map(|e| e.unwrap());
    let mut files = BTreeMap::new();
    for entry in entries {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files.extend(self::files(&entry.path()));
        } else if kind.is_file() {
            files.insert(entry.path(), fs::read(entry.path()).unwrap());
        }
    }
    files
}

/// Both profiles, then each other value of each knob, every time by a keeper that is gone when it is put back.
fn set_and_restore_everything(root: &Root, name: &str) {
    let before = files(root.path());
    let state = common::scratch();
    let open = || Keeper::open(root.clone(), &state.path().join("journal")).unwrap();
    let known = controls(root, &Hints::default());
    let knobs: Vec<_> = known.iter().map(Control::knob).collect();
    let other = |at: usize| {
        let wish = |c: &Control| {
            let others: Vec<_> = c.choices.iter().filter(|o| Some(&o.value) != c.value.as_ref()).collect();
            let value = others.get(at % others.len().max(1))?.value.clone();
            c.reason.is_none().then(|| Assignment { id: c.id.clone(), value })
        };
        known.iter().filter_map(wish).collect::<Vec<_>>()
    };
    let rounds = [Profile::Saving.assignments(&knobs), Profile::Performance.assignments(&knobs), other(0), other(1)];
    for wishes in rounds {
        let outcomes = open().set(&Hints::default(), &wishes, Lifetime::Session, true).unwrap();
        let undone: Vec<&Outcome> = outcomes.iter().filter(|o| !o.verdict.is_done()).collect();
        // Two knobs may want the same file.
        let excused = |o: &&Outcome| matches!(o.id.as_str(), "cpu.c1e" | "cpu.deep-idle" | "cpu.smt" | "cpu.cores");
        assert!(undone.iter().all(excused), "{name}: {undone:#?}");
        let mut keeper = open();
        let report = keeper.restore(Scope::All, false);
        assert!(report.is_complete() && keeper.is_clean() && report.notes.is_empty(), "{name}: {report:#?}");
        let now = files(root.path());
        for (path, text) in &before {
            // NVMe knows two words for no limit.
            let spelled = |text: &[u8]| String::from_utf8_lossy(text).replace("any\n", "auto\n");
            let (then, now) = (spelled(text), spelled(&now[path]));
            assert_eq!(then, now, "{name}: {}", path.display());
        }
    }
}

#[test]
fn written_machines_are_put_back_to_the_byte() {
    for name in ["laptop", "server", "cloud"] {
        let text = fs::read_to_string(format!("{}/tests/trees/{name}.txt", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let (_dir, root) = common::tree(&text);
        set_and_restore_everything(&root, name);
    }
}

/// Of two wishes for one file the later one counts; the other is told whose doing it is, and nothing of it is written.
#[test]
fn wishes_that_undo_each_other_are_told_apart() {
    let text = fs::read_to_string(format!("{}/tests/trees/laptop.txt", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let (_dir, root) = common::tree(&text);
    let state = common::scratch();
    let mut keeper = Keeper::open(root, &state.path().join("journal")).unwrap();
    let wish = |id: &str, value: &str| Assignment { id: id.into(), value: value.into() };
    let mut set = |c1e: &str| {
        let wishes = [wish("cpu.deep-idle", "C1"), wish("cpu.c1e", c1e)];
        keeper.set(&Hints::default(), &wishes, Lifetime::Session, false).unwrap()
    };
    let [deep, c1e]: [Outcome; 2] = set("on").try_into().unwrap();
    assert_eq!((deep.verdict, c1e.verdict), (Verdict::Refused, Verdict::Unchanged));
    assert_eq!(deep.message.unwrap(), "cpu.c1e=on writes the same file with another value");
    assert!(set("off").iter().all(|o| o.verdict.is_done()), "both want the same");
    assert!(keeper.restore(Scope::All, false).is_complete());
}

#[test]
fn recorded_machines_are_put_back_to_the_byte() {
    let Some(machines) = common::machines() else { return };
    let every = std::env::var_os("BRAKECHECK_EVERY_MACHINE").is_some();
    let cpus = fs::read_dir(machines.join("cpu")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut chosen: Vec<Vec<String>> = vec![vec!["--full".into(), "vm-7".into()]];
    for cpu in cpus.filter(|cpu| every || matches!(cpu.as_str(), "adl0" | "ivbep1" | "milan0")) {
        chosen.push(["--cpu", &cpu, "--block", "simple-nvme"].map(String::from).into());
    }
    for args in chosen {
        let (_dir, root) = common::machine(&machines, &args.iter().map(String::as_str).collect::<Vec<_>>());
        set_and_restore_everything(&root, &args[1]);
    }
}

fn control(id: &str, site: &Site, values: &[&str]) -> Control {
    let choice = |value: &&str| Choice {
        value: (*value).into(),
        writes: vec![Write { site: site.clone(), value: (*value).into() }],
        disturbs: vec![],
    };
    Control { id: id.into(), choices: values.iter().map(choice).collect(), ..Control::default() }
}

/// On the running machine, by a keeper with a journal that is not the real one.
fn live() -> Option<(tempfile::TempDir, Keeper, MutexGuard<'static, ()>)> {
    // A machine has one keeper at a time.
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: the running machine's settings need root");
        return None;
    }
    let state = common::scratch();
    let keeper = Keeper::open(Root::default(), &state.path().join("journal")).unwrap();
    Some((state, keeper, turn))
}

#[test]
fn a_latency_limit_lasts_as_long_as_it_is_held() {
    let Some((state, mut keeper, _turn)) = live() else { return };
    let read = || fs::read("/dev/cpu_dma_latency").ok().map(|b| i32::from_ne_bytes(b.try_into().unwrap()));
    let (Some(before @ 100..), Ok(_)) = (read(), fs::OpenOptions::new().write(true).open("/dev/cpu_dma_latency"))
    else {
        eprintln!("skipped: no latency limit to be set here");
        return;
    };
    let control = [control("cpu.latency-limit", &Site::LatencyLimit, &["2000000000", "77", "55"])];
    let set = |keeper: &mut Keeper, value: &str| {
        let wish = Assignment { id: "cpu.latency-limit".into(), value: value.into() };
        keeper.set_among(&control, &[wish], Lifetime::Session, false).unwrap()[0].verdict
    };
    assert_eq!((set(&mut keeper, "77"), read()), (Verdict::Applied, Some(77)));
    assert_eq!(
        (set(&mut keeper, "77"), set(&mut keeper, "55"), read()),
        (Verdict::Unchanged, Verdict::Applied, Some(55))
    );
    assert_eq!(keeper.restore(Scope::Session, false).items[0].end, Restored::Back);
    assert_eq!((read(), keeper.is_clean()), (Some(before), true));

    set(&mut keeper, "77");
    drop(keeper);
    assert_eq!(read(), Some(before));
    let mut keeper = Keeper::open(Root::default(), &state.path().join("journal")).unwrap();
    assert_eq!(keeper.restore(Scope::Session, false).items[0].end, Restored::Already);
}

/// A loop device without a file is nobody's, and its queue is a real one.
#[test]
fn a_real_queue_is_set_clamped_and_put_back() {
    let Some((_state, mut keeper, _turn)) = live() else { return };
    let found = Command::new("losetup").arg("--find").output().ok().filter(|o| o.status.success());
    let name =
        found.and_then(|o| Some(Path::new(String::from_utf8(o.stdout).ok()?.trim()).file_name()?.to_str()?.to_owned()));
    let queue = |file: &str| format!("/sys/block/{}/queue/{file}", name.as_deref().unwrap_or("-"));
    let (Ok(before), Some(disk)) = (fs::read_to_string(queue("nomerges")), name.as_deref().and_then(Name::new)) else {
        eprintln!("skipped: no loop device");
        return;
    };
    let controls = [
        control("block.nomerges", &Site::Nomerges { disk: disk.clone() }, &["2", "3"]),
        control("block.scheduler", &Site::Scheduler { disk }, &["[none]"]),
    ];
    let wish = |id: &str, value: &str| Assignment { id: id.into(), value: value.into() };
    let set = |keeper: &mut Keeper, id: &str, value: &str| {
        keeper.set_among(&controls, &[wish(id, value)], Lifetime::Session, false).unwrap().remove(0)
    };
    assert_eq!(set(&mut keeper, "block.nomerges", "2").verdict, Verdict::Applied);
    let clamped = set(&mut keeper, "block.nomerges", "3");
    assert_eq!((clamped.verdict, clamped.message.as_deref()), (Verdict::Clamped, Some("the kernel made `1` of `3`")));
    let refused = set(&mut keeper, "block.scheduler", "[none]");
    assert_eq!(refused.verdict, Verdict::Failed);
    assert!(refused.message.is_some_and(|m| m.starts_with("the kernel does not take this value (write /sys/block/")));
    let report = keeper.restore(Scope::Session, false);
    assert!(report.is_complete() && keeper.is_clean(), "{report:?}");
    assert_eq!(fs::read_to_string(queue("nomerges")).unwrap(), before);
}
