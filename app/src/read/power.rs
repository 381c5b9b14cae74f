//! Settings and telemetry.

use super::reader::{record, words};
use super::{Problem, Read, field};
use protocol::knob::{
    Assignment, Group, Knob, Lifetime, Origin, Outcome, RestoreReport, Restored, RestoredItem, Verdict,
};
use protocol::power::{Drift, PowerState, SetAnswer};
use protocol::telemetry::{CpuSample, EnergySample, IdleSample, SupplySample, Telemetry, TemperatureSample};
use serde_json::Value;

record!(PowerState { knobs, changed, confirm_ms, read_only, daemons, notes, telemetry });
record!(Knob {
    id,
    title,
    about,
    group,
    value,
    detail,
    values,
    saving_value,
    performance_value,
    writable,
    reason,
    restart,
    source,
    risk,
    origin,
    original,
    lifetime
});
words!(Group {
    "platform" => Platform, "cpu" => Cpu, "pcie" => Pcie, "link" => Link, "drive" => Drive, "queue" => Queue,
});
words!(Origin { "found" => Found, "ours" => Ours, "foreign" => Foreign });
record!(Assignment { id, value });
record!(Drift { id, ours, now });

impl Read for Lifetime {
    fn read(value: &Value, problem: &mut Problem) -> Self {
        let kind: String = field(value, "kind", problem);
        match kind.as_str() {
            "session" => Self::Session,
            "kept" => Self::Kept,
            "for" => Self::For { seconds: field(value, "seconds", problem) },
            "unconfirmed" => Self::Unconfirmed,
            "experiment" => Self::Experiment { seconds: field(value, "seconds", problem) },
            _ => {
                problem.note();
                Self::Session
            }
        }
    }
}

record!(SetAnswer { outcomes });
record!(Outcome { id, wanted, value, verdict, message });
words!(Verdict {
    "failed" => Failed, "applied" => Applied, "unchanged" => Unchanged, "clamped" => Clamped, "ignored" => Ignored,
    "refused" => Refused,
});
record!(RestoreReport { items, notes, damaged });
record!(RestoredItem { id, source, original, now, end, message });
words!(Restored {
    "failed" => Failed, "back" => Back, "already" => Already, "foreign" => Foreign, "gone" => Gone,
});

record!(Telemetry {
    t_ms,
    interval_ms,
    cpus,
    idle,
    energy,
    energy_reason,
    supply,
    temperatures,
    throttled,
    pressure,
    links
});
record!(CpuSample { cpu, busy, irq, softirq, mhz, idle });
record!(IdleSample { name, latency_us, share, entries });
record!(EnergySample { name, watts });
record!(SupplySample { on_ac, battery_watts });
record!(TemperatureSample { name, celsius });
