//! CPU time of threads and of the machine.

use rustix::time::Timespec;
use std::fs;

/// CPU time of one thread, in µs, and its context switches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ThreadCpu {
    pub(crate) user_us: u64,
    pub(crate) system_us: u64,
    pub(crate) switches: u64,
}

impl ThreadCpu {
    /// Of the calling thread, by getrusage(2) with `RUSAGE_THREAD`.
    pub(crate) fn mine() -> Self {
        // SAFETY: all-zero bytes are a valid `rusage`, and the call only writes into it.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
            usage
        };
        let us = |t: libc::timeval| t.tv_sec.cast_unsigned() * 1_000_000 + t.tv_usec.cast_unsigned();
        Self {
            user_us: us(usage.ru_utime),
            system_us: us(usage.ru_stime),
            switches: (usage.ru_nvcsw + usage.ru_nivcsw).cast_unsigned(),
        }
    }

    /// What was added since `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            user_us: self.user_us.saturating_sub(earlier.user_us),
            system_us: self.system_us.saturating_sub(earlier.system_us),
            switches: self.switches.saturating_sub(earlier.switches),
        }
    }

    /// Both together.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            user_us: self.user_us + other.user_us,
            system_us: self.system_us + other.system_us,
            switches: self.switches + other.switches,
        }
    }
}

/// CPU time so far of any thread of this process in ns, `None` once it has ended. The clock id is that of
/// `pthread_getcpuclockid`: the complement of the thread id above three bits that say "scheduler time, one thread".
pub(crate) fn thread_cpu_ns(tid: i32) -> Option<u64> {
    let clock = (!tid << 3) | 0b110;
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call only writes into `t`.
    let ok = unsafe { libc::clock_gettime(clock, &raw mut t) } == 0;
    let t = Timespec { tv_sec: t.tv_sec, tv_nsec: t.tv_nsec };
    ok.then(|| t.tv_sec.cast_unsigned() * 1_000_000_000 + t.tv_nsec.cast_unsigned())
}

/// CPU time of the kernel workers that `io_uring` started for thread `tid` (named `iou-wrk-TID`): accesses that could
/// not be done without blocking run there. Resolution is a clock tick (10 ms).
pub(crate) fn uring_workers(tid: i32) -> ThreadCpu {
    let name = format!("iou-wrk-{tid}");
    let mut sum = ThreadCpu::default();
    for task in fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let Ok(stat) = fs::read_to_string(task.path().join("stat")) else { continue };
        let (Some(open), Some(close)) = (stat.find('('), stat.rfind(')')) else { continue };
        if stat.get(open + 1..close) != Some(name.as_str()) {
            continue;
        }
        // proc(5): utime and stime are fields 14 and 15; what follows the name begins with field 3.
        let mut fields = stat.get(close + 1..).unwrap_or_default().split_ascii_whitespace().skip(11);
        let mut ticks = || fields.next().and_then(|f| f.parse::<u64>().ok()).unwrap_or(0) * 10_000;
        sum = sum.plus(ThreadCpu { user_us: ticks(), system_us: ticks(), switches: 0 });
    }
    sum
}

/// Busy and total time of all CPUs since boot, in clock ticks, from /proc/stat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MachineCpu {
    busy: u64,
    total: u64,
}

impl MachineCpu {
    /// `None` where /proc/stat cannot be read.
    pub(crate) fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(stat: &str) -> Option<Self> {
        let line = stat.lines().find_map(|l| l.strip_prefix("cpu "))?;
        // user nice system idle iowait irq softirq steal; guest time is part of user.
        let v: Vec<u64> = line.split_ascii_whitespace().take(8).map_while(|f| f.parse().ok()).collect();
        let idle = v.get(3)? + v.get(4)?;
        let total: u64 = v.iter().sum();
        Some(Self { busy: total - idle, total })
    }

    /// Share of the time since `earlier` that was not idle, 0 to 1; `None` when no tick has passed.
    pub(crate) fn busy_since(self, earlier: Self) -> Option<f64> {
        let total = self.total.checked_sub(earlier.total).filter(|&t| t > 0)?;
        Some((self.busy.saturating_sub(earlier.busy) as f64 / total as f64).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_time_counts_iowait_as_idle() {
        let a = MachineCpu::parse("cpu  100 0 50 800 50 0 0 0 30 0\ncpu0 1 2 3 4").unwrap();
        let b = MachineCpu::parse("cpu  150 0 75 850 75 0 0 0 30 0").unwrap();
        assert_eq!(b.busy_since(a), Some(0.5));
        assert_eq!(a.busy_since(a), None);
        assert_eq!(MachineCpu::parse("cpu 1 2"), None);
    }

    #[test]
    fn a_busy_thread_has_cpu_time_and_a_dead_one_none() {
        let (before, tid) = (ThreadCpu::mine(), rustix::thread::gettid().as_raw_nonzero().get());
        let clock = thread_cpu_ns(tid).unwrap();
        while ThreadCpu::mine().since(before).user_us + ThreadCpu::mine().since(before).system_us < 20_000 {
            std::hint::black_box((0..1000u64).sum::<u64>());
        }
        assert!(thread_cpu_ns(tid).unwrap() - clock >= 15_000_000);
        assert_eq!(thread_cpu_ns(i32::MAX - 1), None);
    }
}
