//! The conditions of a measurement: host, drive, target and the engine's own limits.
//!
//! Every field that a kernel may not offer is optional; absent is data, not an error.

use crate::telemetry::LinkSample;
use crate::units::{Bytes, BytesPerSecond, Iops};
use crate::workload::Wait;
use serde::{Deserialize, Serialize};

/// The machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct HostFacts {
    /// Host name.
    pub hostname: Option<String>,
    /// Distribution, as in os-release's `PRETTY_NAME`.
    pub os: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// CPU model name.
    pub cpu_model: Option<String>,
    /// CPUs online.
    pub cpus: Option<u32>,
    /// Memory.
    pub memory: Option<Bytes>,
    /// Hypervisor or container this runs in, if any.
    pub virtualization: Option<String>,
    /// Board or machine model.
    pub machine: Option<String>,
    /// Random id of this boot.
    pub boot_id: Option<String>,
    /// Power-related settings as found, `path-like name` to value: governor, idle driver, turbo, ASPM policy ...
    pub settings: Vec<Setting>,
    /// Power or tuning daemons that are running.
    pub daemons: Vec<String>,
    /// On AC (true) or battery (false); absent on machines without either.
    pub on_ac: Option<bool>,
}

/// One setting of the host as found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Setting {
    /// Name, a knob id where there is one: `cpu.governor`.
    pub id: String,
    /// Value in the kernel's words.
    pub value: String,
}

/// The drive a target lies on: the bottom of the stack of block devices.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct DriveFacts {
    /// Kernel name, `nvme0n1`.
    pub name: String,
    /// Model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// `nvme`, `sata`, `scsi`, `usb`, `virtio`, `mmc`, `loop`, `ram`.
    pub bus: Option<String>,
    /// Spinning (true) or not.
    pub rotational: Option<bool>,
    /// Capacity.
    pub size: Option<Bytes>,
    /// Logical block size.
    pub logical_block: Option<Bytes>,
    /// Physical block size.
    pub physical_block: Option<Bytes>,
    /// I/O scheduler in force.
    pub scheduler: Option<String>,
    /// Requests the block layer queues.
    pub nr_requests: Option<u32>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Temperature in degrees Celsius.
    pub temperature_c: Option<f64>,
    /// NUMA node.
    pub numa_node: Option<u32>,
    /// The drive's link, the slowest of the path above it included.
    pub link: Option<Link>,
    /// Both ends of each PCI Express link from the drive up to the root, the drive's own first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<LinkSample>,
    /// Devices between the filesystem and the drive, top first: partition, dm, md, loop.
    pub layers: Vec<Layer>,
    /// Further drives of the same stack (RAID, LVM over several), by kernel name.
    pub other_drives: Vec<String>,
}

/// One block device of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Layer {
    /// Kernel name: `dm-0`.
    pub name: String,
    /// In words: `partition`, `dm crypt`, `dm linear`, `md raid0`, `loop`.
    pub kind: String,
}

/// A negotiated link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Link {
    /// In words: `PCIe 3.0 x4`, `SATA 6.0 Gb/s`.
    pub current: String,
    /// What drive and port could do at best.
    pub max: Option<String>,
    /// Payload ceiling in bytes per second of the narrowest part of the path.
    pub ceiling: Option<BytesPerSecond>,
    /// Where the path is narrower than the drive's own link: "port 0000:00:1c.0 runs at x1".
    pub bottleneck: Option<String>,
}

/// The target, looked at before anything is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TargetFacts {
    /// As given.
    pub path: String,
    /// What it is.
    pub kind: TargetKind,
    /// Filesystem type, for directories and files.
    pub filesystem: Option<String>,
    /// Where it is mounted.
    pub mount_point: Option<String>,
    /// Mount options in force.
    pub mount_options: Option<String>,
    /// Block device, `/dev/nvme0n1p2`, where there is one.
    pub device: Option<String>,
    /// Major and minor number of that device.
    pub dev: Option<(u32, u32)>,
    /// Size of a file or device.
    pub size: Option<Bytes>,
    /// Free for the caller, for directories.
    pub free: Option<Bytes>,
    /// Size of the filesystem.
    pub total: Option<Bytes>,
    /// `O_DIRECT` there.
    pub direct: DirectIo,
}

/// What a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A directory in which a file of our own is laid out.
    Directory,
    /// Somebody's existing file; only ever read.
    File,
    /// A block device; only ever read.
    BlockDevice,
}

/// What is known of `O_DIRECT` on a target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DirectIo {
    /// Accepted by open.
    pub supported: bool,
    /// Alignment of memory, from statx `STATX_DIOALIGN` (Linux 6.1) or the logical block size.
    pub mem_align: Option<u32>,
    /// Alignment of offsets and lengths.
    pub offset_align: Option<u32>,
    /// How it is known, or why not.
    pub evidence: String,
}

/// What `io_uring` can do here, and how fast the engine itself is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EngineFacts {
    /// Whether a ring can be made.
    pub io_uring: bool,
    /// If not, why, in words.
    pub reason: Option<String>,
    /// Features found.
    pub features: Vec<String>,
    /// Features missing, each with its cause.
    pub missing: Vec<String>,
    /// Wait modes that work here.
    pub wait_modes: Vec<Wait>,
    /// `RLIMIT_MEMLOCK`; absent when unlimited.
    pub memlock: Option<Bytes>,
    /// The engine's own ceiling: no-op requests through the same loop, no device.
    pub ceiling: Option<Ceiling>,
}

/// The engine's own ceiling per worker on this machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Ceiling {
    /// No-ops per second at depth 1.
    pub depth1: Iops,
    /// No-ops per second at depth 32.
    pub depth32: Iops,
    /// Bytes of incompressible data generated per second by one thread.
    pub fill: BytesPerSecond,
}
