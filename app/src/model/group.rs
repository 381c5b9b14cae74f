//! Steps that belong together: the passes of a cell, or the repetitions of a workload.

use crate::format::whole;
use protocol::plan::RunSpec;
use protocol::preset::{CellKey, Column, score};
use protocol::result::StepResult;
use protocol::workload::Workload;

/// The passes of one cell or workload.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    /// Its place in the preset's grid.
    pub(crate) cell: Option<CellKey>,
    /// What it is called.
    pub(crate) label: String,
    /// What is run.
    pub(crate) workload: Workload,
    /// Indices of its steps in the plan, in order.
    pub(crate) steps: Vec<u32>,
    /// How many of them, from the front, are left out of the score.
    pub(crate) warmups: usize,
}

/// What a group measured, and how it was condensed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GroupValue {
    /// Bytes per second.
    pub(crate) bw: f64,
    /// Accesses per second.
    pub(crate) iops: f64,
    /// Latency in ns.
    pub(crate) latency: Option<f64>,
    /// Which statistic this is: `best of 3`, `median of 5`, `1 run`.
    pub(crate) statistic: String,
}

/// The groups of a plan, in order of their first step.
pub(crate) fn groups(spec: &RunSpec) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (index, step) in (0..).zip(&spec.steps) {
        let same = |g: &&mut Group| match &step.cell {
            Some(key) => g.cell.as_ref() == Some(key),
            None => g.cell.is_none() && g.workload == step.workload,
        };
        if let Some(group) = groups.iter_mut().find(same) {
            group.steps.push(index);
            group.warmups += usize::from(step.warmup);
        } else {
            groups.push(Group {
                cell: step.cell.clone(),
                label: match &step.cell {
                    Some(key) => format!("{} {}", key.row, key.column.name()),
                    None => step.workload.label(),
                },
                workload: step.workload.clone(),
                steps: vec![index],
                warmups: usize::from(step.warmup),
            });
        }
    }
    groups
}

impl Group {
    /// Results of the scored passes that ended, in order.
    pub(crate) fn scored<'r>(&'r self, results: &'r [StepResult]) -> impl Iterator<Item = &'r StepResult> {
        let scored = self.steps.iter().skip(self.warmups);
        scored.filter_map(|s| results.iter().find(|r| r.step == *s)).filter(|r| !r.cut_short)
    }

    /// The value so far: for a preset its own score, for workloads the median of the repetitions.
    pub(crate) fn value(&self, spec: &RunSpec, results: &[StepResult]) -> Option<GroupValue> {
        if let Some(key) = &self.cell {
            let cell = score(spec, results).into_iter().find(|c| c.key == *key)?;
            let score = cell.score?;
            return Some(GroupValue {
                bw: score.bw.0,
                iops: score.iops.0,
                latency: score.latency_ns,
                statistic: if cell.passes == 1 { "1 pass".into() } else { format!("best of {}", cell.passes) },
            });
        }
        let runs: Vec<&StepResult> = self.scored(results).collect();
        let median = |value: &dyn Fn(&StepResult) -> Option<f64>| {
            quantile(&mut runs.iter().filter_map(|r| value(r)).collect::<Vec<_>>(), 0.5)
        };
        Some(GroupValue {
            bw: median(&|r| Some(r.bw().0))?,
            iops: median(&|r| Some(r.iops().0))?,
            latency: median(&StepResult::mean_latency_ns),
            statistic: if runs.len() == 1 { "1 run".into() } else { format!("median of {}", runs.len()) },
        })
    }

    /// Time of each pass in s, ramp included.
    pub(crate) fn pass_seconds(&self) -> f64 {
        self.workload.duration().as_f64()
    }

    /// Which column it is, or would be in a grid: by what it does.
    pub(crate) fn direction(&self) -> Column {
        match (self.workload.rw.reads(), self.workload.rw.writes()) {
            (true, true) => Column::Mix,
            (_, true) => Column::Write,
            _ => Column::Read,
        }
    }

    /// `RND4K Q32T1` and `read`, or the label alone.
    pub(crate) fn row_and_column(&self) -> (String, Option<Column>) {
        match &self.cell {
            Some(key) => (key.row.clone(), Some(key.column)),
            None => (self.label.clone(), None),
        }
    }
}

/// The quantile `q` of some values, interpolated linearly; none of none. Sorts in place.
pub(crate) fn quantile(values: &mut [f64], q: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let at = q * last as f64;
    let low = *values.get(whole(at) as usize)?;
    let high = *values.get((whole(at.ceil()) as usize).min(last))?;
    Some(low + (high - low) * at.fract())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::run::fixture;
    use protocol::preset::PresetRequest;
    use protocol::workload::Rw;

    #[test]
    fn a_preset_has_one_group_per_cell_with_its_warmups_in_front() {
        let steps = PresetRequest { name: "cdm8".into(), ..PresetRequest::default() }.steps().unwrap();
        let spec = RunSpec { target: "/t".into(), preset: None, keep_file: false, steps };
        let groups = groups(&spec);
        assert_eq!(groups.len(), 12);
        assert!(groups.iter().all(|g| g.steps.len() == 4 && g.warmups == 1));
        assert_eq!(groups[4].label, "SEQ1M Q8T1 write");
    }

    #[test]
    fn repetitions_of_a_workload_are_one_group_though_others_run_between() {
        let (a, b) = (Workload::new(Rw::Read), Workload::new(Rw::RandRead));
        let groups = groups(&RunSpec::of_workloads("/t", &[a, b], 3));
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[1].steps, [1, 3, 5]);
    }

    #[test]
    fn workloads_show_their_median_and_say_so() {
        let spec = RunSpec::of_workloads("/t", &[Workload::new(Rw::Read)], 3);
        let results: Vec<_> = [100.0, 300.0, 110.0].iter().zip(0..).map(|(bw, i)| fixture::result(i, *bw)).collect();
        let value = groups(&spec)[0].value(&spec, &results).unwrap();
        assert_eq!((value.bw, value.statistic.as_str()), (110.0, "median of 3"));
        assert_eq!(groups(&spec)[0].value(&spec, &[]), None);
    }

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&mut [4.0, 1.0, 2.0, 3.0], 0.5), Some(2.5));
        assert_eq!(quantile(&mut [7.0], 0.9), Some(7.0));
        assert_eq!(quantile(&mut [], 0.5), None);
    }
}
