//! What several families need to know, read once for each listing.

use crate::control::Hints;
use crate::cpulist;
use crate::host::virtualization;
use crate::look::Look;
use crate::root::{Dir, Root};

pub(super) const CPU: &str = "/sys/devices/system/cpu";

/// The host as the catalogue sees it.
pub(super) struct Machine<'a> {
    pub(super) root: &'a Root,
    pub(super) hints: &'a Hints,
    /// Present CPUs, ascending; numbers may have gaps.
    pub(super) cpus: Vec<Cpu<'a>>,
    /// Frequency policies with a CPU online, ascending.
    pub(super) policies: Vec<Policy<'a>>,
    /// `a KVM virtual machine`, where it is one.
    pub(super) guest: Option<String>,
    /// Whole disks that a drive is behind.
    pub(super) disks: Vec<Dir<'a>>,
}

/// One CPU.
pub(super) struct Cpu<'a> {
    pub(super) number: u32,
    pub(super) dir: Dir<'a>,
    pub(super) online: bool,
    /// Its `online` file; the first CPU usually has none and cannot be taken offline.
    pub(super) switch: Option<Look>,
}

/// One frequency policy.
pub(crate) struct Policy<'a> {
    pub(crate) number: u32,
    pub(crate) dir: Dir<'a>,
}

impl<'a> Machine<'a> {
    pub(super) fn of(root: &'a Root, hints: &'a Hints) -> Self {
        let cpus = cpus(root);
        Self {
            root,
            hints,
            cpus,
            policies: policies(root),
            guest: virtualization::in_words(root).map(|words| format!("a {}", words.replace("unnamed ", ""))),
            disks: disks(root),
        }
    }

    /// CPUs that are online.
    pub(super) fn online(&self) -> impl Iterator<Item = &Cpu<'a>> {
        self.cpus.iter().filter(|c| c.online)
    }

    /// `what`, with where it is missing if that explains it: `no idle driver: a KVM virtual machine`.
    pub(super) fn lacking(&self, what: &str, otherwise: &str) -> String {
        format!("{what}: {}", self.guest.as_deref().unwrap_or(otherwise))
    }
}

/// The number behind a prefix: 12 for `cpu12`; none for `cpu12x`.
pub(super) fn number(name: &str, prefix: &str) -> Option<u32> {
    name.strip_prefix(prefix)?.parse().ok()
}

fn online_list(root: &Root) -> Option<Vec<u32>> {
    cpulist::parse(&root.read(&format!("{CPU}/online"))?)
}

fn cpus<'a>(root: &'a Root) -> Vec<Cpu<'a>> {
    let online = online_list(root);
    let dirs = root.dir(CPU).map(|d| d.numbered("cpu")).unwrap_or_default();
    let cpu = |dir: Dir<'a>| {
        let number = number(dir.name(), "cpu")?;
        let switch = dir.look("online");
        let online = match &online {
            Some(list) => list.binary_search(&number).is_ok(),
            // Without a switch it cannot be offline.
            None => switch.as_ref().is_none_or(|s| s.text().is_ok_and(|t| t != "0")),
        };
        Some(Cpu { number, dir, online, switch })
    };
    dirs.into_iter().filter_map(cpu).collect()
}

/// Frequency policies with a CPU online. One whose CPUs are all offline is still listed and answers `EBUSY`.
pub(crate) fn policies(root: &Root) -> Vec<Policy<'_>> {
    let dirs = root.dir(&format!("{CPU}/cpufreq")).map(|d| d.numbered("policy")).unwrap_or_default();
    let active = |dir: &Dir<'_>| dir.look("affected_cpus").is_none_or(|l| l.text().is_ok_and(|t| !t.is_empty()));
    let active = dirs.into_iter().filter(active);
    active.filter_map(|dir| Some(Policy { number: number(dir.name(), "policy")?, dir })).collect()
}

/// Disks that belong to a drive of their own: no layers over others, no memory, no empty slots, no hidden paths.
fn disks(root: &Root) -> Vec<Dir<'_>> {
    let Some(block) = root.dir("/sys/block").or_else(|| root.dir("/sys/class/block")) else { return Vec::new() };
    let virtual_kinds = ["loop", "zram", "ram", "dm-", "md", "nbd", "rbd", "drbd", "zd", "fd", "sr", "nullb"];
    let whole = |name: &String| !virtual_kinds.iter().any(|kind| name.starts_with(kind));
    let dirs = block.names().into_iter().filter(whole).filter_map(|name| block.enter(&name));
    let real = |d: &Dir<'_>| {
        d.read("partition").is_none()
            && d.read("hidden").as_deref().unwrap_or("0") == "0"
            && d.parse::<u64>("size").is_some_and(|n| n > 0)
    };
    dirs.filter(real).collect()
}
