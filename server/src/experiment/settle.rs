//! How long a setting takes to be in force after it was written.

use protocol::experiment::Configuration;
use std::time::Duration;

/// By the kind of knob, that is the part of its id before the device. Links retrain, CPUs come and go and firmware changes
/// its plan within a second; the kernel tells a SATA port of its policy from a thread of its own (`ata_port_schedule_eh`);
/// a governor looks again at its next tick or two, and the CPU's own controller within 100 ms; an idle state is chosen
/// anew at every sleep. A drive has taken a command before the write returns; what sends it or its link to sleep by
/// itself is a timer that every read starts anew, so that nothing is gained by waiting for it.
const TIMES: [(&str, u64); 10] = [
    ("sata.link-power", 300),
    ("nvme.power-state", 1_000),
    ("pcie.link-speed", 1_000),
    ("platform.profile", 1_000),
    ("cpu.smt", 1_000),
    ("cpu.cores", 1_000),
    ("cpu.c1e", 50),
    ("cpu.deep-idle", 50),
    ("cpu.latency-limit", 50),
    ("kernel.nmi-watchdog", 50),
];
/// Governor, turbo, preference, frequency floor, ASPM, queue, autonomous power states.
const OTHERS: u64 = 200;

/// Time to wait after changing from one configuration to another: that of the slowest knob which changes.
pub(super) fn time(from: Option<&Configuration>, to: &Configuration) -> Duration {
    let changed = to.set.iter().filter(|a| from.is_none_or(|from| !from.set.contains(a)));
    Duration::from_millis(changed.map(|a| of(&a.id)).max().unwrap_or(0))
}

fn of(id: &str) -> u64 {
    let kind = id.split('@').next().unwrap_or(id);
    TIMES.iter().find(|(known, _)| *known == kind).map_or(OTHERS, |(_, ms)| *ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::knob::Assignment;

    #[test]
    fn the_slowest_change_counts() {
        let c = |set: &[(&str, &str)]| Configuration {
            set: set.iter().map(|(id, value)| Assignment { id: (*id).into(), value: (*value).into() }).collect(),
            ..Configuration::default()
        };
        let base = c(&[("cpu.c1e", "on"), ("sata.link-power@host0", "max_performance")]);
        let ms = |from, to: &Configuration| time(from, to).as_millis();
        assert_eq!(ms(None, &base), 300);
        assert_eq!(ms(Some(&base), &base), 0);
        assert_eq!(ms(Some(&base), &c(&[("cpu.c1e", "off"), ("sata.link-power@host0", "max_performance")])), 50);
        assert_eq!(ms(Some(&base), &c(&[("cpu.turbo", "off"), ("cpu.c1e", "off")])), 200);
    }
}
