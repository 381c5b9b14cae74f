//! The last verdict with what each setting costs, and the verdicts before it.

use super::{day, heading};
use crate::report::chart::cost::{Group, draw};
use crate::report::data::Data;
use crate::report::markup::Markup;
use crate::report::section::cost::groups;
use protocol::experiment::{ExperimentFile, ExperimentSummary};

/// Rows of the chart that can be read from afar.
const ROWS: usize = 4;
/// Earlier verdicts that are shown.
const EARLIER: usize = 2;

/// The newest experiment that found something, and those before it.
pub fn verdict(newest: &ExperimentFile, earlier: &[ExperimentSummary]) -> String {
    let data = Data::of(newest);
    let record = &newest.experiment;
    let drive = record.drive.as_ref().and_then(|d| d.model.as_deref());
    let (shown, left_out) = first(groups(&data));
    let mut m = Markup::default();
    let about =
        [Some(newest.report.spec.title()), drive, record.host.hostname.as_deref(), Some(day(&record.started_at))];
    heading(&mut m, &about, &newest.report.headline);
    if !shown.is_empty() {
        m.classed("figure", "kiosk-chart", |m| draw(m, &shown, newest.report.spec.threshold_percent));
    }
    if left_out > 0 {
        m.note("p", "about", format!("and {left_out} more, which matter less"));
    }
    let earlier: Vec<_> = earlier.iter().filter_map(|e| Some((e, e.headline.as_ref()?))).take(EARLIER).collect();
    if !earlier.is_empty() {
        m.classed("ul", "earlier", |m| {
            for (e, headline) in earlier {
                m.element("li", &[], |m| {
                    m.note("span", "about", day(&e.started_at));
                    m.text(" ");
                    m.text(headline);
                });
            }
        });
    }
    m.into_string()
}

/// The first comparisons, as many as fit, and how many do not.
fn first(groups: Vec<Group<'_>>) -> (Vec<Group<'_>>, usize) {
    let (mut rows, mut shown, mut left_out) = (0, Vec::new(), 0);
    for group in groups {
        // The heading of a comparison takes the room of two.
        let needed = group.costs.len().max(1);
        if shown.is_empty() || (left_out == 0 && rows + needed <= ROWS && shown.len() < 3) {
            rows += needed;
            shown.push(Group { costs: group.costs.into_iter().take(ROWS).collect(), ..group });
        } else {
            left_out += 1;
        }
    }
    (shown, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;

    #[test]
    fn the_sentence_comes_first_and_what_costs_most_is_drawn() {
        let file = fixture::one_at_a_time();
        let html = verdict(&file, &[]);
        let sentence = html.find("class=\"headline\"").unwrap();
        assert!(sentence < html.find("<svg").unwrap(), "{html}");
        assert!(html.contains("\u{25bc}") || html.contains("polygon"), "{html}");
        let all = groups(&Data::of(&file)).len();
        let drawn = html.matches("class=\"name\"").count();
        assert!((1..=3).contains(&drawn));
        assert_eq!(html.contains(&format!("and {} more", all - drawn)), all > drawn);
    }
}
