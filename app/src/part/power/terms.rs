//! What each kind of setting is, in two sentences at most, for whoever hovers over its name or reaches it with Tab.

/// The explanation of a kind of knob.
pub(crate) fn explain(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "cpu.turbo" => "Lets cores run above their rated frequency while power and heat allow.",
        "cpu.smt" => "Two hardware threads on one core share its units. Off leaves each core to one thread.",
        "cpu.cores" => "How many CPUs take part. The others are offline until they are put back.",
        "cpu.c1e" => "A halted core also lowers its voltage and clock. Waking takes a little longer than from C1.",
        "cpu.deep-idle" => {
            "Idle cores sleep in steps; deeper ones save more and take longer to leave. A drive's answer waits for that."
        }
        "cpu.latency-limit" => {
            "Tells the kernel how long waking up may take, so that it avoids deeper sleep. The kernel drops it when Brakecheck ends."
        }
        "cpu.governor" => "The rule by which the kernel chooses a CPU's frequency.",
        "cpu.epp" => "A hint to the CPU whether to prefer speed or energy when it chooses its own frequency.",
        "cpu.epb" => "An older hint to the CPU whether to prefer speed or energy; it also steers turbo and sleep.",
        "cpu.frequency-floor" => "The lowest frequency a CPU may go down to.",
        "platform.profile" => "The firmware's own profile: fans, power limits and more at once.",
        "pcie.aspm" => {
            "Active State Power Management lets an idle PCI Express link sleep. Waking it adds microseconds."
        }
        "pcie.aspm-l0s" | "pcie.aspm-l1" | "pcie.aspm-l1.1" | "pcie.aspm-l1.2" => {
            "One sleeping state of this link. Deeper ones save more and take longer to leave."
        }
        "pcie.clock-pm" => "Lets the link's reference clock stop while it sleeps.",
        "pcie.link-speed" => "The speed at which the link to the drive is trained.",
        "pci.runtime-pm" => "Lets an idle device go to sleep altogether.",
        "sata.link-power" => "Lets the SATA link sleep between commands (ALPM). Deeper policies take longer to wake.",
        "sata.ncq" => "Native Command Queueing: the drive holds several commands and orders them itself.",
        "nvme.apst" => "Autonomous Power State Transitions: an idle NVMe drive goes to sleep by itself.",
        "nvme.power-state" => "The power state the drive works in. Lower ones draw less and are slower.",
        "block.scheduler" => "Orders requests in the kernel before they go to the drive.",
        "block.nomerges" => "Whether neighbouring requests are joined into one.",
        "block.rq-affinity" => "On which CPU the end of a request is handled.",
        "block.wbt" => "Writeback throttling holds back buffered writes so that reads stay quick.",
        "kernel.nmi-watchdog" => "A timer that finds hung CPUs. It takes a performance counter and wakes them.",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::explain;

    #[test]
    fn explanations_are_two_sentences_at_most() {
        for kind in ["cpu.deep-idle", "cpu.latency-limit", "sata.link-power", "nvme.apst", "kernel.nmi-watchdog"] {
            let text = explain(kind).unwrap();
            assert!(text.matches(". ").count() <= 1 && text.ends_with('.'), "{text}");
        }
        assert_eq!(explain("cpu.unheard-of"), None);
    }
}
