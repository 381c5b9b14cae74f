//! After how long a pause a read gets slow.

use super::table::behind_chart;
use super::{figure, section};
use crate::report::chart::gaps::draw;
use crate::report::data::Data;
use crate::report::figures::time;
use crate::report::markup::Markup;
use lab::cold::onset;

pub(super) fn write(m: &mut Markup, data: &Data<'_>) {
    let point = |p: &protocol::experiment::record::GapPoint| (p.gap.as_f64(), p.latency_ns);
    let good = |p: &(f64, f64)| p.0 > 0.0 && p.1.is_finite() && p.1 > 0.0;
    let points: Vec<(f64, f64)> = data.file.experiment.sweep.iter().map(point).filter(good).collect();
    if points.is_empty() {
        return;
    }
    let said = match onset(&points) {
        Some(o) => format!(
            "With every saving on, reads get slow after {} of idleness: {:.1} times as long as after the shortest gap.",
            time(o.gap * 1e9),
            o.ratio
        ),
        None => "With every saving on, no idle gap tried makes reads slow.".into(),
    };
    section(m, "After a pause", |m| {
        m.leaf("p", &said);
        let caption = "Median latency of a read after an idle gap, all savings on; both axes are logarithmic.";
        figure(m, caption, |m| draw(m, &points, caption));
        let rows = points.iter().map(|(gap, ns)| vec![time(gap * 1e9), time(*ns)]).collect();
        behind_chart(m, &[("gap", false), ("median latency", false)], rows);
    });
}
