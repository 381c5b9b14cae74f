//! What became of a wish, in words.

use super::plan::{Step, Wish};
use super::set::Values;
use crate::kernel::{Fault, Kernel};
use protocol::knob::{Assignment, Outcome, Verdict};

/// A step that was taken.
#[derive(Debug)]
pub(super) struct Written<'a> {
    pub(super) step: Step<'a>,
    pub(super) wrote: bool,
    pub(super) fault: Option<Fault>,
}

pub(super) fn refusal(wanted: &Assignment, why: String) -> Outcome {
    Outcome {
        id: wanted.id.clone(),
        wanted: wanted.value.clone(),
        value: None,
        verdict: Verdict::Refused,
        message: Some(why),
    }
}

/// What became of a wish whose steps ended so.
pub(super) fn outcome<'a>(
    kernel: &Kernel,
    wish: &Wish<'_>,
    written: impl Iterator<Item = &'a Written<'a>>,
    before: &Values<'_>,
    after: &Values<'_>,
) -> Outcome {
    let written: Vec<_> = written.collect();
    let files = written.len();
    let (mut faults, mut others) = (Vec::new(), Vec::new());
    for done in &written {
        match after.get(done.step.site) {
            Some(Ok(now)) if now == done.step.wanted => {}
            Some(Err(fault)) => faults.push(done.fault.as_ref().unwrap_or(fault).to_string()),
            Some(Ok(now)) => match &done.fault {
                Some(fault) => faults.push(fault.to_string()),
                None => others.push((done, now)),
            },
            None => {}
        }
    }
    let of_files = |message: String, count: usize| {
        if files > 1 { format!("{message}; {count} of {files} files ended so") } else { message }
    };
    let proof = |done: &&Written<'_>| kernel.proof(done.step.site, done.step.wanted).err();
    let (verdict, message) = if let Some(first) = faults.first() {
        (Verdict::Failed, Some(of_files(first.clone(), faults.len())))
    } else if let Some((first, now)) = others.first() {
        let unmoved = |(done, now): &(&&Written<'_>, &String)| matches!(before.get(done.step.site), Some(Ok(before)) if before == *now);
        let wanted = first.step.wanted;
        let (verdict, words) = if others.iter().all(unmoved) {
            (Verdict::Ignored, format!("the kernel took `{wanted}` and stayed at `{now}`"))
        } else {
            (Verdict::Clamped, format!("the kernel made `{now}` of `{wanted}`"))
        };
        (verdict, Some(of_files(words, others.len())))
    } else if let Some(why) = written.iter().find_map(proof) {
        (Verdict::Ignored, Some(why))
    } else if let Some(left_out) = &wish.control.left_out {
        (Verdict::Failed, Some(format!("{left_out}, and so were not written; the others are as wanted")))
    } else if written.iter().any(|w| w.wrote) {
        (Verdict::Applied, None)
    } else {
        (Verdict::Unchanged, None)
    };
    let done = verdict.is_done().then(|| wish.choice.value.clone());
    let value = done.or_else(|| value_now(wish, &written, after));
    Outcome { id: wish.id().to_owned(), wanted: wish.choice.value.clone(), value, verdict, message }
}

/// The value after it all: in the knob's words where it is one of its values, else in the kernel's.
fn value_now(wish: &Wish<'_>, written: &[&Written<'_>], after: &Values<'_>) -> Option<String> {
    let holds = |w: &crate::control::Write| matches!(after.get(&w.site), Some(Ok(now)) if *now == w.value);
    let choices = wish.control.choices.iter();
    let chosen = choices.filter(|c| !c.writes.is_empty()).find(|c| c.writes.iter().all(holds));
    chosen.map(|c| c.value.clone()).or_else(|| {
        let other = written.iter().find_map(|w| match after.get(w.step.site) {
            Some(Ok(now)) if now != w.step.wanted => Some(now.clone()),
            _ => None,
        });
        other.filter(|_| written.iter().all(|w| matches!(after.get(w.step.site), Some(Ok(_)))))
    })
}
