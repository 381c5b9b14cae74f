//! The loopback listeners.

use protocol::error::{ErrorBody, ErrorCode};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr};
use tokio::net::TcpListener;

/// Tries for a port that is free on both addresses.
const TRIES: u32 = 20;

/// Listens on 127.0.0.1 and, where there is IPv6, on `::1`, on one port: `localhost` may mean either, and must not be
/// somebody else's server.
pub(super) async fn loopback(port: u16) -> Result<Vec<TcpListener>, ErrorBody> {
    let mut tries = 0;
    loop {
        let v4 = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|e| refused(port, &e))?;
        let chosen = v4.local_addr().map_err(|e| refused(port, &e))?.port();
        match TcpListener::bind((Ipv6Addr::LOCALHOST, chosen)).await {
            Ok(v6) => return Ok(vec![v4, v6]),
            Err(e) if e.kind() == ErrorKind::AddrInUse => {
                tries += 1;
                if port != 0 || tries == TRIES {
                    return Err(refused(chosen, &e));
                }
            }
            Err(e) => {
                tracing::debug!("no IPv6 here: {e}");
                return Ok(vec![v4]);
            }
        }
    }
}

fn refused(port: u16, e: &std::io::Error) -> ErrorBody {
    match e.kind() {
        ErrorKind::AddrInUse => ErrorBody::new(ErrorCode::Usage, format!("Port {port} is in use by another program."))
            .hint("Choose another one with --port, or 0 for any that is free."),
        ErrorKind::PermissionDenied => {
            ErrorBody::new(ErrorCode::NotPermitted, format!("Port {port} may not be used: {e}."))
                .hint("Choose one from 1024 up with --port.")
        }
        _ => ErrorBody::new(ErrorCode::Internal, format!("Port {port} cannot be used: {e}.")),
    }
}
