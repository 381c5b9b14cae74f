//! What is said to those who are not let in.

use super::split;
use axum::http::StatusCode;
use protocol::error::{ErrorBody, ErrorCode};
use std::time::Duration;

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not exactly one readable Host.
    #[error("A request must name exactly one host.")]
    NoHost,
    /// A host that is not on the list.
    #[error("This server does not answer to the name {0}.")]
    Host(String),
    /// A page of another site.
    #[error("Pages of {0} may not use this server.")]
    Origin(String),
    /// A WebSocket without Origin at the viewers' listener.
    #[error("A WebSocket needs an Origin header here.")]
    NoViewerOrigin,
    /// Too many wrong passwords, and when one may be tried again.
    #[error("Too many wrong passwords came from this address, or from all together.")]
    TooMany(Duration),
    /// No password of the viewers.
    #[error("This needs the viewers' password.")]
    Password,
    /// A wrong one.
    #[error("This is not the viewers' password.")]
    WrongPassword,
    /// A WebSocket of a program that did not show the token.
    #[error("A WebSocket without an Origin header needs the token.")]
    NoOrigin,
    /// Neither cookie nor token, or a wrong one.
    #[error("This needs the operator's token.")]
    Token,
    /// Something other than JSON was sent.
    #[error("The content type must be application/json.")]
    ContentType,
}

impl Refusal {
    /// Status and words of the answer.
    pub fn answer(&self) -> (StatusCode, ErrorBody) {
        let body = |code| ErrorBody::new(code, self.to_string());
        match self {
            Self::NoHost => (StatusCode::BAD_REQUEST, body(ErrorCode::ForbiddenHost)),
            Self::Host(host) => {
                let name = split(host).map_or_else(|| host.clone(), |(name, _)| name);
                let hint = format!(
                    "If it is a name of this machine, start the server with --allow-host {name} (or {name}:PORT, where the port differs)."
                );
                (StatusCode::FORBIDDEN, body(ErrorCode::ForbiddenHost).hint(hint))
            }
            Self::Origin(_) => {
                let hint = "If that is this server's own page behind a proxy, pass its name on as Host and start the server with --allow-host NAME.";
                (StatusCode::FORBIDDEN, body(ErrorCode::ForbiddenHost).hint(hint))
            }
            Self::NoOrigin | Self::Token => {
                let hint = "Open the address that `brakecheck serve` printed, or send its token as `Authorization: Bearer TOKEN`.";
                (StatusCode::UNAUTHORIZED, body(ErrorCode::Unauthorized).hint(hint))
            }
            Self::NoViewerOrigin => {
                let hint = "A program may send this server's own address as Origin, as its page does.";
                (StatusCode::FORBIDDEN, body(ErrorCode::ForbiddenHost).hint(hint))
            }
            Self::TooMany(wait) => {
                let hint = format!("Try again in {} s.", wait.as_secs() + 1);
                (StatusCode::TOO_MANY_REQUESTS, body(ErrorCode::Password).hint(hint))
            }
            Self::Password | Self::WrongPassword => {
                let hint = "Whoever started Brakecheck on this host knows it.";
                (StatusCode::UNAUTHORIZED, body(ErrorCode::Password).hint(hint))
            }
            Self::ContentType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, body(ErrorCode::Usage)),
        }
    }
}
