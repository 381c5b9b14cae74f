//! What makes a trial void, and waiting until the next one has a chance.
//!
//! Looked at before and after each trial, never during it: asking a drive wakes it.

mod counters;
mod heat;
pub(super) mod quiet;

use super::hand::Hand;
use super::rehearse::differing;
use super::steering::Steering;
use power::Root;
use power::drive::{Mark, marks};
use power::host::on_ac;
use power::telemetry::{Options, Sampler};
use protocol::error::ErrorBody;
use protocol::experiment::Configuration;
use protocol::result::{CaveatKind, StepResult};
use protocol::telemetry::Telemetry;
use std::time::Duration;

/// Pause after the processor has throttled.
const COOL: Duration = Duration::from_secs(10);
/// Time in all that may be spent on cooling down. What is hot after that voids trials still, until a whole block is void.
pub(super) const HEAT_PATIENCE: Duration = Duration::from_mins(5);

/// Trials in a row that a busy machine may void; the next one counts.
const IN_A_ROW: u32 = 3;

/// Watches the conditions of a measurement from one trial to the next.
#[derive(Debug)]
pub(super) struct Guard {
    root: Root,
    /// Kernel names of the drives that are measured.
    drives: Vec<String>,
    sampler: Sampler,
    on_ac: Option<bool>,
    throttled: Option<u64>,
    marks: Vec<Mark>,
    heat_patience: Duration,
    /// Time that is left for waiting for a quiet machine, and for repeating what was measured while it was busy.
    patience: Duration,
    /// Trials in a row that did not count because the machine was busy.
    busy: u32,
}

/// Why a trial does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Void {
    /// Other programs kept the CPUs busy.
    Busy(String),
    /// Processor or drive were too hot, or the processor throttled.
    Hot(String),
    /// Anything else.
    Other(String),
}

impl Void {
    pub(super) fn reason(&self) -> &str {
        match self {
            Self::Busy(reason) | Self::Hot(reason) | Self::Other(reason) => reason,
        }
    }
}

impl Guard {
    /// `patience` is the time in all that may be spent on a busy machine, `heat_patience` that on cooling down.
    pub(super) fn new(root: &Root, drives: Vec<String>, patience: Duration, heat_patience: Duration) -> Self {
        let sampler = Sampler::new(root.clone(), Options { poll_drive_sensors: false });
        let mut guard = Self {
            root: root.clone(),
            drives,
            sampler,
            on_ac: None,
            throttled: None,
            marks: Vec::new(),
            heat_patience,
            patience,
            busy: 0,
        };
        guard.look();
        guard
    }

    /// Notes how things are before a trial.
    pub(super) fn look(&mut self) {
        self.sample();
    }

    fn sample(&mut self) -> Telemetry {
        let now = self.sampler.sample(None);
        (self.on_ac, self.throttled) = (on_ac(&self.root), now.throttled);
        self.marks = self.drives.iter().flat_map(|name| marks(&self.root, name)).collect();
        now
    }

    /// Looks at everything after a trial.
    pub(super) fn judge(
        &mut self,
        hand: &Hand,
        configuration: &Configuration,
        result: &StepResult,
        took: Duration,
    ) -> Result<Option<Void>, ErrorBody> {
        let conditions = self.conditions(configuration);
        if !configuration.set.is_empty() {
            let ours = |id: &str| configuration.set.iter().any(|a| a.id == id);
            if let Some(drift) = hand.drift()?.into_iter().find(|d| ours(&d.id)) {
                let now = drift.now.as_deref().unwrap_or("unknown");
                return Ok(Some(Void::Other(format!("{} was changed to {now} by somebody else", drift.id))));
            }
            if let Some(why) = differing(&hand.list()?.knobs, configuration) {
                return Ok(Some(Void::Other(format!("{why}, after the trial"))));
            }
        }
        if conditions.is_some() {
            return Ok(conditions);
        }
        let busy = result.caveats.iter().find(|c| c.kind == CaveatKind::BusyMachine);
        Ok(self.disturbed(busy.map(|c| c.message.as_str()), took))
    }

    /// What other programs did to a trial that took so long.
    fn disturbed(&mut self, why: Option<&str>, took: Duration) -> Option<Void> {
        let why = why.filter(|_| self.spend(took));
        self.busy = if why.is_some() { self.busy + 1 } else { 0 };
        why.map(|why| Void::Busy(why.trim_end_matches('.').to_owned()))
    }

    /// What became of the conditions since the look before the trial.
    fn conditions(&mut self, configuration: &Configuration) -> Option<Void> {
        let (on_ac, throttled, marks) = (self.on_ac, self.throttled, std::mem::take(&mut self.marks));
        let passed = self.sample();
        if on_ac != self.on_ac {
            return Some(Void::Other("AC power changed".into()));
        }
        if let Some(reason) =
            changed(&marks, &self.marks).or_else(|| counters::contradict(&self.root, configuration, &passed))
        {
            return Some(Void::Other(reason));
        }
        if throttled.zip(self.throttled).is_some_and(|(before, now)| now > before) {
            return Some(Void::Hot("the processor throttled".into()));
        }
        if let Some(reason) = heat::hot(&self.root, &self.drives) {
            return Some(Void::Hot(reason));
        }
        None
    }

    /// Whether there is patience for a trial that took so long to be repeated.
    fn spend(&mut self, took: Duration) -> bool {
        let had = !self.patience.is_zero();
        self.patience = self.patience.saturating_sub(took);
        had
    }

    /// Waits after a void trial until the next one has a chance.
    pub(super) fn recover(&mut self, void: &Void, steering: &Steering, say: &mut dyn FnMut(String)) {
        match void {
            Void::Other(_) => {}
            Void::Hot(_) if heat::hot(&self.root, &self.drives).is_none() => {
                say(format!("The processor throttled; cooling down for {} s.", COOL.as_secs()));
                steering.control().pause(COOL);
            }
            Void::Hot(_) => {
                self.heat_patience = heat::cool_down(&self.root, &self.drives, self.heat_patience, steering, say);
            }
            // Quiet between trials only: waiting would never help, and no block would ever be measured.
            Void::Busy(_) if self.busy >= IN_A_ROW => {
                self.patience = Duration::ZERO;
                say(quiet::STAYS_BUSY.into());
            }
            Void::Busy(_) => self.patience = quiet::wait(self.patience, steering, say),
        }
    }
}

/// The first reading that is not as it was, in words. What appeared or went meanwhile says nothing.
fn changed(before: &[Mark], after: &[Mark]) -> Option<String> {
    before.iter().find_map(|b| {
        let a = after.iter().find(|a| a.what == b.what && a.now != b.now)?;
        Some(format!("{} went from {} to {} meanwhile", b.what, b.now, a.now))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    const NVME: &str = "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0";
    const SATA: &str = "sys/devices/pci0000:00/0000:00:03.0/ata1";

    fn put(dir: &Path, path: &str, text: &str) {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// An NVMe and a SATA drive, their ports, mains.
    fn machine() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path();
        for (path, text) in [
            ("nvme0n1/size", "1000"),
            ("state", "live\n"),
            ("hwmon1/name", "nvme\n"),
            ("hwmon1/temp1_input", "45000\n"),
            ("hwmon1/temp1_max", "80000\n"),
            ("hwmon1/temp1_alarm", "0\n"),
            ("../../current_link_speed", "8.0 GT/s PCIe\n"),
            ("../../current_link_width", "4\n"),
            ("../../aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL 0\n"),
            ("../../aer_dev_correctable", "RxErr 0\nTOTAL_ERR_COR 0\n"),
        ] {
            fs::create_dir_all(at.join(NVME)).unwrap();
            put(at, &format!("{NVME}/{path}"), text);
        }
        for (path, text) in [
            ("host0/target0:0:0/0:0:0:0/block/sda/size", "1000"),
            ("host0/target0:0:0/0:0:0:0/ioerr_cnt", "0x2\n"),
            ("link1/ata_link/link1/sata_spd", "6.0 Gbps\n"),
            ("link1/dev1.0/ata_device/dev1.0/ering", ""),
        ] {
            put(at, &format!("{SATA}/{path}"), text);
        }
        let disk = format!("{SATA}/host0/target0:0:0/0:0:0:0/block/sda");
        std::os::unix::fs::symlink("../..", at.join(&disk).join("device")).unwrap();
        fs::create_dir_all(at.join("sys/class/block")).unwrap();
        std::os::unix::fs::symlink(format!("../../../{NVME}/nvme0n1"), at.join("sys/class/block/nvme0n1")).unwrap();
        std::os::unix::fs::symlink(format!("../../../{disk}"), at.join("sys/class/block/sda")).unwrap();
        put(at, "sys/class/power_supply/AC/type", "Mains\n");
        put(at, "sys/class/power_supply/AC/online", "1\n");
        put(at, "sys/class/hwmon/hwmon0/name", "coretemp\n");
        put(at, "sys/class/hwmon/hwmon0/temp1_label", "Package id 0\n");
        put(at, "sys/class/hwmon/hwmon0/temp1_input", "50000\n");
        put(at, "sys/class/hwmon/hwmon0/temp1_crit", "100000\n");
        dir
    }

    #[test]
    fn what_changes_meanwhile_voids_a_trial_with_its_reason() {
        let dir = machine();
        let root = Root::new(dir.path()).unwrap();
        let mut guard = Guard::new(&root, vec!["nvme0n1".into(), "sda".into()], Duration::ZERO, HEAT_PATIENCE);
        let none = Configuration::default();
        guard.look();
        assert_eq!(guard.conditions(&none), None);
        let nvme = |file: &str| format!("{NVME}/{file}");
        let cases = [
            ("sys/class/power_supply/AC/online".into(), "0\n", "AC power changed"),
            (
                nvme("../../current_link_speed"),
                "2.5 GT/s PCIe\n",
                "the link of 0000:01:00.0 went from PCIe 3.0 x4 to PCIe 1.0 x4 meanwhile",
            ),
            (
                nvme("../../aer_dev_fatal"),
                "Undefined 0\nTOTAL_ERR_FATAL 1\n",
                "fatal PCI Express errors of 0000:01:00.0 went from 0 to 1 meanwhile",
            ),
            (nvme("state"), "resetting\n", "the state of nvme0 went from live to resetting meanwhile"),
            (
                format!("{SATA}/link1/ata_link/link1/sata_spd"),
                "3.0 Gbps\n",
                "the link of ata1 went from 6.0 Gbps to 3.0 Gbps meanwhile",
            ),
            (
                format!("{SATA}/host0/target0:0:0/0:0:0:0/ioerr_cnt"),
                "0x3\n",
                "I/O errors of sda went from 0x2 to 0x3 meanwhile",
            ),
            (
                format!("{SATA}/link1/dev1.0/ata_device/dev1.0/ering"),
                "[   12.5] timeout\n",
                "the last ATA error of dev1.0 went from none to [   12.5] timeout meanwhile",
            ),
            (nvme("hwmon1/temp1_input"), "81000\n", "nvme0n1 was at 81 °C, its limit is 80 °C"),
            ("sys/class/hwmon/hwmon0/temp1_input".into(), "98000\n", "the processor was at 98 °C, its limit is 97 °C"),
        ];
        for (path, text, reason) in cases {
            let before = fs::read_to_string(dir.path().join(&path)).unwrap();
            guard.look();
            fs::write(dir.path().join(&path), text).unwrap();
            assert_eq!(guard.conditions(&none).as_ref().map(Void::reason), Some(reason), "{path}");
            fs::write(dir.path().join(&path), before).unwrap();
            guard.look();
            assert_eq!(guard.conditions(&none), None, "{path}");
        }
        guard.look();
        fs::write(dir.path().join(nvme("../../aer_dev_correctable")), "RxErr 9\nTOTAL_ERR_COR 9\n").unwrap();
        assert_eq!(guard.conditions(&none), None, "what the hardware corrects is a cost, not a reason");
    }

    #[test]
    fn a_machine_that_is_quiet_only_between_trials_is_measured_all_the_same() {
        let dir = machine();
        let root = Root::new(dir.path()).unwrap();
        let mut guard = Guard::new(&root, vec!["sda".into()], Duration::from_hours(1), HEAT_PATIENCE);
        let took = Duration::from_secs(1);
        let mut said = Vec::new();
        for _ in 0..2 {
            for _ in 0..IN_A_ROW - 1 {
                assert!(guard.disturbed(Some("busy."), took).is_some());
            }
            assert_eq!(guard.disturbed(None, took), None);
        }
        for _ in 0..IN_A_ROW {
            assert_eq!(guard.disturbed(Some("busy."), took), Some(Void::Busy("busy".into())));
        }
        guard.recover(&Void::Busy("busy".into()), &Steering::default(), &mut |text| said.push(text));
        assert_eq!((guard.disturbed(Some("busy."), took), said.len()), (None, 1));
    }

    #[test]
    fn what_is_hot_cools_down_below_its_limit_before_it_goes_on() {
        let dir = machine();
        let root = Root::new(dir.path()).unwrap();
        let sensor = dir.path().join(format!("{NVME}/hwmon1/temp1_input"));
        let mut guard = Guard::new(&root, vec!["nvme0n1".into()], Duration::ZERO, HEAT_PATIENCE);
        fs::write(&sensor, "85000\n").unwrap();
        let void = guard.conditions(&Configuration::default()).unwrap();
        let mut said = Vec::new();
        guard.recover(&void, &Steering::default(), &mut |text| {
            fs::write(&sensor, "74000\n").unwrap();
            said.push(text);
        });
        assert_eq!(said, ["Cooling down for 300 s at most: nvme0n1 is at 85 °C."]);
        assert!(power::heat::drive(&root, "nvme0n1").unwrap().is_cool());
        fs::write(&sensor, "79000\n").unwrap();
        let heat = power::heat::drive(&root, "nvme0n1").unwrap();
        assert!(!heat.is_hot() && !heat.is_cool());
    }
}
