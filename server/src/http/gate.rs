//! Who may ask for what: the one gate for HTTP and WebSocket.
//!
//! 1. Host. A page on the net can make a browser talk to this server under a name of its own (DNS rebinding), so
//!    names must be on a list. IP literals are allowed: rebinding needs a name. The port must be ours.
//! 2. Origin, when there is one: the very host and port that the request is for. (The comparison with Host alone is
//!    no defence; after step 1 Host cannot be the attacker's.) A WebSocket without Origin is no browser's and needs
//!    the bearer token.
//! 3. Operator, for everything but the static page, `/healthz` and the exchange of the token.
//! 4. JSON as content type of what changes anything: no HTML form can send it.
//!
//! The listener for viewers has a gate of the same kind. Whoever passes 1 and 2 is a viewer there; nobody is more, and
//! a WebSocket without Origin has nothing to show for itself.

mod refusal;

use crate::lan::Password;
use crate::token::Token;
use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use protocol::api::Role;
use protocol::error::{ErrorBody, ErrorCode};
pub use refusal::Refusal;
use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Time in seconds for which a cookie is kept: thirty days.
const LIFETIME: u32 = 30 * 86_400;

/// The gate's rules.
#[derive(Debug)]
pub struct Gate {
    port: u16,
    /// Whether connections are encrypted.
    tls: bool,
    names: Vec<Name>,
    entry: Entry,
    /// Hosts and origins whose refusal was logged; bounded, since the caller chooses them.
    logged: Mutex<HashSet<String>>,
}

/// What a caller must have to be let in.
#[derive(Debug)]
pub enum Entry {
    /// The token, or the cookie that it was exchanged for: an operator.
    Token(Arc<Token>),
    /// Nothing: a viewer.
    Open,
    /// The viewers' password, or the cookie that it was exchanged for: a viewer.
    Password(Arc<Password>),
}

/// A name under which this server may be reached.
#[derive(Debug)]
struct Name {
    host: String,
    port: u16,
    /// Given by the user, perhaps for a proxy in front that speaks https.
    configured: bool,
}

/// A host that is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// This machine's, or an IP literal.
    Own,
    /// The user's.
    Configured,
}

impl Gate {
    /// A gate for a server on `port`. Each of `allowed` is a further name, with a port where it is not ours.
    pub fn new(port: u16, hostname: Option<&str>, allowed: &[String], entry: Entry) -> Result<Self, ErrorBody> {
        let own = |host: &str| Name { host: host.to_ascii_lowercase(), port, configured: false };
        let mut names = vec![own("localhost")];
        if let Some(hostname) = hostname {
            names.extend([own(hostname), own(&format!("{hostname}.local"))]);
        }
        for text in allowed {
            let bad = || {
                ErrorBody::new(ErrorCode::Usage, format!("--allow-host {text} is not a host name."))
                    .hint("Write NAME or NAME:PORT, without http:// and without a path.")
            };
            let (host, given) = split(text).filter(|(h, _)| plain_name(h)).ok_or_else(bad)?;
            names.push(Name { host, port: given.unwrap_or(port), configured: true });
        }
        Ok(Self { port, tls: false, names, entry, logged: Mutex::default() })
    }

    /// Lets a request pass, with the role that its caller has shown, or says why not.
    pub fn check(&self, request: &Parts) -> Result<Option<Role>, Refusal> {
        let headers = &request.headers;
        let host = the_host(request)?;
        let known = self.known_host(&host).ok_or_else(|| Refusal::Host(host.clone()))?;

        let path = request.uri.path();
        let websocket = path == "/ws" || path.starts_with("/ws/");
        let origin = origin(headers);
        if let Some(origin) = &origin
            && !self.same_site(origin, &host, known)
        {
            return Err(Refusal::Origin(origin.clone()));
        }
        let Entry::Token(token) = &self.entry else {
            // Nothing takes a body there, so that its kind does not matter.
            let upgrade = websocket && request.method == Method::GET;
            if upgrade && origin.is_none() {
                return Err(Refusal::NoViewerOrigin);
            }
            return match &self.entry {
                Entry::Password(password) if !self.has_cookie(headers, |v| password.is_cookie(v)) => {
                    // The page asks for it.
                    if public(&request.method, path) { Ok(None) } else { Err(Refusal::Password) }
                }
                _ => Ok(Some(Role::Viewer)),
            };
        };
        let bearer = single(headers, AUTHORIZATION).and_then(|v| v.strip_prefix("Bearer "));
        let by_bearer = bearer.is_some_and(|t| token.is_operator(t));
        if websocket && origin.is_none() && !by_bearer {
            return Err(Refusal::NoOrigin);
        }
        // A wrong bearer token is an error even beside a right cookie.
        let shown = if headers.contains_key(AUTHORIZATION) {
            by_bearer
        } else {
            self.has_cookie(headers, |v| token.is_cookie(v))
        };
        if !shown && !public(&request.method, path) {
            return Err(Refusal::Token);
        }
        // A DELETE has no body, and no form can send one.
        let sends = matches!(request.method, Method::POST | Method::PUT | Method::PATCH);
        if sends && !is_json(headers) {
            return Err(Refusal::ContentType);
        }
        Ok(shown.then_some(Role::Operator))
    }

    /// The same gate where connections are encrypted.
    #[must_use]
    pub fn over_tls(self) -> Self {
        Self { tls: true, ..self }
    }

    /// What the viewers must know, if anything.
    pub fn password(&self) -> Option<&Arc<Password>> {
        match &self.entry {
            Entry::Password(password) => Some(password),
            Entry::Open | Entry::Token(_) => None,
        }
    }

    /// The cookie that keeps somebody known at this listener.
    pub fn cookie(&self, value: &str) -> String {
        let secure = if self.tls { "; Secure" } else { "" };
        format!("{}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={LIFETIME}{secure}", cookie_name(self.port))
    }

    /// Whether the host is allowed, and if so as what.
    fn known_host(&self, text: &str) -> Option<Known> {
        let (host, port) = split(text)?;
        // A name with a dot at its end is the same name. An address is none then.
        let host = match host.strip_suffix('.') {
            Some(name) if name.parse::<IpAddr>().is_err() => name.to_owned(),
            _ => host,
        };
        // Without a port it is the scheme's own: 443 with TLS or behind a proxy that speaks https, else 80.
        let listed = |n: &&Name| match port {
            Some(port) => n.port == port,
            None => n.port == self.usual_port() || (n.configured && n.port == 443),
        };
        if let Some(name) = self.names.iter().filter(|n| n.host == host).find(listed) {
            return Some(if name.configured { Known::Configured } else { Known::Own });
        }
        let port = port.unwrap_or(self.usual_port());
        let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(&host);
        // The interface that a link-local address is of (`%eth0`) means something to the sender alone.
        let ip: IpAddr = bare.split_once('%').map_or(bare, |(ip, _)| ip).parse().ok()?;
        if bare.contains('%') && !matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local()) {
            return None;
        }
        (port == self.port && !ip.is_unspecified()).then_some(Known::Own)
    }

    /// The port that an address without one means.
    fn usual_port(&self) -> u16 {
        if self.tls { 443 } else { 80 }
    }

    /// Whether `origin` is the page that this very host serves.
    fn same_site(&self, origin: &str, host: &str, known: Known) -> bool {
        let origin = origin.to_ascii_lowercase();
        let is = |scheme: &str| origin.strip_prefix(scheme).is_some_and(|o| o == host);
        if self.tls { is("https://") } else { is("http://") || (known == Known::Configured && is("https://")) }
    }

    fn has_cookie(&self, headers: &HeaderMap, right: impl Fn(&str) -> bool) -> bool {
        let name = cookie_name(self.port);
        let cookies = headers.get_all(COOKIE).iter().filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(';'));
        let values = cookies.filter_map(|c| c.trim().split_once('=')).filter(|(n, _)| *n == name).map(|(_, v)| v);
        values.into_iter().any(right)
    }

    /// Whether this refusal is to be logged: the first of each kind is.
    pub fn first_time(&self, refusal: &Refusal) -> bool {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        logged.len() < 100 && logged.insert(refusal.to_string())
    }
}

/// Name of the session cookie. Cookies are shared by all ports of a host, so the name holds the port.
fn cookie_name(port: u16) -> String {
    format!("brakecheck-{port}")
}

/// Whether the caller is a person with a browser rather than a program.
pub fn wants_html(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).and_then(|v| v.to_str().ok()).is_some_and(|v| v.contains("text/html"))
}

/// What needs no token: the static page, `/healthz` and the exchange of the token for a cookie.
fn public(method: &Method, path: &str) -> bool {
    let private = |prefix: &str| path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    match (method, path) {
        (&Method::POST, "/api/v1/session") => true,
        (&Method::GET | &Method::HEAD, _) => !["/api", "/ws", "/metrics"].into_iter().any(private),
        _ => false,
    }
}

/// The host a request is for. A target with an authority (`GET http://a/ HTTP/1.1`) must not contradict the header.
fn the_host(request: &Parts) -> Result<String, Refusal> {
    let mut hosts = request.headers.get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(one), None) => one.to_str().map_err(|_| Refusal::NoHost)?.to_ascii_lowercase(),
        _ => return Err(Refusal::NoHost),
    };
    match request.uri.authority() {
        Some(authority) if !authority.as_str().eq_ignore_ascii_case(&host) => Err(Refusal::NoHost),
        _ => Ok(host),
    }
}

/// All Origin headers as one text; several, or an unreadable one, equal nothing and are so refused.
fn origin(headers: &HeaderMap) -> Option<String> {
    let all: Vec<_> = headers.get_all(ORIGIN).iter().map(|v| String::from_utf8_lossy(v.as_bytes())).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn single(headers: &HeaderMap, name: axum::http::HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let one = values.next()?;
    if values.next().is_some() { None } else { one.to_str().ok() }
}

fn is_json(headers: &HeaderMap) -> bool {
    single(headers, CONTENT_TYPE)
        .and_then(|v| v.split(';').next())
        .is_some_and(|v| v.trim().eq_ignore_ascii_case("application/json"))
}

/// Host and port of `name`, `name:port`, `[v6]`, `[v6]:port`, lower case.
fn split(text: &str) -> Option<(String, Option<u16>)> {
    let end = if text.starts_with('[') { text.find(']')? + 1 } else { text.find(':').unwrap_or(text.len()) };
    let (host, rest) = text.split_at(end);
    let port = match rest.strip_prefix(':') {
        Some(port) if port.bytes().all(|b| b.is_ascii_digit()) => Some(port.parse().ok()?),
        None if rest.is_empty() => None,
        _ => return None,
    };
    (!host.is_empty()).then(|| (host.to_ascii_lowercase(), port))
}

fn plain_name(host: &str) -> bool {
    host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._[]:".contains(&b))
}

#[cfg(test)]
mod tests;
