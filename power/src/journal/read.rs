//! Making sense of a journal, however it was left.

use super::entry::{Damage, Entry, Record, VERSION};
use super::line;
use crate::site::Site;
use std::collections::BTreeMap;

/// What stands for the boot where the machine does not tell it.
pub(super) const UNKNOWN_BOOT: &str = "unknown";

/// What a journal says.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) records: BTreeMap<u64, Record>,
    /// Things to know.
    pub(super) notes: Vec<String>,
    /// Damage of earlier journals that was not reported yet.
    pub(super) known_damage: Vec<Damage>,
    /// The boot that it is of.
    pub(super) boot: Option<String>,
    /// Lines that cannot be read, the first one included where it is missing.
    pub(super) damaged: u32,
    /// Bytes up to the end of the last whole line. What follows was torn, and never counted.
    pub(super) whole: u64,
    /// Why it cannot be used at all.
    pub(super) strange: Option<String>,
    /// Whether it is as this program leaves it, so that lines may be appended.
    pub(super) sound: bool,
}

/// Reads a whole file. `boot` and `root` are those of now.
pub(super) fn contents(data: &[u8], boot: &str, root: &str) -> Contents {
    let mut found = Contents::default();
    let (mut header, mut headers): (Option<(u32, String, String)>, u32) = (None, 0);
    let whole = data.iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
    found.whole = whole as u64;
    for text in data.get(..whole).unwrap_or_default().split_inclusive(|b| *b == b'\n') {
        match line::parse(text.strip_suffix(b"\n").unwrap_or(text)) {
            Some(Entry::Header { version, boot, root }) => {
                // A second one follows where the file could not be written anew; what came before another boot is over.
                if header.as_ref().is_some_and(|(_, earlier, _)| is_other_boot(earlier, &boot)) {
                    found.forget();
                }
                headers += 1;
                header = Some((version, boot, root));
            }
            Some(Entry::Record(record)) => {
                found.records.insert(record.seq, record);
            }
            Some(Entry::Mark { seq, ours }) => {
                if let Some(layer) = found.records.get_mut(&seq).and_then(|r| r.layers.last_mut()) {
                    layer.ours = Some(ours);
                }
            }
            Some(Entry::Damage(damage)) => found.known_damage.push(damage),
            None => found.damaged += 1,
        }
    }
    match header {
        Some((version, ..)) if version > VERSION => {
            found.strange = Some(format!("it has version {version}, this program knows {VERSION}"));
        }
        Some((_, _, of)) if of != root => found.strange = Some(format!("it is of the tree {of}")),
        Some((_, of, _)) if is_other_boot(&of, boot) => {
            if !found.records.is_empty() {
                found.notes.push("a journal of an earlier boot was dropped: settings do not outlive a boot".into());
            }
            found.forget();
        }
        Some((_, of, _)) => {
            found.sound = found.damaged == 0 && headers == 1 && (*of == *boot || boot == UNKNOWN_BOOT);
            found.boot = Some(of);
        }
        // It is made with its first line in it. Whether the rest is of this boot, only the values themselves tell.
        None => found.damaged = found.damaged.max(1),
    }
    forget_what_is_over(&mut found.records);
    found
}

impl Contents {
    fn forget(&mut self) {
        self.records.clear();
        self.known_damage.clear();
        self.damaged = 0;
    }
}

/// What is unknown is not different.
pub(super) fn is_other_boot(a: &str, b: &str) -> bool {
    a != b && a != UNKNOWN_BOOT && b != UNKNOWN_BOOT
}

/// A site's last record counts: an earlier one was put back, and only writing that down failed.
fn forget_what_is_over(records: &mut BTreeMap<u64, Record>) {
    let last: BTreeMap<Site, u64> = records.values().map(|r| (r.site.clone(), r.seq)).collect();
    records.retain(|seq, record| last.get(&record.site) == Some(seq) && !record.is_idle());
}
