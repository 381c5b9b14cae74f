//! Shown to a browser that the server does not know.

use leptos::prelude::*;

/// How to get in.
#[component]
pub(crate) fn Gate() -> impl IntoView {
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
}
