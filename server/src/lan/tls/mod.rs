//! Encryption for viewers, when it was asked for: with a certificate of our own, made on first use, or with files given.

mod own;
mod validity;

use crate::state_dir::StateDir;
use jiff::Timestamp;
use protocol::error::{ErrorBody, ErrorCode};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use validity::Validity;

/// Longest file of a certificate or key, in bytes.
const LONGEST: u64 = 1 << 20;

/// Where the certificate comes from.
#[derive(Debug)]
pub enum Choice {
    /// One of our own, kept in the state directory.
    Own,
    /// Files that were read already.
    Given(Pair),
}

/// A certificate with those that vouch for it, and its key.
#[derive(Debug)]
pub struct Pair {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Pair {
    /// Reads files in PEM form.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, ErrorBody> {
        let pair = Self { chain: chain(&text(certificate)?, certificate)?, key: key_of(&text(key)?, key)? };
        pair.check(certificate, Timestamp::now())?;
        Ok(pair)
    }

    fn own(&self) -> Option<&CertificateDer<'static>> {
        self.chain.first()
    }

    /// Refuses a certificate that no browser takes any more, or not yet.
    fn check(&self, file: &Path, now: Timestamp) -> Result<(), ErrorBody> {
        let wrong = |why: String| wrong(file, &why);
        let validity = self.own().and_then(|c| Validity::of(c)).ok_or_else(|| wrong("it is damaged".into()))?;
        if now > validity.until {
            return Err(wrong(format!("it expired on {}", validity.until.strftime("%F"))));
        }
        if now < validity.from {
            return Err(wrong(format!("it holds from {} on", validity.from.strftime("%F"))));
        }
        Ok(())
    }
}

/// What connections are encrypted with.
#[derive(Clone)]
pub struct Tls {
    pub(super) acceptor: TlsAcceptor,
    /// SHA-256 of the certificate, as browsers show it.
    pub(super) fingerprint: String,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

impl Tls {
    /// Gets the certificate ready. One of our own is made for `names` where there is none that still holds.
    pub fn new(choice: Choice, state: &StateDir, names: &[String]) -> Result<Self, ErrorBody> {
        let pair = match choice {
            Choice::Own => own::load_or_make(&state.certificate(), names)?,
            Choice::Given(pair) => pair,
        };
        let digest = Sha256::digest(pair.own().map(AsRef::as_ref).unwrap_or_default());
        let fingerprint = digest.iter().map(|b| format!("{b:02X}")).collect::<Vec<_>>().join(":");
        let failed = |e| {
            ErrorBody::new(ErrorCode::Usage, format!("The certificate for viewers cannot be used: {e}."))
                .hint("Certificate and key must belong together.")
        };
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_no_client_auth()
            .with_single_cert(pair.chain, pair.key)
            .map_err(failed)?;
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)), fingerprint })
    }
}

fn text(file: &Path) -> Result<Vec<u8>, ErrorBody> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).map_err(|e| wrong(file, &e.to_string()))?;
    opened.take(LONGEST).read_to_end(&mut bytes).map_err(|e| wrong(file, &e.to_string()))?;
    Ok(bytes)
}

fn chain(pem: &[u8], file: &Path) -> Result<Vec<CertificateDer<'static>>, ErrorBody> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let chain = chain.map_err(|e| wrong(file, &format!("it is not in PEM form ({e})")))?;
    if chain.is_empty() { Err(wrong(file, "there is no certificate in PEM form in it")) } else { Ok(chain) }
}

fn key_of(pem: &[u8], file: &Path) -> Result<PrivateKeyDer<'static>, ErrorBody> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|_| wrong(file, "there is no private key in PEM form in it"))
}

fn wrong(file: &Path, why: &str) -> ErrorBody {
    ErrorBody::new(ErrorCode::Usage, format!("{} cannot be used for viewers: {why}.", file.display())).hint(
        "Name others with --lan-cert and --lan-key, or use --lan-tls alone for a certificate of Brakecheck's own.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    /// Files of a certificate that holds for these years, and its key.
    fn files(dir: &Path, years: (i32, i32)) -> (PathBuf, PathBuf) {
        let (certificate, key) = own::make(&["box".into()], years).unwrap();
        let paths = (dir.join("certificate"), dir.join("key"));
        fs::write(&paths.0, certificate).unwrap();
        fs::write(&paths.1, key).unwrap();
        paths
    }

    #[test]
    fn files_that_are_of_no_use_are_named_with_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let message = |c: &Path, k: &Path| Pair::read(c, k).unwrap_err().message;
        let (certificate, key) = files(dir.path(), (2001, 2002));
        assert!(message(&certificate, &key).contains("expired on 2002-01-01"));
        let (certificate, key) = files(dir.path(), (2990, 2991));
        assert!(message(&certificate, &key).contains("holds from 2990-01-01"));
        assert!(message(&key, &key).contains("no certificate"));
        let (certificate, key) = files(dir.path(), (2001, 2991));
        assert!(message(&certificate, &certificate).contains("no private key"));
        assert!(message(Path::new("/no/such"), &key).contains("/no/such"));
        fs::write(&key, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n").unwrap();
        let damaged = Pair::read(&certificate, &key).unwrap();
        let state = StateDir::open(dir.path().join("state")).unwrap();
        assert_eq!(Tls::new(Choice::Given(damaged), &state, &[]).unwrap_err().code, ErrorCode::Usage);
    }

    #[test]
    fn our_own_is_made_once_and_kept_private() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::open(dir.path().join("state")).unwrap();
        let fingerprint = || Tls::new(Choice::Own, &state, &["box".into()]).unwrap().fingerprint;
        let first = fingerprint();
        assert_eq!((first.len(), fingerprint()), (32 * 3 - 1, first));
        assert_eq!(fs::metadata(state.certificate()).unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(state.certificate(), "damaged").unwrap();
        assert_eq!(fingerprint(), fingerprint());
    }
}
