//! Drives of a small machine of our own: layers, identities and links.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use power::{Root, drive};
use protocol::host::{DriveFacts, Link};
use protocol::units::Bytes;

const SERVER: &str = include_str!("trees/server.txt");

fn layers(drive: &DriveFacts) -> Vec<String> {
    drive.layers.iter().map(|l| format!("{} {}", l.name, l.kind)).collect()
}

/// The ceiling in MB/s, rounded.
fn ceiling(link: &Link) -> Option<String> {
    link.ceiling.map(|c| format!("{:.0}", c.mb()))
}

fn facts(root: &Root, major: u32, minor: u32) -> DriveFacts {
    drive::facts(root, (major, minor)).unwrap()
}

#[test]
fn an_nvme_drive_with_two_paths_is_known_by_its_live_controller() {
    let (_dir, root) = common::tree(SERVER);
    let drive = facts(&root, 253, 1);
    assert_eq!(layers(&drive), ["dm-1 dm LVM", "dm-0 dm crypt", "nvme0n1p1 partition"]);
    assert_eq!((drive.name.as_str(), drive.bus.as_deref()), ("nvme0n1", Some("nvme")));
    assert_eq!(drive.model.as_deref(), Some("SAMSUNG MZWLR3T8HBLS-00007"));
    assert_eq!(drive.firmware.as_deref(), Some("MPK92B5Q"));
    assert_eq!(drive.size, Some(Bytes(3_840_755_982_336)));
    assert_eq!((drive.rotational, drive.scheduler.as_deref()), (Some(false), Some("none")));
    assert_eq!((drive.nr_requests, drive.write_cache.as_deref()), (Some(1023), Some("write through")));
    assert_eq!((drive.temperature_c, drive.numa_node), (Some(41.85), Some(1)));
    assert_eq!(drive::near_cpus(&root, &drive), [2, 3]);
}

#[test]
fn the_narrowest_port_of_the_path_sets_the_ceiling() {
    let (_dir, root) = common::tree(SERVER);
    let drive = facts(&root, 259, 0);
    let ends: Vec<_> = drive.path.iter().map(|end| format!("{} {}", end.address, end.current)).collect();
    let link = drive.link.unwrap();
    assert_eq!((link.current.as_str(), link.max.as_deref()), ("PCIe 4.0 x4", Some("PCIe 4.0 x4")));
    // 8 GT/s x 128/130 x 2 lanes / 8 bits
    assert_eq!(ceiling(&link).as_deref(), Some("1969"));
    assert_eq!(link.bottleneck.as_deref(), Some("port 0000:41:00.0 runs at PCIe 3.0 x2"));
    assert!(ends.iter().any(|end| end == "0000:41:00.0 PCIe 3.0 x2") && ends.len() > 2, "{ends:?}");
}

#[test]
fn a_sata_drive_is_held_back_by_its_controller() {
    let (_dir, root) = common::tree(SERVER);
    let drive = facts(&root, 8, 17);
    assert_eq!((drive.bus.as_deref(), drive.model.as_deref()), (Some("sata"), Some("INTEL SSDSC2BB24")));
    assert_eq!((drive.temperature_c, drive.numa_node), (Some(33.0), None));
    let link = drive.link.unwrap();
    assert_eq!((link.current.as_str(), ceiling(&link).as_deref()), ("SATA 6.0 Gb/s", Some("500")));
    assert_eq!(link.bottleneck.as_deref(), Some("controller 0000:05:00.0 runs at PCIe 2.0 x1"));
}

#[test]
fn a_mirror_names_all_its_drives() {
    let (_dir, root) = common::tree(SERVER);
    let drive = facts(&root, 9, 127);
    assert_eq!(drive.name, "sdb");
    assert_eq!(drive.other_drives, ["nvme0n1"]);
    assert_eq!(layers(&drive), ["md127 md raid1", "sdb1 partition", "nvme0n1p1 partition"]);
}

#[test]
fn a_loop_file_leads_to_the_drive_it_lies_on() {
    let (_dir, root) = common::tree(SERVER);
    let on_data = facts(&root, 7, 0);
    assert_eq!(on_data.name, "nvme0n1");
    assert_eq!(layers(&on_data), ["loop0 loop", "dm-1 dm LVM", "dm-0 dm crypt", "nvme0n1p1 partition"]);
    assert_eq!(facts(&root, 7, 1).name, "sdb", "through btrfs's anonymous device number");
    let unknown = facts(&root, 7, 2);
    assert_eq!((unknown.name.as_str(), unknown.bus.as_deref()), ("loop2", Some("loop")));
}

#[test]
fn usb_ram_and_anonymous_devices() {
    let (_dir, root) = common::tree(SERVER);
    let stick = facts(&root, 8, 32);
    assert_eq!((stick.bus.as_deref(), stick.model.as_deref()), (Some("usb"), Some("SanDisk Ultra")));
    let link = stick.link.unwrap();
    assert_eq!((link.current.as_str(), ceiling(&link).as_deref()), ("USB 480 Mb/s", Some("53")));
    let zram = facts(&root, 252, 0);
    assert_eq!((zram.bus.as_deref(), zram.link), (Some("ram"), None));
    assert_eq!(facts(&root, 0, 30).name, "sdb", "a file on btrfs");
    assert_eq!(drive::facts(&root, (0, 99)), None);
    assert_eq!(drive::facts(&root, (8, 99)), None);
}

#[test]
fn a_stack_that_bites_its_tail_ends() {
    let (_dir, root) = common::tree(
        "/sys/dev/block/253:0 -> ../../devices/virtual/block/dm-0
         /sys/devices/virtual/block/dm-0/dm/uuid = x
         /sys/devices/virtual/block/dm-0/slaves/dm-0 -> ../../dm-0",
    );
    assert_eq!(drive::facts(&root, (253, 0)), None);
}
