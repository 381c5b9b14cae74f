//! The PCI Express path from a device to the root.

use crate::root::Dir;
use protocol::units::BytesPerSecond;
use std::fmt;

/// Rate per lane and number of lanes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Width {
    /// GT/s per lane.
    pub(super) rate: f64,
    /// Lanes.
    pub(super) lanes: u32,
}

impl Width {
    /// Bytes per second after line coding: `rate x coding x lanes / 8`, where coding is 8/10 up to 5 GT/s (8b/10b),
    /// 128/130 up to 32 GT/s (128b/130b) and 242/256 from 64 GT/s on (FLIT mode without its CRC and FEC).
    /// Packet headers take a further 5 to 15 %, depending on the maximum payload size.
    pub(super) fn ceiling(self) -> BytesPerSecond {
        let coding = match self.rate {
            r if r <= 5.0 => 8.0 / 10.0,
            r if r <= 32.0 => 128.0 / 130.0,
            _ => 242.0 / 256.0,
        };
        BytesPerSecond(self.rate * 1e9 * coding * f64::from(self.lanes) / 8.0)
    }

    fn least(self, other: Self) -> Self {
        Self { rate: self.rate.min(other.rate), lanes: self.lanes.min(other.lanes) }
    }
}

impl fmt::Display for Width {
    /// `PCIe 3.0 x4`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let generations = [(2.5, "1.0"), (5.0, "2.0"), (8.0, "3.0"), (16.0, "4.0"), (32.0, "5.0"), (64.0, "6.0")];
        match generations.iter().find(|(rate, _)| (rate - self.rate).abs() < 0.1) {
            Some((_, generation)) => write!(f, "PCIe {generation} x{}", self.lanes),
            None => write!(f, "PCIe {} GT/s x{}", self.rate, self.lanes),
        }
    }
}

/// One end of a link.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct End {
    /// Address of the function: `0000:01:00.0`.
    pub(super) address: String,
    pub(super) current: Width,
    pub(super) max: Option<Width>,
}

/// Ends of links from the device up, the device's own first. Both ends of each link are listed, except where the
/// root complex has none. Functions without a link (integrated controllers) are left out.
#[derive(Debug, Default)]
pub(super) struct Path(Vec<End>);

impl Path {
    pub(super) fn above(dir: &Dir<'_>) -> Self {
        Self(dir.ancestors().filter(|d| is_address(d.name())).filter_map(|d| end(&d)).collect())
    }

    /// Every end, with the most that it and the other end of its link can do together.
    pub(super) fn ends(&self) -> impl Iterator<Item = (&End, Option<Width>)> {
        self.0.chunks(2).flat_map(|link| {
            let maxima = link.iter().map(|e| e.max).collect::<Option<Vec<_>>>();
            let possible = maxima.and_then(|m| m.into_iter().reduce(Width::least));
            link.iter().map(move |end| (end, possible))
        })
    }

    /// The device's own end.
    pub(super) fn own(&self) -> Option<&End> {
        self.0.first()
    }

    /// Most that the device and the port it is plugged into can do together.
    pub(super) fn possible(&self) -> Option<Width> {
        let maxima = self.0.iter().take(2).map(|e| e.max).collect::<Option<Vec<_>>>()?;
        maxima.into_iter().reduce(Width::least)
    }

    /// The slowest link as it runs now.
    pub(super) fn narrowest(&self) -> Option<&End> {
        self.0.iter().min_by(|a, b| a.current.ceiling().0.total_cmp(&b.current.ceiling().0))
    }

    /// Where the path gives less than the device's own link could, in words.
    pub(super) fn bottleneck(&self) -> Option<String> {
        let (own, narrowest) = (self.own()?, self.narrowest()?);
        let below = |a: Width, b: Width| a.ceiling().0 < b.ceiling().0 * 0.999;
        if below(narrowest.current, own.current) {
            return Some(format!("port {} runs at {}", narrowest.address, narrowest.current));
        }
        let (max, possible) = (own.max?, self.possible()?);
        if below(own.current, possible) {
            return Some(format!("the link runs at {}, both ends can do {possible}", own.current));
        }
        let port = self.0.get(1)?;
        below(possible, max).then(|| format!("port {} does at most {possible}, the drive {max}", port.address))
    }
}

fn end(dir: &Dir<'_>) -> Option<End> {
    let width = |which: &str| {
        let rate = dir.read(&format!("{which}_link_speed"))?.split_whitespace().next()?.parse().ok()?;
        let lanes = dir.parse(&format!("{which}_link_width"))?;
        // 0 and 255 are what functions without a link say.
        (1..=32).contains(&lanes).then_some(Width { rate, lanes })
    };
    Some(End { address: dir.name().to_owned(), current: width("current")?, max: width("max") })
}

/// `dddd:bb:dd.f`; domains may be longer than four digits.
pub(crate) fn is_address(name: &str) -> bool {
    let hex = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_hexdigit());
    match name.split(':').collect::<Vec<_>>().as_slice() {
        [domain, bus, rest] => {
            let function = rest.split_once('.');
            hex(domain) && hex(bus) && function.is_some_and(|(device, function)| hex(device) && hex(function))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ceilings_follow_the_line_coding() {
        let mb = |rate, lanes| format!("{:.0}", Width { rate, lanes }.ceiling().mb());
        let all = [(2.5, 1), (5.0, 1), (8.0, 4), (16.0, 4), (32.0, 4), (64.0, 4)].map(|(rate, lanes)| mb(rate, lanes));
        assert_eq!(all, ["250", "500", "3938", "7877", "15754", "30250"]);
        assert_eq!(Width { rate: 8.0, lanes: 4 }.to_string(), "PCIe 3.0 x4");
    }

    #[test]
    fn addresses_are_told_from_other_names() {
        assert!(is_address("0000:01:00.0") && is_address("10000:e1:00.0"));
        assert!(!is_address("pci0000:00") && !is_address("1:0:0:0") && !is_address("0:0:0"));
    }
}
