//! `brakecheck doctor`: what is here, and what limits the tool.

mod archive;
mod limits;

use super::Globals;
use super::output::{self, shown};
use super::table::pairs;
use crate::runner;
use protocol::api::SystemFacts;
use protocol::error::ErrorBody;
use protocol::host::{DriveFacts, TargetFacts, TargetKind};
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Options of `doctor`.
#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// Look at this directory, file or block device too
    #[arg(long, visible_alias = "filename", value_name = "PATH")]
    target: Option<String>,
    /// Write what the kernel says about this machine to FILE, a .tar.gz to send to whoever helps you
    ///
    /// Serial numbers, UUIDs, host and user names are masked. Unpacked, it is a tree for --sysroot.
    #[arg(long, value_name = "FILE", conflicts_with = "target")]
    archive: Option<PathBuf>,
}

/// What `doctor --json` prints: the facts of `GET /api/v1/system`, and the target's.
#[derive(Debug, Serialize)]
struct Findings {
    #[serde(flatten)]
    system: SystemFacts,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<TargetFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drive: Option<DriveFacts>,
    limits: Vec<String>,
}

/// Runs the subcommand. Writes nothing anywhere but the archive that was asked for.
pub fn run(args: &DoctorArgs, globals: &Globals) -> Result<ExitCode, ErrorBody> {
    let root = globals.root()?;
    if let Some(path) = &args.archive {
        archive::write(path, &root, globals.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    let inspect = |path: &String| engine::target::inspect(path).map_err(|e| e.body());
    let target = args.target.as_ref().map(inspect).transpose()?;
    let drive = target.as_ref().and_then(|t| runner::drive(&root, t));
    let system = SystemFacts {
        version: protocol::VERSION.into(),
        host: power::host::facts(&root),
        engine: engine::facts::engine_facts().clone(),
    };
    let limits = limits::of(&system, target.as_ref(), drive.as_ref());
    let findings = Findings { system, target, drive, limits };
    if globals.json {
        output::json(&findings)?;
    } else {
        output::text(&text(&findings))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Sections with a name and a value a line; what is not known is left out.
fn text(findings: &Findings) -> String {
    let section = |title: &str, lines: Vec<(&str, Option<String>)>| {
        let known: Vec<_> = lines.into_iter().filter_map(|(name, value)| Some((name, shown(&value?)))).collect();
        let indented = pairs(known).lines().map(|l| format!("  {l}\n")).collect::<Vec<_>>().concat();
        format!("{title}\n{indented}\n")
    };
    let mut out = section("Host", host(findings));
    out += &section("Engine", engine_lines(findings));
    if let Some(target) = &findings.target {
        out += &section("Target", target_lines(target));
    }
    if let Some(drive) = &findings.drive {
        out += &section("Drive", drive_lines(drive));
    }
    let nothing = "  Nothing that is known.\n".to_owned();
    let limits = findings.limits.iter().map(|l| format!("  - {}\n", shown(l))).collect::<Vec<_>>().concat();
    out + "What limits measuring here\n" + if limits.is_empty() { &nothing } else { &limits }
}

fn host(findings: &Findings) -> Vec<(&'static str, Option<String>)> {
    let h = &findings.system.host;
    let settings: Vec<_> = h.settings.iter().map(|s| format!("{} {}", s.id, s.value)).collect();
    vec![
        ("brakecheck", Some(findings.system.version.clone())),
        ("name", h.hostname.clone()),
        ("machine", h.machine.clone()),
        ("virtualization", h.virtualization.clone()),
        ("system", h.os.clone()),
        ("kernel", h.kernel.clone()),
        ("CPU", h.cpu_model.clone()),
        ("CPUs online", h.cpus.map(|n| n.to_string())),
        ("memory", h.memory.map(|m| m.to_string())),
        ("power supply", h.on_ac.map(|ac| if ac { "AC" } else { "battery" }.into())),
        ("settings", joined(&settings)),
        ("daemons", joined(&h.daemons)),
    ]
}

fn engine_lines(findings: &Findings) -> Vec<(&'static str, Option<String>)> {
    let e = &findings.system.engine;
    let waits: Vec<_> = e.wait_modes.iter().map(ToString::to_string).collect();
    let works = if e.io_uring { "works".into() } else { e.reason.clone().unwrap_or_else(|| "does not work".into()) };
    let ceiling = e.ceiling.filter(|c| c.depth32.0 > 0.0).map(|c| {
        format!("{:.0} IOPS at depth 1, {:.0} at depth 32, per worker (no-op requests)", c.depth1.0, c.depth32.0)
    });
    vec![
        ("io_uring", Some(works)),
        ("features", joined(&e.features)),
        ("missing", joined(&e.missing)),
        ("wait modes", joined(&waits)),
        ("lockable memory", Some(e.memlock.map_or("unlimited".into(), |m| m.to_string()))),
        ("own ceiling", ceiling),
        ("fill speed", e.ceiling.map(|c| format!("{:.2} GB/s of incompressible data per thread", c.fill.0 / 1e9))),
    ]
}

fn target_lines(t: &TargetFacts) -> Vec<(&'static str, Option<String>)> {
    let kind = match t.kind {
        TargetKind::Directory => "directory, a file of our own is laid out in it",
        TargetKind::File => "existing file, only read",
        TargetKind::BlockDevice => "block device, only read",
    };
    let alignment = match (t.direct.mem_align, t.direct.offset_align) {
        (Some(memory), Some(offset)) => format!(", memory aligned to {memory}, offsets to {offset}"),
        (_, Some(offset)) => format!(", offsets aligned to {offset}"),
        _ => String::new(),
    };
    let direct = if t.direct.supported { "yes" } else { "no" };
    vec![
        ("path", Some(t.path.clone())),
        ("kind", Some(kind.into())),
        ("filesystem", t.filesystem.clone()),
        ("mounted at", t.mount_point.clone()),
        ("options", t.mount_options.clone()),
        ("device", t.device.clone()),
        ("size", t.size.map(|s| s.to_string())),
        ("free", t.free.map(|f| f.to_string())),
        ("O_DIRECT", Some(format!("{direct}{alignment} ({})", t.direct.evidence))),
    ]
}

/// A virtual disk says that it spins unless its host says otherwise, which hosts rarely do.
fn kind(d: &DriveFacts, spins: bool) -> &'static str {
    match (spins, d.bus.as_deref()) {
        (true, Some("virtio")) => "virtual; what is under it is not known here",
        (true, _) => "spinning",
        (false, _) => "solid state",
    }
}

fn drive_lines(d: &DriveFacts) -> Vec<(&'static str, Option<String>)> {
    let layers: Vec<_> = d.layers.iter().map(|l| format!("{} ({})", l.name, l.kind)).collect();
    let link = d.link.as_ref();
    let blocks = d.logical_block.zip(d.physical_block).map(|(l, p)| format!("{l} logical, {p} physical"));
    vec![
        ("name", Some(d.name.clone())),
        ("model", d.model.clone()),
        ("serial", d.serial.clone()),
        ("firmware", d.firmware.clone()),
        ("bus", d.bus.clone()),
        ("kind", d.rotational.map(|spins| kind(d, spins).into())),
        ("size", d.size.map(|s| s.to_string())),
        ("blocks", blocks),
        ("scheduler", d.scheduler.clone()),
        ("queue", d.nr_requests.map(|n| format!("{n} requests"))),
        ("write cache", d.write_cache.clone()),
        ("temperature", d.temperature_c.map(|t| format!("{t:.0} °C"))),
        ("NUMA node", d.numa_node.map(|n| n.to_string())),
        ("link", link.map(|l| l.current.clone())),
        ("link at best", link.and_then(|l| l.max.clone())),
        ("link's ceiling", link.and_then(|l| l.ceiling).map(|c| format!("{:.0} MB/s before packet headers", c.mb()))),
        ("layers above", joined(&layers)),
        ("further drives", joined(&d.other_drives)),
    ]
}

fn joined(parts: &[String]) -> Option<String> {
    (!parts.is_empty()).then(|| parts.join(", "))
}
