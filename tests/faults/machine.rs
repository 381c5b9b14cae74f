//! A machine with one setting of each kind.

use crate::tree::{Files, Tree};
use power::Root;
use power::control::{Choice, Control, Write};
use power::keeper::Keeper;
use power::name::Name;
use power::site::{LinkBit, Site};
use protocol::knob::{Assignment, Lifetime, Outcome};
use std::path::PathBuf;
use tempfile::TempDir;

/// A setting: where, its value as found (as the file says it), and another one.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) site: Site,
    found: &'static str,
    other: &'static str,
}

/// The machine, and a place for its journal.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) tree: Tree,
    pub(crate) root: Root,
    pub(crate) settings: Vec<Setting>,
    state: TempDir,
}

/// Every kind that is a file; what is held or asked of a device by command has none.
pub(crate) fn settings() -> Vec<Setting> {
    let name = |name: &str| Name::new(name).expect("a name");
    let (sda, drive, pci) = (|| name("sda"), || name("nvme0"), || name("0000:01:00.0"));
    let bits = [LinkBit::L0s, LinkBit::L1, LinkBit::L11, LinkBit::L12, LinkBit::ClockPm];
    let bits = bits.map(|bit| (Site::LinkBit { device: pci(), bit }, "1", "0"));
    let others = [
        (Site::PlatformProfile, "balanced", "performance"),
        (Site::AspmPolicy, "[default] performance powersave", "performance"),
        (Site::LinkSpeed { port: name("0000:00:01.0") }, "0", "3"),
        (Site::RuntimePm { device: pci() }, "auto", "on"),
        (Site::SataPolicy { host: 0 }, "med_power_with_dipm", "max_performance"),
        (Site::QueueDepth { disk: sda() }, "32", "1"),
        (Site::Apst { controller: drive() }, "auto", "0"),
        (Site::Scheduler { disk: sda() }, "none [mq-deadline] kyber", "none"),
        (Site::Nomerges { disk: sda() }, "0", "2"),
        (Site::RqAffinity { disk: sda() }, "1", "2"),
        (Site::Wbt { disk: sda() }, "2000", "0"),
        (Site::Governor { policy: 0 }, "powersave", "performance"),
        (Site::Epp { policy: 0 }, "balance_performance", "performance"),
        (Site::FrequencyFloor { policy: 0 }, "800000", "3600000"),
        (Site::Epb { cpu: 0 }, "6", "0"),
        (Site::NoTurbo, "0", "1"),
        (Site::Boost, "1", "0"),
        (Site::PolicyBoost { policy: 0 }, "1", "0"),
        (Site::IdleDisable { cpu: 0, state: 2 }, "0", "1"),
        (Site::LatencyLimit, "2000000000", "10"),
        (Site::NmiWatchdog, "1", "0"),
        (Site::CpuOnline { cpu: 3 }, "1", "0"),
        (Site::Smt, "on", "off"),
    ];
    let setting = |(site, found, other)| Setting { site, found, other };
    bits.into_iter().chain(others).map(setting).collect()
}

impl Setting {
    pub(crate) fn id(&self) -> String {
        let json = serde_json::to_string(&self.site).expect("plain data");
        json.chars().filter(char::is_ascii_alphanumeric).collect()
    }

    /// What it says now and what it can be set to.
    fn control(&self) -> Control {
        let found = self.site.normalise(self.found);
        let choice = |value: &str| Choice {
            value: value.into(),
            writes: vec![Write { site: self.site.clone(), value: value.into() }],
            disturbs: vec![],
        };
        let choices = vec![choice(&found), choice(self.other)];
        Control { id: self.id(), value: Some(found), choices, ..Control::default() }
    }

    pub(crate) fn other(&self) -> Assignment {
        Assignment { id: self.id(), value: self.other.into() }
    }
}

impl Machine {
    /// `None` where it cannot be mounted.
    pub(crate) fn new() -> Option<Self> {
        let settings = settings();
        let tree = Tree::mount(plain())?;
        let root = Root::new(tree.path()).expect("just mounted");
        let mut files = plain();
        for setting in &settings {
            let path = setting.site.path(&root).unwrap_or_else(|| panic!("{setting:?} has no file"));
            let text = match setting.site {
                Site::LatencyLimit => 2_000_000_000i32.to_ne_bytes().to_vec(),
                _ => format!("{}\n", setting.found).into_bytes(),
            };
            files.insert(path, text);
        }
        tree.replace(files);
        let state = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory");
        Some(Self { tree, root, settings, state })
    }

    pub(crate) fn journal_dir(&self) -> PathBuf {
        self.state.path().join("journal")
    }

    pub(crate) fn keeper(&self) -> Keeper {
        Keeper::open(self.root.clone(), &self.journal_dir()).expect("a keeper")
    }

    pub(crate) fn path(&self, setting: &Setting) -> String {
        setting.site.path(&self.root).unwrap_or_default()
    }
}

/// The knobs of these settings.
pub(crate) fn controls(settings: &[Setting]) -> Vec<Control> {
    settings.iter().map(Setting::control).collect()
}

/// Sets these settings to their other value.
pub(crate) fn set(keeper: &mut Keeper, settings: &[&Setting]) -> Vec<Outcome> {
    let controls: Vec<Control> = settings.iter().map(|s| s.control()).collect();
    let wishes: Vec<Assignment> = settings.iter().map(|s| s.other()).collect();
    keeper.set_among(&controls, &wishes, Lifetime::Session, true).expect("a journal")
}

/// What is no setting.
fn plain() -> Files {
    let files = [
        ("/proc/sys/kernel/random/boot_id", "6f1c9a3e"),
        ("/sys/class/thermal/cooling_device4/type", "PCIe_Port_Link_Speed_0000:00:01.0"),
        ("/sys/class/thermal/cooling_device4/cur_state", "0"),
        ("/sys/bus/pci/devices/0000:00:01.0/vendor", "0x8086"),
        ("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x144d"),
        ("/sys/bus/pci/devices/0000:01:00.0/device", "0xa808"),
        ("/sys/class/nvme/nvme0/serial", "S1"),
        ("/sys/class/nvme/nvme0/model", "SSD"),
        ("/sys/class/scsi_host/host0/unique_id", "1"),
        ("/sys/block/sda/diskseq", "5"),
        ("/sys/block/sda/device/wwid", "naa.5000"),
    ];
    files.map(|(path, text)| (path.to_owned(), format!("{text}\n").into_bytes())).into()
}
