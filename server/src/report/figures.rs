//! Numbers as people read them, with unit: three significant digits or more, thin spaces between thousands.

use protocol::experiment::{Effect, Metric};

/// What stands where nothing is known.
pub(super) const NONE: &str = "\u{2013}";

/// At least three significant digits, no more than two decimals: `5.04`, `52.3`, `523`, `5 230`.
pub(super) fn digits(v: f64) -> String {
    match v.abs() {
        _ if !v.is_finite() => NONE.into(),
        // The limits are where rounding would add a digit: 9.996 is written 10.0.
        a if a < 9.995 => signed(v, format!("{a:.2}")),
        a if a < 99.95 => signed(v, format!("{a:.1}")),
        a if a < 1e15 => signed(v, grouped(a)),
        a => signed(v, format!("{a:.2e}")),
    }
}

fn signed(v: f64, size: String) -> String {
    if v < 0.0 && size.contains(|c: char| c.is_ascii_digit() && c != '0') { format!("\u{2212}{size}") } else { size }
}

fn grouped(v: f64) -> String {
    let plain = format!("{v:.0}");
    let mut out = String::new();
    for (i, c) in plain.chars().enumerate() {
        if i > 0 && (plain.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    out
}

/// A value of a metric in the unit that keeps it readable: `523 MB/s`, `84.2 µs`.
pub(super) fn value(metric: Metric, v: f64) -> String {
    match metric {
        Metric::Bw => format!("{} MB/s", digits(v / 1e6)),
        Metric::Iops => format!("{} IOPS", digits(v)),
        Metric::LatencyMean | Metric::LatencyP50 | Metric::LatencyP99 | Metric::LatencyP999 | Metric::CpuPerIo => {
            time(v)
        }
        Metric::EnergyPerIo => energy(v),
        Metric::IdlePower => format!("{} W", digits(v)),
    }
}

/// Energy given in J.
fn energy(joules: f64) -> String {
    match joules.abs() {
        j if j < 0.001 => format!("{} µJ", digits(joules * 1e6)),
        j if j < 1.0 => format!("{} mJ", digits(joules * 1e3)),
        _ => format!("{} J", digits(joules)),
    }
}

/// A time given in ns.
pub(super) fn time(ns: f64) -> String {
    match ns.abs() {
        n if n < 999_500.0 => format!("{} µs", digits(ns / 1e3)),
        n if n < 999_500_000.0 => format!("{} ms", digits(ns / 1e6)),
        _ => format!("{} s", digits(ns / 1e9)),
    }
}

/// A time given in ns, as short as it can be: `2 ms`.
pub(super) fn tick(ns: f64) -> String {
    let text = time(ns);
    let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number} {unit}")
}

/// A change in percent with its sign: `−3.2 %`.
pub(super) fn percent(p: f64) -> String {
    if !p.is_finite() {
        return NONE.into();
    }
    let sign = if p < 0.0 { "\u{2212}" } else { "+" };
    let decimals = usize::from(p.abs() < 99.95);
    format!("{sign}{:.decimals$} %", p.abs())
}

/// The interval of an effect: `−4.1 to −2.0 %`.
pub(super) fn interval(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{} to {}", percent(low).trim_end_matches(" %"), percent(high)),
        _ => NONE.into(),
    }
}

/// What a metric is called, with the statistic.
pub(super) fn metric(metric: Metric) -> &'static str {
    match metric {
        Metric::Bw => "throughput",
        Metric::Iops => "accesses per second",
        Metric::LatencyMean => "mean latency",
        Metric::LatencyP50 => "median latency",
        Metric::LatencyP99 => "99th percentile of latency",
        Metric::LatencyP999 => "99.9th percentile of latency",
        Metric::CpuPerIo => "CPU time per access",
        Metric::EnergyPerIo => "energy per access",
        Metric::IdlePower => "power at idle",
    }
}

/// What is shown of text that may be long, and where it ends.
pub(super) fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(std::iter::once('\u{2026}')).collect()
}

/// Power that an effect's saving value saves at idle: `6.1 W`.
pub(super) fn saving(e: &Effect) -> String {
    e.saves_w.map_or(NONE.into(), |w| format!("{} W", digits(w)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_unit_and_enough_digits() {
        assert_eq!(value(Metric::Bw, 523.4e6), "523 MB/s");
        assert_eq!(value(Metric::Iops, 12_345.6), "12\u{202f}346 IOPS");
        assert_eq!(value(Metric::LatencyMean, 84_210.0), "84.2 µs");
        assert_eq!(value(Metric::EnergyPerIo, 0.000_012), "12.0 µJ");
        assert_eq!((time(1.5e6), tick(2e9), tick(1e5)), ("1.50 ms".into(), "2 s".into(), "100 µs".into()));
        assert_eq!(
            (percent(-3.04), percent(0.0), percent(f64::NAN)),
            ("\u{2212}3.0 %".into(), "+0.0 %".into(), NONE.into())
        );
        assert_eq!(interval(Some(-4.1), Some(2.0)), "\u{2212}4.1 to +2.0 %");
        assert_eq!(
            (digits(-0.001), digits(f64::INFINITY), digits(-12.0)),
            ("0.00".into(), NONE.into(), "\u{2212}12.0".into())
        );
        assert_eq!((short("abcdef", 4), short("abcd", 4)), ("abc\u{2026}".into(), "abcd".into()));
    }
}
