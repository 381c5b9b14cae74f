//! The question as it is put together on the page: texts as typed, and the experiment they amount to.
//!
//! An experiment is sent as JSON made by hand and judged by the server, so that its types, and all the rules they come
//! with, are not part of the page.

mod file;

use super::setup::{Problem, quoted};
use file::{rungs, tables};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// A question that can be asked: a design, and how people put it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Question {
    /// Name of the design, or [`OWN`].
    pub(crate) name: &'static str,
    /// In plain words.
    pub(crate) title: &'static str,
    /// How it is answered, in a sentence.
    pub(crate) about: &'static str,
}

/// The question that is built by hand.
pub(crate) const OWN: &str = "own";

const fn question(name: &'static str, title: &'static str, about: &'static str) -> Question {
    Question { name, title, about }
}

/// All, in the order they are offered.
pub(crate) const QUESTIONS: [Question; 9] = [
    question(
        "check",
        "Which setting slows this drive?",
        "Tries every setting that can matter for it, each alone, then confirms what looks like a brake.",
    ),
    question(
        "ab",
        "What would full performance give me?",
        "Everything as it is now against every setting at full performance.",
    ),
    question(
        "ncq",
        "Does command queueing matter here?",
        "The drive\u{2019}s own queue at full depth against one command at a time.",
    ),
    question("pcie-link", "Does the PCIe link hold it back?", "Each speed the drive\u{2019}s link can be set to."),
    question(
        "wait-mode",
        "Does it matter how a program waits?",
        "The same reads by a program that sleeps and by one that polls. No setting is changed.",
    ),
    question(
        "power-plan",
        "What does each power profile cost?",
        "The platform\u{2019}s own profiles, from saving to performance.",
    ),
    question(
        "x58-gigabyte",
        "Replay the 2009 ladder: Gigabyte",
        "Six runs, each with one more saving switched off, as on an EX58-UD4P in 2009.",
    ),
    question(
        "x58-supermicro",
        "Replay the 2009 ladder: Supermicro",
        "Six runs, each with one more saving switched off, as on an X8SAX in 2009.",
    ),
    question(OWN, "Build my own", "Design, settings, workloads and limits of your own choice."),
];

/// Designs that can be built by hand, with what they do.
pub(crate) const DESIGNS: [(&str, &str); 4] = [
    ("one-at-a-time", "Each setting alone"),
    ("ab", "Two configurations"),
    ("ladder", "One step after the other"),
    ("factorial", "All combinations"),
];

/// Where a setting is changed from, when it is changed alone.
pub(crate) const BASES: [(&str, &str); 3] = [
    ("both", "from all saving and from all performance"),
    ("all-saving", "from all saving"),
    ("all-performance", "from all performance"),
];

/// Fields with a number in them: key of the experiment, label, example (whole where it is one), what is shown while
/// empty, and what it means.
pub(crate) const NUMBERS: [[&str; 5]; 7] = [
    ["threshold_percent", "Threshold in %", "1.5", "1", "A cost that matters to you. What costs less is called free."],
    [
        "precision_percent",
        "Precision in %",
        "0.5",
        "none",
        "Goes on until every interval is this narrow, instead of until every verdict is clear.",
    ],
    [
        "confidence",
        "Confidence",
        "0.95",
        "0.95",
        "Probability that all intervals hold together, at every look: 0.95 for 95 %.",
    ],
    ["trial_seconds", "Seconds a trial", "2.5", "", "How long each trial is measured; empty for the usual time."],
    [
        "min_blocks",
        "Fewest blocks",
        "6",
        "6",
        "Blocks before anything is concluded, 2 or more. A block runs every configuration once.",
    ],
    ["max_blocks", "Most blocks", "60", "60", "Blocks after which it ends, decided or not."],
    ["seed", "Seed", "42", "drawn", "Start of the random order. The same seed gives the same order."],
];

/// Further keys of an experiment beside which a problem can be shown.
const LISTS: [&str; 4] = ["workloads", "knobs", "rung", "tables"];

/// Every key that has a field.
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    NUMBERS.iter().map(|n| n[0]).chain(LISTS)
}

/// Everything that is set before an experiment; what is empty is left to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Brakes {
    /// Name of the question.
    question: &'static str,
    /// Design of an experiment of one's own.
    design: String,
    /// One of [`BASES`].
    from: String,
    /// Ids of the knobs that are ticked.
    knobs: Vec<String>,
    /// A rung a line: `name: knob=value, knob=value`.
    pub(crate) rungs: String,
    /// Workloads that are ticked.
    workloads: Vec<String>,
    /// Names of further ones, separated by commas.
    others: String,
    /// Workloads of one's own, one a line: `name: rw=randread bs=8k`.
    tables: String,
    /// What is risky may be changed.
    risk: bool,
    /// What a file says besides.
    more: Map<String, Value>,
    /// One for each of [`NUMBERS`].
    numbers: [String; NUMBERS.len()],
}

impl Default for Brakes {
    fn default() -> Self {
        Self {
            question: QUESTIONS[0].name,
            design: DESIGNS[0].0.into(),
            from: BASES[0].0.into(),
            knobs: Vec::new(),
            rungs: String::new(),
            workloads: Vec::new(),
            others: String::new(),
            tables: String::new(),
            risk: false,
            more: Map::new(),
            numbers: Default::default(),
        }
    }
}

impl Brakes {
    /// Takes what was put into a field of this name. A box that is ticked puts its value into a list.
    pub(crate) fn put(&mut self, name: &str, value: String, ticked: bool) {
        let list = match name {
            "question" => {
                self.question = QUESTIONS.iter().find(|q| q.name == value).map_or(self.question, |q| q.name);
                self.risk = false;
                self.more.clear();
                return;
            }
            "risk" => {
                self.risk = ticked;
                return;
            }
            "knobs" => &mut self.knobs,
            "workloads" => &mut self.workloads,
            _ => {
                let text = match name {
                    "design" => Some(&mut self.design),
                    "from" => Some(&mut self.from),
                    "rung" => Some(&mut self.rungs),
                    "others" => Some(&mut self.others),
                    "tables" => Some(&mut self.tables),
                    name => NUMBERS.iter().position(|n| n[0] == name).and_then(|at| self.numbers.get_mut(at)),
                };
                if let Some(text) = text {
                    *text = value;
                }
                return;
            }
        };
        list.retain(|x| *x != value);
        if ticked {
            list.push(value);
        }
    }

    /// Whether this value is chosen, or ticked, in the field of this name.
    pub(crate) fn has(&self, name: &str, value: &str) -> bool {
        match name {
            "knobs" => self.knobs.iter().any(|k| k == value),
            "workloads" => self.workloads.iter().any(|w| w == value),
            "question" => self.question == value,
            name => self.typed(name) == value,
        }
    }

    /// What stands in the field of this name.
    pub(crate) fn typed(&self, name: &str) -> &str {
        match name {
            "design" => &self.design,
            "from" => &self.from,
            "rung" => &self.rungs,
            "others" => &self.others,
            "tables" => &self.tables,
            name => NUMBERS.iter().position(|n| n[0] == name).and_then(|at| self.numbers.get(at)).map_or("", |n| n),
        }
    }

    /// What a file says besides what has a field, in the order of its keys.
    pub(crate) fn more(&self) -> String {
        let pair = |(key, value): (&String, &Value)| format!("{key} = {value}");
        self.more.iter().map(pair).collect::<Vec<_>>().join(", ")
    }

    /// Whether what is risky may be changed.
    pub(crate) fn takes_risk(&self) -> bool {
        self.risk
    }

    /// Workloads that are chosen by name and have no box.
    pub(crate) fn keep_ticks(&mut self, boxes: &[&str]) {
        let (ticked, others): (Vec<_>, Vec<_>) = self.workloads.drain(..).partition(|w| boxes.contains(&w.as_str()));
        self.workloads = ticked;
        self.others = others.join(", ");
    }

    /// What the form shows besides the question: nothing (empty), `one` where each knob is changed alone, `knobs`, `rungs`.
    pub(crate) fn form(&self) -> &'static str {
        match self.design.as_str() {
            _ if self.question != OWN => "",
            "one-at-a-time" => "one",
            "ab" | "ladder" => "rungs",
            _ => "knobs",
        }
    }

    fn design(&self) -> &str {
        if self.question == OWN { &self.design } else { self.question }
    }

    /// What differs from the design as it is, as an experiment file has it.
    fn wishes(&self) -> Result<Map<String, Value>, Problem> {
        let mut keys = self.more.clone();
        if self.risk {
            keys.insert("risk".into(), Value::Bool(true));
        }
        let further = self.others.split(',').map(str::trim).filter(|name| !name.is_empty());
        let named = self.workloads.iter().map(String::as_str).chain(further).map(Value::from);
        let workloads: Vec<Value> = named.chain(tables(&self.tables)?).collect();
        if !workloads.is_empty() {
            keys.insert("workloads".into(), json!(workloads));
        }
        match self.form() {
            "" => {}
            "rungs" if !self.rungs.trim().is_empty() => {
                keys.insert("rung".into(), rungs(&self.rungs)?);
            }
            form => {
                if !self.knobs.is_empty() && form != "rungs" {
                    keys.insert("knobs".into(), json!(self.knobs));
                }
                if form == "one" && self.from != BASES[0].0 {
                    keys.insert("from".into(), json!(self.from));
                }
            }
        }
        for ([key, _, example, ..], text) in NUMBERS.iter().zip(&self.numbers) {
            if let Some(number) = number(key, text, example)? {
                keys.insert((*key).into(), number);
            }
        }
        Ok(keys)
    }

    /// The experiment, as the server reads it.
    pub(crate) fn spec(&self, target: &str) -> Result<Value, Problem> {
        let mut spec = self.wishes()?;
        spec.insert("design".into(), json!(self.design()));
        spec.insert("target".into(), json!(target));
        Ok(Value::Object(spec))
    }

    /// The command that does the same in a terminal; with rungs, that for the saved file.
    pub(crate) fn command_line(&self, target: &str) -> Option<String> {
        let wishes = self.wishes().ok()?;
        let target = quoted(target);
        if wishes.contains_key("rung") || !self.tables.trim().is_empty() {
            return Some(format!("brakecheck experiment run {FILE} --target {target}"));
        }
        let mut out = match self.design() {
            "check" => format!("brakecheck check --target {target}"),
            design => format!("brakecheck experiment run {design} --target {target}"),
        };
        for (key, value) in wishes {
            let _ = write!(out, " --set {}", quoted(&format!("{key}={value}")));
        }
        Some(out)
    }
}

/// Name under which the page saves an experiment.
pub(crate) const FILE: &str = "experiment.toml";

/// A field with a number in it; empty is none. Whole numbers where the example is one.
fn number(field: &'static str, text: &str, example: &str) -> Result<Option<Value>, Problem> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let whole = !example.contains('.');
    let read =
        if whole { text.parse::<u64>().ok().map(Value::from) } else { text.parse::<f64>().ok().map(Value::from) };
    // JSON has no NaN and no infinity: those become null.
    read.filter(|v| !v.is_null()).map(Some).ok_or_else(|| {
        let kind = if whole { "a whole number" } else { "a number" };
        Problem { field, message: format!("Write {kind} such as {example}.") }
    })
}

/// The field that a message of the server is about: messages begin with the key.
pub(crate) fn field_of(message: &str) -> Option<&'static str> {
    keys().find(|key| message.strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', ':'])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::experiment::{Design, ExperimentSpec, SpecError};

    fn read(brakes: &Brakes) -> ExperimentSpec {
        serde_json::from_value(brakes.spec("/mnt").unwrap()).unwrap()
    }

    fn with(fields: &[(&str, &str)]) -> Brakes {
        let mut brakes = Brakes::default();
        for (name, value) in fields {
            brakes.put(name, (*value).into(), true);
        }
        brakes
    }

    #[test]
    fn each_question_is_a_design_with_its_defaults() {
        for q in QUESTIONS.iter().filter(|q| q.name != OWN) {
            let spec = read(&with(&[("question", q.name)]));
            assert_eq!(spec, ExperimentSpec::new(q.name.parse().unwrap(), "/mnt"));
        }
        for (design, _) in DESIGNS {
            let own = with(&[("question", OWN), ("design", design)]);
            assert_eq!(read(&own), ExperimentSpec::new(design.parse().unwrap(), "/mnt"));
        }
    }

    #[test]
    fn what_is_typed_is_sent() {
        let mut own = with(&[
            ("question", OWN),
            ("from", "all-saving"),
            ("knobs", "cpu.turbo"),
            ("knobs", "cpu.epb"),
            ("workloads", "4k-qd1"),
            ("others", " cold-read-2s, cdm8,"),
            ("threshold_percent", "2.5"),
            ("seed", "7"),
            ("nothing of ours", "x"),
        ]);
        own.put("knobs", "cpu.epb".into(), false);
        let spec = read(&own);
        assert_eq!(serde_json::to_value(&spec.workloads).unwrap(), json!(["4k-qd1", "cold-read-2s", "cdm8"]));
        assert_eq!((spec.threshold_percent, spec.seed, spec.knobs.len()), (2.5, Some(7), 1));
        assert_eq!(spec.from, protocol::experiment::Base::AllSaving);
        let words = own.command_line("/mnt").unwrap();
        assert!(words.starts_with("brakecheck experiment run one-at-a-time --target /mnt --set "), "{words}");
        assert!(words.contains(r#" --set 'knobs=["cpu.turbo"]'"#) && words.contains(" --set 'seed=7'"), "{words}");
    }

    #[test]
    fn rungs_are_lines_of_settings() {
        let text = "as shipped:\n\n C1E off : cpu.c1e=off, pcie.link-speed@0000:01:00.0=8 GT/s \n";
        let own = |rungs: &str| with(&[("question", OWN), ("design", "ladder"), ("rung", rungs)]);
        let spec = read(&own(text));
        let sets: Vec<_> = spec.rung.iter().map(|r| (r.name.as_str(), r.set.len())).collect();
        assert_eq!((spec.design, sets), (Design::Ladder, vec![("as shipped", 0), ("C1E off", 2)]));
        assert_eq!(spec.rung[1].set["pcie.link-speed@0000:01:00.0"].0, "8 GT/s");
        assert_eq!(own(text).command_line("/mnt").unwrap(), "brakecheck experiment run experiment.toml --target /mnt");
        let problem = own("a: cpu.turbo").spec("/mnt").unwrap_err();
        assert!(problem.field == "rung" && problem.message.starts_with("Line 1: `cpu.turbo`"), "{problem:?}");
    }

    #[test]
    fn workloads_of_ones_own_are_tables() {
        let text = "db: rw=randread bs=8k iodepth=4 runtime=2s\nlog: rw=read, bs=1m, buffered=true\n";
        let own = with(&[("workloads", "4k-qd1"), ("tables", text)]);
        let spec = read(&own);
        let labels: Vec<_> = spec.expanded_workloads().iter().map(protocol::workload::Workload::label).collect();
        assert_eq!(labels, ["4k-qd1", "db", "log"]);
        assert_eq!(spec.expanded_workloads()[1].iodepth, 4);
        assert_eq!(own.command_line("/mnt").unwrap(), "brakecheck experiment run experiment.toml --target /mnt");
        let problem = with(&[("tables", "a: randread")]).spec("/mnt").unwrap_err();
        assert!(problem.field == "tables" && problem.message.contains("rw=randread"), "{problem:?}");
    }

    #[test]
    fn a_risk_is_taken_for_one_question_only() {
        let mut asked = with(&[("question", "pcie-link"), ("risk", "on")]);
        assert!(read(&asked).risk);
        asked.put("question", "check".into(), true);
        assert!(!read(&asked).risk);
    }

    #[test]
    fn numbers_that_are_none_are_refused_here_already() {
        for text in ["x", "NaN", "inf", "1,5"] {
            let problem = with(&[("threshold_percent", text)]).spec("/mnt").unwrap_err();
            assert_eq!(problem.field, "threshold_percent", "{text}");
        }
        let problem = with(&[("max_blocks", "2.5")]).spec("/mnt").unwrap_err();
        assert_eq!(problem.message, "Write a whole number such as 60.");
    }

    #[test]
    fn the_servers_messages_find_their_field() {
        let blocks = SpecError::Blocks { min: 6, max: 3 }.to_string();
        let number = SpecError::Number { key: "confidence", value: 2.0, rule: "0.5 to 0.9999" }.to_string();
        let workload = SpecError::UnknownWorkload { name: "x".into(), hint: String::new() }.to_string();
        let found = [blocks.as_str(), &number, &workload, "The drive is gone."].map(field_of);
        assert_eq!(found, [Some("max_blocks"), Some("confidence"), Some("workloads"), None]);
    }
}
