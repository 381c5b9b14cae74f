//! The entry points of `fuzz/` with a bounded number of mutated examples.

#[expect(unreachable_pub, reason = "public in the crate of `fuzz/`")]
#[path = "../../../fuzz/src/entries.rs"]
mod entries;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngSeed};
use server::http::gate::{Entry, Gate};
use server::token::Token;
use std::sync::Arc;

const BODIES: [&str; 8] = [
    r#"{"target":"/mnt","workloads":[{"rw":"randread","bs":"4k","iodepth":8,"size":"256m","runtime":"4s"}],"queue":true}"#,
    r#"{"target":"/mnt","preset":"cdm8","repetitions":3,"columns":["read","mix"],"pause":1.5,"wait":"epoll"}"#,
    r#"{"design":"ladder","target":"/mnt","rung":[{"name":"a"},{"name":"b","set":{"cpu.turbo":"off","sata.ncq@sda":32}}]}"#,
    r#"{"design":"check","workloads":["cold-read-2s",{"name":"x","rw":"read","bs":"1m"}],"trial_seconds":0.5,"seed":7}"#,
    r#"{"set":[{"id":"cpu.turbo","value":"off"}],"lifetime":{"kind":"for","seconds":9},"risk":true}"#,
    r#"{"force":true}"#,
    r#"{"on":false}"#,
    r#"{"type":"resync"}"#,
];
const FILES: [&str; 2] = [
    "design = \"one-at-a-time\"\nknobs = [\"cpu.turbo\"]\nmax_blocks = 20\nthreshold_percent = 1.5\n",
    "design = \"ab\"\n[[workloads]]\nname = \"db\"\nrw = \"randread\"\nbs = \"8k\"\n[[rung]]\nname = \"a\"\nset = { x = 1 }\n",
];
const HEADS: [&str; 4] = [
    "/api/v1/runs\nhost: 127.0.0.1:7411\norigin: http://127.0.0.1:7411\nauthorization: Bearer 55555",
    "/ws/bench\nhost: [::1]:7411\norigin: null\ncookie: brakecheck-7411=5555; a=b",
    "http://bench.local:7411/\nhost: bench.local\nhost: evil",
    "/kiosk?show=run\nhost: LOCALHOST.:7411\naccept: text/html",
];
const WORDS: [&str; 10] =
    ["4k", "1.5m", "256gib", "500ms", "2h", "0.001", "zipf:1.2", "randread", "enter-no-iowait", "one-at-a-time"];

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
