//! What a file concludes, against what its trials say.

use protocol::experiment::{Base, Effect, Metric, Stage};
use std::collections::HashMap;

/// Share by which two numbers may differ that were worked out by different machines.
const ROUNDING: f64 = 1e-6;

type Key<'a> = (&'a str, &'a str, &'a str, Option<Base>, Option<Stage>, &'a str, Metric);

fn key(e: &Effect) -> Key<'_> {
    (&e.knob, &e.from, &e.to, e.base, e.stage, &e.workload, e.metric)
}

/// One sentence, if they differ. A file without conclusions says nothing wrong.
pub(super) fn against(claimed: &[Effect], found: &[Effect]) -> Option<String> {
    let found: HashMap<Key, &Effect> = found.iter().map(|e| (key(e), e)).collect();
    let with_truth = claimed.iter().map(|c| (c, found.get(&key(c))));
    let wrong: Vec<_> = with_truth.filter(|(c, f)| !f.is_some_and(|f| agree(c, f))).collect();
    let (first, truth) = wrong.first()?;
    let place = format!("{} on {} ({})", first.knob, first.workload, first.metric);
    let here = truth.map_or_else(|| "nothing".into(), |e| said(e));
    Some(format!(
        "{} of {} effects are not what the trials say, the first {place}: {} in the file, {here} by its trials. The \
         trials count.",
        wrong.len(),
        claimed.len(),
        said(first)
    ))
}

fn said(e: &Effect) -> String {
    match e.estimate_percent {
        Some(p) => format!("{} at {p:+.1} %", e.verdict),
        None => e.verdict.to_string(),
    }
}

fn agree(a: &Effect, b: &Effect) -> bool {
    let close = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= ROUNDING * (1.0 + a.abs().max(b.abs())),
        (a, b) => a.is_none() && b.is_none(),
    };
    a.verdict == b.verdict
        && a.blocks == b.blocks
        && close(a.estimate_percent, b.estimate_percent)
        && close(a.low_percent, b.low_percent)
        && close(a.high_percent, b.high_percent)
        && close(a.saves_w, b.saves_w)
}
