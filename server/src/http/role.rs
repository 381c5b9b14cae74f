//! Roles as types. What a handler may be asked for by whom stands in its arguments.
//!
//! Routes that change something, or show what only the operator may see, have [`Operating`] for their state, and
//! nothing can be had from that but [`Operator`]. Routes that viewers see too have [`Showing`], and nothing can be had
//! from that but [`Viewer`]. Who somebody is was found out by the gate, and nobody else can say so.

use super::app::App;
use super::error::ApiError;
use super::gate::Refusal;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use protocol::api::Role;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// State of the routes that are the operator's alone.
#[derive(Debug, Clone)]
pub(super) struct Operating(Arc<App>);

/// State of the routes that only show.
#[derive(Debug, Clone)]
pub(super) struct Showing(Arc<App>);

impl Operating {
    pub(super) fn new(app: &Arc<App>) -> Self {
        Self(Arc::clone(app))
    }
}

impl Showing {
    pub(super) fn new(app: &Arc<App>) -> Self {
        Self(Arc::clone(app))
    }
}

/// What the gate has found out, as it travels with the request.
#[derive(Debug, Clone)]
pub(super) struct Known {
    role: Option<Role>,
    farewell: CancellationToken,
}

impl Known {
    /// To be called by the gate alone; `None` for a caller who has shown nothing and asks for what needs nothing.
    /// `farewell` is cancelled when those at this listener are to be sent away.
    pub(super) fn by_gate(role: Option<Role>, farewell: CancellationToken) -> Self {
        Self { role, farewell }
    }
}

/// A caller who has shown the operator's token, and everything that he may use.
#[derive(Debug)]
pub(super) struct Operator(pub(super) Arc<App>);

/// A caller who may look.
#[derive(Debug)]
pub(super) struct Viewer {
    pub(super) app: Arc<App>,
    /// Who that is.
    pub(super) role: Role,
    /// Cancelled when viewers at this listener are to be sent away.
    pub(super) farewell: CancellationToken,
}

impl FromRequestParts<Operating> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Operating) -> Result<Self, ApiError> {
        match known(parts)?.0 {
            Role::Operator => Ok(Self(Arc::clone(&state.0))),
            Role::Viewer => Err(refused()),
        }
    }
}

impl FromRequestParts<Showing> for Viewer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Showing) -> Result<Self, ApiError> {
        let (role, farewell) = known(parts)?;
        Ok(Self { app: Arc::clone(&state.0), role, farewell })
    }
}

fn known(parts: &Parts) -> Result<(Role, CancellationToken), ApiError> {
    let known = parts.extensions.get::<Known>().and_then(|k| Some((k.role?, k.farewell.clone())));
    known.ok_or_else(refused)
}

fn refused() -> ApiError {
    let (status, body) = Refusal::Token.answer();
    ApiError::with_status(status, body)
}
