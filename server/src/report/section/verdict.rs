//! The verdict on the whole, and a sentence on each setting.

use super::cost::{groups, telling};
use crate::report::data::Data;
use crate::report::markup::Markup;
use protocol::experiment::Finding;
use protocol::run::RunState;

pub(super) fn write(m: &mut Markup, data: &Data<'_>) {
    let file = data.file;
    m.classed("header", "verdict", |m| {
        m.note("p", "headline", &file.report.headline);
        m.note("p", "fine", state(data));
        if let Some(error) = &file.error {
            m.note("p", "fine", format!("It ended before its time: {}", error.message));
        }
    });
    let groups = groups(data);
    let told: Vec<_> = groups.iter().filter_map(|g| telling(&g.costs)).filter(|e| !e.sentence.is_empty()).collect();
    if told.is_empty() {
        return;
    }
    m.classed("ul", "findings", |m| {
        for e in told {
            m.element("li", &[], |m| {
                tag(m, e.verdict);
                m.text(" ");
                m.text(&e.sentence);
            });
        }
    });
}

/// The verdict as shape and word.
pub(super) fn tag(m: &mut Markup, verdict: Finding) {
    let (class, shape) = match verdict {
        Finding::Brake => ("tag brake", "\u{25bc}"),
        Finding::Helps => ("tag helps", "\u{25b2}"),
        Finding::Free => ("tag free", "\u{25cf}"),
        Finding::Undecided => ("tag undecided", "\u{25cb}"),
    };
    m.note("span", class, format!("{shape} {}", verdict.name()));
}

fn state(data: &Data<'_>) -> String {
    let (file, spec) = (data.file, &data.file.report.spec);
    let counted = data.counted().count();
    let state = match file.state {
        RunState::Done => "done".to_owned(),
        state => format!("{}, so this is not the last word", state.name()),
    };
    let drive = file.experiment.drive.as_ref().and_then(|d| d.model.as_deref()).unwrap_or("unknown drive");
    let origin = if file.experiment.imported { " \u{b7} imported" } else { "" };
    format!(
        "{} \u{b7} {drive} \u{b7} {counted} trials count, {} do not \u{b7} threshold {} % \u{b7} {state}{origin}",
        spec.title(),
        file.report.void.len(),
        spec.threshold_percent,
    )
}
