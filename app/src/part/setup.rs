//! The left side: everything that is set before a run.

use super::custom::CustomForm;
use super::options::{CommonOptions, PresetOptions};
use super::presets::Presets;
use super::start::Start;
use super::target::TargetPicker;
use crate::api;
use crate::keep;
use crate::live::{Client, Handle};
use crate::model::{Change, Kind, Problem, RunModel, Setup, State};
use leptos::prelude::*;
use protocol::api::{SystemFacts, TargetChoice};
use protocol::error::ErrorBody;
use wasm_bindgen_futures::spawn_local;

/// Under which the browser keeps it.
pub(super) const KEY: &str = "setup";

/// What the parts of the set-up share.
#[derive(Clone, Copy)]
pub(crate) struct Desk {
    /// The set-up as typed.
    pub(crate) setup: RwSignal<Setup>,
    /// The target it names, looked at.
    pub(crate) choice: RwSignal<Option<TargetChoice>>,
    /// Why it cannot be started, if so.
    pub(crate) problem: Signal<Option<Problem>>,
    /// The run it would be.
    pub(crate) plan: Handle,
    /// Changed since the last run, so that the plan is of more interest than that run.
    pub(crate) touched: RwSignal<bool>,
    /// A start was asked for and not yet answered.
    pub(crate) starting: RwSignal<bool>,
    /// Why it was not started, if so.
    pub(crate) error: RwSignal<Option<ErrorBody>>,
}

impl Desk {
    /// A desk with the set-up of the last visit.
    pub(crate) fn new() -> Self {
        let setup = RwSignal::new(keep::value::<Setup>(KEY).unwrap_or_default());
        let desk = Self {
            setup,
            choice: RwSignal::new(None),
            problem: Memo::new(move |_| setup.with(|s| s.request().err())).into(),
            plan: Handle::new(State::default()),
            touched: RwSignal::new(false),
            starting: RwSignal::new(false),
            error: RwSignal::new(None),
        };
        let system = RwSignal::new(None::<SystemFacts>);
        spawn_local(async move {
            if let Ok(facts) = api::system().await {
                let _ = system.try_set(Some(facts));
            }
        });
        Effect::new(move || setup.with(|s| keep::set_value(KEY, s)));
        Effect::new(move || {
            let mut wanted = setup.get();
            let choice = desk.choice.get();
            if wanted.target.is_empty() {
                // The grid can be shown before a target is chosen.
                wanted.target.push('.');
            }
            let Some(spec) = wanted.request().ok().and_then(|r| r.plan().ok()) else { return };
            let (target, drive) = choice.map_or((None, None), |c| (Some(c.target), c.drive));
            let mut model = RunModel::planned(spec, target, drive);
            if let Some(facts) = system.get() {
                model.record.host = facts.host;
                model.record.engine = facts.engine;
            }
            desk.plan.update(|state| {
                *state = State::of(model);
                Change::Structure
            });
        });
        desk
    }

    /// Asks the server to start the run.
    pub(crate) fn start(self, queue: bool) {
        let Ok(mut request) = self.setup.with_untracked(Setup::request) else { return };
        request.queue = queue;
        self.starting.set(true);
        self.error.set(None);
        spawn_local(async move {
            let answer = api::start(&request).await;
            let _ = self.starting.try_set(false);
            match answer {
                Ok(_) => drop(self.touched.try_set(false)),
                Err(e) => drop(self.error.try_set(Some(e))),
            }
        });
    }
}

/// The panel.
#[component]
pub(crate) fn SetupPanel(desk: Desk) -> impl IntoView {
    let client = expect_context::<Client>();
    let running = Memo::new(move |_| client.handle.structure(State::running));
    let custom = Memo::new(move |_| desk.setup.with(|s| s.kind == Kind::Custom));
    let command = Memo::new(move |_| desk.setup.with(Setup::command_line));
    let edited = move |_: web_sys::Event| {
        desk.touched.set(true);
        desk.error.set(None);
    };
    let submit = move |ev: web_sys::SubmitEvent| {
        ev.prevent_default();
        if !running.get_untracked() {
            desk.start(false);
        }
    };
    let (setup, problem) = (desk.setup, desk.problem);
    view! {
        <form class="setup" on:input=edited on:submit=submit aria-label="What to measure">
            <Start desk/>
            <fieldset class="bare" disabled=move || running.get()>
                <legend class="visually-hidden">"Set-up"</legend>
                <TargetPicker setup choice=desk.choice/>
                <Presets setup/>
                <fieldset>
                    <legend>"Options"</legend>
                    <Show
                        when=move || custom.get()
                        fallback=move || view! { <PresetOptions setup problem/> }
                    >
                        <CustomForm setup problem/>
                    </Show>
                    <CommonOptions setup problem/>
                </fieldset>
            </fieldset>
            <section class="command" aria-label="Equivalent command">
                <h3>"The same in a terminal"</h3>
                <pre tabindex="0" data-testid="command">{move || command.get()}</pre>
            </section>
        </form>
    }
}
