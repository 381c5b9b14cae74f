//! The host and the drive as they are now.

use super::heading;
use crate::report::figures::digits;
use crate::report::markup::Markup;
use protocol::host::{DriveFacts, HostFacts};
use protocol::telemetry::Telemetry;
use serde::{Deserialize, Serialize};

/// What is shown of a host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostScreen {
    /// The machine.
    pub host: HostFacts,
    /// The drive that was measured last.
    pub drive: Option<DriveFacts>,
    /// What the host did over the last interval, while somebody watches that.
    pub load: Option<Telemetry>,
    /// Frequency governor.
    pub governor: Option<String>,
    /// Names of the settings that are changed by Brakecheck now, with their values.
    pub changed: Vec<String>,
    /// Time since the host started in s.
    pub uptime: Option<f64>,
}

/// The host and the drive. What is not known is left out.
pub fn host(screen: &HostScreen) -> String {
    let HostScreen { host, drive, load, governor, changed, uptime } = screen;
    let drive = drive.clone().unwrap_or_default();
    let mut m = Markup::default();
    let about = [host.machine.as_deref(), host.os.as_deref(), host.kernel.as_deref()];
    heading(&mut m, &about, host.hostname.as_deref().unwrap_or("This host"));
    let link = drive.link.as_ref().map(|l| match &l.max {
        Some(max) if *max != l.current => format!("{} of {max}", l.current),
        _ => l.current.clone(),
    });
    let load = load.as_ref();
    let hottest = |of: &str| {
        let all = load?.temperatures.iter().filter(|t| t.name.starts_with(of) && t.celsius.is_finite());
        all.map(|t| t.celsius).reduce(f64::max).map(|c| format!("{c:.0} \u{b0}C"))
    };
    let of_drive = drive.temperature_c.map(|c| format!("{c:.0} \u{b0}C"));
    let settings = match changed.len() {
        0 => "as found".to_owned(),
        n => format!("{n} changed: {}", shown(changed)),
    };
    let facts = [
        ("Drive", drive.model.clone().or_else(|| Some(drive.name.clone()).filter(|n| !n.is_empty()))),
        ("Link", link),
        ("Drive temperature", of_drive),
        ("CPU", host.cpu_model.clone()),
        ("CPU use", load.and_then(use_of_cpus)),
        ("CPU temperature", hottest("coretemp Package").or_else(|| hottest("k10temp")).or_else(|| hottest("cpu"))),
        ("Governor", governor.clone()),
        ("Power", load.and_then(watts)),
        ("Settings", Some(settings)),
        ("Up for", uptime.map(lasted)),
    ];
    m.classed("dl", "kiosk-facts", |m| {
        for (name, fact) in facts.into_iter().filter_map(|(name, fact)| Some((name, fact?))) {
            m.element("div", &[], |m| {
                m.leaf("dt", name);
                m.leaf("dd", fact);
            });
        }
    });
    m.into_string()
}

/// The first few of a list.
fn shown(names: &[String]) -> String {
    let first = names.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > 3 { format!("{first} \u{2026}") } else { first }
}

/// `7 % of 16 at 3.42 GHz`.
fn use_of_cpus(load: &Telemetry) -> Option<String> {
    if load.cpus.is_empty() {
        return None;
    }
    let count = load.cpus.len() as f64;
    let busy = 100.0 * load.cpus.iter().map(|c| c.busy).sum::<f64>() / count;
    let fastest = load.cpus.iter().filter_map(|c| c.mhz).reduce(f64::max);
    let speed = fastest.map(|mhz| format!(", up to {} GHz", digits(mhz / 1e3))).unwrap_or_default();
    Some(format!("{busy:.0} % of {count:.0}{speed}"))
}

/// What the meters of whole packages say together.
fn watts(load: &Telemetry) -> Option<String> {
    let packages = load.energy.iter().filter(|e| e.name.starts_with("package")).filter_map(|e| e.watts);
    packages.reduce(|a, b| a + b).map(|w| format!("{} W", digits(w)))
}

/// `3 d 4 h`, `4 h 5 min`, `5 min`.
fn lasted(seconds: f64) -> String {
    let minutes = (seconds / 60.0).floor();
    let (days, hours, minutes) = ((minutes / 1440.0).floor(), (minutes / 60.0).floor() % 24.0, minutes % 60.0);
    match (days > 0.0, hours > 0.0) {
        (true, _) => format!("{days} d {hours} h"),
        (false, true) => format!("{hours} h {minutes} min"),
        (false, false) => format!("{minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::telemetry::{CpuSample, EnergySample};

    #[test]
    fn what_is_known_is_said_and_nothing_else() {
        let cpu = |busy, mhz| CpuSample { busy, mhz: Some(mhz), ..CpuSample::default() };
        let meter = |name: &str, watts| EnergySample { name: name.into(), watts };
        let screen = HostScreen {
            host: HostFacts { hostname: Some("<bench>".into()), ..HostFacts::default() },
            load: Some(Telemetry {
                cpus: vec![cpu(0.5, 3420.0), cpu(0.0, 800.0)],
                energy: vec![meter("package-0", Some(5.25)), meter("dram", Some(1.0))],
                ..Telemetry::default()
            }),
            changed: ["a", "b", "c", "d"].map(Into::into).to_vec(),
            uptime: Some(3.0 * 86_400.0 + 4.5 * 3600.0),
            ..HostScreen::default()
        };
        let html = host(&screen);
        for words in ["&lt;bench&gt;", "25 % of 2, up to 3.42 GHz", "5.25 W", "4 changed: a, b, c \u{2026}", "3 d 4 h"]
        {
            assert!(html.contains(words), "{words}: {html}");
        }
        assert!(!html.contains("Link") && !html.contains("temperature") && !html.contains("Governor"), "{html}");
        assert_eq!((lasted(59.0), lasted(7500.0)), ("0 min".into(), "2 h 5 min".into()));
    }
}
