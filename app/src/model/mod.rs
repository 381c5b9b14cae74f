//! What the page knows, as plain data: no browser, no signals, tested natively.
//!
//! [`State::apply`] and [`Settings::apply`] are the only places where events change it.

mod brakes;
mod conditions;
mod contrast;
mod entry;
mod experiment;
mod group;
mod kiosk;
mod point;
mod run;
mod settings;
mod setup;
mod shown;
mod state;
mod track;

pub(crate) use brakes::{BASES, Brakes, DESIGNS, FILE, NUMBERS, QUESTIONS, Question, field_of, keys};
pub(crate) use conditions::{Condition, conditions, differences};
pub(crate) use contrast::{contrasts, in_words};
pub(crate) use entry::{Entry, Found, comparison};
#[cfg(test)]
pub(crate) use experiment::fixture as experiment_fixture;
pub(crate) use experiment::{Cell, Experiment, Held, Matrix, Row, Scale, Stored, USES, comparisons, held, standing};
#[cfg(test)]
pub(crate) use group::groups;
pub(crate) use group::{Group, quantile};
pub(crate) use kiosk::{Rota, wander};
pub(crate) use point::{Metric, Point, PointLatency};
pub(crate) use run::RunModel;
#[cfg(test)]
pub(crate) use run::fixture;
#[cfg(test)]
pub(crate) use settings::fixture as settings_fixture;
pub(crate) use settings::{
    Deed, Leftover, Moved, Settings, Sorted, changed, counts, foreign, kind, leftovers, place, provenance, sorted,
    speed, summary, total_watts, use_of_cpus,
};
pub(crate) use setup::{Kind, Problem, Setup};
pub(crate) use shown::{Shown, shown};
pub(crate) use state::{Change, State};
pub(crate) use track::Track;
