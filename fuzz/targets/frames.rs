#![no_main]

use fuzz::frames::Door;
use std::sync::LazyLock;

/// Both WebSockets on both listeners of a server in this process, which lives as long as it.
static DOORS: LazyLock<[Door; 4]> = LazyLock::new(fuzz::server::doors);

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((door, bytes)) = data.split_first() else { return };
    let _ = DOORS[usize::from(*door) % DOORS.len()].send(bytes);
});
