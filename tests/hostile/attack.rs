//! What a hostile client may send.

use crate::site::Site;
use crate::wire::Answer;
use base64::prelude::{BASE64_STANDARD, Engine};
use std::fmt::Write;

/// One request, or what looks like one.
pub(crate) struct Attack {
    /// For complaints.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// Sent to the viewers' listener.
    pub(crate) lan: bool,
    pub(crate) end: End,
    /// An answer that shows something is allowed, as long as it holds no secret.
    pub(crate) shows: bool,
}

/// What follows the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The answer is waited for.
    Waits,
    /// The client says that nothing more comes once an answer begins, so that the server need not wait for it.
    HangsUp,
    /// Never finished, and not answered.
    Never,
}

/// Decides by a number, a piece at a time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        let n = n.max(1) as u64;
        let drawn = self.0 % n;
        self.0 = (self.0 / n) ^ self.0.rotate_left(17).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        usize::try_from(drawn).unwrap_or(0)
    }
    fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

const FOREIGN: [&str; 5] =
    ["evil.example", "127.0.0.1.nip.io", "localhost.evil.example", "xn--lcalhost-54a", "brakecheck.attacker.test:7411"];
const ORIGINS: [&str; 5] = ["http://evil.example", "null", "https://127.0.0.1", "file://", "http://localhost:1"];
const PATHS: [&str; 14] = [
    "/..%2f..%2f..%2fetc/passwd",
    "/../../../../etc/passwd",
    "//etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/%00",
    "/api/v1/runs/%2e%2e%2f%2e%2e",
    "/api/v1/experiments/..%5c..",
    "/api/v1/runs/%ff%fe",
    "/api/v1/runs/%zz",
    "/api//v1//knobs",
    "/api/v1/knobs/../runs",
    "/static/%2e%2e/token",
    "/state/token",
    "/.git/config",
];
const BODY: &str = r#"{"set":[{"id":"cpu.turbo","value":"off"}],"target":"/","on":false,"token":"x","risk":true}"#;

impl Attack {
    /// The attack that this number stands for.
    pub(crate) fn any(site: &Site, number: u64) -> Self {
        let mut dice = Dice(number);
        let lan = dice.below(2) == 1;
        let host = if lan { site.lan } else { site.own }.to_string();
        let mut attack = match dice.below(14) {
            0 => Self::request("rebinding", &mut dice, site, dice_host(&mut Dice(number)), "", true),
            1 => {
                let origin = format!("Origin: {}\r\n", dice.pick(&ORIGINS));
                // Even with the token: a page of somebody else may have found a browser that sends it.
                let token = if lan { String::new() } else { format!("Authorization: Bearer {}\r\n", site.token) };
                Self::request("foreign origin", &mut dice, site, &host, &[origin, token].concat(), true)
            }
            2 => Self::token(&mut dice, site, lan),
            3 => Self::kind_of_body(&mut dice, site, &host, lan),
            4 => Self::too_large(&mut dice, &host),
            5 => Self::unfinished(&mut dice, &host),
            6 => {
                let path = dice.pick(&PATHS);
                let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
                Self { shows: true, ..Self::plain(format!("path {path}"), head) }
            }
            7 => Self::verbs(&mut dice, site),
            8 => Self::upgrade(&mut dice, site, lan),
            9 => Self::frames(&mut dice, site),
            10 => Self::hosts(&mut dice, &host),
            11 => Self::looking(&mut dice, site, lan),
            12 => Self::guess(&mut dice, site),
            _ => Self::no_http(&mut dice, &host),
        };
        if !matches!(attack.name.as_str(), "verbs at the viewers' listener" | "frames" | "password") {
            attack.lan = lan;
        }
        attack.name = format!("{} ({})", attack.name, if attack.lan { "viewers" } else { "operator" });
        attack
    }

    pub(crate) fn plain(name: impl Into<String>, text: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: text.into(), lan: false, end: End::Waits, shows: false }
    }

    /// A request that would change something.
    fn request(name: &str, dice: &mut Dice, site: &Site, host: &str, further: &str, json: bool) -> Self {
        let (method, path) = &site.mutating[dice.below(site.mutating.len())];
        let kind = if json { "application/json" } else { "text/plain" };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: {kind}\r\n{further}\
             Content-Length: {}\r\n\r\n{BODY}",
            BODY.len()
        );
        Self::plain(format!("{name} {method} {path}"), head)
    }

    /// Missing, forged, cut, of another port, in the wrong place.
    fn token(dice: &mut Dice, site: &Site, lan: bool) -> Self {
        let (half, token) = (&site.token[..site.token.len() / 2], &site.token);
        let (here, there) = if lan { (site.lan, site.own) } else { (site.own, site.lan) };
        let viewer = site.viewer.as_ref().unwrap_or(token);
        let headers = [
            String::new(),
            format!("Authorization: Bearer {half}\r\n"),
            format!("Authorization: Bearer {}\r\n", "0".repeat(token.len())),
            format!("Authorization: Basic {token}\r\n"),
            format!("Authorization: Bearer\r\nX-Token: {token}\r\n"),
            format!("Cookie: brakecheck-1={token}; session={token}\r\n"),
            "Authorization: Bearer \u{e9}\u{e9}\r\n".to_owned(),
            format!("Cookie: {}\r\n", "a=b; ".repeat(500)),
            format!("Cookie: brakecheck-{}={}\r\n", there.port(), site.operator),
            format!("Cookie: brakecheck-{}={}\r\n", here.port(), &site.operator[1..]),
            format!("Cookie: brakecheck-{}={viewer}; brakecheck-{0}={viewer}\r\n", here.port()),
            format!("Authorization: Bearer {viewer}x\r\n"),
        ];
        let header = headers[dice.below(headers.len())].clone();
        Self::request("token", dice, site, &here.to_string(), &header, true)
    }

    /// What a form of another page could send: with the right token, it must be refused for its type.
    fn kind_of_body(dice: &mut Dice, site: &Site, host: &str, lan: bool) -> Self {
        let posts: Vec<_> = site.mutating.iter().filter(|(method, _)| method == "POST").collect();
        let (_, path) = posts[dice.below(posts.len())];
        let kinds = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json"];
        let kind = kinds[dice.below(kinds.len())];
        let token = if lan { "" } else { &site.token };
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: {kind}\r\n\
             Authorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n{BODY}",
            BODY.len()
        );
        Self::plain(format!("{kind} to {path}"), head)
    }

    fn too_large(dice: &mut Dice, host: &str) -> Self {
        let post = "POST /api/v1/runs HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\nHost: ";
        match dice.below(5) {
            0 => Self::plain(
                "a body of 8 MiB",
                format!("{post}{host}\r\nContent-Length: 8388608\r\n\r\n{}", " ".repeat(8 << 20)),
            ),
            1 => Self::plain("a header of 200 KiB", format!("{post}{host}\r\nX-A: {}\r\n\r\n", "a".repeat(200 << 10))),
            2 => Self::plain(
                "a path of 100 KiB",
                format!("GET /{} HTTP/1.1\r\nHost: {host}\r\n\r\n", "a".repeat(100 << 10)),
            ),
            3 => {
                let mut head = format!("{post}{host}\r\n");
                for n in 0..500 {
                    let _ = write!(head, "X-{n}: {n}\r\n");
                }
                Self::plain("500 headers", head + "\r\n")
            }
            _ => Self::plain(
                "a length beyond all numbers",
                format!("{post}{host}\r\nContent-Length: 99999999999999999999\r\n\r\n{{}}"),
            ),
        }
    }

    /// Bodies and heads that never end, or end wrongly.
    fn unfinished(dice: &mut Dice, host: &str) -> Self {
        let post = format!("POST /api/v1/session HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n");
        match dice.below(7) {
            0 => Self { end: End::Never, ..Self::plain("a head that never ends", post) },
            1 => {
                Self { end: End::Never, ..Self::plain("a body that never ends", post + "Content-Length: 100\r\n\r\n{") }
            }
            2 => Self { end: End::Never, ..Self::plain("silence", "") },
            3 => Self::plain(
                "a chunk of no size",
                post + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
            ),
            4 => Self::plain("two lengths", post + "Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}"),
            5 => Self {
                end: End::HangsUp,
                ..Self::plain(
                    "length and chunks",
                    post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nPOST /api/v1/restore HTTP/1.1\r\n\r\n",
                )
            },
            _ => Self::plain("a length below zero", post + "Content-Length: -1\r\n\r\n{}"),
        }
    }

    /// Whatever changes something, at the listener that has no such route: with the operator's own token.
    fn verbs(dice: &mut Dice, site: &Site) -> Self {
        let methods = ["POST", "PUT", "PATCH", "DELETE", "CONNECT", "TRACE", "QUERY"];
        let (known, path) = &site.mutating[dice.below(site.mutating.len())];
        let method = if dice.below(2) == 0 { known.as_str() } else { dice.pick(&methods) };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Authorization: Bearer {}\r\nX-HTTP-Method-Override: POST\r\nContent-Length: {}\r\n\r\n{BODY}",
            site.lan,
            site.token,
            BODY.len()
        );
        Self { lan: true, ..Self::plain("verbs at the viewers' listener", head) }
    }

    /// Whatever can be looked at: by nobody without the token, or by viewers, who are shown no secret.
    fn looking(dice: &mut Dice, site: &Site, lan: bool) -> Self {
        let path = &site.showing[dice.below(site.showing.len())];
        let host = if lan { site.lan } else { site.own };
        let accept = dice.pick(&["*/*", "text/html", "text/csv"]);
        let cookie = match &site.viewer {
            Some(value) if dice.below(2) == 0 => format!("Cookie: brakecheck-{}={value}\r\n", host.port()),
            _ => String::new(),
        };
        // A sign of life is everybody's.
        let shows = path == "/healthz" || lan && (site.open || !cookie.is_empty());
        let head =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAccept: {accept}\r\n{cookie}\r\n");
        Self { shows, ..Self::plain(format!("looking at {path}"), head) }
    }

    /// Guesses at the viewers' password, where there is one.
    fn guess(dice: &mut Dice, site: &Site) -> Self {
        let path = &site.showing[dice.below(site.showing.len())];
        let guess = dice.pick(&["", ":", ":guess", "viewer:viewer", "viewer", ":\u{e9}\0"]);
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Basic {}\r\n\r\n",
            site.lan,
            BASE64_STANDARD.encode(guess)
        );
        Self { lan: true, shows: site.open || path == "/healthz", ..Self::plain("password", head) }
    }

    /// Sockets that are refused before they open.
    fn upgrade(dice: &mut Dice, site: &Site, lan: bool) -> Self {
        let (host, scheme) = (if lan { site.lan } else { site.own }, if lan { site.scheme() } else { "http" });
        let path = dice.pick(&["/ws/bench", "/ws/power", "/ws/nothing"]);
        let wrong = [
            ("a foreign origin", "Origin: http://evil.example\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n".to_owned()),
            ("no origin", "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n".to_owned()),
            ("an old version", format!("Origin: {scheme}://{host}\r\nSec-WebSocket-Version: 7\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")),
            ("no key", format!("Origin: {scheme}://{host}\r\nSec-WebSocket-Version: 13\r\n")),
            ("a null origin", "Origin: null\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n".to_owned()),
        ];
        let (what, headers) = &wrong[dice.below(wrong.len())];
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n{headers}\r\n"
        );
        Self { end: End::HangsUp, ..Self::plain(format!("{path} with {what}"), head) }
    }

    /// A viewer's socket that opens, and then says what no client may.
    fn frames(dice: &mut Dice, site: &Site) -> Self {
        let mut bytes = format!(
            "GET /ws/bench HTTP/1.1\r\nHost: {0}\r\nOrigin: {1}://{0}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Cookie: brakecheck-{2}={3}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            site.lan,
            site.scheme(),
            site.lan.port(),
            site.viewer.as_deref().unwrap_or_default()
        )
        .into_bytes();
        let frames: [&[u8]; 8] = [
            b"\x81\x05hello",
            b"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0",
            b"\xf1\x80\0\0\0\0",
            b"\x82\x84\0\0\0\0\xde\xad\xbe\xef",
            b"\x01\x82\0\0\0\0{\"\x80\x82\0\0\0\0\"}\x80\x80\0\0\0\0",
            b"\x89\xfe\x01\x00\0\0\0\0",
            b"\x81\x84\0\0\0\0\xff\xff\xff\xff",
            b"\x88\x81\0\0\0\0x",
        ];
        bytes.extend(frames[dice.below(frames.len())]);
        Self { lan: true, end: End::HangsUp, shows: true, ..Self::plain("frames", bytes) }
    }

    /// Ways to write a host.
    fn hosts(dice: &mut Dice, host: &str) -> Self {
        let port = host.rsplit(':').next().unwrap_or_default();
        let heads = [
            format!("GET /api/v1/knobs HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\n"),
            format!("GET http://evil.example/api/v1/knobs HTTP/1.1\r\nHost: {host}\r\n"),
            "GET /api/v1/knobs HTTP/1.0\r\n".to_owned(),
            format!("GET /api/v1/knobs HTTP/1.1\r\nHost: evil.example:{port}\r\n"),
            "GET /api/v1/knobs HTTP/1.1\r\nHost: [fe80::1%25eth0]\r\n".to_owned(),
            "GET /api/v1/knobs HTTP/1.1\r\nHost: a b\r\n".to_owned(),
            "GET /api/v1/knobs HTTP/1.1\r\nHost:\r\n".to_owned(),
            format!(
                "GET /api/v1/knobs HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: {host}\r\nForwarded: host={host}\r\n"
            ),
        ];
        let head = &heads[dice.below(heads.len())];
        Self {
            end: End::HangsUp,
            ..Self::plain(head.replace("\r\n", " | "), format!("{head}Connection: close\r\n\r\n"))
        }
    }

    fn no_http(dice: &mut Dice, host: &str) -> Self {
        let texts: [Vec<u8>; 5] = [
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
            format!("GET /api/v1/lan HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n").into_bytes(),
            b"GET\0/ HTTP/1.1\r\n\r\n".to_vec(),
            (0..400u32).map(|n| (n * 7919 % 251) as u8).collect(),
        ];
        Self { end: End::HangsUp, ..Self::plain("no HTTP", texts[dice.below(texts.len())].clone()) }
    }

    /// What is wrong with this answer, if something is.
    pub(crate) fn complaint(&self, site: &Site, answer: &Answer) -> Option<String> {
        let said =
            |what: &str| Some(format!("{}: {what}: {}", self.name, answer.text.chars().take(400).collect::<String>()));
        if site.secrets.iter().any(|secret| answer.text.contains(secret.as_str())) {
            return said("it tells a secret");
        }
        match answer.status {
            None | Some(400..=499 | 501 | 503 | 505) => None,
            Some(100..=399) if self.shows => None,
            Some(_) => said("it was answered"),
        }
    }
}

fn dice_host(dice: &mut Dice) -> &'static str {
    dice.pick(&FOREIGN)
}
