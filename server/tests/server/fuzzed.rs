//! The entry points of `fuzz/` with a bounded number of mutated examples.

#[expect(unreachable_pub, reason = "public in the crate of `fuzz/`")]
#[path = "../../../fuzz/src/entries.rs"]
mod entries;

use crate::import::FILE;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};
use server::http::gate::{Entry, Gate};
use server::token::Token;
use std::cell::Cell;
use std::sync::Arc;

const BODIES: [&str; 8] = [
    include_str!("../../../fuzz/seeds/bodies/run.json"),
    include_str!("../../../fuzz/seeds/bodies/preset.json"),
    include_str!("../../../fuzz/seeds/bodies/ladder.json"),
    include_str!("../../../fuzz/seeds/bodies/check.json"),
    include_str!("../../../fuzz/seeds/bodies/knobs.json"),
    include_str!("../../../fuzz/seeds/bodies/restore.json"),
    include_str!("../../../fuzz/seeds/bodies/lan.json"),
    include_str!("../../../fuzz/seeds/bodies/resync.json"),
];
const FILES: [&str; 2] =
    [include_str!("../../../fuzz/seeds/files/one-at-a-time.toml"), include_str!("../../../fuzz/seeds/files/ab.toml")];
const HEADS: [&str; 4] = [
    include_str!("../../../fuzz/seeds/heads/bearer.txt"),
    include_str!("../../../fuzz/seeds/heads/socket.txt"),
    include_str!("../../../fuzz/seeds/heads/two-hosts.txt"),
    include_str!("../../../fuzz/seeds/heads/kiosk.txt"),
];
const WORDS: [&str; 10] = [
    include_str!("../../../fuzz/seeds/words/size.txt"),
    include_str!("../../../fuzz/seeds/words/fraction.txt"),
    include_str!("../../../fuzz/seeds/words/binary-size.txt"),
    include_str!("../../../fuzz/seeds/words/time.txt"),
    include_str!("../../../fuzz/seeds/words/hours.txt"),
    include_str!("../../../fuzz/seeds/words/number.txt"),
    include_str!("../../../fuzz/seeds/words/zipf.txt"),
    include_str!("../../../fuzz/seeds/words/rw.txt"),
    include_str!("../../../fuzz/seeds/words/wait.txt"),
    include_str!("../../../fuzz/seeds/words/design.txt"),
];

/// One of the examples with some of its bytes changed, left out, doubled, or cut off after.
fn mutated(examples: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let edit = (any::<Index>(), any::<u8>(), 0..5u8);
    (prop::sample::select(examples), prop::collection::vec(edit, 0..6)).prop_map(|(text, edits)| {
        let mut bytes = text.as_bytes().to_vec();
        for (at, byte, what) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match what {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, byte),
                3 => bytes.extend_from_within(at..),
                _ => bytes.truncate(at),
            }
        }
        bytes
    })
}

fn config() -> Config {
    Config { cases: 2000, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_body_is_too_strange(data in mutated(&BODIES)) {
        entries::bodies(&data);
        entries::import(&data);
    }

    #[test]
    fn no_file_is_too_strange(data in mutated(&FILES)) {
        entries::files(&data);
    }

    #[test]
    fn no_head_gets_in(data in mutated(&HEADS)) {
        let token = Arc::new(Token::new(&"5".repeat(64)));
        entries::heads(&Gate::new(7411, Some("bench"), &[], Entry::Token(token)).unwrap(), &data);
    }

    #[test]
    fn no_word_is_too_strange(data in mutated(&WORDS)) {
        entries::words(&data);
    }
}

/// A sound experiment with some of its values replaced, mostly by others of their kind.
fn altered() -> impl Strategy<Value = Vec<u8>> {
    let edits = prop::collection::vec((any::<Index>(), any::<Index>()), 1..3);
    edits.prop_map(|edits| {
        let mut file: Value = serde_json::from_str(FILE).unwrap();
        for (at, what) in edits {
            let at = at.index(count(&file));
            let value = nth(&mut file, &mut at.clone()).unwrap();
            let others = match value {
                Value::String(_) => vec![json!(entries::PLANTED), json!(""), json!("x".repeat(5000)), json!("../..")],
                Value::Number(_) => vec![json!(-1), json!(0), json!(1e308), json!(-1e-308), json!(u64::MAX)],
                Value::Array(all) => vec![json!([]), json!([all.last(), all.first()]), json!([all, all]), json!(null)],
                _ => vec![json!(null), json!({}), json!(true), json!(entries::PLANTED)],
            };
            *value = what.get(&others).clone();
        }
        serde_json::to_vec(&file).unwrap()
    })
}

/// How many values there are in `value`, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(count).sum(),
        Value::Object(all) => all.values().map(count).sum(),
        _ => 0,
    }
}

/// The `n`th of them.
fn nth<'a>(value: &'a mut Value, n: &mut usize) -> Option<&'a mut Value> {
    if *n == 0 {
        return Some(value);
    }
    *n -= 1;
    match value {
        Value::Array(all) => all.iter_mut().find_map(|v| nth(v, n)),
        Value::Object(all) => all.values_mut().find_map(|v| nth(v, n)),
        _ => None,
    }
}

#[test]
fn no_experiment_is_too_strange() {
    let taken = Cell::new(0);
    let once = |(altered, damaged): (Vec<u8>, Vec<u8>)| {
        taken.set(taken.get() + u32::from(entries::import(&altered)));
        entries::import(&damaged);
        Ok(())
    };
    TestRunner::new(Config { cases: 1000, ..config() }).run(&(altered(), mutated(&[FILE])), once).unwrap();
    assert!(taken.get() > 50, "only {} were taken and drawn", taken.get());
}
