//! What an experiment found, for people.

use super::output::shown;
use super::table::Table;
use protocol::experiment::{Base, Effect, ExperimentReport, Use};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Reasons for which trials do not count, told at most.
const MOST_REASONS: usize = 4;

/// Verdict, effects, what to do, and what does not count.
pub(super) fn text(report: &ExperimentReport) -> String {
    let mut text = shown(&report.headline) + "\n\n" + &effects(report);
    let said = report.interactions.iter().filter_map(|i| i.sentence.as_ref());
    paragraph(&mut text, "", said);
    for purpose in Use::ALL {
        let said = report.recommendation.iter().filter(|r| r.purpose == purpose).map(|r| &r.sentence);
        paragraph(&mut text, heading(purpose), said);
    }
    let left_out: Vec<_> = report.unmapped.iter().map(|u| format!("{}: {}", u.setting, u.reason)).collect();
    paragraph(&mut text, "Not compared", left_out.iter());
    let counted = report.trials.len() - report.void.len();
    let _ = write!(text, "\n{counted} trials count");
    if !report.void.is_empty() {
        let _ = write!(text, ", {} do not", report.void.len());
        text += &shown(&format!(" ({})", reasons(report.void.iter().map(|v| v.reason.as_str()))));
    }
    text + ".\n"
}

/// Each once; of many, the first: a drive that fails does so at another place each time.
fn reasons<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let each: BTreeSet<&str> = all.collect();
    let told: Vec<&str> = each.iter().copied().take(MOST_REASONS).collect();
    let more = each.len() - told.len();
    let told = told.join("; ");
    if more > 0 { format!("{told}; and {more} more reason{}", if more == 1 { "" } else { "s" }) } else { told }
}

fn heading(purpose: Use) -> &'static str {
    match purpose {
        Use::Latency => "Where single accesses must be answered fast",
        Use::Throughput => "Where much data is moved",
        Use::Battery => "Where power must be saved",
    }
}

/// Lines of a kind, each once, under a heading.
fn paragraph<'a>(text: &mut String, heading: &str, lines: impl Iterator<Item = &'a String>) {
    let mut seen: Vec<&str> = Vec::new();
    for line in lines {
        if !seen.contains(&line.as_str()) {
            seen.push(line);
        }
    }
    if seen.is_empty() {
        return;
    }
    *text += "\n";
    if !heading.is_empty() {
        let _ = writeln!(text, "{heading}:");
    }
    for line in seen {
        *text += &(shown(line) + "\n");
    }
}

/// A row for each comparison on the metric that its verdict rests on.
fn effects(report: &ExperimentReport) -> String {
    let heading = ["setting", "to", "from", "workload", "effect", "interval", "verdict", "blocks"];
    let mut table = Table::new(&heading).words(&[1, 2, 3, 6]);
    for e in report.effects.iter().filter(|e| e.primary) {
        let base = if e.base == Some(Base::AllSaving) { " (rest saving)" } else { "" };
        table.row([
            shown(&format!("{}{base}", e.knob)),
            shown(&e.to),
            shown(&e.from),
            shown(&format!("{} {}", e.workload, e.metric)),
            e.estimate_percent.map_or("-".into(), percent),
            interval(e),
            e.verdict.name().into(),
            e.blocks.to_string(),
        ]);
    }
    table.render()
}

/// `-4.1 to -2.0 %`, or a dash while there is none.
pub(super) fn interval(e: &Effect) -> String {
    match (e.low_percent, e.high_percent) {
        (Some(low), Some(high)) => format!("{low:+.1} to {high:+.1} %"),
        _ => "-".into(),
    }
}

pub(super) fn percent(p: f64) -> String {
    format!("{p:+.1} %")
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::experiment::{Design, ExperimentSpec, Finding, Metric};

    #[test]
    fn the_headline_comes_first_and_void_trials_are_told() {
        let effect = Effect {
            knob: "cpu.turbo".into(),
            from: "on".into(),
            to: "off".into(),
            base: None,
            stage: None,
            workload: "4k-qd1".into(),
            metric: Metric::Iops,
            primary: true,
            estimate_percent: Some(-3.04),
            low_percent: Some(-4.1),
            high_percent: Some(-2.0),
            verdict: Finding::Brake,
            blocks: 14,
            saves_w: None,
            more_blocks: None,
            sentence: String::new(),
        };
        let report = ExperimentReport {
            format: 1,
            spec: ExperimentSpec::new(Design::Ab, "/mnt"),
            configurations: vec![],
            unmapped: vec![],
            headline: "The brakes are on.".into(),
            effects: vec![Effect { primary: false, metric: Metric::LatencyMean, ..effect.clone() }, effect],
            interactions: vec![],
            recommendation: vec![],
            trials: vec![],
            void: vec![],
        };
        let said = text(&report);
        let wanted = "The brakes are on.\n\nsetting    to   from  workload     effect        interval  verdict  blocks\n\
            cpu.turbo  off  on    4k-qd1 iops  -3.0 %  -4.1 to -2.0 %  brake        14\n\n0 trials count.\n";
        assert_eq!(said, wanted);
    }

    #[test]
    fn of_many_reasons_a_few_are_told() {
        assert_eq!(reasons(["AC unplugged", "busy", "AC unplugged"].into_iter()), "AC unplugged; busy");
        let many = ["a", "b", "c", "d", "e", "f", "a"];
        assert_eq!(reasons(many.into_iter()), "a; b; c; d; and 2 more reasons");
    }
}
