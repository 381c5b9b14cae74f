//! Other methods that claim to hold at every look, on the same trials.

use crate::truth::{KNOBS, Leave, USUAL, drawn_costs, experiment, planned_trials, right, six_knobs, spec};
use lab::student;
use protocol::experiment::Finding;

/// Error allowed to each knob's interval.
const ALPHA: f64 = 0.05 / KNOBS as f64;
/// Block for which the widths are tuned, where a method lets one choose.
const TUNED: f64 = 60.0;
const MIN_BLOCKS: usize = 6;
const MAX_BLOCKS: usize = 200;

type Interval = Option<(f64, f64)>;
type Method<'a> = &'a dyn Fn(&[f64]) -> Interval;

/// Prints how often each method's intervals fail, and what its verdicts take.
pub(crate) fn table(experiments: u64) {
    let bounds = lan_demets();
    let group = |d: &[f64]| group_sequential(d, &bounds);
    let methods: [(&str, Method); 4] = [
        ("asymptotic confidence sequence (plain mean)", &|d| Some(asymptotic(d.len(), plain(d)))),
        ("asymptotic confidence sequence (Huber)", &|d| Some(asymptotic(d.len(), huber(d)))),
        ("t confidence sequence (Huber)", &|d| student_sequence(d.len(), huber(d))),
        ("group-sequential, Lan-DeMets, Pocock type (Huber)", &group),
    ];
    println!(
        "other methods ({experiments} experiments)                  off the truth   wrong  undecided  trials/fixed"
    );
    for (name, interval) in methods {
        let off = off_the_truth(experiments, interval);
        let (trials, undecided, wrong) = verdicts(experiments, interval);
        println!("  {name:<52} {off:6.2} %  {wrong:6.2} %  {undecided:6.2} %   {:6.2}", trials / planned_trials());
    }
}

/// Percentage of null experiments in which any interval at any look is off the truth.
fn off_the_truth(experiments: u64, interval: Method) -> f64 {
    let plan = six_knobs(&spec());
    let mut off = 0;
    for seed in 0..experiments {
        let mut any = false;
        experiment(&plan, USUAL, &[0.0; KNOBS], seed, 60, Leave::Never, |_, d| {
            let interval = if d.len() < MIN_BLOCKS { None } else { interval(d) };
            any |= interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
            Finding::Undecided
        });
        off += u32::from(any);
    }
    100.0 * f64::from(off) / experiments as f64
}

/// Trials on average, and percentages of knobs left undecided and judged wrongly.
fn verdicts(experiments: u64, interval: Method) -> (f64, f64, f64) {
    let plan = six_knobs(&spec());
    let (mut trials, mut undecided, mut wrong) = (0, 0, 0);
    for seed in 0..experiments {
        let costs = drawn_costs(seed);
        let end = experiment(&plan, USUAL, &costs, seed, 200, Leave::Decided, |_, d| {
            if d.len() < MIN_BLOCKS { Finding::Undecided } else { finding(interval(d)) }
        });
        trials += end.trials;
        for (finding, cost) in end.findings.iter().zip(&costs) {
            undecided += usize::from(*finding == Finding::Undecided);
            wrong += usize::from(*finding != Finding::Undecided && *finding != right(*cost));
        }
    }
    let knobs = experiments as f64 * KNOBS as f64;
    (trials as f64 / experiments as f64, 100.0 * undecided as f64 / knobs, 100.0 * wrong as f64 / knobs)
}

fn finding(interval: Interval) -> Finding {
    let t = -(0.99f64.ln());
    match interval {
        Some((_, high)) if high < -t => Finding::Brake,
        Some((low, _)) if low > t => Finding::Helps,
        Some((low, high)) if low > -t && high < t => Finding::Free,
        _ => Finding::Undecided,
    }
}

/// Mean and standard deviation.
fn plain(d: &[f64]) -> (f64, f64) {
    let n = d.len() as f64;
    let mean = d.iter().sum::<f64>() / n;
    (mean, (d.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
}

fn median(values: &[f64]) -> f64 {
    lab::Summary::of(values).map_or(0.0, |s| s.median)
}

/// One step from the median to Huber's estimate at 1.5 standard deviations, and the standard deviation of its influence.
fn huber(d: &[f64]) -> (f64, f64) {
    let centre = median(d);
    let scale = 1.4826 * median(&d.iter().map(|x| (x - centre).abs()).collect::<Vec<_>>());
    if scale <= 0.0 {
        return plain(d);
    }
    let inside = d.iter().filter(|x| (*x - centre).abs() < 1.5 * scale).count() as f64 / d.len() as f64;
    let influence: Vec<_> = d.iter().map(|x| (x - centre).clamp(-1.5 * scale, 1.5 * scale) / inside).collect();
    let (step, deviation) = plain(&influence);
    (centre + step, deviation)
}

/// Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Annals of Statistics 52 (2024): the sequence of a normal mixture, tuned for one block.
fn asymptotic(n: usize, (mean, deviation): (f64, f64)) -> (f64, f64) {
    let n = n as f64;
    let log = -2.0 * ALPHA.ln();
    let rho2 = (log + (log + 1.0).ln()) / TUNED;
    let half = deviation * (2.0 * (n * rho2 + 1.0) / (n * n * rho2) * ((n * rho2 + 1.0).sqrt() / ALPHA).ln()).sqrt();
    (mean - half, mean + half)
}

/// Wang and Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance" (2023): the
/// scale-invariant likelihood ratio, mixed over a normal prior of the standardised mean.
fn student_sequence(n: usize, (mean, deviation): (f64, f64)) -> Interval {
    let n = n as f64;
    let log = -2.0 * ALPHA.ln();
    let prior = TUNED / (log + (log + 1.0).ln());
    let kept = prior / (n + prior);
    let ratio = (1.0 / (ALPHA * ALPHA * kept)).powf(1.0 / n);
    let t2 = (n - 1.0) * (ratio - 1.0) / (1.0 - kept * ratio);
    let half = deviation * (t2 / n).sqrt();
    (kept * ratio < 1.0).then_some((mean - half, mean + half))
}

/// Repeated intervals of a group-sequential design: normal bounds, turned to Student's at the same tail.
fn group_sequential(d: &[f64], bounds: &[f64]) -> Interval {
    let (mean, deviation) = huber(d);
    let bound = *bounds.get(d.len() - 1)?;
    let half = bound * deviation / (d.len() as f64).sqrt();
    Some((mean - half, mean + half))
}

/// Bounds at each block after Lan and DeMets (Biometrika 70, 1983) with Pocock's type of spending,
/// `alpha ln(1 + (e - 1) t)`, by recursive integration (Armitage and others, JRSS A 132, 1969); small samples by
/// Student's quantile of the same tail.
fn lan_demets() -> Vec<f64> {
    const POINTS: usize = 801;
    const REACH: f64 = 6.0;
    let spent = |n: usize| ALPHA * (1.0 + (std::f64::consts::E - 1.0) * n as f64 / MAX_BLOCKS as f64).ln();
    let normal = |x: f64, sd: f64| (-x * x / (2.0 * sd * sd)).exp() / (sd * std::f64::consts::TAU.sqrt());
    // Density of the sum at the last look within the bounds, on a grid as wide as the bounds can be.
    let mut density: Vec<(f64, f64)> = Vec::new();
    let mut bounds = Vec::new();
    let mut before = 0.0;
    for n in MIN_BLOCKS..=MAX_BLOCKS {
        let sd = (n as f64).sqrt();
        let step = 2.0 * REACH * sd / (POINTS - 1) as f64;
        let added = if n == MIN_BLOCKS { sd } else { 1.0 };
        let at = |x: f64| {
            if density.is_empty() {
                normal(x, added)
            } else {
                density.iter().map(|(y, mass)| mass * normal(x - y, 1.0)).sum()
            }
        };
        let now: Vec<(f64, f64)> = (0..POINTS)
            .map(|i| {
                let x = step * i as f64 - REACH * sd;
                (x, step * at(x))
            })
            .collect();
        // The bound leaves out as much as may be spent since the last look.
        let budget = spent(n) - before;
        before = spent(n);
        let (mut out, mut index) = (0.0, 0);
        while index < POINTS / 2 && out + 2.0 * now[index].1 <= budget {
            out += 2.0 * now[index].1;
            index += 1;
        }
        let bound = now[index].0.abs() / sd;
        density = now.into_iter().filter(|(x, _)| x.abs() < bound * sd).collect();
        let level = 1.0 - 2.0 * upper_tail(bound);
        bounds.push(student::two_sided(level, (n - 1) as f64));
    }
    let mut all = vec![f64::INFINITY; MIN_BLOCKS - 1];
    all.extend(bounds);
    all
}

/// Probability that a standard normal variable is above `z`: the sum of its density, in small steps.
fn upper_tail(z: f64) -> f64 {
    let step = 1e-3;
    let density = |x: f64| (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
    (0..10_000u32).map(|i| step * density(z + step * (f64::from(i) + 0.5))).sum()
}
