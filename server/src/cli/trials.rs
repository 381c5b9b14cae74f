//! What standard error shows while an experiment is on: the trial, the setting in force, and each knob's interval so
//! far.

use super::findings::{interval, percent};
use super::output::shown;
use super::progress::clock;
use protocol::event::Event;
use protocol::experiment::{Effect, ExperimentHead, Finding, Stage, TimeLeft};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Pause between two looks at all intervals.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// Follows the events of one experiment.
#[derive(Debug)]
pub(super) struct Progress {
    quiet: bool,
    /// Whether a line can be rewritten.
    terminal: bool,
    dirty: bool,
    told: Option<Instant>,
    left: Option<TimeLeft>,
    head: Option<Box<ExperimentHead>>,
    stage: Option<Stage>,
}

impl Progress {
    /// Shows nothing when `quiet`, else what standard error is fit for.
    pub(super) fn new(quiet: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|t| t == "dumb");
        let terminal = std::io::stderr().is_terminal() && !dumb;
        Self { quiet, terminal, dirty: false, told: None, left: None, head: None, stage: None }
    }

    /// Takes the next event.
    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::ExperimentStarted { experiment, trials } => {
                let more =
                    if trials.is_empty() { String::new() } else { format!(" goes on after {} trials", trials.len()) };
                let ids: Vec<&str> = experiment.knobs.iter().map(|(id, _)| id.as_str()).collect();
                let changes = if ids.is_empty() { "no setting".into() } else { ids.join(", ") };
                let ExperimentHead { id, title, seed, .. } = &**experiment;
                self.say(&format!("Experiment {id}{more}: {title}, seed {seed}; changes {changes}"));
                self.head = Some(experiment.clone());
            }
            Event::Layout { done, total, .. } => self.show(&format!("laying out the file: {done} of {total}")),
            Event::ExperimentNote { text, .. } => self.say(text),
            Event::TrialStarted { trial, .. } => {
                if trial.stage != std::mem::replace(&mut self.stage, trial.stage) {
                    self.say(match trial.stage {
                        Some(Stage::Screening) => "Screening: each setting alone.",
                        _ => "Confirmation: what looked like a brake, measured anew.",
                    });
                }
                let Some(head) = &self.head else { return };
                let eta = self.left.and_then(eta).map(|eta| format!("  {eta}")).unwrap_or_default();
                let configuration = usize::try_from(trial.configuration).ok().and_then(|i| head.configurations.get(i));
                let stage = match trial.stage {
                    Some(Stage::Screening) => "screening, ",
                    Some(Stage::Confirmation) => "confirmation, ",
                    None => "",
                };
                self.show(&format!(
                    "{stage}block {} of at most {}, trial {} of {}: {}, {}{eta}",
                    trial.block + 1,
                    head.max_blocks,
                    trial.place + 1,
                    trial.of,
                    configuration.map_or("", |c| &c.name),
                    trial.workload,
                ));
            }
            Event::TrialFinished { trial, .. } => {
                if let Some(reason) = &trial.void {
                    self.say(&format!("Void, to be repeated: {}: {reason}", trial.workload));
                }
            }
            Event::BlockFinished { blocks, effects, left, .. } => self.block(*blocks, effects, *left),
            _ => {}
        }
    }

    fn block(&mut self, ended: u32, effects: &[Effect], left: TimeLeft) {
        self.left = Some(left);
        if self.told.is_some_and(|at| at.elapsed() < TELL_EVERY) && left != TimeLeft::default() {
            return;
        }
        self.told = Some(Instant::now());
        let primary: Vec<&Effect> = effects.iter().filter(|e| e.primary).collect();
        let open = primary.iter().filter(|e| e.verdict == Finding::Undecided).count();
        let blocks = if ended == 1 { "block" } else { "blocks" };
        let eta = eta(left).map(|eta| format!("; {eta}")).unwrap_or_default();
        self.say(&format!("After {ended} {blocks}: {open} of {} open{eta}", primary.len()));
        for e in primary {
            let estimate = e.estimate_percent.map_or("-".into(), percent);
            let (knob, workload) = (&e.knob, &e.workload);
            self.say(&format!("  {knob}={} {workload}: {estimate} ({}) {}", e.to, interval(e), e.verdict));
        }
    }

    /// A line that stays.
    fn say(&mut self, text: &str) {
        self.clear();
        if !self.quiet {
            eprintln!("{}", shown(text));
        }
    }

    /// A line that the next one replaces; only on a terminal.
    fn show(&mut self, text: &str) {
        if self.quiet || !self.terminal {
            return;
        }
        self.dirty = true;
        let _ = write!(std::io::stderr(), "\r\x1b[?7l{}\x1b[K\x1b[?7h", shown(text));
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.dirty) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// `ETA 2:10 (1:05 to 9:00)`; nothing where nothing is left to do.
fn eta(left: TimeLeft) -> Option<String> {
    let [likely, least, most] = [left.likely_ms, left.least_ms, left.most_ms].map(clock);
    (left.most_ms > 0.0).then(|| format!("ETA {likely} ({least} to {most})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_is_reached_is_no_time() {
        assert_eq!(eta(TimeLeft::default()), None);
        let left = TimeLeft { least_ms: 65e3, likely_ms: 130e3, most_ms: 540e3 };
        assert_eq!(eta(left).as_deref(), Some("ETA 2:10 (1:05 to 9:00)"));
    }
}
