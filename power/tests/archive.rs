//! A support archive shows the machine that it was made of.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use power::archive::{self, Contents, Kind};
use power::control::{Hints, controls};
use power::telemetry::{Options, Sampler};
use power::{Root, drive, host};
use protocol::host::{DriveFacts, HostFacts};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

fn packed(root: &Root) -> (Vec<u8>, Contents) {
    let mut packed = Vec::new();
    let contents = archive::write(root, "brakecheck of the tests", &mut packed).unwrap();
    (packed, contents)
}

fn unpacked(packed: &[u8]) -> (TempDir, Root) {
    let dir = tempfile::tempdir().unwrap();
    tar::Archive::new(flate2::read::GzDecoder::new(packed)).unpack(dir.path()).unwrap();
    let root = Root::new(dir.path()).unwrap();
    (dir, root)
}

/// Numbers of every block device.
fn devices(root: &Root) -> Vec<(u32, u32)> {
    let numbers = root.dir("/sys/dev/block").map(|d| d.names()).unwrap_or_default();
    numbers.iter().filter_map(|n| n.split_once(':')).map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap())).collect()
}

/// Without what is masked.
fn nameless(facts: HostFacts) -> HostFacts {
    HostFacts { hostname: None, boot_id: None, ..facts }
}

/// Compares all that Brakecheck sees on both.
fn assert_same(copy: &Root, root: &Root) {
    assert_eq!(nameless(host::facts(copy)), nameless(host::facts(root)));
    for dev in devices(root) {
        let of = |root| drive::facts(root, dev).map(|d| DriveFacts { serial: d.serial.map(|_| String::new()), ..d });
        assert_eq!(of(copy), of(root));
    }
    let sample = |root: &Root| {
        let mut sampler = Sampler::new(root.clone(), Options { poll_drive_sensors: true });
        sampler.sample_at(Duration::from_secs(1), None)
    };
    assert_eq!(sample(copy), sample(root));
    assert_eq!(controls(copy, &Hints::default()), controls(root, &Hints::default()));
}

#[test]
fn recorded_machines_are_the_same_in_their_archives() {
    let Some(machines) = common::machines() else { return };
    for args in [["--full", "vm-7"], ["--block", "simple-lvm"]] {
        let (_dir, root) = common::machine(&machines, &args);
        let (first, contents) = packed(&root);
        assert!(!contents.truncated && contents.files > 50, "{args:?}: {contents:?}");
        let (_unpacked, copy) = unpacked(&first);
        assert_same(&copy, &root);
    }
}

#[test]
fn an_archive_of_an_archive_is_the_same() {
    // Its drives by class, as every kernel lists them.
    let classes = "
/sys/class/nvme/nvme0 -> ../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0
/sys/class/nvme/nvme1 -> ../../devices/pci0000:40/0000:40:01.0/0000:41:00.0/0000:42:02.0/0000:43:00.0/nvme/nvme1
/sys/class/ata_link/link3 -> ../../devices/pci0000:00/0000:00:03.0/0000:05:00.0/ata3/link3/ata_link/link3
";
    let (_dir, root) = common::tree(&[classes, include_str!("trees/server.txt")].concat());
    let (first, contents) = packed(&root);
    let (_unpacked, copy) = unpacked(&first);
    assert_same(&copy, &root);
    assert_eq!((contents.masked[&Kind::SerialNumber], contents.masked[&Kind::HostName]), (1, 1));
    let (second, _) = packed(&copy);
    let (_unpacked, again) = unpacked(&second);
    assert_same(&again, &root);
}

#[test]
fn what_names_the_machine_or_its_owner_is_not_in_it() {
    let secrets = "
/proc/sys/kernel/hostname = secret-host
/proc/cmdline = BOOT_IMAGE=/vmlinuz root=UUID=5ec4e700-1111-4222-8333-5ec4e7000001 ip=10.5.5.5
/proc/self/mountinfo = 22 1 8:1 / /home/secret-user rw - ext4 /dev/sda1 rw\\n23 1 0:9 / /nas rw - nfs secret-server:/x rw,addr=10.5.5.6
/sys/class/block/sda -> ../../devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda
/sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda/device -> ../..
/sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda/size = 1
/sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/wwid = t10.ATA SECRETDRIVE
/sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/vpd_pg80 = 1234SECRETDRIVE
/sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/vpd_pg83 = SECRETDRIVE
/sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/uevent = SERIAL=SECRETDRIVE
/sys/devices/pci0000:00/0000:00:17.0/net/eth0/address = 52:54:00:5e:c4:e7
/sys/class/nvme/nvme0 -> ../../devices/virtual/nvme-fabrics/ctl/nvme0
/sys/devices/virtual/nvme-fabrics/ctl/nvme0/dhchap_secret = DHHC-1:SECRET
/sys/devices/virtual/nvme-fabrics/ctl/nvme0/serial = SECRETNVME
/sys/devices/virtual/nvme-fabrics/ctl/nvme0/subsysnqn = nqn.2014-08.org.nvmexpress:SECRETNVME
/sys/devices/virtual/nvme-fabrics/ctl/nvme0/state = live
/sys/class/dmi/id -> ../../devices/virtual/dmi/id
/sys/devices/virtual/dmi/id/product_serial = SECRETBOARD
/sys/devices/virtual/dmi/id/product_name = Board
/proc/77/comm = secret-program
/home/secret-user/file = secret
";
    let (_dir, root) = common::tree(secrets);
    let (packed, contents) = packed(&root);
    let (dir, copy) = unpacked(&packed);
    for (path, text) in list(dir.path()) {
        let text = String::from_utf8_lossy(&text).to_lowercase();
        for word in ["secret", "5ec4e7", "10.5.5", "52:54"] {
            assert!(!text.contains(word) && !path.contains(word), "{word} in {path}: {text}");
        }
    }
    assert_eq!(contents.masked[&Kind::SerialNumber], 2, "{contents:?}");
    assert_eq!(copy.read("/sys/class/dmi/id/product_name").as_deref(), Some("Board"));
    assert_eq!(copy.read("/sys/class/nvme/nvme0/state").as_deref(), Some("live"));
    let mounts = copy.read("/proc/self/mountinfo").unwrap();
    assert!(
        mounts.starts_with("22 1 8:1 / /home/user-1 rw - ext4 /dev/sda1 rw\n23 1 0:9 / /nas rw - nfs masked rw"),
        "{mounts}"
    );
    assert!(copy.read("/ARCHIVE.txt").unwrap().contains("serial numbers: 2, in"));
}

#[test]
fn what_is_only_written_to_or_too_long_or_leads_outside_is_not_read() {
    let port = "/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0";
    let (dir, root) = common::tree(&format!(
        "/sys/class/nvme/nvme0 -> ../../devices/pci0000:00/0000:01:00.0/nvme/nvme0\n{port}/model = X\n{port}/new = 1\n{port}/long = 1\n{port}/out -> /etc\n{port}/far -> ../../../../../../etc/hostname"
    ));
    let at = |name: &str| dir.path().join(port.trim_start_matches('/')).join(name);
    fs::set_permissions(at("new"), fs::Permissions::from_mode(0o200)).unwrap();
    fs::write(at("long"), vec![b'x'; 1 << 20]).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o644.into(), 0).unwrap();
    let (packed, _) = packed(&root);
    let (_dir, copy) = unpacked(&packed);
    let names = copy.dir("/sys/class/nvme/nvme0").unwrap().names();
    assert_eq!(names, ["far", "long", "model"]);
    assert_eq!(copy.read("/sys/class/nvme/nvme0/long").unwrap().len(), 64 << 10);
    assert_eq!(copy.read("/sys/class/nvme/nvme0/far"), None);
}

#[test]
fn this_machine_can_be_recorded() {
    let root = Root::default();
    let (packed, _) = packed(&root);
    let (_dir, copy) = unpacked(&packed);
    let steady = |root: &Root| {
        let facts = host::facts(root);
        (facts.kernel, facts.cpu_model, facts.cpus, facts.virtualization, facts.machine, facts.os)
    };
    assert_eq!(steady(&copy), steady(&root));
    let name = host::facts(&copy).hostname.unwrap();
    assert!(name == "host-1" || name == "localhost", "{name}");
}

/// Every file below a directory with its bytes.
fn list(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files.extend(list(&path));
        } else if kind.is_file() {
            files.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    files
}
