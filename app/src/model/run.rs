//! One run as the page shows it: running, finished, or only planned.

use super::group::{Group, GroupValue, groups};
use super::point::{Metric, Point, merged, percentile};
use super::track::Track;
use protocol::host::{DirectIo, DriveFacts, TargetFacts, TargetKind};
use protocol::plan::RunSpec;
use protocol::result::StepResult;
use protocol::run::{RunRecord, RunState};
use protocol::sample::{Phase, Sample};
use protocol::units::{Bytes, BytesPerSecond};
use std::collections::VecDeque;

/// Samples that the big reading is the mean of: one second.
const RECENT: usize = protocol::sample::SAMPLES_PER_SECOND as usize;

/// The layout of the file, while it is on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Layout {
    /// Written so far.
    pub(crate) done: Bytes,
    /// To be written.
    pub(crate) total: Bytes,
    /// Speed over the last interval; not known right after a snapshot.
    pub(crate) bw: Option<BytesPerSecond>,
}

/// The live numbers of the running step, over the last second.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    /// Bytes per second.
    pub(crate) bw: f64,
    /// Accesses per second.
    pub(crate) iops: f64,
    /// Median latency in ns.
    pub(crate) p50: Option<f64>,
    /// 99th percentile in ns.
    pub(crate) p99: Option<f64>,
    /// Mean latency in ns.
    pub(crate) mean: Option<f64>,
    /// How much time this is over, in s.
    pub(crate) seconds: f64,
    /// Still before measuring.
    pub(crate) ramp: bool,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunModel {
    /// What is known and stored of it.
    pub(crate) record: RunRecord,
    /// Its cells or workloads.
    pub(crate) groups: Vec<Group>,
    /// What each group measured so far.
    pub(crate) values: Vec<Option<GroupValue>>,
    /// The curve of each group.
    pub(crate) tracks: Vec<Track>,
    /// Group of each step.
    group_of: Vec<usize>,
    /// The step that is on.
    pub(crate) step: Option<u32>,
    /// The layout that is on.
    pub(crate) layout: Option<Layout>,
    /// Time left in ms of the pause before the step, if that is on.
    pub(crate) pause_ms: Option<f64>,
    /// The last samples of the running step.
    recent: VecDeque<Sample>,
    /// Share of the run that is done, 0 to 1.
    pub(crate) progress: f64,
    /// Time to the end in ms.
    pub(crate) eta_ms: Option<f64>,
}

impl RunModel {
    /// A run as its record tells.
    pub(crate) fn new(record: RunRecord) -> Self {
        let groups = groups(&record.spec);
        let mut group_of = vec![0; record.spec.steps.len()];
        for (g, group) in groups.iter().enumerate() {
            for step in &group.steps {
                if let Some(slot) = group_of.get_mut(*step as usize) {
                    *slot = g;
                }
            }
        }
        let mut model = Self {
            values: vec![None; groups.len()],
            tracks: vec![Track::default(); groups.len()],
            groups,
            group_of,
            step: None,
            layout: None,
            pause_ms: None,
            recent: VecDeque::new(),
            progress: if record.state == RunState::Done {
                1.0
            } else {
                record.results.len() as f64 / record.spec.steps.len().max(1) as f64
            },
            eta_ms: None,
            record,
        };
        model.score();
        model
    }

    /// A run that is only planned: everything in its place, nothing measured.
    pub(crate) fn planned(spec: RunSpec, target: Option<TargetFacts>, drive: Option<DriveFacts>) -> Self {
        let path = spec.target.clone();
        let unknown = || TargetFacts {
            path,
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
        };
        Self::new(RunRecord {
            id: String::new(),
            version: protocol::VERSION.into(),
            started_at: String::new(),
            finished_at: None,
            state: RunState::Queued,
            spec,
            host: protocol::host::HostFacts::default(),
            target: target.unwrap_or_else(unknown),
            drive,
            engine: protocol::host::EngineFacts::default(),
            results: Vec::new(),
            error: None,
        })
    }

    /// Whether this is a plan and not a run.
    pub(crate) fn is_plan(&self) -> bool {
        self.record.id.is_empty()
    }

    /// Adds one interval.
    pub(crate) fn sample(&mut self, sample: Sample) {
        self.begin(sample.step);
        self.progress = sample.progress;
        self.eta_ms = Some(sample.eta_ms);
        if let Some(track) = self.group_of(sample.step).and_then(|g| self.tracks.get_mut(g)) {
            track.push(Point::from(&sample));
        }
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(sample);
    }

    /// A step is on; the layout is over.
    pub(crate) fn begin(&mut self, step: u32) {
        self.layout = None;
        self.pause_ms = None;
        if self.step != Some(step) {
            self.step = Some(step);
            self.recent.clear();
        }
    }

    /// Adds a result; it replaces one of the same step.
    pub(crate) fn finish_step(&mut self, result: StepResult) {
        let results = &mut self.record.results;
        results.retain(|r| r.step != result.step);
        let at = results.partition_point(|r| r.step < result.step);
        results.insert(at, result);
        self.score();
    }

    /// The run ended.
    pub(crate) fn finish(&mut self) {
        self.step = None;
        self.layout = None;
        self.pause_ms = None;
        self.recent.clear();
        self.eta_ms = None;
        if self.record.state == RunState::Done {
            self.progress = 1.0;
        }
    }

    /// Takes the stored samples of a run that was joined late, or is over.
    pub(crate) fn backfill(&mut self, samples: &[Sample]) {
        for (g, track) in self.tracks.iter_mut().enumerate() {
            let own = samples.iter().filter(|s| self.group_of.get(s.step as usize) == Some(&g));
            track.backfill(own.map(Point::from));
        }
    }

    fn score(&mut self) {
        let (spec, results) = (&self.record.spec, &self.record.results);
        self.values = self.groups.iter().map(|g| g.value(spec, results)).collect();
    }

    /// The group a step belongs to.
    pub(crate) fn group_of(&self, step: u32) -> Option<usize> {
        self.group_of.get(step as usize).copied()
    }

    /// The group that is being measured.
    pub(crate) fn running(&self) -> Option<usize> {
        (self.record.state == RunState::Running).then(|| self.step.and_then(|s| self.group_of(s))).flatten()
    }

    /// 1-based number of the pass that is on, and how many there are, in its group.
    pub(crate) fn pass(&self) -> Option<(usize, usize)> {
        let step = self.step?;
        let group = self.groups.get(self.group_of(step)?)?;
        Some((group.steps.iter().position(|s| *s == step)? + 1, group.steps.len()))
    }

    /// The group shown when nobody chose one: the running one, else the one with the highest throughput.
    pub(crate) fn main_group(&self) -> usize {
        self.running().unwrap_or_else(|| {
            let measured = self.values.iter().enumerate().filter_map(|(g, v)| Some((g, v.as_ref()?.bw)));
            measured.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(g, _)| g)
        })
    }

    /// The live numbers; none when no step is on.
    pub(crate) fn reading(&self) -> Option<Reading> {
        let last = self.recent.back()?;
        let all = || self.recent.iter().filter(|s| s.phase == last.phase).flat_map(|s| [&s.read, &s.write]);
        let seconds = self.recent.iter().filter(|s| s.phase == last.phase).map(|s| s.dt_ms / 1e3).sum::<f64>();
        let ios: f64 = all().map(|f| f.ios as f64).sum();
        let latency: f64 = all().filter_map(|f| f.lat.map(|l| l.mean_ns * f.ios as f64)).sum();
        let hist = merged(&all().map(|f| f.hist.as_slice()).collect::<Vec<_>>());
        let rate = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        Some(Reading {
            bw: rate(all().map(|f| f.bytes.0 as f64).sum()),
            iops: rate(ios),
            p50: percentile(&hist, 0.5).map(|v| v as f64),
            p99: percentile(&hist, 0.99).map(|v| v as f64),
            mean: (ios > 0.0).then(|| latency / ios),
            seconds,
            ramp: last.phase == Phase::Ramp,
        })
    }

    /// CPU use over the last second: engine (cores) and machine (share).
    pub(crate) fn cpu(&self) -> Option<(f64, Option<f64>)> {
        let n = self.recent.len();
        let machine: Vec<f64> = self.recent.iter().filter_map(|s| s.machine_cpu).collect();
        let mean = |sum: f64, n: usize| sum / n.max(1) as f64;
        (n > 0).then(|| {
            let engine = mean(self.recent.iter().map(|s| s.engine_cpu).sum(), n);
            (engine, (!machine.is_empty()).then(|| mean(machine.iter().sum(), machine.len())))
        })
    }

    /// The largest value a bar is drawn against, in B/s: the link's ceiling, else the best cell's throughput.
    pub(crate) fn full_scale(&self) -> (f64, bool) {
        let ceiling = self.record.drive.as_ref().and_then(|d| d.link.as_ref()).and_then(|l| l.ceiling);
        if let Some(ceiling) = ceiling.filter(|c| c.0 > 0.0) {
            return (ceiling.0, true);
        }
        let best = self.values.iter().flatten().map(|v| v.bw);
        (best.chain(self.reading().map(|r| r.bw)).fold(0.0, f64::max), false)
    }

    /// Value of a group for a metric, in base units.
    pub(crate) fn value(&self, group: usize, metric: Metric) -> Option<f64> {
        let value = self.values.get(group)?.as_ref()?;
        match metric {
            Metric::Throughput => Some(value.bw),
            Metric::Iops => Some(value.iops),
            Metric::Latency => value.latency,
        }
    }
}

/// Small records for tests.
#[cfg(test)]
pub(crate) mod fixture {
    use super::*;
    use crate::format::whole;
    use protocol::result::{CpuTime, Direction, EngineKind, EngineUsed, IoPath, IoPathKind, Latency};
    use protocol::sample::Flow;
    use protocol::units::{BytesPerSecond, Iops};
    use protocol::workload::{Rw, Workload};

    /// A run of `repetitions` reads.
    pub(crate) fn record(repetitions: u32) -> RunRecord {
        let spec = RunSpec::of_workloads("/t", &[Workload::new(Rw::Read)], repetitions);
        RunRecord { id: "r1".into(), state: RunState::Running, ..RunModel::planned(spec, None, None).record }
    }

    /// A result with this throughput.
    pub(crate) fn result(step: u32, bw: f64) -> StepResult {
        let lat = Latency { n: 10, mean_ns: 1e9 / bw, ..Latency::default() };
        StepResult {
            step,
            elapsed_ns: 1_000_000_000,
            read: Some(Direction {
                ios: 10,
                bytes: Bytes(whole(bw).into()),
                iops: Iops(10.0),
                bw: BytesPerSecond(bw),
                lat,
                clat: None,
                hist: String::new(),
            }),
            write: None,
            cpu: CpuTime::default(),
            engine: EngineUsed { kind: EngineKind::IoUring, features: vec![], fallbacks: vec![], cpus: vec![] },
            path: IoPath { kind: IoPathKind::Direct, evidence: String::new(), block_layer: None },
            caveats: vec![],
            cut_short: false,
        }
    }

    /// The `i`-th interval of a step, 10 accesses of 4 KiB in 50 ms.
    pub(crate) fn sample(step: u32, i: u32) -> Sample {
        let read = Flow { ios: 10, bytes: Bytes(40_960), hist: vec![(1000, 9), (5000, 1)], ..Flow::default() };
        Sample { step, t_ms: f64::from(i) * 50.0, dt_ms: 50.0, read, engine_cpu: 0.5, ..Sample::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reading_is_over_the_last_second_of_the_running_step() {
        let mut model = RunModel::new(fixture::record(2));
        assert_eq!(model.reading(), None);
        (1..=50).for_each(|i| model.sample(fixture::sample(0, i)));
        let reading = model.reading().unwrap();
        assert!((reading.seconds - 1.0).abs() < 1e-9 && (reading.iops - 200.0).abs() < 1e-9);
        assert_eq!((reading.p50, reading.p99), (Some(1000.0), Some(5000.0)));
        model.sample(fixture::sample(1, 1));
        assert!((model.reading().unwrap().seconds - 0.05).abs() < 1e-9);
        assert_eq!(model.pass(), Some((2, 2)));
    }

    #[test]
    fn results_stay_in_step_order_and_replace_their_like() {
        let mut model = RunModel::new(fixture::record(3));
        for (step, bw) in [(2, 30.0), (0, 10.0), (1, 20.0), (1, 25.0)] {
            model.finish_step(fixture::result(step, bw));
        }
        let order: Vec<_> = model.record.results.iter().map(|r| r.step).collect();
        assert_eq!(order, [0, 1, 2]);
        assert_eq!(model.value(0, Metric::Throughput), Some(25.0));
    }

    #[test]
    fn a_plan_has_its_cells_and_nothing_in_them() {
        let spec = fixture::record(1).spec;
        let model = RunModel::planned(spec, None, None);
        assert!(model.is_plan() && model.values == [None] && model.running().is_none());
        assert_eq!(model.full_scale(), (0.0, false));
    }
}
