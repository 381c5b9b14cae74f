//! The drive's link and what the path above leaves of it.

use super::bus::Bus;
use super::identity::AtaInformation;
use super::pcie;
use crate::root::Dir;
use protocol::host::Link;
use protocol::telemetry::LinkSample;
use protocol::units::BytesPerSecond;

/// The link of a drive on a bus that has one.
pub(super) fn of(hardware: &Dir<'_>, bus: Bus) -> Option<Link> {
    match bus {
        Bus::Nvme => pcie(hardware),
        Bus::Sata => Some(behind_controller(hardware, sata(hardware)?)),
        Bus::Usb => Some(behind_controller(hardware, usb(hardware)?)),
        _ => None,
    }
}

/// Both ends of each PCI Express link on the way to the drive, its own first.
pub(super) fn ends(drive: &Dir<'_>, hardware: &Dir<'_>) -> Vec<LinkSample> {
    let path = pcie::Path::above(hardware);
    let sample = |(end, possible): (&pcie::End, Option<pcie::Width>)| LinkSample {
        drive: drive.name().to_owned(),
        address: end.address.clone(),
        current: end.current.to_string(),
        max: possible.map(|p| p.to_string()),
    };
    path.ends().map(sample).collect()
}

fn pcie(hardware: &Dir<'_>) -> Option<Link> {
    let path = pcie::Path::above(hardware);
    Some(Link {
        current: path.own()?.current.to_string(),
        max: path.possible().map(|w| w.to_string()),
        ceiling: path.narrowest().map(|e| e.current.ceiling()),
        bottleneck: path.bottleneck(),
    })
}

/// Adds the controller's own path to the root: a SATA 6 Gb/s port on a PCIe 2.0 x1 card gives 500 MB/s.
fn behind_controller(hardware: &Dir<'_>, mut link: Link) -> Link {
    let path = pcie::Path::above(hardware);
    if let (Some(narrowest), Some(own)) = (path.narrowest(), link.ceiling) {
        let ceiling = narrowest.current.ceiling();
        if ceiling.0 < own.0 {
            link.ceiling = Some(ceiling);
            link.bottleneck = Some(format!("controller {} runs at {}", narrowest.address, narrowest.current));
        }
    }
    link
}

/// SATA carries 8 bits in 10, so 6 Gb/s are 600 MB/s; frames and commands take a further 5 to 8 %.
fn sata(hardware: &Dir<'_>) -> Option<Link> {
    let is_port = |d: &Dir<'_>| d.name().strip_prefix("ata").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    let port = hardware.ancestors().find(is_port)?;
    let speed = |name: &str| {
        let links = port.numbered("link");
        let mut texts = links.iter().filter_map(|l| l.read(&format!("ata_link/{}/{name}", l.name())));
        texts.find_map(|t| t.split_whitespace().next()?.parse::<f64>().ok())
    };
    let current = speed("sata_spd")?;
    let words = |gbps: f64| format!("SATA {gbps:.1} Gb/s");
    let drive = hardware.bytes("device/vpd_pg89").and_then(|page| AtaInformation::parse(&page)?.generation);
    let drive = drive.and_then(|g| [1.5, 3.0, 6.0].get(usize::from(g) - 1).copied());
    let port_max = speed("hw_sata_spd_limit");
    let bottleneck = match (drive, port_max) {
        (Some(drive), Some(port)) if port < drive => {
            Some(format!("the port does at most {port:.1} Gb/s, the drive {drive:.1}"))
        }
        (Some(drive), _) if current < drive => {
            Some(format!("the link runs at {current:.1} Gb/s, the drive can do {drive:.1}"))
        }
        _ => None,
    };
    Some(Link {
        current: words(current),
        max: drive.into_iter().chain(port_max).reduce(f64::min).map(words),
        ceiling: Some(BytesPerSecond(current * 1e9 * 0.8 / 8.0)),
        bottleneck,
    })
}

/// The drive's USB speed and the slowest hub above it.
fn usb(hardware: &Dir<'_>) -> Option<Link> {
    let speeds: Vec<(String, f64)> =
        hardware.ancestors().filter_map(|d| Some((d.name().to_owned(), d.parse::<f64>("speed")?))).collect();
    let (_, own) = speeds.first()?;
    let (hub, slowest) = speeds.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let words = |mbps: f64| if mbps >= 1000.0 { format!("{} Gb/s", mbps / 1000.0) } else { format!("{mbps} Mb/s") };
    Some(Link {
        current: format!("USB {}", words(*own)),
        max: None,
        ceiling: Some(usb_ceiling(*slowest)),
        bottleneck: (slowest < own).then(|| format!("hub {hub} runs at {}", words(*slowest))),
    })
}

/// USB 2: 13 bulk packets of 512 bytes in each of 8000 microframes. USB 3 at 5 Gb/s: 8b/10b; faster: 128b/132b.
fn usb_ceiling(mbps: f64) -> BytesPerSecond {
    let bytes = match mbps {
        m if m < 480.0 => m * 1e6 / 8.0,
        m if m < 5000.0 => 13.0 * 512.0 * 8000.0,
        m if m < 10_000.0 => m * 1e6 * 0.8 / 8.0,
        m => m * 1e6 * (128.0 / 132.0) / 8.0,
    };
    BytesPerSecond(bytes)
}
