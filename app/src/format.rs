//! Numbers as people read them: three significant digits or more, thin spaces between thousands, the unit apart.

use protocol::units::{BytesPerSecond, Iops};

/// A number and its unit, kept apart because the unit is set smaller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Quantity {
    /// Digits, grouped.
    pub(crate) value: String,
    /// Unit: `MB/s`.
    pub(crate) unit: &'static str,
}

impl Quantity {
    /// What stands where nothing is known yet.
    pub(crate) fn unknown(unit: &'static str) -> Self {
        Self { value: "\u{2014}".into(), unit }
    }
    /// Number and unit in one text.
    pub(crate) fn text(&self) -> String {
        format!("{}\u{a0}{}", self.value, self.unit)
    }
}

/// At least three significant digits, no more than two decimals: `5.04`, `52.3`, `523`, `5 230`.
pub(crate) fn digits(v: f64) -> String {
    // The limits are where rounding would add a digit: 9.996 is written 10.0.
    match v.abs() {
        a if a < 9.995 => format!("{v:.2}"),
        a if a < 99.95 => format!("{v:.1}"),
        _ => grouped(v),
    }
}

/// A whole number with a thin space between thousands.
pub(crate) fn grouped(v: f64) -> String {
    let plain = format!("{:.0}", v.abs());
    let mut out = String::new();
    if v < 0.0 && plain != "0" {
        out.push('\u{2212}');
    }
    for (i, c) in plain.chars().enumerate() {
        if i > 0 && (plain.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    out
}

/// Throughput in MB/s, MB = 10^6 bytes.
pub(crate) fn throughput(v: BytesPerSecond) -> Quantity {
    Quantity { value: digits(v.mb()), unit: "MB/s" }
}

/// Accesses per second; whole from a hundred on.
pub(crate) fn iops(v: Iops) -> Quantity {
    Quantity { value: digits(v.0), unit: "IOPS" }
}

/// A latency given in ns, in the unit that keeps it readable.
pub(crate) fn latency(ns: f64) -> Quantity {
    let (value, unit) = match ns {
        n if n < 999_500.0 => (n / 1e3, "µs"),
        n if n < 999_500_000.0 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    Quantity { value: digits(value), unit }
}

/// A number of things, steps or ms as a whole number: rounded down, negative ones are none.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the conversion saturates")]
pub(crate) fn whole(v: f64) -> u32 {
    v as u32
}

/// A share of 1 as whole percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0}\u{a0}%", share * 100.0)
}

/// A relative change with its sign: `+3.2 %`.
pub(crate) fn change(ratio: f64) -> String {
    let p = (ratio - 1.0) * 100.0;
    let sign = if p < -0.05 { "\u{2212}" } else { "+" };
    let size = p.abs();
    if size < 99.95 { format!("{sign}{size:.1}\u{a0}%") } else { format!("{sign}{}\u{a0}%", grouped(size)) }
}

/// A time span as a clock: `0:07`, `12:30`, `1:02:03`.
pub(crate) fn clock(ms: f64) -> String {
    let s = whole((ms / 1000.0).ceil());
    let (h, m, s) = (s / 3600, s / 60 % 60, s % 60);
    if h > 0 { format!("{h}:{m:02}:{s:02}") } else { format!("{m}:{s:02}") }
}

/// A time span in words: `about 3 min`.
pub(crate) fn about(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{s:.1}\u{a0}s"),
        s if s < 90.0 => format!("{s:.0}\u{a0}s"),
        s if s < 5400.0 => format!("{:.0}\u{a0}min", s / 60.0),
        s => format!("{:.1}\u{a0}h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_keep_three_significant_places_without_jumping_at_the_limits() {
        for (v, text) in [
            (0.0, "0.00"),
            (5.037, "5.04"),
            (9.994, "9.99"),
            (9.996, "10.0"),
            (99.94, "99.9"),
            (99.96, "100"),
            (523.4, "523"),
            (999.6, "1\u{202f}000"),
            (1_234_567.0, "1\u{202f}234\u{202f}567"),
        ] {
            assert_eq!(digits(v), text, "{v}");
        }
        assert_eq!(grouped(-1234.0), "\u{2212}1\u{202f}234");
        assert_eq!(grouped(-0.2), "0");
    }

    #[test]
    fn latencies_change_unit_where_the_digits_would_overflow() {
        for (ns, text) in [
            (812.0, "0.81\u{a0}µs"),
            (81_250.0, "81.2\u{a0}µs"),
            (999_400.0, "999\u{a0}µs"),
            (999_600.0, "1.00\u{a0}ms"),
            (2.5e9, "2.50\u{a0}s"),
        ] {
            assert_eq!(latency(ns).text(), text, "{ns}");
        }
    }

    #[test]
    fn changes_carry_their_sign() {
        for (ratio, text) in
            [(1.032, "+3.2\u{a0}%"), (0.5, "\u{2212}50.0\u{a0}%"), (1.0, "+0.0\u{a0}%"), (4.0, "+300\u{a0}%")]
        {
            assert_eq!(change(ratio), text, "{ratio}");
        }
    }

    #[test]
    fn clocks_round_up_so_that_zero_means_done() {
        for (ms, text) in [(0.0, "0:00"), (1.0, "0:01"), (61_000.0, "1:01"), (3_723_000.0, "1:02:03"), (-5.0, "0:00")] {
            assert_eq!(clock(ms), text, "{ms}");
        }
    }
}
