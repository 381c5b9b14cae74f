//! Facts about the machine.

mod daemons;
mod identity;
mod settings;
pub(crate) mod virtualization;

use crate::root::Root;
use protocol::host::HostFacts;
use protocol::units::Bytes;

pub use daemons::conflicts;
pub(crate) use daemons::is_daemon;
pub use identity::on_ac;

/// What `/proc/cpuinfo` says that the CPU has; `None` where it does not say.
pub(crate) fn cpu_flags(root: &Root) -> Option<Vec<String>> {
    Some(identity::cpuinfo(root, "flags")?.split_whitespace().map(Into::into).collect())
}

/// Everything that is known of the machine. Takes a few milliseconds, some tens on hosts with hundreds of CPUs.
pub fn facts(root: &Root) -> HostFacts {
    HostFacts {
        hostname: root.read("/proc/sys/kernel/hostname"),
        os: identity::os(root),
        kernel: identity::kernel(root),
        cpu_model: identity::cpu_model(root),
        cpus: identity::cpus_online(root),
        memory: identity::memory(root).map(Bytes),
        virtualization: virtualization::in_words(root),
        machine: identity::machine(root),
        boot_id: root.read("/proc/sys/kernel/random/boot_id"),
        settings: settings::all(root),
        daemons: daemons::running(root),
        on_ac: identity::on_ac(root),
    }
}
