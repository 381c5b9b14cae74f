//! The experiment as a file: TOML, or JSON where its name ends so.

use crate::plain::plain;
use crate::toml_file;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::{Design, ExperimentSpec, WorkloadChoice};
use protocol::units::Bytes;
use protocol::workload::Workload;
use serde_json::Value;
use std::path::Path;

/// The experiment of this name: a built-in design, or a file. `set` overrides keys of it, each `KEY=VALUE` with the
/// value as in TOML; a bare word counts as text.
pub fn read(name: &str, set: &[String]) -> Result<ExperimentSpec, ErrorBody> {
    let path = Path::new(name);
    let is_file = path.extension().is_some_and(|e| e == "toml" || e == "json") || name.contains('/') || path.is_file();
    let spec = if is_file {
        let text = toml_file::text(path)?;
        parse(path, &text).map_err(|why| usage(format!("{} is no experiment: {why}", path.display())))?
    } else {
        let design: Design = name.parse().map_err(|why: String| {
            usage(format!("There is no file `{name}`, and as a design it is an {why}."))
                .hint("Name a design, or a TOML or JSON file.")
        })?;
        ExperimentSpec::new(design, "")
    };
    with(spec, set)
}

/// The experiment with keys of it overridden, as in [`read`].
pub fn with(spec: ExperimentSpec, set: &[String]) -> Result<ExperimentSpec, ErrorBody> {
    let spec = override_keys(spec, set)?;
    spec.validate()?;
    Ok(spec)
}

/// The experiment with every workload on so much of the target, or on a file so large.
pub fn sized(spec: &ExperimentSpec, size: Bytes) -> Result<ExperimentSpec, ErrorBody> {
    let sized = |w: Workload| WorkloadChoice::Table(Box::new(Workload { size: Some(size), ..w }));
    let spec = ExperimentSpec { workloads: spec.expanded_workloads().into_iter().map(sized).collect(), ..spec.clone() };
    spec.validate()?;
    Ok(spec)
}

fn parse(path: &Path, text: &str) -> Result<ExperimentSpec, String> {
    if path.extension().is_some_and(|e| e == "json") {
        let said = |e: &serde_json::Error| if e.is_eof() { "it ends too early".into() } else { plain(&e.to_string()) };
        serde_json::from_str(text).map_err(|e| format!("line {}: {}", e.line(), said(&e)))
    } else {
        toml_file::parse(text)
    }
}

/// What the text of an experiment file says, with nothing added: only the keys that stand there. Everything is checked
/// that can be without a host.
pub fn keys(toml: &str) -> Result<Value, ErrorBody> {
    let no = |why: String| usage(format!("This is no experiment: {why}"));
    toml_file::parse::<ExperimentSpec>(toml).map_err(no)?.validate()?;
    toml_file::parse(toml).map_err(no)
}

fn override_keys(spec: ExperimentSpec, set: &[String]) -> Result<ExperimentSpec, ErrorBody> {
    if set.is_empty() {
        return Ok(spec);
    }
    // Checked as it stands: JSON has no NaN, so that one would be lost on this way.
    spec.validate()?;
    let mut spec = spec;
    for pair in set {
        let failed = |e: serde_json::Error| usage(format!("--set {pair}: {}", plain(&e.to_string())));
        let (key, word) = pair.split_once('=').ok_or_else(|| {
            usage(format!("--set {pair}: there is no `=`.")).hint("Write KEY=VALUE, as in --set max_blocks=20.")
        })?;
        let word = word.trim();
        if word.parse().is_ok_and(|number: f64| !number.is_finite()) {
            return Err(usage(format!("--set {pair}: `{word}` is not a number to measure by.")));
        }
        let mut value = serde_json::to_value(&spec).map_err(failed)?;
        if let Value::Object(keys) = &mut value {
            keys.insert(key.trim().to_owned(), toml_value(word));
        }
        spec = serde_json::from_value(value).map_err(failed)?;
    }
    Ok(spec)
}

fn toml_value(word: &str) -> Value {
    #[derive(serde::Deserialize)]
    struct One {
        v: Value,
    }
    toml::from_str::<One>(&format!("v = {word}")).map_or_else(|_| Value::String(word.to_owned()), |one| one.v)
}

fn usage(message: impl Into<String>) -> ErrorBody {
    ErrorBody::new(ErrorCode::Usage, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, text: &str, set: &[&str]) -> Result<ExperimentSpec, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        let set: Vec<String> = set.iter().map(ToString::to_string).collect();
        read(path.to_str().unwrap(), &set).map_err(|e| e.message)
    }

    #[test]
    fn toml_and_json_say_the_same() {
        let toml = "design = \"ladder\"\ntarget = \"/mnt\"\nworkloads = [\"4k-qd1\"]\nseed = 7\n\
            [[rung]]\nname = \"as is\"\n[[rung]]\nname = \"deep\"\nset = { \"sata.ncq@sda\" = 32 }\n";
        let json = r#"{"design":"ladder","target":"/mnt","workloads":["4k-qd1"],"seed":7,
            "rung":[{"name":"as is"},{"name":"deep","set":{"sata.ncq@sda":"32"}}]}"#;
        assert_eq!(of("a.toml", toml, &[]).unwrap(), of("a.json", json, &[]).unwrap());
        let table = "design = \"ab\"\n[[workloads]]\nname = \"db\"\nrw = \"randread\"\nbs = \"8k\"\n";
        assert_eq!(of("b.toml", table, &[]).unwrap().expanded_workloads()[0].label(), "db");
    }

    #[test]
    fn the_keys_of_a_file_are_those_that_stand_there() {
        let told = keys("design = \"ab\"\nmax_blocks = 20\n[[workloads]]\nrw = \"read\"\nbs = \"1m\"\n").unwrap();
        let json = serde_json::json!({ "design": "ab", "max_blocks": 20, "workloads": [{ "rw": "read", "bs": "1m" }] });
        assert_eq!(told, json);
        for (text, word) in [
            ("design = \"ab\"\nmax_block = 2\n", "did you mean `max_blocks`"),
            ("design = \"ab\"\n\nseed = x\n", "line 3"),
            ("design = \"ab\"\nmin_blocks = 9\nmax_blocks = 8\n", "max_blocks"),
        ] {
            let error = keys(text).unwrap_err();
            assert!(error.code == ErrorCode::Usage && error.message.contains(word), "{error:?}");
        }
    }

    #[test]
    fn keys_are_set_over_the_files() {
        let spec =
            of("a.toml", "design = \"ab\"", &["max_blocks=20", "target=/mnt", "workloads=[\"4k-qd1\"]"]).unwrap();
        assert_eq!((spec.max_blocks, spec.target.as_str(), spec.workloads.len()), (20, "/mnt", 1));
        let error = of("a.toml", "design = \"ab\"", &["max_block=20"]).unwrap_err();
        assert!(error.contains("unknown key `max_block`; did you mean `max_blocks`?"), "{error}");
        let error = of("a.toml", "design = \"ab\"", &["max_blocks"]).unwrap_err();
        assert!(error.contains("no `=`"), "{error}");
        for (pair, words) in [
            ("threshold_percent=nan", "`nan` is not a number to measure by."),
            ("trial_seconds=\"5s\"", "\"5s\" is not a number"),
            ("seed=1.5", "`1.5` is not a whole number from 0 to 18446744073709551615"),
            ("knobs=\"cpu.turbo\"", "\"cpu.turbo\" is not a list"),
            ("from=\"all\"", "unknown word `all` (known are all-saving, all-performance, both)"),
        ] {
            let error = of("a.toml", "design = \"ab\"", &["max_blocks=20", pair]).unwrap_err();
            assert_eq!(error, format!("--set {pair}: {words}"));
        }
    }

    #[test]
    fn a_size_is_that_of_every_workload_and_changes_nothing_else() {
        for text in ["design = \"ab\"", "design = \"check\"", "design = \"ab\"\nworkloads = [\"4k-qd1\", \"cdm8\"]"] {
            let spec = of("a.toml", text, &[]).unwrap();
            let size = Bytes(16 << 20);
            let wanted: Vec<_> =
                spec.expanded_workloads().into_iter().map(|w| Workload { size: Some(size), ..w }).collect();
            let sized = sized(&spec, size).unwrap();
            assert_eq!(sized.expanded_workloads(), wanted, "{text}");
            assert_eq!(sized.swept().is_some(), spec.swept().is_some());
        }
        let spec = of("a.toml", "design = \"ab\"", &[]).unwrap();
        assert_eq!(sized(&spec, Bytes(0)).unwrap_err().code, ErrorCode::Usage);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            (
                "treshold_percent = 1\ndesign = \"ab\"",
                "unknown key `treshold_percent`; did you mean `threshold_percent`?",
            ),
            ("design = \"ab\"\nthreshold_percent = nan", "threshold_percent is NaN"),
            ("design = \"ab\"\nthreshold_percent = \"1\"", "no experiment: line 2: \"1\" is not a number"),
            ("design = \"ab\"\nmin_blocks = -4", "line 2: `-4` is not a whole number from 2 to 10000"),
            ("design = \"factorail\"", "did you mean `factorial`?"),
            ("threshold_percent = 2\ndesign = ", "line 2: "),
            ("", "design"),
        ];
        for (text, word) in cases {
            let error = of("a.toml", text, &[]).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
        let error = read("ladderr", &[]).unwrap_err().message;
        assert!(error.contains("did you mean `ladder`?"), "{error}");
        assert!(read("/no/such.toml", &[]).unwrap_err().message.contains("cannot be read"));
    }
}
