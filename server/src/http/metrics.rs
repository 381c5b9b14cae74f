//! `/metrics`, in the text format of Prometheus.

use super::role::Operator;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use std::fmt::{Display, Write};

/// Counters and the newest sample, for Prometheus.
#[utoipa::path(get, path = "/metrics", responses((status = 200, body = String)))]
pub(super) async fn metrics(Operator(app): Operator) -> impl IntoResponse {
    let (running, queued) = app.scheduler.counts();
    let (events, sample) = app.hub.progress();
    let (viewers, resyncs) = app.hub.audience();
    let sample = sample.unwrap_or_default();
    let mut out = Text(String::new());
    out.family("brakecheck_info", "gauge", "Version of the program.");
    out.line(&format!("brakecheck_info{{version=\"{}\"}}", protocol::VERSION), &1);
    out.metric("brakecheck_run_active", "gauge", "Whether a run is on.", &u8::from(running));
    out.metric("brakecheck_runs_queued", "gauge", "Runs that wait.", &queued);
    out.metric("brakecheck_events_total", "counter", "Events since the server started.", &events);
    out.metric("brakecheck_viewers", "gauge", "WebSockets that are open.", &viewers);
    out.metric("brakecheck_viewer_resyncs_total", "counter", "Times a viewer got a new snapshot.", &resyncs);
    out.family("brakecheck_throughput_bytes_per_second", "gauge", "Throughput over the newest sample.");
    out.line("brakecheck_throughput_bytes_per_second{direction=\"read\"}", &sample.read.bw.0);
    out.line("brakecheck_throughput_bytes_per_second{direction=\"write\"}", &sample.write.bw.0);
    out.family("brakecheck_iops", "gauge", "Completions per second over the newest sample.");
    out.line("brakecheck_iops{direction=\"read\"}", &sample.read.iops.0);
    out.line("brakecheck_iops{direction=\"write\"}", &sample.write.iops.0);
    out.metric("brakecheck_in_flight", "gauge", "Accesses in flight at the newest sample.", &sample.in_flight);
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], out.0)
}

struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }
    fn line(&mut self, name: &str, value: &dyn Display) {
        let _ = writeln!(self.0, "{name} {value}");
    }
    fn metric(&mut self, name: &str, kind: &str, help: &str, value: &dyn Display) {
        self.family(name, kind, help);
        self.line(name, value);
    }
}
