//! Connections: accepted, limited, served, ended.

use super::patient::Patient;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceBuilder;

/// Time to agree on encryption, and to send the headers of a request, from the first connection or the last answer on.
const HEADERS: Duration = Duration::from_secs(15);
/// Time in which something must be taken of what waits to be taken. A WebSocket is given up before, with a farewell.
const STALL: Duration = Duration::from_secs(15);
/// Largest request line with its headers, in bytes.
const MAX_HEADERS: usize = 64 * 1024;
/// Pause after the system could not accept (out of file descriptors).
const RECOVER: Duration = Duration::from_millis(100);

/// How much of the server one listener may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Connections at one time; open sockets count.
    pub(crate) total: usize,
    /// Of these, those that one address may have; the networks of an IPv6 subscriber (/64) are one address.
    pub(crate) for_each_address: usize,
    /// What the kernel may hold for a connection that is not read, in bytes (it doubles it); its own limit where absent.
    pub(crate) send_buffer: Option<usize>,
}

/// A connection's place, given up when connection and WebSocket have both ended.
#[derive(Debug, Clone)]
pub(crate) struct Held(Arc<Place>);

impl Held {
    /// Where the connection comes from, as it is counted.
    pub(crate) fn address(&self) -> IpAddr {
        self.0.address
    }
}

#[derive(Debug)]
struct Place {
    _seat: Option<OwnedSemaphorePermit>,
    address: IpAddr,
    addresses: Arc<Addresses>,
}

/// Connections of each address.
#[derive(Debug, Default)]
struct Addresses(Mutex<HashMap<IpAddr, usize>>);

impl Addresses {
    /// Counts one more, unless there are `most` already.
    fn enter(&self, address: IpAddr, most: usize) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(address).or_default();
        let free = *count < most;
        *count += usize::from(free);
        free
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.addresses.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = all.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.address);
            }
        }
    }
}

/// Accepts until `closing`.
pub(crate) async fn accept(
    listener: TcpListener,
    routes: Router,
    tls: Option<TlsAcceptor>,
    limits: Limits,
    closing: CancellationToken,
    tracker: TaskTracker,
) {
    let seats = Arc::new(Semaphore::new(limits.total));
    let addresses = Arc::new(Addresses::default());
    loop {
        let accepted = tokio::select! {
            () = closing.cancelled() => return,
            accepted = async {
                // Never closed, so always granted in the end.
                let seat = Arc::clone(&seats).acquire_owned().await.ok();
                (seat, listener.accept().await)
            } => accepted,
        };
        match accepted {
            (seat, Ok((stream, peer))) => {
                let address = subscriber(peer.ip());
                if !addresses.enter(address, limits.for_each_address) {
                    tracing::debug!("{address} has too many connections");
                    continue;
                }
                let place = Place { _seat: seat, address, addresses: Arc::clone(&addresses) };
                prepare(&stream, limits);
                let stream = Patient::new(stream, STALL);
                let (routes, held, closing) = (routes.clone(), Held(Arc::new(place)), closing.clone());
                let tls = tls.clone();
                tracker.spawn(async move {
                    match tls {
                        None => serve(stream, routes, held, closing).await,
                        Some(tls) => match timeout(HEADERS, tls.accept(stream)).await {
                            Ok(Ok(stream)) => serve(stream, routes, held, closing).await,
                            Ok(Err(e)) => tracing::debug!("encryption: {e}"),
                            Err(_) => tracing::debug!("encryption: nothing came"),
                        },
                    }
                });
            }
            (_, Err(e)) => {
                tracing::debug!("accept: {e}");
                tokio::time::sleep(RECOVER).await;
            }
        }
    }
}

/// What counts as one address: an IPv6 subscriber has a whole /64 of them.
fn subscriber(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}

fn prepare(stream: &TcpStream, limits: Limits) {
    // Samples are small and must not wait for each other.
    let _ = stream.set_nodelay(true);
    if let Some(bytes) = limits.send_buffer
        && let Err(e) = rustix::net::sockopt::set_socket_send_buffer_size(stream, bytes)
    {
        tracing::debug!("the send buffer stays as it is: {e}");
    }
}

/// Serves one connection; after `closing` it ends with the answer it is at.
async fn serve<S>(stream: S, routes: Router, held: Held, closing: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let routes = ServiceBuilder::new()
        .map_request(move |mut request: hyper::Request<hyper::body::Incoming>| {
            request.extensions_mut().insert(held.clone());
            request
        })
        .service(routes);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .max_buf_size(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes))
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(e) = result {
        tracing::debug!("connection: {e}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_network_counts_as_one_address_and_mapped_ipv4_as_what_it_is() {
        let same = |a: &str, b: &str| subscriber(a.parse().unwrap()) == subscriber(b.parse().unwrap());
        assert!(same("2001:db8:1:2::1", "2001:db8:1:2:ffff::9") && !same("2001:db8:1:2::1", "2001:db8:1:3::1"));
        assert!(same("::ffff:192.0.2.1", "192.0.2.1") && !same("192.0.2.1", "192.0.2.2"));
    }

    #[test]
    fn an_address_has_so_many_places_and_gets_them_back() {
        let addresses = Arc::new(Addresses::default());
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        let enter =
            || addresses.enter(address, 2).then(|| Place { _seat: None, address, addresses: Arc::clone(&addresses) });
        let (first, second) = (enter(), enter());
        assert!(first.is_some() && second.is_some() && enter().is_none());
        drop(first);
        assert!(enter().is_some());
        drop(second);
        assert!(addresses.0.lock().unwrap().is_empty());
    }
}
