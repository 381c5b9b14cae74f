//! What one screen shows: the server's configuration, and over it what the screen's address asks for.

use protocol::kiosk::{Dim, Kiosk, Panel};
use protocol::units::Seconds;
use serde::Serialize;

/// What one screen shows, in which order and how long.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Plan {
    /// What is shown, in this order; at least one.
    pub show: Vec<Panel>,
    /// How long each is shown, in ms.
    pub dwell_ms: f64,
    /// When the screen is darker: from and to, in minutes after midnight of the screen's own clock.
    pub dim: Option<(u16, u16)>,
    /// Whether the picture wanders by a few pixels, against burn-in.
    pub shift: bool,
    /// Whether an experiment that is on stays on the screen, rather than taking turns with the rest.
    pub stay: bool,
    /// What the address asks for that there is not, in words.
    pub notes: Vec<String>,
}

impl Plan {
    /// The plan of a screen whose address has these keys and values. What cannot be had is left out and noted.
    pub fn new(kiosk: &Kiosk, asked: &[(String, String)]) -> Self {
        let mut plan = Self {
            show: kiosk.show.clone(),
            dwell_ms: kiosk.dwell.as_f64() * 1e3,
            dim: kiosk.dim.map(of),
            shift: kiosk.shift,
            stay: true,
            notes: Vec::new(),
        };
        for (key, value) in asked {
            if let Err(note) = plan.ask(key, value.trim()) {
                plan.notes.push(note);
            }
        }
        plan
    }

    fn ask(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "show" => self.show(value),
            "dwell" => {
                let seconds: Seconds = value.parse().map_err(|e| format!("dwell: {e}"))?;
                self.dwell_ms = Kiosk::checked_dwell(seconds)?.as_f64() * 1e3;
            }
            "dim" => self.dim = if value == "off" { None } else { Some(of(value.parse()?)) },
            "shift" => self.shift = switch(key, value)?,
            "stay" => self.stay = switch(key, value)?,
            other => {
                let other = other.escape_debug();
                return Err(format!("a kiosk's address has no `{other}`; it has show, dwell, dim, shift, stay"));
            }
        }
        Ok(())
    }

    /// The panels of a list that there are. If there is none in it, everything stays as configured.
    fn show(&mut self, list: &str) {
        let mut found = Vec::new();
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name.parse::<Panel>() {
                Ok(panel) if found.contains(&panel) => {}
                Ok(panel) => found.push(panel),
                Err(note) => self.notes.push(note),
            }
        }
        if !found.is_empty() {
            self.show = found;
        }
    }
}

fn of(dim: Dim) -> (u16, u16) {
    (dim.from, dim.to)
}

fn switch(key: &str, value: &str) -> Result<bool, String> {
    match value {
        "1" | "true" | "on" | "" => Ok(true),
        "0" | "false" | "off" => Ok(false),
        other => Err(format!("{key} is {}; it must be 0 or 1", other.escape_debug())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(query: &[(&str, &str)]) -> Plan {
        let asked: Vec<_> = query.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Plan::new(&Kiosk::default(), &asked)
    }

    #[test]
    fn an_address_says_what_it_shows_and_the_rest_is_as_configured() {
        let asked = plan(&[("show", "verdict, run,run"), ("dwell", "45"), ("dim", "22:00-06:30"), ("shift", "0")]);
        assert_eq!(asked.show, [Panel::Verdict, Panel::Run]);
        assert!((asked.dwell_ms - 45e3).abs() < 1e-9 && !asked.shift && asked.stay && asked.notes.is_empty());
        assert_eq!(asked.dim, Some((22 * 60, 6 * 60 + 30)));
        let plain = plan(&[]);
        assert_eq!((plain.show.len(), plain.shift, plain.dim), (4, true, None));
        assert!((plain.dwell_ms - 20e3).abs() < 1e-9);
        let json = serde_json::to_value(&asked).unwrap();
        assert_eq!((&json["show"][0], &json["dim"][1]), (&"verdict".into(), &390.into()));
    }

    #[test]
    fn what_there_is_not_is_named_and_the_rest_is_shown() {
        let asked =
            plan(&[("show", "verdit,host"), ("dwell", "2"), ("dim", "noon"), ("stay", "maybe"), ("font", "big")]);
        assert_eq!(asked.show, [Panel::Host]);
        assert!((asked.dwell_ms - 20e3).abs() < 1e-9);
        let expected = ["`verdit`; did you mean `verdict`?", "5 to 3600", "noon", "stay is maybe", "no `font`"];
        assert_eq!(asked.notes.len(), expected.len());
        for (note, words) in asked.notes.iter().zip(expected) {
            assert!(note.contains(words), "{note}");
        }
        assert_eq!(plan(&[("show", "nothing")]).show, Panel::ALL);
    }
}
