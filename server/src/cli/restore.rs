//! `brakecheck restore`: puts settings back, with or without a server.

use super::Globals;
use super::journal::{self, Settings};
use super::output::{self, shown};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::knob::{RestoreReport, Restored};
use std::process::ExitCode;

/// Options of `restore`.
#[derive(Debug, clap::Args)]
pub struct RestoreArgs {
    /// Print what would be done, as lines for a shell, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Overwrite what somebody else has changed meanwhile, too
    #[arg(long)]
    force: bool,
    /// Leave alone what `knobs set` has set; this is what is run when a server has ended
    #[arg(long)]
    session: bool,
}

/// Runs the subcommand.
pub fn run(args: &RestoreArgs, globals: &Globals) -> Result<ExitCode, ErrorBody> {
    if args.dry_run {
        let settings = journal::open(globals, false)?;
        let script = settings.as_ref().map(Settings::script).transpose()?.unwrap_or_default();
        if globals.json {
            output::json(&script)?;
        } else {
            output::text(&script.iter().map(|line| line.clone() + "\n").collect::<String>())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let report = match journal::take_over(globals)? {
        Some(mut settings) if args.session => settings.end_session(args.force)?,
        Some(mut settings) => settings.restore(args.force)?,
        None => RestoreReport::default(),
    };
    if globals.json {
        output::json(&report)?;
    } else {
        output::text(&text(&report))?;
    }
    let code = if report.is_complete() { 0 } else { ErrorCode::RestoreIncomplete.exit_code() };
    Ok(ExitCode::from(code))
}

/// A line for each file that did not simply go back, then a sum.
fn text(report: &RestoreReport) -> String {
    let count = |end: Restored| report.items.iter().filter(|item| item.end == end).count();
    let mut lines: Vec<String> = report.notes.iter().map(|note| shown(note)).collect();
    for item in &report.items {
        let words = match (item.end, &item.message) {
            (Restored::Back | Restored::Already, None) => continue,
            (_, Some(message)) => message.clone(),
            (end, None) => format!("{end:?}").to_lowercase(),
        };
        lines.push(shown(&format!("{}: {}: {words}", item.id, item.source)));
    }
    let back = count(Restored::Back) + count(Restored::Already);
    lines.push(match (report.items.len(), report.is_complete()) {
        (0, true) => "Nothing to put back: no setting is changed by Brakecheck.".into(),
        (0, false) => "Nothing was put back; whether a setting is still changed is not known.".into(),
        (all, true) if all == back => format!("Everything is back: {}.", files(all)),
        (all, false) if all == back => format!("Back: {}; whether another is still changed is not known.", files(all)),
        (all, _) => format!("{back} of {} {} back.", files(all), if all == 1 { "is" } else { "are" }),
    });
    lines.into_iter().map(|line| line + "\n").collect()
}

fn files(n: usize) -> String {
    if n == 1 { "1 kernel file".into() } else { format!("{n} kernel files") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::knob::RestoredItem;

    #[test]
    fn what_did_not_go_back_is_named() {
        let item = |end, message: Option<&str>| RestoredItem {
            id: "cpu.turbo".into(),
            source: "/sys/x".into(),
            original: "0".into(),
            now: None,
            end,
            message: message.map(Into::into),
        };
        let of = |items: Vec<RestoredItem>| text(&RestoreReport { items, ..RestoreReport::default() });
        assert!(of(vec![]).starts_with("Nothing to put back"));
        assert_eq!(of(vec![item(Restored::Back, None)]), "Everything is back: 1 kernel file.\n");
        let text = of(vec![item(Restored::Failed, Some("no"))]);
        assert!(text.ends_with("\n0 of 1 kernel file is back.\n"), "{text}");
        let text = of(vec![item(Restored::Back, None), item(Restored::Gone, Some("no such device"))]);
        assert_eq!(text, "cpu.turbo: /sys/x: no such device\n1 of 2 kernel files are back.\n");
    }
}
