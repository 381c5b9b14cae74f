//! `brakecheck knobs`: the host's settings, listed and set.

use super::Globals;
use super::journal::{self, Settings};
use super::output::{self, shown};
use super::table::Table;
use crate::privilege;
use crate::settings::{lifetime, wishes};
use power::broker::Sentinel;
use power::site::Site;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::knob::{Assignment, Group, Knob, Lifetime, Origin, Outcome, Verdict};
use protocol::power::{PowerState, SetAnswer, SetRequest};
use protocol::units::Seconds;
use rustix::fs::{Mode, OFlags};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Values of one knob that are listed in full; of more, the first and the last are.
const MANY: usize = 10;

/// Options of `knobs`.
#[derive(Debug, clap::Args)]
pub struct KnobsArgs {
    /// What to do; `list` when absent.
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Every setting of this host, its value, and what it can be set to or why not
    List,
    /// Set some; they stay until `brakecheck restore` or a reboot
    Set {
        /// Which to what: cpu.turbo=off
        #[arg(required = true, value_name = "ID=VALUE", value_parser = assignment)]
        set: Vec<Assignment>,
        /// Put them back by themselves after this time: 10m
        #[arg(long = "for", value_name = "TIME")]
        time: Option<Seconds>,
    },
}

fn assignment(text: &str) -> Result<Assignment, String> {
    let (id, value) = text.split_once('=').ok_or("write ID=VALUE, as in cpu.turbo=off")?;
    Ok(Assignment { id: id.into(), value: value.into() })
}

/// Runs the subcommand.
pub fn run(args: &KnobsArgs, globals: &Globals) -> Result<ExitCode, ErrorBody> {
    match &args.command {
        None | Some(Command::List) => {
            let state = journal::list(globals)?;
            if globals.json {
                output::json(&state)?;
            } else {
                output::text(&table(&state))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Set { set, time }) => self::set(set, *time, globals),
    }
}

fn set(set: &[Assignment], time: Option<Seconds>, globals: &Globals) -> Result<ExitCode, ErrorBody> {
    let stays = match time {
        // Rounded up: a setting is not to go before its time.
        Some(time) => Lifetime::For { seconds: u32::try_from(time.0.0.div_ceil(1_000_000)).unwrap_or(u32::MAX) },
        None => Lifetime::Kept,
    };
    let request = SetRequest { set: set.to_vec(), lifetime: Some(stays), ..SetRequest::default() };
    let stays = lifetime(&request)?;
    // What is wrong in itself is said to everybody, with rights or without.
    let listed = journal::list(globals)?;
    let wishes = wishes(&request, &PowerState { read_only: None, ..listed.clone() })?;
    for knob in listed.knobs.iter().filter(|k| wishes.iter().any(|w| w.id == k.id)) {
        refuse_risk(knob)?;
    }

    // From here on, what was begun is ended.
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let failed = |e| ErrorBody::new(ErrorCode::Internal, format!("Signals cannot be handled: {e}."));
        signal_hook::flag::register(signal, Arc::clone(&interrupted)).map_err(failed)?;
    }
    let mut settings = journal::open(globals, true)?
        .ok_or_else(|| ErrorBody::new(ErrorCode::Internal, "There is no place for the journal of settings."))?;
    if let Settings::Own(keeper) = &settings {
        let held = [Site::LatencyLimit, Site::ProfileHold].map(|site| site.source(keeper.root()));
        let chosen = |k: &&Knob| held.contains(&k.source) && wishes.iter().any(|w| w.id == k.id);
        listed.knobs.iter().find(chosen).map_or(Ok(()), refuse_hold)?;
    }
    let sentinel = match (&settings, stays) {
        (Settings::Own(_), Lifetime::For { .. }) => Some(sentinel(globals)?),
        _ => None,
    };
    let outcomes = settings.set(&wishes, stays);
    // Frees the journal for the sentinel, which puts back when the time is over.
    drop(settings);
    if let Some(sentinel) = sentinel {
        sentinel.hand_over();
    }
    let answer = SetAnswer { outcomes: outcomes? };
    if globals.json {
        output::json(&answer)?;
    } else {
        output::text(&answer.outcomes.iter().map(|o| shown(&told(o)) + "\n").collect::<String>())?;
    }
    let code = if interrupted.load(Ordering::Relaxed) { Some(ErrorCode::Interrupted) } else { code(&answer.outcomes) };
    Ok(ExitCode::from(code.map_or(0, ErrorCode::exit_code)))
}

/// What can make the host unusable is only set where it falls back by itself.
fn refuse_risk(knob: &Knob) -> Result<(), ErrorBody> {
    let Some(risk) = knob.risk.as_ref().filter(|_| knob.writable) else { return Ok(()) };
    Err(ErrorBody::new(ErrorCode::NotPermitted, format!("{} is not set from here: {risk}.", knob.id))
        .hint("Set it on the page of `brakecheck serve`: there it falls back by itself unless you confirm it."))
}

/// What the kernel takes back from a process that ends cannot be left set by one.
fn refuse_hold(knob: &Knob) -> Result<(), ErrorBody> {
    let what = format!("{} is in force only while a process holds it, and this one ends at once.", knob.id);
    Err(ErrorBody::new(ErrorCode::NotPermitted, what).hint("Set it while `brakecheck serve` runs."))
}

/// Outlives this process, and needs no terminal.
fn sentinel(globals: &Globals) -> Result<Sentinel, ErrorBody> {
    let failed = |e: std::io::Error| {
        ErrorBody::new(ErrorCode::Internal, format!("Nothing was set: nobody could put it back in time: {e}."))
    };
    let journal = privilege::journal(&globals.state()?)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let journal = rustix::fs::open(&journal, flags, Mode::empty()).map_err(|e| failed(e.into()))?;
    let mut command = privilege::sentinel(&globals.root()?);
    command.stderr(Stdio::null());
    Sentinel::start(command, std::os::fd::AsFd::as_fd(&journal)).map_err(failed)
}

/// One line for one wish.
fn told(outcome: &Outcome) -> String {
    let now = outcome.value.as_deref().unwrap_or("unknown");
    let end = match outcome.verdict {
        Verdict::Applied => return format!("{}: {now}", outcome.id),
        Verdict::Unchanged => return format!("{}: {now}, as it was", outcome.id),
        Verdict::Clamped => "the kernel took another value",
        Verdict::Ignored => "the kernel changed nothing",
        Verdict::Failed => "failed",
        Verdict::Refused => "refused",
    };
    let why = outcome.message.as_ref().map(|m| format!(": {m}")).unwrap_or_default();
    format!("{}: not {} but {now}: {end}{why}", outcome.id, outcome.wanted)
}

/// What the command ends with, if not everything is as wanted.
fn code(outcomes: &[Outcome]) -> Option<ErrorCode> {
    if outcomes.iter().any(|o| o.verdict == Verdict::Refused) {
        return Some(ErrorCode::NotPermitted);
    }
    outcomes.iter().any(|o| !o.verdict.is_done()).then_some(ErrorCode::RunFailed)
}

/// Groups in the order of the path from platform to queue.
fn table(state: &PowerState) -> String {
    let mut table = Table::new(&["", "now", "can be set to, or why not"]).words(&[1, 2]);
    let groups = Group::ALL.into_iter().map(Some).chain([None]);
    for group in groups {
        let knobs: Vec<&Knob> = state.knobs.iter().filter(|k| k.group == group).collect();
        if !knobs.is_empty() {
            table.row([group.map_or("Other", Group::title)]);
        }
        for knob in knobs {
            let now = knob.value.as_deref().unwrap_or("-");
            table.row([format!("  {}", knob.id), shown(now), shown(&note(knob))]);
        }
    }
    let mut text = table.render();
    for line in state.notes.iter().chain(&state.daemons).chain(&state.read_only) {
        text += &(shown(line) + "\n");
    }
    text
}

fn note(knob: &Knob) -> String {
    let mut parts = Vec::new();
    match (&knob.reason, knob.values.as_slice()) {
        (Some(reason), _) if !knob.writable => parts.push(reason.clone()),
        (_, [first, .., last]) if knob.values.len() > MANY => {
            parts.push(format!("{first} to {last}, {} values", knob.values.len()));
        }
        (_, values) => parts.push(values.join(" ")),
    }
    let was = knob.original.as_deref().unwrap_or("unknown");
    match knob.origin {
        Origin::Found => {}
        Origin::Ours => parts.push(format!("set by Brakecheck; was {was}")),
        Origin::Foreign => parts.push(format!("set by Brakecheck, then by somebody else; was {was}")),
    }
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_says_value_choice_and_reason() {
        let knob = |id: &str, group, value: Option<&str>, values: &[&str]| Knob {
            id: id.into(),
            group: Some(group),
            value: value.map(Into::into),
            values: values.iter().map(ToString::to_string).collect(),
            writable: !values.is_empty(),
            ..Knob::default()
        };
        let turbo = Knob {
            origin: Origin::Ours,
            original: Some("on".into()),
            ..knob("cpu.turbo", Group::Cpu, Some("off"), &["on", "off"])
        };
        let aspm = Knob { reason: Some("firmware owns ASPM".into()), ..knob("pcie.aspm", Group::Pcie, None, &[]) };
        let text = table(&PowerState { knobs: vec![aspm, turbo], ..PowerState::default() });
        let wanted = "             now  can be set to, or why not\nCPU\n  cpu.turbo  off  on off; set by Brakecheck; was on\n\
            PCI Express\n  pcie.aspm  -    firmware owns ASPM\n";
        assert_eq!(text, wanted);
    }

    #[test]
    fn an_assignment_may_have_the_sign_in_its_value() {
        assert_eq!(assignment("a=b=c").unwrap().value, "b=c");
        assert!(assignment("cpu.turbo").is_err());
    }
}
