//! What a sample of telemetry costs: `cargo run --release -p power --example telemetry_cost -- [TREE] [SAMPLES]`.
//!
//! Takes samples one after the other and prints the CPU time of each, what is read only now and then included as if
//! five samples were taken a second.

use power::Root;
use power::telemetry::{Options, Sampler};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

const RATE: u32 = 5;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let root = Root::new(arguments.next().unwrap_or_else(|| "/".into()))?;
    let count: u32 = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(500);
    let begun = cpu_ms();
    let mut sampler = Sampler::new(root, Options { poll_drive_sensors: true });
    let started = cpu_ms();
    let mut cpus = 0;
    for i in 1..=count {
        cpus = sampler.sample_at(Duration::from_secs(1) / RATE * i, None).cpus.len();
    }
    let each = (cpu_ms() - started) / f64::from(count);
    println!("{cpus} CPUs; start {:.1} ms, then {each:.3} ms a sample", started - begun);
    println!("at {RATE} samples a second: {:.2} % of one CPU", each * f64::from(RATE) / 10.0);
    Ok(())
}

/// CPU time of this process in milliseconds.
fn cpu_ms() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}
