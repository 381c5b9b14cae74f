//! What an earlier server that died has left, looked at before the next one starts.

use super::hold::{Hold, Unheld};
use crate::terminal;
use power::Root;
use power::keeper::{Keeper, Scope};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::knob::{RestoreReport, Restored};
use std::path::Path;

/// Refuses to start where the settings are in the hands of a process that hangs: a new broker would wait for it.
pub(super) fn refuse_silent(root: &Root, state: &Path) -> Result<(), ErrorBody> {
    let journal = state.join("journal");
    if !is_directory(&journal) {
        return Ok(());
    }
    match Hold::find(root, &journal) {
        Err(Unheld::Silent(silent)) => Err(ErrorBody::new(ErrorCode::Busy, silent.words())
            .hint("`brakecheck restore` ends that process and puts everything back; then start again.")),
        // What else is wrong, its own broker will say.
        Ok(_) | Err(Unheld::Error(_)) => Ok(()),
    }
}

/// Puts back what is left, where the server is not going to start, and says what.
pub(super) fn put_back(root: &Root, state: &Path) {
    let journal = state.join("journal");
    if !is_directory(&journal) {
        return;
    }
    // A journal that is not this user's own is none of ours.
    let Ok(mut keeper) = Keeper::open(root.clone(), &journal) else { return };
    let mut report = keeper.restore(Scope::Session, false);
    let expired = keeper.restore(Scope::Expired, false);
    report.items.extend(expired.items);
    report.notes.extend(expired.notes);
    for line in words(&report) {
        terminal::say(&line);
    }
}

/// By descriptor or not, a link is none.
fn is_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

fn words(report: &RestoreReport) -> Vec<String> {
    let mut back: Vec<&str> = Vec::new();
    for item in report.items.iter().filter(|i| matches!(i.end, Restored::Back | Restored::Already)) {
        if !back.contains(&item.id.as_str()) {
            back.push(&item.id);
        }
    }
    let mut lines = report.notes.clone();
    if !back.is_empty() {
        lines.push(format!("Put back what an earlier Brakecheck had left: {}.", back.join(", ")));
    }
    let message = |i: &protocol::knob::RestoredItem| Some(format!("{}: {}: {}", i.id, i.source, i.message.as_ref()?));
    lines.extend(report.items.iter().filter_map(message));
    lines
}
