//! Lines that no tool reads.

use super::choice::{Choice, Choices};
use crate::report::markup::invisible;
use protocol::experiment::Use;
use std::fmt::Write;

/// Characters of a line, so that it can be read in an editor.
const WIDTH: usize = 110;

/// Text as lines that begin with `# `. It cannot end its line, go on behind it, or turn it around. ASCII alone: a tool
/// may read its file in the C locale.
pub(super) fn comment(out: &mut String, text: &str) {
    let clean = |c: char| match c {
        '\u{2212}' | '\u{2013}' => '-',
        '\u{201c}' | '\u{201d}' => '"',
        // At the end of a line it would join the next one to it.
        '\\' => '/',
        c if invisible(c) || c.is_whitespace() => ' ',
        c if c.is_ascii() => c,
        _ => '?',
    };
    let text: String = text.chars().map(clean).collect();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + word.chars().count() >= WIDTH {
            let _ = writeln!(out, "# {line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if line.is_empty() {
        out.push_str("#\n");
    } else {
        let _ = writeln!(out, "# {line}");
    }
}

/// What every file begins with: where it comes from, what for, how to apply and how to undo it.
pub(super) fn head(out: &mut String, choices: &Choices<'_>, how: &[&str]) {
    let record = &choices.file.experiment;
    let drive = record.drive.as_ref().and_then(|d| d.model.as_deref()).unwrap_or("an unknown drive");
    let host = record.host.hostname.as_deref().unwrap_or("an unknown host");
    let on = format!("on {host}, {drive}, {}", record.started_at);
    comment(out, &format!("Brakecheck {}, experiment {}, {on}.", record.version, record.id));
    comment(out, &format!("For {}. {}", purpose(choices.purpose), choices.file.report.headline));
    comment(out, "Percentages are changes of performance by the saving value; the intervals hold together.");
    if choices.settings.is_empty() {
        comment(out, "No change is recommended, so there is nothing to set here.");
        return;
    }
    for line in how {
        comment(out, line);
    }
    let of_devices = choices.settings.iter().any(|s| s.id.contains('@'));
    if let Some(drive) = record.drive.as_ref().filter(|_| of_devices) {
        let serial = drive.serial.as_deref().unwrap_or("unknown");
        let model = drive.model.as_deref().unwrap_or("unknown");
        let name = &drive.name;
        comment(
            out,
            &format!("Kernel names can change from boot to boot. Measured was {name}: {model}, serial {serial}."),
        );
    }
}

/// A file of comments alone, for when the form has nothing that could be applied: each setting with the reason.
pub(super) fn nothing(choices: &Choices<'_>) -> String {
    let mut out = String::new();
    head(&mut out, choices, &["Nothing of this can be set in this form."]);
    for choice in &choices.settings {
        setting(&mut out, choice);
    }
    tail(&mut out, choices);
    out
}

/// A setting: what it is set to, what it was, and what was measured of it.
pub(super) fn setting(out: &mut String, choice: &Choice<'_>) {
    out.push('\n');
    let found = choice.found.map_or(String::new(), |found| format!(" (was {found})"));
    comment(out, &format!("{}, {}: {}{found}", choice.title, choice.id, choice.value));
    for line in &choice.why {
        comment(out, line);
    }
    if let Err(reason) = &choice.recipe {
        comment(out, &format!("Not set here: {reason}."));
    }
}

/// What is not set at all.
pub(super) fn tail(out: &mut String, choices: &Choices<'_>) {
    if !choices.left_out.is_empty() {
        out.push('\n');
        comment(out, "Left as they are:");
        for line in &choices.left_out {
            comment(out, line);
        }
    }
}

pub(super) fn purpose(purpose: Use) -> &'static str {
    match purpose {
        Use::Latency => "latency: single accesses answered fast",
        Use::Throughput => "throughput: much data, many accesses at once",
        Use::Battery => "battery: as little power as possible",
    }
}

#[cfg(test)]
mod tests {
    use super::comment;

    #[test]
    fn a_comment_stays_one() {
        let mut out = String::new();
        comment(&mut out, "a\nrm -rf /\u{2028}\r$(reboot) \\");
        assert_eq!(out, "# a rm -rf / $(reboot) /\n");
        out.clear();
        comment(&mut out, &"word ".repeat(60));
        assert!(out.lines().count() > 2 && out.lines().all(|l| l.starts_with("# ") && l.len() < 120), "{out}");
    }
}
