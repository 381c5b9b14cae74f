//! One line: a checksum (CRC-32) in eight hexadecimal digits, a space, JSON.

use super::entry::Entry;
use std::fmt::Write;

/// Appends an entry to `out`.
pub(super) fn write(entry: &Entry, out: &mut String) {
    // Its types are maps with text for keys, which JSON can say.
    let json = serde_json::to_string(entry).unwrap_or_default();
    let _ = writeln!(out, "{:08x} {json}", crc32fast::hash(json.as_bytes()));
}

/// The entry of a line without its end; `None` if it is damaged.
pub(super) fn parse(line: &[u8]) -> Option<Entry> {
    let (crc, json) = line.split_at_checked(9)?;
    let crc = u32::from_str_radix(std::str::from_utf8(crc).ok()?.strip_suffix(' ')?, 16).ok()?;
    (crc == crc32fast::hash(json)).then(|| serde_json::from_slice(json).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_any_byte_changed_is_damaged() {
        let mut text = String::new();
        let entry = Entry::Mark { seq: 7, ours: "performance".into() };
        write(&entry, &mut text);
        let line = text.trim_end().as_bytes();
        assert_eq!(parse(line), Some(entry));
        for at in 0..line.len() {
            let mut bad = line.to_vec();
            bad[at] ^= 1;
            assert_eq!(parse(&bad), None, "byte {at}");
            assert_eq!(parse(&line[..at]), None, "length {at}");
        }
    }
}
