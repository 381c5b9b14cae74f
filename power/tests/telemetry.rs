//! Telemetry of machines whose counters the test moves by hand.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use power::Root;
use power::desk::Meter;
use power::telemetry::{Options, Sampler, meters};
use protocol::telemetry::{Telemetry, TemperatureSample};
use std::fs;
use std::time::Duration;
use tempfile::TempDir;

const CPU: &str = "/sys/devices/system/cpu";

/// A machine and its sampler; each step lasts one second.
struct Host {
    dir: TempDir,
    root: Root,
    sampler: Sampler,
    second: u64,
}

impl Host {
    fn new(tree: &str) -> Self {
        Self::with(tree, Options { poll_drive_sensors: false })
    }

    fn with(tree: &str, options: Options) -> Self {
        let (dir, root) = common::tree(tree);
        let sampler = Sampler::new(root.clone(), options);
        Self { dir, root, sampler, second: 0 }
    }

    fn put(&self, path: &str, text: &str) {
        fs::write(self.dir.path().join(path.trim_start_matches('/')), format!("{text}\n")).unwrap();
    }

    fn step(&mut self) -> Telemetry {
        self.step_with(None)
    }

    fn step_with(&mut self, meters: Option<&[Meter]>) -> Telemetry {
        self.second += 1;
        self.sampler.sample_at(Duration::from_secs(self.second), meters)
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

/// Two CPUs with three idle states each, one frequency policy.
fn two_cpus() -> String {
    let state = |cpu: u32, state: u32, name: &str, latency: u32| {
        let dir = format!("{CPU}/cpu{cpu}/cpuidle/state{state}");
        format!("{dir}/name = {name}\n{dir}/latency = {latency}\n{dir}/time = 1000\n{dir}/usage = 10\n")
    };
    let states = |cpu| [state(cpu, 0, "POLL", 0), state(cpu, 1, "C1", 2), state(cpu, 2, "C10", 890)].concat();
    let policy = format!("{CPU}/cpufreq/policy0");
    let ticks = "cpu  0 0 0 0\\ncpu0 100 0 0 100 0 0 0 0 0 0\\ncpu1 100 0 0 100 0 0 0 0 0 0\\nintr 1 2";
    [
        format!("{CPU}/online = 0-1\n{policy}/affected_cpus = 0 1\n{policy}/scaling_cur_freq = 1200000\n"),
        states(0),
        states(1),
        format!("/proc/stat = {ticks}\n"),
    ]
    .concat()
}

#[test]
fn residency_use_and_frequency_are_those_of_the_interval() {
    let mut host = Host::new(&two_cpus());
    host.put(&format!("{CPU}/cpu0/cpuidle/state2/time"), "751000");
    host.put(&format!("{CPU}/cpu0/cpuidle/state2/usage"), "30");
    host.put("/proc/stat", "cpu  0\ncpu0 110 0 0 170 10 4 6 0 0 0\ncpu1 200 0 0 100 0 0 0 0 0 0\nintr 5");
    let sample = host.step();
    assert!(near(sample.interval_ms, 1000.0) && near(sample.t_ms, 1000.0));
    let [zero, one] = sample.cpus.as_slice() else { panic!("{:?}", sample.cpus) };
    assert!(near(zero.busy, 0.2) && near(zero.irq, 0.04) && near(zero.softirq, 0.06), "{zero:?}");
    assert_eq!((zero.cpu, zero.mhz, one.mhz), (0, Some(1200.0), Some(1200.0)));
    assert!(near(one.busy, 1.0));
    assert_eq!(zero.idle, [0.0, 0.0, 0.75]);
    let names: Vec<_> = sample.idle.iter().map(|s| (s.name.as_str(), s.latency_us)).collect();
    assert_eq!(names, [("POLL", 0), ("C1", 2), ("C10", 890)]);
    assert!(near(sample.idle[2].share, 0.375) && near(sample.idle[2].entries, 20.0), "{:?}", sample.idle);
    let still = host.step();
    assert!(near(still.idle[2].share, 0.0));
}

#[test]
fn sleep_that_began_before_the_interval_is_cut_to_it() {
    let mut host = Host::new(&two_cpus());
    host.put(&format!("{CPU}/cpu0/cpuidle/state2/time"), "9000000");
    host.put(&format!("{CPU}/cpu0/cpuidle/state1/time"), "1001000");
    let idle = host.step().cpus[0].idle.clone();
    assert_eq!(idle, [0.0, 0.5, 0.5]);
}

#[test]
fn a_cpu_that_goes_offline_is_left_out_and_found_again() {
    let mut host = Host::new(&two_cpus());
    host.put(&format!("{CPU}/online"), "0");
    let cpuidle = host.dir.path().join("sys/devices/system/cpu/cpu1/cpuidle");
    let aside = host.dir.path().join("aside");
    fs::rename(&cpuidle, &aside).unwrap();
    let numbers = |s: &Telemetry| s.cpus.iter().map(|c| (c.cpu, c.idle.len())).collect::<Vec<_>>();
    assert_eq!(numbers(&host.step()), [(0, 3)]);
    fs::rename(&aside, &cpuidle).unwrap();
    host.put(&format!("{CPU}/online"), "0-1");
    host.step();
    host.put(&format!("{CPU}/cpu1/cpuidle/state1/time"), "501000");
    let sample = host.step();
    assert_eq!(numbers(&sample), [(0, 3), (1, 3)]);
    assert!(near(sample.cpus[1].idle[1], 0.5), "{:?}", sample.cpus);
}

#[test]
fn a_file_that_cannot_be_read_takes_its_cpu_out_and_no_more() {
    let mut host = Host::new(&two_cpus());
    host.put(&format!("{CPU}/cpu1/cpuidle/state1/time"), "");
    host.put(&format!("{CPU}/cpufreq/policy0/scaling_cur_freq"), "<unknown>");
    host.put("/proc/stat", "cpu  0\ncpu0 150 0 0 150 0 0 0 0 0 0\ncpu1 150 0 0 150 0 0 0 0 0 0");
    let sample = host.step();
    assert_eq!(sample.cpus.iter().map(|c| c.idle.len()).collect::<Vec<_>>(), [3, 0]);
    assert!(sample.cpus.iter().all(|c| c.mhz.is_none() && near(c.busy, 0.5)), "{:?}", sample.cpus);
}

#[test]
fn cores_of_a_hybrid_processor_keep_their_states_apart() {
    let state = |cpu: u32, state: u32, name: &str, latency: u32| {
        let dir = format!("{CPU}/cpu{cpu}/cpuidle/state{state}");
        format!("{dir}/name = {name}\n{dir}/latency = {latency}\n{dir}/time = 0\n{dir}/usage = 0\n")
    };
    let tree =
        [state(0, 0, "POLL", 0), state(0, 1, "C6", 170), state(4, 0, "POLL", 0), state(4, 1, "C6", 140)].concat();
    let mut host = Host::new(&format!("{CPU}/online = 0,4\n{tree}"));
    host.put(&format!("{CPU}/cpu4/cpuidle/state1/time"), "500000");
    let sample = host.step();
    let states: Vec<_> = sample.idle.iter().map(|s| (s.name.as_str(), s.latency_us, s.share)).collect();
    assert_eq!(states, [("POLL", 0, 0.0), ("C6", 140, 0.25), ("C6", 170, 0.0)]);
    assert!(near(sample.cpus[1].busy, 0.5), "without /proc/stat, what is not idle is busy");
}

#[test]
fn energy_wraps_at_its_range() {
    let meter = |name: &str, energy_uj| Meter { name: name.into(), energy_uj, range_uj: 1_000_000_000 };
    let mut host = Host::new("");
    let watts = |s: &Telemetry| s.energy.iter().map(|e| e.watts).collect::<Vec<_>>();
    let first = host.step_with(Some(&[meter("package-0", 990_000_000), meter("dram", 5), meter("dram", 7)]));
    assert_eq!((watts(&first), first.energy_reason), (vec![None, None, None], None));
    let second = host.step_with(Some(&[meter("package-0", 5_000_000), meter("dram", 2_000_005), meter("dram", 7)]));
    assert_eq!(watts(&second), [Some(15.0), Some(2.0), Some(0.0)]);
    let others = host.step_with(Some(&[meter("dram", 1), meter("package-0", 2)]));
    assert_eq!(watts(&others), [None, None], "other meters than before");
    let gone = host.step_with(None);
    assert_eq!(gone.energy, []);
    // A reset, as after sleep: 100 kJ in a second.
    let large = |energy_uj| Meter { name: "package-0".into(), energy_uj, range_uj: 262_143_328_850 };
    host.step_with(Some(&[large(150_000_000_000)]));
    assert_eq!(watts(&host.step_with(Some(&[large(17)]))), [None]);
}

#[test]
fn meters_are_read_by_name_and_their_absence_is_explained() {
    let zone = "/sys/class/powercap/intel-rapl:0";
    let tree = format!("{zone}/name = package-0\n{zone}/energy_uj = 12\n{zone}/max_energy_range_uj = 99\n");
    let (_dir, root) = common::tree(&format!("{tree}/sys/class/powercap/intel-rapl-mmio:0/energy_uj = 1"));
    assert_eq!(meters(&root), [Meter { name: "package-0".into(), energy_uj: 12, range_uj: 99 }]);
    let reason = |host: &mut Host| host.step().energy_reason.unwrap();
    assert!(reason(&mut Host::new(&tree)).contains("sudo"));
    let mut bare = Host::new("");
    assert!(reason(&mut bare).contains("no energy meter"));
    assert_eq!(meters(&bare.root), []);
}

#[test]
fn throttling_of_a_package_counts_once() {
    let cpu = |n: u32, core: u32| {
        let dir = format!("{CPU}/cpu{n}");
        let throttle = format!("{dir}/thermal_throttle");
        format!(
            "{dir}/topology/physical_package_id = 0\n{dir}/topology/core_id = {core}\n{throttle}/core_throttle_count = 4\n{throttle}/package_throttle_count = 9\n"
        )
    };
    let mut host = Host::new(&format!("{CPU}/online = 0-3\n{}", [cpu(0, 0), cpu(1, 0), cpu(2, 1), cpu(3, 1)].concat()));
    assert_eq!(host.step().throttled, Some(0));
    for n in 0..4 {
        host.put(&format!("{CPU}/cpu{n}/thermal_throttle/package_throttle_count"), "12");
    }
    host.put(&format!("{CPU}/cpu2/thermal_throttle/core_throttle_count"), "5");
    host.put(&format!("{CPU}/cpu3/thermal_throttle/core_throttle_count"), "5");
    assert_eq!(host.step().throttled, Some(4), "three of the package, one of core 1");
    assert_eq!(host.step().throttled, Some(4), "since sampling began");
}

#[test]
fn supplies_are_the_machines_own() {
    let supply = |name: &str, lines: &[(&str, &str)]| {
        let line = |(file, value): &(&str, &str)| format!("/sys/class/power_supply/{name}/{file} = {value}\n");
        lines.iter().map(line).collect::<Vec<_>>().concat()
    };
    let mouse = supply(
        "hid-0",
        &[("type", "Battery"), ("scope", "Device"), ("status", "Discharging"), ("power_now", "9000000")],
    );
    let by_power = supply("BAT0", &[("type", "Battery"), ("status", "Discharging"), ("power_now", "8000000")]);
    let by_current = supply(
        "BAT1",
        &[("type", "Battery"), ("status", "Discharging"), ("current_now", "-500000"), ("voltage_now", "12000000")],
    );
    let mut host = Host::new(&[mouse.clone(), by_power.clone(), by_current].concat());
    let sample = host.step();
    assert_eq!((sample.supply.on_ac, sample.supply.battery_watts), (Some(false), Some(14.0)));
    let silent = supply("BAT1", &[("type", "Battery"), ("status", "Discharging")]);
    assert_eq!(Host::new(&(by_power + &silent)).step().supply.battery_watts, None, "half of it is not all of it");
    assert_eq!(Host::new(&mouse).step().supply, protocol::telemetry::SupplySample::default());
}

const SENSORS: &str = "
/sys/class/hwmon/hwmon0/name = coretemp
/sys/class/hwmon/hwmon0/temp1_input = 51000
/sys/class/hwmon/hwmon0/temp1_label = Package id 0
/sys/class/hwmon/hwmon0/temp2_input = 50000
/sys/class/hwmon/hwmon0/temp2_label = Core 0
/sys/class/hwmon/hwmon1/name = acpitz
/sys/class/hwmon/hwmon1/temp1_input = 27800
/sys/class/hwmon/hwmon1/temp2_input = -273200
/sys/class/hwmon/hwmon2/name = nct6798
/sys/class/hwmon/hwmon2/temp1_input = 30000
/sys/class/hwmon/hwmon3 -> ../../devices/pci0000:00/0000:01:00.0/nvme/nvme0/hwmon3
/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/hwmon3/name = nvme
/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/hwmon3/temp1_input = 36850
/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/hwmon3/temp1_label = Composite
/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/hwmon3/temp2_input = 65261850
/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/hwmon3/device -> ../../nvme0
/sys/class/hwmon/hwmon4/name = coretemp
/sys/class/hwmon/hwmon4/temp1_input = 49000
/sys/class/hwmon/hwmon4/temp1_label = Package id 0
";

#[test]
fn drives_are_asked_for_their_temperature_only_when_allowed_and_seldom() {
    let host_only = ["coretemp Package id 0", "acpitz", "coretemp Package id 0 (2)"];
    let names = |t: &[TemperatureSample]| t.iter().map(|t| t.name.clone()).collect::<Vec<_>>();
    let drive = |s: &Telemetry| s.temperatures.iter().find(|t| t.name == "nvme0 Composite").map(|t| t.celsius);
    let mut host = Host::new(SENSORS);
    assert_eq!(names(&host.step().temperatures), host_only);
    host.sampler.poll_drive_sensors(true);
    assert_eq!(drive(&host.step()), Some(36.85));
    let input = "/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/hwmon3/temp1_input";
    host.put(input, "40850");
    assert_eq!(drive(&host.step()), Some(36.85), "a second later it is not asked again");
    host.second += 10;
    assert_eq!(drive(&host.step()), Some(40.85));
    host.put(input, "65261850");
    host.second += 10;
    assert_eq!(drive(&host.step()), None, "absurd");
    host.sampler.poll_drive_sensors(false);
    assert_eq!(names(&host.step().temperatures), host_only);
}

#[test]
fn pressure_is_the_share_of_the_interval() {
    let mut host = Host::new("/proc/pressure/io = some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\\nfull total=7");
    host.put("/proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=251000\nfull total=7");
    assert_eq!(host.step().pressure, [("io".to_owned(), 0.25)]);
}

#[test]
fn links_are_those_of_the_drive_and_of_each_port_above() {
    let multipath = "/sys/block/nvme0n1 -> ../devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1\n";
    let tree = [multipath, include_str!("trees/server.txt")].concat();
    let mut host = Host::with(&tree, Options { poll_drive_sensors: true });
    let links = host.step().links;
    let of: Vec<_> = links.iter().filter(|l| l.drive == "nvme0n1").collect();
    let said: Vec<_> = of.iter().map(|l| (l.address.as_str(), l.current.as_str(), l.max.as_deref())).collect();
    insta::assert_debug_snapshot!(said);
}

#[test]
fn what_the_kernel_does_not_tell_is_absent() {
    let mut empty = Host::new("");
    let sample = empty.step();
    let nothing = Telemetry {
        t_ms: 1000.0,
        interval_ms: 1000.0,
        energy_reason: sample.energy_reason.clone(),
        ..Telemetry::default()
    };
    assert_eq!(sample, nothing);
    assert_eq!(empty.sampler.sample_at(Duration::from_secs(1), None).cpus, [], "no time has passed");
}

#[test]
fn this_machine_can_be_watched() {
    let mut sampler = Sampler::new(Root::default(), Options { poll_drive_sensors: false });
    let first = sampler.sample_at(Duration::from_secs(1), None);
    let second = sampler.sample_at(Duration::from_secs(2), None);
    for cpu in first.cpus.iter().chain(&second.cpus) {
        assert!((0.0..=1.0).contains(&cpu.busy) && cpu.idle.iter().all(|s| (0.0..=1.0).contains(s)), "{cpu:?}");
    }
}
