//! A network between browser and server that can be cut.

use anyhow::Result;
use std::sync::Arc;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Passes connections on to a port of this host, until it is cut; then those that are open stay open and carry nothing,
/// and new ones are taken and carry nothing either, as where packets are lost.
#[derive(Debug)]
pub(crate) struct Network {
    /// Where browsers reach the server through it.
    pub(crate) port: u16,
    cut: Arc<watch::Sender<u64>>,
    accept: JoinHandle<()>,
}

impl Drop for Network {
    fn drop(&mut self) {
        self.accept.abort();
    }
}

impl Network {
    /// A network that works, with this end. Even numbers of cuts and mends mean that it does.
    pub(crate) fn new(listener: TcpListener, port: u16) -> Result<Self> {
        let own = listener.local_addr()?.port();
        let cut = Arc::new(watch::Sender::new(0));
        let state = Arc::clone(&cut);
        let accept = tokio::spawn(async move {
            while let Ok((inner, _)) = listener.accept().await {
                tokio::spawn(carry(inner, port, state.subscribe()));
            }
        });
        Ok(Self { port: own, cut, accept })
    }

    /// Nothing gets through any more.
    pub(crate) fn cut(&self) {
        self.cut.send_modify(|n| *n += 1);
    }

    /// New connections get through; old ones do not come back.
    pub(crate) fn mend(&self) {
        self.cut.send_modify(|n| *n += 1);
    }
}

async fn carry(mut inner: TcpStream, port: u16, mut cut: watch::Receiver<u64>) {
    if cut.borrow_and_update().is_multiple_of(2)
        && let Ok(mut outer) = TcpStream::connect(("127.0.0.1", port)).await
    {
        tokio::select! {
            _ = copy_bidirectional(&mut inner, &mut outer) => return,
            _ = cut.changed() => {}
        }
    }
    // Held, silent, until the browser gives it up.
    let _ = inner.readable().await;
    std::future::pending::<()>().await;
}
