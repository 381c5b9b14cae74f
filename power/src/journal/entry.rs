//! What is written down.

use crate::site::Site;
use protocol::knob::Lifetime;
use serde::{Deserialize, Serialize};

/// Version of the format.
pub(super) const VERSION: u32 = 1;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Entry {
    /// First in the file.
    Header {
        version: u32,
        /// Boot of the machine: settings do not outlive it.
        boot: String,
        /// The directory whose settings these are.
        root: String,
    },
    /// About to be written; or, after the fact, how it stands. Replaces what had the same number.
    Record(Record),
    /// Read back after the write.
    Mark { seq: u64, ours: String },
    /// What an earlier journal told is lost in part; stands until that was reported.
    Damage(Damage),
}

/// A place where the record of changed settings was damaged or lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Number of places.
    pub count: u32,
    /// What happened and what to do.
    pub note: String,
}

/// One site that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Ascending over all records.
    pub seq: u64,
    /// What was changed.
    pub site: Site,
    /// The device it belongs to; see [`crate::kernel::Kernel::identity`].
    pub identity: String,
    /// The value before any change.
    pub original: String,
    /// What was set, the longest-lived first: what the last one covers shows again when its life ends. None for what
    /// is only disturbed.
    pub layers: Vec<Layer>,
    /// The knob whose undoing loses this setting, so that it is put back after it whatever it says then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbed_by: Option<String>,
    /// Somebody else had changed it when it was to be put back; only force overwrites it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
}

/// One setting of a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// The knob by which it was set.
    pub id: String,
    /// The value that knob was set to.
    pub choice: String,
    /// The knob's value before.
    pub was: Option<String>,
    /// What is written to the site.
    pub wanted: String,
    /// What was read back; absent if that was not written down in time.
    pub ours: Option<String>,
    /// How long it stays.
    pub lifetime: Lifetime,
    /// When its life ends, in ms of `CLOCK_BOOTTIME`, which nobody can set.
    pub expires: Option<u64>,
}

impl Layer {
    /// The value it stands for.
    pub fn value(&self) -> &str {
        self.ours.as_deref().unwrap_or(&self.wanted)
    }

    /// Longer-lived settings lie below shorter-lived ones.
    pub fn depth(&self) -> u8 {
        match self.lifetime {
            Lifetime::Experiment { .. } => 4,
            Lifetime::Unconfirmed => 3,
            Lifetime::Session => 2,
            Lifetime::For { .. } => 1,
            Lifetime::Kept => 0,
        }
    }
}

impl Record {
    /// The setting in force.
    pub fn top(&self) -> Option<&Layer> {
        self.layers.last()
    }

    /// The value that should be there while these layers lie on it.
    pub fn value(&self) -> &str {
        self.top().map_or(&self.original, Layer::value)
    }

    /// The knob it is shown at.
    pub fn id(&self) -> &str {
        let disturber = self.disturbed_by.as_deref().unwrap_or_default();
        self.top().map_or(disturber, |l| &l.id)
    }

    /// Lays a setting on top; it replaces those that do not live longer.
    pub fn lay(&mut self, layer: Layer) {
        self.layers.retain(|l| l.depth() < layer.depth());
        self.layers.push(layer);
    }

    /// Whether it says no more than that all is as it was.
    pub fn is_idle(&self) -> bool {
        let same = |l: &Layer| l.ours.as_ref() == Some(&self.original);
        self.disturbed_by.is_none() && self.layers.len() <= 1 && self.layers.iter().all(same)
    }
}
