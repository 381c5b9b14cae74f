//! What frames say of experiments, read by hand as [`frame`](super::frame) does and for the same reason.
//!
//! What is absent is read as empty, since page and server are of one version; the tests hold this reader to the derived
//! one.

use super::fields::Fields;
use protocol::event::Event;
use protocol::experiment::{
    Base, Configuration, Design, Effect, ExperimentHead, ExperimentLive, Finding, Metric, Stage, TimeLeft, Trial,
    TrialMark, TrialNow,
};
use protocol::knob::Assignment;
use protocol::run::RunState;
use serde_json::Value;
use std::collections::BTreeMap;

/// The event of a frame of this type; none if it is not one of an experiment.
pub(super) fn read(kind: &str, f: &mut Fields) -> Option<Event> {
    Some(match kind {
        "experiment-started" => Event::ExperimentStarted {
            experiment: Box::new(head(f.object("experiment")?)),
            trials: f.list("trials", mark),
        },
        "experiment-note" => Event::ExperimentNote { experiment: f.text("experiment"), text: f.text("text") },
        "experiment-paused" => Event::ExperimentPaused { experiment: f.text("experiment"), paused: f.flag("paused") },
        "trial-started" => Event::TrialStarted { experiment: f.text("experiment"), trial: now(f.object("trial")?) },
        "trial-finished" => {
            Event::TrialFinished { experiment: f.text("experiment"), trial: Box::new(trial(f.object("trial")?)) }
        }
        "block-finished" => Event::BlockFinished {
            experiment: f.text("experiment"),
            blocks: f.count("blocks"),
            effects: f.list("effects", effect),
            left: left(f.object("left")?),
            headline: f.text("headline"),
        },
        "experiment-finished" => Event::ExperimentFinished {
            experiment: f.text("experiment"),
            state: state(f),
            error: f.get("error"),
            headline: f.text("headline"),
        },
        "experiments" => Event::Experiments { removed: f.words("removed") },
        _ => return None,
    })
}

/// The experiment of a snapshot.
pub(super) fn live(mut f: Fields) -> Option<ExperimentLive> {
    Some(ExperimentLive {
        head: head(f.object("head")?),
        state: state(&mut f),
        paused: f.flag("paused"),
        trials: f.list("trials", mark),
        trial: f.object("trial").map(now),
        blocks: f.count("blocks"),
        effects: f.list("effects", effect),
        left: f.object("left").map(left),
        note: f.words("note"),
        headline: f.text("headline"),
        error: f.get("error"),
    })
}

fn state(f: &mut Fields) -> RunState {
    f.get("state").unwrap_or(RunState::Failed)
}

fn head(mut f: Fields) -> ExperimentHead {
    ExperimentHead {
        id: f.text("id"),
        title: f.text("title"),
        design: named(&f.text("design"), Design::ALL, Design::name).unwrap_or(Design::Check),
        target: f.text("target"),
        drive: f.words("drive"),
        workloads: f.list("workloads", text),
        configurations: f.list("configurations", configuration),
        knobs: f.list("knobs", pair),
        threshold_percent: f.number("threshold_percent").unwrap_or_default(),
        max_blocks: f.count("max_blocks"),
        seed: f.get("seed").unwrap_or_default(),
        started_at: f.text("started_at"),
    }
}

fn text(value: Value) -> String {
    if let Value::String(text) = value { text } else { String::new() }
}

fn pair(value: Value) -> (String, String) {
    let Value::Array(pair) = value else { return Default::default() };
    let mut texts = pair.into_iter().map(text);
    (texts.next().unwrap_or_default(), texts.next().unwrap_or_default())
}

fn configuration(value: Value) -> Configuration {
    let mut f = Fields::of(value);
    let assignment = |value| {
        let mut f = Fields::of(value);
        Assignment { id: f.text("id"), value: f.text("value") }
    };
    Configuration { name: f.text("name"), set: f.list("set", assignment), wait: f.get("wait") }
}

fn mark(value: Value) -> TrialMark {
    (&trial(Fields::of(value))).into()
}

/// A trial without its numbers, which are drawn by the server when all has ended.
fn trial(mut f: Fields) -> Trial {
    Trial {
        number: f.count("number"),
        block: f.count("block"),
        configuration: f.count("configuration"),
        workload: f.text("workload"),
        metrics: BTreeMap::new(),
        latency: Vec::new(),
        started_at: f.text("started_at"),
        void: f.words("void"),
    }
}

fn now(mut f: Fields) -> TrialNow {
    TrialNow {
        block: f.count("block"),
        place: f.count("place"),
        of: f.count("of"),
        configuration: f.count("configuration"),
        workload: f.text("workload"),
        stage: stage(&mut f),
    }
}

fn left(mut f: Fields) -> TimeLeft {
    let mut time = |name| f.number(name).unwrap_or_default();
    TimeLeft { least_ms: time("least_ms"), likely_ms: time("likely_ms"), most_ms: time("most_ms") }
}

fn effect(value: Value) -> Effect {
    let mut f = Fields::of(value);
    Effect {
        knob: f.text("knob"),
        from: f.text("from"),
        to: f.text("to"),
        base: match f.text("base").as_str() {
            "all-saving" => Some(Base::AllSaving),
            "all-performance" => Some(Base::AllPerformance),
            "both" => Some(Base::Both),
            _ => None,
        },
        stage: stage(&mut f),
        workload: f.text("workload"),
        metric: named(&f.text("metric"), Metric::ALL, Metric::name).unwrap_or(Metric::Iops),
        primary: f.flag("primary"),
        estimate_percent: f.number("estimate_percent"),
        low_percent: f.number("low_percent"),
        high_percent: f.number("high_percent"),
        verdict: match f.text("verdict").as_str() {
            "brake" => Finding::Brake,
            "free" => Finding::Free,
            "helps" => Finding::Helps,
            _ => Finding::Undecided,
        },
        blocks: f.count("blocks"),
        saves_w: f.number("saves_w"),
        more_blocks: f.get("more_blocks"),
        sentence: f.text("sentence"),
    }
}

fn stage(f: &mut Fields) -> Option<Stage> {
    match f.text("stage").as_str() {
        "screening" => Some(Stage::Screening),
        "confirmation" => Some(Stage::Confirmation),
        _ => None,
    }
}

fn named<T: Copy, const N: usize>(name: &str, all: [T; N], name_of: fn(T) -> &'static str) -> Option<T> {
    all.into_iter().find(|one| name_of(*one) == name)
}
