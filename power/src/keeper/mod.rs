//! The one who changes settings: writes each change down first, makes it, reads it back, and puts everything back.
//!
//! There is one keeper of a root at a time; the journal's lock sees to it. A keeper that dies at any instant leaves a
//! journal from which the next one knows what to put back.

mod list;
mod plan;
mod restore;
mod script;
mod set;
mod verdict;

pub use restore::Scope;

use crate::journal::{Entry, Journal, JournalError, Opened, Record};
use crate::kernel::{Fault, Kernel};
use crate::root::Root;
use crate::site::Site;
use protocol::knob::Lifetime;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why there is no keeper.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeeperError {
    /// No journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// No settings.
    #[error("cannot open {}: {why}", root.display())]
    Root {
        /// The root's directory.
        root: PathBuf,
        /// The kernel's answer in words.
        why: String,
    },
}

impl From<KeeperError> for protocol::error::ErrorBody {
    fn from(error: KeeperError) -> Self {
        match error {
            KeeperError::Journal(error) => error.into(),
            KeeperError::Root { .. } => Self::new(protocol::error::ErrorCode::Usage, error.to_string()),
        }
    }
}

/// The settings below a root, and what of them is ours.
#[derive(Debug)]
pub struct Keeper {
    kernel: Kernel,
    journal: Journal,
    records: BTreeMap<Site, Record>,
    next_seq: u64,
    /// Sites whose files went away by a change of ours: those of a CPU that was taken offline.
    hidden: BTreeSet<Site>,
    /// What was to go back and could not yet, and with what.
    owed: BTreeMap<Site, Scope>,
    /// To be told with the next report.
    notes: Vec<String>,
}

impl Keeper {
    /// Takes the settings below `root` in hand, with the journal in `dir`. Nothing is changed yet: what an earlier
    /// keeper left is ours again, to be put back by [`Keeper::restore`].
    pub fn open(root: Root, dir: &Path) -> Result<Self, KeeperError> {
        let Opened { journal, records, notes } = Journal::open(&root, dir)?;
        let path = root.path().to_owned();
        let kernel = Kernel::open(root).map_err(|e| KeeperError::Root { root: path, why: e.to_string() })?;
        let next_seq = records.keys().next_back().map_or(1, |last| last + 1);
        let records = records.into_values().map(|r| (r.site.clone(), r)).collect();
        Ok(Self { kernel, journal, records, next_seq, hidden: BTreeSet::new(), owed: BTreeMap::new(), notes })
    }

    /// Where the settings are.
    pub fn root(&self) -> &Root {
        self.kernel.root()
    }

    /// Whether nothing is ours.
    pub fn is_clean(&self) -> bool {
        self.ours().next().is_none()
    }

    /// Whether an experiment has set something that is in force now.
    pub fn is_experimenting(&self) -> bool {
        let is_experiment = |lifetime| matches!(lifetime, Lifetime::Experiment { .. });
        self.ours().any(|r| r.layers.iter().any(|l| is_experiment(l.lifetime)))
    }

    /// Keeps for the session what was unconfirmed, and says whether there was anything.
    pub fn confirm(&mut self) -> Result<bool, JournalError> {
        let unconfirmed = |r: &&Record| r.top().is_some_and(|l| l.lifetime == Lifetime::Unconfirmed);
        let mut confirmed: Vec<Record> = self.records.values().filter(unconfirmed).cloned().collect();
        for record in &mut confirmed {
            if let Some(layer) = record.layers.pop() {
                record.lay(crate::journal::Layer { lifetime: Lifetime::Session, expires: None, ..layer });
            }
        }
        let entries: Vec<Entry> = confirmed.iter().cloned().map(Entry::Record).collect();
        if !entries.is_empty() {
            self.write_down(&entries)?;
        }
        self.records.extend(confirmed.into_iter().map(|r| (r.site.clone(), r)));
        Ok(!entries.is_empty())
    }

    /// Time until the first setting's life ends, if one's does; zero if it is over.
    pub fn next_expiry(&self) -> Option<Duration> {
        let expiries = self.ours().flat_map(|r| &r.layers).filter_map(|l| l.expires);
        expiries.min().map(|at| Duration::from_millis(at.saturating_sub(boot_ms())))
    }

    /// Sees to it that the journal on the disk tells what is changed, whatever became of the file.
    pub fn keep_journal(&mut self) -> Result<(), JournalError> {
        if self.records.is_empty() { Ok(()) } else { self.journal.keep(self.records.values()) }
    }

    fn write_down(&mut self, entries: &[Entry]) -> Result<(), JournalError> {
        self.journal.keep(self.records.values())?;
        self.journal.append(entries)
    }

    /// Records of what is ours now.
    fn ours(&self) -> impl Iterator<Item = &Record> {
        self.records.values().filter(|r| !r.foreign && !r.layers.is_empty())
    }

    fn read(&self, site: &Site) -> Result<String, Fault> {
        self.kernel.read(site)
    }

    /// Sites of ours that are as they should be, without these.
    fn steady(&self, without: &BTreeSet<Site>) -> Vec<Site> {
        let others = self.ours().filter(|r| !without.contains(&r.site) && !self.kernel.is_held(&r.site));
        others.filter(|r| self.read(&r.site).is_ok_and(|now| now == r.value())).map(|r| r.site.clone()).collect()
    }

    /// What a change of ours did to other settings of ours is our doing, too: a governor decides about the preference,
    /// and the files of an offline CPU go away. `sites` were as they should be before it.
    fn follow(&mut self, sites: &[Site]) -> Vec<Entry> {
        let mut marks = Vec::new();
        for site in sites {
            let now = self.kernel.read(site);
            let Some(record) = self.records.get_mut(site) else { continue };
            match (now, record.layers.last_mut()) {
                (Ok(now), Some(layer)) if now != layer.value() => {
                    layer.ours = Some(now.clone());
                    marks.push(Entry::Mark { seq: record.seq, ours: now });
                }
                (Err(fault), _) if fault.is_gone() => {
                    self.hidden.insert(site.clone());
                }
                _ => {}
            }
        }
        marks
    }
}

/// Time since boot in ms, sleep included; nobody can set this clock.
fn boot_ms() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let (seconds, nanos) = (u64::try_from(now.tv_sec).unwrap_or(0), u64::try_from(now.tv_nsec).unwrap_or(0));
    seconds * 1_000 + nanos / 1_000_000
}
