//! One run of one tool.

use crate::Plan;
use crate::file::Cached;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::process::{Command, Stdio};

#[derive(Clone, Copy)]
pub(crate) enum Tool {
    /// fio with registered file and buffers.
    FioTuned,
    /// fio as it comes.
    FioDefaults,
    Brakecheck,
    BrakecheckEpoll,
}

/// 4 KiB random reads over the file by one job.
#[derive(Clone, Copy)]
pub(crate) struct Workload {
    pub(crate) depth: u32,
    pub(crate) direct: bool,
}

/// What a run gave: the tool's own figures of its measured thread.
pub(crate) struct Run {
    pub(crate) iops: f64,
    pub(crate) latency_ns: f64,
    pub(crate) cpu_ns: f64,
}

/// Both tools in turn, after an unscored run of each.
pub(crate) fn paired(plan: &Plan, file: &Cached, workload: Workload, tools: [Tool; 2]) -> Result<[Vec<Run>; 2]> {
    file.warm()?;
    let mut runs = [Vec::new(), Vec::new()];
    for round in 0..=plan.rounds {
        for (tool, runs) in tools.into_iter().zip(&mut runs) {
            let run = tool.run(plan, file, workload)?;
            if round > 0 {
                runs.push(run);
            }
        }
    }
    Ok(runs)
}

/// The middle value, or the mean of the two in the middle.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}

impl Tool {
    fn run(self, plan: &Plan, file: &Cached, workload: Workload) -> Result<Run> {
        let cli = tests::Cli::new()?;
        let runtime = format!("{}", plan.runtime.as_secs_f64());
        let depth = workload.depth.to_string();
        // The last CPU: interrupts and everybody else like the first.
        let cpu = (std::thread::available_parallelism()?.get() - 1).to_string();
        let mut command = Command::new("taskset");
        command.arg("-c").arg(cpu);
        match self {
            Self::FioTuned | Self::FioDefaults => {
                command.args(["fio", "--name=perf", "--readonly", "--rw=randread", "--bs=4k", "--ioengine=io_uring"]);
                command.args(["--time_based", "--invalidate=0", "--output-format=json"]);
                command.arg(format!("--filename={}", file.path().display()));
                command.arg(format!("--runtime={runtime}")).arg(format!("--iodepth={depth}"));
                command.arg(format!("--direct={}", u8::from(workload.direct)));
                if matches!(self, Self::FioTuned) {
                    command.args(["--registerfiles", "--fixedbufs"]);
                }
            }
            Self::Brakecheck | Self::BrakecheckEpoll => {
                command.arg(tests::program()?).arg("--state-dir").arg(cli.state_dir());
                command.args(["bench", "--json", "--rw", "randread", "--bs", "4k", "--invalidate", "0"]);
                command.arg("--filename").arg(file.path()).args(["--runtime", &runtime, "--iodepth", &depth]);
                command.args(["--wait", if matches!(self, Self::Brakecheck) { "enter" } else { "epoll" }]);
                if !workload.direct {
                    command.arg("--buffered");
                }
            }
        }
        let output = command.stdin(Stdio::null()).output().context("taskset")?;
        ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout)?;
        let run = match self {
            Self::FioTuned | Self::FioDefaults => of_fio(&report),
            Self::Brakecheck | Self::BrakecheckEpoll => of_ours(&report),
        };
        run.with_context(|| format!("{command:?} reported {report}"))
    }
}

fn of_fio(report: &Value) -> Option<Run> {
    let job = report.get("jobs")?.get(0)?;
    let read = job.get("read")?;
    let cpu_percent = job.get("usr_cpu")?.as_f64()? + job.get("sys_cpu")?.as_f64()?;
    let runtime_ns = read.get("runtime")?.as_f64()? * 1e6;
    Some(Run {
        iops: read.get("iops")?.as_f64()?,
        latency_ns: read.get("lat_ns")?.get("mean")?.as_f64()?,
        cpu_ns: cpu_percent / 100.0 * runtime_ns / read.get("total_ios")?.as_f64()?,
    })
}

fn of_ours(report: &Value) -> Option<Run> {
    let result = report.get("results")?.get(0)?;
    let read = result.get("read")?;
    Some(Run {
        iops: read.get("iops")?.as_f64()?,
        latency_ns: read.get("lat")?.get("mean_ns")?.as_f64()?,
        cpu_ns: result.get("cpu")?.get("per_io_ns")?.as_f64()?,
    })
}
