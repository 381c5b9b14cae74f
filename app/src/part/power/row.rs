//! One setting: its name, its value now and whose doing that is, and the control or the reason why there is none.

use super::control::control;
use super::terms::explain;
use super::trial::Trial;
use crate::live::Power;
use crate::model::{kind, place, provenance};
use crate::part::explained;
use leptos::prelude::*;
use protocol::knob::{Knob, Lifetime, Origin};

/// The row of a knob.
pub(crate) fn row(power: Power, id: &str) -> AnyView {
    let of = id.to_owned();
    let knob = Memo::new(move |_| power.settings(|s| s.knob(&of).cloned().unwrap_or_default()));
    let of = id.to_owned();
    let waits = Memo::new(move |_| power.settings(|s| s.wish(&of).is_some()));
    let of = id.to_owned();
    let undone = Memo::new(move |_| {
        power.settings(|s| {
            let outcome = s.undone.iter().find(|o| o.id == of)?;
            let message = outcome.message.clone();
            Some(message.unwrap_or_else(|| format!("{} was not taken.", outcome.wanted)))
        })
    });
    let first = knob.get_untracked();
    let data = id.to_owned();
    let title_id = format!("knob-{id}");
    let value = move || knob.with(|k| k.value.clone().unwrap_or_else(|| "\u{2014}".into()));
    let detail = Memo::new(move |_| knob.with(|k| k.detail.clone()));
    let origin = Memo::new(move |_| if waits.get() { "setting".into() } else { knob.with(provenance) });
    let on_trial = Memo::new(move |_| knob.with(|k| k.lifetime == Some(Lifetime::Unconfirmed)));
    let is = move |origin| move || knob.with(|k: &Knob| k.origin == origin);
    view! {
        <li
            class="setting"
            class:ours=is(Origin::Ours)
            class:foreign=is(Origin::Foreign)
            aria-busy=move || waits.get().then_some("true")
            data-knob=data
        >
            <div class="name">
                <h3 id=title_id.clone() title=first.source>
                    {explained(first.title, explain(kind(id)))}
                    {place(id).map(|place| view! { " " <code>{place.to_owned()}</code> })}
                </h3>
                <p class="fine">{first.about}</p>
            </div>
            <div class="now">
                <p class="value" data-testid="value">{value}</p>
                <p class="fine">{move || detail.get()}</p>
                <p class="fine origin" data-testid="origin">{move || origin.get()}</p>
            </div>
            <div class="control">
                {control(power, id.to_owned(), title_id.clone(), knob)}
                <Show when=move || on_trial.get()>
                    <Trial/>
                </Show>
            </div>
            <p class="outcome" role="alert" data-testid="outcome">{move || undone.get()}</p>
        </li>
    }
    .into_any()
}
