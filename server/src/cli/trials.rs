//! What standard error shows while an experiment is on: the trial, the setting in force, and each knob's interval so
//! far.

use super::findings::{interval, percent};
use super::output::shown;
use super::progress::clock;
use crate::experiment::{Event, Left};
use protocol::experiment::{Effect, Finding};
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
    left: Option<Left>,
    most: u32,
}

impl Progress {
    /// Shows nothing when `quiet`, else what standard error is fit for.
    pub(super) fn new(quiet: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|t| t == "dumb");
        let terminal = std::io::stderr().is_terminal() && !dumb;
        Self { quiet, terminal, dirty: false, told: None, left: None, most: 0 }
    }

    /// Takes the next event.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Begun { record, trials } => {
                self.most = record.spec.max_blocks;
                let more = if *trials > 0 { format!(" goes on after {trials} trials") } else { String::new() };
                let (title, seed) = (record.spec.title(), record.spec.seed.unwrap_or_default());
                let touched = record.touched();
                let changes = if touched.is_empty() { "no setting".into() } else { touched.join(", ") };
                self.say(&format!("Experiment {}{more}: {title}, seed {seed}; changes {changes}", record.id));
            }
            Event::Layout { done, total } => self.show(&format!("laying out the file: {done} of {total}")),
            Event::Note(text) => self.say(text),
            Event::Trial { block, place, of, configuration, workload } => {
                let eta = self.left.map(|left| format!("  ETA {}", eta(left))).unwrap_or_default();
                let (block, most) = (block + 1, self.most);
                self.show(&format!(
                    "block {block} of at most {most}, trial {} of {of}: {}, {workload}{eta}",
                    place + 1,
                    configuration.name
                ));
            }
            Event::Ended(trial) => {
                if let Some(reason) = &trial.void {
                    self.say(&format!("Void, to be repeated: {}: {reason}", trial.workload));
                }
            }
            Event::Block { ended, effects, left } => self.block(*ended, effects, *left),
        }
    }

    fn block(&mut self, ended: u32, effects: &[Effect], left: Left) {
        self.left = Some(left);
        if self.told.is_some_and(|at| at.elapsed() < TELL_EVERY) && left != Left::default() {
            return;
        }
        self.told = Some(Instant::now());
        let primary: Vec<&Effect> = effects.iter().filter(|e| e.primary).collect();
        let open = primary.iter().filter(|e| e.verdict == Finding::Undecided).count();
        let blocks = if ended == 1 { "block" } else { "blocks" };
        self.say(&format!("After {ended} {blocks}: {open} of {} open; ETA {}", primary.len(), eta(left)));
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

/// `2:10 (1:05 to 9:00)`.
fn eta(left: Left) -> String {
    let [likely, least, most] = [left.likely, left.least, left.most].map(|t| clock(t.as_secs_f64() * 1e3));
    format!("{likely} ({least} to {most})")
}
