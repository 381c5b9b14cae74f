//! Experiments on the bed's two drives, whose power saving is slow by known settings: exactly those must come out as
//! brakes; and none, when the drives wake up at once.

use crate::bed::{self, MACHINES};
use anyhow::{Context, Result, bail, ensure};
use protocol::experiment::ExperimentReport;
use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::time::Instant;
use tests::{Finished, Planted, judge};

/// A drive, its knobs, and a gap between reads after which its savings are felt.
struct Drive {
    name: &'static str,
    brakes: &'static [&'static str],
    harmless: &'static [&'static str],
    thinktime: &'static str,
    runtime: &'static str,
}

/// The gaps are those of the bed (`powerdisk.py`): a link sleeps after 2 ms, and the kernel's first autonomous power
/// state comes after 100 ms.
const DRIVES: [Drive; 2] = [
    Drive {
        name: "pnvme",
        brakes: &["nvme.apst@nvme0", "pcie.aspm"],
        harmless: &["cpu.governor", "cpu.frequency-floor", "pcie.clock-pm@0000:01:00.0", "pci.runtime-pm@0000:01:00.0"],
        thinktime: "150ms",
        runtime: "1300ms",
    },
    Drive {
        name: "psata",
        brakes: &["sata.link-power@host0"],
        harmless: &["cpu.governor", "cpu.frequency-floor", "pci.runtime-pm@0000:00:04.0"],
        thinktime: "20ms",
        runtime: "600ms",
    },
];

/// Every latency of the two drives that a setting may cause.
const AWAKE: [&str; 7] = ["l0s=0", "l1=0", "ps3=0", "ps4=0", "partial=0", "slumber=0", "devslp=0"];

/// Boots a machine for each round, and one without effects. Returns whether each found the truth.
pub(crate) fn host(arguments: &[&str]) -> Result<bool> {
    let rounds = match arguments {
        [] => 5,
        [number] => number.parse().with_context(|| format!("`{number}` is no number of rounds"))?,
        _ => bail!("vm planted [ROUNDS]"),
    };
    let machine = MACHINES.iter().find(|m| m.name == "6.12").context("the bed has this kernel")?;
    let mut right = 0;
    for round in 0..=rounds {
        let awake = round == rounds;
        println!("== round {}: {}", round + 1, if awake { "drives that wake up at once" } else { "drives that sleep" });
        let options: Vec<&OsStr> = AWAKE.iter().flat_map(|l| ["--latency".as_ref(), OsStr::new(l)]).collect();
        let options = if awake { options } else { Vec::new() };
        let status =
            bed::command(machine, &options, &["planted-guest", if awake { "awake" } else { "asleep" }])?.status()?;
        right += u32::from(status.success());
    }
    println!("-- {right} of {} rounds right", rounds + 1);
    Ok(right == rounds + 1)
}

/// One round inside the machine. Returns whether it found the truth.
pub(crate) fn guest(awake: bool) -> Result<bool> {
    let mut right = true;
    for drive in &DRIVES {
        let began = Instant::now();
        let report = experiment(drive)?;
        let truth: Vec<Planted<'_>> = drive.brakes.iter().map(|knob| Planted { knob, percent: None }).collect();
        let judged = judge(&report, if awake { &[] } else { &truth });
        for planted in &judged.planted {
            println!("{}: {planted}", drive.name);
        }
        let others: Vec<String> = judged.others.iter().map(|(verdict, n)| format!("{n} {verdict}")).collect();
        let ((trials, void), blocks) = (judged.trials, judged.blocks);
        println!(
            "{}: others: {}; {blocks} blocks, {trials} trials, {void} void, {:.0} s: {}",
            drive.name,
            others.join(", "),
            began.elapsed().as_secs_f64(),
            if judged.wrong.is_empty() { "right".into() } else { format!("WRONG: {}", judged.wrong.join("; ")) }
        );
        right &= judged.wrong.is_empty();
    }
    Ok(right)
}

fn experiment(drive: &Drive) -> Result<ExperimentReport> {
    let dir = tempfile::tempdir()?;
    let knobs: Vec<&str> = drive.brakes.iter().chain(drive.harmless).copied().collect();
    let Drive { name, thinktime, runtime, .. } = drive;
    // The emulated processor's jitter is some percent; what the drives cost is a multiple of what a read takes.
    let text = format!(
        "design = \"one-at-a-time\"\nfrom = \"all-performance\"\nthreshold_percent = 10\nmax_blocks = 18\n\
         knobs = {knobs:?}\n[[workloads]]\nname = \"cold\"\nrw = \"randread\"\nsize = \"64m\"\n\
         thinktime = \"{thinktime}\"\nruntime = \"{runtime}\"\nramp_time = \"50ms\"\n"
    );
    let file = dir.path().join("experiment.toml");
    std::fs::write(&file, text)?;
    let mut command = Command::new(tests::program()?);
    command.arg("--json").arg("--state-dir").arg(dir.path().join("state"));
    command.args(["experiment", "run", "--patience", "0s", "--target"]).arg(format!("/dev/bed/{name}")).arg(&file);
    let finished = Finished::of(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)?;
    ensure!(finished.code == Some(0), "{finished:?}");
    serde_json::from_str(&finished.stdout).with_context(|| finished.stdout.clone())
}
