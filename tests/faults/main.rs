//! Every error that the kernel may answer, at every moment, for every kind of setting: each is said, none keeps the
//! others, and in the end everything is as it was.

mod any_order;
mod machine;
mod tree;

use machine::{Machine, Setting, set};
use power::control::{Hints, controls};
use power::keeper::Scope;
use power::site::Site;
use protocol::knob::{RestoreReport, Restored, Verdict};
use rustix::io::Errno;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use tree::{Access, Answer, Files};

const ERRNOS: [(Errno, &str); 8] = [
    (Errno::PERM, "EPERM"),
    (Errno::BUSY, "EBUSY"),
    (Errno::INVAL, "EINVAL"),
    (Errno::AGAIN, "EAGAIN"),
    (Errno::NODEV, "ENODEV"),
    (Errno::IO, "EIO"),
    (Errno::OPNOTSUPP, "EOPNOTSUPP"),
    (Errno::ROFS, "EROFS"),
];

/// Accesses of one kind to one file end so.
fn only(path: &str, writes: bool, answer: &Answer) -> impl FnMut(&str, Access, &Files) -> Answer + Send + 'static {
    let (path, answer) = (path.to_owned(), answer.clone());
    move |at, access, _| {
        let hit = at == path && (access == Access::Write) == writes;
        if hit { answer.clone() } else { Answer::Pass }
    }
}

impl Machine {
    /// Each setting, with another one that shall not suffer from what happens to it.
    fn with_bystander(&self) -> impl Iterator<Item = (&Setting, &Setting)> {
        let next = self.settings.iter().cycle().skip(1);
        self.settings.iter().zip(next)
    }

    /// Values rather than spellings: an error may cost the words around a bracketed one.
    pub(crate) fn assert_as_found(&self, found: &Files, when: &str) {
        let now = self.tree.files();
        for setting in &self.settings {
            let path = self.path(setting);
            let value =
                |files: &Files| files.get(&path).map(|text| setting.site.normalise(&String::from_utf8_lossy(text)));
            assert_eq!(value(&now), value(found), "{when}: {path}");
        }
    }

    fn restored_by_the_next_keeper(&self, found: &Files, when: &str) {
        let mut keeper = self.keeper();
        let report = keeper.restore(Scope::All, false);
        assert!(report.is_complete() && keeper.is_clean(), "{when}: {report:#?}");
        assert!(!report.items.iter().any(|i| i.end == Restored::Foreign), "{when}: {report:#?}");
        self.assert_as_found(found, when);
    }
}

fn end(report: &RestoreReport, setting: &Setting) -> Option<(Restored, Option<String>)> {
    let item = report.items.iter().find(|i| i.id == setting.id())?;
    Some((item.end, item.message.clone()))
}

#[test]
fn an_error_on_write_is_said_and_keeps_nothing_else() {
    let Some(machine) = Machine::new() else { return };
    let found = machine.tree.files();
    let mut keeper = machine.keeper();
    for (errno, name) in ERRNOS {
        for (setting, bystander) in machine.with_bystander() {
            let when = format!("{name} on writing {:?}", setting.site);
            machine.tree.answer(only(&machine.path(setting), true, &Answer::Fail(errno.raw_os_error())));
            let outcomes = set(&mut keeper, &[setting, bystander]);
            let verdicts: Vec<Verdict> = outcomes.iter().map(|o| o.verdict).collect();
            assert_eq!(verdicts, [Verdict::Failed, Verdict::Applied], "{when}: {outcomes:?}");
            let message = outcomes[0].message.as_deref().unwrap_or_default();
            assert!(message.ends_with(&format!("(write {}: {name})", machine.path(setting))), "{when}: {message}");
            machine.tree.calm();
            assert_eq!(keeper.changed(), 1, "{when}");
            let report = keeper.restore(Scope::All, false);
            assert!(report.is_complete() && keeper.is_clean(), "{when}: {report:?}");
            assert_eq!(machine.tree.files(), found, "{when}");
        }
    }
}

#[test]
fn what_cannot_be_read_is_not_written() {
    let Some(machine) = Machine::new() else { return };
    let found = machine.tree.files();
    let mut keeper = machine.keeper();
    for (errno, name) in ERRNOS {
        for (setting, bystander) in machine.with_bystander() {
            let when = format!("{name} on reading {:?}", setting.site);
            machine.tree.answer(only(&machine.path(setting), false, &Answer::Fail(errno.raw_os_error())));
            let outcomes = set(&mut keeper, &[setting, bystander]);
            let verdicts: Vec<Verdict> = outcomes.iter().map(|o| o.verdict).collect();
            assert_eq!(verdicts, [Verdict::Failed, Verdict::Applied], "{when}: {outcomes:?}");
            assert!(outcomes[0].message.as_ref().is_some_and(|m| m.contains(name)), "{when}: {outcomes:?}");
            machine.tree.calm();
            assert!(keeper.restore(Scope::All, false).is_complete(), "{when}");
            assert_eq!(machine.tree.files(), found, "{when}");
        }
    }
}

#[test]
fn an_error_while_putting_back_is_said_and_made_good_later() {
    let Some(machine) = Machine::new() else { return };
    let found = machine.tree.files();
    for (errno, name) in ERRNOS {
        for (at, (setting, bystander)) in machine.with_bystander().enumerate() {
            // Reading fails for one half of the settings with one errno, for the other with the next.
            let writes = (at + errno.raw_os_error().unsigned_abs() as usize).is_multiple_of(2);
            let when = format!("{name} on {} {:?}", if writes { "writing" } else { "reading" }, setting.site);
            let mut keeper = machine.keeper();
            set(&mut keeper, &[setting, bystander]);
            machine.tree.answer(only(&machine.path(setting), writes, &Answer::Fail(errno.raw_os_error())));
            let report = keeper.restore(Scope::All, false);
            let (ended, message) = end(&report, setting).unwrap_or_else(|| panic!("{when}: {report:?}"));
            let gone = errno == Errno::NODEV && setting.site != Site::Smt;
            assert_eq!(ended, if gone { Restored::Gone } else { Restored::Failed }, "{when}: {report:?}");
            assert!(message.is_some_and(|m| m.contains(name)), "{when}: {report:?}");
            assert_eq!(end(&report, bystander), Some((Restored::Back, None)), "{when}: {report:?}");
            assert!(!report.is_complete() && !keeper.is_clean(), "{when}");
            machine.tree.calm();
            drop(keeper);
            machine.restored_by_the_next_keeper(&found, &when);
        }
    }
}

#[test]
fn what_the_kernel_makes_of_a_write_is_told_and_undone() {
    let Some(machine) = Machine::new() else { return };
    let found = machine.tree.files();
    let mut keeper = machine.keeper();
    for (setting, bystander) in machine.with_bystander() {
        let path = machine.path(setting);
        machine.tree.answer(only(&path, true, &Answer::Ignore));
        let outcome = &set(&mut keeper, &[setting, bystander])[0];
        assert_eq!((outcome.verdict, keeper.changed()), (Verdict::Ignored, 1), "{outcome:?}");
        machine.tree.answer(only(&path, true, &Answer::Store("7777\n")));
        let outcome = &set(&mut keeper, &[setting])[0];
        // Any number but 0 disables an idle state.
        let same = matches!(setting.site, Site::IdleDisable { .. });
        assert_eq!(outcome.verdict, if same { Verdict::Applied } else { Verdict::Clamped }, "{outcome:?}");
        machine.tree.calm();
        assert_eq!(keeper.drift(), [], "{setting:?}");
        assert!(keeper.restore(Scope::All, false).is_complete());
        machine.assert_as_found(&found, &path);
    }
}

#[test]
fn what_goes_away_meanwhile_is_told_and_put_back_when_it_returns() {
    let Some(machine) = Machine::new() else { return };
    let found = machine.tree.files();
    for (setting, bystander) in machine.with_bystander() {
        let path = machine.path(setting);
        let when = format!("{:?}", setting.site);
        // Between journal and write: nothing was written.
        let mut keeper = machine.keeper();
        machine.tree.answer(only(&path, true, &Answer::Vanish));
        let outcomes = set(&mut keeper, &[setting, bystander]);
        assert_eq!((outcomes[0].verdict, outcomes[1].verdict), (Verdict::Failed, Verdict::Applied), "{outcomes:?}");
        machine.tree.calm();
        let restore_file = |text: &[u8]| {
            let mut files = machine.tree.files();
            files.insert(path.clone(), text.to_owned());
            machine.tree.replace(files);
        };
        restore_file(&found[&path]);
        drop(keeper);
        machine.restored_by_the_next_keeper(&found, &when);

        // Between write and restore.
        let mut keeper = machine.keeper();
        set(&mut keeper, &[setting, bystander]);
        let mut files = machine.tree.files();
        let ours = files.remove(&path).unwrap_or_default();
        machine.tree.replace(files);
        let report = keeper.restore(Scope::All, false);
        assert_eq!(end(&report, setting).map(|e| e.0), Some(Restored::Gone), "{when}: {report:?}");
        assert_eq!(end(&report, bystander), Some((Restored::Back, None)), "{when}: {report:?}");
        restore_file(&ours);
        drop(keeper);
        machine.restored_by_the_next_keeper(&found, &when);
    }
}

/// Sets and restores these, and counts the accesses; the one with this number fails.
fn with_failure_at(machine: &Machine, settings: &[&Setting], number: Option<usize>) -> usize {
    let count = Arc::new(Mutex::new(0));
    let counter = count.clone();
    let mut keeper = machine.keeper();
    machine.tree.answer(move |_, _, _| {
        let mut count = counter.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        if number.is_some_and(|n| *count == n) { Answer::Fail(Errno::IO.raw_os_error()) } else { Answer::Pass }
    });
    set(&mut keeper, settings);
    keeper.restore(Scope::All, false);
    machine.tree.calm();
    let count = count.lock().unwrap_or_else(PoisonError::into_inner);
    *count
}

#[test]
fn an_io_error_at_any_access_leaves_nothing_changed() {
    let Some(machine) = Machine::new() else { return };
    let found = machine.tree.files();
    let settings: Vec<&Setting> = machine.settings.iter().collect();
    for settings in settings.chunks(4) {
        let accesses = with_failure_at(&machine, settings, None);
        assert!(accesses >= 6 * settings.len(), "{accesses}");
        for number in 1..=accesses {
            with_failure_at(&machine, settings, Some(number));
            let when = format!("EIO at access {number} of {accesses} with {settings:?}");
            machine.restored_by_the_next_keeper(&found, &when);
        }
    }
}

#[test]
fn killed_at_any_access_the_next_keeper_puts_everything_back() {
    let Some(machine) = Machine::new() else { return };
    let found = machine.tree.files();
    let half: Vec<&Setting> = machine.settings.iter().step_by(2).collect();
    let all: Vec<&Setting> = machine.settings.iter().collect();
    let mut keeper = machine.keeper();
    let entries = fs::read_dir(machine.journal_dir()).expect("a directory").map(|e| e.expect("an entry").path());
    let journal = entries.into_iter().find(|p| p.extension().is_none()).expect("a journal");

    // What a kill at each access would leave.
    let instants = Arc::new(Mutex::new(Vec::new()));
    let (seen, file) = (instants.clone(), journal.clone());
    machine.tree.answer(move |_, access, files| {
        if access == Access::Write {
            let text = fs::read(&file).expect("a journal");
            seen.lock().unwrap_or_else(PoisonError::into_inner).push((files.clone(), text));
        }
        Answer::Pass
    });
    set(&mut keeper, &half);
    set(&mut keeper, &all);
    keeper.restore(Scope::Session, false);
    set(&mut keeper, &all);
    keeper.restore(Scope::All, false);
    machine.tree.calm();
    drop(keeper);
    machine.assert_as_found(&found, "undisturbed");

    let instants = std::mem::take(&mut *instants.lock().unwrap_or_else(PoisonError::into_inner));
    assert!(instants.len() >= 4 * all.len(), "{}", instants.len());
    for (number, (files, text)) in instants.into_iter().enumerate() {
        machine.tree.replace(files);
        fs::write(&journal, text).expect("room");
        machine.restored_by_the_next_keeper(&found, &format!("killed at write {number}"));
    }
}

/// The catalogue and the list take any error of any file as a state, not as an end.
#[test]
fn everything_is_listed_whatever_cannot_be_read() {
    let Some(machine) = Machine::new() else { return };
    let keeper = machine.keeper();
    let all = controls(&machine.root, &Hints::default()).len();
    assert!(all > 20, "{all}");
    for (errno, name) in ERRNOS {
        machine.tree.answer(move |_, access, _| match access {
            Access::Read => Answer::Fail(errno.raw_os_error()),
            Access::Write => Answer::Pass,
        });
        let state = keeper.list(&Hints::default());
        assert!(state.knobs.len() > 20, "{name}: {}", state.knobs.len());
        assert!(state.knobs.iter().all(|k| k.value.is_some() || k.reason.is_some() || !k.writable), "{name}");
    }
}
