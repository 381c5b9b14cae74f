//! Samples, in batches.

use super::runs::{read, write};
use super::{Store, StoreError};
use protocol::sample::Sample;
use rusqlite::params;

impl Store {
    /// Appends samples of a run as one transaction; `n` is the position of the first within the run.
    pub fn append_samples(&self, run: &str, n: u64, samples: &[Sample]) -> Result<(), StoreError> {
        if samples.is_empty() {
            return Ok(());
        }
        let text = write("samples", &samples)?;
        self.connection()
            .prepare_cached("INSERT INTO samples (run, n, samples) VALUES (?1, ?2, ?3)")?
            .execute(params![run, i64::try_from(n).unwrap_or(i64::MAX), text])?;
        Ok(())
    }

    /// Samples of a run in order: of one step, or of all. A run without samples, or no run, has none.
    pub fn samples(&self, run: &str, step: Option<u32>) -> Result<Vec<Sample>, StoreError> {
        let db = self.connection();
        let mut query = db.prepare_cached("SELECT samples FROM samples WHERE run = ?1 ORDER BY n")?;
        let mut all = Vec::new();
        for row in query.query_map([run], |row| row.get::<_, String>(0))? {
            let batch: Vec<Sample> = read("samples", &row?)?;
            all.extend(batch.into_iter().filter(|s| step.is_none_or(|step| s.step == step)));
        }
        Ok(all)
    }
}
