//! The host facts of a small machine of our own, of nothing at all, and of this machine.

mod common;

use power::{Root, host};
use protocol::units::Bytes;

fn setting(facts: &protocol::host::HostFacts, id: &str) -> Option<String> {
    facts.settings.iter().find(|s| s.id == id).map(|s| s.value.clone())
}

#[test]
fn a_server_is_described() {
    let (_dir, root) = common::tree(include_str!("trees/server.txt"));
    let facts = host::facts(&root);
    assert_eq!(facts.hostname.as_deref(), Some("lab7"));
    assert_eq!(facts.os.as_deref(), Some("Debian GNU/Linux 13 (trixie)"));
    assert_eq!(facts.kernel.as_deref(), Some("6.12.9-amd64"));
    assert_eq!(facts.cpu_model.as_deref(), Some("AMD EPYC 9354 32-Core Processor"));
    assert_eq!((facts.cpus, facts.memory), (Some(4), Some(Bytes(263_921_000 * 1024))));
    assert_eq!(facts.machine.as_deref(), Some("Dell Inc. PowerEdge R7615"));
    assert_eq!(facts.virtualization, None);
    assert_eq!(facts.on_ac, None, "a mouse's battery says nothing about the machine");
    assert_eq!(facts.daemons, ["power-profiles-daemon", "tuned"]);
    let of = |id| setting(&facts, id);
    assert_eq!(of("cpu.governor").as_deref(), Some("powersave x 2, performance x 1"));
    assert_eq!(of("cpu.turbo").as_deref(), Some("off"));
    assert_eq!(of("cpu.epb").as_deref(), Some("normal"));
    assert_eq!(of("cpu.deep-idle").as_deref(), Some("C1"), "C2 is disabled");
    assert_eq!(of("pcie.aspm").as_deref(), Some("powersave"));
    assert_eq!(of("platform.profile"), None);
}

#[test]
fn each_daemon_is_named_with_what_it_changes() {
    let wants = "/etc/systemd/system/multi-user.target.wants";
    let tree = format!(
        "/proc/9/comm = thermald\n/proc/10/comm = lmt-poll\n/proc/11/comm = bash\n{wants}/tlp.service -> /lib/systemd/system/tlp.service\n{wants}/cron.service -> /lib/systemd/system/cron.service"
    );
    let (_dir, root) = common::tree(&tree);
    assert_eq!(host::facts(&root).daemons, ["laptop-mode-tools", "thermald", "tlp"]);
    let said = host::conflicts(&root);
    assert!(said[1].starts_with("thermald ") && said[1].contains("link speed"), "{said:?}");
    assert!(said[2].starts_with("tlp ") && said[2].contains("leaves no process"), "{said:?}");
    let (_dir, acted) = common::tree("/run/tlp/last_pwr = 0");
    assert_eq!(host::facts(&acted).daemons, ["tlp"]);
}

#[test]
fn virtual_machines_and_containers_are_told_apart() {
    let guest = "/proc/cpuinfo = flags : fpu hypervisor\n";
    let words = |more: &str| host::facts(&common::tree(&format!("{guest}{more}")).1).virtualization;
    assert_eq!(words("").as_deref(), Some("unnamed virtual machine"));
    assert_eq!(words("/sys/class/dmi/id/sys_vendor = QEMU").as_deref(), Some("QEMU virtual machine"));
    let nested = "/.dockerenv =\n/sys/devices/system/clocksource/clocksource0/available_clocksource = kvm-clock tsc";
    assert_eq!(words(nested).as_deref(), Some("docker container in a KVM virtual machine"));
}

#[test]
fn power_supplies_say_whether_it_runs_on_ac() {
    let on_ac = |tree: &str| host::facts(&common::tree(tree).1).on_ac;
    let battery = "/sys/class/power_supply/BAT0/type = Battery\n/sys/class/power_supply/BAT0/status =";
    assert_eq!(on_ac(&format!("{battery} Discharging")), Some(false));
    assert_eq!(on_ac(&format!("{battery} Full")), Some(true));
    let mains = "/sys/class/power_supply/AC/type = Mains\n/sys/class/power_supply/AC/online =";
    assert_eq!((on_ac(&format!("{mains} 1")), on_ac(&format!("{mains} 0"))), (Some(true), Some(false)));
}

#[test]
fn an_empty_tree_gives_empty_facts() {
    let (_dir, root) = common::tree("");
    assert_eq!(host::facts(&root), protocol::host::HostFacts::default());
}

#[test]
fn this_machine_has_a_name_a_kernel_and_cpus() {
    let facts = host::facts(&Root::default());
    let kernel = std::process::Command::new("uname").arg("-r").output().unwrap();
    assert_eq!(facts.kernel.as_deref(), Some(String::from_utf8(kernel.stdout).unwrap().trim()));
    let cpus = std::process::Command::new("nproc").arg("--all").output().unwrap();
    assert!(facts.cpus.unwrap() <= String::from_utf8(cpus.stdout).unwrap().trim().parse().unwrap());
    assert!(facts.hostname.is_some() && facts.memory.unwrap() > Bytes(1 << 20));
}
