//! `make perf`: what Brakecheck costs, side by side with fio.
//!
//! Both tools read the same file in the same minute, in turn (A B A B ...), pinned to the same CPU; each figure is
//! the median of five runs. The file is read only. Exit code 1 when a bar is missed.

mod file;
mod page;
mod tool;

use anyhow::{Result, bail};
use std::path::PathBuf;
use std::time::Duration;
use tool::{Run, Tool, Workload, median, paired};

/// How thorough to be.
struct Plan {
    page_only: bool,
    rounds: usize,
    runtime: Duration,
    dir: PathBuf,
}

/// One row of the table.
struct Row {
    figure: String,
    theirs: String,
    ours: String,
    value: f64,
    bar: Bar,
}

/// What a figure must reach.
#[derive(Clone, Copy)]
enum Bar {
    AtLeast(f64),
    AtMost(f64),
}

impl Row {
    fn passed(&self) -> bool {
        match self.bar {
            Bar::AtLeast(bar) => self.value >= bar,
            Bar::AtMost(bar) => self.value <= bar,
        }
    }

    fn print(&self) {
        let bar = match self.bar {
            Bar::AtLeast(bar) => format!(">= {bar:.2}"),
            Bar::AtMost(bar) => format!("<= {bar:.2}"),
        };
        let verdict = if self.passed() { "pass" } else { "MISSED" };
        println!("{:<58} {:>12} {:>12} {:>8.2} {bar:>9}  {verdict}", self.figure, self.theirs, self.ours, self.value);
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let plan = plan()?;
    warn_if_busy()?;
    let file = file::cached(&plan.dir)?;
    println!("{:<58} {:>12} {:>12} {:>8} {:>9}", "figure", "fio", "brakecheck", "ratio", "bar");
    let mut rows = Vec::new();
    if !plan.page_only {
        rows.extend(against_fio(&plan, &file)?);
    }
    rows.extend(page::rows(&plan, &file).await?);
    let missed = rows.iter().filter(|row| !row.passed()).count();
    println!(
        "\nMedians of {}, {:?} each; {} of {} bars reached",
        plan.rounds,
        plan.runtime,
        rows.len() - missed,
        rows.len()
    );
    if missed > 0 {
        bail!("{missed} of {} bars missed", rows.len());
    }
    Ok(())
}

/// Whoever else computes now takes time from one tool or the other.
fn warn_if_busy() -> Result<()> {
    let text = std::fs::read_to_string("/proc/loadavg")?;
    if let Some(load) = text.split(' ').next().and_then(|l| l.parse::<f64>().ok()).filter(|&load| load > 0.5) {
        println!("The machine is busy (load {load}): do not trust the figures.\n");
    }
    Ok(())
}

fn plan() -> Result<Plan> {
    let mut plan = Plan { page_only: false, rounds: 5, runtime: Duration::from_secs(3), dir: "/var/tmp".into() };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.by_ref()) {
            ("--short", _) => (plan.rounds, plan.runtime) = (3, Duration::from_secs(1)),
            ("--page", _) => plan.page_only = true,
            ("--target", rest) => match rest.next() {
                Some(dir) => plan.dir = dir.into(),
                None => bail!("--target wants a directory on the disk to measure"),
            },
            _ => bail!(
                "unknown option {arg}; there are --short, --page (without fio) and --target DIR (default /var/tmp)"
            ),
        }
    }
    Ok(plan)
}

fn against_fio(plan: &Plan, file: &file::Cached) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for depth in [32, 1] {
        rows.extend(tool_cost(plan, file, depth)?);
    }
    rows.push(epoll(plan, file)?);
    for depth in [32, 1] {
        rows.push(real_disk(plan, file, depth)?);
    }
    Ok(rows)
}

/// Pure cost of the tool: reads that complete inside the submit call.
fn tool_cost(plan: &Plan, file: &file::Cached, depth: u32) -> Result<Vec<Row>> {
    let workload = Workload { depth, direct: false };
    let [fio, ours] = paired(plan, file, workload, [Tool::FioTuned, Tool::Brakecheck])?;
    let what = format!("page-cached 4K randread QD{depth}");
    let (least, iops) = (if depth == 1 { 1.3 } else { 1.4 }, |r: &Run| r.iops);
    let mut rows = vec![row(format!("{what}: IOPS"), &fio, &ours, iops, Bar::AtLeast(least))];
    if depth == 1 {
        rows.push(row(format!("{what}: mean latency, ns"), &fio, &ours, |r| r.latency_ns, Bar::AtMost(0.8)));
    }
    rows.push(row(format!("{what}: CPU time per I/O, ns"), &fio, &ours, |r| r.cpu_ns, Bar::AtMost(0.75)));
    Ok(rows)
}

fn epoll(plan: &Plan, file: &file::Cached) -> Result<Row> {
    let workload = Workload { depth: 32, direct: false };
    let [fio, ours] = paired(plan, file, workload, [Tool::FioDefaults, Tool::BrakecheckEpoll])?;
    let figure = "page-cached 4K randread QD32: IOPS, epoll against fio's defaults";
    Ok(row(figure.into(), &fio, &ours, |r| r.iops, Bar::AtLeast(1.2)))
}

/// A real disk: ours must lie within what fio differs from itself.
fn real_disk(plan: &Plan, file: &file::Cached, depth: u32) -> Result<Row> {
    let workload = Workload { depth, direct: true };
    let [fio, ours] = paired(plan, file, workload, [Tool::FioTuned, Tool::Brakecheck])?;
    let all = || fio.iter().map(|r| r.iops);
    let lowest = all().fold(f64::INFINITY, f64::min) / median(all());
    let figure = format!("disk 4K randread QD{depth}: IOPS (bar: fio's slowest run)");
    Ok(row(figure, &fio, &ours, |r| r.iops, Bar::AtLeast(lowest)))
}

fn row(figure: String, fio: &[Run], ours: &[Run], of: impl Fn(&Run) -> f64, bar: Bar) -> Row {
    let (theirs, ours) = (median(fio.iter().map(&of)), median(ours.iter().map(&of)));
    let row = Row { figure, theirs: format!("{theirs:.0}"), ours: format!("{ours:.0}"), value: ours / theirs, bar };
    row.print();
    row
}
