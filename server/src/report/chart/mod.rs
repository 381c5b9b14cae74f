//! Charts as SVG: classes that the style sheet colours, no inline style, no script.
//!
//! All are 400 units wide, so that their text can be read on a phone and is not too large on a desk.
//!
//! | module | what |
//! |---|---|
//! | [`cost`] | what each saving value costs, with its interval |
//! | [`levels`] | what each configuration yields |
//! | [`latency`] | distributions of latency, overlaid |
//! | [`gaps`] | latency after idle gaps |
//! | [`scale`] | from values to places, and where ticks are |
//! | [`canvas`] | lines, labels, axes |

mod canvas;
pub(super) mod cost;
pub(super) mod gaps;
pub(super) mod latency;
pub(super) mod levels;
mod scale;

/// Raw points are drawn where there are fewer.
const RAW: usize = 100;
