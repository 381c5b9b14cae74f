//! Whole reports.

use super::fixture::{experiment, one_at_a_time};
use super::{fragment, page};
use protocol::experiment::{Finding, Interaction, Metric, Unmapped};
use std::collections::BTreeSet;

/// Elements of a document, checked to be nested rightly, and its text; panics where it is not well-formed.
fn parsed(markup: &str) -> (Vec<String>, String) {
    let (mut open, mut seen, mut text) = (Vec::new(), Vec::new(), String::new());
    let mut rest = markup.strip_prefix("<!doctype html>").unwrap_or(markup);
    while let Some((before, after)) = rest.split_once('<') {
        assert!(!before.contains('>') || seen.last().is_some_and(|s| s == "style"), "{before}");
        text += before;
        // No attribute of ours may hold this sign unescaped.
        let (tag, after) = after.split_once('>').unwrap();
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "{tag}");
        } else {
            let (name, attributes) = tag.trim_end_matches('/').split_once(' ').unwrap_or((tag, ""));
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "{tag}");
            assert_eq!(attributes.matches('"').count() % 2, 0, "{tag}");
            seen.push(name.to_owned());
            if !tag.ends_with('/') {
                open.push(name.to_owned());
            }
        }
        rest = after;
    }
    assert!(open.is_empty(), "{open:?}");
    (seen, text + rest)
}

#[test]
fn the_report_says_everything_from_the_verdict_to_the_trials() {
    let file = one_at_a_time();
    let verdicts: BTreeSet<_> = file.report.effects.iter().filter(|e| e.primary).map(|e| e.verdict.name()).collect();
    assert_eq!(verdicts, BTreeSet::from(["brake", "free", "helps", "undecided"]), "the fixture shows all");
    let html = fragment(&file);
    let (seen, text) = parsed(&html);
    let headline = html.find("class=\"headline\"").unwrap();
    let mut at = headline;
    for heading in [
        "What to do",
        "What each setting costs",
        "What each configuration yields",
        "How latency is spread",
        "After a pause",
        "Power",
        "Conditions",
        "Trials",
    ] {
        let place = html.find(&format!("<h2>{heading}</h2>")).unwrap_or_else(|| panic!("{heading}"));
        assert!(place > at, "{heading} comes too early");
        at = place;
    }
    let charts = seen.iter().filter(|s| *s == "svg").count();
    let tables = seen.iter().filter(|s| *s == "table").count();
    assert!(charts >= 8 && tables >= 7, "{charts} charts, {tables} tables");
    for said in [
        file.report.headline.as_str(),
        "EMT02B6Q",
        "SATA 3.0 Gb/s of SATA 6.0 Gb/s",
        "6.12.0",
        "bench",
        "cpu.turbo was changed by somebody else",
        "leave at off",
        "set to C1",
        "median of 24",
    ] {
        assert!(text.contains(said), "{said}");
    }
}

#[test]
fn verdicts_have_a_word_and_a_shape_beside_their_colour() {
    let html = fragment(&one_at_a_time());
    for (class, word) in [("brake", "\u{25bc} brake"), ("helps", "\u{25b2} helps"), ("free", "\u{25cf} free")] {
        assert!(html.contains(&format!("<span class=\"tag {class}\">{word}</span>")), "{class}");
    }
    assert!(html.contains("<polygon class=\"brake\"") && html.contains("<circle class=\"undecided\""));
}

#[test]
fn a_ladder_is_drawn_rung_by_rung() {
    let text = "design = 'ladder'\nknobs = ['cpu.deep-idle', 'cpu.turbo']\ntarget = '/mnt/ssd'\nworkloads = ['4k-qd1']";
    let html = fragment(&experiment(text, 12));
    parsed(&html);
    assert!(html.contains("<h2>Rung by rung</h2>") && html.contains("<polyline class=\"climb\""), "{html}");
    assert!(html.contains(">cpu.deep-idle C1</text>"), "what a rung changes stands beside it");
}

/// Every text in an experiment, and every name, replaced.
#[test]
fn hostile_text_never_becomes_markup() {
    let hostile = "\"'></text><script>alert(1)</script>\u{0}\n$(reboot)";
    let json = serde_json::to_value(one_at_a_time()).unwrap();
    let mut file = one_at_a_time();
    file.report.headline = hostile.into();
    file.report.unmapped.push(Unmapped { setting: hostile.into(), reason: hostile.into() });
    file.report.interactions.push(Interaction {
        knobs: vec![[hostile.into(), hostile.into()]],
        workload: hostile.into(),
        metric: Metric::Iops,
        estimate_percent: Some(f64::MAX),
        low_percent: Some(-f64::MAX),
        high_percent: Some(f64::MAX),
        matters: true,
        sentence: Some(hostile.into()),
    });
    for e in &mut file.report.effects {
        (e.knob, e.from, e.to) = (hostile.into(), hostile.into(), hostile.into());
        (e.workload, e.sentence) = (hostile.into(), hostile.into());
    }
    for c in file.report.configurations.iter_mut().chain(&mut file.experiment.configurations) {
        c.name = hostile.into();
        for a in &mut c.set {
            (a.id, a.value) = (hostile.into(), hostile.into());
        }
    }
    for r in &mut file.report.recommendation {
        (r.knob, r.value, r.sentence) = (hostile.into(), Some(hostile.into()), hostile.into());
    }
    for t in &mut file.report.trials {
        (t.workload, t.started_at, t.void) = (hostile.into(), hostile.into(), t.void.as_ref().map(|_| hostile.into()));
        t.configuration = u32::MAX - t.configuration;
    }
    for k in &mut file.experiment.knobs {
        (k.id, k.title, k.value) = (hostile.into(), hostile.into(), Some(hostile.into()));
        (k.reason, k.detail) = (Some(hostile.into()), Some(hostile.into()));
    }
    file.report.spec.name = Some(hostile.into());
    file.report.spec.threshold_percent = f64::MAX;
    let (host, drive) = (&mut file.experiment.host, file.experiment.drive.as_mut().unwrap());
    (host.hostname, host.kernel, host.daemons) = (Some(hostile.into()), Some(hostile.into()), vec![hostile.into()]);
    (drive.model, drive.firmware) = (Some(hostile.into()), Some(hostile.into()));
    file.experiment.target.path = hostile.into();
    (file.experiment.id, file.experiment.version) = (hostile.into(), hostile.into());
    assert_ne!(serde_json::to_value(&file).unwrap(), json);
    for html in [fragment(&file), page(&file)] {
        let (seen, _) = parsed(&html);
        assert!(!seen.iter().any(|name| name == "script"), "{seen:?}");
        assert!(!html.contains("alert(1)</script>") && html.contains("&lt;script&gt;alert(1)"));
        assert!(!html.contains("NaN") && !html.contains("inf\""), "a place that is none");
    }
}

#[test]
fn an_experiment_without_trials_has_a_report_too() {
    let mut file = one_at_a_time();
    file.report.trials.clear();
    file.report.void.clear();
    for e in &mut file.report.effects {
        (e.estimate_percent, e.low_percent, e.high_percent, e.blocks) = (None, None, None, 0);
        e.verdict = Finding::Undecided;
    }
    let html = fragment(&file);
    parsed(&html);
    for heading in ["What to do", "What each setting costs", "What each configuration yields", "How latency"] {
        assert!(!html.contains(heading), "{heading}");
    }
    file.report.effects.clear();
    file.report.configurations.clear();
    parsed(&fragment(&file));
}

#[test]
fn the_file_needs_nothing_else() {
    let html = page(&one_at_a_time());
    parsed(&html);
    assert!(html.starts_with("<!doctype html>\n<html lang=\"en\" data-theme=\"system\">"));
    for reference in [" src=", " href=", "url(", "@import", "<script", "style=\"", "http://", "https://"] {
        assert!(!html.contains(reference), "{reference}");
    }
    if let Some(file) = std::env::var_os("BRAKECHECK_SAMPLE_REPORT") {
        std::fs::write(file, html).unwrap();
    }
}
