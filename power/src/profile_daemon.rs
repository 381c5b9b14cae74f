//! The daemon that owns the platform's profile where a desktop runs: power-profiles-daemon, or tuned, TLP and others in
//! its place. A hold on one of its profiles lasts until it is released or its holder's connection ends, so that
//! nothing stays after a crash. The system bus is found as everybody finds it; `DBUS_SYSTEM_BUS_ADDRESS` overrides.

use crate::control::ProfileDaemon;
use crate::root::Root;
use rustix::io::Errno;
use std::collections::HashMap;
use std::time::Duration;
use zbus::blocking::connection::Builder;
use zbus::blocking::{Connection, Proxy, fdo::DBusProxy};
use zbus::names::BusName;
use zbus::zvariant::OwnedValue;

/// Name of the service and of its interface, and its path; the newer first.
const SERVICES: [(&str, &str); 2] = [
    ("org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles"),
    ("net.hadess.PowerProfiles", "/net/hadess/PowerProfiles"),
];
const TIMEOUT: Duration = Duration::from_secs(3);

/// What a daemon that runs says of itself; one that does not run is not started. A recorded machine has none, unless a
/// bus is named in the environment.
pub fn look(root: &Root) -> Option<ProfileDaemon> {
    let bus = Bus::connect(root).ok()?;
    let profiles: Vec<HashMap<String, OwnedValue>> = bus.proxy().ok()?.get_property("Profiles").ok()?;
    let name = |p: HashMap<String, OwnedValue>| String::try_from(p.get("Profile")?.clone()).ok();
    Some(ProfileDaemon { profiles: profiles.into_iter().filter_map(name).collect(), active: bus.active().ok()? })
}

/// A hold on a profile, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Hold(Option<Held>);

#[derive(Debug)]
struct Held {
    bus: Bus,
    cookie: u32,
}

impl Hold {
    pub(crate) fn is_held(&self) -> bool {
        self.0.is_some()
    }

    /// Lets go. If the daemon cannot be told, the end of the connection tells it.
    pub(crate) fn release(&mut self) {
        if let Some(Held { bus, cookie }) = self.0.take() {
            let _ = bus.proxy().and_then(|p| p.call_method("ReleaseProfile", &(cookie,)));
            let _ = bus.connection.close();
        }
    }

    /// The profile in force.
    pub(crate) fn active(&self, root: &Root) -> Result<String, Errno> {
        let active = match &self.0 {
            Some(held) => held.bus.active(),
            None => Bus::connect(root).and_then(|bus| bus.active()),
        };
        active.map_err(|e| errno(&e))
    }

    /// Holds a profile in place of the one held before; none is held if it is in force anyhow, since only the most and
    /// the least can be held.
    pub(crate) fn hold(&mut self, root: &Root, profile: &str) -> Result<(), Errno> {
        self.release();
        let bus = Bus::connect(root).map_err(|e| errno(&e))?;
        if bus.active().is_ok_and(|active| active == profile) {
            return Ok(());
        }
        let held = bus.proxy().and_then(|p| p.call("HoldProfile", &(profile, "measuring storage", "brakecheck")));
        let cookie = held.map_err(|e| errno(&e))?;
        self.0 = Some(Held { bus, cookie });
        Ok(())
    }
}

/// A connection to a daemon that runs.
#[derive(Debug)]
struct Bus {
    connection: Connection,
    service: &'static str,
    path: &'static str,
}

impl Bus {
    fn connect(root: &Root) -> zbus::Result<Self> {
        let absent = || zbus::Error::Unsupported;
        if !root.is_live() && std::env::var_os("DBUS_SYSTEM_BUS_ADDRESS").is_none() {
            return Err(absent());
        }
        let connection = Builder::system()?.method_timeout(TIMEOUT).build()?;
        let bus = DBusProxy::new(&connection)?;
        let runs = |name: &str| BusName::try_from(name).is_ok_and(|n| bus.name_has_owner(n).unwrap_or(false));
        let (service, path) = SERVICES.into_iter().find(|(name, _)| runs(name)).ok_or_else(absent)?;
        Ok(Self { connection, service, path })
    }

    fn proxy(&self) -> zbus::Result<Proxy<'_>> {
        Proxy::new(&self.connection, self.service, self.path, self.service)
    }

    fn active(&self) -> zbus::Result<String> {
        self.proxy()?.get_property("ActiveProfile")
    }
}

/// The kernel's word for what the bus said.
fn errno(error: &zbus::Error) -> Errno {
    let name = match error {
        zbus::Error::MethodError(name, ..) => name.as_str(),
        zbus::Error::InputOutput(error) if error.kind() == std::io::ErrorKind::TimedOut => return Errno::TIMEDOUT,
        zbus::Error::FDO(error) => match error.as_ref() {
            zbus::fdo::Error::AccessDenied(_) => return Errno::ACCESS,
            zbus::fdo::Error::InvalidArgs(_) => return Errno::INVAL,
            _ => return Errno::IO,
        },
        zbus::Error::Unsupported => return Errno::NODEV,
        _ => return Errno::IO,
    };
    match name.rsplit('.').next() {
        Some("AccessDenied" | "AuthFailed") => Errno::ACCESS,
        Some("InvalidArgs") => Errno::INVAL,
        Some("ServiceUnknown" | "NameHasNoOwner") => Errno::NODEV,
        Some("NoReply" | "Timeout" | "TimedOut") => Errno::TIMEDOUT,
        _ => Errno::IO,
    }
}
