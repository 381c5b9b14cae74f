//! Newtypes for units, written and read the way fio does: `4k` is 4096 bytes, `4s` is four seconds.

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Why a size, time or rate could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Nothing, or no digits where digits belong.
    #[error("`{0}` is not a number; write for example {1}")]
    NotANumber(String, &'static str),
    /// Digits followed by something that is not a unit of this kind.
    #[error("`{unit}` in `{text}` is not a unit here; write for example {example}")]
    UnknownUnit {
        /// The whole text.
        text: String,
        /// The part that was not understood.
        unit: String,
        /// A text that would do.
        example: &'static str,
    },
    /// The value does not fit 64 bits.
    #[error("`{0}` is too large")]
    TooLarge(String),
}

/// Splits `text` into number and unit and multiplies by what `scale` says of the unit.
fn parse(text: &str, example: &'static str, scale: impl Fn(&str) -> Option<f64>) -> Result<u64, UnitError> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let number: f64 = digits.parse().map_err(|_| UnitError::NotANumber(text.to_owned(), example))?;
    let unit = unit.trim().to_ascii_lowercase();
    let factor = scale(&unit).ok_or_else(|| UnitError::UnknownUnit { text: text.to_owned(), unit, example })?;
    // Whole numbers stay exact where f64 would round.
    if let (Ok(whole), true) = (digits.parse::<u64>(), factor.fract() == 0.0) {
        return whole.checked_mul(to_u64(factor)).ok_or_else(|| UnitError::TooLarge(text.to_owned()));
    }
    let value = (number * factor).round();
    if value >= 18_446_744_073_709_549_568.0 {
        return Err(UnitError::TooLarge(text.to_owned()));
    }
    Ok(to_u64(value))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "callers have checked the range")]
fn to_u64(v: f64) -> u64 {
    v as u64
}

/// Accepts a number (in the base unit) or a text with a unit.
struct NumberOrText<T>(fn(f64) -> Option<T>, &'static str);

impl<T: FromStr<Err = UnitError>> Visitor<'_> for NumberOrText<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.1)
    }
    fn visit_u64<E: de::Error>(self, v: u64) -> Result<T, E> {
        v.to_string().parse().map_err(E::custom)
    }
    fn visit_i64<E: de::Error>(self, v: i64) -> Result<T, E> {
        u64::try_from(v).map_err(|_| E::invalid_value(de::Unexpected::Signed(v), &self)).and_then(|v| self.visit_u64(v))
    }
    fn visit_f64<E: de::Error>(self, v: f64) -> Result<T, E> {
        let make = self.0;
        if v.is_finite()
            && v >= 0.0
            && let Some(t) = make(v)
        {
            return Ok(t);
        }
        Err(E::invalid_value(de::Unexpected::Float(v), &self))
    }
    fn visit_str<E: de::Error>(self, v: &str) -> Result<T, E> {
        v.parse().map_err(E::custom)
    }
}

/// A size or position in bytes. `k`, `m`, `g`, `t` (also `KiB`, `kb`, ...) are powers of 1024, as in fio.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// The shortest exact fio spelling: `4k`, `1m`, `1000`.
    pub fn fio(self) -> String {
        let mut unit = 0;
        let mut v = self.0;
        while v != 0 && v.is_multiple_of(1024) && unit < 4 {
            v /= 1024;
            unit += 1;
        }
        format!("{v}{}", ["", "k", "m", "g", "t"][unit])
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(s: &str) -> Result<Self, UnitError> {
        let scale = |unit: &str| {
            let power = match unit {
                "" | "b" => 0,
                "k" | "kb" | "kib" => 1,
                "m" | "mb" | "mib" => 2,
                "g" | "gb" | "gib" => 3,
                "t" | "tb" | "tib" => 4,
                _ => return None,
            };
            Some(1024f64.powi(power))
        };
        parse(s, "4k, 1m or 256g", scale).map(Self)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let whole = |v: f64| (v.fract() == 0.0 && v < 1e18).then_some(Self(to_u64(v)));
        d.deserialize_any(NumberOrText(whole, "a size such as \"4k\" or a whole number of bytes"))
    }
}

impl fmt::Display for Bytes {
    /// `4 KiB`, `1.5 GiB`: binary units with at most one decimal.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut v = self.0 as f64;
        let mut unit = 0;
        while v >= 1024.0 && unit < 4 {
            v /= 1024.0;
            unit += 1;
        }
        let text = format!("{v:.1}");
        write!(f, "{} {}", text.trim_end_matches(".0"), ["B", "KiB", "MiB", "GiB", "TiB"][unit])
    }
}

/// A time span with microsecond resolution. A bare number means seconds; `us`, `ms`, `s`, `m`, `h` are understood.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = f64))]
pub struct Seconds(pub Micros);

/// A time span in microseconds. A bare number means microseconds, as for fio's `thinktime`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Micros(pub u64);

/// Microseconds per unit, for a text without a unit taken as `bare`.
fn time_scale(unit: &str, bare: f64) -> Option<f64> {
    Some(match unit {
        "" => bare,
        "us" | "usec" => 1.0,
        "ms" | "msec" => 1e3,
        "s" | "sec" => 1e6,
        "m" | "min" => 60e6,
        "h" => 3600e6,
        _ => return None,
    })
}

impl Seconds {
    /// Whole seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(Micros(s * 1_000_000))
    }
    /// For the standard library.
    pub const fn duration(self) -> Duration {
        Duration::from_micros(self.0.0)
    }
    /// As a floating-point number of seconds.
    pub fn as_f64(self) -> f64 {
        self.0.0 as f64 / 1e6
    }
}

impl FromStr for Seconds {
    type Err = UnitError;
    fn from_str(s: &str) -> Result<Self, UnitError> {
        parse(s, "5s, 500ms or 2m", |u| time_scale(u, 1e6)).map(|us| Self(Micros(us)))
    }
}

impl FromStr for Micros {
    type Err = UnitError;
    fn from_str(s: &str) -> Result<Self, UnitError> {
        parse(s, "100us or 2ms", |u| time_scale(u, 1.0)).map(Self)
    }
}

impl Serialize for Seconds {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64(self.as_f64())
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let seconds = |v: f64| (v < 1e12).then_some(Self(Micros(to_u64((v * 1e6).round()))));
        d.deserialize_any(NumberOrText(seconds, "a time such as \"4s\" or a number of seconds"))
    }
}

impl<'de> Deserialize<'de> for Micros {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let micros = |v: f64| (v < 1e18).then_some(Self(to_u64(v.round())));
        d.deserialize_any(NumberOrText(micros, "a time such as \"2ms\" or a number of microseconds"))
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.0.0 {
            us if us.is_multiple_of(1_000_000) => write!(f, "{}s", us / 1_000_000),
            us if us.is_multiple_of(1_000) => write!(f, "{}ms", us / 1_000),
            us => write!(f, "{us}us"),
        }
    }
}

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        Seconds(*self).fmt(f)
    }
}

/// I/O operations per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Iops(pub f64);

impl FromStr for Iops {
    type Err = UnitError;
    fn from_str(s: &str) -> Result<Self, UnitError> {
        let scale = |unit: &str| match unit {
            "" => Some(1.0),
            "k" => Some(1000.0),
            "m" => Some(1e6),
            _ => None,
        };
        parse(s, "500 or 20k", scale).map(|v| Self(v as f64))
    }
}

/// A data rate in bytes per second. Shown in MB/s, where MB is 10^6 bytes as on every drive's box.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct BytesPerSecond(pub f64);

impl BytesPerSecond {
    /// In megabytes (10^6 bytes) per second.
    pub fn mb(self) -> f64 {
        self.0 / 1e6
    }
}

/// A latency in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// In microseconds.
    pub fn micros(self) -> f64 {
        self.0 as f64 / 1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_read_as_fio_reads_them() {
        for (text, bytes) in
            [("512", 512), ("4k", 4096), ("4K", 4096), ("1m", 1 << 20), ("1.5g", 3 << 29), ("2 MiB", 2 << 20)]
        {
            assert_eq!(text.parse::<Bytes>().unwrap(), Bytes(bytes), "{text}");
        }
        for text in ["", "k", "4x", "-1", "99999999999999g", "18446744073709551616"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn bare_numbers_take_the_unit_of_their_field() {
        assert_eq!("4".parse::<Seconds>().unwrap(), Seconds::from_secs(4));
        assert_eq!("500ms".parse::<Seconds>().unwrap(), Seconds(Micros(500_000)));
        assert_eq!("250".parse::<Micros>().unwrap(), Micros(250));
        assert_eq!(serde_json::from_str::<Seconds>("0.25").unwrap(), Seconds(Micros(250_000)));
        assert_eq!(serde_json::from_str::<Bytes>("4096").unwrap(), serde_json::from_str::<Bytes>("\"4k\"").unwrap());
        assert!(serde_json::from_str::<Bytes>("-4").is_err());
        assert!(serde_json::from_str::<Seconds>("\"soon\"").unwrap_err().to_string().contains("soon"));
    }

    proptest! {
        #[test]
        fn fio_spelling_reads_back_exactly(v in any::<u64>(), shift in 0u32..40) {
            let b = Bytes(v >> 24 << (shift % 24));
            prop_assert_eq!(b.fio().parse::<Bytes>().unwrap(), b);
        }
        #[test]
        fn no_text_makes_the_parser_panic(s in ".{0,12}") {
            let _ = s.parse::<Bytes>();
            let _ = s.parse::<Seconds>();
            let _ = s.parse::<Iops>();
        }
    }
}
