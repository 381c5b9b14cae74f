//! Small settings for tests.

use protocol::knob::{Knob, RestoreReport, Restored, RestoredItem};
use protocol::telemetry::{
    CpuSample, EnergySample, IdleSample, LinkSample, SupplySample, Telemetry, TemperatureSample,
};

/// A knob that can be read.
pub(crate) fn knob(id: &str, value: &str, values: &[&str]) -> Knob {
    let values = values.iter().map(|&v| v.to_owned()).collect();
    Knob { id: id.into(), value: Some(value.into()), values, ..Knob::default() }
}

/// A restore that put one file back, left two to somebody else, and missed one.
pub(crate) fn report() -> RestoreReport {
    let item = |id: &str, n: u32, end, message: Option<&str>| RestoredItem {
        id: id.into(),
        source: format!("/sys/{n}"),
        original: "performance".into(),
        now: (end != Restored::Gone).then(|| "powersave".into()),
        end,
        message: message.map(Into::into),
    };
    RestoreReport {
        items: vec![
            item("cpu.turbo", 0, Restored::Back, None),
            item("cpu.governor", 1, Restored::Foreign, None),
            item("cpu.governor", 2, Restored::Foreign, None),
            item("sata.link-power@host0", 3, Restored::Gone, Some("the device is gone")),
        ],
        notes: vec!["a line of the journal was damaged".into()],
        damaged: 0,
    }
}

/// Two CPUs, two idle states, one meter of two that can be read.
pub(crate) fn telemetry(t_ms: f64) -> Telemetry {
    let cpu = |cpu, mhz| CpuSample { cpu, busy: 0.25, irq: 0.01, softirq: 0.03, mhz, idle: vec![0.25, 0.5] };
    let idle = |name: &str, latency_us, share| IdleSample { name: name.into(), latency_us, share, entries: 12.5 };
    let energy = |name: &str, watts| EnergySample { name: name.into(), watts };
    Telemetry {
        t_ms,
        interval_ms: 200.0,
        cpus: vec![cpu(0, Some(800.0)), cpu(3, Some(3200.0)), cpu(4, None)],
        idle: vec![idle("C1", 2, 0.25), idle("C6", 133, 0.5)],
        energy: vec![energy("package-0", Some(12.5)), energy("dram", None)],
        energy_reason: None,
        supply: SupplySample { on_ac: Some(false), battery_watts: Some(9.5) },
        temperatures: vec![TemperatureSample { name: "coretemp Package id 0".into(), celsius: 48.0 }],
        throttled: Some(0),
        pressure: vec![("cpu".into(), 0.02), ("io".into(), 0.4)],
        links: vec![LinkSample {
            drive: "nvme0n1".into(),
            address: "0000:01:00.0".into(),
            current: "PCIe 3.0 x2".into(),
            max: Some("PCIe 3.0 x4".into()),
        }],
    }
}
