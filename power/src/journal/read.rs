//! Making sense of a journal, however it was left.

use super::entry::{Entry, Record, VERSION};
use super::line;
use crate::site::Site;
use std::collections::BTreeMap;

/// What a journal says.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) records: BTreeMap<u64, Record>,
    /// Things to know.
    pub(super) notes: Vec<String>,
    /// Why it cannot be used at all.
    pub(super) strange: Option<String>,
    /// Whether it is as this program leaves it, so that lines may be appended.
    pub(super) sound: bool,
}

/// Reads a whole file. `boot` and `root` are those of now.
pub(super) fn contents(data: &[u8], boot: &str, root: &str) -> Contents {
    let mut found = Contents::default();
    let mut damaged = 0;
    let mut header = None;
    let (whole, torn) = data.iter().rposition(|b| *b == b'\n').map_or((&[][..], data), |end| data.split_at(end + 1));
    for text in whole.split_inclusive(|b| *b == b'\n') {
        match line::parse(text.strip_suffix(b"\n").unwrap_or(text)) {
            Some(Entry::Header { version, boot, root }) => {
                // A second one follows where the file could not be written anew; what came before another boot is over.
                if header.as_ref().is_some_and(|(_, earlier, _)| *earlier != boot) {
                    found.records.clear();
                }
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
            None => damaged += 1,
        }
    }
    if damaged > 0 {
        found.notes.push(format!("{damaged} damaged lines of the journal were skipped; every intact one was used"));
    }
    found.sound = damaged == 0 && torn.is_empty() && header.is_some();
    match header {
        Some((version, ..)) if version > VERSION => {
            found.strange = Some(format!("it has version {version}, this program knows {VERSION}"));
        }
        Some((_, _, of)) if of != root => found.strange = Some(format!("it is of the tree {of}")),
        Some((_, of, _)) if of != boot => {
            if !found.records.is_empty() {
                found.notes.push("a journal of an earlier boot was dropped: settings do not outlive a boot".into());
            }
            found.records.clear();
            found.sound = false;
        }
        // Its first line is damaged; whether the rest is of this boot, only the values themselves tell.
        None if !found.records.is_empty() => {
            found.notes.push("the journal does not tell its boot any more; it was taken to be of this one".into());
        }
        Some(_) | None => {}
    }
    forget_what_is_over(&mut found.records);
    found
}

/// A site's last record counts: an earlier one was put back, and only writing that down failed.
fn forget_what_is_over(records: &mut BTreeMap<u64, Record>) {
    let last: BTreeMap<Site, u64> = records.values().map(|r| (r.site.clone(), r.seq)).collect();
    records.retain(|seq, record| last.get(&record.site) == Some(seq) && !record.is_idle());
}
