//! Choosing the target: places that suit, or any path.

use crate::api;
use crate::format;
use crate::model::Setup;
use crate::part::Notice;
use leptos::prelude::*;
use protocol::api::TargetChoice;
use protocol::host::TargetKind;
use std::time::Duration;
use wasm_bindgen_futures::spawn_local;

/// How long typing must rest before the path is looked at.
const REST: Duration = Duration::from_millis(300);

/// One place in one line: `ext4 · 120 GB free · Samsung SSD 850 · SATA 6.0 Gb/s`.
fn described(choice: &TargetChoice) -> String {
    let t = &choice.target;
    let gb = |b: protocol::units::Bytes| format!("{}\u{a0}GB", format::digits(b.0 as f64 / 1e9));
    let room = match t.kind {
        TargetKind::Directory => t.free.map(|b| gb(b) + " free"),
        TargetKind::File | TargetKind::BlockDevice => t.size.map(|b| gb(b) + ", read only"),
    };
    let drive = choice.drive.as_ref();
    let model = drive.map(|d| d.model.clone().unwrap_or_else(|| d.name.clone()));
    let bus = drive.and_then(|d| d.link.as_ref().map(|l| l.current.clone()).or_else(|| d.bus.clone()));
    [t.filesystem.clone(), room, model, bus].into_iter().flatten().collect::<Vec<_>>().join(" \u{b7} ")
}

/// The field, what is known of the path in it, and suggestions.
#[component]
pub(crate) fn TargetPicker(setup: RwSignal<Setup>, choice: RwSignal<Option<TargetChoice>>) -> impl IntoView {
    let suggestions = RwSignal::new(Vec::<TargetChoice>::new());
    let failed = RwSignal::new(None);
    let path = Memo::new(move |_| setup.with(|s| s.target.clone()));
    spawn_local(async move {
        match api::targets().await {
            Ok(list) => {
                let first = list.iter().find(|c| c.refused.is_none()).map(|c| c.target.path.clone());
                if let Some(first) = first.filter(|_| path.try_get_untracked().is_some_and(|p| p.is_empty())) {
                    let _ = setup.try_update(|s| s.target = first);
                }
                let _ = suggestions.try_set(list);
            }
            Err(e) => {
                let _ = failed.try_set(Some(e));
            }
        }
    });
    Effect::new(move |timer: Option<Option<TimeoutHandle>>| {
        if let Some(timer) = timer.flatten() {
            timer.clear();
        }
        let wanted = path.get();
        let known = suggestions.with(|all| all.iter().find(|c| c.target.path == wanted).cloned());
        failed.set(None);
        choice.set(known.clone());
        if wanted.is_empty() || known.is_some() {
            return None;
        }
        let look = move || {
            spawn_local(async move {
                let result = api::inspect(&wanted).await;
                if path.try_get_untracked().as_ref() == Some(&wanted) {
                    match result {
                        Ok(found) => drop(choice.try_set(Some(found))),
                        Err(e) => drop(failed.try_set(Some(e))),
                    }
                }
            });
        };
        set_timeout_with_handle(look, REST).ok()
    });
    let suggested = move |c: &TargetChoice| suggestions.with(|all| all.iter().any(|s| s.target.path == c.target.path));
    let refused = move || choice.with(|c| c.as_ref().and_then(|c| c.refused.clone())).or_else(|| failed.get());
    let suggestion = move |c: TargetChoice| {
        let (own, chosen, to_show) = (c.target.path.clone(), c.target.path.clone(), c.target.path.clone());
        let off = c.refused.is_some();
        view! {
            <label class="place" class:off=off>
                <input
                    type="radio"
                    name="place"
                    prop:checked=move || path.get() == own
                    on:change=move |_| setup.update(|s| s.target.clone_from(&chosen))
                />
                <span class="path">{to_show}</span>
                <span class="fine">{described(&c)}</span>
            </label>
        }
    };
    view! {
        <fieldset>
            <legend>"Target"</legend>
            <label for="target" class="visually-hidden">"Directory, file or drive"</label>
            <input
                id="target"
                type="text"
                autocomplete="off"
                spellcheck="false"
                placeholder="/path/of/a/directory"
                prop:value=move || path.get()
                aria-describedby="target-about"
                on:input=move |ev| setup.update(|s| s.target = event_target_value(&ev))
            />
            <p class="fine" id="target-about">
                {move || choice.with(|c| c.as_ref().filter(|c| c.refused.is_none() && !suggested(c)).map(described))}
            </p>
            {move || refused().map(|error| view! { <Notice error/> })}
            <div class="places" role="group" aria-label="Suggestions">
                {move || suggestions.get().into_iter().map(suggestion).collect_view()}
            </div>
        </fieldset>
    }
}
