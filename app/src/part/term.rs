//! Words that not everybody knows, explained on hover and focus.

use leptos::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// The explanation of a term, two sentences at most.
pub(crate) fn explain(term: &str) -> Option<&'static str> {
    Some(match term {
        "p50" => "Half of all accesses were at least this fast. Also called the median.",
        "p99" => "99 of 100 accesses were at least this fast. It shows the slow ones that a mean hides.",
        "iodepth" => {
            "Queue depth: how many accesses are in flight at once, per job. At 1 the drive's latency decides, at 32 its parallelism."
        }
        "numjobs" => "Worker threads, each on a part of the file of its own.",
        "rw" => {
            "Direction and order of the accesses, in fio's words. Sequential ones follow each other, random ones jump."
        }
        "rwmixread" => "Reads per hundred accesses of a mixed workload.",
        "bs" => "Block size: bytes per access. k, m and g are powers of 1024, as in fio.",
        "size" => "Range of the file that is accessed. It should be larger than the drive's own cache.",
        "offset" => "Where in the file or on the drive the range begins.",
        "runtime" => "How long each pass is measured.",
        "ramp_time" => "Time run before measuring starts, so that caches and clocks settle.",
        "rate_iops" => {
            "Open loop: accesses start at this rate however slow the drive is. Latency then counts from the intended start."
        }
        "thinktime" => "Pause after each completion before its slot is used again.",
        "distribution" => "How random offsets are spread: random (even), zipf:1.2 or pareto:0.2 (some blocks are hot).",
        "Repetitions" => "How often each test is measured. All of them are kept.",
        "Wait mode" => {
            "How a worker waits for completions. It changes what the CPU's power management does meanwhile, and so the result."
        }
        "O_DIRECT" => "Accesses bypass the page cache, so that the drive is measured and not memory.",
        "Page cache" => "Memory in which Linux keeps file contents. Results through it are not comparable with others.",
        "Link ceiling" => "What the narrowest part of the way to the drive could carry at best, payload only.",
        "Link" => "The connection to the drive as it was negotiated. It can be slower than what the drive can do.",
        "Scheduler" => "What orders requests in the kernel before they go to the drive.",
        "Engine CPU" => "CPU time of the benchmark's own threads, as a share of one core.",
        "Machine CPU" => "Share of all CPU time of this machine that was not idle.",
        "Engine ceiling, QD1" | "Engine ceiling, QD32" => {
            "What the tool itself can do without any drive. Results near it say more about the tool than about the drive."
        }
        "4k-qd1" => "4 KiB random reads one at a time, as fast as they go.",
        "4k-qd1-paced" => "4 KiB random reads one at a time, 200 a second. The host can fall asleep between them.",
        "cold-read" => "4 KiB random reads, each after 100 ms of rest. It shows what waking up costs.",
        "4k-qd32" => "4 KiB random reads, 32 in flight.",
        "seq1m-qd1" => "1 MiB sequential reads one at a time.",
        "seq1m-qd8" => "1 MiB sequential reads, 8 in flight.",
        _ => return None,
    })
}

/// A term; plain text where there is nothing to explain.
#[component]
pub(crate) fn Term(
    /// The word that is explained.
    name: &'static str,
    /// What is shown, if not the word itself.
    #[prop(optional)]
    shown: &'static str,
) -> impl IntoView {
    explained((if shown.is_empty() { name } else { shown }).into(), explain(name))
}

/// A word with its explanation; plain text where there is none.
pub(crate) fn explained(text: String, explanation: Option<&'static str>) -> AnyView {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    match explanation {
        None => text.into_any(),
        Some(explanation) => {
            let id = format!("term-{}", NEXT.fetch_add(1, Ordering::Relaxed));
            view! {
                <span class="term">
                    <span class="word" tabindex="0" aria-describedby=id.clone()>{text}</span>
                    <span class="tip" role="tooltip" id=id>{explanation}</span>
                </span>
            }
            .into_any()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explanations_are_two_sentences_at_most() {
        for term in ["p99", "iodepth", "rate_iops", "Link ceiling", "Wait mode", "distribution", "O_DIRECT"] {
            let text = explain(term).unwrap();
            assert!(text.matches(". ").count() <= 1 && text.ends_with('.'), "{text}");
        }
    }
}
