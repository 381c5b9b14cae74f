//! One thing that was looked at.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What was looked at, and how it was found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Check {
    /// `cpu.governor`.
    pub(crate) knob: String,
    /// The value it was set to, or put back to.
    pub(crate) value: String,
    /// Who says so.
    pub(crate) by: By,
    pub(crate) end: End,
    /// In words: what was seen.
    pub(crate) said: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum By {
    /// The program's own answer to setting it.
    Program,
    /// The kernel's other files and counters.
    Kernel,
    /// The drive's log: `said` is what it must say, and is looked for afterwards.
    Drive,
    /// All settings after putting back.
    Restore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum End {
    Held,
    Failed,
    /// It cannot be seen here, or not be set.
    NotApplicable,
}

impl Check {
    pub(crate) fn new(knob: &str, value: &str, by: By, found: Result<String, String>) -> Self {
        let (end, said) = match found {
            Ok(said) => (End::Held, said),
            Err(said) => (End::Failed, said),
        };
        Self { knob: knob.into(), value: value.into(), by, end, said }
    }

    pub(crate) fn failed(&self) -> bool {
        self.end == End::Failed
    }

    pub(crate) fn held(&self) -> bool {
        self.end == End::Held
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = match self.end {
            End::Held => "ok",
            End::Failed => "FAILED",
            End::NotApplicable => "-",
        };
        let by = match self.by {
            By::Program => "set",
            By::Kernel => "kernel",
            By::Drive => "drive",
            By::Restore => "restore",
        };
        write!(f, "{end:6} {:28} {:20} {by:7} {}", self.knob, self.value, self.said)
    }
}
