//! The record on disk of every setting that was changed, written and synced before the setting is touched.
//!
//! An append-only file of lines, each with a checksum: a header that tells boot and root, then a [`Record`] before a
//! setting is written and a mark with what was read back after it. The last line of a site counts. Putting back ends
//! with the file written anew, without what is back; until then the old lines stand, and doing it twice does no harm,
//! since what is back already is left alone.

mod aside;
mod entry;
mod error;
mod file;
mod host;
mod line;
mod lock;
mod read;

pub(crate) use entry::Entry;
pub use entry::{Damage, Layer, Record};
pub use error::JournalError;
pub use file::{Journal, Opened};
pub use host::is_noted;
