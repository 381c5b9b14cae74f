//! Knobs: settings of the host with a closed set of values, and what became of changing them.

use serde::{Deserialize, Serialize};

/// Time in milliseconds after which a risky setting falls back by itself unless it is confirmed.
pub const CONFIRM_MS: u32 = 15_000;

/// Where on the path from the platform to the queue a knob acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Firmware and system-wide profiles.
    Platform,
    /// The processor.
    Cpu,
    /// PCI Express.
    Pcie,
    /// The link to the drive: SATA, NVMe over PCI Express.
    Link,
    /// The drive itself.
    Drive,
    /// The kernel's block queue.
    Queue,
}

impl Group {
    /// All, in the order of the path.
    pub const ALL: [Self; 6] = [Self::Platform, Self::Cpu, Self::Pcie, Self::Link, Self::Drive, Self::Queue];

    /// As headings say it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Platform => "Platform",
            Self::Cpu => "CPU",
            Self::Pcie => "PCI Express",
            Self::Link => "Drive link",
            Self::Drive => "Drive",
            Self::Queue => "Queue",
        }
    }
}

/// Whose doing a knob's value is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// As it was found.
    #[default]
    Found,
    /// Set by Brakecheck; the journal knows the original.
    Ours,
    /// Set by Brakecheck and changed by somebody else since.
    Foreign,
}

/// How long a setting of ours stays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Lifetime {
    /// While the server that set it lives.
    #[default]
    Session,
    /// Until `restore` or a reboot.
    Kept,
    /// For so many seconds, then it is put back.
    For {
        /// Seconds from when it was set.
        seconds: u32,
    },
    /// Until confirmed, for [`CONFIRM_MS`] at most; then it is put back.
    Unconfirmed,
    /// While an experiment is on, over whatever else is set; for so many seconds at most, then it is put back.
    Experiment {
        /// Seconds from when it was set.
        seconds: u32,
    },
}

/// One instance of a knob on this host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Knob {
    /// `cpu.turbo`, `sata.link-power@host0`.
    pub id: String,
    /// The name people know, with the BIOS's name where it differs: "Turbo Boost".
    pub title: String,
    /// What it does in about six words.
    pub about: String,
    /// Where it acts.
    pub group: Option<Group>,
    /// Value now; absent when it cannot be read or does not exist here.
    pub value: Option<String>,
    /// What the value means in detail, if it needs it: "C1E and shallower; 10 us to wake".
    pub detail: Option<String>,
    /// The values it can be set to.
    pub values: Vec<String>,
    /// The value that saves most; absent where none does.
    pub saving_value: Option<String>,
    /// The value that costs no speed.
    pub performance_value: Option<String>,
    /// Whether it can be set now.
    pub writable: bool,
    /// If not, why, in words; also why it does not exist here.
    pub reason: Option<String>,
    /// Whether a change takes a restart. Never at runtime.
    pub restart: bool,
    /// The kernel's file, as a path; the first one of several.
    pub source: String,
    /// Why setting it is risky; such a knob asks first and falls back unless confirmed.
    pub risk: Option<String>,
    /// Whose doing the value is.
    pub origin: Origin,
    /// The value before we changed it, while it is changed.
    pub original: Option<String>,
    /// How long our change stays, while there is one.
    pub lifetime: Option<Lifetime>,
}

impl Knob {
    /// Whether there is such a thing on this host at all.
    pub fn present(&self) -> bool {
        self.value.is_some() || self.writable
    }
}

/// A wish: this knob to this value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Assignment {
    /// Which knob.
    pub id: String,
    /// One of its values.
    pub value: String,
}

/// How a change ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Written, read back, as wanted.
    Applied,
    /// It was so already; nothing was written.
    Unchanged,
    /// The kernel took another value than the one written.
    Clamped,
    /// The kernel took the write and changed nothing.
    Ignored,
    /// The kernel refused, or could not be asked.
    Failed,
    /// Brakecheck refused: no such knob, value, or right.
    Refused,
}

impl Verdict {
    /// Whether the knob now has the value that was wanted.
    pub fn is_done(self) -> bool {
        matches!(self, Self::Applied | Self::Unchanged)
    }
}

/// What became of one wish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Outcome {
    /// Which knob.
    pub id: String,
    /// The value that was wanted.
    pub wanted: String,
    /// The value after it, if it can be read.
    pub value: Option<String>,
    /// How it ended.
    pub verdict: Verdict,
    /// In words, when it did not end as wanted; with the kernel's error and file.
    pub message: Option<String>,
}

/// How putting back one setting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Restored {
    /// The original value is back.
    Back,
    /// The original value was there already.
    Already,
    /// Somebody else had changed it meanwhile; left alone.
    Foreign,
    /// The device or file is gone; put back when it returns.
    Gone,
    /// The kernel refused.
    Failed,
}

/// What became of one setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RestoredItem {
    /// The knob it belongs to.
    pub id: String,
    /// The kernel's file.
    pub source: String,
    /// The value to be put back.
    pub original: String,
    /// The value after it, if it can be read.
    pub now: Option<String>,
    /// How it ended.
    pub end: Restored,
    /// In words, when it did not end as wanted.
    pub message: Option<String>,
}

/// What `restore` did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct RestoreReport {
    /// Each kernel file that was ours.
    pub items: Vec<RestoredItem>,
    /// Things to know: a journal of another boot was dropped, a line of it was damaged.
    pub notes: Vec<String>,
    /// Places where the record of changed settings was damaged or lost: what was changed there is not known any more,
    /// and may still be changed.
    pub damaged: u32,
}

impl RestoreReport {
    /// Whether nothing of ours is left. What somebody else changed is not ours any more.
    pub fn is_complete(&self) -> bool {
        self.damaged == 0 && self.items.iter().all(|i| !matches!(i.end, Restored::Failed | Restored::Gone))
    }
}
