//! A workload as fio's job options.

use protocol::workload::Workload;
use serde_json::{Map, Value};

/// Option names and values as a fio job file has them.
pub(super) fn of(target: &str, w: &Workload) -> Value {
    let mut options = Map::new();
    let mut put = |name: &str, value: String| options.insert(name.into(), Value::String(value));
    put("name", w.label());
    put("filename", target.to_owned());
    put("rw", w.rw.to_string());
    if w.rw.reads() && w.rw.writes() {
        put("rwmixread", w.rwmixread.to_string());
    }
    put("bs", w.bs.fio());
    put("iodepth", w.iodepth.to_string());
    put("numjobs", w.numjobs.to_string());
    if let Some(size) = w.size {
        put("size", size.fio());
    }
    put("offset", w.offset.fio());
    put("runtime", w.runtime.to_string());
    put("time_based", "1".into());
    put("ramp_time", w.ramp_time.to_string());
    if let Some(rate) = w.rate_iops {
        put("rate_iops", rate.0.to_string());
        put("rate_process", w.rate_process.to_string());
    }
    if w.thinktime.0 > 0 {
        put("thinktime", w.thinktime.0.to_string());
    }
    put("direct", u8::from(!w.buffered).to_string());
    put("invalidate", u8::from(w.invalidate).to_string());
    put("random_distribution", w.random_distribution.to_string());
    put("randseed", w.randseed.to_string());
    put("ioengine", "io_uring".into());
    put("group_reporting", "1".into());
    options.into()
}
