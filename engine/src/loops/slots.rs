//! The slots of a ring-driven job: one access in flight each, turned into submission entries.

use super::buffers::Buffers;
use super::job::{Failure, Job};
use super::offsets::Offsets;
use io_uring::types::{Fd, Fixed};
use io_uring::{opcode, squeue};
use std::io;

/// One access in flight.
#[derive(Clone, Copy, Default)]
pub(crate) struct Slot {
    pub(crate) submitted: u64,
    pub(crate) intended: u64,
    pub(crate) read: bool,
    offset: u64,
    address: usize,
    /// Bytes already transferred when an access was short and is continued.
    done: u32,
    /// Writes so far.
    turn: u64,
}

/// What the entries do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Reads and writes of the job's file.
    Access,
    /// Nothing: measures the loop itself.
    Nop,
}

pub(crate) struct Slots {
    all: Vec<Slot>,
    offsets: Offsets,
    buffers: Buffers,
    bs: u32,
    fd: Fd,
    operation: Operation,
    pub(crate) fixed_file: bool,
    pub(crate) fixed_buffers: bool,
}

impl Slots {
    pub(crate) fn new(job: &Job, buffers: Buffers, operation: Operation) -> Self {
        Self {
            all: vec![Slot::default(); job.depth()],
            offsets: job.offsets(),
            buffers,
            bs: job.bs(),
            fd: Fd(job.fd),
            operation,
            fixed_file: false,
            fixed_buffers: false,
        }
    }

    pub(crate) fn is_access(&self) -> bool {
        self.operation == Operation::Access
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn offsets(&mut self) -> &mut Offsets {
        &mut self.offsets
    }

    pub(crate) fn buffers(&self) -> &Buffers {
        &self.buffers
    }

    #[inline]
    pub(crate) fn get(&mut self, slot: u32) -> Option<&mut Slot> {
        self.all.get_mut(slot as usize)
    }

    /// Draws the slot's next access and makes its entry.
    #[inline]
    pub(crate) fn next_entry(&mut self, index: u32) -> squeue::Entry {
        let (offset, read) = self.offsets.next();
        let Some(slot) = self.all.get_mut(index as usize) else { return opcode::Nop::new().build() };
        (slot.offset, slot.read, slot.done) = (offset, read, 0);
        slot.address = if read {
            self.buffers.read_block(index as usize) as usize
        } else {
            slot.turn += 1;
            self.buffers.write_block(index as usize, slot.turn) as usize
        };
        self.entry(index)
    }

    /// The entry for what is left of the slot's access.
    #[inline]
    fn entry(&self, index: u32) -> squeue::Entry {
        let Some(slot) = self.all.get(index as usize) else { return opcode::Nop::new().build() };
        if self.operation == Operation::Nop {
            return opcode::Nop::new().build().user_data(u64::from(index));
        }
        let address = (slot.address + slot.done as usize) as *mut u8;
        let (len, offset) = (self.bs - slot.done, slot.offset + u64::from(slot.done));
        // `index` is below 1024, the largest depth.
        let buffer = index as u16;
        macro_rules! build {
            ($op:ident $(, $buffer:expr)?) => {
                if self.fixed_file {
                    opcode::$op::new(Fixed(0), address, len $(, $buffer)?).offset(offset).build()
                } else {
                    opcode::$op::new(self.fd, address, len $(, $buffer)?).offset(offset).build()
                }
            };
        }
        let entry = match (slot.read, self.fixed_buffers) {
            (true, true) => build!(ReadFixed, buffer),
            (true, false) => build!(Read),
            (false, true) => build!(WriteFixed, buffer),
            (false, false) => build!(Write),
        };
        entry.user_data(u64::from(index))
    }

    /// Judges a completion: `Ok(None)` when the access is whole, `Ok(Some(entry))` when the rest is to be submitted.
    #[inline]
    pub(crate) fn complete(&mut self, index: u32, result: i32) -> Result<Option<squeue::Entry>, Failure> {
        if result.cast_unsigned() == self.bs || self.operation == Operation::Nop {
            return Ok(None);
        }
        self.incomplete(index, result)
    }

    #[cold]
    fn incomplete(&mut self, index: u32, result: i32) -> Result<Option<squeue::Entry>, Failure> {
        let bs = self.bs;
        let Some(slot) = self.all.get_mut(index as usize) else { return Ok(None) };
        match result {
            n if n < 0 && [-libc::EAGAIN, -libc::EINTR].contains(&n) => Ok(Some(self.entry(index))),
            n if n < 0 => Err(Failure::Access {
                read: slot.read,
                offset: slot.offset + u64::from(slot.done),
                source: io::Error::from_raw_os_error(-n),
            }),
            0 => Err(Failure::EndOfFile { offset: slot.offset, got: slot.done, wanted: bs }),
            n => {
                slot.done += n.cast_unsigned();
                Ok((slot.done < bs).then(|| self.entry(index)))
            }
        }
    }
}
