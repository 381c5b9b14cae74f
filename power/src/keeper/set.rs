//! Setting knobs.

use super::Keeper;
use super::plan::{Step, Wish, steps, undone};
use super::verdict::{Written, outcome, refusal};
use crate::control::{Control, Hints, controls};
use crate::journal::{Entry, JournalError, Layer, Record};
use crate::kernel::{Fault, NO_LIMIT};
use crate::site::Site;
use protocol::knob::{Assignment, Lifetime, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// What sites say, as far as they were read.
pub(super) type Values<'a> = BTreeMap<&'a Site, Result<String, Fault>>;

impl Keeper {
    /// Sets knobs of this host, each by itself: what happens to one does not keep the others. An error means that
    /// nothing was set, since it could not be written down.
    pub fn set(
        &mut self,
        hints: &Hints,
        wishes: &[Assignment],
        lifetime: Lifetime,
        risk: bool,
    ) -> Result<Vec<Outcome>, JournalError> {
        let controls = controls(self.root(), hints);
        self.set_among(&controls, wishes, lifetime, risk)
    }

    /// As [`Keeper::set`], of these controls.
    pub fn set_among(
        &mut self,
        controls: &[Control],
        wanted: &[Assignment],
        lifetime: Lifetime,
        risk: bool,
    ) -> Result<Vec<Outcome>, JournalError> {
        let (mut wishes, mut refusals) = (Vec::new(), Vec::new());
        for (at, assignment) in wanted.iter().enumerate() {
            let again = wanted.iter().skip(at + 1).any(|later| later.id == assignment.id);
            let wish =
                if again { Err("named again later".into()) } else { Wish::new(controls, assignment, lifetime, risk) };
            refusals.push(wish.as_ref().err().cloned());
            wishes.push(wish.ok());
        }
        for (at, why) in undone(&wishes) {
            if let (Some(wish), Some(refused)) = (wishes.get_mut(at), refusals.get_mut(at)) {
                (*wish, *refused) = (None, Some(why));
            }
        }
        let steps = steps(&wishes);
        let before: Values<'_> = self.values(steps.iter().map(|s| s.site));
        let drafts = self.drafts(&wishes, &steps, &before);
        let own: BTreeSet<Site> = drafts.keys().cloned().collect();
        let mut followed = if drafts.is_empty() { Vec::new() } else { self.steady(&own) };

        let intents: Vec<Entry> = drafts.values().cloned().map(Entry::Record).collect();
        if !intents.is_empty() {
            self.write_down(&intents)?;
        }
        let earlier: BTreeMap<&Site, Option<Record>> =
            drafts.keys().map(|site| (site, self.records.get(site).cloned())).collect();
        self.owed.retain(|site, _| !drafts.contains_key(site));
        self.records.extend(drafts.iter().map(|(site, record)| (site.clone(), record.clone())));

        let (after, written) = self.write(&steps, &before);
        let mut marks = self.settle_records(&earlier, &before, &after, &written);
        if written.iter().any(|w| w.wrote && matches!(w.step.site, Site::CpuOnline { .. } | Site::Smt)) {
            followed.extend(own);
        }
        if written.iter().any(|w| w.wrote) {
            marks.extend(self.follow(&followed));
        }
        let ids: Vec<&str> = wishes.iter().flatten().map(Wish::id).collect();
        self.mark(&marks);
        self.put_back_disturbed(&ids);
        // Set to what it was: nothing is left to be put back, and nothing is to say that something is.
        if self.records.is_empty() && !marks.is_empty() {
            self.rewrite();
        }

        let told =
            wishes.iter().zip(refusals).zip(wanted).enumerate().map(|(at, ((wish, refused), wanted))| match wish {
                Some(wish) => {
                    outcome(&self.kernel, wish, written.iter().filter(|w| w.step.wish == at), &before, &after)
                }
                None => refusal(wanted, refused.unwrap_or_default()),
            });
        Ok(told.collect())
    }

    fn values<'a>(&self, sites: impl Iterator<Item = &'a Site>) -> Values<'a> {
        let mut values = Values::new();
        for site in sites {
            values.entry(site).or_insert_with(|| self.read(site));
        }
        values
    }

    /// Records as they will be, of every site that is about to change hands.
    fn drafts(
        &mut self,
        wishes: &[Option<Wish<'_>>],
        steps: &[Step<'_>],
        before: &Values<'_>,
    ) -> BTreeMap<Site, Record> {
        let mut drafts = BTreeMap::new();
        let mut disturbing = BTreeSet::new();
        for step in steps {
            let (Some(Some(wish)), Some(Ok(now))) = (wishes.get(step.wish), before.get(step.site)) else { continue };
            let differs = self.must_write(step.site, now, step.wanted);
            let known = drafts.get(step.site).or_else(|| self.records.get(step.site));
            if !differs && known.is_none_or(|r| r.foreign || r.layers.is_empty()) {
                continue;
            }
            if differs {
                disturbing.insert(step.wish);
            }
            let mut record = self.draft(drafts.remove(step.site), step.site, now);
            let set_before = record.layers.iter().find(|l| l.id == wish.id());
            let was = set_before.map_or_else(|| wish.control.value.clone(), |l| l.was.clone());
            record.lay(Layer {
                id: wish.id().to_owned(),
                choice: wish.choice.value.clone(),
                was,
                wanted: step.wanted.to_owned(),
                ours: (!differs).then(|| now.clone()),
                lifetime: wish.lifetime,
                expires: wish.expires,
            });
            drafts.insert(step.site.clone(), record);
        }
        // Once it is ours, what lies in those sites came of that; what lay there before is written down already.
        let changed = |wish: &Wish<'_>| self.records.values().any(|r| r.layers.iter().any(|l| l.id == wish.id()));
        let disturbing = disturbing.into_iter().filter_map(|at| wishes.get(at)?.as_ref());
        let disturbing: Vec<&Wish<'_>> = disturbing.filter(|wish| !changed(wish)).collect();
        for wish in disturbing {
            for site in &wish.choice.disturbs {
                // What cannot be read cannot be put back.
                let Ok(now) = self.read(site) else { continue };
                let mut record = self.draft(drafts.remove(site), site, &now);
                record.disturbed_by.get_or_insert_with(|| wish.id().to_owned());
                drafts.insert(site.clone(), record);
            }
        }
        drafts
    }

    /// The record of a site to go on with. One that somebody else took over starts anew from what they set.
    fn draft(&mut self, draft: Option<Record>, site: &Site, now: &str) -> Record {
        let known = draft.or_else(|| self.records.get(site).cloned());
        let seq = known.as_ref().map_or(self.next_seq, |r| r.seq);
        self.next_seq = self.next_seq.max(seq + 1);
        known.filter(|r| !r.foreign).unwrap_or_else(|| Record {
            seq,
            site: site.clone(),
            identity: self.kernel.identity(site),
            original: now.to_owned(),
            layers: Vec::new(),
            disturbed_by: None,
            foreign: false,
        })
    }

    /// What is in force without our holding it may end at any time.
    fn must_write(&self, site: &Site, now: &str, wanted: &str) -> bool {
        let unheld = self.kernel.is_held(site) && !self.kernel.holds(site) && wanted != NO_LIMIT;
        now != wanted || unheld
    }

    /// Writes in order and reads back, so that what decides about others is in force before they are written.
    fn write<'a>(&mut self, steps: &[Step<'a>], before: &Values<'a>) -> (Values<'a>, Vec<Written<'a>>) {
        let mut now = before.clone();
        let mut written = Vec::new();
        for group in steps.chunk_by(|a, b| a.site.rank() == b.site.rank()) {
            let first = written.len();
            for step in group {
                let mut done = Written { step: *step, wrote: false, fault: None };
                match now.get(step.site) {
                    Some(Ok(value)) if self.must_write(step.site, value, step.wanted) => {
                        done.wrote = true;
                        done.fault = self.kernel.write(step.site, step.wanted).err();
                        now.insert(step.site, Ok(step.wanted.to_owned()));
                    }
                    Some(Err(fault)) => done.fault = Some(fault.clone()),
                    _ => {}
                }
                written.push(done);
            }
            let ended = Instant::now();
            for done in written.iter().skip(first).filter(|w| w.wrote) {
                self.kernel.settle(done.step.site, done.step.wanted, ended);
                now.insert(done.step.site, self.read(done.step.site));
            }
        }
        (now, written)
    }

    /// Brings the records to what was read back, and tells what is to be written down about it.
    fn settle_records(
        &mut self,
        earlier: &BTreeMap<&Site, Option<Record>>,
        before: &Values<'_>,
        after: &Values<'_>,
        written: &[Written<'_>],
    ) -> Vec<Entry> {
        let mut entries = Vec::new();
        let vanished = |w: &&Written<'_>| w.fault.as_ref().is_some_and(Fault::is_gone);
        let untouched: BTreeSet<&Site> = written.iter().filter(vanished).map(|w| w.step.site).collect();
        for (site, earlier) in earlier {
            // What is only disturbed was not written.
            let Some(Ok(before)) = before.get(*site) else { continue };
            let now = match after.get(*site) {
                Some(Ok(now)) => now,
                // Gone before it could be written.
                Some(Err(_)) if untouched.contains(*site) => before,
                _ => continue,
            };
            let Some(record) = self.records.get_mut(*site) else { continue };
            let Some(layer) = record.layers.last_mut() else { continue };
            let took = now == &layer.wanted || now != before;
            layer.ours = Some(now.clone());
            match earlier {
                // Nothing came of it: what lay there before still lies there.
                Some(earlier) if !took => {
                    let disturbed_by = record.disturbed_by.take().or_else(|| earlier.disturbed_by.clone());
                    *record = Record { disturbed_by, ..earlier.clone() };
                    entries.push(Entry::Record(record.clone()));
                }
                _ => entries.push(Entry::Mark { seq: record.seq, ours: now.clone() }),
            }
            if record.is_idle() {
                self.records.remove(*site);
            }
        }
        entries
    }

    /// Writes marks down. If that fails, the intents stand, and what they tell is put back just the same.
    pub(super) fn mark(&mut self, marks: &[Entry]) {
        if !marks.is_empty()
            && let Err(error) = self.write_down(marks)
        {
            self.notes.push(error.to_string());
        }
    }
}
