//! What a kiosk screen shows of stored results and of the host: pieces of HTML to be read from three metres, so that
//! there is little in each. What is left out is said.

mod grid;
mod host;
mod ladder;
mod verdict;

pub use grid::grid;
pub use host::{HostScreen, host};
pub use ladder::ladder;
pub use verdict::verdict;

use super::markup::Markup;

/// What it is about, in small, above what is large.
fn heading(m: &mut Markup, parts: &[Option<&str>], title: &str) {
    m.classed("header", "kiosk-head", |m| {
        m.note("p", "about", parts.iter().flatten().copied().collect::<Vec<_>>().join(" \u{b7} "));
        m.note("p", "headline", title);
    });
}

/// The day of a time in RFC 3339.
fn day(time: &str) -> &str {
    time.get(..10).unwrap_or(time)
}
