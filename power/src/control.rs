//! A knob of this host with what is behind each of its values.

use crate::root::Root;
use crate::site::Site;
use protocol::knob::{Group, Knob};

/// One kernel write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// Where.
    pub site: Site,
    /// What, in the spelling of [`Site::normalise`].
    pub value: String,
}

/// One value of a knob.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// As people say it: `on`, `C1E`, `performance`.
    pub value: String,
    /// What is written for it; on hosts with many CPUs, hundreds.
    pub writes: Vec<Write>,
    /// Settings that are lost when these writes are undone, and so must be put back after them: CPUs that were offline
    /// come online when threads are turned on again.
    pub disturbs: Vec<Site>,
}

/// One instance of a knob. Made anew from the kernel's files each time: devices come and go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Control {
    /// `cpu.turbo`, `sata.link-power@host0`.
    pub id: String,
    /// The name people know.
    pub title: String,
    /// What it does in about six words.
    pub about: String,
    /// Where it acts.
    pub group: Option<Group>,
    /// Value now, in the words of `choices` where it is one of them.
    pub value: Option<String>,
    /// What the value means in detail.
    pub detail: Option<String>,
    /// What it can be set to; empty for what is only shown.
    pub choices: Vec<Choice>,
    /// The value that saves most.
    pub saving: Option<String>,
    /// The value that costs no speed.
    pub performance: Option<String>,
    /// Why it cannot be set, or does not exist here. Settable if absent.
    pub reason: Option<String>,
    /// Why setting it is risky.
    pub risk: Option<String>,
    /// Files of it that could not be read, and so are not written, in words; all of the others are.
    pub left_out: Option<String>,
    /// The kernel's file.
    pub source: String,
}

impl Control {
    /// The choice with this value.
    pub fn choice(&self, value: &str) -> Option<&Choice> {
        self.choices.iter().find(|c| c.value == value)
    }

    /// As it is shown. Whose doing a value is, and the original, only the keeper knows.
    pub fn knob(&self) -> Knob {
        Knob {
            id: self.id.clone(),
            title: self.title.clone(),
            about: self.about.clone(),
            group: self.group,
            value: self.value.clone(),
            detail: self.detail.clone(),
            values: self.choices.iter().map(|c| c.value.clone()).collect(),
            saving_value: self.saving.clone(),
            performance_value: self.performance.clone(),
            writable: self.reason.is_none() && !self.choices.is_empty(),
            reason: self.reason.clone(),
            source: self.source.clone(),
            risk: self.risk.clone(),
            ..Knob::default()
        }
    }
}

/// What the catalogue must know beyond the kernel's files.
#[derive(Debug, Clone, Default)]
pub struct Hints {
    /// Kernel names of the drives that are in use for a measurement: `cpu.cores` keeps a CPU of their node.
    pub drives: Vec<String>,
    /// A profile daemon answers on the system bus, with these profiles and this one in force: `platform.profile`
    /// is then held through it instead of written.
    pub profile_daemon: Option<ProfileDaemon>,
}

/// What a profile daemon says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfileDaemon {
    /// Names of its profiles.
    pub profiles: Vec<String>,
    /// The one in force.
    pub active: String,
}

/// Every control of this host, in the order of the path from platform to queue.
pub fn controls(root: &Root, hints: &Hints) -> Vec<Control> {
    crate::catalogue::all(root, hints)
}
