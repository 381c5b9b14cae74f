//! Runs: what is asked for, samples, results.

use super::reader::{record, words};
use super::{Problem, Read};
use protocol::api::RunCreated;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::event::Snapshot;
use protocol::plan::{RunSpec, Step};
use protocol::preset::{CellKey, Column, PresetRequest};
use protocol::result::{
    BlockCounters, Caveat, CaveatKind, CpuTime, Direction, EngineKind, EngineUsed, IoPath, IoPathKind, Latency,
    StepResult,
};
use protocol::run::{Headline, RunRecord, RunState, RunSummary};
use protocol::sample::{Flow, Phase, Sample, SampleLatency};
use protocol::workload::{Distribution, RateProcess, Rw, Wait, Workload};
use serde_json::Value;

record!(Snapshot { version, server_id, run, step, samples, layout, queue, experiment });
record!(ErrorBody { code, message, hint });
words!(ErrorCode {
    "internal" => Internal, "usage" => Usage, "target-refused" => TargetRefused,
    "restore-incomplete" => RestoreIncomplete, "not-permitted" => NotPermitted, "run-failed" => RunFailed,
    "interrupted" => Interrupted, "busy" => Busy, "not-found" => NotFound, "forbidden-host" => ForbiddenHost,
    "unauthorized" => Unauthorized, "password" => Password,
});

record!(RunCreated { id, state });
record!(RunRecord { id, version, started_at, finished_at, state, spec, host, target, drive, engine, results, error });
record!(RunSummary { id, started_at, state, title, target, drive, host, headline });
record!(Headline { label, bw, iops, not_comparable });
words!(RunState {
    "failed" => Failed, "queued" => Queued, "running" => Running, "done" => Done, "stopped" => Stopped,
    "interrupted" => Interrupted,
});
record!(RunSpec { target, preset, keep_file, steps });
record!(Step { cell, repetition, warmup, pause, workload });
record!(CellKey { row, column });
words!(Column { "read" => Read, "write" => Write, "mix" => Mix });
record!(PresetRequest { name, repetitions, size, runtime, pause, columns, wait, buffered });
record!(Workload {
    name,
    rw,
    rwmixread,
    bs,
    iodepth,
    numjobs,
    size,
    offset,
    runtime,
    ramp_time,
    rate_iops,
    rate_process,
    thinktime,
    buffered,
    invalidate,
    wait,
    random_distribution,
    randseed
});
words!(Rw {
    "read" => Read, "write" => Write, "randread" => RandRead, "randwrite" => RandWrite, "rw" => Rw,
    "randrw" => RandRw,
});
words!(Wait { "enter" => Enter, "enter-no-iowait" => EnterNoIowait, "epoll" => Epoll, "poll" => Poll });
words!(RateProcess { "linear" => Linear, "poisson" => Poisson });

impl Read for Distribution {
    fn read(value: &Value, problem: &mut Problem) -> Self {
        String::read(value, problem).parse().unwrap_or_else(|_| {
            problem.note();
            Self::Uniform
        })
    }
}

record!(Sample { step, phase, t_ms, dt_ms, read, write, in_flight, engine_cpu, machine_cpu, progress, eta_ms });
words!(Phase { "measure" => Measure, "ramp" => Ramp });
record!(Flow { ios, bytes, iops, bw, lat, hist });
record!(SampleLatency { mean_ns, p50_ns, p95_ns, p99_ns, p999_ns, max_ns });

record!(StepResult { step, elapsed_ns, read, write, cpu, engine, path, caveats, cut_short });
record!(Direction { ios, bytes, iops, bw, lat, clat, hist });
record!(Latency { n, min_ns, max_ns, mean_ns, stddev_ns, percentiles });
record!(CpuTime { user_s, system_s, context_switches, machine, per_io_ns });
record!(EngineUsed { kind, features, fallbacks, cpus });
words!(EngineKind { "io-uring" => IoUring, "tokio-uring" => TokioUring, "threads" => Threads });
record!(IoPath { kind, evidence, block_layer });
words!(IoPathKind { "direct" => Direct, "page-cache" => PageCache, "unverified" => Unverified });
record!(BlockCounters { read_ios, read_bytes, write_ios, write_bytes });
record!(Caveat { kind, message });
words!(CaveatKind {
    "cpu-bound" => CpuBound, "tool-bound" => ToolBound, "page-cache" => PageCache, "short-run" => ShortRun,
    "thread-fallback" => ThreadFallback, "rate-missed" => RateMissed, "sparse" => Sparse,
    "busy-machine" => BusyMachine, "more-jobs-than-cpus" => MoreJobsThanCpus,
});
