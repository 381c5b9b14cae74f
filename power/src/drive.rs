//! Facts about the drive under a block device.

mod bus;
mod identity;
mod link;
mod marks;
mod pcie;
mod stack;
mod temperature;

use crate::cpulist;
use crate::root::{Dir, Root, bracketed};
use bus::Bus;
pub(crate) use bus::hardware;
use identity::AtaInformation;
pub use marks::{Mark, marks};
pub(crate) use pcie::is_address as is_pci_address;
use protocol::host::DriveFacts;
use protocol::telemetry::LinkSample;
use protocol::units::Bytes;

/// What is known of the drive under block device `dev` (major, minor), through partitions, device mapper, md and
/// loop files. `None` if the kernel knows no such device.
pub fn facts(root: &Root, dev: (u32, u32)) -> Option<DriveFacts> {
    let (major, minor) = dev;
    let top = root
        .dir(&format!("/sys/dev/block/{major}:{minor}"))
        .or_else(|| crate::mounts::device_of_anonymous(root, dev))?;
    let stack = stack::below(top);
    let (drive, others) = stack.drives.split_first()?;
    let hardware = bus::hardware(drive);
    let bus = Bus::of(drive);
    let identity = identity::of(drive, bus);
    let queue = |name: &str| drive.read(&format!("queue/{name}"));
    let queue_bytes = |name: &str| drive.parse(&format!("queue/{name}")).map(Bytes);
    Some(DriveFacts {
        name: drive.name().to_owned(),
        model: identity.model,
        serial: identity.serial,
        firmware: identity.firmware,
        bus: bus.map(|b| b.name().to_owned()),
        rotational: queue("rotational").map(|v| v != "0"),
        // `size` counts sectors of 512 bytes whatever the drive's own block size is.
        size: drive.parse::<u64>("size").and_then(|n| n.checked_mul(512)).map(Bytes),
        logical_block: queue_bytes("logical_block_size"),
        physical_block: queue_bytes("physical_block_size"),
        scheduler: queue("scheduler").map(|s| bracketed(&s).unwrap_or(s)),
        nr_requests: drive.parse("queue/nr_requests"),
        write_cache: queue("write_cache"),
        temperature_c: temperature::of(&hardware),
        numa_node: numa_node(&hardware),
        link: bus.and_then(|b| link::of(&hardware, b)),
        path: link::ends(drive, &hardware),
        layers: stack.layers,
        other_drives: others.iter().map(|d| d.name().to_owned()).collect(),
    })
}

/// Online CPUs on the drive's side of the machine; empty when unknown or when all are equally near.
pub fn near_cpus(root: &Root, drive: &DriveFacts) -> Vec<u32> {
    let list = |text: Option<String>| text.and_then(|t| cpulist::parse(&t));
    let online = list(root.read("/sys/devices/system/cpu/online")).unwrap_or_default();
    let of_node = drive.numa_node.and_then(|n| list(root.read(&format!("/sys/devices/system/node/node{n}/cpulist"))));
    let near = of_node.or_else(|| {
        let hardware = bus::hardware(&stack::by_name(root, &drive.name)?);
        list(hardware.ancestors().find_map(|d| d.read("local_cpulist")))
    });
    let near: Vec<u32> = near.unwrap_or_default().into_iter().filter(|cpu| online.contains(cpu)).collect();
    if near == online { Vec::new() } else { near }
}

/// Kernel names of a drive and of everything it hangs on: its controller, port, and every bridge above, as knobs name
/// them. Empty if there is no such drive.
pub fn path_names(root: &Root, drive: &str) -> Vec<String> {
    let Some(drive) = stack::by_name(root, drive) else { return Vec::new() };
    let hardware = bus::hardware(&drive);
    drive.ancestors().chain(hardware.ancestors()).map(|d| d.name().to_owned()).collect()
}

/// The PCI Express links of all drives and of the ports above them. Asks each drive over its link, which wakes it.
pub(crate) fn links(root: &Root) -> Vec<LinkSample> {
    let names = root.dir("/sys/block").map(|d| d.names()).unwrap_or_default();
    // An NVMe drive with several paths shows each of them as a hidden disk beside its own.
    let drives =
        names.iter().filter_map(|n| stack::by_name(root, n)).filter(|d| d.read("hidden").as_deref() != Some("1"));
    drives.flat_map(|d| link::ends(&d, &bus::hardware(&d))).collect()
}

/// CPUs on the side of the machine where the drive with this kernel name is; empty if that is unknown.
pub(crate) fn cpus_of(root: &Root, name: &str) -> Vec<u32> {
    let list = |text: Option<String>| text.and_then(|t| cpulist::parse(&t));
    let Some(hardware) = stack::by_name(root, name).map(|d| bus::hardware(&d)) else { return Vec::new() };
    let of_node =
        numa_node(&hardware).and_then(|n| list(root.read(&format!("/sys/devices/system/node/node{n}/cpulist"))));
    of_node.or_else(|| list(hardware.ancestors().find_map(|d| d.read("local_cpulist")))).unwrap_or_default()
}

/// Whether the disk hangs on a SATA link.
pub(crate) fn is_sata(disk: &Dir<'_>) -> bool {
    Bus::of(disk) == Some(Bus::Sata)
}

/// Most commands that a SATA disk and its host take at a time; 1 without NCQ, `None` where neither says.
pub(crate) fn command_queue(disk: &Dir<'_>) -> Option<u32> {
    let page = disk.bytes("device/vpd_pg89")?;
    let drive = AtaInformation::parse(&page)?.queue_depth;
    let host = hardware(disk).ancestors().find(|d| d.enter("scsi_host").is_some());
    let host = host.and_then(|d| d.parse(&format!("scsi_host/{}/can_queue", d.name())));
    Some(host.map_or(drive, |host: u32| host.min(drive)))
}

/// The sensor chip of the drive with this kernel name.
pub(crate) fn temperature_of<'a>(root: &'a Root, name: &str) -> Option<Dir<'a>> {
    temperature::chip(&bus::hardware(&stack::by_name(root, name)?))
}

/// The nearest statement on the way up; -1 means that the machine has one node or does not say.
fn numa_node(hardware: &Dir<'_>) -> Option<u32> {
    hardware.ancestors().find_map(|d| d.parse::<i64>("numa_node")).and_then(|n| u32::try_from(n).ok())
}
