//! The settings that are recommended for a use.

use crate::report::figures::{interval, percent};
use lab::words::Titles;
use power::recipe::{self, NoRecipe, Recipe};
use protocol::experiment::{Effect, ExperimentFile, Recommendation, Use};
use protocol::knob::{Assignment, Knob};

/// One setting.
pub(super) struct Choice<'a> {
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    pub(super) value: &'a str,
    /// The value before the experiment.
    pub(super) found: Option<&'a str>,
    /// How it is set, or why that cannot be said.
    pub(super) recipe: Result<Recipe, NoRecipe>,
    /// How the value before is put back, where it is one that can be set.
    pub(super) undo: Option<Recipe>,
    /// The value that is recommended for use on battery.
    pub(super) on_battery: Option<&'a str>,
    /// All values that the host's knob takes, in its order.
    pub(super) values: &'a [String],
    /// What was measured, and what follows, one line each.
    pub(super) why: Vec<String>,
}

/// All that are to be changed, in the order in which they are to be set.
pub(super) struct Choices<'a> {
    pub(super) file: &'a ExperimentFile,
    pub(super) purpose: Use,
    pub(super) settings: Vec<Choice<'a>>,
    /// What is not a setting, or not known: one line each.
    pub(super) left_out: Vec<String>,
}

impl<'a> Choices<'a> {
    /// What is to be changed for a use. A setting whose value is the one found is left out, unless `splits`: the form
    /// then holds another value for use on battery, and both must be there.
    pub(super) fn of(file: &'a ExperimentFile, purpose: Use, splits: bool) -> Self {
        let titles = Titles::of(&file.experiment.knobs);
        let (mut settings, mut left_out): (Vec<Choice<'a>>, _) = (Vec::new(), Vec::new());
        let wanted = |purpose: Use| file.report.recommendation.iter().filter(move |r| r.purpose == purpose);
        let battery: Vec<_> = wanted(Use::Battery).flat_map(|r| assignments(file, r)).collect();
        for r in wanted(purpose) {
            let all = assignments(file, r);
            if all.is_empty() {
                left_out.push(format!("{}: {}", titles.title(&r.knob), r.sentence));
            }
            for (id, value) in all {
                let Some(knob) = file.experiment.knobs.iter().find(|k| k.id == id) else { continue };
                // A later step of a ladder says more of a setting than an earlier one.
                settings.retain(|s| s.id != id);
                let found = knob.original.as_deref().or(knob.value.as_deref());
                let on_battery = battery.iter().find(|(i, _)| *i == id).map(|(_, v)| *v);
                settings.push(Choice {
                    id,
                    title: &knob.title,
                    value,
                    found,
                    recipe: recipe(knob, value),
                    undo: found.and_then(|found| recipe(knob, found).ok()),
                    on_battery,
                    values: &knob.values,
                    why: why(file, r),
                });
            }
        }
        let changes =
            |s: &Choice<'_>| s.found != Some(s.value) || (splits && s.on_battery.is_some_and(|v| v != s.value));
        let (mut settings, same): (Vec<_>, Vec<_>) = settings.into_iter().partition(changes);
        let already = |s: &Choice<'_>| {
            format!("{}, {}, is at {} already. {}", s.title, s.id, s.value, s.why.first().map_or("", String::as_str))
        };
        left_out.extend(same.iter().map(already));
        settings.sort_by_key(|s| recipe::rank(s.id));
        Self { file, purpose, settings, left_out }
    }
}

/// Only values of the host's own list count, besides what it had.
fn recipe(knob: &Knob, value: &str) -> Result<Recipe, NoRecipe> {
    Recipe::of(&knob.id, value, &knob.source)
}

/// The settings that a recommendation is about: one knob, or all that a rung changes.
fn assignments<'a>(file: &'a ExperimentFile, r: &'a Recommendation) -> Vec<(&'a str, &'a str)> {
    let Some(value) = &r.value else { return Vec::new() };
    if file.experiment.knobs.iter().any(|k| k.id == r.knob) {
        return vec![(&r.knob, value)];
    }
    let all = &file.report.configurations;
    let Some(rung) = all.iter().position(|c| c.name == r.knob) else { return Vec::new() };
    let before = rung.checked_sub(1).and_then(|i| all.get(i));
    let (Some(before), Some(after)) = (before, all.get(rung)) else { return Vec::new() };
    let Some(wanted) = [before, after].into_iter().find(|c| c.name == *value) else { return Vec::new() };
    let other = if std::ptr::eq(wanted, before) { after } else { before };
    let differs = |a: &&Assignment| !other.set.contains(a);
    wanted.set.iter().filter(differs).map(|a| (a.id.as_str(), a.value.as_str())).collect()
}

fn why(file: &ExperimentFile, r: &Recommendation) -> Vec<String> {
    let measured = |e: &Effect| {
        let saves = e.saves_w.filter(|w| *w >= 0.05).map(|w| format!(", saves {w:.1} W at idle")).unwrap_or_default();
        let change = e.estimate_percent.map_or("not measured".into(), percent);
        let range = interval(e.low_percent, e.high_percent);
        format!(
            "{}: {} instead of {} changes it by {change} ({range}), {}, n {}{saves}",
            e.workload, e.to, e.from, e.verdict, e.blocks
        )
    };
    let effects = file.report.effects.iter().filter(|e| e.primary && e.knob == r.knob);
    std::iter::once(r.sentence.clone()).chain(effects.map(measured)).collect()
}
