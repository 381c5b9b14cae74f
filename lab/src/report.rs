//! Everything that is known of an experiment, in the form that is stored, exported and shown.

use crate::advice;
use crate::analysis::Analysis;
use crate::design::Plan;
use crate::words::Titles;
use protocol::experiment::outcome::FORMAT;
use protocol::experiment::{ExperimentReport, ExperimentSpec, Trial, VoidTrial};
use protocol::knob::Knob;

/// Judges the trials. The spec has been validated and `plan` made from it; `knobs` are the host's, as found.
pub fn report(spec: &ExperimentSpec, plan: &Plan, knobs: &[Knob], trials: Vec<Trial>) -> ExperimentReport {
    let titles = Titles::of(knobs);
    let mut analysis = Analysis::new(spec, plan, titles.clone());
    for trial in &trials {
        analysis.add(trial);
    }
    let effects = analysis.effects();
    let void = |t: &Trial| Some(VoidTrial { trial: t.number, reason: t.void.clone()? });
    ExperimentReport {
        format: FORMAT,
        spec: spec.clone(),
        configurations: plan.configurations.clone(),
        unmapped: plan.unmapped.clone(),
        headline: advice::headline(&effects, &titles, spec.threshold_percent),
        interactions: analysis.interactions(),
        recommendation: advice::recommend(&effects, &spec.expanded_workloads(), &titles, spec.threshold_percent),
        void: trials.iter().filter_map(void).collect(),
        effects,
        trials,
    }
}

#[cfg(test)]
mod tests;
