//! The form as HTML. Its fields have the names that `Brakes::put` knows; the page listens to them in one place.

use super::html::{term, text};
use crate::model::{BASES, Brakes, DESIGNS, NUMBERS, QUESTIONS, sorted};
use crate::part::term::explain;
use protocol::experiment::workloads::NAMES;
use protocol::knob::Knob;
use protocol::preset::PRESETS;

/// The cards.
pub(crate) fn questions(set: &Brakes) -> String {
    let card = |q: &crate::model::Question| {
        let checked = if set.has("question", q.name) { " checked" } else { "" };
        let (name, title, about) = (q.name, q.title, q.about);
        format!(
            "<label class=\"card\" data-question=\"{name}\"><input type=\"radio\" name=\"question\" \
             value=\"{name}\"{checked}><span class=\"title\">{title}</span><span class=\"fine\">{about}</span>\
             <span class=\"why\" id=\"why-{name}\"></span></label>"
        )
    };
    let cards: String = QUESTIONS.iter().map(card).collect();
    format!(
        "<legend>What do you want to know?</legend>{cards}<p><label class=\"button\">Open a file<input type=\"file\" \
         name=\"file\" class=\"visually-hidden\" accept=\".toml\"></label></p>"
    )
}

/// What is measured, and when it ends.
pub(crate) fn form(set: &Brakes) -> String {
    let choice = |name, label, tip, options: &[(&str, &str)]| {
        let option = |(value, shown): &(&str, &str)| {
            let selected = if set.has(name, value) { " selected" } else { "" };
            format!("<option value=\"{value}\"{selected}>{shown}</option>")
        };
        let options: String = options.iter().map(option).collect();
        field(name, label, tip, &format!("<select id=\"field-{name}\" name=\"{name}\">{options}</select>"))
    };
    let input = |name, label, tip, shown: &str| {
        let input = format!(
            "<input id=\"field-{name}\" name=\"{name}\" type=\"text\" autocomplete=\"off\" placeholder=\"{shown}\" \
             value=\"{}\" aria-describedby=\"problem-{name}\">",
            text(set.typed(name))
        );
        field(name, label, tip, &input)
    };
    let design = choice("design", "Design", "How configurations are chosen, and what is compared with what.", &DESIGNS);
    let from = choice("from", "Changed from", "What all other settings are at while one is changed.", &BASES);
    let area = |name, label, tip, shown: &str| {
        let typed = text(set.typed(name));
        let area = format!(
            "<textarea id=\"field-{name}\" name=\"{name}\" rows=\"5\" spellcheck=\"false\" \
             aria-describedby=\"problem-{name}\" placeholder=\"{shown}\">{typed}</textarea>"
        );
        field(name, label, tip, &area)
    };
    let rungs = area(
        "rung",
        "Rungs",
        "A line each: name, colon, settings. A step of a ladder keeps what those above it set; two configurations take \
         two lines, or none for as found against full performance.",
        "as shipped:&#10;Turbo off: cpu.turbo=off&#10;C1E off: cpu.c1e=off",
    );
    let tables = area(
        "tables",
        "Workloads of your own",
        "A line each: name, colon, fio\u{2019}s names with their values.",
        "db: rw=randread bs=8k iodepth=4 runtime=2s",
    );
    let others = "More names, separated by commas: cold-read-2s rests 2 s before each read.";
    let others = input("others", "Further workloads", others, "cold-read-2s");
    let numbers: String = NUMBERS.iter().map(|[name, label, _, shown, tip]| input(name, label, tip, shown)).collect();
    let workload = |name: &str| {
        let shown = explain(name).map_or_else(|| text(name), |tip| term(name, name, tip));
        tick("workloads", name, &shown, set.has("workloads", name))
    };
    let workloads: String = boxes().map(workload).collect();
    let open = if set.more().is_empty() { "" } else { " open" };
    let more = if open.is_empty() {
        String::new()
    } else {
        format!("<p class=\"fine\">Also from the file: {}</p>", text(&set.more()))
    };
    format!(
        "<div class=\"design fields\">{design}<div class=\"one\">{from}</div></div>\
         <div class=\"rungs\">{rungs}<div id=\"settings\"></div></div>\
         <div class=\"knobs\" id=\"knobs\"></div>\
         <details class=\"more\"{open}><summary>Workloads, threshold, blocks</summary>{more}\
         <div class=\"ticks\" role=\"group\" aria-label=\"Workloads\">{workloads}</div>\
         <p class=\"problem\" id=\"problem-workloads\"></p>\
         <p class=\"fine\">None ticked: those of the question.</p>\
         {tables}<div class=\"fields\">{others}{numbers}</div></details>"
    )
}

/// Names of the workloads that have a box.
pub(crate) fn boxes() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter().chain(PRESETS.iter().map(|p| p.name))
}

fn field(name: &str, label: &str, tip: &str, input: &str) -> String {
    let shown = term(name, label, tip);
    format!(
        "<div class=\"field\"><span class=\"label\"><label for=\"field-{name}\" class=\"visually-hidden\">{label}\
         </label>{shown}</span>{input}<p class=\"problem\" id=\"problem-{name}\"></p></div>"
    )
}

fn tick(name: &str, value: &str, shown: &str, ticked: bool) -> String {
    let (value, checked) = (text(value), if ticked { " checked" } else { "" });
    format!(
        "<label class=\"tick\"><input type=\"checkbox\" name=\"{name}\" value=\"{value}\"{checked}>\
         <span>{shown}</span></label>"
    )
}

/// The settings of this host: boxes to tick, and those that cannot be changed with the reason. `ticked` tells those
/// that are.
pub(crate) fn knobs(knobs: &[Knob], ticked: impl Fn(&str) -> bool) -> String {
    let (mut can, mut cannot) = (String::new(), String::new());
    for group in sorted(knobs) {
        let present = || group.present.iter().filter_map(|id| knobs.iter().find(|k| k.id == *id));
        if present().any(|k| k.writable) {
            can += &["<p class=\"fine\">", group.group.title(), "</p><div class=\"ticks column\">"].concat();
        }
        let mut line = |title: &str, why: &str| {
            cannot += &["<li>", &text(title), " <span class=\"fine\">\u{b7} ", &text(why), "</span></li>"].concat();
        };
        for k in present() {
            if k.writable {
                let shown = format!("{} <code class=\"fine\">{}</code>", text(&k.title), text(&k.id));
                can += &tick("knobs", &k.id, &shown, ticked(&k.id));
            } else {
                line(&format!("{} ({})", k.title, k.id), k.reason.as_deref().unwrap_or("cannot be set here"));
            }
        }
        if present().any(|k| k.writable) {
            can += "</div>";
        }
        group.absent.iter().for_each(|(title, why)| line(title, why));
    }
    format!(
        "<p class=\"fine\">Settings. None ticked: all that can be set without risk.</p>\
         <p class=\"problem\" id=\"problem-knobs\"></p>{can}\
         <details class=\"more\"><summary>Those that cannot be changed here</summary><ul>{cannot}</ul></details>"
    )
}

/// Every setting that can be made, as a list to choose from.
pub(crate) fn settings(knobs: &[Knob]) -> String {
    let mut options = String::new();
    for k in knobs.iter().filter(|k| k.writable) {
        for value in &k.values {
            options += &["<option>", &text(&k.id), "=", &text(value), "</option>"].concat();
        }
    }
    format!(
        "<select id=\"setting\" name=\"setting\" aria-label=\"Add a setting to the last line\">\
         <option value=\"\">Add a setting to the last line</option>{options}</select>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::settings_fixture::knob;

    #[test]
    fn every_key_has_a_place_for_its_problem() {
        let all = form(&Brakes::default()) + &knobs(&[], |_| false);
        for key in crate::model::keys() {
            assert_eq!(all.matches(&format!("id=\"problem-{key}\"")).count(), 1, "{key}");
        }
    }

    #[test]
    fn the_form_shows_what_is_set() {
        let keys = serde_json::json!({ "design": "ab", "workloads": ["4k-qd1"], "seed": 7, "name": "<b>", "rung": [
            { "name": "a", "set": { "x": "<i>" } }, { "name": "b", "set": {} },
        ] });
        let (set, _) = Brakes::of_file(&keys);
        let html = questions(&set) + &form(&set);
        for part in [
            "value=\"own\" checked",
            "<option value=\"ab\" selected>",
            "value=\"4k-qd1\" checked",
            "value=\"7\"",
            ">a: x=&lt;i&gt;\nb\n</textarea>",
            "name = &quot;&lt;b&gt;&quot;",
        ] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
        assert_eq!(html.matches(" checked").count(), 2);
    }

    #[test]
    fn settings_that_cannot_be_changed_are_told_with_the_reason() {
        let turbo = Knob { writable: true, ..knob("cpu.turbo", "on", &["on", "off"]) };
        let smt = Knob { writable: false, reason: Some("needs <root>".into()), ..knob("cpu.smt", "on", &["on"]) };
        let html = knobs(&[turbo.clone(), smt], |id| id == "cpu.turbo");
        assert!(html.contains("value=\"cpu.turbo\" checked"), "{html}");
        assert!(!html.contains("value=\"cpu.smt\"") && html.contains("needs &lt;root&gt;"), "{html}");
        let list = settings(&[turbo]);
        assert!(list.contains("<option>cpu.turbo=off</option>"), "{list}");
    }

    #[test]
    fn explanations_are_two_sentences_at_most() {
        for [.., tip] in NUMBERS {
            assert!(tip.matches(". ").count() <= 1 && tip.ends_with('.'), "{tip}");
        }
    }
}
