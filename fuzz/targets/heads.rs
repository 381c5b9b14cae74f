#![no_main]

use server::http::gate::{Entry, Gate};
use server::token::Token;
use std::sync::LazyLock;

static GATE: LazyLock<Gate> =
    LazyLock::new(|| Gate::new(7411, Some("bench"), &[], Entry::Token(Token::new(&"5".repeat(64)).into())).unwrap());

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::entries::heads(&GATE, data));
