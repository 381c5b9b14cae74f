//! The same in shell, for whoever wants to see or do it by hand.

use super::Keeper;
use crate::journal::Record;
use crate::site::Site;

impl Keeper {
    /// Shell lines that put back everything that is ours. What somebody else has changed since is a comment.
    pub fn script(&self) -> Vec<String> {
        let mut records: Vec<&Record> = self.records.values().collect();
        records.sort_by_key(|r| (r.site.restore_rank(), r.seq));
        records.into_iter().filter_map(|r| self.line(r)).collect()
    }

    fn line(&self, record: &Record) -> Option<String> {
        let (site, original) = (&record.site, &record.original);
        let source = site.source(self.root());
        if self.kernel.is_held(site) {
            return Some(format!("# {source}: let go of by itself when Brakecheck ends"));
        }
        let now = match self.read(site) {
            Ok(now) => now,
            Err(fault) => return Some(format!("# {fault}")),
        };
        if now == *original {
            return None;
        }
        let path = quoted(&self.root().path().join(source.trim_start_matches('/')).to_string_lossy());
        let line = match site {
            Site::PowerState { .. } => format!("nvme set-feature {path} --feature-id=2 --value={original}"),
            Site::LatencyLimit => format!("printf '{}' > {path}", octal(original)),
            _ => format!("echo {} > {path}", quoted(original)),
        };
        let ours = record.top().is_none_or(|l| l.ours.as_deref().is_none_or(|ours| ours == now));
        Some(if ours && !record.foreign { line } else { format!("# somebody else set `{now}`: {line}") })
    }
}

/// The four bytes of a number as printf takes them.
fn octal(micros: &str) -> String {
    let [a, b, c, d] = micros.parse().map(i32::to_ne_bytes).unwrap_or_default();
    format!("\\{a:03o}\\{b:03o}\\{c:03o}\\{d:03o}")
}

fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:+,@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
