//! One admin command (`NVME_IOCTL_ADMIN_CMD` of `linux/nvme_ioctl.h`).

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;

pub(super) const SET_FEATURES: u8 = 0x09;
pub(super) const GET_FEATURES: u8 = 0x0a;
pub(super) const IDENTIFY: u8 = 0x06;

/// `_IOWR('N', 0x41, struct nvme_admin_cmd)`.
const NVME_IOCTL_ADMIN_CMD: libc::Ioctl = libc::_IOWR::<Passthru>(b'N' as u32, 0x41);
const TIMEOUT_MS: u32 = 5_000;

/// What differs between the commands used here.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Command {
    pub(super) opcode: u8,
    pub(super) cdw10: u32,
    pub(super) cdw11: u32,
}

/// `struct nvme_passthru_cmd`.
#[repr(C)]
#[derive(Default)]
struct Passthru {
    opcode: u8,
    flags: u8,
    rsvd1: u16,
    nsid: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    addr: u64,
    metadata_len: u32,
    data_len: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    timeout_ms: u32,
    result: u32,
}

/// Runs a command that reads into `data` (at most what the command returns), and gives its result word. A status of
/// the controller other than success is `EIO`.
pub(super) fn submit(file: &OwnedFd, command: &Command, data: &mut [u8]) -> Result<u32, Errno> {
    let mut passthru = Passthru {
        opcode: command.opcode,
        cdw10: command.cdw10,
        cdw11: command.cdw11,
        addr: if data.is_empty() { 0 } else { data.as_mut_ptr().expose_provenance() as u64 },
        data_len: u32::try_from(data.len()).map_err(|_| Errno::INVAL)?,
        timeout_ms: TIMEOUT_MS,
        ..Passthru::default()
    };
    #[expect(unsafe_code, reason = "there is no safe interface to this ioctl")]
    // SAFETY: `passthru` has the kernel's layout and lives through the call; `addr` and `data_len` describe `data`,
    // borrowed exclusively through the call; the commands above transfer no more than `data_len`.
    let status = unsafe { libc::ioctl(file.as_raw_fd(), NVME_IOCTL_ADMIN_CMD, &raw mut passthru) };
    match status {
        0 => Ok(passthru.result),
        -1 => Err(std::io::Error::last_os_error().raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)),
        _ => Err(Errno::IO),
    }
}
