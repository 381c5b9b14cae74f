//! The experiment that goes on when the server comes back: one that ended only because its server did.
//!
//! A note in the state directory names it while it is on. Stopping or pausing it takes the note away; the end of the
//! server, of whatever kind, leaves it.

use crate::state_dir::{StateDir, open_private};
use protocol::run::RunId;
use serde::{Deserialize, Serialize};
use std::io::{ErrorKind, Read, Seek, Write};

/// How often one is resumed without a block of its own: one that ends its server each time must not do so for ever.
const TRIES: u32 = 3;
/// Longest note that is read, in bytes.
const LONGEST: u64 = 4096;

/// The note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unfinished {
    /// The experiment.
    pub(super) id: RunId,
    /// The boot it ran in. After another one the host may have changed in ways nobody asked for.
    boot: Option<String>,
    /// How often it was resumed since its last block.
    tries: u32,
}

impl Unfinished {
    /// Of an experiment that begins; one that was resumed by itself is counted on.
    pub(super) fn begin(state: &StateDir, id: &str, boot: Option<String>) -> Self {
        let tries = Self::read(state).filter(|note| note.id == id).map_or(0, |note| note.tries);
        let note = Self { id: id.to_owned(), boot, tries };
        note.write(state);
        note
    }

    /// The one to go on with now, with this try counted; the note is taken away where there is none.
    pub(super) fn next(state: &StateDir, boot: Option<&str>) -> Option<Self> {
        let note = Self::read(state)?;
        if note.boot.as_deref() != boot || note.tries >= TRIES {
            tracing::warn!("experiment {} is not resumed by itself: {}", note.id, note.why_not());
            Self::remove(state);
            return None;
        }
        let note = Self { tries: note.tries + 1, ..note };
        note.write(state);
        Some(note)
    }

    fn why_not(&self) -> String {
        if self.tries < TRIES {
            return "the host was restarted meanwhile".into();
        }
        format!("it was {} times, and the server ended each time before its next block", self.tries)
    }

    /// A block of it has ended.
    pub(super) fn got_on(&mut self, state: &StateDir) {
        if self.tries > 0 {
            self.tries = 0;
            self.write(state);
        }
    }

    /// Nothing is to go on.
    pub(super) fn remove(state: &StateDir) {
        if let Err(e) = std::fs::remove_file(state.unfinished())
            && e.kind() != ErrorKind::NotFound
        {
            tracing::warn!("{} cannot be removed: {e}", state.unfinished().display());
        }
    }

    /// What cannot be read is as good as none: then somebody resumes by hand.
    fn read(state: &StateDir) -> Option<Self> {
        let file = std::fs::File::open(state.unfinished()).ok()?;
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }

    fn write(&self, state: &StateDir) {
        let write = || -> std::io::Result<()> {
            let mut file = open_private(&state.unfinished())?;
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(serde_json::to_string(self)?.as_bytes())
        };
        if let Err(e) = write() {
            tracing::warn!("experiment {} will not go on by itself: {e}", self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_goes_on_in_the_same_boot_a_few_times_until_it_gets_on() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::open(dir.path()).unwrap();
        assert_eq!(Unfinished::next(&state, Some("b")), None);
        let boot = || Some("b".to_owned());
        let mut note = Unfinished::begin(&state, "e1", boot());
        for tries in 1..=TRIES {
            assert_eq!(Unfinished::next(&state, Some("b")).unwrap().tries, tries);
            note = Unfinished::begin(&state, "e1", boot());
            assert_eq!(note.tries, tries);
        }
        note.got_on(&state);
        for _ in 0..TRIES {
            assert!(Unfinished::next(&state, Some("b")).is_some());
        }
        assert_eq!(Unfinished::next(&state, Some("b")), None);
        assert!(!state.unfinished().exists());

        Unfinished::begin(&state, "e1", boot());
        assert_eq!(Unfinished::begin(&state, "e2", boot()).tries, 0);
        assert_eq!(Unfinished::next(&state, Some("another")), None);
        std::fs::write(state.unfinished(), "{").unwrap();
        assert_eq!(Unfinished::next(&state, Some("b")), None);
    }
}
