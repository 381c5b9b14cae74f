//! `brakecheck serve`.

mod chosen;

use super::Globals;
use super::output::say;
use crate::lan::Address;
use crate::privilege::{self, Entered};
use crate::serve::{Options, Server};
use chosen::Chosen;
use protocol::error::{ErrorBody, ErrorCode};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Options of `serve`.
#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// Take what is not said here from FILE (TOML) [default: /etc/brakecheck/config.toml as root, else
    /// ~/.config/brakecheck/config.toml, where there is one]
    #[arg(long, value_name = "FILE", env = "BRAKECHECK_CONFIG")]
    pub config: Option<PathBuf>,
    /// Port on the loopback addresses; 0 takes any free one [default: 7411]
    #[arg(long)]
    pub port: Option<u16>,
    /// A further name (NAME or NAME:PORT) under which browsers may reach this server
    #[arg(long = "allow-host", value_name = "NAME")]
    pub allow_hosts: Vec<String>,
    /// Also let viewers on the network in at this address of this host, without a token; they can look, and nothing
    /// else, and see neither serial numbers nor paths [default port: 7412]
    #[arg(long, value_name = "ADDR[:PORT]", env = "BRAKECHECK_LAN")]
    pub lan: Option<Address>,
    /// Viewers on the network must know the password on the first line of FILE, in the clear or as a hash of argon2
    #[arg(long, value_name = "FILE", env = "BRAKECHECK_VIEWER_PASSWORD_FILE")]
    pub viewer_password_file: Option<PathBuf>,
    /// Encrypt what viewers on the network get, with a certificate of Brakecheck's own, made on first use
    #[arg(long)]
    pub lan_tls: bool,
    /// Encrypt it with the certificate in FILE (PEM, with those that vouch for it)
    #[arg(long, value_name = "FILE", requires = "lan_key")]
    pub lan_cert: Option<PathBuf>,
    /// The key of that certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "lan_cert")]
    pub lan_key: Option<PathBuf>,
    /// Do not go on with an experiment that ended only because its server did
    #[arg(long)]
    pub no_resume: bool,
    /// As root: the user that faces the network [default: who called sudo, else brakecheck, else nobody]
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Open the page in a browser
    #[arg(long)]
    pub open: bool,
}

impl ServeArgs {
    /// The options as they are without a word: those of the environment.
    pub fn unsaid() -> Result<Self, clap::Error> {
        #[derive(clap::Parser)]
        #[command(name = "brakecheck")]
        struct Unsaid {
            #[command(flatten)]
            args: ServeArgs,
        }
        <Unsaid as clap::Parser>::try_parse_from(["brakecheck"]).map(|unsaid| unsaid.args)
    }
}

/// Serves until told to stop.
pub fn run(args: ServeArgs, globals: &Globals) -> Result<(), ErrorBody> {
    let open = args.open;
    // Its files may be root's alone.
    let chosen = Chosen::from(args)?;
    let entered = privilege::enter(globals, chosen.user.as_deref())?;
    let result = serve(chosen, open, globals, &entered);
    entered.leave();
    result
}

fn serve(chosen: Chosen, open_page: bool, globals: &Globals, entered: &Entered) -> Result<(), ErrorBody> {
    let internal = |e: std::io::Error| ErrorBody::new(ErrorCode::Internal, format!("The server cannot start: {e}."));
    // Two threads are plenty for a few viewers; the processors are for the measurement.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("http")
        .on_thread_start(crate::cpus::keep_aside)
        .enable_all()
        .build()
        .map_err(internal)?;
    let options = Options {
        port: chosen.port,
        allow_hosts: chosen.allow_hosts,
        lan: chosen.lan,
        viewer_password: chosen.password,
        viewer_tls: chosen.tls,
        kiosk: chosen.kiosk,
        resume: chosen.resume,
        state: entered.state.clone(),
        sysroot: globals.sysroot.clone(),
        desk: Arc::clone(&entered.desk),
    };
    let result = runtime.block_on(async {
        let signals = Signals::new().map_err(internal)?;
        let server = Server::start(options).await?;
        announce(&server, globals.json);
        if open_page {
            open(&server)?;
        }
        server.run(signals.wait()).await;
        Ok(())
    });
    // A look at a file system that hangs must not keep the program.
    runtime.shutdown_timeout(Duration::from_secs(1));
    result
}

/// The address with the token, alone on a line of standard output; everything else on standard error.
fn announce(server: &Server, json: bool) {
    if let Some(aside) = &server.app().runner.put_aside {
        say(&format!("The result store was damaged. It was kept as {}; a new one was begun.", aside.display()));
    }
    eprintln!("Brakecheck {} is at the address below. Ctrl-C ends it.", protocol::VERSION);
    let lan = server.app().lan.status(server.app());
    if let Some(url) = &lan.url {
        let note = lan.note.map(|note| format!(" {note}")).unwrap_or_default();
        say(&format!("Viewers on the network may look, and nothing else, at {url}.{note}"));
        if let Some(fingerprint) = &lan.fingerprint {
            eprintln!("SHA-256 fingerprint of its certificate: {fingerprint}");
        }
    }
    let (address, token) = (server.address(), server.app().token.secret());
    let url = format!("{address}#token={token}");
    let line = if json {
        serde_json::json!({ "url": url, "address": address, "token": token, "viewers": lan.url }).to_string()
    } else {
        url
    };
    // Whoever started this may have closed standard output; that is no reason to end.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Opens the page in the user's browser.
fn open(server: &Server) -> Result<(), ErrorBody> {
    let address = format!("{}#token={}", server.address(), server.app().token.launch_code()?);
    let started =
        Command::new("xdg-open").arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    match started {
        Ok(mut browser) => {
            // Waited for, so that it does not stay as a zombie.
            std::thread::spawn(move || browser.wait());
        }
        Err(e) => eprintln!("No browser could be opened (xdg-open: {e}). Open the address above."),
    }
    Ok(())
}

/// The signals that end the server.
struct Signals([Signal; 3]);

impl Signals {
    fn new() -> std::io::Result<Self> {
        let on = |kind| signal(kind);
        Ok(Self([on(SignalKind::interrupt())?, on(SignalKind::terminate())?, on(SignalKind::hangup())?]))
    }

    async fn next(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {}, _ = hangup.recv() => {} }
    }

    /// Returns at the first signal; the second then ends the program at once.
    async fn wait(mut self) {
        self.next().await;
        eprintln!("Stopping. Once more to end at once.");
        tokio::spawn(async move {
            self.next().await;
            std::process::exit(i32::from(ErrorCode::Interrupted.exit_code()));
        });
    }
}
