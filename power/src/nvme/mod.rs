//! What an NVMe controller itself says and takes, by its admin commands: power states (NVM Express Base Specification
//! 2.0, 5.27.1.2 and figure 276) and autonomous transitions (5.27.1.6). On the running machine only, and as root.

mod admin;

use crate::name::Name;
use crate::root::Root;
use admin::{Command, GET_FEATURES, IDENTIFY, SET_FEATURES, submit};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

const POWER_MANAGEMENT: u32 = 0x02;
const AUTONOMOUS_TRANSITIONS: u32 = 0x0c;
/// Identify: the controller's own data.
const CONTROLLER: u32 = 1;
const IDENTIFY_LEN: usize = 4096;
/// Number of power states, zero-based, in the controller's data.
const NPSS: usize = 263;
/// The first power state descriptor, and the length of each.
const DESCRIPTORS: usize = 2048;
const DESCRIPTOR_LEN: usize = 32;
/// Each autonomous transition is told in 8 bytes, for 32 states.
const TRANSITIONS_LEN: usize = 256;

/// A power state as the controller describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerStateInfo {
    /// From 0, which is the fastest.
    pub number: u8,
    /// The most it draws; absent where it does not say.
    pub watts: Option<f64>,
    /// Whether it serves I/O in this state.
    pub operational: bool,
}

/// The power states of a controller; `None` on a recorded machine, without the right to ask, or if it does not answer.
pub fn power_states(root: &Root, controller: &str) -> Option<Vec<PowerStateInfo>> {
    let file = open(root, &Name::new(controller)?).ok()?;
    let mut data = [0; IDENTIFY_LEN];
    submit(&file, &Command { opcode: IDENTIFY, cdw10: CONTROLLER, ..Command::default() }, &mut data).ok()?;
    described(&data)
}

/// The states in a controller's data.
fn described(data: &[u8]) -> Option<Vec<PowerStateInfo>> {
    let count = usize::from(*data.get(NPSS)?).min(31) + 1;
    let states = data.get(DESCRIPTORS..)?.chunks_exact(DESCRIPTOR_LEN).take(count).zip(0u8..);
    let info = |(state, number): (&[u8], u8)| {
        let (power, flags) = (u16::from_le_bytes([*state.first()?, *state.get(1)?]), *state.get(3)?);
        // Bit 0: the unit is 0.1 mW rather than 10 mW. Bit 1: serves no I/O.
        let unit = if flags & 1 == 0 { 0.01 } else { 0.0001 };
        let watts = (power != 0).then(|| f64::from(power) * unit);
        Some(PowerStateInfo { number, watts, operational: flags & 2 == 0 })
    };
    states.map(info).collect()
}

/// The power state in force.
pub(crate) fn power_state(root: &Root, controller: &Name) -> Result<u8, Errno> {
    let get = Command { opcode: GET_FEATURES, cdw10: POWER_MANAGEMENT, ..Command::default() };
    let answer = submit(&open(root, controller)?, &get, &mut [])?;
    Ok((answer & 0x1f) as u8)
}

/// Asks for a power state, without the bit that would save it beyond a reset.
pub(crate) fn set_power_state(root: &Root, controller: &Name, number: u8) -> Result<(), Errno> {
    let cdw11 = u32::from(number);
    let set = Command { opcode: SET_FEATURES, cdw10: POWER_MANAGEMENT, cdw11 };
    if number > 31 { Err(Errno::INVAL) } else { submit(&open(root, controller)?, &set, &mut []).map(drop) }
}

/// Whether the controller changes its power state by itself.
pub(crate) fn apst_enabled(root: &Root, controller: &Name) -> Result<bool, Errno> {
    let get = Command { opcode: GET_FEATURES, cdw10: AUTONOMOUS_TRANSITIONS, ..Command::default() };
    let answer = submit(&open(root, controller)?, &get, &mut [0; TRANSITIONS_LEN])?;
    Ok(answer & 1 == 1)
}

fn open(root: &Root, controller: &Name) -> Result<OwnedFd, Errno> {
    // A file of that name in a recorded tree is no controller.
    if !root.is_live() {
        return Err(Errno::OPNOTSUPP);
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    rustix::fs::open(format!("/dev/{controller}"), flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_tell_power_and_whether_io_is_served() {
        let mut data = [0; IDENTIFY_LEN];
        data[NPSS] = 2;
        data[DESCRIPTORS..DESCRIPTORS + 2].copy_from_slice(&850u16.to_le_bytes());
        data[DESCRIPTORS + 32..DESCRIPTORS + 34].copy_from_slice(&600u16.to_le_bytes());
        data[DESCRIPTORS + 64..DESCRIPTORS + 66].copy_from_slice(&50u16.to_le_bytes());
        data[DESCRIPTORS + 64 + 3] = 0b11;
        let states = described(&data).unwrap();
        let told: Vec<_> = states.iter().map(|s| (s.number, s.watts.unwrap().to_string(), s.operational)).collect();
        assert_eq!(told, [(0, "8.5".into(), true), (1, "6".into(), true), (2, "0.005".into(), false)]);
        assert_eq!(described(&[]), None);
    }
}
