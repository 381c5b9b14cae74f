//! Links: the registers of PCI Express devices, and what drives were told.

use super::{Proof, all_are, await_that};
use crate::settings::{Settings, matching, text};
use std::fs;
use std::path::Path;

const POLICY: &str = "/sys/module/pcie_aspm/parameters/policy";

/// Link Control register of a device (PCI Express Base, 7.5.3.7), from its configuration space: bits 0 and 1 allow
/// L0s and L1, bit 8 allows the clock to stop.
fn link_control(device: &Path) -> Option<u16> {
    let config = fs::read(device.join("config")).ok()?;
    let mut at = usize::from(*config.get(0x34)?);
    // A list of capabilities; the one of PCI Express has number 16.
    for _ in 0..48 {
        if *config.get(at)? == 0x10 {
            return Some(u16::from_le_bytes([*config.get(at + 0x10)?, *config.get(at + 0x11)?]));
        }
        at = usize::from(*config.get(at + 1)?);
    }
    None
}

/// Drives, not ports: those with a `link` directory that has something in it.
fn devices() -> Vec<std::path::PathBuf> {
    let with_link = |d: &std::path::PathBuf| fs::read_dir(d.join("link")).is_ok_and(|mut d| d.next().is_some());
    matching("/sys/bus/pci/devices/*").into_iter().filter(with_link).collect()
}

/// `pcie.aspm`: `performance` clears the bits of every link, the saving ones set L0s, `default` is as at the start.
pub(super) fn policy(value: &str, original: &Settings) -> Vec<Proof> {
    let chosen = text(POLICY).is_some_and(|t| t.contains(&format!("[{value}]")));
    let registers: Vec<u16> = devices().iter().filter_map(|d| link_control(d)).collect();
    let as_found = original.iter().filter(|(path, _)| path.to_string_lossy().ends_with("/link/l0s_aspm"));
    let found: Vec<bool> = as_found.map(|(_, text)| text == "1").collect();
    let now = registers.iter().map(|r| r & 1 == 1);
    let (l0s, l1) = (1, 2);
    let good = match value {
        "performance" => registers.iter().all(|r| r & (l0s | l1) == 0),
        "default" => now.eq(found.iter().copied()),
        _ => registers.iter().all(|r| r & l0s != 0),
    };
    let said = format!("link control {}", registers.iter().map(|r| format!("{r:04x}")).collect::<Vec<_>>().join(" "));
    let kernel = if chosen && good && !registers.is_empty() { Ok(said) } else { Err(said) };
    let drive = match value {
        "performance" => "link control,L0s off,L1 off",
        "default" => return vec![Proof::Kernel(kernel)],
        _ => "link control,L0s on",
    };
    vec![Proof::Kernel(kernel), Proof::Drive(drive.into())]
}

/// One bit of a device's link.
pub(super) fn bit(address: &str, bit: u16, value: &str) -> Vec<Proof> {
    let register = link_control(&Path::new("/sys/bus/pci/devices").join(address));
    let on = register.map(|r| r & bit != 0);
    let said = register.map_or("no link control register".into(), |r| format!("link control {r:04x}"));
    let kernel = if on == Some(value == "on") { Ok(said) } else { Err(said) };
    let name = match bit {
        1 => "L0s",
        2 => "L1",
        _ => "clock PM",
    };
    vec![Proof::Kernel(kernel), Proof::Drive(format!("link control,{name} {value}"))]
}

/// `pci.runtime-pm`: whether the kernel's core may suspend the device.
pub(super) fn runtime(address: &str, value: &str) -> Result<String, String> {
    let enabled = if value == "on" { "forbidden" } else { "enabled" };
    all_are(&format!("/sys/bus/pci/devices/{address}/power/runtime_enabled"), enabled)
}

/// `sata.link-power`: the drive's port is told so a moment later.
pub(super) fn sata(host: &str, value: &str) -> Vec<Proof> {
    let drive = match value {
        "max_performance" => "link:,host-initiated off,device-initiated off",
        "medium_power" => "link:,host-initiated partial,device-initiated off",
        _ => "link:,device-initiated on",
    };
    let file = format!("/sys/class/scsi_host/{host}/link_power_management_policy");
    // Error handling of the port runs it; its thread sleeps again when it is done.
    let kernel = await_that(|| {
        all_are(&file, value)?;
        let recovering = text(format!("/sys/class/scsi_host/{host}/state")).unwrap_or_default();
        if recovering == "running" { Ok(format!("{value}; port {recovering}")) } else { Err(recovering) }
    });
    std::thread::sleep(std::time::Duration::from_millis(1500));
    vec![Proof::Kernel(kernel), Proof::Drive(drive.into())]
}
