//! A line of the list of results: a run or an experiment.

use protocol::run::{Headline, RunState, RunSummary};
use serde_json::Value;

/// What a result says in one line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found {
    /// Nothing yet.
    Nothing,
    /// The highest throughput of a run.
    Speed(Headline),
    /// What an experiment has found.
    Sentence(String),
}

/// The line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// `runs` or `experiments`.
    pub(crate) kind: &'static str,
    pub(crate) id: String,
    pub(crate) state: RunState,
    pub(crate) title: String,
    pub(crate) target: String,
    pub(crate) drive: Option<String>,
    /// Start, RFC 3339, UTC.
    pub(crate) started_at: String,
    /// The host it was brought here from.
    pub(crate) from: Option<String>,
    pub(crate) found: Found,
}

impl From<RunSummary> for Entry {
    fn from(run: RunSummary) -> Self {
        Self {
            kind: "runs",
            id: run.id,
            state: run.state,
            title: run.title,
            target: run.target,
            drive: run.drive,
            started_at: run.started_at,
            from: None,
            found: run.headline.map_or(Found::Nothing, Found::Speed),
        }
    }
}

impl Entry {
    /// An experiment, as the server lists it; none if it cannot be read.
    pub(crate) fn experiment(summary: &Value) -> Option<Self> {
        let text = |key: &str| summary.get(key).and_then(Value::as_str).map(str::to_owned);
        let imported = summary.get("imported").and_then(Value::as_bool).unwrap_or(false);
        Some(Self {
            kind: "experiments",
            id: text("id")?,
            state: crate::read::value(summary.get("state")?).ok()?,
            title: text("title")?,
            target: text("target").unwrap_or_default(),
            drive: text("drive"),
            started_at: text("started_at")?,
            from: imported.then(|| text("host").unwrap_or_else(|| "another host".into())),
            found: text("headline").map_or(Found::Nothing, Found::Sentence),
        })
    }

    /// Runs and experiments in one list, newest first, as each of the two is.
    pub(crate) fn list(runs: Vec<RunSummary>, experiments: &Value) -> Vec<Self> {
        let mut all: Vec<Self> = runs.into_iter().map(Self::from).collect();
        let mut at = 0;
        for one in experiments.as_array().into_iter().flatten().filter_map(Self::experiment) {
            while all.get(at).is_some_and(|e| e.started_at > one.started_at) {
                at += 1;
            }
            all.insert(at, one);
        }
        all
    }

    /// Its page.
    pub(crate) fn href(&self) -> String {
        format!("/{}/{}", self.kind, self.id)
    }

    /// What it is: `run`, `experiment`.
    pub(crate) fn noun(&self) -> &'static str {
        self.kind.trim_end_matches('s')
    }

    /// Whether all words of the filter occur somewhere in the line.
    pub(crate) fn matches(&self, filter: &str) -> bool {
        let found = match &self.found {
            Found::Nothing => "",
            Found::Speed(headline) => &headline.label,
            Found::Sentence(sentence) => sentence,
        };
        let optional = [&self.drive, &self.from].map(|o| o.as_deref().unwrap_or_default());
        let text =
            [self.noun(), self.state.name(), &self.id, &self.title, &self.target, found, optional[0], optional[1]];
        let text = text.join(" ").to_ascii_lowercase();
        filter.to_ascii_lowercase().split_whitespace().all(|word| text.contains(word))
    }
}

/// The address where the selected results stand side by side; else what is to be done for one.
pub(crate) fn comparison(selected: &[(&'static str, String)]) -> Result<String, &'static str> {
    match selected {
        [] => Err("Select two to compare."),
        [_] => Err("Select one more to compare."),
        [("runs", a), ("runs", b)] => Ok(format!("/compare?a={a}&b={b}")),
        all if all.iter().all(|(kind, _)| *kind == "experiments") => {
            let ids: Vec<_> = all.iter().map(|(_, id)| id.as_str()).collect();
            Ok(format!("/compare?experiments={}", ids.join(",")))
        }
        all if all.iter().all(|(kind, _)| *kind == "runs") => Err("Two runs at a time can be compared."),
        _ => Err("Runs compare with runs, experiments with experiments."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::experiment::{Design, ExperimentSummary};

    fn run() -> RunSummary {
        RunSummary {
            id: "r".into(),
            started_at: "2026-11-30T22:00:00Z".into(),
            state: RunState::Done,
            title: "CrystalDiskMark 8".into(),
            target: "/mnt/ssd".into(),
            drive: Some("Samsung SSD 850".into()),
            host: None,
            headline: None,
        }
    }

    fn experiment() -> ExperimentSummary {
        ExperimentSummary {
            id: "e".into(),
            state: RunState::Stopped,
            title: "one-at-a-time".into(),
            design: Design::OneAtATime,
            target: "/mnt/nvme".into(),
            drive: None,
            host: Some("bench2".into()),
            started_at: "2026-11-30T23:00:00Z".into(),
            finished_at: None,
            error: None,
            trials: 12,
            headline: Some("Turbo Boost off costs 21 %.".into()),
            imported: true,
        }
    }

    #[test]
    fn runs_and_experiments_stand_in_one_list_newest_first() {
        let list = Entry::list(vec![run()], &serde_json::to_value([experiment()]).unwrap());
        let lines: Vec<_> = list.iter().map(|e| (e.href(), e.noun(), e.from.as_deref())).collect();
        assert_eq!(lines, [("/experiments/e".into(), "experiment", Some("bench2")), ("/runs/r".into(), "run", None)]);
        assert_eq!(list[0].found, Found::Sentence("Turbo Boost off costs 21 %.".into()));
        assert_eq!(list[0].state, RunState::Stopped);
    }

    #[test]
    fn the_filter_wants_every_word_in_any_order_and_case() {
        let run = Entry::from(run());
        for (filter, found) in [("", true), ("samsung crystal", true), ("SSD done", true), ("samsung intel", false)] {
            assert_eq!(run.matches(filter), found, "{filter}");
        }
        let experiment = Entry::experiment(&serde_json::to_value(experiment()).unwrap()).unwrap();
        assert!(experiment.matches("turbo bench2 experiment") && !experiment.matches("run"));
    }

    #[test]
    fn what_can_be_compared_has_an_address() {
        let of = |ids: &[&'static str]| -> Vec<_> {
            ids.iter().map(|id| (if id.starts_with('r') { "runs" } else { "experiments" }, (*id).to_owned())).collect()
        };
        assert_eq!(comparison(&of(&["r1", "r2"])).unwrap(), "/compare?a=r1&b=r2");
        assert_eq!(comparison(&of(&["e1", "e2", "e3"])).unwrap(), "/compare?experiments=e1,e2,e3");
        for ids in [&[][..], &["e1"], &["r1", "e1"], &["r1", "r2", "r3"]] {
            assert!(comparison(&of(ids)).is_err(), "{ids:?}");
        }
    }
}
