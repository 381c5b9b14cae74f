//! An experiment as a document: the same drawing for the page and for a file, and what a user can apply of it.
//!
//! Pure functions from an [`ExperimentFile`](protocol::experiment::ExperimentFile), which may come from another host and
//! is not trusted: text leaves only through [`Markup`], which escapes it, and through `export`, which takes values from
//! closed sets alone.
//!
//! | module | what |
//! |---|---|
//! | [`markup`] | HTML and SVG that cannot hold unescaped text |
//! | `data` | trials by configuration and workload, effects by knob |
//! | `figures` | numbers with unit |
//! | `chart` | the charts, one file each |
//! | `section` | the parts of the report, one file each |
//! | `contrast` | experiments side by side |
//! | [`kiosk`] | what is read from three metres |
//! | [`document`] | the parts in order, as a fragment and as a file |
//! | [`mod@export`] | profiles, units and scripts that set what is recommended |

mod chart;
mod contrast;
mod data;
pub mod document;
pub mod export;
mod figures;
#[cfg(test)]
pub(crate) mod fixture;
pub mod kiosk;
pub mod markup;
mod section;
#[cfg(test)]
mod tests;

pub use contrast::contrast;
pub(crate) use contrast::letter;
pub use document::{fragment, page};
pub use export::{Format, export, sets_nothing};
pub use markup::Markup;
