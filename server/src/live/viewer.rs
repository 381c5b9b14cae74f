//! One viewer's WebSocket.

use super::hub::{Published, Seat, Stream, View, serialise};
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures_util::{SinkExt, StreamExt, stream::SplitSink};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::event::ClientMessage;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};
use tokio_tungstenite::tungstenite::Error;
use tokio_util::sync::CancellationToken;

/// A ping is sent this often.
const PING: Duration = Duration::from_secs(10);
/// A viewer that wants to know at once when the server is gone gets a frame this often.
const PULSE: Duration = Duration::from_millis(500);
/// A viewer that was not heard of for this long is gone.
const SILENCE: Duration = Duration::from_secs(30);
/// A message that cannot be sent within this time will not be: the viewer is dropped.
const STALL: Duration = Duration::from_secs(10);
/// Snapshots are large; a viewer gets at most one in this time.
const RESYNC: Duration = Duration::from_millis(250);

/// Largest message that a viewer may send, in bytes.
const MAX_MESSAGE: usize = 16 * 1024;
/// What is said of a larger one.
const TOO_LARGE: End = End::Close(close_code::SIZE, "the message is too large");
/// What is said to a viewer that takes nothing. It stands behind what waits for it already.
const STALLED: End = End::Close(close_code::AGAIN, "nothing was taken for 10 s");
/// Time for the farewell itself.
const FAREWELL: Duration = Duration::from_secs(1);

/// Why a viewer's connection ends.
enum End {
    /// It is gone, or takes nothing any more.
    Gone,
    /// It has said farewell, and is owed the answer.
    Left,
    /// It is told that, and why.
    Close(u16, &'static str),
}

/// Shows the stream to one viewer until it leaves or `stop` sends it away; `why` says then for what reason. With `pulse`
/// there is a frame at least twice a second.
pub async fn view<S: Stream>(
    socket: WebSocket,
    seat: Seat<S>,
    pulse: bool,
    stop: CancellationToken,
    why: impl Fn() -> &'static str,
) {
    let (out, mut incoming) = socket.split();
    let View { snapshot, events } = seat.hub().view(seat.role());
    let mut viewer = Viewer { out, events, seq: 0, snapshot_at: Instant::now() };
    if viewer.send_event(snapshot).await.is_err() {
        return;
    }
    let mut ping = interval(PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut beat = interval(PULSE);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut heard = Instant::now();
    let end = loop {
        let went_on = tokio::select! {
            () = stop.cancelled() => {
                // What the end of the run had to say is said before the farewell.
                let rest = viewer.drain().await;
                rest.and(Err(End::Close(close_code::AWAY, why())))
            }
            event = viewer.events.recv() => match event {
                Ok(event) => viewer.send_event(event).await,
                Err(RecvError::Lagged(_)) => viewer.resync(&seat).await,
                Err(RecvError::Closed) => Err(End::Close(close_code::AWAY, "the server is stopping")),
            },
            message = incoming.next() => {
                heard = Instant::now();
                match message {
                    Some(Ok(Message::Text(text))) if text.len() > MAX_MESSAGE => Err(TOO_LARGE),
                    Some(Ok(Message::Binary(data))) if data.len() > MAX_MESSAGE => Err(TOO_LARGE),
                    Some(Ok(Message::Text(text))) => viewer.answer(&text, &seat).await,
                    Some(Ok(Message::Binary(_))) => viewer.send_error::<S>("a binary message", &seat).await,
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => Ok(()),
                    Some(Ok(Message::Close(_))) => Err(End::Left),
                    Some(Err(error)) => Err(damaged(error)),
                    None => Err(End::Gone),
                }
            },
            _ = beat.tick(), if pulse => viewer.pulse().await,
            _ = ping.tick() => {
                if heard.elapsed() > SILENCE { Err(End::Gone) } else { viewer.send(Message::Ping(Vec::new().into())).await }
            }
        };
        if let Err(end) = went_on {
            break end;
        }
    };
    // Nobody is left to be told when this fails.
    let _ = match end {
        End::Gone => return,
        End::Left => timeout(FAREWELL, viewer.out.flush()).await,
        End::Close(code, reason) => {
            let close = Message::Close(Some(CloseFrame { code, reason: reason.into() }));
            timeout(FAREWELL, viewer.out.send(close)).await
        }
    };
}

/// What is said to a viewer whose bytes make no message: the codes of RFC 6455, section 7.4.1.
fn damaged(error: axum::Error) -> End {
    match error.into_inner().downcast_ref() {
        Some(Error::Capacity(_)) => TOO_LARGE,
        Some(Error::Utf8(_)) => End::Close(close_code::INVALID, "the text is not UTF-8"),
        Some(Error::Protocol(_)) => End::Close(close_code::PROTOCOL, "the frame is damaged"),
        _ => End::Gone,
    }
}

struct Viewer {
    out: SplitSink<WebSocket, Message>,
    events: Receiver<Published>,
    /// Number of the last event that was sent.
    seq: u64,
    snapshot_at: Instant,
}

impl Viewer {
    async fn send(&mut self, message: Message) -> Result<(), End> {
        match timeout(STALL, self.out.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(End::Gone),
            Err(_) => Err(STALLED),
        }
    }

    async fn send_event(&mut self, event: Published) -> Result<(), End> {
        self.seq = event.seq;
        self.send(Message::Text(event.text)).await
    }

    /// A frame that says nothing but that the server is there; the number is that of the last event.
    async fn pulse(&mut self) -> Result<(), End> {
        self.send(Message::Text(format!("{{\"seq\":{},\"type\":\"pulse\"}}", self.seq).into())).await
    }

    /// Gives up the place in the stream and takes a new one at its head.
    async fn resync<S: Stream>(&mut self, seat: &Seat<S>) -> Result<(), End> {
        sleep_until(self.snapshot_at + RESYNC).await;
        seat.hub().count_resync();
        let View { snapshot, events } = seat.hub().view(seat.role());
        (self.events, self.snapshot_at) = (events, Instant::now());
        self.send_event(snapshot).await
    }

    async fn answer<S: Stream>(&mut self, text: &str, seat: &Seat<S>) -> Result<(), End> {
        match serde_json::from_str(text) {
            Ok(ClientMessage::Resync) => self.resync(seat).await,
            Err(_) => self.send_error::<S>(&named(text), seat).await,
        }
    }

    /// Says to this viewer alone what was not understood; the number is that of the last event, so that no gap shows.
    async fn send_error<S: Stream>(&mut self, what: &str, seat: &Seat<S>) -> Result<(), End> {
        let error = ErrorBody::new(ErrorCode::Usage, format!("This socket does not understand {what}."))
            .hint("It understands {\"type\":\"resync\"}.");
        self.send_event(serialise(self.seq, &S::error(error), seat.role(), false)).await
    }

    /// Sends what already waits.
    async fn drain(&mut self) -> Result<(), End> {
        loop {
            match self.events.try_recv() {
                Ok(event) => self.send_event(event).await?,
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => return Ok(()),
            }
        }
    }
}

/// Names a message that was not understood: by its type where it has one, else by its beginning.
fn named(text: &str) -> String {
    let kind = serde_json::from_str::<serde_json::Value>(text).ok();
    match kind.as_ref().and_then(|v| v.get("type")).and_then(|t| t.as_str()) {
        Some(kind) => format!("a message of type `{}`", start(kind)),
        None => format!("the message `{}`", start(text)),
    }
}

fn start(text: &str) -> String {
    let end = if text.chars().count() > 60 { "..." } else { "" };
    text.chars().take(60).chain(end.chars()).collect()
}
