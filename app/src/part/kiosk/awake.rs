//! Keeps the screen from going dark, where the browser can (Screen Wake Lock; in secure contexts only).

use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};

/// Asks for it now, and whenever the page is seen again: the browser takes it away with the page.
pub(crate) fn keep_awake() {
    let ask = || spawn_local(async { drop(lock().await) });
    ask();
    let seen = wasm_bindgen::prelude::Closure::<dyn FnMut()>::new(ask);
    let _ = document().add_event_listener_with_callback("visibilitychange", seen.as_ref().unchecked_ref());
    // Lives as long as the page.
    seen.forget();
}

async fn lock() -> Result<JsValue, JsValue> {
    let get = |of: &JsValue, name: &str| js_sys::Reflect::get(of, &name.into());
    let lock = get(&get(&window(), "navigator")?, "wakeLock")?;
    let request: js_sys::Function = get(&lock, "request")?.dyn_into()?;
    JsFuture::from(js_sys::Promise::from(request.call1(&lock, &"screen".into())?)).await
}
