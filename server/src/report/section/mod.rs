//! The parts of the report, in the order in which they are read.

mod advice;
mod conditions;
pub(super) mod cost;
mod energy;
mod gaps;
mod latency;
pub(super) mod levels;
mod table;
mod together;
mod trials;
mod verdict;

use super::data::Data;
use super::markup::Markup;

/// A part of the report; writes nothing where there is nothing to say.
pub(super) type Section = fn(&mut Markup, &Data<'_>);

/// All, in order.
pub(super) const ALL: [Section; 10] = [
    verdict::write,
    advice::write,
    cost::write,
    levels::write,
    latency::write,
    gaps::write,
    together::write,
    energy::write,
    conditions::write,
    trials::write,
];

/// A part under its heading.
fn section(m: &mut Markup, heading: &str, inside: impl FnOnce(&mut Markup)) {
    m.classed("section", "part", |m| {
        m.leaf("h2", heading);
        inside(m);
    });
}

/// A chart, and what it says in words below it.
fn figure(m: &mut Markup, caption: &str, inside: impl FnOnce(&mut Markup)) {
    m.element("figure", &[], |m| {
        inside(m);
        m.note("figcaption", "fine", caption);
    });
}

/// What is shown on demand.
fn behind(m: &mut Markup, summary: &str, inside: impl FnOnce(&mut Markup)) {
    m.classed("details", "behind", |m| {
        m.leaf("summary", summary);
        inside(m);
    });
}
