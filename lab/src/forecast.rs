//! How long it will still take, with the forecast's own range.

use crate::analysis::Analysis;
use crate::judge::Judgement;
use std::collections::BTreeMap;

/// Trials still to come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forecast {
    /// If what is undecided turns out clear.
    pub least: usize,
    /// By the present estimates.
    pub likely: usize,
    /// If it stays undecided until the blocks run out.
    pub most: usize,
}

/// The standard error of an estimate as a share of its interval's half width: intervals that hold at every look, over all
/// knobs, are three to four standard errors wide.
const ERROR: f64 = 0.3;

/// Looks ahead from after `done` of at most `max_blocks` blocks. Comparisons that are settled drop out as they will then.
pub fn forecast(analysis: &Analysis<'_>, done: u32, max_blocks: u32) -> Forecast {
    let left = analysis.blocks_left(done, max_blocks);
    let mut needed: [BTreeMap<(usize, usize), u32>; 3] = Default::default();
    for (contrast, workload) in analysis.open().0 {
        let Some((judgement, weights)) = analysis.primary(contrast, workload) else { continue };
        let blocks = ahead(&judgement, analysis.threshold(), left);
        for (blocks, needed) in blocks.into_iter().zip(&mut needed) {
            for (configuration, _) in weights {
                let place = needed.entry((*configuration, workload)).or_default();
                *place = blocks.max(*place);
            }
        }
    }
    let [least, likely, most] = needed.map(|n| n.into_values().map(|blocks| blocks as usize).sum::<usize>());
    let then = analysis.confirmation_ahead(max_blocks);
    Forecast { least: least + then[0], likely: likely + then[1], most: most + then[2] }
}

/// Blocks that a comparison still needs: at least, probably, at most.
fn ahead(j: &Judgement, threshold: f64, left: u32) -> [u32; 3] {
    let likely = j.more_blocks.unwrap_or(left).min(left);
    let (Some(estimate), Some((low, high))) = (j.estimate, j.interval) else { return [likely, left, left] };
    // The estimate a standard error further from the threshold needs fewer blocks, nearer to it more.
    let half = (high - low) / 2.0;
    let gap = (estimate.abs() - threshold).abs();
    let blocks = j.blocks as f64;
    let with = |gap: f64| {
        let more = if gap > 0.0 { blocks * (half / gap).powi(2) - blocks } else { f64::INFINITY };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to max_blocks, checked here")]
        let more = more.ceil().clamp(1.0, f64::from(left.max(1))) as u32;
        more.min(left)
    };
    [with(gap + ERROR * half).min(likely), likely, with(gap - ERROR * half).max(likely)]
}
