//! Pressure stall information, from `/proc/pressure` (accounting/psi.rst).

use super::kernel_file::{Budget, KernelFile};
use crate::root::Root;

/// What some task waited for, and its counter. Absent in a kernel without it or booted with `psi=0`.
#[derive(Debug)]
pub(super) struct Pressure(Vec<Resource>);

#[derive(Debug)]
struct Resource {
    name: &'static str,
    file: KernelFile,
    /// Microseconds.
    last: u64,
}

impl Pressure {
    pub(super) fn new(root: &Root, budget: &mut Budget) -> Self {
        let resource = |name: &'static str| {
            let file = KernelFile::at(root, &format!("/proc/pressure/{name}"), budget)?;
            Some(Resource { name, last: total(&file)?, file })
        };
        Self(["cpu", "io", "memory"].into_iter().filter_map(resource).collect())
    }

    /// Share of the interval, `seconds` long, in which some task waited.
    pub(super) fn sample(&mut self, seconds: f64) -> Vec<(String, f64)> {
        let shares = self.0.iter_mut().filter_map(|r| {
            let now = total(&r.file)?;
            let waited = now.saturating_sub(std::mem::replace(&mut r.last, now));
            Some((r.name.to_owned(), (waited as f64 / 1e6 / seconds).min(1.0)))
        });
        shares.collect()
    }
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=501931`, in microseconds.
fn total(file: &KernelFile) -> Option<u64> {
    let mut buffer = Vec::new();
    let text = file.text(&mut buffer)?;
    let some = text.lines().find(|l| l.starts_with("some "))?;
    some.split_ascii_whitespace().find_map(|w| w.strip_prefix("total="))?.parse().ok()
}
