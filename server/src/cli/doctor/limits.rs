//! What limits the tool on this machine, each in a sentence with what to do about it.

use protocol::api::SystemFacts;
use protocol::host::{DriveFacts, TargetFacts};
use protocol::units::Bytes;

/// Below this, deep queues of large blocks do not fit into locked memory.
const ENOUGH_MEMLOCK: Bytes = Bytes(64 << 20);

/// Every limit that is known, the most severe first.
pub(super) fn of(system: &SystemFacts, target: Option<&TargetFacts>, drive: Option<&DriveFacts>) -> Vec<String> {
    let mut limits = engine(system);
    limits.extend(host(system));
    limits.extend(target.into_iter().flat_map(of_target));
    limits.extend(drive.into_iter().flat_map(of_drive));
    limits
}

fn engine(system: &SystemFacts) -> Vec<String> {
    let e = &system.engine;
    let mut limits = Vec::new();
    if !e.io_uring {
        let reason = e.reason.clone().unwrap_or_else(|| "the kernel refuses a ring".into());
        limits.push(format!(
            "io_uring is not to be had ({reason}); threads are used instead, which cost more per access."
        ));
    }
    if let Some(memlock) = e.memlock.filter(|m| *m < ENOUGH_MEMLOCK) {
        limits.push(format!(
            "Lockable memory is {memlock}: deep queues of large blocks run without registered buffers. Raise it with `ulimit -l` or LimitMEMLOCK=."
        ));
    }
    limits.extend(e.missing.iter().map(|m| format!("Not available: {m}.")));
    if let Some(c) = e.ceiling.filter(|c| c.depth32.0 > 0.0) {
        limits.push(format!(
            "The engine itself does at most {:.0} thousand accesses a second per worker here; a drive that comes near needs more jobs.",
            c.depth32.0 / 1e3
        ));
    }
    limits
}

fn host(system: &SystemFacts) -> Vec<String> {
    let h = &system.host;
    let mut limits = Vec::new();
    if let Some(n) = h.cpus.filter(|n| *n <= 2) {
        let cpus = if n == 1 { "One CPU is" } else { "Two CPUs are" };
        limits.push(format!("{cpus} online: workers share them with everything else that runs."));
    }
    if let Some(words) = &h.virtualization {
        limits.push(format!(
            "This is a {words}: drive, link and power settings are those that it is shown, and neighbours may disturb."
        ));
    }
    if h.on_ac == Some(false) {
        limits.push("On battery: firmware may throttle. Plug in for results that can be compared.".into());
    }
    if !h.daemons.is_empty() {
        limits.push(format!("{} may change power settings while a run is on.", h.daemons.join(", ")));
    }
    limits
}

fn of_target(t: &TargetFacts) -> Vec<String> {
    let mut limits = Vec::new();
    if !t.direct.supported {
        limits.push(format!(
            "No O_DIRECT on the target ({}): only --buffered works, which measures the page cache.",
            t.direct.evidence
        ));
    }
    limits
}

fn of_drive(d: &DriveFacts) -> Vec<String> {
    let mut limits = Vec::new();
    limits.extend(d.link.as_ref().and_then(|l| l.bottleneck.as_ref()).map(|b| format!("The way to the drive: {b}.")));
    match d.bus.as_deref() {
        Some("loop") => limits.push("A loop device: its file's filesystem and page cache are measured with it.".into()),
        Some("ram") => limits.push("The drive is memory: this measures the kernel, not a drive.".into()),
        _ => {}
    }
    if d.layers.iter().any(|l| l.kind == "dm crypt") {
        limits.push("The drive is encrypted by the kernel: the CPU's speed of encrypting is measured with it.".into());
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::host::{EngineFacts, HostFacts, Link};

    #[test]
    fn each_limit_is_said_once_and_only_where_it_is() {
        let fine =
            SystemFacts { engine: EngineFacts { io_uring: true, ..EngineFacts::default() }, ..SystemFacts::default() };
        assert_eq!(of(&fine, None, None), Vec::<String>::new());
        let poor = SystemFacts {
            engine: EngineFacts {
                memlock: Some(Bytes(8 << 20)),
                reason: Some("seccomp".into()),
                ..EngineFacts::default()
            },
            host: HostFacts { cpus: Some(1), on_ac: Some(false), daemons: vec!["tlp".into()], ..HostFacts::default() },
            ..SystemFacts::default()
        };
        let link =
            Link { current: String::new(), max: None, ceiling: None, bottleneck: Some("port runs at x1".into()) };
        let drive = DriveFacts { link: Some(link), ..DriveFacts::default() };
        let said = of(&poor, None, Some(&drive));
        for word in ["seccomp", "8 MiB", "One CPU", "battery", "tlp", "x1"] {
            assert_eq!(said.iter().filter(|l| l.contains(word)).count(), 1, "{word}: {said:?}");
        }
    }
}
