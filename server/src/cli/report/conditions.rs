//! How a run was measured, in words.

use crate::cli::output::shown;
use crate::cli::table::number;
use protocol::host::DriveFacts;
use protocol::result::{CaveatKind, EngineKind, IoPathKind, StepResult};
use protocol::run::RunRecord;

/// `ext4 on /dev/nvme0n1p2, Samsung SSD 980 PRO 1TB, PCIe 4.0 x4`.
pub(super) fn place(record: &RunRecord) -> Option<String> {
    let target = &record.target;
    let filesystem = match (&target.filesystem, &target.device) {
        (Some(fs), Some(device)) => Some(format!("{fs} on {}", shown(device))),
        (fs, device) => fs.clone().or_else(|| device.as_deref().map(shown)),
    };
    let parts: Vec<_> = filesystem.into_iter().chain(record.drive.as_ref().and_then(drive)).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Model and link.
pub(in crate::cli) fn drive(drive: &DriveFacts) -> Option<String> {
    let name = drive.model.clone().or_else(|| {
        let bus = drive.bus.as_deref().map(|b| format!("{b} drive ")).unwrap_or_default();
        (!drive.name.is_empty()).then(|| format!("{bus}{}", drive.name))
    })?;
    let link = drive.link.as_ref().map(|l| format!(", {}", l.current)).unwrap_or_default();
    Some(shown(&format!("{name}{link}")))
}

/// Lines below the numbers: where the accesses went, what drove them, what they cost, caveats, where it is stored.
pub(super) fn all(record: &RunRecord) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let mut say = |name, texts: Vec<String>| lines.extend(texts.into_iter().map(|text| (name, text)));
    say("accesses", paths(record));
    say("engine", common(record, |r| Some(engine(r))));
    say("without", common(record, fallbacks));
    say("CPU", cpu(record).into_iter().collect());
    say("note", caveats(record));
    say("result", vec![format!("{}, {}", record.id, record.started_at)]);
    lines
}

/// What is said of the steps, each thing once, in order.
fn common(record: &RunRecord, say: impl Fn(&StepResult) -> Option<String>) -> Vec<String> {
    counted(record.results.len(), record.results.iter().filter_map(|r| say(r).map(|text| (text.clone(), text))))
}

/// The text of each key once, and of how many steps it was said if not of all.
fn counted<K: PartialEq>(total: usize, said: impl Iterator<Item = (K, String)>) -> Vec<String> {
    let mut found: Vec<(K, String, usize)> = Vec::new();
    for (key, text) in said {
        match found.iter_mut().find(|(k, ..)| *k == key) {
            Some((.., n)) => *n += 1,
            None => found.push((key, text, 1)),
        }
    }
    let line = |(_, text, n): (K, String, usize)| {
        let text = shown(&text);
        if n == total { text } else { format!("{n} of {total} steps: {text}") }
    };
    found.into_iter().map(line).collect()
}

/// Where the accesses went. The evidence differs in its figures from step to step; that of the first is shown.
fn paths(record: &RunRecord) -> Vec<String> {
    let words = |kind| match kind {
        IoPathKind::Direct => "direct to the drive",
        IoPathKind::PageCache => "page cache, not comparable with others",
        IoPathKind::Unverified => "direct as far as is known",
    };
    let several = record.results.len() > 1;
    let said = record.results.iter().map(|r| {
        let evidence = r.path.evidence.trim_end_matches('.');
        let text = match (evidence, several) {
            ("", _) => words(r.path.kind).to_owned(),
            (evidence, true) => format!("{} (first such step: {evidence})", words(r.path.kind)),
            (evidence, false) => format!("{} ({evidence})", words(r.path.kind)),
        };
        (r.path.kind, text)
    });
    counted(record.results.len(), said)
}

fn engine(result: &StepResult) -> String {
    let kind = match result.engine.kind {
        EngineKind::IoUring => "io_uring",
        EngineKind::TokioUring => "tokio-uring",
        EngineKind::Threads => "threads",
    };
    let features = if result.engine.features.is_empty() {
        String::new()
    } else {
        format!(" with {}", result.engine.features.join(", "))
    };
    let mut cpus = result.engine.cpus.clone();
    cpus.sort_unstable();
    cpus.dedup();
    let names: Vec<_> = cpus.iter().map(ToString::to_string).collect();
    let pinned = match cpus.as_slice() {
        [] => String::new(),
        [one] => format!(", pinned to CPU {one}"),
        _ => format!(", {} workers pinned to CPUs {}", result.engine.cpus.len(), names.join(", ")),
    };
    format!("{kind}{features}{pinned}")
}

fn fallbacks(result: &StepResult) -> Option<String> {
    // What a caveat says as well is left to it.
    let said = |f: &&String| result.caveats.iter().any(|c| c.message.contains(f.as_str()));
    let news: Vec<_> = result.engine.fallbacks.iter().filter(|f| !said(f)).cloned().collect();
    (!news.is_empty()).then(|| news.join("; "))
}

/// CPU time, in shares of one core over the measured time, summed over all steps.
fn cpu(record: &RunRecord) -> Option<String> {
    let seconds: f64 = record.results.iter().map(|r| r.elapsed_ns as f64 / 1e9).sum();
    if seconds <= 0.0 {
        return None;
    }
    let user: f64 = record.results.iter().map(|r| r.cpu.user_s).sum();
    let system: f64 = record.results.iter().map(|r| r.cpu.system_s).sum();
    let share = |s: f64| number(s / seconds * 100.0);
    Some(format!("user {} %, system {} % of one core", share(user), share(system)))
}

fn caveats(record: &RunRecord) -> Vec<String> {
    let all = record.results.iter().flat_map(|r| &r.caveats);
    // What the page cache means stands in the first line already.
    let news = all.filter(|c| c.kind != CaveatKind::PageCache);
    // Messages of one kind may differ in a figure; the first stands for all.
    counted(record.results.len(), news.map(|c| (c.kind, c.message.clone())))
}
