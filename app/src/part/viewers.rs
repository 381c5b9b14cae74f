//! For the operator: how many watch over the network, where they can, and whether they may.

use crate::api;
use crate::html::Html;
use crate::part::Notice;
use leptos::html;
use leptos::prelude::*;
use protocol::error::ErrorBody;
use serde_json::Value;
use std::time::Duration;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};

/// How many watch, and a panel under it.
#[component]
pub(crate) fn Viewers() -> impl IntoView {
    let status = RwSignal::new(Value::Null);
    let error = RwSignal::new(None::<ErrorBody>);
    let open = RwSignal::new(false);
    let (copied, switching) = (RwSignal::new(""), RwSignal::new(false));
    let is = move |field: &'static str| status.with(|s| s[field] == true);
    let ask = move || {
        spawn_local(async move {
            if let Ok(answer) = api::lan().await
                && status.try_with_untracked(|s| *s != answer) == Some(true)
            {
                let _ = status.try_set(answer);
            }
        });
    };
    ask();
    // Without an address there is nothing that changes.
    let seconds = StoredValue::new(0);
    let watch = move || {
        seconds.update_value(|s| *s += 1);
        if untrack(|| is("configured")) && (open.get_untracked() || seconds.get_value() % 5 == 0) {
            ask();
        }
    };
    let timer = set_interval_with_handle(watch, Duration::from_secs(1)).ok();
    on_cleanup(move || {
        if let Some(timer) = timer {
            timer.clear();
        }
    });
    let count = move || match status.with(|s| s["viewers"].as_u64()) {
        None => String::new(),
        Some(_) if !is("on") => "Viewers off".into(),
        Some(n) => format!("{n} watching"),
    };
    // Without the count, so that it is not drawn anew under somebody's hand.
    let about = Memo::new(move |_| status.with(about));
    let url = move || status.with(|s| s["url"].as_str().map(str::to_owned));
    let switch = move |_| {
        if switching.get_untracked() {
            return;
        }
        switching.set(true);
        let on = !untrack(|| is("on"));
        spawn_local(async move {
            let answer = api::switch_lan(on).await;
            let _ = switching.try_set(false);
            let _ = error.try_set(answer.as_ref().err().cloned());
            if let Ok(answer) = answer {
                let _ = status.try_set(answer);
            }
        });
    };
    let copy = move |_| {
        let Some(url) = untrack(url) else { return };
        spawn_local(async move {
            let words =
                if copy(&url).await { "Copied" } else { "This browser copies nothing here; select the address." };
            let _ = copied.try_set(words);
        });
    };
    let summary = NodeRef::<html::Summary>::new();
    let escape = move |ev: web_sys::KeyboardEvent| {
        if ev.key() == "Escape" && open.get_untracked() {
            open.set(false);
            if let Some(summary) = summary.get_untracked() {
                let _ = summary.focus();
            }
        }
    };
    let toggled = move |ev: leptos::ev::Event| {
        let details = ev.target().map(JsCast::unchecked_into::<web_sys::Element>);
        open.set(details.is_some_and(|d| d.has_attribute("open")));
        ask();
    };
    view! {
        <details class="viewers" data-testid="viewers" prop:open=move || open.get() on:toggle=toggled on:keydown=escape>
            <summary node_ref=summary data-testid="watching">{count}</summary>
            <section aria-label="Viewers on the network">
                <div class="about" inner_html=move || about.get()></div>
                <Show when=move || url().is_some()>
                    <p class="actions">
                        <button type="button" id="copy-url" on:click=copy>"Copy the address"</button>
                        <span class="fine" role="status">{move || copied.get()}</span>
                    </p>
                </Show>
                <Show when=move || is("configured")>
                    <button
                        type="button"
                        id="viewers-switch"
                        aria-disabled=move || switching.get().then_some("true")
                        on:click=switch
                    >
                        {move || if is("on") { "Switch viewers off" } else { "Let viewers in" }}
                    </button>
                </Show>
                {move || error.get().map(|error| view! { <Notice error/> })}
            </section>
        </details>
    }
}

/// What there is to know of the listener, apart from how many watch.
fn about(status: &Value) -> String {
    let text = |field: &str| status[field].as_str().unwrap_or_default();
    let mut h = Html::default();
    if status["configured"] != true {
        h.tag(
            "<h2>Nobody on the network can watch</h2><p>Started with an address of this host, Brakecheck lets others",
        );
        h.tag(
            " watch from their desks. They can look, and nothing else.</p><pre tabindex=\"0\">brakecheck serve --lan ",
        );
        let candidate = text("candidate");
        h.text(if candidate.is_empty() { "ADDRESS" } else { candidate }).tag("</pre>");
        return h.done();
    }
    if status["on"] != true {
        h.tag("<h2>Viewers are switched off</h2><p>Nobody on the network can watch.</p>");
        return h.done();
    }
    let url = text("url");
    h.tag("<h2>Watch at</h2><p><a id=\"viewers-url\" target=\"_blank\" rel=\"noreferrer\" href=\"").text(url);
    h.tag("\">").text(url).tag("</a></p><img width=\"180\" height=\"180\" alt=\"The address as a code\"");
    h.tag(" src=\"/api/v1/lan/qr.svg?of=").text(url).tag("\"><p class=\"fine\">");
    h.tag(if status["password"] == true { "They must know the password." } else { "No password is needed." });
    h.tag(" They can look, and nothing else.</p>");
    for (name, field) in [("", "note"), ("SHA-256 fingerprint of the certificate: ", "fingerprint")] {
        if !text(field).is_empty() {
            h.tag("<p class=\"fine\">").tag(name).text(text(field)).tag("</p>");
        }
    }
    h.done()
}

/// Puts a text where it can be pasted from; browsers offer that to pages of this host and over TLS.
async fn copy(text: &str) -> bool {
    let navigator = window().navigator();
    let offered = js_sys::Reflect::get(&navigator, &JsValue::from_str("clipboard")).is_ok_and(|c| !c.is_undefined());
    offered && JsFuture::from(navigator.clipboard().write_text(text)).await.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_panel_says_how_it_stands() {
        let none = about(&json!({ "configured": false, "candidate": "192.168.1.5" }));
        assert!(none.contains("serve --lan 192.168.1.5</pre>"), "{none}");
        assert!(about(&json!({ "configured": false, "candidate": null })).contains("--lan ADDRESS</pre>"));
        let off = about(&json!({ "configured": true, "on": false }));
        assert!(off.contains("switched off") && !off.contains("img"), "{off}");
        let url = "https://192.168.1.5:7412/";
        let on = json!({ "configured": true, "on": true, "url": url, "note": "0.0.0.0 stands for <all>", "password": true,
            "fingerprint": "AA:BB" });
        let on = about(&on);
        for words in
            [url, "must know the password", "stands for &lt;all>", "SHA-256 fingerprint of the certificate: AA:BB"]
        {
            assert!(on.contains(words), "{words}: {on}");
        }
    }
}
