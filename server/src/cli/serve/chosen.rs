//! What command line, environment and configuration file say together.

use super::ServeArgs;
use crate::config::Config;
use crate::lan::{Address, Choice, Pair, Secret};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::kiosk::Kiosk;
use std::path::Path;

/// What `serve` goes by.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) port: u16,
    pub(super) allow_hosts: Vec<String>,
    pub(super) lan: Option<Address>,
    pub(super) password: Option<Secret>,
    pub(super) tls: Option<Choice>,
    pub(super) user: Option<String>,
    pub(super) kiosk: Kiosk,
    pub(super) resume: bool,
}

impl Chosen {
    /// Reads the configuration file, and the files that it or the options name.
    pub(super) fn from(args: ServeArgs) -> Result<Self, ErrorBody> {
        let config = Config::read(args.config.as_deref())?;
        Self::over(args, config)
    }

    fn over(args: ServeArgs, config: Config) -> Result<Self, ErrorBody> {
        let lan = args.lan.or(config.lan.address);
        let (password, tls) = match lan {
            Some(_) => {
                let password = args.viewer_password_file.as_ref().or(config.lan.viewer_password_file.as_ref());
                (password.map(|file| Secret::read(file)).transpose()?, tls(&args, &config)?)
            }
            None => (None, useless(&args).map(|()| None)?),
        };
        Ok(Self {
            port: args.port.or(config.port).unwrap_or(protocol::DEFAULT_PORT),
            allow_hosts: if args.allow_hosts.is_empty() { config.allow_hosts } else { args.allow_hosts },
            lan,
            password,
            tls,
            user: args.user.or(config.user),
            kiosk: config.kiosk,
            resume: !args.no_resume && config.resume.unwrap_or(true),
        })
    }
}

/// What viewers' connections are encrypted with. Files come before our own certificate, where both are asked for.
fn tls(args: &ServeArgs, config: &Config) -> Result<Option<Choice>, ErrorBody> {
    let given = |cert: &Path, key: &Path| Pair::read(cert, key).map(|pair| Some(Choice::Given(pair)));
    let own = |wanted: bool| wanted.then_some(Choice::Own);
    if let (Some(cert), Some(key)) = (&args.lan_cert, &args.lan_key) {
        return given(cert, key);
    }
    if args.lan_tls {
        return Ok(own(true));
    }
    match (&config.lan.cert, &config.lan.key) {
        (Some(cert), Some(key)) => given(cert, key),
        (None, None) => Ok(own(config.lan.tls)),
        _ => Err(ErrorBody::new(ErrorCode::Usage, "Of `cert` and `key` under [lan] only one is named.")
            .hint("Name both, or leave both out and say `tls = true` for a certificate of Brakecheck's own.")),
    }
}

/// Refuses options for viewers where there are none.
fn useless(args: &ServeArgs) -> Result<(), ErrorBody> {
    let options = [
        (args.viewer_password_file.is_some(), "--viewer-password-file"),
        (args.lan_tls, "--lan-tls"),
        (args.lan_cert.is_some(), "--lan-cert"),
    ];
    match options.into_iter().find(|(given, _)| *given) {
        None => Ok(()),
        Some((_, option)) => Err(ErrorBody::new(
            ErrorCode::Usage,
            format!("{option} is for viewers on the network, who are not let in."),
        )
        .hint("Name an address for them with --lan, or as `address` under [lan] in the configuration.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Lan;
    use clap::{CommandFactory, FromArgMatches, Parser};

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: ServeArgs,
    }

    /// From options as they are written; the environment is left out.
    fn args(words: &[&str]) -> ServeArgs {
        let command = Line::command().mut_args(|arg| arg.env(None::<&str>));
        let matches = command.try_get_matches_from(["serve"].iter().chain(words)).unwrap();
        Line::from_arg_matches(&matches).unwrap().args
    }

    fn config() -> Config {
        let lan = Lan { address: Some("127.0.0.2".parse().unwrap()), tls: true, ..Lan::default() };
        Config { port: Some(8000), allow_hosts: vec!["file.example".into()], lan, ..Config::default() }
    }

    #[test]
    fn the_command_line_comes_before_the_file_and_the_file_before_the_defaults() {
        let chosen = Chosen::over(args(&[]), Config::default()).unwrap();
        assert_eq!((chosen.port, chosen.lan, chosen.allow_hosts.len()), (7411, None, 0));
        let chosen = Chosen::over(args(&[]), config()).unwrap();
        assert_eq!((chosen.port, chosen.lan, chosen.allow_hosts), (8000, config().lan.address, config().allow_hosts));
        assert!(matches!(chosen.tls, Some(Choice::Own)));
        let words = ["--port", "0", "--lan", "127.0.0.3", "--allow-host", "line.example"];
        let chosen = Chosen::over(args(&words), config()).unwrap();
        assert_eq!((chosen.port, chosen.lan), (0, Some("127.0.0.3".parse().unwrap())));
        assert_eq!(chosen.allow_hosts, ["line.example"]);
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        for words in [&["--lan-tls"][..], &["--viewer-password-file", "/x"], &["--lan-cert", "/x", "--lan-key", "/x"]] {
            let error = Chosen::over(args(words), Config::default()).unwrap_err();
            assert!(error.message.starts_with(words[0]) && error.hint.unwrap().contains("--lan"), "{}", error.message);
        }
        let half = Lan { cert: Some("/x".into()), ..config().lan };
        let error = Chosen::over(args(&[]), Config { lan: half.clone(), ..config() }).unwrap_err();
        assert!(error.message.contains("only one"), "{}", error.message);
        // What the command line asks for does not need the file's.
        assert!(Chosen::over(args(&["--lan-tls"]), Config { lan: half, ..config() }).is_ok());
    }
}
