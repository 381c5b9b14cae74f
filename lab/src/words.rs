//! What was found, in sentences that a human reads.

use protocol::experiment::workloads::{COLD, COLD_SWEPT, DEEP, PACED, RANDOM, SEQUENTIAL, SEQUENTIAL_DEEP};
use protocol::experiment::{Base, Effect, Finding, Interaction, Metric, Stage};
use protocol::knob::Knob;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What stands in a knob's place where ways to wait are compared.
pub(crate) const WAIT: &str = "wait";

/// Names of knobs as people know them, and their values as found, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Titles {
    names: BTreeMap<String, String>,
    found: BTreeMap<String, String>,
    /// Those of which no value saves power.
    saveless: BTreeSet<String>,
}

impl Titles {
    /// Those of a host's knobs.
    pub fn of(knobs: &[Knob]) -> Self {
        let named = knobs.iter().filter(|k| !k.title.is_empty());
        // Of several of a kind each is named with its device.
        let alone = |k: &Knob| knobs.iter().filter(|o| o.present() && o.title == k.title).count() < 2;
        let title = |k: &Knob| match k.id.split_once('@') {
            Some((_, device)) if !alone(k) => format!("{} of {device}", k.title),
            _ => k.title.clone(),
        };
        let found = |k: &Knob| Some((k.id.clone(), k.original.clone().or_else(|| k.value.clone())?));
        Self {
            names: named.map(|k| (k.id.clone(), title(k))).collect(),
            found: knobs.iter().filter_map(found).collect(),
            saveless: knobs.iter().filter(|k| k.saving_value.is_none()).map(|k| k.id.clone()).collect(),
        }
    }

    /// The name of a knob; its id if it has none.
    pub fn title<'a>(&'a self, id: &'a str) -> &'a str {
        self.names.get(id).map_or(id, String::as_str)
    }

    /// The value of a knob before anything was changed.
    pub fn found(&self, id: &str) -> Option<&str> {
        self.found.get(id).map(String::as_str)
    }

    /// Whether this is about saving power at all. How a program waits is not, and a queue that the drive sorts neither.
    pub fn can_save(&self, id: &str) -> bool {
        id != WAIT && !self.saveless.contains(id)
    }

    /// Whether the host was found with this value, be it at some of its CPUs only ("normal x 2, power x 1"); `None` of
    /// what is no knob of the host.
    pub fn is_found(&self, id: &str, value: &str) -> Option<bool> {
        let is_part = |part: &str| part.rsplit_once(" x ").is_some_and(|(of, _)| of == value);
        self.found(id).map(|found| found == value || found.split(", ").any(is_part))
    }
}

/// "Keeping Idle states at C10 costs 17 to 21 % of single random reads; it saves 6.1 W at idle."
pub fn effect(e: &Effect, titles: &Titles, threshold_percent: f64) -> String {
    let subject = subject(e, titles);
    let what = object(&e.workload, e.metric);
    let (Some(low), Some(high)) = (e.low_percent, e.high_percent) else {
        let least = e.more_blocks.unwrap_or(1);
        if e.estimate_percent.is_none() {
            return format!("{subject}: not measured yet ({what}); it takes {} at least.", blocks(least));
        }
        let (say, do_) = (if e.blocks == 1 { "says" } else { "say" }, if least == 1 { "does" } else { "do" });
        return format!("{subject}: {} {say} nothing yet of {what}; {least} more {do_} at least.", blocks(e.blocks));
    };
    let slower = |p: f64| 100.0 * (1.0 / (1.0 + p / 100.0) - 1.0);
    let seems = seems(e, threshold_percent);
    let mut text = match (seems.unwrap_or(e.verdict), e.metric.more_is_better()) {
        (Finding::Brake, true) => format!("{subject} costs {} of {what}", range(-high, -low)),
        (Finding::Brake, false) => format!("{subject} raises {what} by {}", range(slower(high), slower(low))),
        (Finding::Helps, true) => format!("{subject} gains {} of {what}", range(low, high)),
        (Finding::Helps, false) => format!("{subject} lowers {what} by {}", range(-slower(low), -slower(high))),
        (Finding::Free, _) => {
            format!("{subject} costs nothing that matters of {what}: less than {} either way", plain(threshold_percent))
        }
        (Finding::Undecided, _) => {
            let more = match e.more_blocks {
                Some(1) => "; about one more block would tell".into(),
                Some(n) => format!("; about {n} more blocks would tell"),
                None => String::new(),
            };
            let (low, high) = if e.metric.more_is_better() { (low, high) } else { (slower(high), slower(low)) };
            format!("{subject}: undecided, {} to {} on {what} so far{more}", signed(low), signed(high))
        }
    };
    if seems.is_some() {
        text.push_str(" in the screening, which does not count as a verdict");
    }
    if e.base == Some(Base::AllSaving) {
        text.push_str(", with everything else saving too");
    }
    if let (Some(watts), true) = (e.saves_w.filter(|w| *w >= 0.05), e.primary) {
        let _ = write!(text, "; it saves {watts:.1} W at idle");
    }
    text.push('.');
    text
}

/// What an effect of a screening looks like that is to be confirmed, or has been.
pub(crate) fn seems(e: &Effect, threshold_percent: f64) -> Option<Finding> {
    if e.stage != Some(Stage::Screening) || e.verdict != Finding::Undecided {
        return None;
    }
    let (low, high) = e.low_percent.zip(e.high_percent)?;
    if high < -threshold_percent {
        Some(Finding::Brake)
    } else {
        // As far on the log scale as the threshold.
        (low > 100.0 * threshold_percent / (100.0 - threshold_percent)).then_some(Finding::Helps)
    }
}

/// Who does it.
fn subject(e: &Effect, titles: &Titles) -> String {
    let title = titles.title(&e.knob);
    if e.knob == WAIT {
        format!("Waiting with {} instead of {}", e.to, e.from)
    } else if title != e.knob || e.knob.contains('.') {
        match titles.found(&e.knob) {
            Some(found) if found != e.to => format!("Setting {title} to {}", e.to),
            _ => format!("Keeping {title} at {}", e.to),
        }
    } else {
        format!("{} instead of {}", e.to, e.from)
    }
}

/// "1 block", "2 blocks".
pub(crate) fn blocks(n: u32) -> String {
    if n == 1 { "1 block".into() } else { format!("{n} blocks") }
}

/// What it is done to.
fn object(workload: &str, metric: Metric) -> String {
    let name = match workload {
        RANDOM => "single random reads".into(),
        PACED => "paced single reads".into(),
        DEEP => "random reads at depth 32".into(),
        SEQUENTIAL => "sequential reads".into(),
        SEQUENTIAL_DEEP => "sequential reads at depth 8".into(),
        COLD | COLD_SWEPT => "reads after an idle gap".into(),
        other => match other.strip_prefix(COLD).and_then(|gap| gap.strip_prefix('-')) {
            Some(gap) => format!("reads after {gap} of idleness"),
            None => format!("\u{201c}{other}\u{201d}"),
        },
    };
    match metric {
        Metric::Bw | Metric::Iops => name,
        Metric::LatencyMean => format!("the mean latency of {name}"),
        Metric::LatencyP50 => format!("the median latency of {name}"),
        Metric::LatencyP99 => format!("the 99th percentile of {name}"),
        Metric::LatencyP999 => format!("the 99.9th percentile of {name}"),
        Metric::CpuPerIo => format!("the CPU time of {name}"),
        Metric::EnergyPerIo => format!("the energy of {name}"),
        Metric::IdlePower => "the power at idle".into(),
    }
}

/// What two knobs do together, if it matters.
pub fn interaction(i: &Interaction, titles: &Titles) -> Option<String> {
    let (low, high) = i.low_percent.zip(i.high_percent).filter(|_| i.matters)?;
    let pairs: Vec<_> = i.knobs.iter().map(|[a, b]| format!("{} and {}", titles.title(a), titles.title(b))).collect();
    let what = object(&i.workload, if i.metric.more_is_better() { i.metric } else { Metric::Bw });
    let (verb, range) = if high < 0.0 { ("cost", range(-high, -low)) } else { ("spare", range(low, high)) };
    let doubt = if pairs.len() > 1 { " (this design cannot tell which of them)" } else { "" };
    Some(format!("{} together {verb} {range} of {what} on top of what each costs alone{doubt}.", pairs.join(", or ")))
}

/// "17 to 21 %", or "17 %" where both ends are shown the same.
fn range(low: f64, high: f64) -> String {
    let decimals = usize::from(high.abs() < 10.0);
    let (a, b) = (format!("{low:.decimals$}"), format!("{high:.decimals$}"));
    if a == b { format!("{b} %") } else { format!("{a} to {b} %") }
}

fn signed(percent: f64) -> String {
    let decimals = usize::from(percent.abs() < 10.0);
    format!("{percent:+.decimals$} %")
}

fn plain(percent: f64) -> String {
    format!("{percent} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(metric: Metric, low: f64, high: f64, verdict: Finding) -> Effect {
        Effect {
            knob: "cpu.deep-idle".into(),
            from: "C1".into(),
            to: "C10".into(),
            base: None,
            stage: None,
            workload: if metric.more_is_better() { RANDOM } else { PACED }.into(),
            metric,
            primary: true,
            estimate_percent: Some(f64::midpoint(low, high)),
            low_percent: Some(low),
            high_percent: Some(high),
            verdict,
            blocks: 20,
            saves_w: Some(6.12),
            more_blocks: Some(12),
            sentence: String::new(),
        }
    }

    #[test]
    fn sentences_say_what_how_much_and_what_it_saves() {
        let knob = Knob { id: "cpu.deep-idle".into(), title: "deep idle states".into(), ..Knob::default() };
        let titles = Titles::of(&[knob]);
        let say = |e: &Effect| effect(e, &titles, 1.0);
        let cases = [
            (
                found(Metric::Iops, -21.2, -17.1, Finding::Brake),
                "Keeping deep idle states at C10 costs 17 to 21 % of single random reads; it saves 6.1 W at idle.",
            ),
            (
                found(Metric::LatencyMean, -20.0, -16.0, Finding::Brake),
                "Keeping deep idle states at C10 raises the mean latency of paced single reads by 19 to 25 %; it saves 6.1 W at idle.",
            ),
            (
                found(Metric::Iops, 2.0, 3.04, Finding::Helps),
                "Keeping deep idle states at C10 gains 2.0 to 3.0 % of single random reads; it saves 6.1 W at idle.",
            ),
            (
                Effect { saves_w: None, ..found(Metric::Iops, -0.4, 0.6, Finding::Free) },
                "Keeping deep idle states at C10 costs nothing that matters of single random reads: less than 1 % either way.",
            ),
            (
                Effect { primary: false, ..found(Metric::Iops, -1.4, 0.6, Finding::Undecided) },
                "Keeping deep idle states at C10: undecided, -1.4 % to +0.6 % on single random reads so far; about 12 more blocks would tell.",
            ),
        ];
        let on_top =
            Effect { base: Some(Base::AllSaving), saves_w: None, ..found(Metric::Iops, -12.0, -11.0, Finding::Brake) };
        let said = say(&on_top);
        assert!(said.ends_with("costs 11 to 12 % of single random reads, with everything else saving too."), "{said}");
        for (e, sentence) in cases {
            assert_eq!(say(&e), sentence);
        }
    }

    #[test]
    fn few_blocks_say_how_many_it_takes() {
        let none = Effect { estimate_percent: None, ..found(Metric::Iops, 0.0, 0.0, Finding::Undecided) };
        let none = Effect { low_percent: None, high_percent: None, blocks: 0, ..none };
        let one = Effect { estimate_percent: Some(-78.0), blocks: 1, ..none.clone() };
        let say = |e: &Effect| effect(e, &Titles::default(), 1.0);
        let start = "Keeping cpu.deep-idle at C10:";
        assert_eq!(say(&none), format!("{start} not measured yet (single random reads); it takes 12 blocks at least."));
        let wanted = format!("{start} 1 block says nothing yet of single random reads; 12 more do at least.");
        assert_eq!(say(&one), wanted);
    }

    #[test]
    fn one_of_several_is_named_with_its_device() {
        let knob =
            |id: &str, title: &str| Knob { id: id.into(), title: title.into(), writable: true, ..Knob::default() };
        let (a, b) = (knob("nvme.apst@nvme0", "NVMe APST"), knob("nvme.apst@nvme1", "NVMe APST"));
        let other = knob("sata.ncq@sda", "Queue depth");
        let titles = Titles::of(&[a, b, other]);
        assert_eq!(titles.title("nvme.apst@nvme1"), "NVMe APST of nvme1");
        assert_eq!(titles.title("sata.ncq@sda"), "Queue depth");
    }

    #[test]
    fn interactions_are_named_when_they_matter() {
        let mut i = Interaction {
            knobs: vec![["cpu.c1e".into(), "cpu.turbo".into()]],
            workload: RANDOM.into(),
            metric: Metric::Iops,
            estimate_percent: Some(-3.0),
            low_percent: Some(-4.0),
            high_percent: Some(-2.0),
            matters: true,
            sentence: None,
        };
        let said = interaction(&i, &Titles::default()).unwrap();
        assert_eq!(
            said,
            "cpu.c1e and cpu.turbo together cost 2.0 to 4.0 % of single random reads on top of what each costs alone."
        );
        i.matters = false;
        assert_eq!(interaction(&i, &Titles::default()), None);
    }
}
