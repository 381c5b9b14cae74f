//! Points in time, in the reader's time zone.

use js_sys::Date;
use wasm_bindgen::JsValue;

/// `2026-11-30 11:09:05` from RFC 3339; the text itself if the browser cannot read it.
pub(crate) fn when(rfc3339: &str) -> String {
    let date = Date::new(&JsValue::from_str(rfc3339));
    if date.get_time().is_nan() {
        return rfc3339.to_owned();
    }
    let (day, month, year) = (date.get_date(), date.get_month() + 1, date.get_full_year());
    let (hours, minutes, seconds) = (date.get_hours(), date.get_minutes(), date.get_seconds());
    format!("{year}-{month:02}-{day:02} {hours:02}:{minutes:02}:{seconds:02}")
}
