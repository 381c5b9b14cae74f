//! Between the form and an experiment file: rungs and workloads as lines of text, and a file's keys as a form.

use super::{Brakes, DESIGNS, NUMBERS, OWN, QUESTIONS};
use crate::model::setup::Problem;
use serde_json::{Map, Value, json};

/// Keys of an experiment file that say what the form itself says in other ways.
const PLACED: [&str; 6] = ["design", "target", "workloads", "knobs", "rung", "from"];

impl Brakes {
    /// The form as a file has it: the keys that stand there, as the server has read them, and its target.
    pub(crate) fn of_file(keys: &Value) -> (Self, Option<String>) {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let key = |name: &str| keys.get(name).unwrap_or(&Value::Null);
        let list = |name: &str| key(name).as_array().map_or(&[] as &[Value], Vec::as_slice);
        let word = |name: &str| key(name).as_str();
        let mut form = Self::default();
        let design = word("design").unwrap_or_default();
        let asked = QUESTIONS.iter().find(|q| q.name == design);
        // What has to be set by hand shows where it is set.
        let by_hand = ["knobs", "rung", "from"].iter().any(|name| !key(name).is_null());
        match asked {
            Some(question) if !by_hand || DESIGNS.iter().all(|d| d.0 != design) => form.question = question.name,
            _ => form.question = OWN,
        }
        design.clone_into(&mut form.design);
        if let Some(from) = word("from") {
            from.clone_into(&mut form.from);
        }
        form.knobs = list("knobs").iter().map(text).collect();
        form.rungs = list("rung").iter().map(|r| line_of(r, r.get("set").unwrap_or(&Value::Null), ", ")).collect();
        let (names, tables): (Vec<_>, Vec<_>) = list("workloads").iter().partition(|w| w.is_string());
        form.tables = tables.into_iter().map(|w| line_of(w, w, " ")).collect();
        form.workloads = names.into_iter().map(text).collect();
        for ([name, ..], number) in NUMBERS.iter().zip(&mut form.numbers) {
            if !key(name).is_null() {
                *number = text(key(name));
            }
        }
        form.more = keys.as_object().cloned().unwrap_or_default();
        // Of what is set by hand, a question has no fields.
        let placed = if form.question == OWN { &PLACED[..] } else { &PLACED[..3] };
        form.more.retain(|name, _| !placed.contains(&name.as_str()) && NUMBERS.iter().all(|n| n[0] != name));
        form.risk = form.more.remove("risk") == Some(Value::Bool(true));
        (form, word("target").filter(|t| !t.is_empty()).map(str::to_owned))
    }
}

pub(super) fn rungs(text: &str) -> Result<Value, Problem> {
    let one = |name: &str, set| json!({ "name": name, "set": set });
    lines(text, "rung", "cpu.turbo=off", one).map(Value::Array)
}

/// Each with fio's names; the server says what is wrong with a value.
pub(super) fn tables(text: &str) -> Result<Vec<Value>, Problem> {
    let one = |name: &str, mut set: Map<String, Value>| {
        for value in set.values_mut() {
            let read = value.as_str().and_then(|text| match text {
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                number => number.parse::<u64>().ok().map(Value::from),
            });
            *value = read.unwrap_or_else(|| value.take());
        }
        set.insert("name".into(), name.into());
        Value::Object(set)
    };
    lines(text, "tables", "rw=randread", one)
}

/// Lines of `name: key=value, key=value`.
fn lines(
    text: &str,
    field: &'static str,
    example: &str,
    one: impl Fn(&str, Map<String, Value>) -> Value,
) -> Result<Vec<Value>, Problem> {
    let mut out = Vec::new();
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (name, settings) = line.split_once(':').unwrap_or((line, ""));
        let mut set = Map::new();
        // A value may have a space in it: `2.5 GT/s`.
        let mut last: Option<(&str, String)> = None;
        for word in settings.split([',', ' ']).filter(|w| !w.is_empty()) {
            match (word.split_once('='), &mut last) {
                (Some((key, value)), last) => {
                    if let Some((key, value)) = last.replace((key, value.to_owned())) {
                        set.insert(key.into(), value.into());
                    }
                }
                (None, Some((_, value))) => *value += &[" ", word].concat(),
                (None, None) => {
                    let message = format!("Line {}: `{word}` sets nothing. Write it as {example}.", n + 1);
                    return Err(Problem { field, message });
                }
            }
        }
        if let Some((key, value)) = last {
            set.insert(key.into(), value.into());
        }
        out.push(one(name.trim(), set));
    }
    Ok(out)
}

/// Such a line: the name of one, and the other settings of the other.
fn line_of(named: &Value, settings: &Value, between: &str) -> String {
    let mut line = named.get("name").and_then(Value::as_str).unwrap_or("unnamed").to_owned();
    let mut before = ": ";
    for (key, value) in settings.as_object().into_iter().flatten().filter(|(key, _)| *key != "name") {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        line += &[before, key, "=", &value].concat();
        before = between;
    }
    line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_fills_the_form_and_says_the_same_again() {
        for keys in [
            json!({ "design": "check", "target": "/mnt", "seed": 7, "name": "monday" }),
            json!({ "design": "check", "target": "/mnt", "knobs": ["cpu.turbo"] }),
            json!({ "design": "pcie-link", "target": "/mnt", "risk": true }),
            json!({ "design": "one-at-a-time", "target": "/mnt", "from": "all-saving", "knobs": ["cpu.turbo"],
                "workloads": ["4k-qd1", "cold-read-2s", { "name": "db", "rw": "randread", "bs": "8k", "iodepth": 4 }],
                "threshold_percent": 2.5, "max_blocks": 20 }),
            json!({ "design": "ladder", "target": "/mnt", "rung": [
                { "name": "as shipped", "set": {} },
                { "name": "fast", "set": { "cpu.turbo": "on", "sata.ncq@sda": "32" } },
            ] }),
            json!({ "design": "ab", "target": "/mnt", "rung": [
                { "name": "a", "set": { "cpu.turbo": "on" } }, { "name": "b", "set": { "cpu.turbo": "off" } },
            ] }),
        ] {
            let (mut form, target) = Brakes::of_file(&keys);
            form.keep_ticks(&["4k-qd1"]);
            assert_eq!(target.as_deref(), Some("/mnt"));
            assert_eq!(form.spec("/mnt").unwrap(), keys);
        }
        assert_eq!(Brakes::of_file(&json!({ "design": "factorial" })).0.form(), "knobs");
        let mut asked = Brakes::default();
        asked.put("question", "ncq".into(), true);
        asked.put("design", "ncq".into(), true);
        assert_eq!(Brakes::of_file(&json!({ "design": "ncq" })).0, asked);
    }
}
