//! The limit on how long an idle CPU may take to wake.

use super::about::control;
use super::build::unreadable;
use super::idle::{State, States};
use super::machine::Machine;
use crate::control::{Choice, Control, Write};
use crate::kernel::NO_LIMIT;
use crate::root::Root;
use crate::site::Site;
use rustix::io::Errno;

/// `/dev/cpu_dma_latency` (admin-guide/pm/cpuidle.rst): the least of what all its holders ask for is in force, so a
/// limit of ours tightens and never loosens.
pub(super) fn limit(machine: &Machine<'_>, table: &[States], missing: &str) -> Control {
    let site = Site::LatencyLimit;
    let source = site.source(machine.root);
    let limit = Control { source: source.clone(), ..control("cpu.latency-limit") };
    let now = match read(machine.root, &source) {
        None => return limit.because(Some("this kernel or container has no /dev/cpu_dma_latency")),
        Some(Err(errno)) => return limit.because(Some(unreadable(errno))),
        Some(Ok(now)) => now,
    };
    let choice = |value: String, us: String| Choice {
        value,
        writes: vec![Write { site: site.clone(), value: us }],
        disturbs: Vec::new(),
    };
    let states: Vec<&State> = table.iter().flat_map(|s| &s.states).filter(|s| !s.off).collect();
    let mut latencies: Vec<u32> = states.iter().map(|s| s.latency).collect();
    latencies.sort_unstable_by_key(|us| std::cmp::Reverse(*us));
    latencies.dedup();
    let mut choices = vec![choice("none".into(), NO_LIMIT.into())];
    choices.extend(latencies.iter().map(|us| choice(format!("{us} us"), us.to_string())));
    let value = choices.iter().find(|c| c.writes.iter().all(|w| w.value == now)).map(|c| c.value.clone());
    // Hybrid CPUs differ; the slowest lightest sleep still must be allowed.
    let lightest = table.iter().filter_map(|s| s.states.iter().find(|s| !s.is_polling() && !s.off));
    let performance = lightest.map(|s| s.latency).max().map(|us| format!("{us} us"));
    let idle = (table.is_empty()).then(|| format!("without effect: {missing}"));
    Control { value: value.or_else(|| Some(format!("{now} us"))), choices, performance, ..limit.because(idle) }
        .saves(&["none"])
}

/// Decimal microseconds. The device gives a number of 4 bytes in the machine's order.
fn read(root: &Root, path: &str) -> Option<Result<String, Errno>> {
    let look = root.look(path)?;
    Some(look.data.as_deref().map_err(|e| *e).and_then(|data| match <[u8; 4]>::try_from(data) {
        Ok(number) => Ok(i32::from_ne_bytes(number).to_string()),
        Err(_) => look.text(),
    }))
}
