//! The random order of each block.
//!
//! A block runs each configuration that is still needed once. The order of configurations is drawn for each block alone,
//! from the seed and the block's number, so that a resumed experiment goes on as it would have; this draw is what the
//! statistics rest on. Workloads are run one after the other under each configuration, since changing settings takes
//! longer than changing workloads; their order is drawn once a block and is the same under each configuration, so that
//! each workload meets its configurations at equal distances.

use super::plan::Plan;
use protocol::experiment::Stage;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::BTreeSet;

/// The comparisons that are not settled yet: pairs of a contrast and a workload, by their indices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Open(pub BTreeSet<(usize, usize)>);

impl Open {
    /// All that are open before the first block: in a design with stages those of the first.
    pub fn all(plan: &Plan, workloads: usize) -> Self {
        let first = plan.contrasts.iter().enumerate().filter(|(_, c)| c.stage != Some(Stage::Confirmation));
        Self(first.flat_map(|(c, _)| (0..workloads).map(move |w| (c, w))).collect())
    }

    /// Whether every knob has its verdict.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Configurations and workloads that are still needed.
    pub(crate) fn needed(&self, plan: &Plan) -> BTreeSet<(usize, usize)> {
        let weights = |c: usize| plan.contrasts.get(c).into_iter().flat_map(|c| c.weights.iter().map(|(i, _)| *i));
        self.0.iter().flat_map(|(c, w)| weights(*c).map(move |i| (i, *w))).collect()
    }
}

/// A trial to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot {
    /// Index of the configuration.
    pub configuration: usize,
    /// Index of the workload.
    pub workload: usize,
}

/// The trials of a block, in their order. The same plan, seed, number and open comparisons give the same order.
pub fn block(plan: &Plan, seed: u64, number: u32, open: &Open) -> Vec<Slot> {
    let needed = open.needed(plan);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ (u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    // Indices of what is still needed, so that an open comparison costs nothing for those that are settled.
    let mut configurations: Vec<_> = needed.iter().map(|(c, _)| *c).collect::<BTreeSet<_>>().into_iter().collect();
    let mut workloads: Vec<_> = needed.iter().map(|(_, w)| *w).collect::<BTreeSet<_>>().into_iter().collect();
    shuffle(&mut configurations, &mut rng);
    shuffle(&mut workloads, &mut rng);
    let slots = configurations
        .iter()
        .flat_map(|&configuration| workloads.iter().map(move |&workload| Slot { configuration, workload }));
    slots.filter(|s| needed.contains(&(s.configuration, s.workload))).collect()
}

/// Fisher and Yates's shuffle: every order is equally likely.
fn shuffle<T>(items: &mut [T], rng: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        // The high half of the product is uniform but for one part in 2^64 / len.
        let wide = u128::from(rng.next_u64()) * (last as u128 + 1);
        items.swap(last, usize::try_from(wide >> 64).unwrap_or(last));
    }
}
