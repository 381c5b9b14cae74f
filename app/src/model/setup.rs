//! What the user has set up to measure: texts as typed, and the request they amount to.

use super::brakes::Brakes;
use crate::read::{Problem as Wrong, Read, kept};
use protocol::api::RunRequest;
use protocol::preset::{Column, PRESETS, find};
use protocol::units::{Bytes, Iops, Micros, Seconds};
use protocol::workload::{Distribution, Rw, Wait, Workload, WorkloadError};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;
use std::str::FromStr;

/// A preset or a workload of one's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) enum Kind {
    /// Name of a preset.
    Preset(String),
    /// The form.
    Custom,
}

/// The form of a custom workload: fio's names, texts as typed; empty means the default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Custom {
    pub(crate) rw: Rw,
    pub(crate) rwmixread: String,
    pub(crate) bs: String,
    pub(crate) iodepth: String,
    pub(crate) numjobs: String,
    pub(crate) size: String,
    pub(crate) offset: String,
    pub(crate) runtime: String,
    pub(crate) ramp_time: String,
    pub(crate) rate_iops: String,
    pub(crate) thinktime: String,
    pub(crate) random_distribution: String,
}

impl Default for Custom {
    fn default() -> Self {
        let text = |s: &str| s.to_owned();
        Self {
            rw: Rw::RandRead,
            rwmixread: text("70"),
            bs: text("4k"),
            iodepth: text("32"),
            numjobs: text("1"),
            size: text("1g"),
            offset: String::new(),
            runtime: text("10s"),
            ramp_time: String::new(),
            rate_iops: String::new(),
            thinktime: String::new(),
            random_distribution: String::new(),
        }
    }
}

/// The whole set-up; kept in the browser between visits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Setup {
    /// Path as typed.
    pub(crate) target: String,
    /// Preset or custom.
    pub(crate) kind: Kind,
    /// Changes to the preset; empty means its own.
    pub(crate) size: String,
    /// Time of each pass of the preset.
    pub(crate) runtime: String,
    /// Repetitions, of preset or workload.
    pub(crate) repetitions: String,
    /// Columns of the preset: read, write, mix.
    pub(crate) columns: [bool; 3],
    /// How the workers wait.
    pub(crate) wait: Wait,
    /// Through the page cache.
    pub(crate) buffered: bool,
    /// Leave the file for the next run.
    pub(crate) keep_file: bool,
    /// The form.
    pub(crate) custom: Custom,
    /// The question asked of the same target; not kept.
    #[serde(skip)]
    pub(crate) brakes: Brakes,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            target: String::new(),
            kind: Kind::Preset(PRESETS[0].name.into()),
            size: String::new(),
            runtime: String::new(),
            repetitions: String::new(),
            columns: [true; 3],
            wait: Wait::default(),
            buffered: false,
            keep_file: false,
            custom: Custom::default(),
            brakes: Brakes::default(),
        }
    }
}

/// What a page of another version has kept, or has not, stays at its default.
impl Read for Setup {
    fn read(value: &Value, _: &mut Wrong) -> Self {
        let Self { target, kind, size, runtime, repetitions, columns, wait, buffered, keep_file, custom, brakes } =
            Self::default();
        Self {
            target: kept(value, "target", target),
            kind: match value.get("kind") {
                Some(Value::String(word)) if word == "Custom" => Kind::Custom,
                Some(other) => other.get("Preset").and_then(Value::as_str).map_or(kind, |p| Kind::Preset(p.into())),
                None => kind,
            },
            size: kept(value, "size", size),
            runtime: kept(value, "runtime", runtime),
            repetitions: kept(value, "repetitions", repetitions),
            columns: kept(value, "columns", Vec::new()).try_into().unwrap_or(columns),
            wait: kept(value, "wait", wait),
            buffered: kept(value, "buffered", buffered),
            keep_file: kept(value, "keep_file", keep_file),
            custom: kept(value, "custom", custom),
            brakes,
        }
    }
}

impl Read for Custom {
    fn read(value: &Value, _: &mut Wrong) -> Self {
        let default = Self::default();
        Self {
            rw: kept(value, "rw", default.rw),
            rwmixread: kept(value, "rwmixread", default.rwmixread),
            bs: kept(value, "bs", default.bs),
            iodepth: kept(value, "iodepth", default.iodepth),
            numjobs: kept(value, "numjobs", default.numjobs),
            size: kept(value, "size", default.size),
            offset: kept(value, "offset", default.offset),
            runtime: kept(value, "runtime", default.runtime),
            ramp_time: kept(value, "ramp_time", default.ramp_time),
            rate_iops: kept(value, "rate_iops", default.rate_iops),
            thinktime: kept(value, "thinktime", default.thinktime),
            random_distribution: kept(value, "random_distribution", default.random_distribution),
        }
    }
}

/// Something typed that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Field it was typed in; empty when it concerns several.
    pub(crate) field: &'static str,
    /// What is wrong, and what would do.
    pub(crate) message: String,
}

impl Setup {
    /// What would be sent to the server.
    pub(crate) fn request(&self) -> Result<RunRequest, Problem> {
        if self.target.is_empty() {
            return Err(Problem {
                field: "target",
                message: "Choose a directory, a file or a drive to measure.".into(),
            });
        }
        let mut request = RunRequest {
            target: self.target.clone(),
            repetitions: parse("repetitions", &self.repetitions, "a whole number such as 3")?,
            keep_file: self.keep_file,
            ..RunRequest::default()
        };
        match &self.kind {
            Kind::Custom => {
                let workload = self.workload()?;
                workload.validate().map_err(|e| Problem { field: field_of(&e), message: sentence(&e.to_string()) })?;
                request.workloads = vec![workload];
            }
            Kind::Preset(name) => {
                request.preset = Some(name.clone());
                request.size = parse("size", &self.size, "")?;
                request.runtime = parse("runtime", &self.runtime, "")?;
                request.columns = (self.columns != [true; 3]).then(|| self.columns());
                request.wait = (self.wait != Wait::default()).then_some(self.wait);
                request.buffered = self.buffered;
            }
        }
        match request.plan() {
            Ok(_) => Ok(request),
            Err(e) => Err(Problem { field: "", message: sentence(&e.message) }),
        }
    }

    /// The columns that are ticked.
    fn columns(&self) -> Vec<Column> {
        Column::ALL.into_iter().zip(self.columns).filter_map(|(c, on)| on.then_some(c)).collect()
    }

    /// The custom workload as typed.
    fn workload(&self) -> Result<Workload, Problem> {
        let form = &self.custom;
        let base = Workload::new(form.rw);
        let number = "a whole number such as 8";
        Ok(Workload {
            rwmixread: parse("rwmixread", &form.rwmixread, "a whole number from 0 to 100")?.unwrap_or(base.rwmixread),
            bs: parse("bs", &form.bs, "")?.unwrap_or(base.bs),
            iodepth: parse("iodepth", &form.iodepth, number)?.unwrap_or(base.iodepth),
            numjobs: parse("numjobs", &form.numjobs, number)?.unwrap_or(base.numjobs),
            size: parse::<Bytes>("size", &form.size, "")?,
            offset: parse("offset", &form.offset, "")?.unwrap_or(base.offset),
            runtime: parse::<Seconds>("runtime", &form.runtime, "")?.unwrap_or(base.runtime),
            ramp_time: parse("ramp_time", &form.ramp_time, "")?.unwrap_or(base.ramp_time),
            rate_iops: parse::<Iops>("rate_iops", &form.rate_iops, "")?,
            thinktime: parse::<Micros>("thinktime", &form.thinktime, "")?.unwrap_or(base.thinktime),
            random_distribution: parse::<Distribution>("random_distribution", &form.random_distribution, "")?
                .unwrap_or_default(),
            wait: self.wait,
            buffered: self.buffered,
            ..base
        })
    }

    /// The command that does the same in a terminal.
    pub(crate) fn command_line(&self) -> Option<String> {
        let request = self.request().ok()?;
        let target = quoted(&request.target);
        let mut out = match (&request.preset, request.workloads.first()) {
            (Some(name), _) => format!("brakecheck preset {name} --target {target}"),
            (None, workload) => format!("brakecheck bench --target {target} {}", workload?.command_line()),
        };
        let mut put = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                let _ = write!(out, " --{name} {value}");
            }
        };
        put("size", request.size.map(Bytes::fio));
        put("runtime", request.runtime.map(|r| r.to_string()));
        put("repetitions", request.repetitions.map(|n| n.to_string()));
        put("columns", request.columns.map(|c| c.iter().map(|c| c.name()).collect::<Vec<_>>().join(",")));
        put("wait", request.wait.map(|w| w.name().to_owned()));
        if request.preset.is_some() && request.buffered {
            out.push_str(" --buffered");
        }
        if request.keep_file {
            out.push_str(" --keep-file");
        }
        Some(out)
    }

    /// What this field of the preset would be if left empty.
    pub(crate) fn preset_default(&self, field: &str) -> String {
        let Kind::Preset(name) = &self.kind else { return "1".into() };
        let Some(preset) = find(name) else { return String::new() };
        match field {
            "size" => Bytes(preset.size).fio(),
            "runtime" => format!("{}s", preset.runtime),
            _ => preset.repetitions.to_string(),
        }
    }
}

/// The field that an error is about.
fn field_of(error: &WorkloadError) -> &'static str {
    match error {
        WorkloadError::Range { field, .. } => field,
        WorkloadError::Unaligned(_) => "bs",
        WorkloadError::TooSmall { .. } => "size",
        WorkloadError::Overflow(..) => "offset",
        WorkloadError::Distribution(_) => "random_distribution",
        WorkloadError::Buffers { .. } => "iodepth",
        WorkloadError::Unknown { .. } => "",
    }
}

/// Reads a field; empty is none. `example` is for types whose own message gives none.
fn parse<T: FromStr<Err: std::fmt::Display>>(
    field: &'static str,
    text: &str,
    example: &str,
) -> Result<Option<T>, Problem> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    text.trim().parse().map(Some).map_err(|e: T::Err| {
        let message = if example.is_empty() { sentence(&e.to_string()) } else { format!("Write {example}.") };
        Problem { field, message }
    })
}

/// Full stop at the end. The first letter stays: it often begins the name of an option.
fn sentence(text: &str) -> String {
    if text.ends_with(['.', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// A path as a shell reads it back.
pub(super) fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    fn setup(target: &str) -> Setup {
        Setup { target: target.into(), ..Setup::default() }
    }

    #[test]
    fn an_untouched_preset_asks_for_nothing_but_itself() {
        let request = setup("/mnt").request().unwrap();
        assert_eq!(serde_json::to_string(&request).unwrap().matches("null").count(), 0);
        assert_eq!((request.preset.as_deref(), request.columns, request.size), (Some("cdm8"), None, None));
        assert_eq!(setup("/mnt").command_line().unwrap(), "brakecheck preset cdm8 --target /mnt");
    }

    #[test]
    fn changes_show_in_the_command() {
        let s = Setup {
            size: "256m".into(),
            runtime: "2s".into(),
            columns: [true, false, false],
            buffered: true,
            ..setup("/mnt/my disk's")
        };
        assert_eq!(
            s.command_line().unwrap(),
            r"brakecheck preset cdm8 --target '/mnt/my disk'\''s' --size 256m --runtime 2s --columns read --buffered"
        );
    }

    #[test]
    fn the_form_is_read_with_fios_units() {
        let mut s = Setup { kind: Kind::Custom, ..setup("/mnt") };
        s.custom.bs = "128K".into();
        assert_eq!(
            s.command_line().unwrap(),
            "brakecheck bench --target /mnt --rw randread --bs 128k --iodepth 32 --size 1g --runtime 10s"
        );
        s.custom.bs = "4x".into();
        let problem = s.request().unwrap_err();
        assert!(problem.field == "bs" && problem.message.contains("`x`"), "{problem:?}");
        s.custom.bs = "4k".into();
        s.custom.iodepth = "many".into();
        assert_eq!(s.request().unwrap_err().field, "iodepth");
        s.custom.iodepth = "5000".into();
        let problem = s.request().unwrap_err();
        assert!(problem.field == "iodepth" && problem.message.starts_with("iodepth is 5000"), "{problem:?}");
    }

    #[test]
    fn nothing_to_measure_and_no_columns_are_refused_here_already() {
        assert_eq!(setup("").request().unwrap_err().field, "target");
        let none = Setup { columns: [false; 3], ..setup("/mnt") };
        assert!(none.request().unwrap_err().message.contains("olumns"));
    }

    #[test]
    fn a_setup_is_read_as_it_was_kept() {
        let mut s = Setup {
            kind: Kind::Preset("hdtune".into()),
            columns: [true, false, true],
            wait: Wait::Poll,
            keep_file: true,
            size: "2g".into(),
            ..setup("/mnt")
        };
        s.custom = Custom { rw: Rw::RandRw, thinktime: "1ms".into(), ..Custom::default() };
        for kind in [s.kind.clone(), Kind::Custom] {
            let kept = Setup { kind, ..s.clone() };
            assert_eq!(read::text::<Setup>(&serde_json::to_string(&kept).unwrap()).unwrap(), kept);
        }
    }

    #[test]
    fn a_setup_kept_by_an_older_page_is_read() {
        let s: Setup = read::text(r#"{"target":"/mnt","gone":1,"wait":"x"}"#).unwrap();
        assert_eq!(s, setup("/mnt"));
    }
}
