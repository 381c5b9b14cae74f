//! Connections: accepted, limited, served, ended.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Connections at one time, on each address.
const CONNECTIONS: usize = 256;
/// Time to send the headers of a request, from the first connection or the last answer on.
const HEADERS: Duration = Duration::from_secs(15);
/// Pause after the system could not accept (out of file descriptors).
const RECOVER: Duration = Duration::from_millis(100);

/// Accepts until `closing`.
pub(super) async fn accept(listener: TcpListener, routes: Router, closing: CancellationToken, tracker: TaskTracker) {
    let seats = Arc::new(Semaphore::new(CONNECTIONS));
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
            (seat, Ok((stream, _))) => {
                let serve = serve(stream, routes.clone(), closing.clone());
                tracker.spawn(async move {
                    serve.await;
                    drop(seat);
                });
            }
            (_, Err(e)) => {
                tracing::debug!("accept: {e}");
                tokio::time::sleep(RECOVER).await;
            }
        }
    }
}

/// Serves one connection; after `closing` it ends with the answer it is at.
async fn serve(stream: TcpStream, routes: Router, closing: CancellationToken) {
    // Samples are small and must not wait for each other.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
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
