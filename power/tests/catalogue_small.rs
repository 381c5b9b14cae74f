//! The catalogue on small machines of our own, which have what no recording has.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use power::Root;
use power::control::{Control, Hints, ProfileDaemon, controls};
use power::site::Site;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

fn laptop() -> (TempDir, Root) {
    let (dir, root) = common::tree(include_str!("trees/laptop.txt"));
    limit(dir.path(), 2_000_000_000);
    (dir, root)
}

/// What `/dev/cpu_dma_latency` says.
fn limit(dir: &Path, us: i32) {
    fs::create_dir_all(dir.join("dev")).unwrap();
    fs::write(dir.join("dev/cpu_dma_latency"), us.to_ne_bytes()).unwrap();
}

fn list(root: &Root) -> Vec<Control> {
    controls(root, &Hints::default())
}

fn knob(root: &Root, id: &str) -> Control {
    list(root).into_iter().find(|c| c.id == id).unwrap_or_else(|| panic!("no {id}"))
}

fn values(control: &Control) -> Vec<&str> {
    control.choices.iter().map(|c| c.value.as_str()).collect()
}

/// Value, saving and performance value.
fn ends(control: &Control) -> [Option<&str>; 3] {
    [control.value.as_deref(), control.saving.as_deref(), control.performance.as_deref()]
}

/// What a choice writes to the idle states of a CPU, in their order.
fn idle_writes(control: &Control, value: &str, of: u32) -> String {
    let writes = &control.choice(value).unwrap().writes;
    let of_cpu = writes.iter().filter(|w| matches!(w.site, Site::IdleDisable { cpu, .. } if cpu == of));
    of_cpu.map(|w| w.value.as_str()).collect()
}

#[test]
fn idle_states_of_unlike_cores_are_one_knob() {
    let (dir, root) = laptop();
    let idle = knob(&root, "cpu.deep-idle");
    assert_eq!(ends(&idle), [Some("C10"), Some("C10"), Some("C1")]);
    assert_eq!(values(&idle), ["C1", "C1E", "C6", "C10", "POLL"], "C3 is the driver's to keep off");
    assert_eq!(idle.detail.as_deref(), Some("200 to 230 us to wake; the driver keeps C3 off"));
    assert_eq!(idle_writes(&idle, "C1", 0), "00111");
    assert_eq!(idle_writes(&idle, "C6", 2), "00001");
    assert_eq!(idle_writes(&idle, "C6", 8), "0001", "a core without C6 stays with what wakes as fast");
    assert_eq!(idle_writes(&idle, "POLL", 8), "0111");
    assert_eq!(idle_writes(&idle, "C1", 10), "", "offline");
    assert_eq!(ends(&knob(&root, "cpu.c1e")), [Some("on"), Some("on"), Some("off")]);
    fs::write(dir.path().join("sys/devices/system/cpu/cpu8/cpuidle/state2/disable"), "1\n").unwrap();
    assert_eq!(knob(&root, "cpu.deep-idle").value.as_deref(), Some("C10 x 2, C10 without C1E x 1"));
    assert_eq!(knob(&root, "cpu.c1e").value.as_deref(), Some("on x 2, off x 1"));
}

#[test]
fn the_latency_limit_is_told_in_the_states_own_latencies() {
    let (dir, root) = laptop();
    let latency = knob(&root, "cpu.latency-limit");
    assert_eq!(ends(&latency), [Some("none"), Some("none"), Some("2 us")]);
    assert_eq!(values(&latency), ["none", "230 us", "200 us", "170 us", "10 us", "8 us", "2 us", "1 us", "0 us"]);
    limit(dir.path(), 170);
    assert_eq!(knob(&root, "cpu.latency-limit").value.as_deref(), Some("170 us"));
    limit(dir.path(), 55);
    assert_eq!(knob(&root, "cpu.latency-limit").value.as_deref(), Some("55 us"), "somebody else's limit");
    let (dir, root) = common::tree("/proc/cmdline = quiet idle=poll");
    limit(dir.path(), 2_000_000_000);
    let reason = "without effect: no idle driver: the kernel was started with idle=poll";
    assert_eq!(knob(&root, "cpu.latency-limit").reason.as_deref(), Some(reason));
}

#[test]
fn frequencies_are_told_over_the_policies_that_are_online() {
    let (_dir, root) = laptop();
    let governor = knob(&root, "cpu.governor");
    assert_eq!(governor.value.as_deref(), Some("powersave x 1, performance x 1"));
    assert_eq!((values(&governor), governor.detail.as_deref()), (vec!["performance", "powersave"], None));
    let epp = knob(&root, "cpu.epp");
    assert_eq!(ends(&epp), [Some("balance_performance x 1, performance x 1"), Some("power"), Some("performance")]);
    assert!(epp.detail.unwrap().contains("admits only performance"));
    assert_eq!(knob(&root, "cpu.epb").value.as_deref(), Some("normal x 2, balance-power x 1"));
    let floor = knob(&root, "cpu.frequency-floor");
    assert_eq!(ends(&floor), [Some("lowest"), Some("lowest"), Some("highest")]);
    let khz = |value| floor.choice(value).unwrap().writes.iter().map(|w| w.value.as_str()).collect::<Vec<_>>();
    assert_eq!((khz("base"), khz("highest")), (vec!["2100000", "1600000"], vec!["4700000", "3000000"]));
}

#[test]
fn cpus_that_were_offline_stay_so_when_threads_come_and_go() {
    let (dir, root) = laptop();
    let smt = knob(&root, "cpu.smt");
    assert_eq!((values(&smt), ends(&smt)), (vec!["on", "off"], [Some("on"), None, Some("on")]));
    assert_eq!(smt.choice("off").unwrap().disturbs, [Site::CpuOnline { cpu: 10 }]);
    let cores = knob(&root, "cpu.cores");
    assert_eq!((values(&cores), cores.value.as_deref()), (vec!["all", "2", "1"], Some("3")));
    let one: Vec<&str> = cores.choice("1").unwrap().writes.iter().map(|w| w.value.as_str()).collect();
    assert_eq!(one, ["0", "0", "0"]);
    // The drive hangs on the node of CPU 8, which therefore stays.
    let node = "sys/devices/pci0000:00/0000:00:02.0/0000:02:00.0/local_cpulist";
    fs::write(dir.path().join(node), "8-10\n").unwrap();
    let hints = Hints { drives: vec!["nvme1n1".into()], ..Hints::default() };
    let cores = controls(&root, &hints).into_iter().find(|c| c.id == "cpu.cores").unwrap();
    assert_eq!(values(&cores), ["all", "2"]);
    let two: Vec<&str> = cores.choice("2").unwrap().writes.iter().map(|w| w.value.as_str()).collect();
    assert_eq!(two, ["0", "1", "0"]);
    for (state, reason) in [("forceoff", "forced off"), ("notsupported", "one thread"), ("notimplemented", "kernel")] {
        fs::write(dir.path().join("sys/devices/system/cpu/smt/control"), state).unwrap();
        let smt = knob(&root, "cpu.smt");
        assert_eq!(smt.value.as_deref(), Some(state));
        assert!(smt.reason.unwrap().contains(reason), "{state}");
    }
}

#[test]
fn a_profile_is_written_or_held() {
    let (_dir, root) = laptop();
    let profile = knob(&root, "platform.profile");
    assert_eq!(ends(&profile), [Some("balanced"), Some("quiet"), Some("performance")]);
    assert_eq!(values(&profile), ["quiet", "balanced", "performance"], "custom cannot be written");
    let profiles = ["power-saver", "balanced", "performance"].map(Into::into).to_vec();
    let daemon = ProfileDaemon { profiles, active: "balanced".into() };
    let hints = Hints { profile_daemon: Some(daemon), ..Hints::default() };
    let held = controls(&root, &hints).into_iter().find(|c| c.id == "platform.profile").unwrap();
    assert_eq!(ends(&held), [Some("balanced"), Some("power-saver"), Some("performance")]);
    assert_eq!(held.choice("performance").unwrap().writes[0].site, Site::ProfileHold);
}

#[test]
fn links_are_told_bit_by_bit_and_only_free_drives_change_speed() {
    let (dir, root) = laptop();
    let aspm = knob(&root, "pcie.aspm");
    assert_eq!(ends(&aspm), [Some("default"), Some("powersupersave"), Some("performance")]);
    assert_eq!(aspm.reason, None);
    let bits = ["aspm-l0s", "aspm-l1", "aspm-l1.1", "aspm-l1.2", "clock-pm"];
    let bits = bits.map(|bit| knob(&root, &format!("pcie.{bit}@0000:01:00.0")).value.unwrap());
    assert_eq!(bits, ["off", "on", "on", "off", "on"]);
    let busy = knob(&root, "pcie.link-speed@0000:01:00.0");
    assert_eq!(busy.reason.as_deref(), Some("in use: nvme0n1p1 is mounted at /"));
    assert_eq!(busy.detail.as_deref(), Some("the link runs at 16 GT/s x4"));
    let free = knob(&root, "pcie.link-speed@0000:02:00.0");
    assert_eq!(values(&free), ["2.5 GT/s", "5 GT/s", "8 GT/s", "max"]);
    assert_eq!(ends(&free), [Some("8 GT/s"), Some("2.5 GT/s"), Some("max")]);
    assert!(free.risk.is_some() && free.reason.is_none());
    assert_eq!(free.choice("2.5 GT/s").unwrap().writes[0].value, "3");
    assert!(free.source.ends_with("/cooling_device12/cur_state"), "{}", free.source);
    for (path, content, reason) in [
        ("proc/swaps", "Filename\n/dev/nvme1n1 partition 8 0 -2\n", "nvme1n1 is swap"),
        ("sys/block/nvme1n1/holders/dm-0/name", "", "nvme1n1 is part of dm-0"),
        ("sys/fs/btrfs/0a/devices/nvme1n1/size", "", "nvme1n1 is part of a btrfs filesystem"),
        ("proc/self/mountinfo", "", "the kernel does not tell what is mounted"),
    ] {
        let (dir, root) = laptop();
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        let speed = knob(&root, "pcie.link-speed@0000:02:00.0");
        assert_eq!(speed.reason, Some(format!("in use: {reason}")));
    }
    fs::remove_dir_all(dir.path().join("sys/class/thermal")).unwrap();
    let free = knob(&root, "pcie.link-speed@0000:02:00.0");
    assert_eq!((free.value.as_deref(), free.choices.len()), (Some("8 GT/s"), 0));
}

#[test]
fn drives_and_their_ports() {
    let (_dir, root) = laptop();
    let link = knob(&root, "sata.link-power@host0");
    assert_eq!(ends(&link), [Some("keep_firmware_settings"), Some("med_power_with_dipm"), Some("max_performance")]);
    assert_eq!(values(&link), ["max_performance", "medium_power", "med_power_with_dipm"]);
    let reason = |host| knob(&root, &format!("sata.link-power@{host}")).reason.unwrap();
    assert!(reason("host1").starts_with("external or hot-plug port"));
    assert_eq!(reason("host2"), "no drive at this port");
    assert!(!list(&root).iter().any(|c| c.id.ends_with("@host9")), "USB has no link power management");
    let ncq = knob(&root, "sata.ncq@sda");
    assert_eq!(ends(&ncq), [Some("off"), None, Some("on")]);
    assert_eq!(ncq.choice("on").unwrap().writes[0].value, "32");
    assert_eq!(knob(&root, "block.wbt@sda").value.as_deref(), Some("2000 us"), "a disk's own would be 75 ms");
    assert_eq!(knob(&root, "block.wbt@nvme0n1").value.as_deref(), Some("on"));
    assert_eq!(ends(&knob(&root, "nvme.apst@nvme0")), [Some("100000 us"), Some("auto"), Some("off")]);
    assert_eq!(knob(&root, "nvme.apst@nvme1").value.as_deref(), Some("auto"));
    assert_eq!(knob(&root, "sata.mode@0000:03:00.0").value.as_deref(), Some("AHCI"));
    assert_eq!(knob(&root, "cpu.virtualization").value.as_deref(), Some("VT-x"));
}

#[test]
fn a_bare_cloud_guest_says_of_everything_why_it_cannot() {
    let (_dir, root) = common::tree(include_str!("trees/cloud.txt"));
    let all = list(&root);
    assert!(all.iter().all(|c| !c.knob().writable && c.reason.is_some()));
    let reason = |id| knob(&root, id).reason.unwrap();
    let guest = "a docker container in a KVM virtual machine";
    assert_eq!(reason("cpu.deep-idle"), format!("no idle driver: {guest}"));
    assert_eq!(reason("cpu.governor"), format!("no frequency scaling: {guest}"));
    assert_eq!(reason("pcie.aspm"), "firmware owns ASPM: the kernel refuses changes");
    assert_eq!(reason("block.scheduler@vda"), "this container mounts /sys read-only");
    assert_eq!(knob(&root, "block.scheduler@vda").value.as_deref(), Some("none"));
}

#[test]
fn what_cannot_be_read_or_written_says_so_and_stops_nobody() {
    let (dir, root) = laptop();
    let policy = dir.path().join("sys/module/pcie_aspm/parameters/policy");
    fs::set_permissions(&policy, fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(knob(&root, "pcie.aspm").reason.as_deref(), Some("the kernel only shows it"));
    fs::write(dir.path().join("sys/devices/system/cpu/intel_pstate/no_turbo"), "").unwrap();
    let turbo = knob(&root, "cpu.turbo");
    assert_eq!((turbo.value, turbo.reason.as_deref()), (None, Some("the kernel does not tell its value")));
    let damaged = [
        ("sys/devices/system/cpu/online", "0-"),
        ("sys/bus/pci/devices/0000:02:00.0/class", "storage"),
        ("sys/class/thermal/cooling_device12/max_state", "99999999999999999999"),
        ("sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "-1"),
        ("sys/devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq", "fast"),
        ("sys/class/nvme/nvme0/power/pm_qos_latency_tolerance_us", "\u{0}\u{0}"),
        ("sys/block/sda/queue/scheduler", "] ["),
    ];
    for (path, content) in damaged {
        let (dir, root) = laptop();
        fs::write(dir.path().join(path), content).unwrap();
        let all = list(&root);
        assert!(all.len() >= 34 && all.iter().all(|c| c.knob().writable || c.reason.is_some()), "{path}");
    }
}

#[test]
fn what_cannot_be_read_is_left_out_and_said() {
    let policy = "/sys/devices/system/cpu/cpufreq/policy";
    let text = format!(
        "/sys/devices/system/cpu/online = 0-1
         {policy}0/scaling_available_governors = performance powersave
         {policy}1/scaling_available_governors = performance powersave
         {policy}0/scaling_governor = powersave
         {policy}1/scaling_governor ="
    );
    let (_dir, root) = common::tree(&text);
    let state = tempfile::tempdir().unwrap();
    let mut keeper = power::keeper::Keeper::open(root.clone(), &state.path().join("journal")).unwrap();
    let wish = protocol::knob::Assignment { id: "cpu.governor".into(), value: "performance".into() };
    let outcomes = keeper.set(&Hints::default(), &[wish], protocol::knob::Lifetime::Session, false).unwrap();
    assert_eq!(outcomes[0].verdict, protocol::knob::Verdict::Failed);
    let said = outcomes[0].message.as_deref().unwrap();
    assert!(said.starts_with("1 of 2 files cannot be read"), "{said}");
    assert_eq!(root.read(&format!("{policy}0/scaling_governor")).as_deref(), Some("performance"));
}
