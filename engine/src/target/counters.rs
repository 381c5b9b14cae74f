//! What the block layer counts for a device: /sys/dev/block/MAJOR:MINOR/stat
//! (Documentation/block/stat.rst). Sectors there are 512 bytes whatever the device's own block size.

use protocol::result::BlockCounters;
use protocol::units::Bytes;

/// The counters now; `None` where the device has none.
pub(crate) fn read((major, minor): (u32, u32)) -> Option<BlockCounters> {
    parse(&std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/stat")).ok()?)
}

fn parse(stat: &str) -> Option<BlockCounters> {
    let v: Vec<u64> = stat.split_ascii_whitespace().map_while(|f| f.parse().ok()).collect();
    Some(BlockCounters {
        read_ios: *v.first()?,
        read_bytes: Bytes(v.get(2)?.wrapping_mul(512)),
        write_ios: *v.get(4)?,
        write_bytes: Bytes(v.get(6)?.wrapping_mul(512)),
    })
}

/// What was added since `earlier`.
pub(crate) fn since(now: BlockCounters, earlier: BlockCounters) -> BlockCounters {
    BlockCounters {
        read_ios: now.read_ios.saturating_sub(earlier.read_ios),
        read_bytes: Bytes(now.read_bytes.0.saturating_sub(earlier.read_bytes.0)),
        write_ios: now.write_ios.saturating_sub(earlier.write_ios),
        write_bytes: Bytes(now.write_bytes.0.saturating_sub(earlier.write_bytes.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_columns_are_read() {
        let c = parse("  100 3 1600 50 20 1 320 9 0 44 59 0 0 0 0 0 0\n").unwrap();
        assert_eq!((c.read_ios, c.read_bytes, c.write_ios, c.write_bytes), (100, Bytes(819_200), 20, Bytes(163_840)));
        assert_eq!(parse("1 2 3"), None);
    }
}
