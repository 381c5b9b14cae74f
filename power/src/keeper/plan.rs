//! From wishes to writes in order.

use super::boot_ms;
use crate::control::{Choice, Control};
use crate::site::Site;
use protocol::knob::{Assignment, CONFIRM_MS, Lifetime};
use std::collections::BTreeMap;

/// A wish that can be tried.
#[derive(Debug)]
pub(super) struct Wish<'a> {
    pub(super) control: &'a Control,
    pub(super) choice: &'a Choice,
    pub(super) lifetime: Lifetime,
    pub(super) expires: Option<u64>,
}

/// One write of a wish.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    /// Which wish.
    pub(super) wish: usize,
    pub(super) site: &'a Site,
    pub(super) wanted: &'a str,
}

impl<'a> Wish<'a> {
    /// The wish, or why it is refused.
    pub(super) fn new(
        controls: &'a [Control],
        wanted: &Assignment,
        lifetime: Lifetime,
        risk: bool,
    ) -> Result<Self, String> {
        let control = controls.iter().find(|c| c.id == wanted.id).ok_or("there is no such knob on this host")?;
        if let Some(reason) = &control.reason {
            return Err(reason.clone());
        }
        let choice = control.choice(&wanted.value).ok_or_else(|| match control.choices.as_slice() {
            [] => "it is only shown".to_owned(),
            choices => {
                let values: Vec<_> = choices.iter().map(|c| c.value.as_str()).collect();
                format!("its values are {}", values.join(", "))
            }
        })?;
        if let (Some(why), false) = (&control.risk, risk) {
            return Err(format!("risky: {why}; it is set on the Power page, where it falls back unless confirmed"));
        }
        // An experiment watches over its own settings: each trial reads from the drive, and without it they go back.
        let is_watched = matches!(lifetime, Lifetime::Experiment { .. });
        let lifetime = if control.risk.is_some() && !is_watched { Lifetime::Unconfirmed } else { lifetime };
        let lasts = match lifetime {
            Lifetime::Unconfirmed => Some(u64::from(CONFIRM_MS)),
            Lifetime::For { seconds } | Lifetime::Experiment { seconds } => Some(u64::from(seconds) * 1_000),
            Lifetime::Session | Lifetime::Kept => None,
        };
        Ok(Self { control, choice, lifetime, expires: lasts.map(|ms| boot_ms() + ms) })
    }

    pub(super) fn id(&self) -> &'a str {
        &self.control.id
    }
}

/// The wishes that a later one undoes, since it writes the same file with another value, each with the reason.
pub(super) fn undone(wishes: &[Option<Wish<'_>>]) -> Vec<(usize, String)> {
    let mut last: BTreeMap<&Site, (&str, &Wish<'_>)> = BTreeMap::new();
    let mut out = Vec::new();
    for (at, wish) in wishes.iter().enumerate().rev() {
        let Some(wish) = wish else { continue };
        let writes = || wish.choice.writes.iter();
        let other = writes().find_map(|w| last.get(&w.site).filter(|(value, _)| *value != w.value));
        if let Some((_, later)) = other {
            out.push((at, format!("{}={} writes the same file with another value", later.id(), later.choice.value)));
            continue;
        }
        for w in writes() {
            last.entry(&w.site).or_insert((&w.value, wish));
        }
    }
    out
}

/// The writes of all wishes, in the order in which the host needs them.
pub(super) fn steps<'a>(wishes: &[Option<Wish<'a>>]) -> Vec<Step<'a>> {
    let tried = wishes.iter().enumerate().filter_map(|(at, wish)| Some((at, wish.as_ref()?)));
    let of = |(wish, w): (usize, &Wish<'a>)| {
        let choice: &'a Choice = w.choice;
        choice.writes.iter().map(move |write| Step { wish, site: &write.site, wanted: &write.value })
    };
    let mut steps: Vec<Step<'a>> = tried.flat_map(of).collect();
    steps.sort_by_key(|s| s.site.rank());
    steps
}
