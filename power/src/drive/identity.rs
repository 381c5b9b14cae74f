//! Model, serial number and firmware.

use super::bus::Bus;
use crate::root::Dir;

/// Who made the drive.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) model: Option<String>,
    pub(super) serial: Option<String>,
    pub(super) firmware: Option<String>,
}

/// As far as the kernel tells without asking the drive.
pub(super) fn of(drive: &Dir<'_>, bus: Option<Bus>) -> Identity {
    let device = |name: &str| drive.read(&format!("device/{name}"));
    match bus {
        Some(Bus::Nvme) => {
            Identity { model: device("model"), serial: device("serial"), firmware: device("firmware_rev") }
        }
        Some(Bus::Mmc) => Identity { model: device("name"), serial: device("serial"), firmware: device("fwrev") },
        _ => {
            let ata = drive.bytes("device/vpd_pg89").and_then(|page| AtaInformation::parse(&page));
            let ata = ata.map(|a| a.identity).unwrap_or_default();
            let vendor = device("vendor").filter(|v| v != "ATA" && !v.starts_with("0x"));
            let scsi_model = match (vendor, device("model")) {
                (Some(v), Some(m)) => Some(format!("{v} {m}")),
                (_, model) => model,
            };
            Identity {
                model: ata.model.or(scsi_model),
                serial: ata
                    .serial
                    .or_else(|| device("serial"))
                    .or_else(|| drive.read("serial"))
                    .or_else(|| vpd80(drive)),
                firmware: ata.firmware.or_else(|| device("rev")),
            }
        }
    }
}

/// Unit Serial Number page (SPC-4, 7.8.15): four bytes of header, then text.
fn vpd80(drive: &Dir<'_>) -> Option<String> {
    let page = drive.bytes("device/vpd_pg80")?;
    let text =
        String::from_utf8_lossy(page.get(4..)?).trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned();
    (!text.is_empty()).then_some(text)
}

/// The ATA Information page (SAT-3, 12.4.2) carries the drive's whole IDENTIFY DEVICE data, where SCSI's own fields
/// cut the model to 16 and the firmware to 4 characters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AtaInformation {
    pub(super) identity: Identity,
    /// Fastest SATA generation the drive can do, 1 to 3 (word 76).
    pub(super) generation: Option<u8>,
    /// Commands it queues (words 75 and 76); 1 without NCQ.
    pub(super) queue_depth: u32,
}

impl AtaInformation {
    /// Bytes before the IDENTIFY data.
    const HEADER: usize = 60;

    pub(super) fn parse(page: &[u8]) -> Option<Self> {
        let data = page.get(Self::HEADER..Self::HEADER + 512)?;
        let word = |n: usize| Some(u16::from_le_bytes([*data.get(2 * n)?, *data.get(2 * n + 1)?]));
        let text = |from: usize, to: usize| {
            // Characters are swapped within each word.
            let chars: Vec<u8> = (from..=to).filter_map(word).flat_map(u16::to_be_bytes).collect();
            let text = String::from_utf8_lossy(&chars).trim_matches(|c: char| c == ' ' || c == '\0').to_owned();
            (!text.is_empty()).then_some(text)
        };
        let sata = word(76).filter(|&w| w != 0 && w != 0xffff).unwrap_or(0);
        let queues = sata & (1 << 8) != 0;
        Some(Self {
            identity: Identity { model: text(27, 46), serial: text(10, 19), firmware: text(23, 26) },
            generation: (1..=3u8).rev().find(|g| sata & (1 << g) != 0),
            queue_depth: if queues { u32::from(word(75)? & 31) + 1 } else { 1 },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identify_data_is_read_with_its_swapped_characters() {
        let mut page = vec![0u8; 572];
        let mut put = |word: usize, text: &str| {
            for (i, pair) in text.as_bytes().chunks(2).enumerate() {
                let at = 60 + 2 * (word + i);
                page[at] = pair.get(1).copied().unwrap_or(b' ');
                page[at + 1] = pair[0];
            }
        };
        put(10, "S3Z9NB0K           ");
        put(23, "RVT04B6Q");
        put(27, "Samsung SSD 860 EVO 500GB");
        page[60 + 150] = 31;
        page[60 + 152] = 0b1110;
        page[60 + 153] = 1;
        let info = AtaInformation::parse(&page).unwrap();
        assert_eq!(info.identity.model.as_deref(), Some("Samsung SSD 860 EVO 500GB"));
        assert_eq!(info.identity.serial.as_deref(), Some("S3Z9NB0K"));
        assert_eq!(info.identity.firmware.as_deref(), Some("RVT04B6Q"));
        assert_eq!((info.generation, info.queue_depth), (Some(3), 32));
        assert_eq!(AtaInformation::parse(&page[..500]), None);
    }
}
