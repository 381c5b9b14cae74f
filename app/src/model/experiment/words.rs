//! Where an experiment stands, in words.

use super::forest::title;
use super::state::Experiment;
use crate::format;
use protocol::experiment::{ExperimentLive, Stage, TimeLeft};
use protocol::knob::Knob;

/// A setting of the configuration in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Held {
    /// Its name.
    pub(crate) title: String,
    /// The value it has now.
    pub(crate) value: String,
    /// The value it was found with, if that is another one.
    pub(crate) found: Option<String>,
}

/// How far it is and how long it will take.
pub(crate) fn standing(e: &Experiment) -> String {
    let live = &e.live;
    if let Some((done, total)) = e.layout {
        return format!("Laying out the file: {done} of {total}");
    }
    if !e.on() {
        return live.state.name().into();
    }
    let block = live.trial.as_ref().map_or(live.blocks, |t| t.block) + 1;
    let mut parts = vec![format!("Block {} of {} at most", block.min(live.head.max_blocks), live.head.max_blocks)];
    if live.paused {
        parts.insert(0, "Paused, with the settings put back".into());
    } else if let Some(t) = &live.trial {
        let stage = match t.stage {
            Some(Stage::Screening) => ", screening",
            Some(Stage::Confirmation) => ", confirmation",
            None => "",
        };
        parts.push(format!("trial {} of {}{stage}", t.place + 1, t.of));
    }
    parts.push(live.left.map_or_else(|| "how long it takes is known after the first block".into(), time_left));
    // More blocks than it may have.
    let rest = live.head.max_blocks.saturating_sub(live.blocks);
    match live.effects.iter().filter(|e| e.primary && e.more_blocks.is_some_and(|more| more > rest)).count() {
        0 => {}
        n => parts
            .push(format!("{n} of {} will likely stay undecided", live.effects.iter().filter(|e| e.primary).count())),
    }
    parts.join(" \u{b7} ")
}

fn time_left(left: TimeLeft) -> String {
    let about = |ms: f64| format::about(ms / 1e3);
    let [least, likely, most] = [left.least_ms, left.likely_ms, left.most_ms].map(about);
    if least == most { format!("about {likely} left") } else { format!("about {likely} left, {least} to {most}") }
}

/// The settings of the configuration in force: those that are not as they were found first. `knobs` are the host's, as
/// far as they are known.
pub(crate) fn held(live: &ExperimentLive, knobs: &[Knob]) -> Vec<Held> {
    let Some(c) = live.trial.as_ref().and_then(|t| live.head.configurations.get(t.configuration as usize)) else {
        return Vec::new();
    };
    let one = |a: &protocol::knob::Assignment| {
        let found = knobs.iter().find(|k| k.id == a.id).and_then(|k| k.original.as_ref().or(k.value.as_ref()));
        Held {
            title: title(live, &a.id).to_owned(),
            value: a.value.clone(),
            found: found.filter(|f| **f != a.value).cloned(),
        }
    };
    let mut all: Vec<Held> = c.set.iter().map(one).collect();
    all.extend(c.wait.map(|w| Held { title: "How the program waits".into(), value: w.name().into(), found: None }));
    all.sort_by_key(|h| h.found.is_none());
    all
}

#[cfg(test)]
mod tests {
    use super::super::fixture::live;
    use super::*;
    use protocol::units::Bytes;

    #[test]
    fn where_it_stands_is_said_with_a_range() {
        let mut e = Experiment::new(live(), None, Vec::new());
        let words = "Block 2 of 60 at most \u{b7} trial 2 of 4 \u{b7} about 6\u{a0}min left, 3\u{a0}min to 12\u{a0}min";
        assert_eq!(standing(&e), words);
        e.live.effects[1].more_blocks = Some(60);
        assert_eq!(standing(&e), format!("{words} \u{b7} 1 of 2 will likely stay undecided"));
        e.live.effects[1].more_blocks = Some(59);
        assert_eq!(standing(&e), words);
        e.live.left.as_mut().unwrap().least_ms = 720e3;
        assert!(standing(&e).ends_with("about 6\u{a0}min left"));
        e.live.paused = true;
        assert!(standing(&e).starts_with("Paused, with the settings put back \u{b7} Block 2"));
        e.laid_out(Bytes(1 << 20), Bytes(4 << 20));
        assert_eq!(standing(&e), "Laying out the file: 1 MiB of 4 MiB");
    }

    #[test]
    fn the_settings_in_force_say_what_they_were() {
        let mut live = live();
        let knob = Knob { id: "cpu.turbo".into(), value: Some("on".into()), original: None, ..Knob::default() };
        let of = |live: &ExperimentLive, knobs: &[Knob]| {
            held(live, knobs).into_iter().map(|h| (h.title, h.value, h.found)).collect::<Vec<_>>()
        };
        assert_eq!(of(&live, std::slice::from_ref(&knob)), [("Turbo Boost".into(), "on".into(), None)]);
        live.trial = Some(super::super::fixture::now(1, 1, "4k-qd1"));
        assert_eq!(of(&live, &[]), [("Turbo Boost".into(), "off".into(), None)]);
        // Before the change is told, and after.
        let changed = Knob { value: Some("off".into()), original: Some("on".into()), ..knob.clone() };
        for knob in [knob, changed] {
            assert_eq!(of(&live, &[knob]), [("Turbo Boost".into(), "off".into(), Some("on".into()))]);
        }
    }
}
