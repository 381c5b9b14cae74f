//! Shown to a browser that the server does not know.

use crate::api;
use crate::part::Notice;
use crate::session::Access;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

/// How to get in.
#[component]
pub(crate) fn Gate(access: Access) -> impl IntoView {
    if access == Access::Locked {
        return view! { <Password/> }.into_any();
    }
    view! {
        <section class="message" data-testid="gate">
            <h1>"This browser has no key for Brakecheck"</h1>
            <p>
                "Brakecheck can write to this machine\u{2019}s drives, so it only listens to browsers that came with its address."
            </p>
            <p>
                "The terminal in which it runs shows the address; open that one, with everything after the "
                <code>"#"</code> ". If it is out of sight, start it again:"
            </p>
            <pre tabindex="0">"brakecheck serve"</pre>
        </section>
    }
    .into_any()
}

/// Asks viewers for their password.
#[component]
fn Password() -> impl IntoView {
    let field = NodeRef::<html::Input>::new();
    let error = RwSignal::new(None);
    let asking = RwSignal::new(false);
    let submit = move |ev: web_sys::SubmitEvent| {
        ev.prevent_default();
        let Some(field) = field.get_untracked().filter(|_| !asking.get_untracked()) else { return };
        asking.set(true);
        error.set(None);
        spawn_local(async move {
            match api::give_password(&field.value()).await {
                // From the beginning, with the cookie.
                Ok(()) => drop(window().location().reload()),
                Err(e) => {
                    let _ = asking.try_set(false);
                    let _ = error.try_set(Some(e));
                    field.select();
                }
            }
        });
    };
    view! {
        <form class="message" data-testid="gate" on:submit=submit>
            <h1>"Watching needs a password"</h1>
            <p>"Whoever started Brakecheck on this host knows it."</p>
            <label for="password">"Password"</label>
            <input id="password" type="password" autocomplete="current-password" autofocus=true node_ref=field/>
            <p><button type="submit" class="strong" aria-disabled=move || asking.get().then_some("true")>"Watch"</button></p>
            {move || error.get().map(|error| view! { <Notice error/> })}
        </form>
    }
    .into_any()
}
