//! Experiments side by side, as a fragment for the page: what differs, then links, speeds and effects.

use super::figures::{self, NONE};
use super::markup::Markup;
use protocol::experiment::side_by_side::{Change, Difference, EffectRow, Side, SpeedRow};
use protocol::experiment::{Base, Metric, SideBySide};
use protocol::host::Link;

/// The comparison as HTML. Every side has a letter, since hosts, drives and days may all be called the same.
pub fn contrast(compared: &SideBySide) -> Markup {
    let mut m = Markup::default();
    sides(&mut m, &compared.sides);
    section(&mut m, "What differs", |m| differences(m, &compared.differences));
    section(&mut m, "Links", |m| links(m, &compared.sides));
    section(&mut m, "Speeds", |m| speeds(m, &compared.speeds));
    section(&mut m, "Effects", |m| effects(m, &compared.effects));
    m
}

/// `A`, `B`, ...
pub(crate) fn letter(n: usize) -> char {
    u8::try_from(n).ok().filter(|n| *n < 26).map_or('?', |n| char::from(b'A' + n))
}

fn section(m: &mut Markup, heading: &str, inside: impl FnOnce(&mut Markup)) {
    m.classed("section", "part", |m| {
        m.leaf("h2", heading);
        inside(m);
    });
}

/// A table whose first columns are text and whose others are numbers.
fn table(m: &mut Markup, text: usize, heading: &[&str], rows: Vec<Vec<String>>) {
    let class = |i: usize| if i < text { "text" } else { "number" };
    m.element("div", &[("class", &"scroll"), ("tabindex", &"0")], |m| {
        m.classed("table", "data", |m| {
            m.element("thead", &[], |m| {
                m.element("tr", &[], |m| heading.iter().enumerate().for_each(|(i, h)| m.note("th", class(i), h)));
            });
            m.element("tbody", &[], |m| {
                for row in rows {
                    m.element("tr", &[], |m| row.iter().enumerate().for_each(|(i, cell)| m.note("td", class(i), cell)));
                }
            });
        });
    });
}

fn or_none(text: Option<&String>) -> String {
    text.cloned().unwrap_or_else(|| NONE.into())
}

fn sides(m: &mut Markup, sides: &[Side]) {
    section(m, "Side by side", |m| {
        let row = |(n, s): (usize, &Side)| {
            let host = s.host.clone().unwrap_or_else(|| NONE.into());
            vec![
                letter(n).to_string(),
                s.title.clone(),
                if s.imported { format!("{host} (imported)") } else { host },
                or_none(s.drive.as_ref()),
                s.started_at.clone(),
                s.headline.clone(),
            ]
        };
        let heading = ["", "experiment", "host", "drive", "started", "what was found"];
        table(m, heading.len(), &heading, sides.iter().enumerate().map(row).collect());
    });
}

fn differences(m: &mut Markup, differences: &[Difference]) {
    if differences.is_empty() {
        m.leaf("p", "Nothing that is known differs.");
        return;
    }
    m.element("ul", &[], |m| {
        for d in differences {
            if d.forbids {
                m.element("li", &[], |m| m.leaf("strong", &d.sentence));
            } else {
                m.leaf("li", &d.sentence);
            }
        }
    });
}

/// The drive's own link, and each end of every link above it.
fn links(m: &mut Markup, sides: &[Side]) {
    let mut rows = Vec::new();
    for (n, side) in sides.iter().enumerate() {
        let letter = letter(n).to_string();
        let Some(link) = &side.link else {
            rows.push(vec![letter, "drive".into(), "no link is known".into(), NONE.into(), NONE.into()]);
            continue;
        };
        let ceiling = |l: &Link| l.ceiling.map_or(NONE.into(), |c| figures::value(Metric::Bw, c.0));
        rows.push(vec![
            letter.clone(),
            "drive".into(),
            link.current.clone(),
            or_none(link.max.as_ref()),
            ceiling(link),
        ]);
        for end in &side.path {
            let possible = or_none(end.max.as_ref());
            rows.push(vec![letter.clone(), end.address.clone(), end.current.clone(), possible, String::new()]);
        }
    }
    table(m, 4, &["", "port", "negotiated", "possible", "ceiling of the path"], rows);
}

fn speeds(m: &mut Markup, speeds: &[SpeedRow]) {
    let mut rows = Vec::new();
    for row in speeds {
        for (n, cell) in row.cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let value = |metric: Metric, v: Option<f64>| v.map_or(NONE.into(), |v| figures::value(metric, v));
            let percent = |v: Option<f64>| v.map_or(NONE.into(), |v| format!("{} %", figures::digits(v)));
            let fastest = || format!("{} (its fastest)", cell.configuration);
            rows.push(vec![
                row.workload.clone(),
                row.configuration.clone().unwrap_or_else(fastest),
                letter(n).to_string(),
                value(Metric::Bw, cell.bytes_per_second),
                percent(cell.share.map(|s| 100.0 * s)),
                percent(cell.cpu_percent),
                value(Metric::Iops, cell.iops),
                value(Metric::LatencyMean, cell.latency_ns),
                cell.n.to_string(),
                against(cell.against_first.as_ref()),
            ]);
        }
    }
    let heading = [
        "workload",
        "configuration",
        "",
        "speed",
        "of the ceiling",
        "of one CPU",
        "accesses",
        "mean latency",
        "n",
        "against A, 95 %",
    ];
    table(m, 3, &heading, rows);
    m.note(
        "p",
        "fine",
        "Each number is the median over n trials. Against A: ratio of performances, whole trials compared.",
    );
}

fn effects(m: &mut Markup, effects: &[EffectRow]) {
    let mut rows = Vec::new();
    for row in effects.iter().filter(|r| r.primary) {
        let rest = if row.base == Some(Base::AllSaving) { " (rest saving)" } else { "" };
        for (n, cell) in row.cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            rows.push(vec![
                format!("{}{rest}", row.knob),
                format!("{}, {}", row.workload, figures::metric(row.metric)),
                letter(n).to_string(),
                format!("{} against {}", cell.to, cell.from),
                cell.verdict.name().to_owned(),
                cell.estimate_percent.map_or(NONE.into(), figures::percent),
                figures::interval(cell.low_percent, cell.high_percent),
                cell.saves_w.map_or(NONE.into(), |w| format!("{} W", figures::digits(w))),
                cell.blocks.to_string(),
                against(cell.against_first.as_ref()),
            ]);
        }
    }
    let heading =
        ["setting", "workload", "", "values", "verdict", "effect", "interval", "saves", "blocks", "against A"];
    table(m, 5, &heading, rows);
    m.note(
        "p",
        "fine",
        "Negative: performance is lost. Against A: what the setting leaves here over what it leaves there.",
    );
}

fn against(change: Option<&Change>) -> String {
    let Some(c) = change else { return NONE.into() };
    format!("{} ({})", figures::percent(c.estimate_percent), figures::interval(c.low_percent, c.high_percent))
}
