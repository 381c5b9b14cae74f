//! What is there, and whose doing it is.

use super::Keeper;
use crate::control::{Control, Hints, controls};
use crate::host;
use crate::journal::Record;
use protocol::knob::{Knob, Lifetime, Origin};
use protocol::power::{Drift, PowerState};
use std::collections::{BTreeMap, BTreeSet};

impl Keeper {
    /// Every knob of this host as it is now.
    pub fn list(&self, hints: &Hints) -> PowerState {
        self.list_among(&controls(self.root(), hints))
    }

    /// As [`Keeper::list`], of these controls.
    pub fn list_among(&self, controls: &[Control]) -> PowerState {
        let mut by_id: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
        for record in self.records.values().filter(|r| !r.layers.is_empty()) {
            by_id.entry(record.id()).or_default().push(record);
        }
        let knob = |control: &Control| {
            let mut knob = control.knob();
            if let Some(records) = by_id.get(control.id.as_str()) {
                self.tell(&mut knob, records);
            }
            knob
        };
        PowerState {
            knobs: controls.iter().map(knob).collect(),
            changed: self.changed(),
            confirm_ms: self.confirm_ms(),
            notes: self.journal.damage().iter().map(|d| d.note.clone()).collect(),
            daemons: host::conflicts(self.root()),
            ..PowerState::default()
        }
    }

    fn tell(&self, knob: &mut Knob, records: &[&Record]) {
        let foreign = records.iter().any(|r| r.foreign || self.drifted(r).is_some());
        knob.origin = if foreign { Origin::Foreign } else { Origin::Ours };
        if let Some(layer) = records.first().and_then(|r| r.top()) {
            knob.original.clone_from(&layer.was);
            knob.lifetime = Some(layer.lifetime);
        }
    }

    /// Number of knobs that are ours now.
    pub fn changed(&self) -> u32 {
        let ids: BTreeSet<&str> = self.ours().map(Record::id).collect();
        u32::try_from(ids.len()).unwrap_or(u32::MAX)
    }

    /// Time until unconfirmed settings fall back, in ms.
    fn confirm_ms(&self) -> Option<f64> {
        let unconfirmed = self.ours().filter_map(Record::top).filter(|l| l.lifetime == Lifetime::Unconfirmed);
        let at = unconfirmed.filter_map(|l| l.expires).min()?;
        Some(at.saturating_sub(super::boot_ms()) as f64)
    }

    /// What somebody else has changed of ours, once for each knob.
    pub fn drift(&self) -> Vec<Drift> {
        let mut drifts: BTreeMap<&str, Drift> = BTreeMap::new();
        for (record, drift) in self.ours().filter_map(|r| Some((r, self.drifted(r)?))) {
            drifts.entry(record.id()).or_insert(drift);
        }
        drifts.into_values().collect()
    }

    /// How the site differs from what we left there.
    fn drifted(&self, record: &Record) -> Option<Drift> {
        let (site, layer) = (&record.site, record.top()?);
        // Others may hold stricter limits; ours is in force as long as it is held.
        if self.kernel.is_held(site) {
            return None;
        }
        let now = self.read(site).ok();
        let differs = match &now {
            Some(now) => now != record.value(),
            None => !self.hidden.contains(site),
        };
        differs.then(|| Drift { id: layer.id.clone(), ours: layer.choice.clone(), now })
    }
}
