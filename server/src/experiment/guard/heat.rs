//! Waiting until processor and drive are cool again.

use crate::experiment::Steering;
use power::Root;
use power::heat::{self, Heat};
use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_millis(500);

/// Everything whose temperature matters and is known.
fn all<'a>(root: &'a Root, drives: &'a [String]) -> impl Iterator<Item = Heat> + 'a {
    drives.iter().filter_map(|name| heat::drive(root, name)).chain(heat::processor(root))
}

/// What is too hot, in words.
pub(super) fn hot(root: &Root, drives: &[String]) -> Option<String> {
    all(root, drives).find(Heat::is_hot).map(|h| words(&h))
}

fn words(h: &Heat) -> String {
    let Heat { what, celsius, limit, .. } = h;
    if h.celsius >= h.limit {
        format!("{what} was at {celsius:.0} °C, its limit is {limit:.0} °C")
    } else {
        format!("{what} said at {celsius:.0} °C that it is too hot")
    }
}

/// Waits until nothing is hot any more and all is some degrees below its limit, or the patience is over; what is left of
/// it.
pub(super) fn cool_down(
    root: &Root,
    drives: &[String],
    patience: Duration,
    steering: &Steering,
    say: &mut dyn FnMut(String),
) -> Duration {
    let began = Instant::now();
    let warm = || all(root, drives).find(|h| !h.is_cool());
    let mut told = false;
    while let Some(h) = warm() {
        if began.elapsed() >= patience || steering.control().is_stopped() || steering.is_paused() {
            break;
        }
        if !std::mem::replace(&mut told, true) {
            let seconds = patience.as_secs_f64();
            say(format!("Cooling down for {seconds:.0} s at most: {} is at {:.0} °C.", h.what, h.celsius));
        }
        steering.control().pause(WINDOW);
    }
    patience.saturating_sub(began.elapsed())
}
