//! All experiments, each with what it found.

use super::conduct::report;
use crate::runner::Runner;
use protocol::error::ErrorBody;
use protocol::experiment::ExperimentSummary;

/// All stored experiments, newest first. What one found that was interrupted is worked out the first time.
pub fn list(runner: &Runner) -> Result<Vec<ExperimentSummary>, ErrorBody> {
    let mut all = runner.store().experiment_summaries()?;
    if all.iter().any(|e| !e.state.ended()) {
        // One that another process began may have died with it.
        runner.settle()?;
        all = runner.store().experiment_summaries()?;
    }
    for summary in all.iter_mut().filter(|e| e.state.ended() && e.headline.is_none() && e.trials > 0) {
        match report(runner, &summary.id) {
            Ok((_, report)) => {
                runner.store().set_headline(&summary.id, &report.headline)?;
                summary.headline = Some(report.headline);
            }
            Err(e) => tracing::debug!("experiment {} cannot be judged: {e}", summary.id),
        }
    }
    Ok(all)
}
