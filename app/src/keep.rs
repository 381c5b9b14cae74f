//! Small things kept in this browser. A browser that keeps nothing is no error.

use crate::read::{self, Read};
use leptos::prelude::window;
use serde::Serialize;

fn storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}

/// A kept text.
pub(crate) fn text(key: &str) -> Option<String> {
    storage()?.get_item(key).ok().flatten()
}
/// Keeps a text.
pub(crate) fn set_text(key: &str, value: &str) {
    if let Some(storage) = storage() {
        let _ = storage.set_item(key, value);
    }
}
/// A kept value, if it can still be read.
pub(crate) fn value<T: Read>(key: &str) -> Option<T> {
    read::text(&text(key)?).ok()
}
/// Keeps a value.
pub(crate) fn set_value(key: &str, value: &impl Serialize) {
    if let Ok(text) = serde_json::to_string(value) {
        set_text(key, &text);
    }
}
