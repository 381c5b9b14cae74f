//! What the file may say.

use super::place;
use crate::lan::Address;
use crate::toml_file;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::keys::{Keyed, strict};
use protocol::kiosk::Kiosk;
use serde::de::Deserializer;
use serde::{Deserialize, de};
use std::path::{Path, PathBuf};

/// The whole file; empty where there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, remote = "Self", rename_all = "kebab-case")]
pub struct Config {
    /// Port on the loopback addresses; 0 takes any free one.
    pub port: Option<u16>,
    /// Further names under which browsers may reach the server.
    #[serde(rename = "allow-host")]
    pub allow_hosts: Vec<String>,
    /// As root: the user that faces the network.
    pub user: Option<String>,
    /// Whether an experiment goes on that ended only because its server did; it does if nothing is said.
    pub resume: Option<bool>,
    /// Viewers on the network.
    pub lan: Lan,
    /// Kiosk screens.
    pub kiosk: Kiosk,
}

/// `[lan]`: viewers on the network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, remote = "Self", rename_all = "kebab-case")]
pub struct Lan {
    /// Where they are let in.
    #[serde(deserialize_with = "address")]
    pub address: Option<Address>,
    /// The file with the password that they must know.
    pub viewer_password_file: Option<PathBuf>,
    /// Whether what they get is encrypted with a certificate of our own.
    pub tls: bool,
    /// The certificate it is encrypted with instead.
    pub cert: Option<PathBuf>,
    /// The key of that certificate.
    pub key: Option<PathBuf>,
}

impl Config {
    /// Reads the file that was named, or the one at its usual place if there is one.
    pub fn read(named: Option<&Path>) -> Result<Self, ErrorBody> {
        let (path, text) = match named {
            Some(path) => (path.to_owned(), toml_file::text(path)?),
            None => match place::usual() {
                Some(path) => match toml_file::text_if_any(&path)? {
                    Some(text) => (path, text),
                    None => return Ok(Self::default()),
                },
                None => return Ok(Self::default()),
            },
        };
        let config: Self = toml_file::parse(&text).map_err(|why| {
            ErrorBody::new(ErrorCode::Usage, format!("The configuration {} cannot be used: {why}.", path.display()))
                .hint("Correct it, or name another file with --config.")
        })?;
        Ok(config.lying_in(path.parent().unwrap_or(Path::new(""))))
    }

    fn lying_in(mut self, directory: &Path) -> Self {
        let Lan { viewer_password_file, cert, key, .. } = &mut self.lan;
        for path in [viewer_password_file, cert, key].into_iter().flatten() {
            *path = directory.join(&path);
        }
        self
    }
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Address>, D::Error> {
    String::deserialize(deserializer)?.parse().map(Some).map_err(de::Error::custom)
}

macro_rules! keyed {
    ($type:ty, $what:literal) => {
        impl Keyed for $type {
            const WHAT: &'static str = $what;
            fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::deserialize(deserializer)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                strict(deserializer)
            }
        }
    };
}
keyed!(Config, "a configuration: port, allow-host, user, lan, kiosk");
keyed!(Lan, "the keys of viewers on the network: address, viewer-password-file, tls, cert, key");

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::kiosk::Panel;
    use protocol::units::Seconds;

    fn of(text: &str) -> Result<Config, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        let read = Config::read(Some(&path)).map_err(|e| e.message.replace(path.to_str().unwrap(), "FILE"));
        read.map(|mut config| {
            for path in [&mut config.lan.viewer_password_file, &mut config.lan.cert].into_iter().flatten() {
                *path = path.strip_prefix(dir.path()).map(Path::to_owned).unwrap_or(path.clone());
            }
            config
        })
    }

    #[test]
    fn everything_can_be_said() {
        let text = r#"
            port = 8000
            allow-host = ["bench.example.org"]
            user = "brakecheck"
            resume = false
            [lan]
            address = "192.168.1.5"
            viewer-password-file = "viewers"
            tls = true
            cert = "/etc/ssl/bench.pem"
            [kiosk]
            show = ["host"]
            dwell = 30
            dim = "22:00-06:00"
            shift = false
        "#;
        let right = Config {
            port: Some(8000),
            allow_hosts: vec!["bench.example.org".into()],
            user: Some("brakecheck".into()),
            resume: Some(false),
            lan: Lan {
                address: Some("192.168.1.5:7412".parse().unwrap()),
                viewer_password_file: Some("viewers".into()),
                tls: true,
                cert: Some("/etc/ssl/bench.pem".into()),
                key: None,
            },
            kiosk: Kiosk {
                show: vec![Panel::Host],
                dwell: Seconds::from_secs(30),
                dim: Some("22:00-06:00".parse().unwrap()),
                shift: false,
            },
        };
        assert_eq!(of(text).unwrap(), right);
        assert_eq!(of("").unwrap(), Config::default());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, why) in [
            ("prot = 1", "FILE cannot be used: unknown key `prot`; did you mean `port`? (known are port, allow-host, "),
            ("port = 1\n[lan]\nviewer-password = \"x\"", "unknown key `viewer-password`"),
            ("[lan]\naddres = \"::1\"", "unknown key `addres`; did you mean `address`?"),
            ("port = 1\n[lan]\naddress = \"box.local\"", "line 3: box.local is not an address"),
            ("\nport = 70000", "line 2: "),
            ("allow-host = \"x\"", "line 1: "),
            ("[kiosk]\nshift = false\ndwell = 1", "line 3: dwell is 1s; it must be 5 to 3600 seconds"),
            ("[kiosk]\n\nshow = [\"runn\"]", "line 3: a kiosk has no `runn`; did you mean `run`?"),
            ("[kiosk]\ndim = \"night\"", "line 2: night is not a span of the day"),
            ("port = ", "line 1: "),
            ("lan = 7", "the keys of viewers on the network"),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!(Config::read(Some(Path::new("/no/such.toml"))).unwrap_err().message.contains("/no/such.toml"));
    }
}
