//! A run for tests of what is made from one.

use base64::Engine;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use protocol::host::{DirectIo, EngineFacts, HostFacts, TargetFacts, TargetKind};
use protocol::plan::RunSpec;
use protocol::result::{
    CpuTime, Direction, EngineKind, EngineUsed, IoPath, IoPathKind, Latency, PERCENTILES, StepResult,
};
use protocol::run::{RunRecord, RunState};
use protocol::units::{Bytes, BytesPerSecond, Iops, Nanos};
use protocol::workload::{Rw, Workload};

/// Two seconds of 1000 accesses of 4 KiB each way, every one taking 300 us.
pub(super) fn record() -> RunRecord {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    histogram.record_n(300_000, 1000).unwrap();
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
    let lat = Latency {
        n: 1000,
        min_ns: Nanos(300_000),
        max_ns: Nanos(300_000),
        mean_ns: 300_000.0,
        stddev_ns: 0.0,
        percentiles: PERCENTILES.map(|p| (p, Nanos(300_000))).to_vec(),
    };
    let direction = Direction {
        ios: 1000,
        bytes: Bytes(4_096_000),
        iops: Iops(500.0),
        bw: BytesPerSecond(2_048_000.0),
        lat,
        clat: None,
        hist: base64::engine::general_purpose::STANDARD.encode(bytes),
    };
    let result = StepResult {
        step: 0,
        elapsed_ns: 2_000_000_000,
        read: Some(direction.clone()),
        write: Some(direction),
        cpu: CpuTime { user_s: 0.1, system_s: 0.4, context_switches: 7, machine: None, per_io_ns: 250.0 },
        engine: EngineUsed { kind: EngineKind::IoUring, features: vec![], fallbacks: vec![], cpus: vec![] },
        path: IoPath { kind: IoPathKind::Direct, evidence: String::new(), block_layer: None },
        caveats: vec![],
        cut_short: false,
    };
    let workload = Workload { iodepth: 8, numjobs: 2, ..Workload::new(Rw::RandRw) };
    RunRecord {
        id: "a".into(),
        version: "0".into(),
        started_at: "2026-11-30T11:13:33Z".into(),
        finished_at: Some("2026-11-30T11:13:35.462Z".into()),
        state: RunState::Done,
        spec: RunSpec::of_workloads("/mnt", &[workload], 1),
        host: HostFacts::default(),
        target: TargetFacts {
            path: "/mnt".into(),
            kind: TargetKind::Directory,
            filesystem: None,
            mount_point: None,
            mount_options: None,
            device: None,
            dev: None,
            size: None,
            free: None,
            total: None,
            direct: DirectIo::default(),
        },
        drive: None,
        engine: EngineFacts::default(),
        results: vec![result],
        error: None,
    }
}
