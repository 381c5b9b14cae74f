//! Experiments.

use super::reader::{record, words};
use super::{Problem, Read, field};
use protocol::experiment::{
    Base, Configuration, Design, Effect, ExperimentHead, ExperimentLive, Finding, Metric, Stage, TimeLeft, Trial,
    TrialMark, TrialNow,
};
use serde_json::Value;

record!(ExperimentLive { head, state, paused, trials, trial, blocks, effects, left, note, headline, error });
record!(ExperimentHead {
    id,
    title,
    design,
    target,
    drive,
    workloads,
    configurations,
    knobs,
    threshold_percent,
    max_blocks,
    seed,
    started_at
});
record!(Configuration { name, set, wait });
record!(TrialMark { number, block, configuration, workload, void });
record!(TrialNow { block, place, of, configuration, workload, stage });
record!(TimeLeft { least_ms, likely_ms, most_ms });
record!(Effect {
    knob,
    from,
    to,
    base,
    stage,
    workload,
    metric,
    primary,
    estimate_percent,
    low_percent,
    high_percent,
    verdict,
    blocks,
    saves_w,
    more_blocks,
    sentence
});
words!(Base { "all-saving" => AllSaving, "all-performance" => AllPerformance, "both" => Both });
words!(Stage { "screening" => Screening, "confirmation" => Confirmation });
words!(Finding { "undecided" => Undecided, "brake" => Brake, "free" => Free, "helps" => Helps });

impl Read for Design {
    fn read(value: &Value, problem: &mut Problem) -> Self {
        Self::ALL[super::reader::word(value, &mut Self::ALL.iter().map(|d| d.name()), problem)]
    }
}

impl Read for Metric {
    fn read(value: &Value, problem: &mut Problem) -> Self {
        Self::ALL[super::reader::word(value, &mut Self::ALL.iter().map(|m| m.name()), problem)]
    }
}

/// A trial without its numbers, which are drawn by the server when all has ended.
impl Read for Trial {
    fn read(value: &Value, problem: &mut Problem) -> Self {
        Self {
            number: field(value, "number", problem),
            block: field(value, "block", problem),
            configuration: field(value, "configuration", problem),
            workload: field(value, "workload", problem),
            metrics: std::collections::BTreeMap::new(),
            latency: Vec::new(),
            started_at: field(value, "started_at", problem),
            void: field(value, "void", problem),
        }
    }
}
