//! What viewers on the network do not get to see: serial numbers, paths, names of users, mount options.
//!
//! The mask goes over the JSON of an answer or event as a whole, so that a field that is added later, or a path within
//! a sentence, is masked without anybody having thought of it. A path becomes its last part (`…/ssd`); kernel files
//! (`/sys`, `/proc`, `/dev/sda`) stay, since they say nothing of anybody.

mod paths;
mod users;

use paths::Paths;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Fields that identify a piece of hardware or one boot of it, or say how and by whom something was mounted.
const HIDDEN: [&str; 8] = ["serial", "wwid", "wwn", "eui", "nguid", "uuid", "boot_id", "mount_options"];
/// Fields whose text is a path as a whole, blanks included.
const PATHS: [&str; 3] = ["target", "path", "mount_point"];
/// Fields that hold no words: base64, which may have slashes in it.
const ENCODED: &str = "hist";
/// Paths and serial numbers that are remembered, so that they are found in sentences said later.
const REMEMBERED: usize = 256;

/// The mask over what this process shows.
static MASK: LazyLock<Mask> = LazyLock::new(|| Mask::new(users::of_this_host()));

/// A value as viewers get it.
pub fn masked<T: Serialize + DeserializeOwned>(value: &T) -> Result<T, serde_json::Error> {
    serde_json::from_value(MASK.over(value)?)
}

/// The JSON of a value as viewers get it.
pub fn json<T: Serialize>(value: &T) -> Result<Value, serde_json::Error> {
    MASK.over(value)
}

/// A text as viewers get it.
pub fn text(text: &str) -> String {
    MASK.sentence(text)
}

#[derive(Debug)]
struct Mask {
    paths: Paths,
    /// Paths and serial numbers that were met so far, the longest of which is looked for first.
    met: Mutex<BTreeSet<Secret>>,
}

/// A text that is not to be shown, and what stands for it. Longer ones come first: a shorter one may be part of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Secret {
    length: std::cmp::Reverse<usize>,
    text: String,
    instead: String,
}

impl Mask {
    fn new(users: BTreeSet<String>) -> Self {
        Self { paths: Paths::new(users), met: Mutex::default() }
    }

    fn over<T: Serialize>(&self, value: &T) -> Result<Value, serde_json::Error> {
        let mut value = serde_json::to_value(value)?;
        self.meet(&value);
        self.hide(&mut value);
        Ok(value)
    }

    /// Remembers what is secret in this value, so that it is found in its sentences and in later ones.
    fn meet(&self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.meet(item)),
            Value::Object(fields) => {
                for (key, field) in fields {
                    match field {
                        Value::String(text) if HIDDEN.contains(&key.as_str()) => self.remember(text, "(hidden)"),
                        Value::String(text) if PATHS.contains(&key.as_str()) => {
                            let short = self.paths.short(text);
                            // Most are found in any sentence, and so take no place from serial numbers.
                            if self.paths.within(text) != short {
                                self.remember(text, &short);
                            }
                        }
                        field => self.meet(field),
                    }
                }
            }
            _ => {}
        }
    }

    fn remember(&self, text: &str, instead: &str) {
        // Shorter ones would be found within ordinary words.
        if text.len() < 5 || text == instead {
            return;
        }
        let secret =
            Secret { length: std::cmp::Reverse(text.len()), text: text.to_owned(), instead: instead.to_owned() };
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        if met.len() < REMEMBERED {
            met.insert(secret);
        }
    }

    fn hide(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.sentence(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide(item)),
            Value::Object(fields) => {
                for (key, field) in fields.iter_mut().filter(|(key, _)| *key != ENCODED) {
                    match field {
                        Value::String(_) if HIDDEN.contains(&key.as_str()) => *field = Value::Null,
                        Value::String(text) if PATHS.contains(&key.as_str()) => *text = self.paths.short(text),
                        field => self.hide(field),
                    }
                }
            }
            _ => {}
        }
    }

    /// A text with everything masked in it that is known, or looks like a path.
    fn sentence(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in self.met.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            if text.contains(&secret.text) {
                text = text.replace(&secret.text, &secret.instead);
            }
        }
        if text.contains('/') { self.paths.within(&text) } else { text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn mask() -> Mask {
        Mask::new(["alice".to_owned()].into())
    }

    #[test]
    fn serials_paths_and_users_are_gone_wherever_they_stand() {
        let value = json!({
            "target": { "path": "/home/alice/my disk/fast ssd", "mount_point": "/home/alice", "device": "/dev/sda1",
                "mount_options": "rw,username=alice" },
            "drive": { "serial": "S3RIAL77", "model": "Quick 1000", "path": [{ "drive": "sda" }] },
            "error": { "message": "Cannot write to /home/alice/my disk/fast ssd/x: full (drive S3RIAL77).", "hint": null },
            "note": "kept as /var/lib/brakecheck/results.db, see /dev/disk/by-id/ata-S3RIAL77",
        });
        let shown = mask().over(&value).unwrap();
        let text = shown.to_string();
        for secret in ["alice", "S3RIAL77", "my disk", "/home", "/var", "by-id"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
        assert_eq!(shown["target"]["path"], "\u{2026}/fast ssd");
        assert_eq!((&shown["target"]["device"], &shown["drive"]["model"]), (&json!("/dev/sda1"), &json!("Quick 1000")));
        assert_eq!(shown["drive"]["path"], value["drive"]["path"]);
    }

    #[test]
    fn what_was_met_once_is_found_in_later_sentences() {
        let mask = mask();
        mask.over(&json!({ "target": "/mnt/a b/c d" })).unwrap();
        assert_eq!(mask.sentence("Cannot read /mnt/a b/c d: gone."), "Cannot read \u{2026}/c d: gone.");
    }

    #[test]
    fn any_number_of_targets_leaves_room_for_serial_numbers_and_odd_paths() {
        let mask = mask();
        let runs: Vec<_> = (0..2 * REMEMBERED).map(|n| json!({ "target": format!("/mnt/disk{n}/bench") })).collect();
        mask.over(&runs).unwrap();
        let odd = ["/mnt/o'brien/disk", "/mnt/a (b)/disk", "//mnt/b/disk", "/mnt/a,b/disk"];
        mask.over(&json!({ "serial": "S3RIAL77", "targets": odd.map(|path| json!({ "path": path })) })).unwrap();
        assert_eq!(mask.sentence("Drive S3RIAL77 is gone."), "Drive (hidden) is gone.");
        for path in odd.into_iter().chain(["/mnt/disk0/bench", "/mnt/disk511/bench/"]) {
            let shown = mask.sentence(&format!("Cannot read {path}: gone."));
            assert!(shown.starts_with("Cannot read \u{2026}/") && !shown.contains("mnt"), "{shown}");
            assert!(["/disk: gone.", "/bench: gone."].iter().any(|end| shown.ends_with(end)), "{shown}");
            assert_eq!(shown.matches('/').count(), 1, "{shown}");
        }
    }

    #[test]
    fn numbers_units_and_kernel_files_stay() {
        let value = json!({ "a": 1.5, "b": [true, null], "c": "523 MB/s at 4k/QD1, 1/2",
            "hist": "HISTFAAAA+/ab/cd==", "source": "/sys/devices/system/cpu/cpufreq/boost", "d": "/proc/sys/vm: and /dev/nvme0n1p2" });
        assert_eq!(mask().over(&value).unwrap(), value);
    }
}
