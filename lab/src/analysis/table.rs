//! The results of trials by workload, metric, block and configuration.

use protocol::experiment::Metric;
use std::collections::BTreeMap;
use std::ops::Range;

/// The values of a block, by configuration.
type Row = Vec<Option<f64>>;

/// Logarithms of performance: of the metric where more is better, of its reciprocal otherwise.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    blocks: BTreeMap<(usize, Metric), BTreeMap<u32, Row>>,
}

impl Table {
    /// Keeps a value; one that has no logarithm says nothing and is left out.
    pub fn put(&mut self, workload: usize, metric: Metric, block: u32, configuration: usize, value: f64) {
        if !(value.is_finite() && value > 0.0) {
            return;
        }
        let row = self.blocks.entry((workload, metric)).or_default().entry(block).or_default();
        if row.len() <= configuration {
            row.resize(configuration + 1, None);
        }
        if let Some(place) = row.get_mut(configuration) {
            *place = Some(if metric.more_is_better() { value.ln() } else { -value.ln() });
        }
    }

    /// Whether there is any value of this metric.
    pub fn has(&self, workload: usize, metric: Metric) -> bool {
        self.blocks.contains_key(&(workload, metric))
    }

    /// The weighted sums of the blocks in which every configuration of the comparison has run.
    pub fn differences(&self, workload: usize, metric: Metric, weights: &[(usize, f64)]) -> Vec<f64> {
        self.differences_in(0..u32::MAX, workload, metric, weights)
    }

    /// Those of some of the blocks.
    pub fn differences_in(
        &self,
        blocks: Range<u32>,
        workload: usize,
        metric: Metric,
        weights: &[(usize, f64)],
    ) -> Vec<f64> {
        let sum = |row: &Row| {
            weights.iter().try_fold(0.0, |sum, (c, weight)| Some(sum + weight * row.get(*c).copied().flatten()?))
        };
        let rows = self.blocks.get(&(workload, metric)).into_iter().flat_map(|rows| rows.range(blocks.clone()));
        rows.filter_map(|(_, row)| sum(row)).collect()
    }

    /// Value under `first` minus value under `second`, in the metric's own unit, block by block.
    pub fn plain_differences(&self, workload: usize, metric: Metric, first: usize, second: usize) -> Vec<f64> {
        let value = |log: f64| if metric.more_is_better() { log.exp() } else { (-log).exp() };
        let difference = |row: &Row| {
            let of = |c: usize| row.get(c).copied().flatten().map(value);
            Some(of(first)? - of(second)?)
        };
        self.blocks.get(&(workload, metric)).into_iter().flat_map(BTreeMap::values).filter_map(difference).collect()
    }
}
