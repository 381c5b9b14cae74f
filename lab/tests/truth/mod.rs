//! Experiments on a machine whose truth is known.

pub(crate) mod staged;

use lab::analysis::Table;
use lab::design::{Contrast, Host, Open, Plan, block, plan};
use lab::student;
use protocol::experiment::{Base, Design, ExperimentSpec, Finding, Metric};
use protocol::knob::Knob;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Knobs of the machine.
pub(crate) const KNOBS: usize = 6;
/// Standard deviation of a trial's logarithm.
pub(crate) const NOISE: f64 = 0.02;
/// What is lost, evenly, over the whole experiment.
const DRIFT: f64 = 0.10;

/// What disturbs the trials.
#[derive(Clone, Copy)]
pub(crate) struct Trouble {
    /// Correlation of a trial with the next.
    pub(crate) memory: f64,
    /// Share of the trials that are three times slower.
    pub(crate) outliers: f64,
}

/// The trouble that the bars are set for.
pub(crate) const USUAL: Trouble = Trouble { memory: 0.5, outliers: 0.01 };

/// Each knob changed alone from all-performance: seven trials a block.
pub(crate) fn spec() -> ExperimentSpec {
    ExperimentSpec { from: Base::AllPerformance, ..ExperimentSpec::new(Design::OneAtATime, "/") }
}

/// The plan of [`spec`].
pub(crate) fn six_knobs(spec: &ExperimentSpec) -> Plan {
    let knobs = knobs(KNOBS);
    plan(spec, Host { knobs: &knobs, waits: &[] }).expect("six knobs can be planned")
}

/// So many knobs.
pub(crate) fn knobs(count: usize) -> Vec<Knob> {
    let knob = |i: usize| Knob {
        id: format!("knob.{i}"),
        saving_value: Some("on".into()),
        performance_value: Some("off".into()),
        writable: true,
        ..Knob::default()
    };
    (0..count).map(knob).collect()
}

/// What these costs leave of the speed in a configuration.
fn share(plan: &Plan, costs: &[f64], configuration: usize) -> f64 {
    let mut share = 1.0;
    for (knob, assignment) in plan.configurations[configuration].set.iter().enumerate() {
        share *= if assignment.value == "on" { 1.0 - costs[knob] } else { 1.0 };
    }
    share
}

/// The machine: drift, memory and outliers as time goes by.
struct Machine {
    rng: Xoshiro256PlusPlus,
    trouble: Trouble,
    state: f64,
    time: f64,
    end: f64,
}

impl Machine {
    fn new(trouble: Trouble, seed: u64, trials: usize) -> Self {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut machine = Self { rng, trouble, state: 0.0, time: 0.0, end: trials as f64 };
        machine.state = machine.normal();
        machine
    }

    fn uniform(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.uniform()).ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Speed of the next trial, where the knobs leave this share of it, with so much noise.
    fn trial(&mut self, share: f64, noise: f64) -> f64 {
        let memory = self.trouble.memory;
        self.state = memory * self.state + (1.0 - memory * memory).sqrt() * self.normal();
        let drift = 1.0 - DRIFT * self.time / self.end;
        self.time += 1.0;
        let slow = if self.uniform() < self.trouble.outliers { 3.0 } else { 1.0 };
        1000.0 * share * drift * (noise * self.state).exp() / slow
    }
}

/// How an experiment ended.
pub(crate) struct Ending {
    /// The last finding of each knob.
    pub(crate) findings: Vec<Finding>,
    /// The differences of each knob.
    pub(crate) differences: Vec<Vec<f64>>,
    /// Trials run.
    pub(crate) trials: usize,
}

/// When a knob leaves the experiment.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Leave {
    /// When it has its verdict.
    Decided,
    /// Never: each is watched to the end.
    Never,
}

/// Runs an experiment whose knobs cost these shares. `look` is asked about each knob after each block.
pub(crate) fn experiment(
    plan: &Plan,
    trouble: Trouble,
    costs: &[f64],
    seed: u64,
    most: u32,
    leave: Leave,
    mut look: impl FnMut(usize, &[f64]) -> Finding,
) -> Ending {
    let mut machine = Machine::new(trouble, seed ^ 0x5151, plan.configurations.len() * most as usize);
    let mut table = Table::default();
    let mut open = Open::all(plan, 1);
    let of = |table: &Table, c: &Contrast| table.differences(0, Metric::Iops, &c.weights);
    let mut ending =
        Ending { findings: vec![Finding::Undecided; plan.contrasts.len()], differences: vec![], trials: 0 };
    for number in 0..most {
        for slot in block(plan, seed, number, &open) {
            let rate = machine.trial(share(plan, costs, slot.configuration), NOISE);
            table.put(0, Metric::Iops, number, slot.configuration, rate);
            ending.trials += 1;
        }
        for (i, contrast) in plan.contrasts.iter().enumerate() {
            if open.0.contains(&(i, 0)) {
                let finding = look(i, &of(&table, contrast));
                ending.findings[i] = finding;
                if leave == Leave::Decided && finding != Finding::Undecided {
                    open.0.remove(&(i, 0));
                }
            }
        }
        if open.is_empty() {
            break;
        }
    }
    ending.differences = plan.contrasts.iter().map(|c| of(&table, c)).collect();
    ending
}

/// Costs of the knobs, each 0, 3 or 10 %.
pub(crate) fn drawn_costs(seed: u64) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0xc057);
    (0..KNOBS).map(|_| [0.0, 0.03, 0.10][(rng.next_u32() % 3) as usize]).collect()
}

/// What is right to say of a cost, at a threshold of 1 %.
pub(crate) fn right(cost: f64) -> Finding {
    if cost > 0.01 { Finding::Brake } else { Finding::Free }
}

/// Variance of the difference of two trials of a block of [`KNOBS`] + 1 in random order, from the noise's own
/// formula, without the outliers (with them it is forty times as much, and the planned design hopeless): `2 s^2 (1 - r)`
/// where `r` is the mean correlation of two different places.
pub(crate) fn paired_variance() -> f64 {
    let places = KNOBS + 1;
    let pairs = (places * (places - 1)) as f64;
    let mut sum = 0.0;
    for distance in 1..places {
        sum += 2.0 * (places - distance) as f64 * USUAL.memory.powf(distance as f64);
    }
    2.0 * NOISE * NOISE * (1.0 - sum / pairs)
}

/// Trials of a fixed-n paired design that detects 1 % with power 0.9, the same blocks of seven, family-wise error 5 % over
/// six knobs (Bonferroni, two-sided): `n = (z_{1 - 0.05 / 12} + z_{0.9})^2 variance / ln(0.99)^2` blocks.
pub(crate) fn planned_trials() -> f64 {
    let z = |two_sided: f64| student::two_sided(two_sided, 1e9);
    let blocks = (z(1.0 - 0.05 / KNOBS as f64) + z(0.8)).powi(2) * paired_variance() / 0.99f64.ln().powi(2);
    blocks.ceil() * (KNOBS + 1) as f64
}
