//! A question with what the server says to it.

use super::form::{boxes, form, questions, settings};
use super::plan::{plan, refused, risk};
use crate::api;
use crate::keep;
use crate::live::Client;
use crate::model::{Brakes, Problem, QUESTIONS, Setup, field_of, keys};
use crate::part::setup::KEY;
use crate::route::{Route, Router};
use leptos::prelude::*;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::knob::Knob;
use serde_json::{Value, json};
use std::time::Duration;
use wasm_bindgen_futures::spawn_local;

/// How long typing must rest before the server is asked.
const REST: Duration = Duration::from_millis(250);

/// The question. Copies refer to the same one.
#[derive(Clone, Copy)]
pub(crate) struct Inquiry {
    /// Target and question as typed; the target is the one of Measure.
    pub(crate) setup: RwSignal<Setup>,
    /// The experiment that was planned last, and its plan.
    answer: RwSignal<Option<(Value, Result<Value, ErrorBody>)>>,
    /// The target for which each question was tried.
    tried: StoredValue<String>,
    /// A start was asked for and not yet answered.
    pub(crate) starting: RwSignal<bool>,
    /// Why it was not started, if so.
    pub(crate) error: RwSignal<Option<ErrorBody>>,
}

impl Inquiry {
    /// A question about the target of the last visit.
    pub(crate) fn new() -> Self {
        let inquiry = Self {
            setup: RwSignal::new(keep::value::<Setup>(KEY).unwrap_or_default()),
            answer: RwSignal::new(None),
            tried: StoredValue::new(String::new()),
            starting: RwSignal::new(false),
            error: RwSignal::new(None),
        };
        let client = expect_context::<Client>();
        Effect::new(move |timer: Option<Option<TimeoutHandle>>| {
            if let Some(timer) = timer.flatten() {
                timer.clear();
            }
            // What ended may have been in the way.
            client.list.track();
            inquiry.setup.with(|s| keep::set_value(KEY, s));
            set_timeout_with_handle(move || spawn_local(inquiry.ask()), REST).ok()
        });
        Effect::new(move || {
            let problem = inquiry.problem();
            for key in keys() {
                let message = problem.as_ref().filter(|p| p.field == key).map_or("", |p| &p.message);
                put_text(&format!("problem-{key}"), message);
            }
        });
        inquiry
    }

    /// The experiment as it would be sent.
    fn spec(self) -> Result<Value, Problem> {
        self.setup.with(|s| {
            let message = "Choose a directory, a file or a drive to measure.".to_owned();
            if s.target.is_empty() { Err(Problem { field: "target", message }) } else { s.brakes.spec(&s.target) }
        })
    }

    /// Asks for the plan, and for a new target, which of the questions can be answered.
    async fn ask(self) {
        if self.setup.is_disposed() {
            return;
        }
        let Ok(spec) = untrack(|| self.spec()) else { return };
        let answer = api::plan(&spec).await;
        if self.setup.is_disposed() {
            return;
        }
        let target = self.setup.with_untracked(|s| s.target.clone());
        self.answer.set(Some((spec, answer)));
        if self.tried.with_value(|tried| *tried == target) {
            return;
        }
        self.tried.set_value(target.clone());
        for question in QUESTIONS.iter().take(QUESTIONS.len() - 1) {
            let why = match api::plan(&json!({ "design": question.name, "target": target })).await {
                Ok(answer) => risk(&answer).map_or_else(
                    || refused(&answer),
                    |risk| Some(ErrorBody::new(ErrorCode::NotPermitted, ["Risky: ", &risk].concat())),
                ),
                Err(error) => Some(error),
            };
            if self.tried.try_with_value(|tried| *tried != target).unwrap_or(true) {
                return;
            }
            // What is busy now says nothing of the question.
            let why = why.filter(|e| e.code != ErrorCode::Busy).map(|e| e.message);
            put_text(&format!("why-{}", question.name), &why.unwrap_or_default());
        }
    }

    /// The answer to what is typed now; none while it is not known.
    fn answered(self) -> Option<Result<Value, ErrorBody>> {
        let spec = self.spec().ok()?;
        self.answer.with(|a| a.as_ref().filter(|(of, _)| *of == spec).map(|(_, answer)| answer.clone()))
    }

    /// Whether what is shown is the plan of something else.
    pub(crate) fn outdated(self) -> bool {
        !matches!(self.answered(), Some(Ok(_)))
    }

    /// The plan that was known last, as HTML.
    pub(crate) fn plan(self) -> String {
        let command = self.setup.with(|s| s.brakes.command_line(&s.target)).unwrap_or_default();
        self.answer.with(|a| {
            let Some((_, Ok(answer))) = a else { return String::new() };
            let toml = answer.get("toml").and_then(Value::as_str).unwrap_or_default();
            let toml: String = js_sys::encode_uri_component(toml).into();
            plan(answer, &command, &format!("data:application/toml;charset=utf-8,{toml}"))
        })
    }

    /// What is wrong with a field, as far as it is known.
    fn problem(self) -> Option<Problem> {
        if let Err(problem) = self.spec() {
            return Some(problem);
        }
        let error = self.answered()?.err()?;
        Some(Problem { field: field_of(&error.message)?, message: error.message })
    }

    /// What is wrong, in a line beside the button, where the field may be out of sight.
    pub(crate) fn complaint(self) -> Option<String> {
        self.problem().map(|p| p.message)
    }

    /// Why it cannot be started, unless a field is the reason.
    pub(crate) fn obstacle(self) -> Option<ErrorBody> {
        match self.answered()? {
            Ok(answer) => refused(&answer),
            Err(error) => field_of(&error.message).is_none().then_some(error),
        }
    }

    /// Whether it can be started.
    pub(crate) fn ready(self) -> bool {
        matches!(self.answered(), Some(Ok(answer)) if refused(&answer).is_none())
    }

    /// Takes what was put into a field of the form.
    pub(crate) fn put(self, name: &str, value: String, ticked: bool) {
        self.error.set(None);
        if name == "setting" {
            if value.is_empty() {
                return;
            }
            // Ready for the next one.
            put_value("setting", "");
            let text = self.setup.with_untracked(|s| s.brakes.rungs.clone());
            let text = with_setting(text.trim_end(), &value);
            put_value("field-rung", &text);
            self.put("rung", text, false);
        } else {
            self.setup.update(|s| s.brakes.put(name, value, ticked));
        }
    }

    /// Fills the form from an experiment file.
    pub(crate) fn open(self, file: web_sys::File, knobs: impl Fn() + 'static) {
        self.error.set(None);
        spawn_local(async move {
            match api::read_file(&file).await {
                Ok(keys) => {
                    let (mut brakes, target) = Brakes::of_file(&keys);
                    brakes.keep_ticks(&boxes().collect::<Vec<_>>());
                    put_html("questions", &questions(&brakes));
                    put_html("own", &form(&brakes));
                    self.tried.set_value(String::new());
                    self.setup.update(|s| {
                        s.brakes = brakes;
                        s.target = target.unwrap_or_else(|| s.target.clone());
                    });
                    knobs();
                }
                Err(e) => drop(self.error.try_set(Some(e))),
            }
        });
    }

    /// What may go wrong with what is planned, and whether that is accepted.
    pub(crate) fn risk(self) -> Option<(String, bool)> {
        let risk = self.answer.with(|a| risk(a.as_ref()?.1.as_ref().ok()?));
        Some((risk?, self.setup.with(|s| s.brakes.takes_risk())))
    }

    /// Shows the settings of this host.
    pub(crate) fn knobs(self, knobs: &[Knob]) {
        let boxes = self.setup.with_untracked(|s| super::knobs(knobs, |id| s.brakes.has("knobs", id)));
        put_html("knobs", &boxes);
        put_html("settings", &settings(knobs));
    }

    /// Starts the experiment and opens its page.
    pub(crate) fn start(self, router: Router) {
        let Ok(spec) = untrack(|| self.spec()) else { return };
        self.starting.set(true);
        self.error.set(None);
        spawn_local(async move {
            let answer = api::begin(&spec).await;
            let _ = self.starting.try_set(false);
            match answer {
                Ok(created) => router.go(&Route::Experiment(created.id)),
                Err(e) => drop(self.error.try_set(Some(e))),
            }
        });
    }
}

/// The rungs with one more setting in the last line.
fn with_setting(text: &str, setting: &str) -> String {
    let line = text.lines().last().unwrap_or_default();
    let before = match (line.is_empty(), line.contains(':'), line.contains('=')) {
        (true, ..) => "changed: ",
        (_, false, _) => ": ",
        (.., false) => " ",
        _ => ", ",
    };
    [text, before, setting].concat()
}

fn put_text(id: &str, text: &str) {
    if let Some(element) = document().get_element_by_id(id) {
        element.set_text_content(Some(text));
    }
}

fn put_html(id: &str, html: &str) {
    if let Some(element) = document().get_element_by_id(id) {
        element.set_inner_html(html);
    }
}

fn put_value(id: &str, value: &str) {
    if let Some(element) = document().get_element_by_id(id) {
        let _ = js_sys::Reflect::set(&element, &"value".into(), &value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_goes_into_the_last_line() {
        for (text, out) in [
            ("", "changed: cpu.turbo=off"),
            ("a", "a: cpu.turbo=off"),
            ("a:", "a: cpu.turbo=off"),
            ("a: x=1\nb: y=2", "a: x=1\nb: y=2, cpu.turbo=off"),
        ] {
            assert_eq!(with_setting(text, "cpu.turbo=off"), out);
        }
    }
}
