//! Serial numbers in the binary pages that SCSI disks tell about themselves.

/// Unit Serial Number page (SPC-4, 7.8.15): four bytes of header, of which two are the length, then text.
pub(super) fn serial_of_pg80(page: &[u8]) -> Option<String> {
    text(page.get(4..)?)
}

/// The page with another serial number.
pub(super) fn with_pg80(page: &[u8], serial: &str) -> Option<Vec<u8>> {
    let length = u16::try_from(serial.len()).ok()?;
    let kind = page.get(..2)?;
    Some([kind, &length.to_be_bytes(), serial.as_bytes()].concat())
}

/// IDENTIFY DEVICE data in the ATA Information page (SAT-3, 12.4.2): words 10 to 19 are the serial number, its
/// characters swapped within each word; 108 to 111 are the world wide name.
const SERIAL: std::ops::Range<usize> = 60 + 20..60 + 40;
const NAME: std::ops::Range<usize> = 60 + 216..60 + 224;

/// The serial number in an ATA Information page.
pub(super) fn serial_of_pg89(page: &[u8]) -> Option<String> {
    text(&swapped(page.get(SERIAL)?))
}

/// The page with another serial number and without a world wide name.
pub(super) fn with_pg89(page: &[u8], serial: &str) -> Option<Vec<u8>> {
    let mut page = page.to_vec();
    let mut padded = [b' '; 20];
    for (place, byte) in padded.iter_mut().zip(serial.bytes()) {
        *place = byte;
    }
    page.get_mut(SERIAL)?.copy_from_slice(&swapped(&padded));
    page.get_mut(NAME)?.fill(0);
    Some(page)
}

fn swapped(bytes: &[u8]) -> Vec<u8> {
    bytes.chunks_exact(2).flat_map(|pair| pair.iter().rev().copied()).collect()
}

fn text(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_in_pages_are_replaced() {
        let page = with_pg80(&[0, 0x80, 0, 3, b'a', b'b', b'c'], "serial-1").unwrap();
        assert_eq!((serial_of_pg80(&page).as_deref(), page[3]), (Some("serial-1"), 8));
        let page = with_pg89(&[7; 572], "serial-12").unwrap();
        assert_eq!(serial_of_pg89(&page).as_deref(), Some("serial-12"));
        assert_eq!((page.len(), page[60 + 216], page[60 + 215]), (572, 0, 7));
        assert_eq!((with_pg89(&[7; 90], "x"), serial_of_pg80(&[0, 0])), (None, None));
    }
}
