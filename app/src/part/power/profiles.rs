//! One click for all settings at once.

use crate::live::Power;
use crate::model::{Deed, changed, counts, leftovers};
use leptos::prelude::*;
use protocol::power::Profile;

/// All saving, all performance, as found.
#[component]
pub(crate) fn Profiles() -> impl IntoView {
    let power = expect_context::<Power>();
    let doing = Memo::new(move |_| power.settings(|s| s.doing));
    let status = Memo::new(move |_| power.settings(status));
    let profile = |profile: Profile, title: &'static str, id: &'static str| {
        let state = Memo::new(move |_| {
            let counts = power.settings(|s| counts(profile, &s.host.knobs));
            match (counts.to_change, counts.there) {
                (0, 0) => (true, false, "nothing to set here".into()),
                (0, n) => (true, true, format!("in force, {n} settings")),
                (1, _) => (false, false, "changes 1 setting".into()),
                (n, _) => (false, false, format!("changes {n} settings")),
            }
        });
        let off = Memo::new(move |_| state.get().0 || doing.get().is_some());
        let words = move || {
            let busy = doing.get() == Some(Deed::Profile(profile));
            if busy { "setting and reading back".to_owned() } else { state.get().2 }
        };
        button(title, id, off, Signal::derive(move || state.get().1), Signal::derive(words), move || {
            power.profile(profile);
        })
    };
    let found = Memo::new(move |_| power.settings(|s| (s.host.changed, s.foreign().count())));
    let off = Memo::new(move |_| found.get() == (0, 0) || doing.get().is_some());
    let words = move || match found.get() {
        _ if doing.get() == Some(Deed::Restore) => "putting back".into(),
        (0, 0) => "in force".into(),
        (0, _) => "puts back what is left".into(),
        (1, _) => "puts back 1 setting".into(),
        (n, _) => format!("puts back {n} settings"),
    };
    let in_force = Signal::derive(move || found.get() == (0, 0));
    view! {
        <div class="profiles">
            <div class="cards" role="group" aria-label="All settings at once">
                {profile(Profile::Saving, "All saving", "saving")}
                {profile(Profile::Performance, "All performance", "performance")}
                {button("As found", "found", off, in_force, Signal::derive(words), move || power.restore(false))}
            </div>
            <p class="fine" role="status" data-testid="profile-status">{move || status.get()}</p>
        </div>
    }
}

/// What the last click came to, else what a profile leaves alone.
fn status(s: &crate::model::Settings) -> String {
    if let Some(summary) = &s.summary {
        return summary.clone();
    }
    let back = s.report.as_ref().filter(|r| leftovers(r, &s.host.knobs).is_empty());
    if let (Some(_), None) = (back, changed(s.host.changed)) {
        return "Everything is as it was found.".into();
    }
    let risky = s.host.knobs.iter().filter(|k| k.writable && k.risk.is_some()).count();
    let writable = s.host.knobs.iter().any(|k| k.writable);
    let mut words = String::new();
    if writable {
        words += "What is set here goes back when Brakecheck ends.";
    }
    if risky > 0 {
        words += " A profile leaves risky settings alone.";
    }
    words
}

fn button(
    title: &'static str,
    id: &'static str,
    off: Memo<bool>,
    in_force: Signal<bool>,
    words: Signal<String>,
    click: impl Fn() + 'static,
) -> AnyView {
    // Not `disabled`: the focus would be lost while it works.
    let click = move |_| {
        if !off.get_untracked() {
            click();
        }
    };
    view! {
        <button
            type="button"
            class="profile"
            data-profile=id
            aria-disabled=move || off.get().then_some("true")
            aria-pressed=move || in_force.get().to_string()
            on:click=click
        >
            <span class="title">{title}</span>
            <span class="fine">{move || words.get()}</span>
        </button>
    }
    .into_any()
}
