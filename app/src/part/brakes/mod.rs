//! The question that an experiment answers: choosing it, building it, and what it would do.
//!
//! What has no life of its own here, the form and the plan, is text of HTML: a fraction of the code that elements which
//! follow signals take. Every text from outside goes through [`html::text`].

mod form;
mod html;
mod inquiry;
mod plan;

use form::knobs;
pub(crate) use form::{form, questions};
pub(crate) use inquiry::Inquiry;
