//! From kernel files to a control.

use crate::control::{Choice, Control, Write};
use crate::kernel::errno_name;
use crate::look::Look;
use crate::root::Root;
use crate::site::Site;
use rustix::io::Errno;
use std::collections::BTreeMap;

/// A place that may be written and what it says now. What is absent is not in such a list.
pub(super) type Seen = (Site, Look);

/// A word for people and the kernel's value for it.
pub(super) fn words(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(word, value)| ((*word).to_owned(), (*value).to_owned())).collect()
}

/// Words that are the kernel's own.
pub(super) fn same<'a>(values: impl IntoIterator<Item = &'a str>) -> Vec<(String, String)> {
    values.into_iter().map(|v| (v.to_owned(), v.to_owned())).collect()
}

/// The value if all agree, else each with how many have it, most frequent first: `performance x 8, powersave x 4`.
pub(crate) fn agreed(values: impl IntoIterator<Item = String>) -> Option<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for value in values {
        match counts.iter_mut().find(|(v, _)| *v == value) {
            Some((_, n)) => *n += 1,
            None => counts.push((value, 1)),
        }
    }
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    match counts.as_slice() {
        [] => None,
        [(value, _)] => Some(value.clone()),
        several => Some(several.iter().map(|(v, n)| format!("{v} x {n}")).collect::<Vec<_>>().join(", ")),
    }
}

/// Why a file's value is not known.
pub(super) fn unreadable(errno: Errno) -> String {
    match errno {
        Errno::ACCESS | Errno::PERM => "needs root to be read: start with sudo".into(),
        Errno::NODATA => "the kernel does not tell its value".into(),
        other => format!("the kernel does not tell its value ({})", errno_name(other)),
    }
}

impl Control {
    /// Files that all take the same value, such as the governors of all policies: each word is a choice. `absent` is
    /// the reason if there is no such file.
    pub(super) fn uniform(self, root: &Root, files: &[Seen], words: &[(String, String)], absent: &str) -> Self {
        let mut control = self.over(root, files, absent);
        let known = readable(files);
        let spoken = known.values().map(|value| {
            let word = words.iter().find(|(_, kernel)| kernel == value).map(|(word, _)| word);
            word.unwrap_or(value).clone()
        });
        control.value = agreed(spoken);
        let choice = |(word, value): &(String, String)| Choice {
            value: word.clone(),
            writes: known.keys().map(|site| Write { site: site.clone(), value: value.clone() }).collect(),
            disturbs: Vec::new(),
        };
        if !known.is_empty() {
            control.choices = words.iter().map(choice).collect();
        }
        control
    }

    /// Choices that each write different values to several files; `otherwise` tells what is so if none of them is.
    pub(super) fn chosen(
        self,
        root: &Root,
        files: &[Seen],
        choices: Vec<Choice>,
        otherwise: impl FnOnce() -> Option<String>,
        absent: &str,
    ) -> Self {
        let known = readable(files);
        let holds = |c: &&Choice| !c.writes.is_empty() && c.writes.iter().all(|w| known.get(&w.site) == Some(&w.value));
        let value = choices.iter().find(holds).map(|c| c.value.clone()).or_else(otherwise);
        Self { value, choices, ..self.over(root, files, absent) }
    }

    /// Source, and what stands against writing, from the files themselves.
    fn over(mut self, root: &Root, files: &[Seen], absent: &str) -> Self {
        let failed: Vec<Errno> = files.iter().filter_map(|(_, look)| look.value().err()).collect();
        self.source = files.first().map(|(site, _)| site.source(root)).unwrap_or_default();
        self.reason = match failed.first() {
            _ if files.is_empty() => Some(absent.to_owned()),
            Some(errno) if failed.len() == files.len() => Some(unreadable(*errno)),
            _ if files.iter().all(|(_, look)| !look.writable) => Some("the kernel only shows it".into()),
            _ => None,
        };
        if let (Some(errno), None) = (failed.first(), &self.reason) {
            let of = files.len();
            self.left_out = Some(format!("{} of {of} files cannot be read ({})", failed.len(), errno_name(*errno)));
            self.detail.clone_from(&self.left_out);
        }
        self
    }

    /// The first of these that is a choice saves most.
    pub(super) fn saves(mut self, values: &[&str]) -> Self {
        self.saving = self.first_of(values);
        self
    }

    /// The first of these that is a choice costs no speed.
    pub(super) fn performs(mut self, values: &[&str]) -> Self {
        self.performance = self.first_of(values);
        self
    }

    /// Cannot be set for this reason, if there is one, unless it cannot anyway.
    pub(super) fn because(mut self, reason: Option<impl Into<String>>) -> Self {
        self.reason = self.reason.or(reason.map(Into::into));
        self
    }

    /// Adds what is to be known besides.
    pub(super) fn noting(mut self, detail: Option<impl Into<String>>) -> Self {
        if let Some(more) = detail.map(Into::into) {
            self.detail = Some(self.detail.map_or(more.clone(), |text| format!("{text}; {more}")));
        }
        self
    }

    fn first_of(&self, values: &[&str]) -> Option<String> {
        values.iter().find(|v| self.choice(v).is_some()).map(|v| (*v).to_owned())
    }
}

/// What could be read, in the sites' spelling.
pub(super) fn readable(files: &[Seen]) -> BTreeMap<Site, String> {
    files.iter().filter_map(|(site, look)| Some((site.clone(), site.normalise(&look.value().ok()?)))).collect()
}

#[cfg(test)]
mod tests {
    use super::agreed;

    #[test]
    fn values_that_differ_are_counted() {
        let of = |values: &[&str]| agreed(values.iter().map(|v| (*v).to_owned()));
        assert_eq!(of(&["a", "a"]).as_deref(), Some("a"));
        assert_eq!(of(&["a", "b", "b"]).as_deref(), Some("b x 2, a x 1"));
        assert_eq!(of(&[]), None);
    }
}
