//! What the host does while it is watched: residency, frequency, watts, temperatures.
//!
//! Each quantity is over the interval since the sample before, and absent where the kernel does not tell it; nothing is
//! ever shown as 0 for want of a reading.

use serde::{Deserialize, Serialize};

/// One sample.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Telemetry {
    /// Time since sampling began in ms.
    pub t_ms: f64,
    /// Length of the interval in ms.
    pub interval_ms: f64,
    /// Online CPUs.
    pub cpus: Vec<CpuSample>,
    /// Idle states by name, shallowest first; empty where there is no idle driver.
    pub idle: Vec<IdleSample>,
    /// Energy meters.
    pub energy: Vec<EnergySample>,
    /// Why there is no meter, where there is none.
    pub energy_reason: Option<String>,
    /// Batteries and mains.
    pub supply: SupplySample,
    /// Temperature sensors.
    pub temperatures: Vec<TemperatureSample>,
    /// Throttle events since sampling began; absent where the CPU does not count them.
    pub throttled: Option<u64>,
    /// Pressure stall: share of the interval in which some task waited, for `cpu`, `io` and `memory`.
    pub pressure: Vec<(String, f64)>,
    /// Links of drives and of the ports above them.
    pub links: Vec<LinkSample>,
}

/// One CPU over one interval. Shares are 0 to 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct CpuSample {
    /// Number.
    pub cpu: u32,
    /// Not idle (waiting for I/O counts as idle).
    pub busy: f64,
    /// In hardware interrupts.
    pub irq: f64,
    /// In software interrupts.
    pub softirq: f64,
    /// Frequency in MHz.
    pub mhz: Option<f64>,
    /// Share of the interval in each state of [`Telemetry::idle`], in its order.
    pub idle: Vec<f64>,
}

/// One idle state over all CPUs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct IdleSample {
    /// `C1E`.
    pub name: String,
    /// Time to leave it in microseconds.
    pub latency_us: u32,
    /// Mean share over all CPUs, 0 to 1.
    pub share: f64,
    /// Entries per second, over all CPUs.
    pub entries: f64,
}

/// One energy meter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct EnergySample {
    /// `package-0`, `dram`.
    pub name: String,
    /// Mean power in watts; absent when it could not be read.
    pub watts: Option<f64>,
}

/// Mains and batteries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct SupplySample {
    /// On mains (true) or battery (false); absent on machines without either.
    pub on_ac: Option<bool>,
    /// Power drawn from all batteries in watts, while discharging.
    pub battery_watts: Option<f64>,
}

/// One temperature sensor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct TemperatureSample {
    /// `coretemp Package id 0`, `nvme0 Composite`.
    pub name: String,
    /// Degrees Celsius.
    pub celsius: f64,
}

/// One end of a PCI Express link.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct LinkSample {
    /// Drive it leads to, by kernel name: `nvme0n1`.
    pub drive: String,
    /// Address of the function: `0000:01:00.0`.
    pub address: String,
    /// In words: `PCIe 3.0 x4`.
    pub current: String,
    /// The most that both ends can do, in the same words.
    pub max: Option<String>,
}
