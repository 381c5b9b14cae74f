//! Elements that pages are made of.

mod actions;
mod brakes;
mod cell;
mod conditions;
mod custom;
mod detail;
mod experiment;
mod face;
mod field;
mod kiosk;
mod notice;
mod options;
mod power;
mod presets;
mod progress;
mod reading;
mod setup;
mod start;
mod switch;
mod target;
mod term;
mod when;

pub(crate) use actions::Delete;
pub(crate) use brakes::{Inquiry, form, questions};
pub(crate) use conditions::Conditions;
pub(crate) use experiment::{Advice, Forest, Now, Steering, Trials, Underway};
pub(crate) use face::Face;
pub(crate) use kiosk::{Measured, Screen, experiment_panel, keep_awake};
pub(crate) use notice::Notice;
pub(crate) use power::{Banner, Groups, HostLoad, Profiles};
pub(crate) use setup::{Desk, SetupPanel};
pub(crate) use switch::MetricSwitch;
pub(crate) use target::TargetPicker;
pub(crate) use term::{Term, explained};
pub(crate) use when::when;
