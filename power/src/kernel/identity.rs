//! Which device a setting belongs to, so that another one in its place is left alone.

use super::Kernel;
use crate::root::{Dir, Root};
use crate::site::Site;

impl Kernel {
    /// What tells the device of a site from another at the same place: serial number, world-wide name, or the numbers
    /// of its kind. Empty for what cannot be swapped while the machine runs, and where nothing tells.
    pub fn identity(&self, site: &Site) -> String {
        let root = self.root();
        match site {
            Site::QueueDepth { disk }
            | Site::Scheduler { disk }
            | Site::Nomerges { disk }
            | Site::RqAffinity { disk }
            | Site::Wbt { disk } => disk_identity(root, disk),
            Site::Apst { controller } | Site::PowerState { controller } => {
                facts(root.dir(&format!("/sys/class/nvme/{controller}")), &["serial", "model"])
            }
            Site::LinkBit { device, .. } | Site::LinkSpeed { port: device } | Site::RuntimePm { device } => {
                let names = ["vendor", "device", "subsystem_vendor", "subsystem_device"];
                facts(root.dir(&format!("/sys/bus/pci/devices/{device}")), &names)
            }
            Site::SataPolicy { host } => facts(root.dir(&format!("/sys/class/scsi_host/host{host}")), &["unique_id"]),
            _ => String::new(),
        }
    }
}

/// A drive that was pulled and put back is the same, though its sequence number is another; so that number counts only
/// where the drive has no name of its own.
fn disk_identity(root: &Root, disk: &str) -> String {
    let own = facts(root.dir(&format!("/sys/block/{disk}")), &["wwid", "device/wwid", "device/serial", "serial"]);
    if own.is_empty() { facts(root.dir(&format!("/sys/block/{disk}")), &["diskseq"]) } else { own }
}

fn facts(dir: Option<Dir<'_>>, names: &[&str]) -> String {
    let Some(dir) = dir else { return String::new() };
    let fact = |name: &&str| Some(format!("{name}={}", dir.read(name)?));
    names.iter().filter_map(fact).collect::<Vec<_>>().join("\n")
}

/// Whether two identities are of different devices: some fact that both tell differs. A fact that one does not tell
/// could not be read then.
pub(crate) fn differs(a: &str, b: &str) -> bool {
    let facts = |text| str::lines(text).filter_map(|fact| fact.split_once('='));
    facts(a).any(|(name, value)| facts(b).any(|(n, v)| n == name && v != value))
}

#[cfg(test)]
mod tests {
    use super::differs;

    #[test]
    fn only_facts_that_both_tell_are_compared() {
        assert!(differs("wwid=a", "wwid=b") && differs("serial=1\nmodel=x y", "model=x z"));
        assert!(!differs("wwid=a", "wwid=a") && !differs("wwid=a", "diskseq=4") && !differs("wwid=a", ""));
    }
}
