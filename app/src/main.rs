//! The page: a single-page application in the browser, compiled to wasm.
//!
//! | module | what |
//! |---|---|
//! | [`model`] | what the page knows, as plain data: applies events, works out what to show; tested natively |
//! | [`read`] | JSON into types |
//! | [`live`] | the WebSocket: reconnects by itself, and says when to draw again |
//! | [`api`], [`session`] | the HTTP interface, and the exchange of the address's token |
//! | [`chart`] | the live curve on a canvas |
//! | [`part`], [`page`] | elements, and the pages made of them |
//! | [`route`], [`theme`], [`keep`], [`format`], [`html`] | addresses, colours, what the browser keeps, numbers and tags as text |

#![expect(unreachable_pub, reason = "the component macro makes its functions public")]

mod api;
mod chart;
mod format;
mod html;
mod keep;
mod live;
mod model;
mod page;
mod part;
mod read;
mod route;
mod session;
mod theme;

fn main() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(page::Page);
}
