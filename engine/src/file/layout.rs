//! Filling a file: every byte written, incompressible, nothing repeated, with a deep queue.
//!
//! Runs on a worker of its own: a thread with a tokio-uring runtime, one task per slot, each of which makes its next
//! block of data while the others' writes are on their way. Where there is no `io_uring`, plain writes.

use super::own::{OwnFile, no_room};
use super::random_data::RandomData;
use crate::loops::buffers::{Region, SlotBuf};
use crate::loops::uring::RingSupport;
use crate::{Control, clock};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use protocol::error::ErrorBody;
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use tokio_uring::buf::BoundedBuf;

const BLOCK: u64 = 1 << 20;
const DEPTH: usize = 16;

/// Shared by the filling worker and the one that reports.
struct Progress {
    next: AtomicU64,
    done: AtomicU64,
    size: u64,
    seed: u64,
    control: Control,
}

impl Progress {
    /// The next block to write: offset and length.
    fn take(&self) -> Option<(u64, usize)> {
        if self.control.is_stopped() {
            return None;
        }
        let at = self.next.fetch_add(BLOCK, Relaxed);
        (at < self.size).then(|| (at, BLOCK.min(self.size - at) as usize))
    }

    fn data(&self, at: u64, out: &mut [u8]) {
        RandomData::new(self.seed ^ at.wrapping_mul(0x9e37_79b9_7f4a_7c15)).fill(out);
    }
}

/// Fills the file, telling `report` 20 times a second how far it is (bytes, and bytes per second since the last
/// report). `cached` leaves it in the page cache, for workloads that are to find it there. Returns `false` when
/// stopped before the end.
pub(crate) fn fill(
    own: &OwnFile,
    cached: bool,
    control: &Control,
    report: &mut dyn FnMut(u64, f64),
) -> Result<bool, ErrorBody> {
    let progress = Arc::new(Progress {
        next: AtomicU64::new(0),
        done: AtomicU64::new(0),
        size: own.size(),
        seed: own.seed(),
        control: control.clone(),
    });
    // Past the page cache where possible: what is measured next must not compete with its write-back.
    let direct = if cached || !own.size().is_multiple_of(4096) { None } else { own.open_direct().ok().map(File::from) };
    let file = direct.as_ref().unwrap_or(own.buffered());
    let (alive, ended) = mpsc::channel::<()>();
    let dir = own.path().parent().unwrap_or(own.path());
    let (mut last, mut last_done) = (clock::now(), 0);
    let filled = std::thread::scope(|scope| {
        let worker = scope.spawn({
            let progress = Arc::clone(&progress);
            move || {
                let _alive = alive;
                run_worker(file, &progress)
            }
        });
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(Duration::from_millis(50)) {
            let (now, done) = (clock::now(), progress.done.load(Relaxed));
            report(done, (done - last_done) as f64 * 1e9 / (now - last).max(1) as f64);
            (last, last_done) = (now, done);
        }
        worker.join().unwrap_or_else(|_| Err(io::Error::other("the filling thread panicked")))
    });
    filled.and_then(|()| own.buffered().sync_all()).map_err(|e| no_room(dir, own.size(), &e))?;
    Ok(!control.is_stopped())
}

fn run_worker(file: &File, progress: &Progress) -> io::Result<()> {
    if RingSupport::get().unavailable.is_some() {
        return plain(file, progress);
    }
    match tokio_uring::Runtime::new(tokio_uring::builder().entries(DEPTH as u32)) {
        Ok(runtime) => runtime.block_on(deep(file, progress)),
        Err(_) => plain(file, progress),
    }
}

async fn deep(file: &File, progress: &Progress) -> io::Result<()> {
    // SAFETY: the descriptor is the caller's and stays open; `ManuallyDrop` keeps this from closing it.
    let file = unsafe { std::fs::File::from_raw_fd(file.as_raw_fd()) };
    let file = ManuallyDrop::new(tokio_uring::fs::File::from_std(file));
    let task = async || {
        let mut region = Region::new(BLOCK as usize)?;
        while let Some((at, len)) = progress.take() {
            if let Some(block) = region.as_mut().get_mut(..len) {
                progress.data(at, block);
            }
            let (written, slice) = file.write_all_at(SlotBuf::whole(region).slice(..len), at).await;
            region = slice.into_inner().into_region().ok_or_else(|| io::Error::other("the buffer is still shared"))?;
            written?;
            progress.done.fetch_add(len as u64, Relaxed);
        }
        io::Result::Ok(())
    };
    let mut tasks: FuturesUnordered<_> = (0..DEPTH).map(|_| task()).collect();
    let mut outcome = Ok(());
    while let Some(ended) = tasks.next().await {
        if ended.is_err() && outcome.is_ok() {
            // The others end with their next block.
            progress.next.store(progress.size, Relaxed);
            outcome = ended;
        }
    }
    outcome
}

fn plain(file: &File, progress: &Progress) -> io::Result<()> {
    let mut region = Region::new(BLOCK as usize)?;
    while let Some((at, len)) = progress.take() {
        let Some(block) = region.as_mut().get_mut(..len) else { break };
        progress.data(at, block);
        file.write_all_at(block, at)?;
        progress.done.fetch_add(len as u64, Relaxed);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_byte_is_written_and_no_block_repeats() {
        let top = tempfile::tempdir().unwrap();
        let size = (5 << 20) + 4096;
        let own = OwnFile::create(top.path(), size, 3, &top.path().join("registry")).unwrap();
        let mut last = 0;
        assert!(fill(&own, false, &Control::default(), &mut |done, _| last = done).unwrap());
        let data = std::fs::read(own.path()).unwrap();
        let blocks: HashSet<&[u8]> = data[..size as usize].chunks(512).collect();
        assert_eq!(blocks.len() as u64, size / 512);
        assert!(last <= size);
        // Nothing of it is a hole or an unwritten extent.
        assert!(std::os::unix::fs::MetadataExt::blocks(&own.buffered().metadata().unwrap()) * 512 >= size);
    }

    #[test]
    fn a_stopped_layout_says_so() {
        let top = tempfile::tempdir().unwrap();
        let own = OwnFile::create(top.path(), 1 << 20, 3, &top.path().join("registry")).unwrap();
        let control = Control::default();
        control.stop();
        assert!(!fill(&own, true, &control, &mut |_, _| {}).unwrap());
    }
}
