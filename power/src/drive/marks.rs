//! What the kernel says of a drive, its port and every bridge above that must not change while something is measured.

use super::{bus, link, stack};
use crate::root::{Dir, Root};

/// One reading: a link's speed, a count of errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// What is read, in words: `I/O errors of sda`.
    pub what: String,
    /// As it is now.
    pub now: String,
}

/// Everything there is of the drive of this kernel name; empty where there is none.
///
/// - links: PCI Express `current_link_speed` and `current_link_width` of both ends of each link, SATA `sata_spd`;
/// - SCSI: `ioerr_cnt` and `iotmo_cnt`;
/// - libata: the ring of errors, `ata_device/*/ering` (ABI/testing/sysfs-ata);
/// - PCI Express: the totals of `aer_dev_nonfatal` and `aer_dev_fatal` (ABI/testing/sysfs-bus-pci-devices-aer). Errors
///   that the hardware corrects are left out: they cost time, and where a setting brings them that is a part of its cost;
/// - NVMe: the controller's `state`, which is `live` unless it is being reset.
pub fn marks(root: &Root, drive: &str) -> Vec<Mark> {
    let Some(drive) = stack::by_name(root, drive) else { return Vec::new() };
    let hardware = bus::hardware(&drive);
    let mut marks = Vec::new();
    let mut put = |what: String, now: Option<String>| marks.extend(now.map(|now| Mark { what, now }));
    for end in link::ends(&drive, &hardware) {
        put(format!("the link of {}", end.address), Some(end.current));
    }
    for (name, what) in [("ioerr_cnt", "I/O errors"), ("iotmo_cnt", "timeouts")] {
        put(format!("{what} of {}", drive.name()), drive.read(&format!("device/{name}")));
    }
    for device in hardware.ancestors() {
        if crate::drive::is_pci_address(device.name()) {
            for kind in ["nonfatal", "fatal"] {
                put(format!("{kind} PCI Express errors of {}", device.name()), total(&device, kind));
            }
        }
        if is_numbered(device.name(), "ata") {
            ata(&device, &mut put);
        }
        if is_numbered(device.name(), "nvme") {
            put(format!("the state of {}", device.name()), device.read("state"));
        }
    }
    marks
}

fn is_numbered(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// The last line of the counters: `TOTAL_ERR_FATAL 0`.
fn total(device: &Dir<'_>, kind: &str) -> Option<String> {
    let text = device.read(&format!("aer_dev_{kind}"))?;
    text.lines().find_map(|l| l.strip_prefix("TOTAL_ERR_")?.split_whitespace().nth(1).map(str::to_owned))
}

fn ata(port: &Dir<'_>, put: &mut impl FnMut(String, Option<String>)) {
    for link in port.numbered("link") {
        let name = link.name();
        put(format!("the link of {}", port.name()), link.read(&format!("ata_link/{name}/sata_spd")));
        for device in link.numbered("dev") {
            let name = device.name().to_owned();
            // Absent or empty while there has been no error.
            let ring = device.read(&format!("ata_device/{name}/ering")).unwrap_or_default();
            let last = ring.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("none").trim();
            put(format!("the last ATA error of {name}"), Some(last.to_owned()));
        }
    }
}
