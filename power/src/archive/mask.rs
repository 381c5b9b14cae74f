//! Stand-ins for what names a machine or its owner.

use super::tree::{Entry, Tree};
use super::{pages, pattern};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What is masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Of a drive, a battery, a machine.
    SerialNumber,
    /// A drive's or a port's name that is unique in the world.
    WorldWideName,
    /// Of a filesystem, a partition, a boot.
    Uuid,
    /// Of a network card.
    Mac,
    /// Any other long number that names one thing.
    Identifier,
    /// The machine's name.
    HostName,
    /// In paths of homes and of media plugged in.
    UserName,
}

impl Kind {
    /// In words, in the plural.
    pub fn words(self) -> &'static str {
        match self {
            Self::SerialNumber => "serial numbers",
            Self::WorldWideName => "world wide names",
            Self::Uuid => "UUIDs",
            Self::Mac => "MAC addresses",
            Self::Identifier => "other identifiers",
            Self::HostName => "host names",
            Self::UserName => "user names",
        }
    }

    /// The `n`th stand-in, in the form that readers of such a thing expect.
    fn stand_in(self, n: usize) -> String {
        match self {
            Self::SerialNumber => format!("serial-{n}"),
            Self::WorldWideName => format!("name-{n}"),
            Self::Uuid => format!("00000000-0000-4000-8000-{n:012x}"),
            Self::Mac => format!("02:00:00:00:{:02x}:{:02x}", n / 256 % 256, n % 256),
            Self::Identifier => format!("identifier-{n}"),
            Self::HostName => format!("host-{n}"),
            Self::UserName => format!("user-{n}"),
        }
    }

    /// What a file of this name holds.
    fn of_file(path: &str) -> Option<Self> {
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        Some(match name {
            "serial" | "serial_number" | "unique_id" => Self::SerialNumber,
            "wwid" | "wwn" | "sas_address" | "eui" | "nguid" | "subsysnqn" | "hostnqn" => Self::WorldWideName,
            "uuid" if dir.ends_with("/dm") => Self::Identifier,
            "uuid" | "hostid" | "boot_id" => Self::Uuid,
            "hostname" => Self::HostName,
            _ => return None,
        })
    }
}

/// What was masked: the stand-in of each value, and where.
#[derive(Debug, Default)]
pub(super) struct Masked {
    stand_ins: BTreeMap<(Kind, String), String>,
    places: BTreeMap<Kind, BTreeSet<String>>,
}

/// Masks everything in the tree.
pub(super) fn all(tree: &mut Tree) -> Masked {
    let mut masked = Masked::default();
    // First what is known by its file, so that it is found elsewhere, too.
    for (path, entry) in &mut tree.entries {
        if let Entry::File(data) = entry
            && let Some(new) = masked.by_name(path, data)
        {
            *data = new;
        }
    }
    let known = masked.known();
    for (path, entry) in &mut tree.entries {
        if let Entry::File(data) = entry
            && let Ok(text) = std::str::from_utf8(data)
            && let Some(new) = masked.by_content(path, text, &known)
        {
            *data = new.into_bytes();
        }
    }
    masked
}

impl Masked {
    /// How many different values of each kind.
    pub(super) fn counts(&self) -> BTreeMap<Kind, usize> {
        self.stand_ins.keys().fold(BTreeMap::new(), |mut counts, (kind, _)| {
            *counts.entry(*kind).or_default() += 1;
            counts
        })
    }

    /// What the archive says of itself.
    pub(super) fn note(&self, made_by: &str, truncated: bool) -> String {
        let mut note = format!(
            "What the kernel says about a machine, recorded by {made_by}.\nUnpacked, it is a tree for `brakecheck --sysroot DIR`.\n\n"
        );
        if truncated {
            note += "It would have become too large: some files were left out.\n\n";
        }
        note += "These were replaced by stand-ins, the same by the same each time:\n";
        for (kind, count) in self.counts() {
            note += &["\n", kind.words(), ": ", &count.to_string(), ", in\n"].concat();
            for place in self.places.get(&kind).into_iter().flatten() {
                note += &["  ", place, "\n"].concat();
            }
        }
        if self.stand_ins.is_empty() {
            note += "nothing\n";
        }
        note
    }

    fn stand_in(&mut self, kind: Kind, value: &str, path: &str) -> String {
        self.places.entry(kind).or_default().insert(path.to_owned());
        let n = self.stand_ins.keys().filter(|(k, _)| *k == kind).count() + 1;
        self.stand_ins.entry((kind, value.to_owned())).or_insert_with(|| kind.stand_in(n)).clone()
    }

    /// A file that holds nothing but what is to be masked.
    fn by_name(&mut self, path: &str, data: &[u8]) -> Option<Vec<u8>> {
        let serial = |masked: &mut Self, serial: &str| masked.stand_in(Kind::SerialNumber, serial, path);
        if path.ends_with("/vpd_pg80") {
            let stand_in = serial(self, &pages::serial_of_pg80(data)?);
            return pages::with_pg80(data, &stand_in);
        }
        if path.ends_with("/vpd_pg89") {
            let stand_in = serial(self, &pages::serial_of_pg89(data)?);
            return pages::with_pg89(data, &stand_in);
        }
        let kind = Kind::of_file(path)?;
        let text = String::from_utf8_lossy(data);
        let value = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        if says_nothing(value) {
            return None;
        }
        let (maker, value) = if path.ends_with("/dm/uuid") { maker_of_mapping(value) } else { ("", value) };
        Some(format!("{maker}{}\n", self.stand_in(kind, value, path)).into_bytes())
    }

    /// Values that are looked for everywhere: those that are no ordinary word or number. Longest first.
    fn known(&self) -> Vec<(Kind, String, String)> {
        let telling = |kind: Kind, v: &str| match kind {
            Kind::HostName => v.len() >= 3,
            _ => v.len() >= 6 && v.bytes().any(|b| b.is_ascii_alphabetic()) || v.len() >= 8,
        };
        let known = self.stand_ins.iter().filter(|((kind, value), _)| telling(*kind, value));
        let mut known: Vec<_> = known.map(|((kind, value), new)| (*kind, value.clone(), new.clone())).collect();
        known.sort_by_key(|(_, value, _)| std::cmp::Reverse(value.len()));
        known
    }

    /// A text in which something to be masked stands somewhere; `None` if there is nothing.
    fn by_content(&mut self, path: &str, text: &str, known: &[(Kind, String, String)]) -> Option<String> {
        // A machine may be called by a word that the kernel uses too: its name is looked for where people write it.
        let known: Vec<_> = known.iter().filter(|(kind, ..)| *kind != Kind::HostName || is_by_people(path)).collect();
        let (mut new, mut rest, mut before, mut changed) = (String::new(), text, ' ', false);
        while let Some(c) = rest.chars().next() {
            let found = if before.is_ascii_alphanumeric() { None } else { self.find(path, rest, &known) };
            let (text, length) = found.unwrap_or_else(|| (String::new(), 0));
            if length > 0 {
                changed = true;
                new += &text;
            } else {
                new.push(c);
            }
            let (passed, after) = rest.split_at(length.max(c.len_utf8()));
            (before, rest) = (passed.chars().last().unwrap_or(' '), after);
        }
        changed.then_some(new)
    }

    /// The stand-in of what begins here, and the length of the original.
    fn find(&mut self, path: &str, text: &str, known: &[&(Kind, String, String)]) -> Option<(String, usize)> {
        let ends =
            |length: usize| !text.get(length..).is_some_and(|t| t.starts_with(|c: char| c.is_ascii_alphanumeric()));
        let of_known = known.iter().find(|(_, value, _)| text.starts_with(value.as_str()) && ends(value.len()));
        if let Some((kind, value, new)) = of_known {
            self.places.entry(*kind).or_default().insert(path.to_owned());
            return Some((new.clone(), value.len()));
        }
        if let Some((home, name)) = pattern::user(text).filter(|_| is_by_people(path)) {
            let stand_in = self.stand_in(Kind::UserName, name, path);
            return Some((format!("{home}{stand_in}"), home.len() + name.len()));
        }
        let (kind, length) = pattern::at_start(text)?;
        let value = text.get(..length)?;
        let is_stand_in = self.stand_ins.values().any(|s| s == value);
        (!is_stand_in).then(|| (self.stand_in(kind, value, path), length))
    }
}

/// Whether a file holds names and paths that people have chosen.
fn is_by_people(path: &str) -> bool {
    path.starts_with("proc/") || path.ends_with("/dm/name") || path.ends_with("/backing_file")
}

/// What makers of mappings put before their identifier says what the mapping is: `CRYPT-LUKS2-`, `LVM-`, `part1-mpath-`.
fn maker_of_mapping(uuid: &str) -> (&str, &str) {
    let is_maker = |w: &str| {
        matches!(w, "CRYPT" | "LVM" | "mpath" | "DMRAID" | "TEMP" | "PLAIN" | "INTEGRITY" | "VERITY")
            || w.starts_with("LUKS")
            || w.starts_with("part")
    };
    let words = uuid.split_inclusive('-').take_while(|w| w.strip_suffix('-').is_some_and(is_maker));
    uuid.split_at(words.map(str::len).sum())
}

/// Placeholders of makers who filled in nothing.
fn says_nothing(value: &str) -> bool {
    let lower = value.to_lowercase();
    let fillers =
        ["none", "unknown", "(none)", "localhost", "not specified", "default string", "to be filled by o.e.m."];
    fillers.contains(&lower.as_str()) || !value.bytes().any(|b| b.is_ascii_alphanumeric() && b != b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (path, text) in files {
            tree.put(path, Entry::File(text.as_bytes().to_vec()));
        }
        tree
    }

    fn text(tree: &Tree, path: &str) -> String {
        String::from_utf8(tree.files().find(|(p, _)| *p == path).unwrap().1.to_vec()).unwrap()
    }

    #[test]
    fn a_serial_number_has_one_stand_in_wherever_it_stands() {
        let mut tree = tree(&[
            ("sys/devices/nvme0/serial", "S5QWNG0R000001      \n"),
            ("sys/devices/nvme0/wwid", "eui.0025385b71b12345\n"),
            ("sys/devices/nvme1/serial", "S5QWNG0R000001\n"),
            ("sys/devices/nvme2/serial", "0000\n"),
            ("sys/devices/nvme2/model", "XS5QWNG0R000001 S5QWNG0R000001\n"),
            ("proc/sys/kernel/hostname", "performance\n"),
            ("proc/cmdline", "root=UUID=0b3f5f5e-4bd8-4b0c-9a3e-0000000000a1 host=performance\n"),
            ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n"),
            ("sys/devices/virtual/block/loop0/loop/backing_file", "/home/alice/disk.img\n"),
            ("sys/devices/virtual/block/dm-0/dm/uuid", "CRYPT-LUKS2-0123456789abcdef0123456789abcdef-root\n"),
        ]);
        let masked = all(&mut tree);
        assert_eq!(text(&tree, "sys/devices/nvme0/serial"), "serial-1\n");
        assert_eq!(text(&tree, "sys/devices/nvme1/serial"), "serial-1\n");
        assert_eq!(text(&tree, "sys/devices/nvme2/serial"), "0000\n");
        assert_eq!(text(&tree, "sys/devices/nvme2/model"), "XS5QWNG0R000001 serial-1\n");
        assert_eq!(text(&tree, "sys/devices/nvme0/wwid"), "name-1\n");
        assert_eq!(text(&tree, "proc/cmdline"), "root=UUID=00000000-0000-4000-8000-000000000001 host=host-1\n");
        assert_eq!(text(&tree, "sys/devices/system/cpu/cpufreq/policy0/scaling_governor"), "performance\n");
        assert_eq!(text(&tree, "sys/devices/virtual/block/loop0/loop/backing_file"), "/home/user-1/disk.img\n");
        assert_eq!(text(&tree, "sys/devices/virtual/block/dm-0/dm/uuid"), "CRYPT-LUKS2-identifier-1\n");
        let counts = masked.counts();
        assert_eq!((counts[&Kind::SerialNumber], counts[&Kind::HostName], counts[&Kind::Uuid]), (1, 1, 1));
        let note = masked.note("brakecheck 1", false);
        assert!(note.contains("serial numbers: 1, in\n  sys/devices/nvme0/serial\n"), "{note}");
        assert!(!note.contains("S5QWNG0R000001"));
    }
}
