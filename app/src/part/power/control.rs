//! The control of a setting. Nothing is set by moving through values with the keyboard: a value is chosen, then set.

use crate::live::{Client, Power};
use leptos::html;
use leptos::prelude::*;
use protocol::knob::{Assignment, Knob};

/// Values that fit beside each other as buttons: so many, with so many letters.
const BUTTONS: (usize, usize) = (6, 48);

/// What the control is made from; made anew only when this changes.
#[derive(Debug, Clone, Default, PartialEq)]
struct Shape {
    values: Vec<(String, &'static str)>,
    reason: Option<String>,
    risk: Option<String>,
}

/// What the parts of one control share.
#[derive(Clone, Copy)]
struct Setting {
    power: Power,
    id: StoredValue<String>,
    /// The value that was chosen and waits for the risk to be taken.
    asking: RwSignal<Option<String>>,
    /// What is wanted, else what is.
    chosen: Memo<Option<String>>,
}

impl Setting {
    fn choose(self, value: String, risky: bool) {
        if risky {
            self.asking.set(Some(value));
        } else {
            self.set(value, false);
        }
    }

    fn set(self, value: String, risk: bool) {
        self.asking.set(None);
        self.power.set(Assignment { id: self.id.get_value(), value }, risk);
    }
}

/// Buttons or a list where it can be set, else why not.
pub(crate) fn control(power: Power, id: String, title_id: String, knob: Memo<Knob>) -> AnyView {
    let client = expect_context::<Client>();
    let shape = Memo::new(move |_| {
        if !client.operates() {
            return Shape { reason: knob.with(looked_at), ..Shape::default() };
        }
        let read_only = power.settings(|s| s.host.read_only.clone());
        knob.with(|k| shape(k, read_only.as_deref()))
    });
    let of = id.clone();
    let wish = Memo::new(move |_| power.settings(|s| s.wish(&of).map(str::to_owned)));
    let chosen = Memo::new(move |_| wish.get().or_else(|| knob.with(|k| k.value.clone())));
    let setting = Setting { power, id: StoredValue::new(id), asking: RwSignal::new(None), chosen };
    (move || {
        let Shape { values, reason, risk } = shape.get();
        if values.is_empty() {
            return view! { <p class="fine why" data-testid="reason">{reason}</p> }.into_any();
        }
        let letters: usize = values.iter().map(|(v, _)| v.chars().count()).sum();
        let risky = risk.is_some();
        let choices = if values.len() <= BUTTONS.0 && letters <= BUTTONS.1 {
            buttons(setting, title_id.clone(), values, risky)
        } else {
            list(setting, title_id.clone(), values, risky)
        };
        view! { {choices} {risk.map(|risk| question(setting, risk))} }.into_any()
    })
    .into_any()
}

/// What stands in the place of the control for whoever only looks on: what else it could be, or why it cannot.
fn looked_at(knob: &Knob) -> Option<String> {
    if knob.writable { Some(knob.values.join(" \u{b7} ")) } else { knob.reason.clone() }
}

fn shape(knob: &Knob, read_only: Option<&str>) -> Shape {
    if knob.writable {
        let mark = |value: &String| {
            if value == "performance" {
                "" // It says so itself.
            } else if knob.saving_value.as_ref() == Some(value) {
                "saving"
            } else if knob.performance_value.as_ref() == Some(value) {
                "performance"
            } else {
                ""
            }
        };
        let values = knob.values.iter().map(|v| (v.clone(), mark(v))).collect();
        return Shape { values, reason: None, risk: knob.risk.clone() };
    }
    // What holds for all settings is said once, on top.
    let all = knob.reason.is_some() && knob.reason.as_deref() == read_only;
    let reason = if all { Some(knob.values.join(" \u{b7} ")) } else { knob.reason.clone() };
    Shape { reason, ..Shape::default() }
}

fn buttons(setting: Setting, title_id: String, values: Vec<(String, &'static str)>, risky: bool) -> AnyView {
    let button = |(value, mark): (String, &'static str)| {
        let (mine, data) = (value.clone(), value.clone());
        let pressed = move || setting.chosen.with(|c| c.as_deref() == Some(mine.as_str())).to_string();
        let (wanted, now) = (value.clone(), setting.chosen);
        let click = move |_| {
            if now.with_untracked(|c| c.as_deref() != Some(wanted.as_str())) {
                setting.choose(wanted.clone(), risky);
            }
        };
        view! {
            <button type="button" aria-pressed=pressed data-value=data on:click=click>
                <span>{value}</span>
                <span class="mark">{mark}</span>
            </button>
        }
    };
    view! {
        <div class="choices" role="group" aria-labelledby=title_id>{values.into_iter().map(button).collect_view()}</div>
    }
    .into_any()
}

fn list(setting: Setting, title_id: String, values: Vec<(String, &'static str)>, risky: bool) -> AnyView {
    let picked = RwSignal::new(None::<String>);
    // What was picked and not set is forgotten when the value changes.
    Effect::new(move || {
        setting.chosen.track();
        picked.set(None);
    });
    let shown = move || picked.get().or_else(|| setting.chosen.get()).unwrap_or_default();
    let differs = Memo::new(move |_| picked.get().is_some_and(|p| setting.chosen.get() != Some(p)));
    let option = |(value, mark): (String, &'static str)| {
        let text = if mark.is_empty() { value.clone() } else { format!("{value} \u{b7} {mark}") };
        view! { <option value=value>{text}</option> }
    };
    // A value that is none of the choices has to be shown as well.
    let known: Vec<String> = values.iter().map(|(v, _)| v.clone()).collect();
    let other = Memo::new(move |_| setting.chosen.get().filter(|c| !known.contains(c)));
    let set = move |_| {
        if let Some(value) = picked.get_untracked() {
            setting.choose(value, risky);
        }
    };
    view! {
        <div class="pick">
            <select aria-labelledby=title_id prop:value=shown on:change=move |ev| picked.set(Some(event_target_value(&ev)))>
                {move || other.get().map(|v| view! { <option disabled=true>{v}</option> })}
                {values.into_iter().map(option).collect_view()}
            </select>
            <button type="button" class="strong" disabled=move || !differs.get() on:click=set>"Set"</button>
        </div>
    }
    .into_any()
}

/// What might go wrong, asked before a risky value is set.
fn question(setting: Setting, risk: String) -> AnyView {
    let asking = setting.asking;
    let risk = StoredValue::new(risk);
    (move || {
        let value = asking.get()?;
        // One for each question: it can be loaded once only.
        let focus = NodeRef::<html::Button>::new();
        focus.on_load(|button| drop(button.focus()));
        let wanted = value.clone();
        let answer = view! {
            <div class="question" role="alertdialog" aria-label="Risky setting" data-testid="question">
                <p>{format!("Risky: {}", risk.get_value())}</p>
                <p class="fine">"It goes back by itself after 15\u{a0}s unless you keep it."</p>
                <div class="answers">
                    <button type="button" class="danger" data-testid="take-risk" on:click=move |_| setting.set(wanted.clone(), true)>
                        {format!("Set {value} all the same")}
                    </button>
                    <button type="button" class="quiet" node_ref=focus on:click=move |_| asking.set(None)>
                        "Leave it"
                    </button>
                </div>
            </div>
        };
        Some(answer)
    })
    .into_any()
}
