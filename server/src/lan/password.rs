//! The viewers' password, where there is one.

use crate::lan::attempts::Attempts;
use crate::token::{equal, hex, random};
use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use protocol::error::{ErrorBody, ErrorCode};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Longest password, or its hash, in bytes.
const LONGEST: u64 = 1024;

/// The password as the file has it: in the clear, or as `argon2` prints it (`$argon2id$...`).
#[derive(Debug, Clone)]
pub struct Secret(String);

impl Secret {
    /// Reads it: the first line of the file.
    pub fn read(path: &Path) -> Result<Self, ErrorBody> {
        let wrong = |why: &str| {
            ErrorBody::new(
                ErrorCode::Usage,
                format!("The viewers' password cannot be taken from {}: {why}.", path.display()),
            )
            .hint("Its first line is to be the password, or its hash as the program argon2 prints it with -e.")
        };
        let mut text = String::new();
        let file = File::open(path).map_err(|e| wrong(&e.to_string()))?;
        file.take(LONGEST + 1).read_to_string(&mut text).map_err(|e| wrong(&e.to_string()))?;
        let line = text.lines().next().unwrap_or_default();
        match line {
            "" => Err(wrong("it is empty")),
            _ if text.len() as u64 > LONGEST => Err(wrong("it is longer than 1 KiB")),
            hash if hash.starts_with("$argon2") && PasswordHash::new(hash).is_err() => {
                Err(wrong("the hash is damaged"))
            }
            hash if hash.starts_with('$') && !hash.starts_with("$argon2") => {
                Err(wrong("the hash is not one of argon2"))
            }
            _ => Ok(Self(line.to_owned())),
        }
    }
}

/// The password, hashed, and who tried it.
#[derive(Debug)]
pub struct Password {
    hash: String,
    /// Value of the cookie of those who knew it. Made of password and token, so that it outlives a restart and neither
    /// of them can be had from it.
    cookie: String,
    /// Random for each start: the key of the digest below.
    key: String,
    /// Digest of the password once somebody knew it, so that browsers that send it each time cost little.
    known: Mutex<Option<String>>,
    attempts: Attempts,
    /// One hash is worked out at a time: each takes 19 MiB and many milliseconds.
    turn: Semaphore,
}

/// What a password given is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// The right one.
    Right,
    /// Another one.
    Wrong,
    /// Not looked at, since too many wrong ones came before it; when that is over.
    TooMany(Duration),
}

impl Password {
    /// Hashes a password that is in the clear.
    pub fn new(secret: &Secret, token: &str) -> Result<Self, ErrorBody> {
        let failed = |e: argon2::password_hash::Error| {
            ErrorBody::new(ErrorCode::Internal, format!("The viewers' password cannot be hashed: {e}."))
        };
        let hash = if secret.0.starts_with("$argon2") {
            secret.0.clone()
        } else {
            let hash: PasswordHash = Argon2::default().hash_password(secret.0.as_bytes()).map_err(failed)?;
            hash.to_string()
        };
        let cookie = hex(&Sha256::digest(format!("brakecheck viewer {token} {}", secret.0)));
        let (key, known, attempts, turn) = (random()?, Mutex::default(), Attempts::default(), Semaphore::new(1));
        Ok(Self { hash, cookie, key, known, attempts, turn })
    }

    /// Value of the cookie that a viewer gets for it.
    pub fn cookie(&self) -> &str {
        &self.cookie
    }

    /// Whether this is the value of that cookie.
    pub fn is_cookie(&self, given: &str) -> bool {
        equal(given, &self.cookie)
    }

    /// Looks at a password that came from an address.
    pub async fn check(self: &std::sync::Arc<Self>, from: IpAddr, given: String) -> Given {
        let digest = hex(&Sha256::digest(format!("{} {given}", self.key)));
        if let Err(wait) = self.attempts.may_try(from) {
            return Given::TooMany(wait);
        }
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if known.is_some_and(|known| equal(&known, &digest)) {
            self.attempts.was_right(from);
            return Given::Right;
        }
        // Never closed.
        let turn = self.turn.acquire().await.ok();
        let hash = self.hash.clone();
        let verify = move || {
            let hash = PasswordHash::new(&hash);
            hash.is_ok_and(|hash| Argon2::default().verify_password(given.as_bytes(), &hash).is_ok())
        };
        let right = tokio::task::spawn_blocking(verify).await.unwrap_or(false);
        drop(turn);
        if !right {
            return Given::Wrong;
        }
        self.attempts.was_right(from);
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(digest);
        Given::Right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn file(text: &str) -> Result<Secret, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Secret::read(file.path()).map_err(|e| e.message)
    }

    #[tokio::test]
    async fn the_right_one_opens_in_the_clear_or_hashed_and_guessing_ends_soon() {
        let from: IpAddr = "192.0.2.1".parse().unwrap();
        let clear = Arc::new(Password::new(&file("open sesame\nrest").unwrap(), "token").unwrap());
        assert!(!clear.hash.contains("sesame"));
        let hashed = Arc::new(Password::new(&file(&clear.hash).unwrap(), "token").unwrap());
        for password in [clear, hashed] {
            assert_eq!(password.check(from, "open".into()).await, Given::Wrong);
            for _ in 0..10 {
                assert_eq!(password.check(from, "open sesame".into()).await, Given::Right, "right ones do not count");
            }
            for _ in 0..4 {
                assert_eq!(password.check(from, "guess".into()).await, Given::Wrong);
            }
            assert!(matches!(password.check(from, "open sesame".into()).await, Given::TooMany(_)));
            assert!(password.is_cookie(password.cookie()) && !password.is_cookie("open sesame"));
        }
    }

    #[test]
    fn files_without_a_password_are_named() {
        for (text, why) in
            [("", "empty"), ("\nx", "empty"), ("$argon2id$x", "damaged"), ("$6$salt$x", "not one of argon2")]
        {
            assert!(file(text).unwrap_err().contains(why), "{text:?}");
        }
        assert!(file(&"x".repeat(2000)).unwrap_err().contains("1 KiB"));
        assert!(Secret::read(Path::new("/no/such/file")).unwrap_err().message.contains("/no/such/file"));
    }
}
