//! The intervals of all comparisons on one axis, with the band within which nothing matters.

use protocol::experiment::{Base, Effect, ExperimentLive, Stage};

/// One change, on every workload.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Comparison<'a> {
    /// The setting's name, else what the design calls it.
    pub(crate) title: &'a str,
    /// What it was changed from and to.
    pub(crate) change: String,
    /// What else sets it apart: stage, what the others are at, what it saves.
    pub(crate) aside: Vec<String>,
    /// One for each workload.
    pub(crate) rows: Vec<Row<'a>>,
}

/// One change on one workload.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row<'a> {
    /// The effect.
    pub(crate) effect: &'a Effect,
    /// Where the estimate lies on the axis, in percent of its length.
    pub(crate) at: Option<f64>,
    /// Where the interval lies.
    pub(crate) from_to: Option<(Place, Place)>,
}

/// A place on the axis in percent of its length, and whether the value itself lies beyond its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Place {
    pub(crate) at: f64,
    pub(crate) beyond: bool,
}

/// The axis: from `low` to `high` percent, with zero within.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// How many thresholds the axis shows at least on either side.
const LEAST: f64 = 4.0;
/// The shorter side is at least this share of the longer one.
const SHARE: f64 = 0.25;

impl Scale {
    /// An axis that shows every estimate, and of the intervals what is near them: the first intervals are so wide that
    /// nothing else could be seen.
    pub(crate) fn of(live: &ExperimentLive) -> Self {
        let least = LEAST * live.head.threshold_percent;
        let reach = |side: f64| {
            let far = |e: &Effect| {
                let estimate = e.estimate_percent.unwrap_or_default() * side;
                let end = if side < 0.0 { e.low_percent } else { e.high_percent };
                let end = end.map_or(estimate, |end| end * side);
                end.min(2.0 * estimate.max(0.0) + least).max(1.1 * estimate)
            };
            live.effects.iter().map(far).fold(least, f64::max)
        };
        let (low, high) = (reach(-1.0), reach(1.0));
        let (low, high) = (low.max(SHARE * high), high.max(SHARE * low));
        Self { low: -rounded(low), high: rounded(high) }
    }

    /// Where a value lies.
    pub(crate) fn place(self, percent: f64) -> Place {
        let within = percent.clamp(self.low, self.high);
        let at = (within - self.low) / (self.high - self.low) * 100.0;
        Place { at: (at * 100.0).round() / 100.0, beyond: (percent - within).abs() > f64::EPSILON }
    }
}

/// The next of 1, 2, 3, 5, 10, 20, ... so that the axis moves rarely.
fn rounded(v: f64) -> f64 {
    let decade = 10f64.powf(v.log10().floor());
    let steps = [1.0, 2.0, 3.0, 5.0, 10.0];
    steps.into_iter().map(|s| s * decade).find(|s| *s >= v * (1.0 - 1e-9)).unwrap_or(10.0 * decade)
}

/// All comparisons in the order they came.
pub(crate) fn comparisons(live: &ExperimentLive, scale: Scale) -> Vec<Comparison<'_>> {
    let same = |a: &Effect, b: &Effect| {
        (&a.knob, &a.from, &a.to, a.base, a.stage) == (&b.knob, &b.from, &b.to, b.base, b.stage)
    };
    let mut all: Vec<Comparison> = Vec::new();
    for effect in &live.effects {
        let row = Row {
            effect,
            at: effect.estimate_percent.map(|p| scale.place(p).at),
            from_to: effect.low_percent.zip(effect.high_percent).map(|(l, h)| (scale.place(l), scale.place(h))),
        };
        let own = |c: &&mut Comparison| c.rows.first().is_some_and(|first| same(first.effect, effect));
        match all.iter_mut().find(own) {
            Some(comparison) => comparison.rows.push(row),
            None => all.push(Comparison {
                title: title(live, &effect.knob),
                change: format!("{} instead of {}", effect.to, effect.from),
                aside: aside(effect),
                rows: vec![row],
            }),
        }
    }
    all
}

fn aside(effect: &Effect) -> Vec<String> {
    let stage = match effect.stage {
        Some(Stage::Screening) => Some("screening"),
        Some(Stage::Confirmation) => Some("confirmed anew"),
        None => None,
    };
    let base = match effect.base {
        Some(Base::AllSaving) => Some("everything else saving"),
        Some(Base::AllPerformance) => Some("everything else at full performance"),
        Some(Base::Both) | None => None,
    };
    let saves = effect.saves_w.map(|w| format!("saves {w:.1}\u{a0}W at idle"));
    [stage, base].into_iter().flatten().map(Into::into).chain(saves).collect()
}

/// The name people know.
pub(super) fn title<'a>(live: &'a ExperimentLive, id: &'a str) -> &'a str {
    live.head.knobs.iter().find(|(known, _)| known == id).map_or(id, |(_, title)| title.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{WORKLOADS, effect, live};
    use super::*;
    use protocol::experiment::Finding;

    #[test]
    fn the_axis_holds_every_estimate_and_does_not_follow_the_first_wide_intervals() {
        let mut live = live();
        assert_eq!(Scale::of(&live), Scale { low: -5.0, high: 5.0 });
        live.effects.push(effect("cold-read", -48.0, Some((-99.0, 400.0)), Finding::Undecided));
        let scale = Scale::of(&live);
        assert_eq!(scale, Scale { low: -100.0, high: 30.0 });
        assert_eq!(scale.place(0.0), Place { at: 76.92, beyond: false });
        assert_eq!(scale.place(400.0), Place { at: 100.0, beyond: true });
    }

    #[test]
    fn rows_of_one_change_stand_together_under_its_name() {
        let mut live = live();
        live.effects.insert(1, Effect { base: Some(Base::AllSaving), ..live.effects[0].clone() });
        let all = comparisons(&live, Scale::of(&live));
        let shape: Vec<_> = all.iter().map(|c| (c.title, c.change.as_str(), c.rows.len())).collect();
        assert_eq!(shape, [("Turbo Boost", "off instead of on", 2), ("Turbo Boost", "off instead of on", 1)]);
        assert_eq!((all[0].rows[1].effect.workload.as_str(), &all[0].rows[1].from_to), (WORKLOADS[1], &None));
        assert_eq!(all[1].aside, ["everything else saving"]);
    }
}
