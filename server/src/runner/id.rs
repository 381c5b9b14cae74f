//! Names and times of runs.

use jiff::{Timestamp, Unit};
use protocol::run::RunId;

/// Now, RFC 3339, UTC, to the millisecond.
pub fn now() -> String {
    let now = Timestamp::now();
    now.round(Unit::Millisecond).unwrap_or(now).to_string()
}

/// A new run id: the time to the millisecond, so that ids sort by age, and 16 random bits against collisions.
pub fn new_id() -> RunId {
    let mut random = [0; 2];
    // Without randomness the time alone still tells runs of one host apart.
    let _ = getrandom::fill(&mut random);
    format!("{}-{:04x}", Timestamp::now().strftime("%Y%m%d-%H%M%S-%3f"), u16::from_ne_bytes(random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_age_and_are_safe_in_urls() {
        let a = new_id();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let b = new_id();
        assert!(a < b, "{a} {b}");
        assert!(a.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-'), "{a}");
    }
}
