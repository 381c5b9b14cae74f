//! Sleep: a logind of our own on a bus of our own says that the host is about to.

use crate::Broker;
use anyhow::{Context, Result, ensure};
use power::broker::Client;
use power::desk::Desk;
use protocol::knob::{Assignment, Lifetime};
use std::io::{BufRead, BufReader, PipeReader, Read};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use tests::PATIENCE;

const PATH: &str = "/org/freedesktop/login1";
const INTERFACE: &str = "org.freedesktop.login1.Manager";

/// As much of logind as is used: it gives one end of a pipe to whoever wants a delay, and sees the pipe end.
struct Logind(Sender<PipeReader>);

#[zbus::interface(name = "org.freedesktop.login1.Manager")]
impl Logind {
    fn inhibit(&self, what: &str, who: &str, why: &str, mode: &str) -> zbus::fdo::Result<zbus::zvariant::OwnedFd> {
        if (what, who, mode) != ("sleep:shutdown", "Brakecheck", "delay") || why.is_empty() {
            return Err(zbus::fdo::Error::InvalidArgs(format!("{what} {who} {why} {mode}")));
        }
        let failed = |e: &dyn std::fmt::Display| zbus::fdo::Error::Failed(e.to_string());
        let (delay, held) = std::io::pipe().map_err(|e| failed(&e))?;
        self.0.send(delay).map_err(|e| failed(&e))?;
        Ok(OwnedFd::from(held).into())
    }
}

struct Bus(Child);

impl Drop for Bus {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn settings_are_back_before_the_host_sleeps() -> Result<()> {
    let bus =
        Command::new("dbus-daemon").args(["--session", "--nofork", "--print-address"]).stdout(Stdio::piped()).spawn();
    let Ok(mut bus) = bus.map(Bus) else {
        eprintln!("skipped: no dbus-daemon here");
        return Ok(());
    };
    let mut address = String::new();
    BufReader::new(bus.0.stdout.take().context("it is piped")?).read_line(&mut address)?;
    let (asked, delays): (_, Receiver<PipeReader>) = channel();
    let logind = zbus::blocking::connection::Builder::address(address.trim())?
        .name("org.freedesktop.login1")?
        .serve_at(PATH, Logind(asked))?
        .build()?;

    let (broker, socket) = Broker::start_with(&[("DBUS_SYSTEM_BUS_ADDRESS", address.trim())])?;
    let server = Client::new(socket);
    server.greet()?;
    let mut delay = delays.recv_timeout(PATIENCE).context("no delay was asked for")?;
    for signal in ["PrepareForSleep", "PrepareForShutdown"] {
        let turbo = vec![Assignment { id: "cpu.turbo".into(), value: "off".into() }];
        let outcomes = server.set(&turbo, Lifetime::Session, false)?;
        ensure!(outcomes.iter().all(|o| o.verdict.is_done()), "{outcomes:?}");
        ensure!(!broker.tree.changes()?.is_empty());
        logind.emit_signal(None::<&str>, PATH, INTERFACE, signal, &(true,))?;
        // Until the delay is let go of, the host stays awake.
        delay.read_to_end(&mut Vec::new())?;
        broker.tree.assert_as_found()?;
        logind.emit_signal(None::<&str>, PATH, INTERFACE, signal, &(false,))?;
        delay = delays.recv_timeout(PATIENCE).context("no delay was asked for after the host was back")?;
    }
    // Without a logind it goes on.
    drop(logind);
    drop(bus);
    server.renew()?;
    server.hang_up();
    broker.ended()?.assert_as_found()
}
