//! `brakecheck experiment compare`: experiments of several drives or hosts side by side.

use super::Globals;
use super::findings::percent;
use super::output::{self, shown};
use super::table::{Table, micros, number, whole};
use crate::experiment::{contrast, export, import};
use crate::report::letter;
use crate::runner::Runner;
use lab::side_by_side::side_by_side;
use protocol::error::ErrorBody;
use protocol::experiment::side_by_side::{Change, Side, SideBySide};
use protocol::experiment::{Base, ExperimentFile};
use std::path::Path;
use std::process::ExitCode;

/// Compares stored experiments and experiment files; `find` turns what was named into a stored one's id.
pub(super) fn run(
    names: &[String],
    globals: &Globals,
    find: &dyn Fn(&Runner, &str) -> Result<String, ErrorBody>,
) -> Result<ExitCode, ErrorBody> {
    contrast::check(names)?;
    let runner = Runner::open(globals)?;
    let side = |name: &String| -> Result<ExperimentFile, ErrorBody> {
        let path = Path::new(name);
        if name.contains('/') || path.is_file() {
            let (file, notes) = import::open(&import::file(path)?)?;
            for note in &notes {
                eprintln!("{}", shown(&format!("{name}: {note}")));
            }
            return Ok(file);
        }
        export(&runner, &find(&runner, name)?)
    };
    let compared = side_by_side(&names.iter().map(side).collect::<Result<Vec<_>, _>>()?);
    if globals.json {
        output::json(&compared)?;
    } else {
        output::text(&text(&compared))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(compared: &SideBySide) -> String {
    let mut text = sides(&compared.sides);
    text += "\n";
    if compared.differences.is_empty() {
        text += "Nothing that is known differs.\n";
    }
    for d in &compared.differences {
        text += &(shown(&d.sentence) + "\n");
    }
    format!("{text}\n{}\n{}\n{}", links(&compared.sides), speeds(compared), effects(compared))
}

fn sides(sides: &[Side]) -> String {
    let mut table = Table::new(&["", "experiment", "design", "host", "drive", "started"]).words(&[1, 2, 3, 4, 5]);
    for (n, side) in sides.iter().enumerate() {
        let host = side.host.as_deref().unwrap_or("-");
        table.row([
            letter(n).to_string(),
            side.id.clone(),
            shown(&side.title),
            shown(&if side.imported { format!("{host} (imported)") } else { host.to_owned() }),
            shown(side.drive.as_deref().unwrap_or("-")),
            side.started_at.clone(),
        ]);
    }
    table.render()
}

/// The drive's own link, and each end of every link above it.
fn links(sides: &[Side]) -> String {
    let mut table = Table::new(&["", "port", "negotiated", "possible", "ceiling MB/s"]).words(&[1, 2, 3]);
    for (n, side) in sides.iter().enumerate() {
        let mut row = |port: &str, current: &str, max: Option<&String>, ceiling: String| {
            let possible = max.map_or("-", String::as_str);
            table.row([letter(n).to_string(), shown(port), shown(current), shown(possible), ceiling]);
        };
        match &side.link {
            Some(l) => row("drive", &l.current, l.max.as_ref(), l.ceiling.map_or("-".into(), |c| number(c.mb()))),
            None => row("drive", "no link is known", None, "-".into()),
        }
        side.path.iter().for_each(|end| row(&end.address, &end.current, end.max.as_ref(), String::new()));
    }
    table.render()
}

fn speeds(compared: &SideBySide) -> String {
    let heading = [
        "workload",
        "configuration",
        "",
        "MB/s",
        "of ceiling %",
        "of one CPU %",
        "IOPS",
        "latency us",
        "n",
        "against A",
        "95 % interval",
    ];
    let mut table = Table::new(&heading).words(&[1, 2]);
    for row in &compared.speeds {
        for (n, cell) in row.cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let told = |value: Option<f64>, as_text: fn(f64) -> String| value.map_or("-".into(), as_text);
            let fastest = || format!("{} (its fastest)", cell.configuration);
            let [estimate, interval] = against(cell.against_first.as_ref());
            table.row([
                shown(&row.workload),
                shown(&row.configuration.clone().unwrap_or_else(fastest)),
                letter(n).to_string(),
                told(cell.bytes_per_second, |b| number(b / 1e6)),
                told(cell.share, |s| number(100.0 * s)),
                told(cell.cpu_percent, number),
                told(cell.iops, whole),
                told(cell.latency_ns, micros),
                cell.n.to_string(),
                estimate,
                interval,
            ]);
        }
    }
    table.render()
}

/// On the metrics that verdicts rest on.
fn effects(compared: &SideBySide) -> String {
    let heading =
        ["setting", "workload", "", "values", "verdict", "effect", "interval", "saves W", "blocks", "against A"];
    let mut table = Table::new(&heading).words(&[1, 2, 3, 4]);
    for row in compared.effects.iter().filter(|r| r.primary) {
        let rest = if row.base == Some(Base::AllSaving) { " (rest saving)" } else { "" };
        for (n, cell) in row.cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let [estimate, interval] = against(cell.against_first.as_ref());
            table.row([
                shown(&format!("{}{rest}", row.knob)),
                shown(&format!("{} {}", row.workload, row.metric)),
                letter(n).to_string(),
                shown(&format!("{} against {}", cell.to, cell.from)),
                cell.verdict.name().into(),
                cell.estimate_percent.map_or("-".into(), percent),
                range(cell.low_percent, cell.high_percent),
                cell.saves_w.map_or("-".into(), number),
                cell.blocks.to_string(),
                if interval == "-" { estimate } else { format!("{estimate} ({interval})") },
            ]);
        }
    }
    table.render()
}

/// Estimate and interval.
fn against(change: Option<&Change>) -> [String; 2] {
    change.map_or(["-".into(), "-".into()], |c| [percent(c.estimate_percent), range(c.low_percent, c.high_percent)])
}

fn range(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{low:+.1} to {high:+.1} %"),
        _ => "-".into(),
    }
}
