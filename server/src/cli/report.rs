//! A run as text for people.

mod conditions;
mod grid;
mod steps;

use super::output::shown;
use super::table::pairs;
use protocol::run::{RunRecord, RunState};

/// The whole report: what was run where, the numbers, and what is to be known before believing them.
pub(super) fn text(record: &RunRecord) -> String {
    let title = format!("{}  on {}", shown(&record.spec.title()), shown(&record.spec.target));
    let place = conditions::place(record).unwrap_or_default();
    let head = format!("{title}\n{place}");
    let numbers = if record.spec.preset.is_some() { grid::text(record) } else { steps::text(record) };
    let mut parts = vec![head.trim_end().to_owned() + "\n", numbers, pairs(conditions::all(record))];
    if record.state != RunState::Done {
        let why = record.error.as_ref().map(|e| format!(": {}", shown(&e.message))).unwrap_or_default();
        parts.push(format!("This run is not complete ({}{why}).\n", record.state.name()));
    }
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::sample_run::record;
    use protocol::preset::PresetRequest;
    use protocol::result::{Caveat, CaveatKind, IoPathKind};

    /// The lines that begin so, without runs of blanks.
    fn lines(text: &str, begin: &str) -> Vec<String> {
        let squeezed = text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "));
        squeezed.filter(|l| l.starts_with(begin)).collect()
    }

    #[test]
    fn each_direction_has_a_row_and_repetitions_a_median() {
        let mut record = record();
        assert_eq!(
            lines(&text(&record), "randrw"),
            [
                "randrw 4k QD8 T2 on /mnt",
                "randrw 4k QD8 T2, read 2.05 500 300.0 300.0 300.0 300.0 300.0 0.250",
                "randrw 4k QD8 T2, write 2.05 500 300.0 300.0 300.0 300.0 300.0 0.250",
            ]
        );
        let step = record.spec.steps[0].clone();
        record.spec.steps.push(protocol::plan::Step { repetition: 2, ..step });
        let mut second = record.results[0].clone();
        second.step = 1;
        second.write.as_mut().unwrap().iops.0 = 600.0;
        record.results.push(second);
        let medians = lines(&text(&record), "randrw 4k QD8 T2, write, median of 2");
        assert_eq!(medians, ["randrw 4k QD8 T2, write, median of 2 2.05 550 300.0 300.0 300.0 300.0 300.0 0.250"]);
    }

    #[test]
    fn a_grid_shows_what_is_known_so_far_and_which_statistic_it_is() {
        let mut record = record();
        let request = PresetRequest { name: "cdm8".into(), ..PresetRequest::default() };
        record.spec.steps = request.steps().unwrap();
        record.spec.preset = Some(request);
        record.state = RunState::Stopped;
        record.results[0].step = 1;
        let text = text(&record);
        assert_eq!(lines(&text, "SEQ1M Q8T1"), ["SEQ1M Q8T1 4.10 1000 300.0 - - - - - -"]);
        assert!(text.contains("best of 3 passes") && text.contains("first pass is discarded"), "{text}");
        assert!(text.contains("not complete (stopped)"), "{text}");
    }

    #[test]
    fn what_limits_the_numbers_is_said_once() {
        let mut record = record();
        record.results[0].path.kind = IoPathKind::PageCache;
        record.results[0].engine.fallbacks = vec!["no ring".into(), "no buffers".into()];
        let message = "no ring, so threads".to_owned();
        record.results[0].caveats = vec![Caveat { kind: CaveatKind::ThreadFallback, message }];
        let text = text(&record);
        assert_eq!(lines(&text, "accesses"), ["accesses page cache, not comparable with others"]);
        assert_eq!(lines(&text, "without"), ["without no buffers"]);
        assert_eq!(lines(&text, "note"), ["note no ring, so threads"]);
        assert_eq!(lines(&text, "CPU"), ["CPU user 5.00 %, system 20.0 % of one core"]);
    }
}
