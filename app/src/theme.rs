//! Light, dark, or as the system says; kept in the browser.

use crate::keep;
use leptos::prelude::*;

const KEY: &str = "theme";

/// A choice of colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Choice {
    #[default]
    System,
    Light,
    Dark,
}

impl Choice {
    fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
    fn next(self) -> Self {
        match self {
            Self::System => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::System,
        }
    }
}

/// The colours in force.
#[derive(Clone, Copy)]
pub(crate) struct Theme {
    choice: RwSignal<Choice>,
    /// Goes up when the system's own preference changes.
    system: RwSignal<u32>,
}

impl Theme {
    /// Reads the kept choice and applies it from now on.
    pub(crate) fn start() -> Self {
        let kept = keep::text(KEY);
        let all = [Choice::System, Choice::Light, Choice::Dark];
        let found = all.into_iter().find(|c| Some(c.name()) == kept.as_deref());
        let theme = Self { choice: RwSignal::new(found.unwrap_or_default()), system: RwSignal::new(0) };
        Effect::new(move || {
            if let Some(root) = document().document_element() {
                let _ = root.set_attribute("data-theme", theme.choice.get().name());
            }
            // What is drawn reads its colours only after the attribute is set.
            theme.system.update(|n| *n += 1);
        });
        theme.follow_system();
        theme
    }

    fn follow_system(self) {
        use wasm_bindgen::JsCast;
        use wasm_bindgen::prelude::Closure;
        let Ok(Some(query)) = window().match_media("(prefers-color-scheme: dark)") else { return };
        let changed = Closure::<dyn FnMut()>::new(move || self.system.update(|n| *n += 1));
        let _ = query.add_event_listener_with_callback("change", changed.as_ref().unchecked_ref());
        // Lives as long as the page.
        changed.forget();
    }

    /// Runs the caller again when the colours change.
    pub(crate) fn track(self) {
        self.system.track();
    }
}

/// The button that goes through the three choices.
#[component]
pub(crate) fn ThemeButton() -> impl IntoView {
    let theme = expect_context::<Theme>();
    let switch = move |_| {
        theme.choice.update(|c| *c = c.next());
        keep::set_text(KEY, theme.choice.get_untracked().name());
    };
    view! {
        <button type="button" class="quiet" id="theme" on:click=switch title="Colours: system, light, dark">
            <span class="visually-hidden">"Colours: "</span>
            {move || theme.choice.get().name()}
        </button>
    }
}
