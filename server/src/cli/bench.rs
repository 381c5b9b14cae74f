//! `brakecheck bench`: one workload, with fio's option names.

use super::Globals;
use super::measure::{self, MeasureArgs};
use clap::value_parser;
use protocol::api::RunRequest;
use protocol::error::ErrorBody;
use protocol::units::{Bytes, Iops, Micros, Seconds};
use protocol::workload::{Distribution, RateProcess, Rw, Wait, Workload};
use std::process::ExitCode;

/// Options of `bench`. Those of fio's that are spelt with `_` there are understood that way too.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub struct BenchArgs {
    /// A directory, in which a file of our own is laid out and removed; or an existing file or device, which is only
    /// ever read
    #[arg(long, visible_alias = "target", value_name = "PATH")]
    filename: String,
    /// read, write, randread, randwrite, rw or randrw
    #[arg(long, default_value = "read", value_name = "PATTERN")]
    rw: Rw,
    /// Reads per hundred accesses of rw and randrw
    #[arg(long, default_value_t = 50, value_name = "PERCENT", value_parser = value_parser!(u8).range(..=100))]
    rwmixread: u8,
    /// Block size, 512 to 64m
    #[arg(long, default_value = "4k", value_name = "SIZE")]
    bs: Bytes,
    /// Accesses in flight per job, 1 to 1024
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = value_parser!(u32).range(1..=1024))]
    iodepth: u32,
    /// Worker threads, each on a range of its own, 1 to 256
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = value_parser!(u32).range(1..=256))]
    numjobs: u32,
    /// Bytes that are accessed [default: 1g in a directory, else to the end of the target]
    #[arg(long, value_name = "SIZE")]
    size: Option<Bytes>,
    /// Where the accessed range begins
    #[arg(long, default_value = "0", value_name = "SIZE")]
    offset: Bytes,
    /// Measured time: 5, 500ms, 2m
    #[arg(long, default_value = "5s", value_name = "TIME")]
    runtime: Seconds,
    /// Time run before measuring starts
    #[arg(long, alias = "ramp_time", default_value = "0", value_name = "TIME")]
    ramp_time: Seconds,
    /// Accesses started per second by each job; latency then counts from the intended start
    #[arg(long, alias = "rate_iops", value_name = "N")]
    rate_iops: Option<Iops>,
    /// Spacing of the intended starts: linear or poisson
    #[arg(long, alias = "rate_process", default_value = "linear", value_name = "PROCESS")]
    rate_process: RateProcess,
    /// Pause after each access, in us
    #[arg(long, default_value = "0", value_name = "TIME")]
    thinktime: Micros,
    /// Drop the range from the page cache first (1) or leave it there (0)
    #[arg(long, default_value = "1", value_name = "0|1", value_parser = zero_or_one, action = clap::ArgAction::Set)]
    invalidate: bool,
    /// How the worker waits: enter, enter-no-iowait, epoll or poll
    #[arg(long, default_value = "enter", value_name = "MODE")]
    wait: Wait,
    /// Through the page cache rather than O_DIRECT
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "0", default_missing_value = "1",
        value_name = "0|1", value_parser = zero_or_one, action = clap::ArgAction::Set, hide_default_value = true)]
    buffered: bool,
    /// Spread of random offsets: random, zipf:THETA or pareto:H
    #[arg(long, alias = "random_distribution", default_value = "random", value_name = "SPREAD")]
    random_distribution: Distribution,
    /// Seed of the random offsets; the same seed gives the same offsets
    #[arg(long, default_value_t = Workload::new(Rw::Read).randseed, value_name = "N")]
    randseed: u64,
    /// Run it this many times; the table adds the median
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = value_parser!(u32).range(1..=100))]
    repetitions: u32,
    /// A label for the result
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    #[command(flatten)]
    measure: MeasureArgs,
}

fn zero_or_one(text: &str) -> Result<bool, String> {
    match text {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err("write 0 or 1".into()),
    }
}

impl BenchArgs {
    fn request(&self) -> RunRequest {
        let workload = Workload {
            name: self.name.clone(),
            rw: self.rw,
            rwmixread: self.rwmixread,
            bs: self.bs,
            iodepth: self.iodepth,
            numjobs: self.numjobs,
            size: self.size,
            offset: self.offset,
            runtime: self.runtime,
            ramp_time: self.ramp_time,
            rate_iops: self.rate_iops,
            rate_process: self.rate_process,
            thinktime: self.thinktime,
            buffered: self.buffered,
            invalidate: self.invalidate,
            wait: self.wait,
            random_distribution: self.random_distribution,
            randseed: self.randseed,
        };
        RunRequest {
            target: self.filename.clone(),
            workloads: vec![workload],
            repetitions: Some(self.repetitions),
            keep_file: self.measure.keep_file,
            ..RunRequest::default()
        }
    }
}

/// Runs the subcommand.
pub fn run(args: &BenchArgs, globals: &Globals) -> Result<ExitCode, ErrorBody> {
    measure::run(&args.request(), &args.measure, globals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        bench: BenchArgs,
    }

    fn workload(line: &str) -> Workload {
        let parsed = Line::try_parse_from(format!("bench {line}").split(' ')).unwrap();
        parsed.bench.request().workloads.remove(0)
    }

    #[test]
    fn defaults_are_those_of_a_workload() {
        assert_eq!(workload("--target /mnt"), Workload::new(Rw::Read));
    }

    /// What the page shows as the equivalent command line must mean the workload it was made from.
    #[test]
    fn the_command_line_of_a_workload_reads_back() {
        let all = Workload {
            rwmixread: 70,
            bs: Bytes(8192),
            iodepth: 32,
            numjobs: 2,
            size: Some(Bytes(1 << 30)),
            offset: Bytes(4096),
            runtime: Seconds(Micros(1_500_000)),
            ramp_time: Seconds::from_secs(1),
            rate_iops: Some(Iops(500.0)),
            rate_process: RateProcess::Poisson,
            thinktime: Micros(20),
            buffered: true,
            invalidate: false,
            wait: Wait::EnterNoIowait,
            random_distribution: Distribution::Zipf(1.2),
            randseed: 7,
            ..Workload::new(Rw::RandRw)
        };
        for w in [Workload::new(Rw::RandRead), all] {
            assert_eq!(workload(&format!("--filename /mnt {}", w.command_line())), w);
        }
    }

    #[test]
    fn spellings_of_fio_are_understood() {
        let w = workload("--filename=/mnt --rw=randread --ramp_time=2 --rate_iops=100 --buffered=1 --invalidate=0");
        assert!(w.buffered && !w.invalidate && w.rate_iops == Some(Iops(100.0)));
        assert_eq!(w.ramp_time, Seconds::from_secs(2));
        for bad in ["--invalidate=2", "--buffered=yes", "--rw=sideways", "--bs=4x", "--wait=long"] {
            assert!(Line::try_parse_from(["bench", "--filename=/mnt", bad]).is_err(), "{bad}");
        }
    }
}
