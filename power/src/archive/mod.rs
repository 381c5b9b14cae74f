//! Support archives: what the kernel says about a machine, as a tree for `--sysroot`.
//!
//! An archive holds the files of a closed list of places under `/sys` and `/proc` ([`places`]), so that whoever unpacks
//! it sees what Brakecheck sees on that machine: knobs, drives, telemetry. Serial numbers and whatever else names a
//! machine or its owner are replaced by numbered stand-ins ([`mask`]), the same by the same each time. What could not
//! be read is absent, as it is absent for Brakecheck.
//!
//! Nothing is read that changes anything by being read, and nothing in `/dev` but the latency limit.

mod collect;
mod cut;
mod mask;
mod pages;
mod pattern;
mod places;
mod tree;

use crate::root::Root;
use std::collections::BTreeMap;
use std::io::{self, Write};
use tree::{Entry, Tree};

pub use mask::Kind;

/// Where an archive says what it is and what was masked in it.
const NOTE: &str = "ARCHIVE.txt";

/// What was put into an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// Files, directories and links not counted.
    pub files: usize,
    /// Bytes of all files.
    pub bytes: u64,
    /// How many different values of each kind were masked.
    pub masked: BTreeMap<Kind, usize>,
    /// Whether some files were left out because the archive would have become too large.
    pub truncated: bool,
}

/// Writes an archive of the machine below `root` as a gzipped tar. `made_by` is said in it. Takes a second or two.
/// Fails only if it cannot be written.
pub fn write(root: &Root, made_by: &str, out: impl Write) -> io::Result<Contents> {
    let mut tree = collect::machine(root);
    let masked = mask::all(&mut tree);
    tree.add_link_targets(root);
    let contents = Contents {
        files: tree.files().count(),
        bytes: tree.files().map(|(_, data)| data.len() as u64).sum(),
        masked: masked.counts(),
        truncated: tree.truncated,
    };
    let note = masked.note(made_by, tree.truncated);
    pack(&tree, &note, out)?;
    Ok(contents)
}

fn pack(tree: &Tree, note: &str, out: impl Write) -> io::Result<()> {
    let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(out, flate2::Compression::default()));
    file(&mut tar, NOTE, note.as_bytes())?;
    for (path, entry) in &tree.entries {
        match entry {
            Entry::File(data) => file(&mut tar, path, data)?,
            Entry::Dir => tar.append_data(&mut header(tar::EntryType::Directory, 0, 0o755), path, io::empty())?,
            Entry::Link(target) => tar.append_link(&mut header(tar::EntryType::Symlink, 0, 0o777), path, target)?,
        }
    }
    tar.into_inner()?.finish()?.flush()
}

fn file(tar: &mut tar::Builder<impl Write>, path: &str, data: &[u8]) -> io::Result<()> {
    tar.append_data(&mut header(tar::EntryType::Regular, data.len() as u64, 0o644), path, data)
}

/// Without times and owners, so that archives of one machine can be compared.
fn header(kind: tar::EntryType, size: u64, mode: u32) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(mode);
    header
}
