//! What a restore left behind, one line for each knob rather than for each of its files.

use super::place;
use protocol::knob::{Knob, RestoreReport, Restored};

/// A knob that was not put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leftover {
    /// The name people know, with the instance.
    pub(crate) title: String,
    /// What happened, why.
    pub(crate) words: String,
    /// Somebody else had changed it; it can be put back all the same.
    pub(crate) foreign: bool,
}

/// Everything a restore did not put back.
pub(crate) fn leftovers(report: &RestoreReport, knobs: &[Knob]) -> Vec<Leftover> {
    let mut found: Vec<(&str, Leftover, usize)> = Vec::new();
    for item in &report.items {
        let now = item.now.as_deref().unwrap_or("unreadable");
        let words = match item.end {
            Restored::Back | Restored::Already => continue,
            Restored::Foreign => format!("somebody else changed it meanwhile; it is {now} and was {}", item.original),
            Restored::Gone => item.message.clone().unwrap_or_else(|| "it is gone; put back when it returns".into()),
            Restored::Failed => item.message.clone().unwrap_or_else(|| format!("the kernel refuses {}", item.original)),
        };
        if let Some((.., n)) = found.iter_mut().find(|(id, known, _)| *id == item.id && known.words == words) {
            *n += 1;
            continue;
        }
        let foreign = item.end == Restored::Foreign;
        found.push((&item.id, Leftover { title: name(&item.id, knobs), words, foreign }, 1));
    }
    let told = |(_, mut leftover, n): (&str, Leftover, usize)| {
        if n > 1 {
            leftover.words = format!("{} ({n} files)", leftover.words);
        }
        leftover
    };
    found.into_iter().map(told).collect()
}

/// How a knob is called: by its title if it is known, else by its id.
pub(super) fn name(id: &str, knobs: &[Knob]) -> String {
    let title = knobs.iter().find(|k| k.id == id).map(|k| k.title.as_str()).filter(|t| !t.is_empty());
    match (title, place(id)) {
        (None, _) => id.to_owned(),
        (Some(title), None) => title.to_owned(),
        (Some(title), Some(place)) => format!("{title} {place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{knob, report};
    use super::*;

    #[test]
    fn files_of_one_knob_with_one_fate_are_one_line() {
        let knobs = [Knob { title: "Governor".into(), ..knob("cpu.governor", "powersave", &[]) }];
        let told: Vec<_> = leftovers(&report(), &knobs).into_iter().map(|l| (l.title, l.words, l.foreign)).collect();
        let wanted = [
            (
                "Governor".into(),
                "somebody else changed it meanwhile; it is powersave and was performance (2 files)".into(),
                true,
            ),
            ("sata.link-power@host0".into(), "the device is gone".into(), false),
        ];
        assert_eq!(told, wanted);
    }
}
