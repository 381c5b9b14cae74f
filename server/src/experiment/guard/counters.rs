//! Whether the kernel's own counters agree that a setting was in force.

use power::Root;
use protocol::experiment::Configuration;
use protocol::telemetry::Telemetry;

/// What was counted during a trial against its configuration, in words: an idle state entered that is switched off.
///
/// Entries are counted when a CPU wakes, so each may leave a state once that it entered before the setting was made.
/// The governor `haltpoll` of virtual machines does not heed what is switched off.
pub(super) fn contradict(root: &Root, configuration: &Configuration, passed: &Telemetry) -> Option<String> {
    if root.read("/sys/devices/system/cpu/cpuidle/current_governor").as_deref() == Some("haltpoll") {
        return None;
    }
    let value = |id: &str| configuration.set.iter().find(|a| a.id == id).map(|a| a.value.as_str());
    let entered = |s: &&protocol::telemetry::IdleSample| {
        s.entries * passed.interval_ms / 1e3 > passed.cpus.len().max(1) as f64 + 0.5
    };
    let deepest = value("cpu.deep-idle").and_then(|v| passed.idle.iter().rposition(|s| s.name == v));
    if let Some((deepest, state)) = deepest.and_then(|i| Some((i, passed.idle.iter().skip(i + 1).find(entered)?))) {
        let allowed = passed.idle.get(deepest).map_or("", |s| &s.name);
        return Some(format!("CPUs slept in {} although cpu.deep-idle was {allowed}", state.name));
    }
    let c1e = passed.idle.iter().filter(|s| s.name == "C1E").find(entered);
    c1e.filter(|_| value("cpu.c1e") == Some("off")).map(|_| "CPUs slept in C1E although cpu.c1e was off".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::knob::Assignment;
    use protocol::telemetry::{CpuSample, IdleSample};

    #[test]
    fn states_that_are_off_must_not_be_entered() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path()).unwrap();
        let state = |name: &str, entries| IdleSample { name: name.into(), entries, ..IdleSample::default() };
        let passed = |c1e: f64, c6: f64| Telemetry {
            interval_ms: 2000.0,
            cpus: vec![CpuSample::default(); 4],
            idle: vec![state("C1", 900.0), state("C1E", c1e), state("C6", c6)],
            ..Telemetry::default()
        };
        let with = |id: &str, value: &str| Configuration {
            set: vec![Assignment { id: id.into(), value: value.into() }],
            ..Configuration::default()
        };
        let c1 = with("cpu.deep-idle", "C1");
        assert_eq!(contradict(&root, &c1, &passed(0.0, 2.0)), None);
        let said = contradict(&root, &c1, &passed(0.0, 3.0)).unwrap();
        assert_eq!(said, "CPUs slept in C6 although cpu.deep-idle was C1");
        assert_eq!(contradict(&root, &with("cpu.deep-idle", "C6"), &passed(0.0, 99.0)), None);
        assert!(contradict(&root, &with("cpu.c1e", "off"), &passed(50.0, 99.0)).is_some());
        assert_eq!(contradict(&root, &with("cpu.c1e", "on"), &passed(50.0, 99.0)), None);
        assert_eq!(contradict(&root, &with("cpu.turbo", "on"), &passed(50.0, 99.0)), None);
    }
}
