//! Kernel names of devices.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;

/// A name as the kernel gives it to a device: `sda`, `nvme0`, `0000:01:00.0`. Never a path: one component, no dots at
/// its start, so that it can stand in a path template without leading elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

/// The kernel's own limit for a device name (`BUS_ID_SIZE` and `DISK_NAME_LEN` are shorter).
const LONGEST: usize = 64;

impl Name {
    /// The name, if it is one.
    pub fn new(name: &str) -> Option<Self> {
        let fits = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b':' | b'.' | b'!');
        let good = (1..=LONGEST).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(fits);
        good.then(|| Self(name.to_owned()))
    }
}

impl TryFrom<String> for Name {
    type Error = String;
    fn try_from(name: String) -> Result<Self, String> {
        Self::new(&name).ok_or_else(|| format!("`{name}` is not the name of a device"))
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl Deref for Name {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Name;

    #[test]
    fn a_name_cannot_lead_elsewhere() {
        for bad in ["", ".", "..", "a/b", "/etc", "a\0b", "a b", "a\nb", &"x".repeat(65)] {
            assert_eq!(Name::new(bad), None, "{bad:?}");
        }
        for good in ["sda", "nvme0n1", "0000:01:00.0", "cciss!c0d0", "10000:e1:00.0"] {
            assert!(Name::new(good).is_some(), "{good}");
        }
    }
}
