//! What to do with what was found: try it now, or take it along.

use crate::live::{Client, Power};
use crate::model::{Deed, Stored, USES};
use leptos::prelude::*;

/// Formats that keep settings, as the server names them and as people say it.
const FORMATS: [(&str, &str); 6] = [
    ("tuned", "tuned profile"),
    ("tlp", "TLP drop-in"),
    ("systemd", "systemd unit"),
    ("tmpfiles", "tmpfiles.d"),
    ("cmdline", "Kernel command line"),
    ("script", "Shell script"),
];

/// Use, trial, exports.
#[component]
pub(crate) fn Advice(id: String, stored: Stored) -> impl IntoView {
    let power = expect_context::<Power>();
    let operates = expect_context::<Client>().operates();
    let purpose = RwSignal::new(USES[0].0);
    let imported = stored.imported;
    let stored = StoredValue::new(stored);
    let wishes =
        Memo::new(move |_| power.settings(|s| stored.with_value(|stored| stored.wishes(purpose.get(), &s.host.knobs))));
    let setting = Memo::new(move |_| power.settings(|s| s.doing == Some(Deed::Advice)));
    let summary = Memo::new(move |_| power.settings(|s| s.summary.clone()));
    let tried = RwSignal::new(false);
    let words = move || match wishes.with(Vec::len) {
        _ if setting.get() => "setting and reading back".to_owned(),
        _ if tried.get() && summary.with(Option::is_some) => summary.get().unwrap_or_default(),
        0 => "It is so already, or cannot be set here.".into(),
        1 => "Changes 1 setting until Brakecheck ends, or \u{201c}Restore now\u{201d}.".into(),
        n => format!("Changes {n} settings until Brakecheck ends, or \u{201c}Restore now\u{201d}."),
    };
    let off = move || (wishes.with(Vec::is_empty) || setting.get()).then_some("true");
    let try_it = move |_| {
        if off().is_none() {
            tried.set(true);
            power.advised(wishes.get_untracked());
        }
    };
    let radio = move |(name, title): (&'static str, &'static str)| {
        view! {
            <label>
                <input
                    type="radio"
                    name="use"
                    value=name
                    prop:checked=move || purpose.get() == name
                    on:change=move |_| {
                        tried.set(false);
                        purpose.set(name);
                    }
                />
                <span>{title}</span>
            </label>
        }
    };
    let link = move |(format, title): (&'static str, &'static str)| {
        let href = format!("/api/v1/experiments/{id}/export?format={format}&use=");
        view! { <li><a href=move || href.clone() + purpose.get() download="" data-export=format>{title}</a></li> }
    };
    view! {
        <section class="advice" aria-label="What to do">
            <fieldset class="switch">
                <legend>"What to do, where what matters is"</legend>
                {USES.map(radio).collect_view()}
            </fieldset>
            {(!imported && operates)
                .then(|| {
                    view! {
                        <p class="try">
                            <button type="button" id="try" class="strong" aria-disabled=off on:click=try_it>"Try it now"</button>
                            <span class="fine" role="status" data-testid="tried">{words}</span>
                        </p>
                    }
                })}
            <p class="fine">"To keep it, as"</p>
            <ul class="links">{FORMATS.map(link).collect_view()}</ul>
        </section>
    }
}
