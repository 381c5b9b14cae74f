//! Memory that accesses read into and write from: page-aligned, on the pages that the host gives to any program.
//!
//! Huge pages are not asked for: a large access from them needs fewer segments, which some drives do several times
//! as fast, and which programs that allocate memory the usual way never see.

use crate::file::random_data::{RandomData, stamp};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::io;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

const PAGE: usize = 4096;
/// Random data kept for writes by all jobs of a step together. A job's share, 1 MiB at least, is longer than any
/// compression window of a filesystem or drive.
const WRITE_POOL: usize = 64 << 20;

/// An anonymous mapping, unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Region {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a region is memory and nothing else; who may touch which part is the owner's business.
unsafe impl Send for Region {}
// SAFETY: as above; shared access hands out raw pointers only.
unsafe impl Sync for Region {}

impl Region {
    pub(crate) fn new(len: usize) -> io::Result<Self> {
        let len = len.max(1).next_multiple_of(PAGE);
        // SAFETY: a new private mapping at an address of the kernel's choice overlaps nothing.
        let start = unsafe { mmap_anonymous(null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, len })
    }

    /// The whole region for its only owner.
    pub(crate) fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is `len` initialised (zeroed) bytes, and `&mut self` says that nobody else looks.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// Address of byte `at`, which must lie inside.
    pub(crate) fn at(&self, at: usize) -> *mut u8 {
        assert!(at < self.len);
        // SAFETY: inside the mapping, as just asserted.
        unsafe { self.start.as_ptr().add(at) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, whose last user is gone. Failure would only leak it.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// The buffers of one job: per slot one block to read into, then blocks of random data to write from in turn.
#[derive(Clone)]
pub(crate) struct Buffers {
    region: Arc<Region>,
    bs: usize,
    slot_len: usize,
    write_blocks: usize,
    key: u64,
}

impl Buffers {
    /// For `depth` slots of `bs` bytes; with random data where one of `writers` jobs writes (0: none does). All
    /// pages are touched.
    pub(crate) fn new(depth: usize, bs: usize, writers: usize, seed: u64) -> io::Result<Self> {
        let share = (WRITE_POOL / writers.max(1)).max(1 << 20);
        let write_blocks = if writers > 0 { (share / (depth * bs)).max(1) } else { 0 };
        let slot_len = (bs * (1 + write_blocks)).next_multiple_of(PAGE);
        let mut region = Region::new(slot_len * depth)?;
        if writers > 0 {
            RandomData::new(seed).fill(region.as_mut());
        } else {
            region.as_mut().iter_mut().step_by(PAGE).for_each(|b| *b = 1);
        }
        Ok(Self { region: Arc::new(region), bs, slot_len, write_blocks, key: seed })
    }

    /// Where slot `slot` reads into.
    pub(crate) fn read_block(&self, slot: usize) -> *mut u8 {
        self.region.at(slot * self.slot_len)
    }

    /// The block that slot `slot` writes as its `turn`-th, stamped so that it differs from all earlier ones.
    pub(crate) fn write_block(&self, slot: usize, turn: u64) -> *mut u8 {
        let block = (turn % self.write_blocks.max(1) as u64) as usize;
        let start = self.region.at(slot * self.slot_len + self.bs * (1 + block));
        // SAFETY: a slot has one access in flight at most, and this is called before the next one is submitted, so
        // nobody else touches its blocks; `bs` bytes from here lie inside the slot.
        let bytes = unsafe { std::slice::from_raw_parts_mut(start, self.bs) };
        stamp(bytes, self.key, (turn << 10) | slot as u64);
        start
    }

    /// Each slot's memory, for registration.
    pub(crate) fn iovecs(&self) -> Vec<libc::iovec> {
        let depth = self.region.len / self.slot_len;
        let slot = |i| libc::iovec { iov_base: self.region.at(i * self.slot_len).cast(), iov_len: self.slot_len };
        (0..depth).map(slot).collect()
    }

    /// Slot `slot`'s memory as a tokio-uring buffer.
    pub(crate) fn slot(&self, slot: usize) -> SlotBuf {
        SlotBuf { start: self.read_block(slot), len: self.slot_len, region: Arc::clone(&self.region) }
    }

    /// Position of the `turn`-th write block within its slot, stamped like [`Self::write_block`].
    pub(crate) fn write_at(&self, slot: usize, turn: u64) -> usize {
        self.write_block(slot, turn) as usize - self.read_block(slot) as usize
    }
}

/// One slot's memory, owned by an operation of tokio-uring while it is in flight.
pub(crate) struct SlotBuf {
    start: *mut u8,
    len: usize,
    region: Arc<Region>,
}

impl SlotBuf {
    /// All of a region.
    pub(crate) fn whole(region: Region) -> Self {
        Self { start: region.at(0), len: region.len, region: Arc::new(region) }
    }

    /// The region back, if nobody shares it.
    pub(crate) fn into_region(self) -> Option<Region> {
        Arc::into_inner(self.region)
    }
}

// SAFETY: the memory lives as long as the region that is held, and does not move with the value.
unsafe impl tokio_uring::buf::IoBuf for SlotBuf {
    fn stable_ptr(&self) -> *const u8 {
        self.start
    }
    fn bytes_init(&self) -> usize {
        self.len
    }
    fn bytes_total(&self) -> usize {
        self.len
    }
}

// SAFETY: as above; all bytes are initialised from the beginning.
unsafe impl tokio_uring::buf::IoBufMut for SlotBuf {
    fn stable_mut_ptr(&mut self) -> *mut u8 {
        self.start
    }
    unsafe fn set_init(&mut self, _pos: usize) {}
}
