//! Where the server's own threads run: out of the way of what is measured, where there are processors enough.
//!
//! The engine takes processors from the highest number down (`engine`, `choose_cpus`), so the server keeps to the two
//! lowest. Threads inherit this; the one that measures goes back to all.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::sync::OnceLock;

/// Processors that the server keeps to.
const OURS: usize = 2;

/// All processors that this process may use, and those that the server keeps to.
#[derive(Debug, Clone, Copy)]
struct Places {
    all: CpuSet,
    ours: CpuSet,
}

/// What was found at the first call, which is to come before any thread was moved. Absent where there are too few.
fn places() -> Option<&'static Places> {
    static PLACES: OnceLock<Option<Places>> = OnceLock::new();
    PLACES.get_or_init(|| divide(sched_getaffinity(None).ok()?)).as_ref()
}

fn divide(all: CpuSet) -> Option<Places> {
    let mut ours = CpuSet::new();
    let allowed = (0..CpuSet::MAX_CPU).filter(|&cpu| all.is_set(cpu));
    allowed.take(OURS).for_each(|cpu| ours.set(cpu));
    (all.count() as usize > OURS).then_some(Places { all, ours })
}

/// Keeps the calling thread, and those that it starts, to the server's processors.
pub fn keep_aside() {
    if let Some(places) = places() {
        go(&places.ours);
    }
}

/// Lets the calling thread, and those that it starts, use every processor again: they measure.
pub fn use_all() {
    if let Some(places) = places() {
        go(&places.all);
    }
}

fn go(to: &CpuSet) {
    // Processors may be gone by now; the thread then stays where it is.
    if let Err(e) = sched_setaffinity(None, to) {
        tracing::debug!("a thread stays on its processors: {e}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(cpus: &[usize]) -> CpuSet {
        let mut set = CpuSet::new();
        for &cpu in cpus {
            set.set(cpu);
        }
        set
    }

    #[test]
    fn the_two_lowest_are_the_servers_where_there_are_more() {
        assert!(divide(set(&[0, 1])).is_none() && divide(set(&[3])).is_none());
        assert_eq!(divide(set(&[1, 4, 6, 7])).unwrap().ours, set(&[1, 4]));
    }

    #[test]
    fn a_thread_that_measures_gets_all_back() {
        let all = sched_getaffinity(None).unwrap();
        let seen = std::thread::spawn(|| {
            keep_aside();
            let aside = sched_getaffinity(None).unwrap();
            std::thread::spawn(use_all_and_look).join().map(|all| (aside, all)).unwrap()
        });
        let (aside, again) = seen.join().unwrap();
        assert_eq!(again, all);
        assert_eq!(aside.count(), if all.count() > 2 { 2 } else { all.count() });
    }

    fn use_all_and_look() -> CpuSet {
        use_all();
        sched_getaffinity(None).unwrap()
    }
}
