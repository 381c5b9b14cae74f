//! Power settings as found. Ids are those of knobs where there is a knob.

use crate::root::{Dir, Root, bracketed};
use protocol::host::Setting;

const CPU: &str = "/sys/devices/system/cpu";

/// Every setting that this kernel shows, in the order of the path from platform to queue.
pub(super) fn all(root: &Root) -> Vec<Setting> {
    let idle = |name: &str| root.read(&format!("{CPU}/cpuidle/{name}"));
    let of_policies = |name: &str| {
        let policies = root.dir(&format!("{CPU}/cpufreq")).map(|d| d.numbered("policy")).unwrap_or_default();
        agreed(policies.iter().filter_map(|p| p.read(name)).map(first_line))
    };
    let found = [
        ("platform.profile", root.read("/sys/firmware/acpi/platform_profile")),
        ("cpu.frequency-driver", of_policies("scaling_driver")),
        ("cpu.governor", of_policies("scaling_governor")),
        ("cpu.epp", of_policies("energy_performance_preference")),
        ("cpu.epb", agreed(cpus(root).iter().filter_map(|c| c.read("power/energy_perf_bias")).map(epb_name))),
        ("cpu.turbo", turbo(root)),
        ("cpu.smt", root.read(&format!("{CPU}/smt/control"))),
        ("cpu.idle-driver", idle("current_driver")),
        ("cpu.idle-governor", idle("current_governor").or_else(|| idle("current_governor_ro"))),
        ("cpu.deep-idle", agreed(cpus(root).iter().filter_map(deepest_idle))),
        ("pcie.aspm", root.read("/sys/module/pcie_aspm/parameters/policy").and_then(|p| bracketed(&p))),
        ("kernel.nmi-watchdog", root.read("/proc/sys/kernel/nmi_watchdog")),
    ];
    found.into_iter().filter_map(|(id, value)| Some(Setting { id: id.into(), value: value? })).collect()
}

fn cpus(root: &Root) -> Vec<Dir<'_>> {
    root.dir(CPU).map(|d| d.numbered("cpu")).unwrap_or_default()
}

/// The value if all agree, else each with how many have it, most frequent first: `performance x 8, powersave x 4`.
fn agreed(values: impl Iterator<Item = String>) -> Option<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for value in values {
        match counts.iter_mut().find(|(v, _)| *v == value) {
            Some((_, n)) => *n += 1,
            None => counts.push((value, 1)),
        }
    }
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    match counts.as_slice() {
        [] => None,
        [(value, _)] => Some(value.clone()),
        several => Some(several.iter().map(|(v, n)| format!("{v} x {n}")).collect::<Vec<_>>().join(", ")),
    }
}

/// These files have one line; a recorded tree may repeat it.
fn first_line(text: String) -> String {
    text.lines().next().map(Into::into).unwrap_or(text)
}

/// `EPB` reads as a number; these have names (admin-guide/pm/intel_epb.rst).
fn epb_name(value: String) -> String {
    let name = match value.as_str() {
        "0" => "performance",
        "4" => "balance-performance",
        "6" => "normal",
        "8" => "balance-power",
        "15" => "power",
        _ => return value,
    };
    name.into()
}

/// `on` or `off`: `intel_pstate` has the opposite of a boost switch.
fn turbo(root: &Root) -> Option<String> {
    let word = |on: bool| if on { "on" } else { "off" };
    let flag = |path: &str| root.read(&format!("{CPU}/{path}")).map(|v| v != "0");
    let global = flag("intel_pstate/no_turbo").map(|no| !no).or_else(|| flag("cpufreq/boost"));
    global.map(|on| word(on).to_owned()).or_else(|| {
        let policies = root.dir(&format!("{CPU}/cpufreq"))?.numbered("policy");
        agreed(policies.iter().filter_map(|p| p.read("boost")).map(|v| word(v != "0").to_owned()))
    })
}

/// Name and exit latency of the deepest state that is not disabled by the user: `C10 (890 us)`.
fn deepest_idle(cpu: &Dir<'_>) -> Option<String> {
    let states = cpu.enter("cpuidle")?.numbered("state");
    let deepest = states.iter().rev().find(|s| s.read("disable").is_none_or(|v| v == "0"))?;
    let latency = deepest.read("latency").map(|us| format!(" ({us} us)")).unwrap_or_default();
    Some(deepest.read("name")? + &latency)
}

#[cfg(test)]
mod tests {
    use super::agreed;

    #[test]
    fn values_that_differ_are_counted() {
        let of = |values: &[&str]| agreed(values.iter().map(|v| (*v).to_owned()));
        assert_eq!(of(&["a", "a"]).as_deref(), Some("a"));
        assert_eq!(of(&["a", "b", "b"]).as_deref(), Some("b x 2, a x 1"));
        assert_eq!(of(&[]), None);
    }
}
