//! The subcommands that only the program itself starts: broker and sentinel.

use super::Globals;
use crate::privilege;
use power::broker::{Setup, serve, watch};
use protocol::error::{ErrorBody, ErrorCode};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

/// Standard output of both is the journal's directory, which so stays the same whatever becomes of its name.
const JOURNAL: &str = "/proc/self/fd/1/.";

/// Standard input is the server's socket.
pub(super) fn broker(globals: &Globals) -> Result<(), ErrorBody> {
    let server = io::stdin().as_fd().try_clone_to_owned().map_err(|e| failed(&e))?;
    if rustix::net::sockopt::socket_type(&server).is_err() {
        return Err(by_hand());
    }
    let (signals, sender) = UnixStream::pair().map_err(|e| failed(&e))?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let sender = sender.try_clone().map_err(|e| failed(&e))?;
        signal_hook::low_level::pipe::register(signal, sender).map_err(|e| failed(&e))?;
    }
    let root = globals.root()?;
    let setup = Setup { root, journal: JOURNAL.into(), server, signals, sentinel: privilege::sentinel };
    serve(setup, &mut say).map_err(|e| ErrorBody::new(ErrorCode::Internal, format!("The broker cannot go on: {e}.")))
}

/// Standard input is a pipe that ends with the broker.
pub(super) fn sentinel(globals: &Globals) -> Result<(), ErrorBody> {
    if rustix::fs::seek(io::stdin(), rustix::fs::SeekFrom::Current(0)).is_ok() {
        return Err(by_hand());
    }
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Only SIGKILL ends it before its time.
        signal_hook::flag::register(signal, Arc::default()).map_err(|e| failed(&e))?;
    }
    Ok(watch(io::stdin().lock(), &globals.root()?, Path::new(JOURNAL), &mut say)?)
}

/// Nobody may be there to read it any more.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", super::output::shown(line));
}

fn failed(e: &io::Error) -> ErrorBody {
    ErrorBody::new(ErrorCode::Internal, format!("The system refuses what this process needs: {e}."))
}

fn by_hand() -> ErrorBody {
    ErrorBody::new(ErrorCode::Usage, "This subcommand is not for people: Brakecheck starts it by itself.")
        .hint("`brakecheck serve` serves the page, `brakecheck knobs` lists the settings.")
}
