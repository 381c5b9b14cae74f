//! The operator's token.
//!
//! It is made once per state directory and kept there (0600), so that scripts and bookmarks outlive a restart. The
//! cookie is derived from it and cannot be turned back: cookies go to every server on this host, whatever its port.

use crate::state_dir::{StateDir, open_private};
use protocol::error::{ErrorBody, ErrorCode};
use sha2::{Digest, Sha256};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time in which a launch code must be used.
const LAUNCH: Duration = Duration::from_mins(1);

/// Credentials of the operator.
#[derive(Debug)]
pub struct Token {
    secret: String,
    cookie: String,
    /// A code that can be exchanged for a cookie once.
    launch: Mutex<Option<(String, Instant)>>,
}

impl Token {
    /// Reads the token of `state`, or makes one.
    pub fn load(state: &StateDir) -> Result<Self, ErrorBody> {
        let path = state.token();
        let failed = |e: std::io::Error| {
            ErrorBody::new(ErrorCode::Internal, format!("The token file {} cannot be used: {e}.", path.display()))
        };
        let mut file = open_private(&path).map_err(failed)?;
        file.set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        let mut text = String::new();
        (&file).take(1024).read_to_string(&mut text).map_err(failed)?;
        let stored = text.trim();
        if stored.len() == 64 && stored.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Ok(Self::new(stored));
        }
        let fresh = random()?;
        file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
        writeln!(file, "{fresh}").and_then(|()| file.sync_all()).map_err(failed)?;
        Ok(Self::new(&fresh))
    }

    /// Credentials with this secret.
    pub fn new(secret: &str) -> Self {
        let cookie = hex(&Sha256::digest(format!("brakecheck cookie {secret}")));
        Self { secret: secret.into(), cookie, launch: Mutex::default() }
    }

    /// What scripts send, and what stands in the URL's fragment.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// Value of the session cookie.
    pub fn cookie(&self) -> &str {
        &self.cookie
    }

    /// Whether this is the token.
    pub fn is_operator(&self, given: &str) -> bool {
        equal(given, &self.secret)
    }

    /// Whether this is the value of the session cookie.
    pub fn is_cookie(&self, given: &str) -> bool {
        equal(given, &self.cookie)
    }

    /// Whether this may be exchanged for a cookie: the token, or the launch code, which is then used up.
    pub fn exchange(&self, given: &str) -> bool {
        if self.is_operator(given) {
            return true;
        }
        let mut launch = self.launch.lock().unwrap_or_else(PoisonError::into_inner);
        let right = launch.as_ref().is_some_and(|(code, made)| made.elapsed() < LAUNCH && equal(given, code));
        if right {
            *launch = None;
        }
        right
    }

    /// A code that can stand for the token once within a minute. For starting a browser: a program's arguments can be
    /// read by every user of the machine.
    pub fn launch_code(&self) -> Result<String, ErrorBody> {
        let code = random()?;
        *self.launch.lock().unwrap_or_else(PoisonError::into_inner) = Some((code.clone(), Instant::now()));
        Ok(code)
    }
}

/// 256 random bits as hex.
pub(crate) fn random() -> Result<String, ErrorBody> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|e| ErrorBody::new(ErrorCode::Internal, format!("The system gives no random numbers: {e}.")))?;
    Ok(hex(&bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, b| format!("{text}{b:02x}"))
}

/// Compares in a time that tells nothing about where the two differ.
pub(crate) fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (Sha256::digest(a), Sha256::digest(b));
    a.iter().zip(&b).fold(0, |difference, (x, y)| difference | (x ^ y)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_outlives_a_restart_and_is_private() {
        let tmp = tempfile::tempdir().unwrap();
        let state = StateDir::open(tmp.path().join("s")).unwrap();
        let first = Token::load(&state).unwrap();
        assert_eq!(first.secret().len(), 64);
        assert_eq!(Token::load(&state).unwrap().secret(), first.secret());
        std::fs::write(state.token(), "short").unwrap();
        std::fs::set_permissions(state.token(), std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_ne!(Token::load(&state).unwrap().secret(), first.secret());
        assert_eq!(std::fs::metadata(state.token()).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_launch_code_works_once_and_only_for_the_exchange() {
        let token = Token::new("secret");
        let code = token.launch_code().unwrap();
        assert!(!token.is_operator(&code) && !token.is_cookie(&code));
        assert!(token.exchange(&code));
        assert!(!token.exchange(&code));
        assert!(token.exchange("secret") && !token.exchange("wrong") && !token.exchange(""));
    }

    #[test]
    fn the_cookie_is_not_the_token() {
        let token = Token::new("secret");
        assert!(!token.is_operator(token.cookie()) && !token.is_cookie("secret"));
        assert!(!token.exchange(token.cookie()));
    }
}
