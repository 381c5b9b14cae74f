//! Paths, alone and within sentences.

use std::collections::BTreeSet;

/// Stands for what was left out of a path.
const LEFT_OUT: &str = "\u{2026}";
/// Beginnings of what is no secret: kernel files, and addresses of this very server.
const PLAIN: [&str; 4] = ["/sys/", "/proc/", "/api/", "/ws/"];

/// Masks paths. A last part that is a user's name, or may be one, is left out, too.
#[derive(Debug)]
pub(super) struct Paths {
    users: BTreeSet<String>,
}

impl Paths {
    pub(super) fn new(users: BTreeSet<String>) -> Self {
        Self { users }
    }

    /// Whether this path is shown as it is.
    pub(super) fn is_plain(path: &str) -> bool {
        let device = path.strip_prefix("/dev/").is_some_and(|name| name.bytes().all(|b| b.is_ascii_alphanumeric()));
        device || path == "/" || PLAIN.iter().any(|plain| path.starts_with(plain)) && !path.contains("/by-")
    }

    /// A path, which may have blanks in it, as viewers see it.
    pub(super) fn short(&self, path: &str) -> String {
        if Self::is_plain(path) {
            return path.to_owned();
        }
        let (above, last) = last_part(path);
        let home = above.rsplit('/').next().is_some_and(|part| matches!(part, "home" | "users"));
        if last.is_empty() || home || last == "root" || self.users.contains(last) || path.starts_with("/dev/") {
            return LEFT_OUT.to_owned();
        }
        // One that is already short, or has no parts, stays so.
        if above.is_empty() && !path.starts_with('/') { last.to_owned() } else { format!("{LEFT_OUT}/{last}") }
    }

    /// A sentence with each path in it masked. A path begins with a slash that follows no letter or digit, and ends at
    /// a blank, a quotation mark, a bracket, or a punctuation mark.
    pub(super) fn within(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut before = None;
        while let Some(first) = rest.chars().next() {
            if first == '/' && before.is_none_or(begins_after) {
                let end = rest.find(ends_at).unwrap_or(rest.len());
                let (token, tail) = rest.split_at(end);
                let path = token.trim_end_matches(['.', ':']);
                // Two slashes are those of an address on the net.
                out.push_str(&if path.starts_with("//") { path.to_owned() } else { self.short(path) });
                out.push_str(token.strip_prefix(path).unwrap_or_default());
                (before, rest) = (token.chars().next_back(), tail);
            } else {
                out.push(first);
                (before, rest) = (Some(first), rest.strip_prefix(first).unwrap_or_default());
            }
        }
        out
    }
}

/// What is above, and the last part.
fn last_part(path: &str) -> (&str, &str) {
    let path = path.trim_end_matches('/');
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Whether a path may begin after this character. What follows the mark of a path that is short already is its rest.
fn begins_after(before: char) -> bool {
    !before.is_alphanumeric() && !matches!(before, '/' | '\u{2026}' | '.' | '-' | '_' | '%')
}

fn ends_at(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ')' | ']' | '}' | '>' | '<' | ',' | ';' | '|' | '?' | '#')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths() -> Paths {
        Paths::new(["bob".to_owned()].into())
    }

    #[test]
    fn a_path_is_its_last_part() {
        let cases = [
            ("/mnt/ssd", "\u{2026}/ssd"),
            ("/mnt/ssd/", "\u{2026}/ssd"),
            ("/home/carol", "\u{2026}"),
            ("/root", "\u{2026}"),
            ("/mnt/bob", "\u{2026}"),
            ("/dev/disk/by-id/ata-X", "\u{2026}"),
            ("/dev/mapper/luks-1", "\u{2026}"),
            ("/dev/nvme0n1", "/dev/nvme0n1"),
            ("/", "/"),
            ("a/b", "\u{2026}/b"),
            ("\u{2026}/ssd", "\u{2026}/ssd"),
        ];
        for (path, short) in cases {
            assert_eq!(paths().short(path), short, "{path}");
        }
    }

    #[test]
    fn paths_are_found_in_sentences() {
        let cases = [
            (
                "Cannot write here: /mnt/x/ssd is mounted read-only.",
                "Cannot write here: \u{2026}/ssd is mounted read-only.",
            ),
            ("(/a/b), `/c/d`, \"/e/f\": x=/g/h.", "(\u{2026}/b), `\u{2026}/d`, \"\u{2026}/f\": x=\u{2026}/h."),
            ("nas:/export/bob", "nas:\u{2026}"),
            ("\u{2026}/ssd", "\u{2026}/ssd"),
            ("~/secret/x", "~\u{2026}/x"),
            ("3 MB/s, and/or, 1/2", "3 MB/s, and/or, 1/2"),
            ("There is nothing at /api/v1/x.", "There is nothing at /api/v1/x."),
        ];
        for (text, masked) in cases {
            assert_eq!(paths().within(text), masked);
        }
    }
}
