//! Energy meters, from `/sys/class/powercap/intel-rapl:N[:M]` (power/powercap/powercap.rst), which AMD's have too.

use crate::desk::Meter;
use crate::root::{Dir, Root};

/// Every meter that can be read; since Linux 5.10, only root may (CVE-2020-8694). In the kernel's order, so that meters
/// of one name, one in each package, keep their places.
pub fn meters(root: &Root) -> Vec<Meter> {
    zones(root).iter().filter_map(meter).collect()
}

/// Whether there are meters at all, readable or not.
pub(super) fn exist(root: &Root) -> bool {
    zones(root).iter().any(|z| z.locate("energy_uj").is_some())
}

/// The same meters are offered a second time through memory-mapped registers, `intel-rapl-mmio:0`; these are left out.
fn zones(root: &Root) -> Vec<Dir<'_>> {
    root.dir("/sys/class/powercap").map(|d| d.numbered("intel-rapl:")).unwrap_or_default()
}

fn meter(zone: &Dir<'_>) -> Option<Meter> {
    Some(Meter {
        name: zone.read("name")?,
        energy_uj: zone.parse("energy_uj")?,
        range_uj: zone.parse("max_energy_range_uj")?,
    })
}
