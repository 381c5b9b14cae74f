//! Host, drive and target.

use super::reader::{record, words};
use protocol::api::{SystemFacts, TargetChoice};
use protocol::host::{
    Ceiling, DirectIo, DriveFacts, EngineFacts, HostFacts, Layer, Link, Setting, TargetFacts, TargetKind,
};
use protocol::telemetry::LinkSample;

record!(SystemFacts { version, host, engine });
record!(TargetChoice { target, drive, refused });
record!(HostFacts {
    hostname,
    os,
    kernel,
    cpu_model,
    cpus,
    memory,
    virtualization,
    machine,
    boot_id,
    settings,
    daemons,
    on_ac
});
record!(Setting { id, value });
record!(DriveFacts {
    name,
    model,
    serial,
    firmware,
    bus,
    rotational,
    size,
    logical_block,
    physical_block,
    scheduler,
    nr_requests,
    write_cache,
    temperature_c,
    numa_node,
    link,
    path,
    layers,
    other_drives
});
record!(Layer { name, kind });
record!(Link { current, max, ceiling, bottleneck });
record!(LinkSample { drive, address, current, max });
record!(TargetFacts { path, kind, filesystem, mount_point, mount_options, device, dev, size, free, total, direct });
words!(TargetKind { "directory" => Directory, "file" => File, "block-device" => BlockDevice });
record!(DirectIo { supported, mem_align, offset_align, evidence });
record!(EngineFacts { io_uring, reason, features, missing, wait_modes, memlock, ceiling });
record!(Ceiling { depth1, depth32, fill });
