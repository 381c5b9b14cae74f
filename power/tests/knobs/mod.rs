//! A small machine with knobs made by hand.

#![expect(dead_code, reason = "each test program uses a part")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common;
use power::Root;
use power::control::{Choice, Control, Write};
use power::keeper::Keeper;
use power::name::Name;
use power::site::Site;
use protocol::knob::{Assignment, Lifetime, Outcome};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) const GOVERNOR_0: &str = "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
pub(crate) const GOVERNOR_1: &str = "/sys/devices/system/cpu/cpufreq/policy1/scaling_governor";

const MACHINE: &str = "
    /proc/sys/kernel/random/boot_id = 6f1c9a3e
    /sys/devices/system/cpu/cpufreq/policy0/scaling_governor = powersave
    /sys/devices/system/cpu/cpufreq/policy1/scaling_governor = powersave
    /sys/devices/system/cpu/intel_pstate/no_turbo = 0
    /sys/devices/system/cpu/smt/control = on
    /sys/devices/system/cpu/cpu3/online = 1
    /sys/block/sda/queue/scheduler = none [mq-deadline]
    /sys/block/sda/queue/nomerges = 0
    /sys/block/sda/device/wwid = naa.5000
    /sys/class/thermal/cooling_device4/type = PCIe_Port_Link_Speed_0000:00:01.0
    /sys/class/thermal/cooling_device4/cur_state = 0
    /sys/bus/pci/devices/0000:00:01.0/vendor = 0x8086
";

/// The machine, and a place for its journal.
pub(crate) struct Host {
    dir: TempDir,
    pub(crate) root: Root,
    state: TempDir,
}

pub(crate) fn wish(id: &str, value: &str) -> Assignment {
    Assignment { id: id.into(), value: value.into() }
}

impl Host {
    pub(crate) fn new() -> Self {
        let (dir, root) = common::tree(MACHINE);
        fs::create_dir(dir.path().join("dev")).unwrap();
        fs::write(dir.path().join("dev/cpu_dma_latency"), 2_000_000_000i32.to_ne_bytes()).unwrap();
        Self { dir, root, state: common::scratch() }
    }

    /// Directory of the journal.
    pub(crate) fn journal_dir(&self) -> PathBuf {
        self.state.path().join("journal")
    }

    /// The journal itself.
    pub(crate) fn journal(&self) -> PathBuf {
        let entries = fs::read_dir(self.journal_dir()).unwrap().map(|e| e.unwrap().path());
        entries.into_iter().find(|p| p.extension().is_none()).unwrap()
    }

    pub(crate) fn keeper(&self) -> Keeper {
        Keeper::open(self.root.clone(), &self.journal_dir()).unwrap()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path.trim_start_matches('/'))
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        fs::write(self.path(path), text).unwrap();
    }

    /// Every file with its bytes.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(dir: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
                let path = entry.path();
                if path.ends_with("run/brakecheck") {
                    // Where the journal is, as long as it holds anything; no setting.
                } else if path.is_dir() {
                    walk(&path, files);
                } else {
                    files.insert(path.clone(), fs::read(&path).unwrap());
                }
            }
        }
        let mut files = BTreeMap::new();
        walk(self.dir.path(), &mut files);
        files
    }

    pub(crate) fn set(&self, keeper: &mut Keeper, wishes: &[(&str, &str)]) -> Vec<Outcome> {
        let wishes: Vec<_> = wishes.iter().map(|(id, value)| wish(id, value)).collect();
        keeper.set_among(&self.controls(), &wishes, Lifetime::Session, false).unwrap()
    }

    /// Knobs with their values now.
    pub(crate) fn controls(&self) -> Vec<Control> {
        let disk = || Name::new("sda").unwrap();
        let port = || Name::new("0000:00:01.0").unwrap();
        let governors = [0, 1].map(|policy| Site::Governor { policy });
        let offline = fs::read_to_string(self.path("/sys/devices/system/cpu/cpu3/online")).is_ok_and(|t| t == "0\n");
        let mut smt = self.control("cpu.smt", &[Site::Smt], &[("on", "on"), ("off", "off")]);
        if offline {
            smt.choices[1].disturbs = vec![Site::CpuOnline { cpu: 3 }];
        }
        let nomerges = [("all", "0"), ("simple", "1"), ("none", "2")];
        let limits = [("none", "2000000000"), ("10 us", "10"), ("2 us", "2")];
        let speed = "pcie.link-speed@0000:01:00.0";
        vec![
            Control {
                reason: Some("firmware owns ASPM: the kernel refuses changes".into()),
                ..self.control("pcie.aspm", &[], &[])
            },
            self.control("cpu.governor", &governors, &[("performance", "performance"), ("powersave", "powersave")]),
            self.control("cpu.turbo", &[Site::NoTurbo], &[("on", "0"), ("off", "1")]),
            smt,
            self.control("cpu.latency-limit", &[Site::LatencyLimit], &limits),
            self.control("cpu.idle-driver", &[], &[]),
            Control {
                risk: Some("the drive can vanish".into()),
                ..self.control(speed, &[Site::LinkSpeed { port: port() }], &[("max", "0"), ("min", "3")])
            },
            self.control(
                "block.scheduler@sda",
                &[Site::Scheduler { disk: disk() }],
                &[("none", "none"), ("mq-deadline", "mq-deadline")],
            ),
            self.control("block.nomerges@sda", &[Site::Nomerges { disk: disk() }], &nomerges),
        ]
    }

    fn control(&self, id: &str, sites: &[Site], values: &[(&str, &str)]) -> Control {
        let writes = |value: &str| sites.iter().map(|s| Write { site: s.clone(), value: value.into() }).collect();
        let choice =
            |(name, value): &(&str, &str)| Choice { value: (*name).into(), writes: writes(value), disturbs: vec![] };
        let mut control = Control { id: id.into(), choices: values.iter().map(choice).collect(), ..Control::default() };
        let holds = |w: &Write| {
            let text = self.root.read(&w.site.path(&self.root).unwrap_or_default());
            text.is_some_and(|t| w.site.normalise(&t) == w.value)
        };
        control.value = control.choices.iter().find(|c| c.writes.iter().all(holds)).map(|c| c.value.clone());
        control
    }
}
