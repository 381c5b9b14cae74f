//! The stream of settings, `/ws/power`, and what a page may ask of them. Lives at the root of the page.

use super::line::{Frame, Line, Stream};
use super::machine::{Connection, SILENCE};
use super::power_frame;
use crate::api;
use crate::format::whole;
use crate::model::{Deed, Moved, Settings, summary};
use crate::session::Access;
use leptos::prelude::*;
use protocol::error::ErrorBody;
use protocol::knob::{Assignment, RestoreReport};
use protocol::power::{PowerEvent, Profile, RestoreRequest, SetRequest};
use std::time::Duration;
use wasm_bindgen_futures::spawn_local;

/// Time in ms in which a kiosk's connection opens or is given up; that of runs may wait behind it.
const QUICK: f64 = 1000.0;

/// The host's settings as views see them. Copies refer to the same state.
#[derive(Clone, Copy)]
pub(crate) struct Power {
    state: StoredValue<Settings>,
    settings: RwSignal<u64>,
    load: RwSignal<u64>,
    line: StoredValue<Option<Line>, LocalStorage>,
    watched: StoredValue<bool>,
    ticking: StoredValue<bool>,
    kiosk: bool,
    /// How the connection stands.
    pub(crate) connection: RwSignal<Connection>,
    /// Whole seconds until what is unconfirmed falls back; none if nothing does.
    pub(crate) seconds_left: RwSignal<Option<u32>>,
}

impl Power {
    /// Settings that are not known yet.
    pub(crate) fn new(kiosk: bool) -> Self {
        Self {
            kiosk,
            state: StoredValue::new(Settings::default()),
            settings: RwSignal::new(0),
            load: RwSignal::new(0),
            line: StoredValue::new_local(None),
            watched: StoredValue::new(false),
            ticking: StoredValue::new(false),
            connection: RwSignal::new(Connection::default()),
            seconds_left: RwSignal::new(None),
        }
    }

    /// Connects, and stays connected for the life of the page.
    pub(crate) fn connect(self, session: RwSignal<Option<Access>>) {
        self.line.set_value(Some(Line::open(Box::new(self), session)));
    }

    /// Asks for telemetry, or no longer: the host measures it only while somebody looks.
    pub(crate) fn watch(self, watched: bool) {
        if self.watched.get_value() == watched {
            return;
        }
        self.watched.set_value(watched);
        self.change(Settings::forget_load);
        self.line.with_value(|line| {
            if let Some(line) = line {
                line.reopen();
            }
        });
    }

    /// Reads the settings; again when they change.
    pub(crate) fn settings<R>(self, read: impl FnOnce(&Settings) -> R) -> R {
        self.settings.track();
        self.state.with_value(read)
    }

    /// Reads the telemetry; again with each sample.
    pub(crate) fn load<R>(self, read: impl FnOnce(&Settings) -> R) -> R {
        self.load.track();
        self.state.with_value(read)
    }

    /// Changes the settings that are shown.
    pub(crate) fn change(self, change: impl FnOnce(&mut Settings)) {
        self.state.update_value(change);
        self.settings.update(|n| *n += 1);
        self.load.update(|n| *n += 1);
        self.tick();
    }

    fn apply(self, event: PowerEvent) {
        let now = js_sys::Date::now();
        let mut moved = Moved::Load;
        self.state.update_value(|s| moved = s.apply(event, now));
        match moved {
            Moved::Load => self.load.update(|n| *n += 1),
            Moved::Settings => self.change(|_| ()),
        }
    }

    /// Counts down while something falls back.
    fn tick(self) {
        let falls_back_at = self.state.with_value(|s| s.falls_back_at);
        let left = falls_back_at.map(|at| whole(((at - js_sys::Date::now()) / 1e3).ceil()));
        if self.seconds_left.get_untracked() != left {
            self.seconds_left.set(left);
        }
        if left.is_some() && !self.ticking.get_value() {
            self.ticking.set_value(true);
            let again = move || {
                self.ticking.set_value(false);
                self.tick();
            };
            set_timeout(again, Duration::from_millis(200));
        }
    }

    /// Sets one knob.
    pub(crate) fn set(self, wish: Assignment, risk: bool) {
        let request = SetRequest { set: vec![wish.clone()], risk, ..SetRequest::default() };
        self.ask(request, vec![wish], None);
    }

    /// Sets all knobs as a profile wants them.
    pub(crate) fn profile(self, profile: Profile) {
        let wishes = self.state.with_value(|s| {
            let other = |a: &Assignment| s.knob(&a.id).is_some_and(|k| k.value.as_ref() != Some(&a.value));
            profile.assignments(&s.host.knobs).into_iter().filter(other).collect()
        });
        let request = SetRequest { profile: Some(profile), ..SetRequest::default() };
        self.ask(request, wishes, Some(Deed::Profile(profile)));
    }

    /// Sets what an experiment recommends.
    pub(crate) fn advised(self, wishes: Vec<Assignment>) {
        let request = SetRequest { set: wishes.clone(), ..SetRequest::default() };
        self.ask(request, wishes, Some(Deed::Advice));
    }

    fn ask(self, request: SetRequest, wishes: Vec<Assignment>, deed: Option<Deed>) {
        self.change(|s| {
            s.asked(&wishes);
            s.doing = deed.or(s.doing);
        });
        spawn_local(async move {
            let answer = api::set_knobs(&request).await.map(|answer| answer.outcomes);
            self.change(|s| {
                if deed.is_some() {
                    s.doing = None;
                    s.summary = answer.as_deref().ok().map(summary);
                }
                s.answered(&wishes, answer);
            });
        });
    }

    /// Puts everything back; with `force`, what somebody else has changed meanwhile, too.
    pub(crate) fn restore(self, force: bool) {
        self.begin(Deed::Restore);
        spawn_local(async move {
            let answer = api::restore(&RestoreRequest { force }).await;
            self.end(answer.map(Some));
        });
    }

    /// Keeps what falls back otherwise.
    pub(crate) fn confirm(self) {
        self.begin(Deed::Confirm);
        spawn_local(async move {
            let answer = api::confirm().await;
            self.end(answer.map(|()| None));
        });
    }

    fn begin(self, deed: Deed) {
        self.change(|s| {
            s.asked(&[]);
            s.doing = Some(deed);
        });
    }

    fn end(self, answer: Result<Option<RestoreReport>, ErrorBody>) {
        self.change(|s| {
            s.doing = None;
            match answer {
                Ok(report) => s.report = report.or(s.report.take()),
                Err(error) => s.error = Some(error),
            }
        });
    }
}

impl Stream for Power {
    fn path(&self) -> &'static str {
        if self.watched.get_value() { "/ws/power" } else { "/ws/power?telemetry=0" }
    }

    fn connection(&self) -> RwSignal<Connection> {
        self.connection
    }

    fn read(&self, text: &str) -> Option<Frame> {
        let (seq, event) = power_frame::read(text).ok()?;
        let (power, snapshot) = (*self, matches!(event, PowerEvent::Snapshot(_)));
        Some(Frame { seq, snapshot, apply: Box::new(move || power.apply(event)) })
    }

    fn opens_within(&self) -> f64 {
        if self.kiosk { QUICK } else { SILENCE }
    }

    /// Telemetry comes several times a second; settings change when somebody changes them.
    fn patience(&self) -> Option<f64> {
        self.watched.get_value().then_some(SILENCE)
    }
}
