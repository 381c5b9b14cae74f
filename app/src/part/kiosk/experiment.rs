//! An experiment that is on, to be read from three metres: the sentence so far and the intervals that matter most.

use crate::html::Html;
use crate::model::{Experiment, Row, Scale, comparisons, standing};
use crate::part::experiment::{axis, mark, percent, plot};
use protocol::experiment::Finding;

/// Intervals that can be read from afar.
const ROWS: usize = 4;

/// The panel.
pub(crate) fn experiment_panel(e: &Experiment) -> String {
    let (live, head) = (&e.live, &e.live.head);
    let mut h = Html::default();
    h.tag("<header class=\"kiosk-head\"><p class=\"about\">").text(&head.title).tag(" \u{b7} ");
    h.text(head.drive.as_deref().unwrap_or("drive not known")).tag(" \u{b7} ").text(&head.target);
    h.tag("</p><p class=\"headline\" data-testid=\"headline\">");
    h.text(if live.headline.is_empty() { head.design.question() } else { &live.headline }).tag("</p></header>");
    let scale = Scale::of(live);
    let all = comparisons(live, scale);
    let mut rows: Vec<(&str, &str, &Row)> =
        all.iter().flat_map(|c| c.rows.iter().map(|r| (c.title, c.change.as_str(), r))).collect();
    rows.sort_by_key(|(.., r)| rank(r.effect.verdict));
    let left_out = rows.len().saturating_sub(ROWS);
    h.tag("<table class=\"forest\">");
    if !rows.is_empty() {
        h.tag("<tr><th></th><td class=\"plot\">");
        axis(&mut h, live, scale);
        h.tag("</td><td class=\"figure\"></td><td class=\"verdict\"></td></tr>");
    }
    for (title, change, r) in rows.into_iter().take(ROWS) {
        let (word, class) = mark(r.effect.verdict);
        h.tag("<tr class=\"")
            .tag(class)
            .tag("\"><th><b>")
            .text(title)
            .tag("</b><span class=\"about\">")
            .text(&r.effect.workload);
        h.tag(" \u{b7} ").text(change).tag("</span></th><td class=\"plot\">");
        plot(&mut h, live, scale, r);
        h.tag("</td><td class=\"figure\">").text(r.effect.estimate_percent.map_or("\u{2014}".into(), percent));
        h.tag("</td><td class=\"verdict\">").tag(word).tag("</td></tr>");
    }
    h.tag("</table><p class=\"standing\" data-testid=\"standing\">").text(standing(e)).tag("</p><p class=\"about\">");
    if left_out > 0 {
        h.text(left_out).tag(" more intervals are not shown. ");
    }
    let now = live.trial.as_ref().and_then(|t| Some((head.configurations.get(t.configuration as usize)?, t)));
    if let Some((configuration, trial)) = now {
        h.tag("Now ").text(&configuration.name).tag(" \u{b7} ").text(&trial.workload);
    }
    h.tag("</p>");
    h.done()
}

/// What is known to matter comes first, then what may matter yet.
fn rank(finding: Finding) -> u8 {
    match finding {
        Finding::Brake => 0,
        Finding::Helps => 1,
        Finding::Undecided => 2,
        Finding::Free => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::experiment_fixture::{WORKLOADS, effect, live};

    #[test]
    fn what_matters_most_stands_first_and_what_does_not_fit_is_counted() {
        let mut live = live();
        live.headline = "<i>".into();
        for _ in 0..6 {
            live.effects.insert(0, effect(WORKLOADS[0], 0.1, Some((-0.2, 0.3)), Finding::Free));
        }
        let html = experiment_panel(&Experiment::new(live, None, Vec::new()));
        let at = |words: &str| html.find(words).unwrap_or_else(|| panic!("{words}: {html}"));
        assert!(at("\u{25bc} brake") < at("\u{25cb} undecided") && at("\u{25cb} undecided") < at("\u{25cf} free"));
        assert_eq!(html.matches("class=\"verdict\"").count(), ROWS + 1, "with the axis");
        assert!(
            html.contains("4 more intervals") && html.contains("&lt;i>") && html.contains("Block 2 of 60"),
            "{html}"
        );
    }
}
