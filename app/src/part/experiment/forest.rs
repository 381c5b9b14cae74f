//! The intervals of all comparisons, narrowing around zero. A table, so that what is drawn can be read as well.

use crate::format;
use crate::html::Html;
use crate::live::Client;
use crate::model::{Row, Scale, comparisons};
use leptos::prelude::*;
use protocol::experiment::{Effect, ExperimentLive, Finding};

/// The plot; a sentence until there is something to draw.
#[component]
pub(crate) fn Forest() -> impl IntoView {
    let client = expect_context::<Client>();
    let drawn = Memo::new(move |_| client.handle.experiment(|e| html(&e.live)));
    view! { <section class="forest" aria-label="What is known so far" inner_html=move || drawn.get()></section> }
}

/// Word and shape: nothing is told by colour alone.
pub(in crate::part) fn mark(finding: Finding) -> (&'static str, &'static str) {
    match finding {
        Finding::Brake => ("\u{25bc} brake", "brake"),
        Finding::Helps => ("\u{25b2} helps", "helps"),
        Finding::Free => ("\u{25cf} free", "free"),
        Finding::Undecided => ("\u{25cb} undecided", "undecided"),
    }
}

pub(in crate::part) fn percent(p: f64) -> String {
    format::change(1.0 + p / 100.0)
}

fn html(live: &ExperimentLive) -> String {
    let mut h = Html::default();
    if live.effects.is_empty() {
        h.tag("<p class=\"fine\">The intervals are drawn from the end of the first block on.</p>");
        return h.done();
    }
    let scale = Scale::of(live);
    h.tag("<table><thead><tr><th scope=\"col\">Workload</th><th class=\"plot\" scope=\"col\">");
    axis(&mut h, live, scale);
    h.tag("</th><th scope=\"col\" class=\"figure\">Effect on performance</th><th scope=\"col\">Verdict</th>")
        .tag("<th scope=\"col\">Blocks</th></tr></thead>");
    for c in comparisons(live, scale) {
        h.tag("<tbody><tr class=\"what\"><th scope=\"rowgroup\" colspan=\"5\"><b>").text(c.title).tag("</b> ");
        h.text(&c.change).tag(" <span class=\"fine\">").text(c.aside.join(" \u{b7} ")).tag("</span></th></tr>");
        for r in &c.rows {
            row(&mut h, live, scale, r);
        }
        h.tag("</tbody>");
    }
    h.tag("</table>");
    h.done()
}

/// Ends of the axis, zero, and what the band means.
pub(in crate::part) fn axis(h: &mut Html, live: &ExperimentLive, scale: Scale) {
    let zero = scale.place(0.0).at;
    h.tag("<svg role=\"img\" aria-label=\"Axis from ").text(percent(scale.low)).tag(" to ").text(percent(scale.high));
    h.tag("\"><text x=\"0\" y=\"35%\">slower</text><text x=\"").text(zero).tag("%\" y=\"35%\" class=\"middle\">\u{b1}");
    h.text(live.head.threshold_percent).tag("\u{a0}%</text><text x=\"100%\" y=\"35%\" class=\"end\">faster</text>");
    h.tag("<text x=\"0\" y=\"85%\">").text(percent(scale.low));
    h.tag("</text><text class=\"middle\" y=\"85%\" x=\"").text(zero).tag("%\">0</text>");
    h.tag("<text x=\"100%\" y=\"85%\" class=\"end\">").text(percent(scale.high)).tag("</text></svg>");
}

fn row(h: &mut Html, live: &ExperimentLive, scale: Scale, r: &Row) {
    let e = r.effect;
    let (word, class) = mark(e.verdict);
    h.tag("<tr class=\"").tag(class).tag("\" data-knob=\"").text(&e.knob).tag("\" data-verdict=\"").tag(class);
    h.tag("\"><th scope=\"row\">").text(&e.workload).tag(" <span class=\"fine\">").text(e.metric);
    h.tag("</span></th><td class=\"plot\">");
    plot(h, live, scale, r);
    h.tag("</td><td class=\"figure\"><b>").text(e.estimate_percent.map_or("\u{2014}".into(), percent));
    h.tag("</b> <span class=\"fine\">").text(interval(e)).tag("</span></td><td class=\"verdict\">").tag(word);
    h.tag("</td><td class=\"fine\">").text(e.blocks);
    match e.more_blocks {
        Some(more) if e.blocks.saturating_add(more) > live.head.max_blocks => {
            h.tag(" of ").text(live.head.max_blocks).tag(", too few to tell")
        }
        Some(more) => h.tag(", about ").text(more).tag(" more"),
        None => h,
    };
    h.tag("</td></tr>");
}

fn interval(e: &Effect) -> String {
    match (e.low_percent, e.high_percent) {
        (Some(low), Some(high)) => format!("{} to {}", percent(low), percent(high)),
        _ => "no interval yet".into(),
    }
}

/// One interval: the band, zero, the interval with its ends, the estimate. Places are in percent, so that it fits any
/// width without being measured.
pub(in crate::part) fn plot(h: &mut Html, live: &ExperimentLive, scale: Scale, r: &Row) {
    let (from, to) = (scale.place(-live.head.threshold_percent).at, scale.place(live.head.threshold_percent).at);
    let zero = scale.place(0.0).at;
    h.tag("<svg aria-hidden=\"true\"><rect class=\"band\" height=\"100%\" x=\"").text(from).tag("%\" width=\"");
    h.text(to - from).tag("%\"/>");
    upright(h, "zero", zero, "0", "100%");
    if let Some((low, high)) = r.from_to {
        h.tag("<line class=\"interval\" y1=\"50%\" y2=\"50%\" x1=\"").text(low.at).tag("%\" x2=\"").text(high.at);
        h.tag("%\"/>");
        if low.beyond {
            h.tag("<text x=\"0\" y=\"50%\" class=\"beyond\">\u{2039}</text>");
        } else {
            upright(h, "interval", low.at, "28%", "72%");
        }
        if high.beyond {
            h.tag("<text x=\"100%\" y=\"50%\" class=\"beyond end\">\u{203a}</text>");
        } else {
            upright(h, "interval", high.at, "28%", "72%");
        }
    }
    if let Some(at) = r.at {
        h.tag("<circle cy=\"50%\" r=\"4\" cx=\"").text(at).tag("%\"/>");
    }
    h.tag("</svg>");
}

fn upright(h: &mut Html, class: &'static str, at: f64, from: &'static str, to: &'static str) {
    h.tag("<line class=\"").tag(class).tag("\" y1=\"").tag(from).tag("\" y2=\"").tag(to).tag("\" x1=\"").text(at);
    h.tag("%\" x2=\"").text(at).tag("%\"/>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::experiment_fixture::{WORKLOADS, live};

    #[test]
    fn every_row_says_its_numbers_and_its_verdict_in_words() {
        let mut live = live();
        live.effects[1].workload = "<b>".into();
        let html = html(&live);
        for words in [
            "Turbo Boost</b> off instead of on",
            WORKLOADS[0],
            "\u{2212}3.0\u{a0}%",
            "\u{2212}4.1\u{a0}% to \u{2212}2.0\u{a0}%",
            "\u{25bc} brake",
            "\u{25cb} undecided",
            "no interval yet",
            "\u{b1}1\u{a0}%",
            "&lt;b>",
        ] {
            assert!(html.contains(words), "{words}: {html}");
        }
        assert_eq!(html.matches("class=\"band\"").count(), 2);
        (live.head.max_blocks, live.effects[0].blocks) = (20, 14);
        for (more, words) in [(6, "14, about 6 more"), (7, "14 of 20, too few to tell"), (u32::MAX, "too few")] {
            live.effects[0].more_blocks = Some(more);
            assert!(super::html(&live).contains(words), "{words}");
        }
        live.effects.clear();
        assert!(super::html(&live).contains("first block"));
    }
}
