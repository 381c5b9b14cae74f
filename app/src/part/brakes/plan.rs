//! What an experiment would do, before anything is touched: the server's answer as HTML.

use super::html::{term, text};
use crate::format;
use crate::model::FILE;
use crate::part::term::explain;
use protocol::error::ErrorBody;
use serde_json::Value;

/// A text of the answer, as HTML; empty where there is none.
fn of(value: &Value, key: &str) -> String {
    text(value.get(key).and_then(Value::as_str).unwrap_or_default())
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn words(value: &Value, key: &str) -> String {
    list(value, key).iter().filter_map(Value::as_str).map(text).collect::<Vec<_>>().join(", ")
}

/// Why the answer says that it cannot be started; an error that cannot be read is none.
pub(super) fn refused(answer: &Value) -> Option<ErrorBody> {
    crate::read::value(answer.get("refused")?).ok()
}

/// What may go wrong with the settings that the answer would change; none where nothing is risky.
pub(super) fn risk(answer: &Value) -> Option<String> {
    let mut all: Vec<&str> = list(answer, "changes").iter().filter_map(|c| c.get("risk")?.as_str()).collect();
    all.dedup();
    (!all.is_empty()).then(|| all.join(" "))
}

/// The plan. `saved` is the address under which the file can be saved.
pub(super) fn plan(answer: &Value, command: &str, saved: &str) -> String {
    let seconds = |key: &str| format::about(answer.get(key).and_then(Value::as_f64).unwrap_or(0.0));
    let (least, most) = (seconds("least_seconds"), seconds("most_seconds"));
    let span = if least == most { least } else { format!("{least} to {most}") };
    let trials = answer.get("trials_per_block").and_then(Value::as_u64).unwrap_or(0);
    let mut out = format!(
        "<h2>{}</h2><p class=\"span\" data-testid=\"plan-time\">{span}</p><p class=\"fine\">Blocks of {trials} trials, \
         about {} each, in random order. It ends by itself when every verdict is clear.</p>",
        of(answer, "question"),
        seconds("block_seconds"),
    );
    out += &changes(list(answer, "changes"));
    out += &compared(answer);
    let workload = |v: &Value| {
        let name = v.as_str().unwrap_or_default();
        explain(name).map_or_else(|| text(name), |tip| term(&format!("plan-{name}"), name, tip))
    };
    out += &bullets("What is measured each time", list(answer, "workloads"), workload);
    let unmapped = |u: &Value| format!("{} <span class=\"fine\">\u{b7} {}</span>", of(u, "setting"), of(u, "reason"));
    out += &bullets("What this host has no counterpart for", list(answer, "unmapped"), unmapped);
    out += &bullets("To know", list(answer, "notes"), |v| text(v.as_str().unwrap_or_default()));
    out + &format!(
        "<h3>The same in a terminal</h3><pre tabindex=\"0\" data-testid=\"command\">{}</pre>\
         <details class=\"more\"><summary>As a file</summary><pre tabindex=\"0\" data-testid=\"toml\">{}</pre>\
         <p><a class=\"button\" href=\"{}\" download=\"{FILE}\">Save {FILE}</a></p></details>",
        text(command),
        of(answer, "toml"),
        text(saved),
    )
}

fn changes(changes: &[Value]) -> String {
    if changes.is_empty() {
        return "<p>No setting is changed.</p>".into();
    }
    let row = |c: &Value| {
        let (risk, id) = (of(c, "risk"), of(c, "id"));
        let risk = if risk.is_empty() { risk } else { format!("<p class=\"fine warning\">{risk}</p>") };
        format!(
            "<tr data-knob=\"{id}\"><th scope=\"row\">{} <code class=\"fine\">{id}</code>{risk}</th>\
             <td class=\"text\">{}</td><td class=\"text\">{}</td></tr>",
            of(c, "title"),
            c.get("now").and_then(Value::as_str).map_or_else(|| "\u{2014}".into(), text),
            words(c, "values"),
        )
    };
    let rows: String = changes.iter().map(row).collect();
    format!(
        "<h3>What will be changed</h3><table class=\"data\"><thead><tr><th scope=\"col\">Setting</th>\
         <th scope=\"col\" class=\"text\">Now</th><th scope=\"col\" class=\"text\">Will be</th></tr></thead>\
         <tbody>{rows}</tbody></table><p class=\"fine\">Each goes back to what it is now: at the end, when you stop \
         it, and when Brakecheck is killed.</p>"
    )
}

fn compared(answer: &Value) -> String {
    let changes = list(answer, "changes");
    let line = |c: &Value| {
        let (id, base) = (of(c, "knob"), of(c, "base"));
        let what = changes.iter().find(|k| of(k, "id") == id).map_or(id, |k| of(k, "title"));
        let base = match base.as_str() {
            "all-saving" => " \u{b7} all others saving",
            "all-performance" => " \u{b7} all others at full performance",
            _ => "",
        };
        format!("<li>{what}: {} against {} <span class=\"fine\">{base}</span></li>", of(c, "to"), of(c, "from"))
    };
    let all = list(answer, "comparisons");
    let lines: String = all.iter().map(line).collect();
    let open = if all.len() < 9 { " open" } else { "" };
    format!(
        "<details class=\"more\"{open}><summary>What is compared: {}</summary><ul>{lines}</ul></details>",
        all.len()
    )
}

fn bullets(title: &str, all: &[Value], line: impl Fn(&Value) -> String) -> String {
    if all.is_empty() {
        return String::new();
    }
    let lines: String = all.iter().map(|v| ["<li>", &line(v), "</li>"].concat()).collect();
    format!("<h3>{title}</h3><ul>{lines}</ul>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::error::ErrorCode;
    use protocol::experiment::request::{PlannedComparison, PlannedKnob};
    use protocol::experiment::{Base, Design, ExperimentSpec, PlanPreview, Unmapped};

    #[test]
    fn everything_in_the_servers_answer_is_shown() {
        let error = ErrorBody::new(ErrorCode::Busy, "A run is on.").hint("Wait for it.");
        let preview = PlanPreview {
            spec: ExperimentSpec::new(Design::Check, "/mnt"),
            toml: "design = \"check\"".into(),
            question: "Which?".into(),
            changes: vec![PlannedKnob {
                id: "cpu.turbo".into(),
                title: "Turbo <Boost>".into(),
                now: Some("on".into()),
                values: vec!["on".into(), "off".into()],
                risk: Some("The fan may start.".into()),
            }],
            configurations: vec![],
            comparisons: vec![PlannedComparison {
                knob: "cpu.turbo".into(),
                from: "on".into(),
                to: "off".into(),
                base: Some(Base::AllPerformance),
            }],
            workloads: vec!["4k-qd1".into()],
            unmapped: vec![Unmapped { setting: "VT".into(), reason: "firmware only".into() }],
            trials_per_block: 6,
            block_seconds: 24.0,
            least_seconds: 180.0,
            most_seconds: 1500.0,
            notes: vec!["Watts are not measured here.".into()],
            refused: Some(error.clone()),
        };
        let answer = serde_json::to_value(&preview).unwrap();
        assert_eq!(refused(&answer), Some(error));
        assert_eq!(risk(&answer).as_deref(), Some("The fan may start."));
        let html = plan(&answer, "brakecheck check", "data:,x");
        for part in [
            "<h2>Which?</h2>",
            "3\u{a0}min to 25\u{a0}min",
            "Blocks of 6 trials, about 24\u{a0}s each",
            "Turbo &lt;Boost&gt; <code class=\"fine\">cpu.turbo</code>",
            "The fan may start.",
            "<td class=\"text\">on</td><td class=\"text\">on, off</td>",
            "<li>Turbo &lt;Boost&gt;: off against on <span class=\"fine\"> \u{b7} all others at full performance</span></li>",
            "VT <span class=\"fine\">\u{b7} firmware only</span>",
            "<li>Watts are not measured here.</li>",
            ">brakecheck check</pre>",
            "design = &quot;check&quot;",
            ">4k-qd1</span>",
        ] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
    }

    #[test]
    fn an_answer_without_anything_changes_nothing() {
        assert_eq!((refused(&Value::Null), risk(&Value::Null)), (None, None));
        assert!(plan(&Value::Null, "", "").contains("No setting is changed."));
    }
}
