//! Messages that make no sense: answered or hung up on, nothing changes, and everybody else is served.

use crate::{Broker, Talk};
use anyhow::{Result, ensure};
use power::broker::wire::{Answer, LONGEST_REQUEST, Request, Verb, Wish, frame};
use proptest::prelude::*;
use protocol::knob::Lifetime;
use std::io::{ErrorKind, Write};
use std::net::Shutdown;

/// The broker answers its server, and nothing has changed.
fn lives_on(broker: &Broker, server: &mut Talk, seq: u64) -> Result<()> {
    ensure!(matches!(server.ask(seq, Verb::Renew)?.answer, Answer::Done));
    broker.tree.assert_as_found()
}

#[test]
fn what_is_no_request_is_answered_with_an_error() -> Result<()> {
    let (broker, socket) = Broker::start()?;
    let mut server = Talk::on(socket)?;
    lives_on(&broker, &mut server, 1)?;
    let mut caller = Talk::on(broker.call()?)?;
    let nested = "[".repeat(20_000);
    let path = r#"{"seq":1,"verb":{"set":{"digest":0,"wishes":[{"knob":"../../etc/passwd","value":0}],"lifetime":{"kind":"kept"},"risk":true}}}"#;
    let id = r#"{"seq":1,"verb":{"set":{"digest":0,"wishes":[{"id":"cpu.turbo","value":"off"}],"lifetime":{"kind":"kept"},"risk":true}}}"#;
    let negative = r#"{"seq":1,"verb":{"set":{"digest":0,"wishes":[{"knob":-1,"value":0}],"lifetime":{"kind":"kept"},"risk":true}}}"#;
    let device = r#"{"seq":1,"verb":{"open-device":{"major":1,"minor":3,"direct":false,"path":"/etc/shadow"}}}"#;
    let all = [
        "",
        "hello",
        "{}",
        "null",
        &nested,
        path,
        id,
        negative,
        device,
        r#"{"seq":1,"verb":"shell"}"#,
        "\u{0}\u{ffff}",
    ];
    for json in all {
        for talk in [&mut caller, &mut server] {
            talk.send(json)?;
            let reply = talk.hear()?;
            let refused = reply.as_ref().is_some_and(|r| matches!(r.answer, Answer::Error(_)));
            ensure!(refused, "{json}: {reply:?}");
        }
    }
    ensure!(matches!(caller.ask(1, Verb::Renew)?.answer, Answer::Done), "the caller may go on");
    lives_on(&broker, &mut server, 2)?;
    drop(server);
    broker.ended()?.assert_as_found()
}

#[test]
fn a_message_too_long_ends_the_conversation_before_it_has_come() -> Result<()> {
    let (broker, socket) = Broker::start()?;
    let mut server = Talk::on(socket)?;
    lives_on(&broker, &mut server, 1)?;
    for length in [u32::try_from(LONGEST_REQUEST)? + 1, u32::MAX] {
        let mut caller = Talk::on(broker.call()?)?;
        caller.socket.write_all(&length.to_le_bytes())?;
        let reply = caller.hear()?;
        ensure!(reply.is_some_and(|r| matches!(r.answer, Answer::Error(_))));
        ensure!(caller.hear()?.is_none(), "it is still there");
    }
    lives_on(&broker, &mut server, 2)
}

#[test]
fn a_request_that_comes_again_is_refused() -> Result<()> {
    let (broker, socket) = Broker::start()?;
    let mut server = Talk::on(socket)?;
    ensure!(matches!(server.ask(5, Verb::Renew)?.answer, Answer::Done));
    for seq in [5, 4, 0] {
        ensure!(matches!(server.ask(seq, Verb::Restore { session: false, force: true })?.answer, Answer::Error(_)));
    }
    lives_on(&broker, &mut server, 6)?;
    ensure!(matches!(server.ask(u64::MAX, Verb::Renew)?.answer, Answer::Done));
    Ok(())
}

#[test]
fn positions_count_only_in_the_list_that_was_given_last() -> Result<()> {
    let (broker, socket) = Broker::start()?;
    let mut server = Talk::on(socket)?;
    let set = |digest, knob, value| Verb::Set {
        digest,
        wishes: vec![Wish { knob, value }],
        lifetime: Lifetime::Session,
        risk: true,
    };
    ensure!(matches!(server.ask(1, set(0, 0, 0))?.answer, Answer::Error(_)), "no list was given yet");
    let Answer::State { digest, state } = server.ask(2, Verb::List)?.answer else { anyhow::bail!("no list") };
    ensure!(matches!(server.ask(3, set(digest ^ 1, 0, 0))?.answer, Answer::Stale));
    let count = u32::try_from(state.knobs.len())?;
    for (n, (knob, value)) in (4..).zip([(count, 0), (0, u32::MAX), (u32::MAX, 0)]) {
        ensure!(matches!(server.ask(n, set(digest, knob, value))?.answer, Answer::Error(_)), "{knob} {value}");
    }
    // Another caller's list is not this one's.
    let mut caller = Talk::on(broker.call()?)?;
    ensure!(matches!(caller.ask(1, set(digest, 0, 0))?.answer, Answer::Stale));
    caller.ask(2, Verb::List)?;
    ensure!(matches!(caller.ask(3, set(digest, 0, 0))?.answer, Answer::Error(_)), "a command line has no session");
    lives_on(&broker, &mut server, 10)
}

#[test]
fn who_never_reads_or_stops_half_way_keeps_nobody_waiting() -> Result<()> {
    let (broker, socket) = Broker::start()?;
    let mut server = Talk::on(socket)?;
    lives_on(&broker, &mut server, 1)?;
    let mut half = broker.call()?;
    half.write_all(&[40, 0, 0])?;
    let mut deaf = broker.call()?;
    deaf.set_nonblocking(true)?;
    for seq in 1.. {
        match deaf.write_all(&frame(&Request { seq, verb: Verb::List })?) {
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::WouldBlock => break,
            Err(e) => return Err(e.into()),
        }
    }
    lives_on(&broker, &mut server, 2)?;
    let mut other = Talk::on(broker.call()?)?;
    ensure!(matches!(other.ask(1, Verb::Renew)?.answer, Answer::Done));
    Ok(())
}

#[test]
fn a_crowd_does_not_keep_the_server_waiting() -> Result<()> {
    let (broker, socket) = Broker::start()?;
    let mut server = Talk::on(socket)?;
    lives_on(&broker, &mut server, 1)?;
    let mut crowd: Vec<_> = (0..50).map(|_| broker.call()).collect::<Result<_>>()?;
    lives_on(&broker, &mut server, 2)?;
    // The others stay: the last is let go however late the broker comes to it.
    let mut last = Talk::on(crowd.pop().ok_or_else(|| anyhow::anyhow!("no crowd"))?)?;
    ensure!(last.hear()?.is_none(), "one of fifty is let go");
    Ok(())
}

/// Anything, and requests with some bytes changed.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let spoilt = (any::<u64>(), any::<u32>(), any::<u32>(), prop::collection::vec(any::<(usize, u8)>(), 0..4));
    let spoilt = spoilt.prop_map(|(digest, knob, value, changes)| {
        let wishes = vec![Wish { knob, value }];
        let verb = Verb::Set { digest, wishes, lifetime: Lifetime::Kept, risk: true };
        let mut bytes = frame(&Request { seq: 1, verb }).unwrap_or_default();
        for (at, to) in changes {
            let at = at % bytes.len();
            if let Some(byte) = bytes.get_mut(at) {
                *byte = to;
            }
        }
        bytes
    });
    prop_oneof![prop::collection::vec(any::<u8>(), 0..300), spoilt]
}

#[test]
fn any_bytes_change_nothing_and_end_nothing() -> Result<()> {
    let (broker, socket) = Broker::start()?;
    let mut server = Talk::on(socket)?;
    lives_on(&broker, &mut server, 1)?;
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    runner.run(&bytes(), |bytes| {
        let said = || -> Result<()> {
            let mut caller = Talk::on(broker.call()?)?;
            // It may hang up before it has all.
            let _ = caller.socket.write_all(&bytes);
            let _ = caller.socket.shutdown(Shutdown::Write);
            while caller.hear()?.is_some() {}
            Ok(())
        };
        said().map_err(|e| TestCaseError::fail(e.to_string()))
    })?;
    lives_on(&broker, &mut server, 2)
}
