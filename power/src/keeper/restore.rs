//! Putting back: each site by three values, the original, ours, and the one that is there now.

use super::{Keeper, boot_ms};
use crate::journal::{Layer, Record};
use crate::kernel::{Fault, differs};
use crate::site::Site;
use protocol::knob::{Lifetime, RestoreReport, Restored, RestoredItem};
use std::collections::BTreeSet;
use std::time::Instant;

/// What is put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Everything that is ours.
    All,
    /// What stays only while a server lives, or an experiment that needs it.
    Session,
    /// What had a time to live that is over.
    Expired,
    /// What was not confirmed.
    Unconfirmed,
    /// What was set for an experiment.
    Experiment,
}

impl Scope {
    fn ends(self, layer: &Layer, now: u64) -> bool {
        match self {
            Self::All => true,
            Self::Session => {
                matches!(layer.lifetime, Lifetime::Session | Lifetime::Unconfirmed) || Self::Experiment.ends(layer, now)
            }
            Self::Expired => layer.expires.is_some_and(|at| at <= now),
            Self::Unconfirmed => layer.lifetime == Lifetime::Unconfirmed,
            Self::Experiment => matches!(layer.lifetime, Lifetime::Experiment { .. }),
        }
    }
}

/// A site to be put back.
struct Job {
    record: Record,
    /// What stays.
    layers: Vec<Layer>,
    /// Undoing something else loses it, so what is there says nothing about whose doing it is.
    disturbed: bool,
    /// The value there before anything was put back.
    now: Result<String, Fault>,
}

/// What becomes of a record.
#[derive(Debug, Clone, Copy)]
enum Fate {
    /// Nothing of what was in scope is left.
    Over,
    /// The device it was about is gone for good.
    Lost,
    /// Somebody else's now, unless force is used later.
    Foreign,
    /// As it was: still to be put back.
    Stays,
    /// Still to be put back; what is there now came of trying.
    Moved,
}

impl Fate {
    fn is_settled(self) -> bool {
        !matches!(self, Self::Stays | Self::Moved)
    }
}

impl Job {
    fn target(&self) -> &str {
        self.layers.last().map_or(&self.record.original, Layer::value)
    }

    fn is_foreign(&self, now: &str) -> bool {
        // Without a mark it is not known what the kernel made of our write.
        let ours = self.record.top().is_some_and(|l| l.ours.as_deref().is_none_or(|ours| ours == now));
        !ours || self.record.foreign
    }
}

impl Keeper {
    /// Puts back what is in scope. What somebody else has changed meanwhile is left alone and told, unless `force`;
    /// what is gone stays written down until it returns. Nothing that happens to one site keeps the others.
    /// Damage of the journal is told at the end of each session, until everything was put back once.
    pub fn restore(&mut self, scope: Scope, force: bool) -> RestoreReport {
        let jobs = self.jobs(scope);
        let mut report = RestoreReport { notes: std::mem::take(&mut self.notes), ..RestoreReport::default() };
        if matches!(scope, Scope::All | Scope::Session) {
            let damage = self.journal.damage();
            report.notes.extend(damage.iter().map(|d| d.note.clone()));
            report.damaged = damage.iter().fold(0, |sum, d| sum.saturating_add(d.count));
        }
        let is_told = scope == Scope::All && report.damaged > 0;
        if is_told {
            self.journal.forget_damage();
        }
        if jobs.is_empty() && !is_told {
            return report;
        }
        report.items = self.put_all_back(jobs, scope, force).into_iter().map(|(item, _)| item).collect();
        self.rewrite();
        report.notes.append(&mut self.notes);
        report
    }

    /// Whether something that was to go back could not yet. What had a time to live is not meant: that is still over.
    pub fn owes(&self) -> bool {
        !self.owed.is_empty()
    }

    /// Tries again what could not go back, and tells only what is settled now: a device that was gone has returned.
    pub fn try_again(&mut self) -> RestoreReport {
        let mut report = RestoreReport::default();
        let scopes: BTreeSet<Scope> = self.owed.values().copied().collect();
        for scope in scopes {
            let mut jobs = self.jobs(scope);
            jobs.retain(|job| self.owed.get(&job.record.site) == Some(&scope));
            let done = self.put_all_back(jobs, scope, false).into_iter().filter(|(_, fate)| fate.is_settled());
            report.items.extend(done.map(|(item, _)| item));
        }
        if !report.items.is_empty() {
            self.rewrite();
        }
        report.notes.append(&mut self.notes);
        report
    }

    fn put_all_back(&mut self, jobs: Vec<Job>, scope: Scope, force: bool) -> Vec<(RestoredItem, Fate)> {
        let mut done = Vec::new();
        let own: BTreeSet<Site> = jobs.iter().map(|j| j.record.site.clone()).collect();
        let followed = self.steady(&own);
        let mut returned = false;
        for job in jobs {
            let (item, fate) = self.put_back(&job, force, returned);
            returned |= item.end == Restored::Back && matches!(job.record.site, Site::CpuOnline { .. } | Site::Smt);
            if fate.is_settled() {
                self.owed.remove(&job.record.site);
            } else if scope != Scope::Expired {
                self.owed.insert(job.record.site.clone(), scope);
            }
            self.conclude(job, &item, fate);
            done.push((item, fate));
        }
        // The journal is written anew with them.
        let _ = self.follow(&followed);
        done
    }

    fn jobs(&self, scope: Scope) -> Vec<Job> {
        let now = boot_ms();
        let ends = |r: &Record| r.layers.iter().any(|l| scope.ends(l, now));
        let undone: BTreeSet<&str> = self.records.values().filter(|r| ends(r)).map(Record::id).collect();
        let disturbed =
            |r: &Record| r.disturbed_by.as_ref().is_some_and(|id| scope == Scope::All || undone.contains(id.as_str()));
        let chosen = self.records.values().filter(|r| ends(r) || disturbed(r));
        let mut jobs: Vec<Job> = chosen
            .map(|record| Job {
                layers: record.layers.iter().filter(|l| !scope.ends(l, now)).cloned().collect(),
                disturbed: disturbed(record),
                now: self.read(&record.site),
                record: record.clone(),
            })
            .collect();
        jobs.sort_by_key(|j| (j.record.site.restore_rank(), j.record.seq));
        jobs
    }

    /// `returned`: CPUs came back in this turn, with settings that nobody made.
    fn put_back(&mut self, job: &Job, force: bool, returned: bool) -> (RestoredItem, Fate) {
        let site = &job.record.site;
        if self.kernel.is_held(site) {
            return self.let_go(job);
        }
        if differs(&job.record.identity, &self.kernel.identity(site)) {
            let words = "another device is in its place; the one that was changed is gone, and its settings with it";
            return (self.item(job, Restored::Gone, None, Some(words.into())), Fate::Lost);
        }
        let now = match self.read(site).or_else(|_| self.read(site)) {
            Ok(now) => now,
            Err(fault) => return (self.item(job, ending(&fault), None, Some(fault.to_string())), Fate::Stays),
        };
        if now == job.target() {
            return (self.item(job, Restored::Already, Some(now), None), Fate::Over);
        }
        // Judged by what was there at first: what we put back before this one may have moved it.
        let fresh = returned && job.now.is_err();
        let found = job.now.as_ref().unwrap_or(&now);
        if job.is_foreign(found) && found != job.target() && !(force || job.disturbed || fresh) {
            let words = format!("somebody else set `{now}` meanwhile; left alone (--force overwrites it)");
            return (self.item(job, Restored::Foreign, Some(now), Some(words)), Fate::Foreign);
        }
        let first = self.overwrite(site, job.target());
        match first.or_else(|_| self.overwrite(site, job.target())) {
            Ok(()) => (self.item(job, Restored::Back, Some(job.target().to_owned()), None), Fate::Over),
            Err((end, words)) => (self.item(job, end, self.read(site).ok(), Some(words)), Fate::Moved),
        }
    }

    fn let_go(&mut self, job: &Job) -> (RestoredItem, Fate) {
        let site = &job.record.site;
        let end = if self.kernel.holds(site) { Restored::Back } else { Restored::Already };
        if job.layers.is_empty() {
            self.kernel.release(site);
        } else if let Err(fault) = self.kernel.write(site, job.target()) {
            return (self.item(job, Restored::Failed, None, Some(fault.to_string())), Fate::Stays);
        }
        (self.item(job, end, self.read(site).ok(), None), Fate::Over)
    }

    fn item(&self, job: &Job, end: Restored, now: Option<String>, message: Option<String>) -> RestoredItem {
        RestoredItem {
            id: job.record.id().to_owned(),
            source: job.record.site.source(self.kernel.root()),
            original: job.target().to_owned(),
            now,
            end,
            message,
        }
    }

    /// Once; whatever the write says, what is read back counts.
    fn overwrite(&mut self, site: &Site, value: &str) -> Result<(), (Restored, String)> {
        let told = |fault: Fault| (ending(&fault), fault.to_string());
        let written = self.kernel.write(site, value);
        self.kernel.settle(site, value, Instant::now());
        let now = self.read(site).map_err(told)?;
        match written {
            _ if now == value => Ok(()),
            Err(fault) => Err(told(fault)),
            Ok(()) => Err((Restored::Failed, format!("the kernel stays at `{now}`"))),
        }
    }

    fn conclude(&mut self, job: Job, item: &RestoredItem, fate: Fate) {
        let mut record = job.record;
        match fate {
            Fate::Stays => return,
            Fate::Moved => {
                if let Some(layer) = record.layers.last_mut() {
                    layer.ours.clone_from(&item.now);
                }
                self.records.insert(record.site.clone(), record);
                return;
            }
            Fate::Foreign => record.foreign = true,
            Fate::Lost => record.layers.clear(),
            Fate::Over => {
                record.layers = job.layers;
                record.foreign = false;
                if let (Some(layer), Some(now)) = (record.layers.last_mut(), &item.now) {
                    layer.ours = Some(now.clone());
                }
            }
        }
        if job.disturbed {
            record.disturbed_by = None;
        }
        self.hidden.remove(&record.site);
        if record.layers.is_empty() && record.disturbed_by.is_none() {
            self.records.remove(&record.site);
        } else {
            self.records.insert(record.site.clone(), record);
        }
    }

    /// After these knobs were set: where one is as it was found, what it had disturbed is put back.
    pub(super) fn put_back_disturbed(&mut self, ids: &[&str]) {
        let over = |id: &String| {
            ids.contains(&id.as_str()) && !self.records.values().any(|r| r.layers.iter().any(|l| l.id == *id))
        };
        let sites: Vec<Site> = self
            .records
            .values()
            .filter(|r| r.disturbed_by.as_ref().is_some_and(over))
            .map(|r| r.site.clone())
            .collect();
        for site in &sites {
            let Some(mut record) = self.records.remove(site) else { continue };
            if self.read(site).is_ok_and(|now| now != record.value())
                && let Err((_, words)) = self.overwrite(site, record.value())
            {
                self.notes.push(format!("{}: {words}", site.source(self.kernel.root())));
            }
            record.disturbed_by = None;
            if !record.layers.is_empty() {
                self.records.insert(site.clone(), record);
            }
        }
        if !sites.is_empty() {
            self.rewrite();
        }
    }

    /// If it cannot be written anew, the old journal stands, and tells what is back already as still to be put back:
    /// the next restore finds it back.
    pub(super) fn rewrite(&mut self) {
        if let Err(error) = self.journal.rewrite(self.records.values()) {
            self.notes.push(format!("{error}; what is back will be found so"));
        }
    }
}

fn ending(fault: &Fault) -> Restored {
    if fault.is_gone() { Restored::Gone } else { Restored::Failed }
}
