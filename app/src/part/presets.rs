//! Choosing what to run: a preset in the words of its users, or a workload of one's own.

use crate::format;
use crate::model::{Kind, Setup};
use leptos::prelude::*;
use protocol::preset::{PRESETS, Preset, PresetRequest};

/// How long a preset takes with its own settings, in words.
fn time(preset: &Preset) -> String {
    let request = PresetRequest { name: preset.name.into(), ..PresetRequest::default() };
    let us: u64 = request.steps().unwrap_or_default().iter().map(|s| s.pause.0.0 + s.workload.duration().0.0).sum();
    format::about(us as f64 / 1e6)
}

/// The cards.
#[component]
pub(crate) fn Presets(setup: RwSignal<Setup>) -> impl IntoView {
    let kind = Memo::new(move |_| setup.with(|s| s.kind.clone()));
    let card = move |id: Option<&'static str>, preset: Option<&'static str>, title: &'static str, text: String| {
        let own = preset.map_or(Kind::Custom, |p| Kind::Preset(p.into()));
        let chosen = own.clone();
        view! {
            <label class="card" id=id data-preset=preset>
                <input
                    type="radio"
                    name="kind"
                    prop:checked=move || kind.get() == own
                    on:change=move |_| setup.update(|s| s.kind = chosen.clone())
                />
                <span class="title">{title}</span>
                <span class="fine">{text}</span>
            </label>
        }
    };
    let preset =
        |p: &'static Preset| card(None, Some(p.name), p.title, format!("{} About {}.", p.description, time(p)));
    view! {
        <fieldset class="cards">
            <legend>"What to run"</legend>
            {PRESETS.iter().map(preset).collect_view()}
            {card(Some("custom"), None, "Custom", "One workload with fio\u{2019}s options.".into())}
        </fieldset>
    }
}
