//! What a kiosk screen shows after what, and when it is darker.

use serde_json::Value;

/// The plan of a screen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rota {
    /// Names of the panels in their order.
    pub(crate) show: Vec<String>,
    /// How long each is shown, in ms.
    pub(crate) dwell_ms: f64,
    /// From and to, in minutes after midnight.
    pub(crate) dim: Option<(f64, f64)>,
    /// Whether the picture wanders.
    pub(crate) shift: bool,
    /// Whether an experiment that is on stays.
    pub(crate) stay: bool,
    /// What the address asks for that there is not.
    pub(crate) notes: String,
}

impl Default for Rota {
    /// Nothing, until the server has said what.
    fn default() -> Self {
        Self { show: Vec::new(), dwell_ms: 20e3, dim: None, shift: true, stay: true, notes: String::new() }
    }
}

impl Rota {
    /// As the server tells it.
    pub(crate) fn of(answer: &Value) -> Self {
        let flag = |name: &str| answer.get(name).and_then(Value::as_bool).unwrap_or_default();
        let texts = |name: &str| -> Vec<String> {
            let all = answer.get(name).and_then(Value::as_array).into_iter().flatten();
            all.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let minute = |at: usize| answer.get("dim")?.get(at)?.as_f64();
        Self {
            show: texts("show"),
            dwell_ms: answer.get("dwell_ms").and_then(Value::as_f64).unwrap_or(20e3),
            dim: minute(0).zip(minute(1)),
            shift: flag("shift"),
            stay: flag("stay"),
            notes: texts("notes").join(" \u{b7} "),
        }
    }

    /// What is tried after this panel, in turn; it comes last itself.
    pub(crate) fn after(&self, shown: &str) -> Vec<String> {
        let from = self.show.iter().position(|name| name == shown).map_or(0, |at| at + 1);
        self.show.iter().cycle().skip(from).take(self.show.len()).cloned().collect()
    }

    /// Whether the screen is darker at this minute of the day.
    pub(crate) fn dims(&self, minute: f64) -> bool {
        self.dim.is_some_and(
            |(from, to)| {
                if from <= to { (from..to).contains(&minute) } else { minute >= from || minute < to }
            },
        )
    }
}

/// Where the picture is in a minute, in px: it goes round in a circle once in half an hour, two px at a time.
pub(crate) fn wander(minute: f64) -> (f64, f64) {
    let turn = (minute % 30.0) / 30.0 * std::f64::consts::TAU;
    ((9.0 * turn.cos()).round(), (9.0 * turn.sin()).round())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn panels_take_turns_in_the_order_that_the_server_tells() {
        let rota = Rota::of(&json!({ "show": ["run", "verdict", "host"], "dwell_ms": 5000.0, "dim": [1320, 360],
            "shift": true, "stay": false, "notes": ["a", "b"] }));
        assert_eq!(rota.after("verdict"), ["host", "run", "verdict"]);
        assert_eq!((rota.after(""), rota.after("gone")), (rota.show.clone(), rota.show.clone()));
        assert_eq!((rota.dwell_ms, rota.stay, rota.notes.as_str()), (5000.0, false, "a \u{b7} b"));
        assert_eq!([0.0, 359.0, 360.0, 1319.0, 1320.0].map(|m| rota.dims(m)), [true, true, false, false, true]);
        assert!(!Rota::of(&json!({ "dim": null })).dims(0.0) && Rota::default().after("run").is_empty());
    }

    #[test]
    fn the_picture_wanders_too_slowly_to_be_seen() {
        for minute in 0..120 {
            let ((x, y), (u, v)) = (wander(f64::from(minute)), wander(f64::from(minute + 1)));
            assert!((x - u).hypot(y - v) < 4.0 && x.abs() <= 9.0 && y.abs() <= 9.0);
        }
    }
}
