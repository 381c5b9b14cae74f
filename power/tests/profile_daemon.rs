//! A profile held through a daemon on a bus of its own.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use power::control::{Choice, Control, ProfileDaemon, Write};
use power::keeper::{Keeper, Scope};
use power::profile_daemon::look;
use power::site::Site;
use protocol::knob::{Assignment, Lifetime, Outcome, Restored, Verdict};
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use zbus::zvariant::Value;

const PROFILES: [&str; 3] = ["power-saver", "balanced", "performance"];
const BUS: &str = "DBUS_SYSTEM_BUS_ADDRESS";

/// The daemon, as far as it is used.
#[derive(Debug)]
struct Daemon {
    profiles: [&'static str; 3],
    holds: BTreeMap<u32, String>,
}

#[zbus::interface(name = "net.hadess.PowerProfiles")]
impl Daemon {
    fn hold_profile(&mut self, profile: String, reason: &str, application: &str) -> zbus::fdo::Result<u32> {
        assert!(!reason.is_empty() && application == "brakecheck");
        if profile == "balanced" {
            return Err(zbus::fdo::Error::InvalidArgs("only the most and the least can be held".into()));
        }
        let cookie = self.holds.keys().next_back().map_or(1, |c| c + 1);
        self.holds.insert(cookie, profile);
        Ok(cookie)
    }

    fn release_profile(&mut self, cookie: u32) {
        self.holds.remove(&cookie);
    }

    #[zbus(property)]
    fn active_profile(&self) -> String {
        self.holds.values().next_back().cloned().unwrap_or_else(|| "balanced".into())
    }

    #[zbus(property)]
    fn profiles(&self) -> Vec<HashMap<String, Value<'static>>> {
        let profile = |name| HashMap::from([("Profile".to_owned(), Value::from(name))]);
        self.profiles.map(profile).into()
    }
}

struct Bus(Child);

impl Drop for Bus {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The bus's address must be in the environment, so what is tested runs in a process of its own.
#[test]
fn a_profile_is_held_and_released() {
    let bus =
        Command::new("dbus-daemon").args(["--session", "--nofork", "--print-address"]).stdout(Stdio::piped()).spawn();
    let Ok(mut bus) = bus.map(Bus) else {
        eprintln!("skipped: no dbus-daemon here");
        return;
    };
    let mut address = String::new();
    BufReader::new(bus.0.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let inner = ["--exact", "on_a_bus_of_its_own", "--ignored", "--nocapture"];
    let output = Command::new(std::env::current_exe().unwrap()).args(inner).env(BUS, address.trim()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[ignore = "run by a_profile_is_held_and_released"]
fn on_a_bus_of_its_own() {
    let address = std::env::var(BUS).unwrap();
    let (_dir, root) = common::tree("/proc/version = Linux");
    assert_eq!(look(&root), None);
    let daemon = zbus::blocking::connection::Builder::address(address.as_str()).unwrap();
    let daemon = daemon.name("net.hadess.PowerProfiles").unwrap();
    let daemon = daemon
        .serve_at("/net/hadess/PowerProfiles", Daemon { profiles: PROFILES, holds: BTreeMap::new() })
        .unwrap()
        .build()
        .unwrap();
    let profiles = PROFILES.map(String::from).to_vec();
    assert_eq!(look(&root), Some(ProfileDaemon { profiles, active: "balanced".into() }));

    let state = common::scratch();
    let mut keeper = Keeper::open(root.clone(), &state.path().join("journal")).unwrap();
    let active = || look(&root).unwrap().active;
    assert_eq!(set(&mut keeper, "performance").verdict, Verdict::Applied);
    assert_eq!((active().as_str(), keeper.changed()), ("performance", 1));
    assert_eq!(set(&mut keeper, "performance").verdict, Verdict::Unchanged);
    assert_eq!(set(&mut keeper, "power-saver").verdict, Verdict::Applied);
    assert_eq!(set(&mut keeper, "balanced").verdict, Verdict::Applied);
    assert_eq!((active().as_str(), keeper.is_clean()), ("balanced", true));

    set(&mut keeper, "power-saver");
    let report = keeper.restore(Scope::Session, false);
    assert_eq!((report.items[0].end, active().as_str()), (Restored::Back, "balanced"));

    set(&mut keeper, "performance");
    drop(keeper);
    // The daemon of this test does not watch who holds; a real one lets go with the connection.
    let mut keeper = Keeper::open(root, &state.path().join("journal")).unwrap();
    assert_eq!(keeper.restore(Scope::Session, false).items[0].end, Restored::Already);
    drop(daemon);
    assert_eq!(set(&mut keeper, "performance").verdict, Verdict::Failed);
}

fn set(keeper: &mut Keeper, profile: &str) -> Outcome {
    let choice = |name: &str| Choice {
        value: name.into(),
        writes: vec![Write { site: Site::ProfileHold, value: name.into() }],
        disturbs: vec![],
    };
    let choices = PROFILES.map(choice).to_vec();
    let control = Control { id: "platform.profile".into(), choices, ..Control::default() };
    let wish = Assignment { id: control.id.clone(), value: profile.into() };
    keeper.set_among(&[control], &[wish], Lifetime::Session, false).unwrap().remove(0)
}
