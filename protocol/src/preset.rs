//! Named lists of workloads, scored in the manner of a known tool.
//!
//! Definitions follow what is known of `CrystalDiskMark` 3.0 (FAQ and published results) and 8 (its source).
//! Ours are time-based throughout: each pass runs its full time over the file, however fast the drive is.

use crate::error::{ErrorBody, ErrorCode};
use crate::plan::{RunSpec, Step};
use crate::result::StepResult;
use crate::units::{Bytes, BytesPerSecond, Iops, Seconds};
use crate::whole::maybe_whole;
use crate::workload::{Rw, Wait, Workload};
use serde::{Deserialize, Serialize};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// A column of a preset's grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Column {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// 70 % reads, 30 % writes.
    Mix,
}

impl Column {
    /// All three, in the order they run and are shown.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Mix];
    /// The word for people and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Mix => "mix",
        }
    }
}

/// A cell of a preset's grid.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CellKey {
    /// Row label: `SEQ1M Q8T1`.
    pub row: String,
    /// Column.
    pub column: Column,
}

/// A row of a preset's definition.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Row {
    /// Label in the known tool's words.
    pub label: &'static str,
    /// Random or sequential.
    pub random: bool,
    /// Block size in bytes.
    pub bs: u64,
    /// Accesses in flight per job.
    pub iodepth: u32,
    /// Jobs.
    pub numjobs: u32,
}

/// A preset's definition.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Preset {
    /// Name on the command line and in the API.
    pub name: &'static str,
    /// Title in its users' words.
    pub title: &'static str,
    /// One sentence on what it does and how it is scored.
    pub description: &'static str,
    /// Rows of the grid.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Row>))]
    pub rows: &'static [Row],
    /// File size in bytes.
    pub size: u64,
    /// Scored passes per cell.
    pub repetitions: u32,
    /// Unscored first pass per cell.
    pub warmup: bool,
    /// Time of each pass in s.
    pub runtime: u64,
    /// Idle time between cells in s.
    pub pause: u64,
}

const fn row(label: &'static str, random: bool, bs: u64, iodepth: u32, numjobs: u32) -> Row {
    Row { label, random, bs, iodepth, numjobs }
}

/// All presets.
pub const PRESETS: [Preset; 3] = [
    Preset {
        name: "cdm8",
        title: "CrystalDiskMark 8",
        description: "Four tests on 1 GiB, 5 s per pass. Shown: best of 3 passes, lowest mean latency of 3, first pass discarded.",
        rows: &[
            row("SEQ1M Q8T1", false, MIB, 8, 1),
            row("SEQ1M Q1T1", false, MIB, 1, 1),
            row("RND4K Q32T1", true, 4 * KIB, 32, 1),
            row("RND4K Q1T1", true, 4 * KIB, 1, 1),
        ],
        size: 1024 * MIB,
        repetitions: 3,
        warmup: true,
        runtime: 5,
        pause: 5,
    },
    Preset {
        name: "cdm8-nvme",
        title: "CrystalDiskMark 8, NVMe SSD",
        description: "The NVMe profile: deeper queues, 16 threads. Shown: best of 3 passes, lowest mean latency of 3, first pass discarded.",
        rows: &[
            row("SEQ1M Q8T1", false, MIB, 8, 1),
            row("SEQ128K Q32T1", false, 128 * KIB, 32, 1),
            row("RND4K Q32T16", true, 4 * KIB, 32, 16),
            row("RND4K Q1T1", true, 4 * KIB, 1, 1),
        ],
        size: 1024 * MIB,
        repetitions: 3,
        warmup: true,
        runtime: 5,
        pause: 5,
    },
    Preset {
        name: "cdm3",
        title: "CrystalDiskMark 3",
        description: "The classic of 2010: sequential, 512K, 4K and 4K at queue depth 32, on 1000 MiB. Shown: best of 5 passes.",
        rows: &[
            row("Seq", false, MIB, 1, 1),
            row("512K", true, 512 * KIB, 1, 1),
            row("4K", true, 4 * KIB, 1, 1),
            row("4K QD32", true, 4 * KIB, 32, 1),
        ],
        size: 1000 * MIB,
        repetitions: 5,
        warmup: false,
        runtime: 5,
        pause: 0,
    },
];

/// A preset by name.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|p| p.name == name)
}

/// A preset as asked for, with the user's changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PresetRequest {
    /// Which.
    pub name: String,
    /// Scored passes per cell.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "maybe_whole::<1, 100, _, _>")]
    pub repetitions: Option<u32>,
    /// File size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Time of each pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Seconds>,
    /// Idle time between cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Seconds>,
    /// Columns to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<Column>>,
    /// Wait mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// Through the page cache.
    #[serde(default)]
    pub buffered: bool,
}

impl PresetRequest {
    /// The definition it names.
    pub fn definition(&self) -> Option<&'static Preset> {
        find(&self.name)
    }

    /// Its steps: column by column, as `CrystalDiskMark` does (all reads, then writes, then mixes).
    pub fn steps(&self) -> Result<Vec<Step>, ErrorBody> {
        let preset = self.definition().ok_or_else(|| {
            let known: Vec<_> = PRESETS.iter().map(|p| p.name).collect();
            ErrorBody::new(ErrorCode::Usage, format!("unknown preset `{}`; known are {}", self.name, known.join(", ")))
        })?;
        let columns = self.columns.clone().unwrap_or_else(|| Column::ALL.to_vec());
        if columns.is_empty() {
            return Err(ErrorBody::new(ErrorCode::Usage, "columns is empty; name read, write or mix"));
        }
        let size = self.size.unwrap_or(Bytes(preset.size));
        let pause = self.pause.unwrap_or(Seconds::from_secs(preset.pause));
        let warmups = u32::from(preset.warmup);
        let passes = warmups + self.repetitions.unwrap_or(preset.repetitions);
        let mut steps = Vec::new();
        for column in Column::ALL.into_iter().filter(|c| columns.contains(c)) {
            for row in preset.rows {
                let workload = self.workload(preset, row, column, size);
                for pass in 0..passes {
                    steps.push(Step {
                        cell: Some(CellKey { row: row.label.into(), column }),
                        repetition: pass + 1,
                        warmup: pass < warmups,
                        pause: if pass == 0 && !steps.is_empty() { pause } else { Seconds::default() },
                        workload: workload.clone(),
                    });
                }
            }
        }
        Ok(steps)
    }

    fn workload(&self, preset: &Preset, row: &Row, column: Column, size: Bytes) -> Workload {
        let rw = match (column, row.random) {
            (Column::Read, false) => Rw::Read,
            (Column::Read, true) => Rw::RandRead,
            (Column::Write, false) => Rw::Write,
            (Column::Write, true) => Rw::RandWrite,
            (Column::Mix, false) => Rw::Rw,
            (Column::Mix, true) => Rw::RandRw,
        };
        Workload {
            name: Some(format!("{} {}", row.label, column.name())),
            rwmixread: 70,
            bs: Bytes(row.bs),
            iodepth: row.iodepth,
            numjobs: row.numjobs,
            size: Some(size),
            runtime: self.runtime.unwrap_or(Seconds::from_secs(preset.runtime)),
            wait: self.wait.unwrap_or_default(),
            buffered: self.buffered,
            ..Workload::new(rw)
        }
    }
}

/// One cell of the grid with what is known so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Cell {
    /// Which cell.
    pub key: CellKey,
    /// Its steps in the plan, warm-up included.
    pub steps: Vec<u32>,
    /// Scored passes that have ended.
    pub passes: u32,
    /// The score; absent until a scored pass has ended.
    pub score: Option<Score>,
}

/// The score of a cell. Throughput and latency are chosen independently, as `CrystalDiskMark` does, so they may
/// come from different passes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Score {
    /// Highest throughput of the scored passes.
    pub bw: BytesPerSecond,
    /// Highest accesses per second of the scored passes.
    pub iops: Iops,
    /// Lowest mean latency of the scored passes, in ns.
    pub latency_ns: Option<f64>,
}

/// Scores a preset's run from the results so far. Steps cut short do not count.
pub fn score(spec: &RunSpec, results: &[StepResult]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for (index, step) in spec.steps.iter().enumerate() {
        let Some(key) = &step.cell else { continue };
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let at = cells.iter().position(|c| c.key == *key).unwrap_or_else(|| {
            cells.push(Cell { key: key.clone(), steps: Vec::new(), passes: 0, score: None });
            cells.len() - 1
        });
        let Some(cell) = cells.get_mut(at) else { continue };
        cell.steps.push(index);
        let Some(result) = results.iter().find(|r| r.step == index && !step.warmup && !r.cut_short) else { continue };
        cell.passes += 1;
        let lowest = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::min);
        let before = cell.score;
        cell.score = Some(Score {
            bw: BytesPerSecond(before.map_or(0.0, |s| s.bw.0).max(result.bw().0)),
            iops: Iops(before.map_or(0.0, |s| s.iops.0).max(result.iops().0)),
            latency_ns: lowest(before.and_then(|s| s.latency_ns), result.mean_latency_ns()),
        });
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_plans_valid_workloads_column_by_column() {
        for preset in &PRESETS {
            let request = PresetRequest { name: preset.name.into(), ..PresetRequest::default() };
            let steps = request.steps().unwrap();
            let passes = preset.repetitions + u32::from(preset.warmup);
            assert_eq!(steps.len(), preset.rows.len() * 3 * passes as usize);
            for step in &steps {
                step.workload.validate().unwrap();
            }
            let columns: Vec<_> = steps.iter().filter_map(|s| s.cell.as_ref()).map(|c| c.column).collect();
            assert!(columns.is_sorted());
        }
    }

    #[test]
    fn an_unknown_preset_is_named_with_the_known_ones() {
        let error = PresetRequest { name: "cdm9".into(), ..PresetRequest::default() }.steps().unwrap_err();
        assert!(error.message.contains("cdm9") && error.message.contains("cdm8-nvme"), "{}", error.message);
    }
}
