//! What a drive is attached to.

use crate::root::Dir;

/// How the host talks to the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bus {
    Nvme,
    Sata,
    Scsi,
    Usb,
    Virtio,
    Mmc,
    Xen,
    Network,
    Loop,
    Ram,
}

impl Bus {
    /// From the kernel's name and the path of parents; `None` for what is not known here.
    pub(super) fn of(drive: &Dir<'_>) -> Option<Self> {
        let by_name = [
            ("nvme", Self::Nvme),
            ("loop", Self::Loop),
            ("zram", Self::Ram),
            ("ram", Self::Ram),
            ("pmem", Self::Ram),
            ("mmcblk", Self::Mmc),
            ("nbd", Self::Network),
            ("rbd", Self::Network),
        ];
        let name = drive.name();
        if let Some((_, bus)) = by_name.iter().find(|(prefix, _)| name.starts_with(prefix)) {
            return Some(*bus);
        }
        // Nearest parent first: a SCSI disk behind USB is USB, one behind a virtio controller is virtio.
        let path = drive.path();
        let mut parents = path.rsplit('/').skip(1);
        let numbered = |p: &str, prefix: &str| {
            p.strip_prefix(prefix).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        };
        let of_parent = |p: &str| match p {
            _ if numbered(p, "usb") => Some(Self::Usb),
            _ if numbered(p, "ata") => Some(Self::Sata),
            _ if numbered(p, "virtio") => Some(Self::Virtio),
            _ if p.starts_with("vbd-") => Some(Self::Xen),
            _ => None,
        };
        let scsi = path.split('/').any(|p| numbered(p, "host"));
        parents.find_map(of_parent).or(scsi.then_some(Self::Scsi))
    }

    /// The word of [`protocol::host::DriveFacts::bus`].
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nvme => "nvme",
            Self::Sata => "sata",
            Self::Scsi => "scsi",
            Self::Usb => "usb",
            Self::Virtio => "virtio",
            Self::Mmc => "mmc",
            Self::Xen => "xen",
            Self::Network => "network",
            Self::Loop => "loop",
            Self::Ram => "ram",
        }
    }
}

/// The directory below the hardware's: the drive's own, except for an NVMe namespace with several paths, which hangs
/// below a virtual subsystem; there it is that of the first controller that is alive.
pub(crate) fn hardware<'a>(drive: &Dir<'a>) -> Dir<'a> {
    let controller = || {
        if !drive.path().contains("/nvme-subsystem/") {
            return None;
        }
        let subsystem = drive.ancestors().nth(1)?;
        // The namespaces are there too, `nvme0n1`; a controller is a number and nothing else.
        let is_controller = |d: &Dir<'_>| d.name().trim_start_matches("nvme").bytes().all(|b| b.is_ascii_digit());
        let controllers: Vec<_> = subsystem.numbered("nvme").into_iter().filter(is_controller).collect();
        let live = controllers.iter().find(|c| c.read("state").as_deref() == Some("live"));
        live.or(controllers.first()).cloned()
    };
    controller().unwrap_or_else(|| drive.clone())
}
