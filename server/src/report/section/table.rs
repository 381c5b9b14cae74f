//! Tables of text and numbers.

use super::behind;
use crate::report::markup::Markup;

/// A column: its heading, and whether it holds text, which stands at the left, or numbers.
pub(super) type Column = (&'static str, bool);

/// A table that scrolls sideways and down where it has to.
pub(super) fn table(m: &mut Markup, columns: &[Column], rows: impl IntoIterator<Item = Vec<String>>) {
    let cell = |m: &mut Markup, name: &'static str, i: usize, text: &str| {
        let class = if columns.get(i).is_some_and(|c| c.1) { "text" } else { "number" };
        m.note(name, class, text);
    };
    m.element("div", &[("class", &"scroll"), ("tabindex", &"0")], |m| {
        m.classed("table", "data", |m| {
            m.element("thead", &[], |m| {
                m.element("tr", &[], |m| columns.iter().enumerate().for_each(|(i, c)| cell(m, "th", i, c.0)));
            });
            m.element("tbody", &[], |m| {
                for row in rows {
                    m.element("tr", &[], |m| row.iter().enumerate().for_each(|(i, text)| cell(m, "td", i, text)));
                }
            });
        });
    });
}

/// The table behind a chart.
pub(super) fn behind_chart(m: &mut Markup, columns: &[Column], rows: Vec<Vec<String>>) {
    let summary = format!("Table of {} rows", rows.len());
    behind(m, if rows.len() == 1 { "Table of 1 row" } else { &summary }, |m| table(m, columns, rows));
}
