//! Raw frames to both streams, for operators and viewers: who damages his own connection loses it, and nobody else anything.

#[path = "../../../fuzz/src/frames.rs"]
#[expect(unreachable_pub, reason = "public in the crate of `fuzz/`")]
mod raw;

use crate::common::{Access, PATIENCE, TestServer, directory};
use crate::process::Program;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use protocol::event::Frame;
use raw::Door;
use std::io::{Read, Write};

/// `/ws/bench` and `/ws/power`, for the operator and for viewers at `viewers`.
fn doors(own: &Access, viewers: &str) -> Vec<Door> {
    let shown = [
        (own.authority.as_str(), format!("Authorization: Bearer {}\r\n", own.token)),
        (viewers, format!("Origin: http://{viewers}\r\n")),
    ];
    let both = |(authority, shown): &(&str, String)| {
        ["/ws/bench", "/ws/power"].map(|path| Door::new(authority.parse().unwrap(), path, shown))
    };
    shown.iter().flat_map(both).collect()
}

/// Bit of the second byte: there is a mask.
const MASK: u8 = 0x80;
/// In place of a length: it follows in two bytes, or in eight.
const LONG: u8 = 0x7e;
const LONGER: u8 = 0x7f;

/// A frame of a client, with a mask that changes nothing.
fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    let length @ [_, short] = u16::try_from(payload.len()).unwrap().to_be_bytes();
    if payload.len() < LONG.into() {
        bytes.push(MASK | short);
    } else {
        bytes.push(MASK | LONG);
        bytes.extend(length);
    }
    [&bytes, &[0; 4][..], payload].concat()
}

/// A frame that announces what does not follow.
fn announcing(first: u8, length: u64, payload: &[u8]) -> Vec<u8> {
    [&[first, MASK | LONGER], &length.to_be_bytes()[..], &[0; 4], payload].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_of_damage_has_its_code() {
    let server = TestServer::start().await;
    let resync = [masked(0x01, b"{\"type\":"), masked(0x00, b""), masked(0x80, b"\"resync\"}")].concat();
    let cases = [
        ("nothing", vec![], None),
        ("half a head", b"\x81".to_vec(), None),
        ("half a frame", b"\x81\x85\0\0\0\0{".to_vec(), None),
        ("a message in parts", resync, None),
        ("a message that says nothing", masked(0x81, b"{}"), None),
        ("binary in place of text", masked(0x82, b"{\"type\":\"resync\"}"), None),
        ("a ping", masked(0x89, b"are you there"), None),
        ("a pong that nobody asked for", masked(0x8a, b"x"), None),
        ("farewell", masked(0x88, b"\x03\xe8"), Some(1000)),
        ("farewell with a reason", masked(0x88, b"\x0f\xa0enough"), Some(4000)),
        ("farewell without a code", masked(0x88, b""), Some(1005)),
        ("farewell with half a code", masked(0x88, b"\x03"), Some(1002)),
        ("farewell with a code that nobody sends", masked(0x88, b"\x03\xed"), Some(1002)),
        ("no mask", b"\x81\x02hi".to_vec(), Some(1002)),
        ("reserved bits", masked(0xf1, b""), Some(1002)),
        ("an unknown opcode", masked(0x83, b""), Some(1002)),
        ("an unknown control opcode", masked(0x8b, b""), Some(1002)),
        ("a ping in parts", masked(0x09, b""), Some(1002)),
        ("a long ping", masked(0x89, &[0; 126]), Some(1002)),
        ("the rest of nothing", masked(0x80, b"x"), Some(1002)),
        ("a message inside another", [masked(0x01, b"{"), masked(0x81, b"}")].concat(), Some(1002)),
        ("no UTF-8", masked(0x81, b"\xff\xff"), Some(1007)),
        ("a long message", masked(0x81, &vec![b' '; 20_000]), Some(1009)),
        ("2^62 bytes announced", announcing(0x81, 1 << 62, b""), Some(1009)),
        ("2^64 - 1 bytes announced", announcing(0x82, u64::MAX, b""), Some(1009)),
    ];
    let mut healthy = server.viewers.socket_at("/ws/bench").await;
    healthy.frame::<Frame>().await;
    let doors = doors(&server.access, &server.viewers.authority);
    let sent = tokio::task::spawn_blocking(move || {
        for (name, bytes, code) in cases {
            for door in &doors {
                assert_eq!(door.send(&bytes), code, "{name} at {door:?}");
            }
        }
    });
    sent.await.unwrap();
    server.hub.publish(&protocol::event::Event::Experiments { removed: None });
    assert_eq!(healthy.frame::<Frame>().await.seq, 1);
    drop(healthy);
    server.stop().await;
}

/// Some frames, sound and unsound, perhaps cut off.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let first = prop_oneof![
        4 => prop::sample::select(vec![0x81, 0x82, 0x88, 0x89, 0x8a, 0x80, 0x01, 0x02, 0x00]),
        1 => any::<u8>(),
    ];
    let payload = prop_oneof![
        prop::sample::select(vec![&b"{\"type\":\"resync\"}"[..], b"{}", b"\x03\xe8", b"\x03\xe9bye", b"", b"[[[[["])
            .prop_map(<[u8]>::to_vec),
        prop::collection::vec(any::<u8>(), 0..300),
    ];
    let announced =
        prop_oneof![8 => Just(None), 1 => any::<u16>().prop_map(|n| Some(n.into())), 1 => any::<u64>().prop_map(Some)];
    let frame =
        (first, payload, announced, prop::bool::weighted(0.95)).prop_map(|(first, payload, announced, mask)| {
            let mut bytes = match announced {
                Some(length) => announcing(first, length, &payload),
                None => masked(first, &payload),
            };
            bytes[1] &= if mask { u8::MAX } else { !MASK };
            bytes
        });
    (prop::collection::vec(frame, 0..6), any::<prop::sample::Index>(), prop::bool::weighted(0.2)).prop_map(
        |(frames, end, cut)| {
            let mut bytes = frames.concat();
            if cut && !bytes.is_empty() {
                bytes.truncate(end.index(bytes.len()));
            }
            bytes
        },
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn no_frames_are_too_strange() {
    let server = TestServer::start().await;
    let doors = doors(&server.access, &server.viewers.authority);
    let sent = tokio::task::spawn_blocking(move || {
        let config = Config { cases: 600, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() };
        let once = |(door, bytes): (Door, Vec<u8>)| {
            let code = door.send(&bytes);
            // Its own, or one of those that the client may choose.
            prop_assert!(code.is_none_or(|code| (1000..5000).contains(&code)), "{code:?}");
            Ok(())
        };
        TestRunner::new(config).run(&(prop::sample::select(doors), frames()), once).unwrap();
    });
    sent.await.unwrap();
    let left = async {
        while server.hub.audience().0 > 0 {
            assert_eq!(server.access.get("/healthz").send().await.unwrap().status(), 200);
        }
    };
    tokio::time::timeout(PATIENCE, left).await.expect("their seats are not given back");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_announced_and_never_sent_takes_no_memory() {
    let dir = directory();
    let program = Program::watched(&dir.path().join("state"));
    let viewers = program.viewers().await;
    let doors = doors(&program.access, &viewers);
    let (door, other) = (doors[2].clone(), doors[3].clone());
    let before = program.peak_memory();
    let held = tokio::task::spawn_blocking(move || {
        let mut held = Vec::new();
        for n in 0..200 {
            let mut stream = if n % 2 == 0 { door.open() } else { other.open() };
            // The largest that is read at all, all of it but the last byte; and as large as numbers are.
            let announced: u64 = if n % 4 < 2 { 128 * 1024 } else { u64::MAX };
            stream.write_all(&announcing(0x82, announced, b"")).unwrap();
            let _ = stream.write_all(&vec![0; 128 * 1024 - 1]);
            // The first frame of the stream has come, so that it is served.
            stream.read_exact(&mut [0; 2]).unwrap();
            held.push(stream);
        }
        held
    });
    let held = held.await.unwrap();
    assert_eq!(program.access.get("/healthz").send().await.unwrap().status(), 200);
    let taken = program.peak_memory() - before;
    assert!(taken < 96 << 20, "{} connections took {} MiB", held.len(), taken >> 20);
    program.signal(rustix::process::Signal::TERM);
    let (code, text) = program.end();
    assert_eq!(code, Some(0), "{text}");
}
