//! The token in the address: exchanged for a cookie, then taken out of sight.

use crate::api;
use crate::live::{Client, Power};
use leptos::prelude::*;

/// What the server lets this browser do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing: it needs the operator's address.
    Stranger,
    /// Nothing: it needs the viewers' password.
    Locked,
    /// Look on.
    Viewer,
    /// Everything.
    Operator,
}

impl Access {
    /// Whether it may look.
    pub(crate) fn sees(self) -> bool {
        matches!(self, Self::Viewer | Self::Operator)
    }
}

/// Logs in with the address's token if there is one, asks whether this browser is known, and connects if so.
pub(crate) async fn begin(client: Client, power: Power) {
    let hash = window().location().hash().unwrap_or_default();
    let token = hash.trim_start_matches('#').split('&').find_map(|p| p.strip_prefix("token="));
    if let Some(token) = token {
        let known = api::log_in(token).await;
        forget_fragment();
        if known == Some(false) {
            // An old token does not matter where an earlier visit left a cookie that still holds.
            client.session.set(Some(api::session().await.unwrap_or(Access::Stranger)));
        }
    }
    let known = match client.session.get_untracked() {
        Some(known) => Some(known),
        None => api::session().await,
    };
    client.session.set(known);
    if known.is_none_or(Access::sees) {
        client.connect();
        power.connect(client.session);
    }
}

/// Loads the page anew when an address with a token is put into a tab that is already open: only the fragment
/// changes then, and the browser would stay where it is.
pub(crate) fn reload_on_token() {
    let reload = |_: leptos::ev::HashChangeEvent| {
        let location = window().location();
        if location.hash().unwrap_or_default().contains("token=") {
            let _ = location.reload();
        }
    };
    let _lives_as_long_as_the_page = window_event_listener(leptos::ev::hashchange, reload);
}

fn forget_fragment() {
    let location = window().location();
    let address = location.pathname().unwrap_or_default() + &location.search().unwrap_or_default();
    if let Ok(history) = window().history() {
        let _ = history.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&address));
    }
}
