//! A connection that ends when nobody takes what is said on it.
//!
//! An answer stays in memory until it is taken, and headers have a time limit that begins only with the next request:
//! whoever asks and never reads would hold his answers for ever.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A connection whose other side must take something of what waits for it within a time.
#[derive(Debug)]
pub(super) struct Patient<S> {
    stream: S,
    patience: Duration,
    /// Ends the wait, where something waits to be taken.
    end: Option<Pin<Box<Sleep>>>,
}

impl<S: Unpin> Patient<S> {
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, end: None }
    }

    /// What became of an attempt to send, or an error where it is one too many.
    fn judge<T>(&mut self, context: &mut Context<'_>, sent: Poll<Result<T>>) -> Poll<Result<T>> {
        if sent.is_ready() {
            self.end = None;
            return sent;
        }
        let patience = self.patience;
        ready!(self.end.get_or_insert_with(|| Box::pin(sleep(patience))).as_mut().poll(context));
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "nothing was taken")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let this = self.get_mut();
        let sent = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.judge(context, sent)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let this = self.get_mut();
        let sent = Pin::new(&mut this.stream).poll_write_vectored(context, parts);
        this.judge(context, sent)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        let sent = Pin::new(&mut this.stream).poll_flush(context);
        this.judge(context, sent)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        let sent = Pin::new(&mut this.stream).poll_shutdown(context);
        this.judge(context, sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    const PATIENCE: Duration = Duration::from_secs(1);

    async fn pair() -> (Patient<TcpStream>, TcpStream) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let other = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (Patient::new(listener.accept().await.unwrap().0, PATIENCE), other)
    }

    #[tokio::test]
    async fn whoever_takes_nothing_is_given_up_in_time() {
        let (mut patient, _other) = pair().await;
        let endless = async {
            loop {
                if let Err(e) = patient.write_all(&[0; 1 << 13]).await {
                    return e.kind();
                }
            }
        };
        assert_eq!(tokio::time::timeout(10 * PATIENCE, endless).await.unwrap(), ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn whoever_takes_a_little_at_a_time_gets_everything() {
        const ALL: usize = 16 << 20;
        let (mut patient, mut other) = pair().await;
        let sent = tokio::spawn(async move { patient.write_all(&vec![0; ALL]).await });
        let (mut part, mut taken, began) = (vec![0; 1 << 20], 0, tokio::time::Instant::now());
        while taken < ALL {
            let slowly = tokio::time::Instant::now() + PATIENCE / 6;
            let until = (taken + part.len()).min(ALL);
            while taken < until {
                taken += other.read(&mut part).await.unwrap();
            }
            tokio::time::sleep_until(slowly).await;
        }
        assert!(began.elapsed() > 2 * PATIENCE);
        sent.await.unwrap().unwrap();
    }
}
