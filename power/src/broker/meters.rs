//! Energy meters of the powercap framework (`Documentation/power/powercap/powercap.rst`).
//!
//! Readings are given out ten times a second at most: faster ones tell what a processor computes (CVE-2020-8694,
//! which is why the kernel gives them to root only).

use crate::desk::Meter;
use crate::root::{Dir, Root};
use std::time::{Duration, Instant};

/// Time for which a reading is given out again.
const AGE: Duration = Duration::from_millis(100);

/// The last reading.
#[derive(Debug, Default)]
pub(super) struct Meters(Option<(Instant, Vec<Meter>)>);

impl Meters {
    /// Each meter that can be read, by a name that is its own.
    pub(super) fn read(&mut self, root: &Root) -> Vec<Meter> {
        match &self.0 {
            Some((read, meters)) if read.elapsed() < AGE => meters.clone(),
            _ => {
                let meters = read(root);
                self.0 = Some((Instant::now(), meters.clone()));
                meters
            }
        }
    }
}

fn read(root: &Root) -> Vec<Meter> {
    let Some(class) = root.dir("/sys/class/powercap") else { return Vec::new() };
    let zones: Vec<Dir<'_>> = class.names().iter().filter_map(|name| class.enter(name)).collect();
    // MMIO is a second view of the same counters.
    zones.iter().filter(|zone| !zone.name().starts_with("intel-rapl-mmio")).filter_map(meter).collect()
}

/// A zone as a meter. A part of a package carries the package's name before its own: there is one `core` in each.
fn meter(zone: &Dir<'_>) -> Option<Meter> {
    let own = zone.read("name")?;
    let package = zone.ancestors().nth(1).filter(|parent| parent.name().contains(':')).and_then(|p| p.read("name"));
    let name = package.map_or_else(|| own.clone(), |package| format!("{package} {own}"));
    Some(Meter { name, energy_uj: zone.parse("energy_uj")?, range_uj: zone.parse("max_energy_range_uj")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_within_a_package_carry_its_name() {
        let tree = tempfile::tempdir().unwrap();
        let zones = tree.path().join("sys/devices/virtual/powercap/intel-rapl/intel-rapl:0");
        let class = tree.path().join("sys/class/powercap");
        std::fs::create_dir_all(&class).unwrap();
        for (dir, name, link) in [
            (zones.clone(), "package-0", "intel-rapl:0"),
            (zones.join("intel-rapl:0:0"), "core", "intel-rapl:0:0"),
            (zones.join("intel-rapl:0:1"), "broken", "intel-rapl:0:1"),
        ] {
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("name"), name).unwrap();
            std::fs::write(dir.join("max_energy_range_uj"), "1000").unwrap();
            std::fs::write(dir.join("energy_uj"), if name == "broken" { "" } else { "7" }).unwrap();
            std::os::unix::fs::symlink(&dir, class.join(link)).unwrap();
        }
        let root = Root::new(tree.path()).unwrap();
        let mut meters = Meters::default();
        let names = |meters: &[Meter]| meters.iter().map(|m| m.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&meters.read(&root)), ["package-0", "package-0 core"]);
        std::fs::write(zones.join("energy_uj"), "8").unwrap();
        // Read "in the future", so that its age is nothing however slow this machine is.
        meters.0.as_mut().unwrap().0 = Instant::now() + Duration::from_hours(1);
        assert_eq!(meters.read(&root)[0].energy_uj, 7);
        meters.0 = None;
        assert_eq!(meters.read(&root)[0].energy_uj, 8);
    }
}
