//! One run from its lock to its last event.

use super::recorder::Recorder;
use super::{Runner, now};
use crate::lock::Lock;
use engine::{Control, EngineError, Outcome, RunOptions};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::event::Event;
use protocol::plan::RunSpec;
use protocol::run::{RunRecord, RunState};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Samples are stored this often: what a killed process loses at most.
const BATCH: Duration = Duration::from_millis(250);

impl Runner {
    /// Prepares and executes a plan; refuses when another run is on. `sink` sees every event in order, from
    /// `RunStarted` to `RunFinished`. A run that failed or was stopped is not an error here: its record says so.
    pub fn run(&self, spec: RunSpec, control: &Control, sink: impl FnMut(Event)) -> Result<RunRecord, ErrorBody> {
        let record = self.prepare(spec)?;
        let lock = self.lock(&record)?;
        self.execute(record, lock, control, sink)
    }

    /// Executes a prepared run, blocking until it has ended. The lock is released just before the last event, so that
    /// whoever waits for that event may start the next run.
    pub fn execute(
        &self,
        mut record: RunRecord,
        lock: Lock,
        control: &Control,
        mut sink: impl FnMut(Event),
    ) -> Result<RunRecord, ErrorBody> {
        record.state = RunState::Running;
        record.started_at = now();
        self.store.begin(&record)?;
        sink(Event::RunStarted { run: Box::new(record.clone()) });

        let options = RunOptions {
            run: record.id.clone(),
            registry: self.state.targets(),
            near_cpus: record.drive.as_ref().map(|d| power::drive::near_cpus(&self.root, d)).unwrap_or_default(),
        };
        let mut recorder = Recorder::new(&self.store, record.id.clone());
        let spec = record.spec.clone();
        let (sender, events) = mpsc::channel();
        let ended = std::thread::scope(|scope| {
            // The engine never waits for the store or a consumer: it only puts events into the channel.
            let engine = std::thread::Builder::new().name("run".into()).spawn_scoped(scope, move || {
                // The receiver is gone only when its thread panicked; the run then ends with it.
                engine::run::run(&spec, &options, control, &mut |event| drop(sender.send(event)))
            });
            let engine = match engine {
                Ok(engine) => engine,
                Err(source) => return Err(EngineError::Io { what: "start the run's thread".into(), source }),
            };
            loop {
                match events.recv_timeout(BATCH) {
                    Ok(event) => {
                        if let Event::WorkloadFinished { result, .. } = &event {
                            record.results.push((**result).clone());
                        }
                        let trouble = recorder.record(&event);
                        sink(event);
                        trouble.into_iter().for_each(&mut sink);
                    }
                    Err(RecvTimeoutError::Timeout) => recorder.flush().into_iter().for_each(&mut sink),
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            engine.join().unwrap_or_else(|_| {
                Err(EngineError::Expected(ErrorBody::new(ErrorCode::Internal, "The engine ended unexpectedly.")))
            })
        });
        recorder.flush().into_iter().for_each(&mut sink);

        record.finished_at = Some(now());
        record.state = match &ended {
            Ok(Outcome::Done) => RunState::Done,
            Ok(Outcome::Stopped) => RunState::Stopped,
            Err(_) => RunState::Failed,
        };
        record.error = ended.err().map(|e| e.body());
        let stored = self.store.finish(&record).and_then(|()| self.store.checkpoint());
        if let Err(e) = stored {
            sink(Event::Error { error: e.into() });
        }
        drop(lock);
        sink(Event::RunFinished { run: record.id.clone(), state: record.state, error: record.error.clone() });
        Ok(record)
    }
}
