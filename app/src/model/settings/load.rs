//! The few numbers that sum up a sample of telemetry.

use protocol::telemetry::{CpuSample, Telemetry};

/// Frequencies in MHz.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Speed {
    /// Of the slowest CPU.
    pub(crate) min: f64,
    /// Mean of all.
    pub(crate) mean: f64,
    /// Of the fastest.
    pub(crate) max: f64,
}

/// Frequencies over the CPUs that tell theirs; none if no CPU does.
pub(crate) fn speed(sample: &Telemetry) -> Option<Speed> {
    let known: Vec<f64> = sample.cpus.iter().filter_map(|c| c.mhz).collect();
    if known.is_empty() {
        return None;
    }
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    Some(Speed {
        min: known.iter().copied().fold(mean, f64::min),
        mean,
        max: known.iter().copied().fold(mean, f64::max),
    })
}

/// Power in watts, and of what: the whole system where it is metered, else the processors, else the battery.
pub(crate) fn total_watts(sample: &Telemetry) -> Option<(&'static str, f64)> {
    let of =
        |name: &'static str| sample.energy.iter().filter(move |e| e.name.starts_with(name)).filter_map(|e| e.watts);
    let sum = |name, words| of(name).reduce(|a, b| a + b).map(|watts| (words, watts));
    let battery = || sample.supply.battery_watts.map(|watts| ("from the battery", watts));
    sum("psys", "whole system").or_else(|| sum("package", "processor")).or_else(battery)
}

/// Mean shares of all CPUs: busy, in hardware interrupts, in software interrupts. None without CPUs.
pub(crate) fn use_of_cpus(sample: &Telemetry) -> Option<(f64, f64, f64)> {
    let n = sample.cpus.len();
    let mean = |share: fn(&CpuSample) -> f64| sample.cpus.iter().map(share).sum::<f64>() / n as f64;
    (n > 0).then(|| (mean(|c| c.busy), mean(|c| c.irq), mean(|c| c.softirq)))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::telemetry;
    use super::*;
    use protocol::telemetry::EnergySample;

    #[test]
    fn what_is_not_told_is_no_part_of_the_mean() {
        let sample = telemetry(0.0);
        assert_eq!(speed(&sample), Some(Speed { min: 800.0, mean: 2000.0, max: 3200.0 }));
        let (busy, irq, softirq) = use_of_cpus(&sample).unwrap();
        assert!((busy - 0.25).abs() < 1e-9 && (irq - 0.01).abs() < 1e-9 && (softirq - 0.03).abs() < 1e-9);
        assert_eq!((speed(&Telemetry::default()), use_of_cpus(&Telemetry::default())), (None, None));
    }

    #[test]
    fn power_is_of_the_largest_part_that_is_metered_and_never_zero_for_want_of_a_meter() {
        let meter = |name: &str, watts| EnergySample { name: name.into(), watts };
        let mut sample = telemetry(0.0);
        sample.energy = vec![meter("package-0", Some(10.0)), meter("package-1", Some(5.5)), meter("core", Some(3.0))];
        assert_eq!(total_watts(&sample), Some(("processor", 15.5)));
        sample.energy.push(meter("psys", Some(20.0)));
        assert_eq!(total_watts(&sample), Some(("whole system", 20.0)));
        sample.energy = vec![meter("package-0", None)];
        assert_eq!(total_watts(&sample), Some(("from the battery", 9.5)));
        sample.supply.battery_watts = None;
        assert_eq!(total_watts(&sample), None);
    }
}
