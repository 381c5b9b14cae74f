//! SIGINT, SIGTERM and SIGHUP end a run in order; a second one ends the program at once.

use engine::Control;
use protocol::error::{ErrorBody, ErrorCode};
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that come together, as when a terminal and a supervisor both send one, count as one.
const ONE_PRESS: Duration = Duration::from_millis(500);

/// Stops `control` at the first signal. From here on signals no longer kill the process by themselves.
pub(super) fn stop_on_signals(control: &Control) -> Result<(), ErrorBody> {
    let failed = |e: std::io::Error| ErrorBody::new(ErrorCode::Internal, format!("Signals cannot be handled: {e}."));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
    // Under nohup the run is meant to outlive its terminal.
    if !hangup_is_ignored() {
        kinds.push(SignalKind::hangup());
    }
    let guard = runtime.enter();
    let signals = kinds.into_iter().map(signal).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    drop(guard);
    let control = control.clone();
    let wait = move || {
        runtime.block_on(async {
            let mut signals = signals;
            any(&mut signals).await;
            control.stop();
            eprintln!(
                "{}Stopping; what was measured so far is kept. A second signal ends the program at once.",
                after_echo()
            );
            let first = Instant::now();
            while first.elapsed() < ONE_PRESS {
                any(&mut signals).await;
            }
            // The laid-out file is registered and goes at the next start.
            std::process::exit(i32::from(ErrorCode::Interrupted.exit_code()));
        });
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait).map_err(failed)?;
    Ok(())
}

/// A terminal has just echoed `^C` into the line of progress.
fn after_echo() -> &'static str {
    if std::io::stderr().is_terminal() { "\n" } else { "" }
}

/// Until one of them arrives.
async fn any(signals: &mut [Signal]) {
    futures_util::future::select_all(signals.iter_mut().map(|s| Box::pin(s.recv()))).await;
}

fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|l| l.strip_prefix("SigIgn:")).map(str::trim);
    mask.and_then(|m| u64::from_str_radix(m, 16).ok()).is_some_and(|m| m & 1 == 1)
}
