//! What is on the screen: one panel after the other, none while there is nothing in it, and never nothing at all.

use crate::api;
use crate::live::{Client, Power};
use crate::model::{Experiment, Rota, wander};
use leptos::prelude::*;
use std::time::Duration;
use wasm_bindgen_futures::spawn_local;

/// How often the screen is looked at.
const TICK: Duration = Duration::from_millis(250);
/// Silence in ms after which what is shown is old: three frames are missing then.
const STALE: f64 = 1500.0;
/// How often what changes by itself is asked for again, in ms.
const AGAIN: f64 = 2000.0;
/// An answer that takes longer is not waited for, in ms.
const PATIENCE: f64 = 10_000.0;
/// How long notes on the address are shown, in ms.
const NOTES: f64 = 10_000.0;

/// The screen. Copies refer to the same one.
#[derive(Clone, Copy)]
pub(crate) struct Screen {
    client: Client,
    power: Power,
    rota: StoredValue<Rota>,
    own: StoredValue<Own>,
    /// Name of the panel; empty while there is nothing to show.
    pub(crate) shown: RwSignal<String>,
    /// What the server drew for it.
    pub(crate) html: RwSignal<String>,
    /// What cannot be had of what the address asks for.
    pub(crate) notes: RwSignal<String>,
    /// Nothing was heard for a while.
    pub(crate) stale: RwSignal<bool>,
    /// Since when, else the time of day to the minute.
    pub(crate) clock: RwSignal<String>,
    /// It is night.
    pub(crate) dim: RwSignal<bool>,
    /// Where the picture is, as CSS has it.
    pub(crate) place: RwSignal<String>,
    /// Whether an experiment is on, a run is on, and a run is known.
    pub(crate) on: Memo<(bool, bool, bool)>,
}

/// What the screen remembers from one look to the next.
#[derive(Debug, Default)]
struct Own {
    /// When the next panel is due.
    due: f64,
    /// When the server was asked for what is shown.
    asked: f64,
    /// Counts the turns, so that an answer that comes too late is known as such.
    turn: u32,
    /// An answer is waited for until then.
    busy_until: f64,
    /// When notes go away.
    notes_until: f64,
    /// Whether an experiment and a run were on.
    was_on: (bool, bool),
    /// The state of the list of results that is shown.
    list: u64,
    /// The start of the server that this page was compared with, and the page as it was then.
    server: String,
    page: Option<String>,
    /// When the page was last compared, and whether that is under way.
    compared: f64,
    comparing: bool,
}

impl Screen {
    /// A screen that looks after itself for the life of the page.
    pub(crate) fn start(client: Client, power: Power) -> Self {
        let screen = Self {
            client,
            power,
            rota: StoredValue::new(Rota::default()),
            own: StoredValue::new(Own::default()),
            shown: RwSignal::default(),
            html: RwSignal::default(),
            notes: RwSignal::default(),
            stale: RwSignal::default(),
            clock: RwSignal::default(),
            dim: RwSignal::default(),
            place: RwSignal::default(),
            on: Memo::new(move |_| {
                client
                    .handle
                    .structure(|s| (s.experiment.as_ref().is_some_and(Experiment::on), s.running(), s.run.is_some()))
            }),
        };
        // The interval ends with the page.
        let _ = set_interval_with_handle(move || screen.look(js_sys::Date::now()), TICK);
        screen
    }

    fn look(self, now: f64) {
        let heard = self.client.heard.get_value();
        let stale = heard > 0.0 && now - heard > STALE;
        put(self.stale, stale);
        put(self.clock, if stale { format!("No news since {}", clock(heard, true)) } else { clock(now, false) });
        self.wear(now);
        self.compare(now, stale);
        if heard == 0.0 || stale || self.own.with_value(|own| now < own.busy_until) {
            return;
        }
        if self.rota.with_value(|rota| rota.show.is_empty()) {
            return self.plan(now);
        }
        self.turn(now);
    }

    /// Against burn-in and at night.
    fn wear(self, now: f64) {
        let date = js_sys::Date::new(&now.into());
        let minute = f64::from(date.get_hours() * 60 + date.get_minutes());
        let (dim, shift) = self.rota.with_value(|rota| (rota.dims(minute), rota.shift));
        put(self.dim, dim);
        let (x, y) = if shift { wander((now / 60e3).floor()) } else { (0.0, 0.0) };
        put(self.place, format!("translate({x}px,{y}px)"));
        if self.own.with_value(|own| now > own.notes_until) {
            put(self.notes, String::new());
        }
    }

    /// Asks what is to be shown.
    fn plan(self, now: f64) {
        self.own.update_value(|own| own.busy_until = now + PATIENCE);
        spawn_local(async move {
            let rota = api::kiosk_plan().await.map(|answer| Rota::of(&answer));
            self.own.update_value(|own| own.busy_until = js_sys::Date::now() + if rota.is_ok() { 0.0 } else { AGAIN });
            if let Ok(rota) = rota {
                self.notes.set(rota.notes.clone());
                self.own.update_value(|own| own.notes_until = js_sys::Date::now() + NOTES);
                self.rota.set_value(rota);
            }
        });
    }

    /// Goes on to the next panel if it is time to.
    fn turn(self, now: f64) {
        let (experiment, run, known) = self.on.get_untracked();
        let shown = self.shown.get_untracked();
        let (runs, stay, next) = self.rota.with_value(|rota| {
            let after = rota.after(&shown);
            (after.iter().any(|name| name == "run"), rota.stay, after.into_iter().next().unwrap_or_default())
        });
        let list = self.client.list.get_untracked();
        let (due, asked, was_on, seen) = self.own.with_value(|own| (own.due, own.asked, own.was_on, own.list));
        self.own.update_value(|own| own.was_on = (experiment, run));
        // Telemetry is there when its panel comes.
        let soon = next == "host" && due - now < AGAIN && !(experiment && stay);
        self.power.watch(shown == "host" || soon);
        let began = (experiment && !was_on.0) || (run && !was_on.1);
        let on_run = shown == "run";
        if runs && !on_run && (began || (experiment && stay)) {
            self.show("run", String::new(), now);
        } else if on_run && experiment && stay {
            // What is on stays on.
        } else if now >= due || (on_run && !experiment && !known) {
            self.go(&next, true, now);
        } else if !on_run && (list != seen || (shown == "host" && now - asked > AGAIN)) {
            self.go(if shown.is_empty() { &next } else { &shown }, false, now);
        }
    }

    fn show(self, name: &str, html: String, now: f64) {
        let dwell = self.rota.with_value(|rota| if name.is_empty() { AGAIN } else { rota.dwell_ms });
        self.own.update_value(|own| own.due = now + dwell);
        put(self.html, html);
        put(self.shown, name.to_owned());
    }

    /// Shows the first panel from this one on that has something in it. `anew`: it gets its full time.
    fn go(self, first: &str, anew: bool, now: f64) {
        let mut turn = 0;
        let list = self.client.list.get_untracked();
        self.own.update_value(|own| {
            own.turn = own.turn.wrapping_add(1);
            turn = own.turn;
            (own.busy_until, own.asked, own.list) = (now + PATIENCE, now, list);
        });
        let mut names = self.rota.with_value(|rota| rota.after(first));
        // What comes after it ends with itself.
        names.rotate_right(1);
        spawn_local(async move {
            let found = self.found(&names).await;
            let now = js_sys::Date::now();
            if self.own.with_value(|own| own.turn != turn) {
                return;
            }
            self.own.update_value(|own| own.busy_until = now);
            match found {
                Some((name, html)) if !anew && name == self.shown.get_untracked() => put(self.html, html),
                Some((name, html)) => self.show(&name, html, now),
                // The server has not answered; what is there stays until it does.
                None => self.own.update_value(|own| own.busy_until = now + AGAIN),
            }
        });
    }

    async fn found(self, names: &[String]) -> Option<(String, String)> {
        for name in names {
            if name == "run" {
                let (experiment, _, known) = self.on.get_untracked();
                if experiment || known {
                    return Some((name.clone(), String::new()));
                }
                continue;
            }
            let html = api::kiosk_panel(name).await.ok()?;
            if !html.is_empty() {
                return Some((name.clone(), html));
            }
        }
        Some(Default::default())
    }

    /// Loads the page anew when the server has another one, and only once it has answered with it. It is asked when it
    /// has started, and while nothing is heard that this page understands.
    fn compare(self, now: f64, stale: bool) {
        let server = self.client.handle.structure(|s| s.server_id.clone());
        let (known, compared, comparing) =
            self.own.with_value(|own| (own.server == server, own.compared, own.comparing));
        if comparing || now - compared < AGAIN || (known && !stale) {
            return;
        }
        self.own.update_value(|own| (own.compared, own.comparing) = (now, true));
        spawn_local(async move {
            let page = api::page().await;
            self.own.update_value(|own| own.comparing = false);
            let Ok(page) = page else { return };
            if self.own.with_value(|own| own.page.as_ref().is_some_and(|before| *before != page)) {
                let _ = window().location().reload();
            }
            self.own.update_value(|own| (own.server, own.page) = (server, Some(page)));
        });
    }
}

/// Sets a signal to what it is not yet.
fn put<T: PartialEq + Send + Sync + 'static>(signal: RwSignal<T>, value: T) {
    if signal.with_untracked(|before| *before != value) {
        signal.set(value);
    }
}

/// The time of day, `14:03` or `14:03:22`.
fn clock(ms: f64, seconds: bool) -> String {
    let date = js_sys::Date::new(&ms.into());
    let minutes = format!("{:02}:{:02}", date.get_hours(), date.get_minutes());
    if seconds { format!("{minutes}:{:02}", date.get_seconds()) } else { minutes }
}
