//! Addresses of the page. Each can be reloaded, shared, and opened while a run is on.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// `/`
    Measure,
    /// `/runs/ID`
    Run(String),
    /// `/brakes`
    Brakes,
    /// `/experiments/ID`
    Experiment(String),
    /// `/power`
    Power,
    /// `/results`
    Results,
    /// `/compare?a=ID&b=ID`
    Compare(String, String),
    /// `/compare?experiments=ID,ID,...`
    Contrast(String),
    /// `/kiosk`; what it shows stands in its query.
    Kiosk,
    /// Anything else.
    Unknown(String),
}

impl Route {
    /// Reads path and query of an address.
    pub(crate) fn parse(path: &str, query: &str) -> Self {
        let segments: Vec<&str> = path.split('/').filter(|s| !s.is_empty()).collect();
        match segments.as_slice() {
            [] => Self::Measure,
            ["brakes"] => Self::Brakes,
            ["experiments", id] => Self::Experiment((*id).to_owned()),
            ["kiosk"] => Self::Kiosk,
            ["power"] => Self::Power,
            ["results"] => Self::Results,
            ["runs", id] => Self::Run((*id).to_owned()),
            ["compare"] => {
                let value = |name: &str| {
                    let pairs = query.trim_start_matches('?').split('&').filter_map(|p| p.split_once('='));
                    pairs.filter(|(key, _)| *key == name).map(|(_, v)| v.to_owned()).next().unwrap_or_default()
                };
                match value("experiments") {
                    none if none.is_empty() => Self::Compare(value("a"), value("b")),
                    ids => Self::Contrast(ids),
                }
            }
            _ => Self::Unknown(path.to_owned()),
        }
    }

    /// The address. Ids are URL-safe by definition.
    pub(crate) fn href(&self) -> String {
        match self {
            Self::Measure => "/".into(),
            Self::Run(id) => format!("/runs/{id}"),
            Self::Brakes => "/brakes".into(),
            Self::Experiment(id) => format!("/experiments/{id}"),
            Self::Power => "/power".into(),
            Self::Results => "/results".into(),
            Self::Compare(a, b) => format!("/compare?a={a}&b={b}"),
            Self::Contrast(ids) => format!("/compare?experiments={ids}"),
            Self::Kiosk => "/kiosk".into(),
            Self::Unknown(path) => path.clone(),
        }
    }

    /// The document's title.
    pub(crate) fn title(&self) -> String {
        match self {
            Self::Measure | Self::Kiosk => "Brakecheck".into(),
            Self::Run(id) => format!("Run {id} \u{b7} Brakecheck"),
            Self::Brakes => "Find the brakes \u{b7} Brakecheck".into(),
            Self::Experiment(id) => format!("Experiment {id} \u{b7} Brakecheck"),
            Self::Power => "Power settings \u{b7} Brakecheck".into(),
            Self::Results => "Results \u{b7} Brakecheck".into(),
            Self::Compare(..) | Self::Contrast(_) => "Compare \u{b7} Brakecheck".into(),
            Self::Unknown(_) => "Not found \u{b7} Brakecheck".into(),
        }
    }
}

/// The page that is open, kept in step with the address bar.
#[derive(Clone, Copy)]
pub(crate) struct Router(RwSignal<Route>);

impl Router {
    /// Reads the address and follows it from now on: back, forward, and clicks on links of our own.
    pub(crate) fn start() -> Self {
        let route = RwSignal::new(current());
        let follow = Closure::<dyn FnMut()>::new(move || route.set(current()));
        let click = Closure::<dyn FnMut(web_sys::MouseEvent)>::new(move |ev: web_sys::MouseEvent| {
            if let Some(href) = plain_click_on_own_link(&ev) {
                ev.prevent_default();
                Self(route).open(&href);
            }
        });
        let _ = window().add_event_listener_with_callback("popstate", follow.as_ref().unchecked_ref());
        let _ = document().add_event_listener_with_callback("click", click.as_ref().unchecked_ref());
        // Both live as long as the page.
        follow.forget();
        click.forget();
        Effect::new(move || document().set_title(&route.get().title()));
        Self(route)
    }

    /// The open page; tracked.
    pub(crate) fn route(self) -> Route {
        self.0.get()
    }

    /// Opens a page.
    pub(crate) fn go(self, route: &Route) {
        self.open(&route.href());
    }

    /// Opens a page by its address.
    pub(crate) fn open(self, href: &str) {
        if let Ok(history) = window().history() {
            let _ = history.push_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(href));
        }
        self.0.set(current());
        window().scroll_to_with_x_and_y(0.0, 0.0);
    }
}

fn current() -> Route {
    let location = window().location();
    Route::parse(&location.pathname().unwrap_or_default(), &location.search().unwrap_or_default())
}

/// The address of a link inside the page that was clicked in the ordinary way.
fn plain_click_on_own_link(ev: &web_sys::MouseEvent) -> Option<String> {
    if ev.default_prevented() || ev.button() != 0 || ev.ctrl_key() || ev.meta_key() || ev.shift_key() || ev.alt_key() {
        return None;
    }
    let link = ev.target()?.dyn_into::<web_sys::Element>().ok()?.closest("a[href]").ok()??;
    if link.has_attribute("download") || link.has_attribute("target") {
        return None;
    }
    // Fragments are the browser's business, /api/ is the server's.
    link.get_attribute("href").filter(|h| h.starts_with('/') && !h.starts_with("/api/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_reads_back_from_its_address() {
        for route in [
            Route::Measure,
            Route::Brakes,
            Route::Experiment("20261130-231500-cd34".into()),
            Route::Contrast("a1,b2,c3".into()),
            Route::Power,
            Route::Kiosk,
            Route::Results,
            Route::Run("20261130-101500-ab12".into()),
            Route::Compare("a1".into(), "b2".into()),
            Route::Unknown("/nowhere/at/all".into()),
        ] {
            let href = route.href();
            let (path, query) = href.split_once('?').unwrap_or((&href, ""));
            assert_eq!(Route::parse(path, query), route);
        }
        assert_eq!(Route::parse("/results/", ""), Route::Results);
        assert_eq!(Route::parse("/compare", "?b=2"), Route::Compare(String::new(), "2".into()));
    }
}
