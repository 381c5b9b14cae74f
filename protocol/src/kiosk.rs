//! What a kiosk screen shows, in which order and how long.

use crate::experiment::keys::{Keyed, did_you_mean, strict};
use crate::units::Seconds;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// `[kiosk]` of the configuration file, and the answer of `GET /api/v1/kiosk`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, remote = "Self")]
pub struct Kiosk {
    /// What is shown, in this order; at least one.
    #[serde(deserialize_with = "shown")]
    pub show: Vec<Panel>,
    /// How long each is shown, 5 s to an hour.
    #[serde(deserialize_with = "dwelt")]
    pub dwell: Seconds,
    /// When the screen is darker, in the local time of the screen.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, example = "22:00-06:00"))]
    pub dim: Option<Dim>,
    /// Whether the picture wanders by a few pixels, against burn-in.
    pub shift: bool,
}

impl Kiosk {
    /// Shortest and longest time for one panel.
    pub const DWELL: (Seconds, Seconds) = (Seconds::from_secs(5), Seconds::from_secs(3600));

    /// A dwell time that is within [`Self::DWELL`], or why it is not one.
    pub fn checked_dwell(dwell: Seconds) -> Result<Seconds, String> {
        let (least, most) = Self::DWELL;
        if (least..=most).contains(&dwell) {
            Ok(dwell)
        } else {
            Err(format!("dwell is {dwell}; it must be 5 to 3600 seconds"))
        }
    }
}

impl Default for Kiosk {
    /// Everything, 20 s each.
    fn default() -> Self {
        Self { show: Panel::ALL.to_vec(), dwell: Seconds::from_secs(20), dim: None, shift: true }
    }
}

impl Keyed for Kiosk {
    const WHAT: &'static str = "the kiosk's keys: show, dwell, dim, shift";
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

impl<'de> Deserialize<'de> for Kiosk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        strict(deserializer)
    }
}

impl Serialize for Kiosk {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

fn shown<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Panel>, D::Error> {
    let show = Vec::<Panel>::deserialize(deserializer)?;
    if show.is_empty() { Err(D::Error::custom(format_args!("show is empty; {NAMES}"))) } else { Ok(show) }
}

fn dwelt<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Seconds, D::Error> {
    Kiosk::checked_dwell(Seconds::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// What a kiosk can show, one at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Panel {
    /// The run or experiment that is on, or the last one.
    Run,
    /// The last verdicts.
    Verdict,
    /// The ladder.
    Ladder,
    /// The state of the host.
    Host,
}

/// Said of names that are none.
const NAMES: &str = "name some of run, verdict, ladder, host";

impl Panel {
    /// All, in the order they are shown by default.
    pub const ALL: [Self; 4] = [Self::Run, Self::Verdict, Self::Ladder, Self::Host];

    /// The name in the configuration file and in addresses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Verdict => "verdict",
            Self::Ladder => "ladder",
            Self::Host => "host",
        }
    }
}

impl FromStr for Panel {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|panel| panel.name() == name).ok_or_else(|| {
            let hint = did_you_mean(name, Self::ALL.map(Self::name));
            format!("a kiosk has no `{}`{hint} ({NAMES})", name.escape_debug())
        })
    }
}

impl<'de> Deserialize<'de> for Panel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A span of the day, which may go over midnight: `22:00-06:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dim {
    /// Its beginning in minutes after midnight, below 1440.
    pub from: u16,
    /// Its end in minutes after midnight, below 1440; not part of it.
    pub to: u16,
}

impl Dim {
    /// Whether a minute of the day lies in it.
    pub const fn contains(self, minute: u16) -> bool {
        if self.from <= self.to {
            self.from <= minute && minute < self.to
        } else {
            self.from <= minute || minute < self.to
        }
    }
}

impl FromStr for Dim {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let span = || {
            let (from, to) = text.split_once('-')?;
            Some(Self { from: minute(from)?, to: minute(to)? }).filter(|span| span.from != span.to)
        };
        span().ok_or_else(|| format!("{} is not a span of the day, as 22:00-06:00 is", text.escape_debug()))
    }
}

/// `06:30` in minutes after midnight.
fn minute(text: &str) -> Option<u16> {
    let (hour, minute) = text.trim().split_once(':')?;
    let number = |digits: &str, below: u16| {
        let plain = (1..=2).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse().ok().filter(|&n: &u16| plain && n < below)
    };
    Some(number(hour, 24)? * 60 + number(minute, 60)?)
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { from, to } = self;
        write!(f, "{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60)
    }
}

impl Serialize for Dim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Dim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_as_by_default_and_all_of_it_goes_over_json() {
        let some: Kiosk = serde_json::from_str(r#"{ "show": ["ladder", "run"], "dim": "22:00-6:05" }"#).unwrap();
        let right = Kiosk {
            show: vec![Panel::Ladder, Panel::Run],
            dim: Some(Dim { from: 22 * 60, to: 6 * 60 + 5 }),
            ..Kiosk::default()
        };
        assert_eq!(some, right);
        let json = serde_json::to_string(&some).unwrap();
        assert_eq!(json, r#"{"show":["ladder","run"],"dwell":20.0,"dim":"22:00-06:05","shift":true}"#);
        assert_eq!(serde_json::from_str::<Kiosk>(&json).unwrap(), some);
    }

    #[test]
    fn what_cannot_be_is_named() {
        for (json, why) in [
            (r#"{ "dwel": 20 }"#, "unknown key `dwel`; did you mean `dwell`?"),
            (
                r#"{ "show": ["laddr"] }"#,
                "no `laddr`; did you mean `ladder`? (name some of run, verdict, ladder, host)",
            ),
            (r#"{ "show": [] }"#, "show is empty"),
            (r#"{ "dwell": 4 }"#, "dwell is 4s; it must be 5 to 3600 seconds"),
            (r#"{ "dwell": "2h" }"#, "dwell is 7200s"),
            (r#"{ "shift": "yes" }"#, "boolean"),
        ] {
            let error = serde_json::from_str::<Kiosk>(json).unwrap_err().to_string();
            assert!(error.contains(why), "{json}: {error}");
        }
        for span in ["", "22:00", "22-6", "24:00-06:00", "22:60-06:00", "+2:00-06:00", "6:00-6:00", "22:00-06:00-07:00"]
        {
            assert!(span.parse::<Dim>().unwrap_err().contains("span of the day"), "{span}");
        }
    }

    #[test]
    fn a_span_may_go_over_midnight() {
        let night: Dim = "22:00-06:00".parse().unwrap();
        let inside = [0, 5 * 60 + 59, 22 * 60, 23 * 60].map(|m| night.contains(m));
        let outside = [6 * 60, 12 * 60, 21 * 60 + 59].map(|m| night.contains(m));
        assert_eq!((inside, outside), ([true; 4], [false; 3]));
        let noon: Dim = "12:00-13:00".parse().unwrap();
        assert_eq!([11 * 60 + 59, 12 * 60, 13 * 60].map(|m| noon.contains(m)), [false, true, false]);
    }
}
