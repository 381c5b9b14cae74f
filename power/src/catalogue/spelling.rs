//! The kernel's values for the words that stand for them, where these are the same on every host.

/// A word for people, and the kernel's value for it.
pub(crate) type Word = (&'static str, &'static str);

/// What is on with 1.
pub(crate) const SWITCH: [Word; 2] = [("on", "1"), ("off", "0")];
/// What is off with 1: `no_turbo`, `disable` of an idle state.
pub(crate) const REVERSED: [Word; 2] = [("on", "0"), ("off", "1")];
/// `smt/control`.
pub(crate) const SMT: [Word; 2] = [("on", "on"), ("off", "off")];
/// Energy performance bias: admin-guide/pm/intel_epb.rst.
pub(crate) const EPB: [Word; 5] =
    [("performance", "0"), ("balance-performance", "4"), ("normal", "6"), ("balance-power", "8"), ("power", "15")];
/// `link_power_management_policy`. `min_power` is missing: it has lost data. `min_power_with_partial` saves no more
/// than the last of these.
pub(crate) const SATA_POLICIES: [&str; 3] = ["max_performance", "medium_power", "med_power_with_dipm"];
/// `power/control` of a device.
pub(crate) const RUNTIME_PM: [&str; 2] = ["auto", "on"];
/// `pm_qos_latency_tolerance_us` of an NVMe controller.
pub(crate) const APST: [Word; 2] = [("off", "0"), ("auto", "auto")];
/// `queue/nomerges`.
pub(crate) const NOMERGES: [Word; 3] = [("all", "0"), ("simple", "1"), ("none", "2")];
/// `queue/rq_affinity`: any CPU, one that shares a cache with the one that asked, that one itself.
pub(crate) const RQ_AFFINITY: [Word; 3] = [("any", "0"), ("near", "1"), ("same", "2")];
/// `pcie_aspm.policy`.
pub(crate) const ASPM: [&str; 4] = ["default", "performance", "powersave", "powersupersave"];
