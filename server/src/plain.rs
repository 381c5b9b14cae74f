//! What serde says of a body, a query or a file, in the words of people.

use protocol::experiment::keys::did_you_mean;

/// The same without the parser's terms. What is not known here stays as it is.
pub fn plain(text: &str) -> String {
    let text = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(text);
    // The path says where; a place within a line says nothing to whoever sent an object.
    let text =
        text.rsplit_once(" at line ").filter(|(_, rest)| rest.contains(" column ")).map_or(text, |(text, _)| text);
    let (path, said) = text.split_once(": ").filter(|(path, _)| is_path(path)).unwrap_or(("", text));
    let said = sentence(said).unwrap_or_else(|| said.to_owned());
    if path.is_empty() { said } else { format!("{path}: {said}") }
}

/// `workloads[0].rw`: no words.
fn is_path(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.[]@".contains(&b)) && text != "invalid"
}

fn sentence(said: &str) -> Option<String> {
    if said.starts_with("EOF while parsing a value") {
        return Some("the body is empty; it must be a JSON object".into());
    }
    if said.starts_with("EOF while parsing") {
        return Some("the body ends too early".into());
    }
    if let Some(name) = said.strip_prefix("missing field ") {
        return Some(format!("{name} is missing"));
    }
    for (start, what) in [("unknown field `", "key"), ("unknown variant `", "word")] {
        if let Some((name, known)) = said.strip_prefix(start).and_then(|rest| rest.split_once('`')) {
            // Every second piece is a name.
            let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
            let near = did_you_mean(name, known.iter().copied());
            return Some(format!("unknown {what} `{name}`{near} (known are {})", known.join(", ")));
        }
    }
    for start in ["invalid value: ", "invalid type: "] {
        if let Some((found, wanted)) = said.strip_prefix(start).and_then(|rest| rest.split_once(", expected ")) {
            return Some(format!("{} is not {}", quoted(found).unwrap_or(found), kind(wanted)));
        }
    }
    None
}

/// What was found, without the name of its type: `1.5` of "floating point `1.5`".
fn quoted(found: &str) -> Option<&str> {
    let quote = ['`', '"'];
    found.get(found.find(quote)?..=found.rfind(quote)?)
}

/// A type of Rust in words.
fn kind(wanted: &str) -> String {
    let most = match wanted {
        "u8" => u8::MAX.into(),
        "u16" => u16::MAX.into(),
        "u32" => u32::MAX.into(),
        "u64" | "usize" => u64::MAX,
        "f64" | "f32" => return "a number".into(),
        "a string" => return "a text".into(),
        "a boolean" => return "true or false".into(),
        "a sequence" => return "a list".into(),
        "a map" => return "an object".into(),
        other => return other.strip_prefix("struct ").map_or_else(|| other.to_owned(), |_| "an object".into()),
    };
    format!("a whole number from 0 to {most}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_parser_says_is_said_in_words() {
        for (text, words) in [
            ("EOF while parsing a value at line 1 column 0", "the body is empty; it must be a JSON object"),
            (
                "max_blocks: invalid value: integer `99999999999`, expected u32 at line 1 column 39",
                "max_blocks: `99999999999` is not a whole number from 0 to 4294967295",
            ),
            (
                "seed: invalid type: string \"x\", expected u64 at line 1 column 9",
                "seed: \"x\" is not a whole number from 0 to 18446744073709551615",
            ),
            ("Failed to deserialize query string: missing field `ids`", "`ids` is missing"),
            (
                "workloads[0].rw: unknown variant `rread`, expected one of `read`, `randread` at line 1 column 4",
                "workloads[0].rw: unknown word `rread`; did you mean `read`? (known are read, randread)",
            ),
            (
                "onn: unknown field `onn`, expected `on` at line 1 column 6",
                "onn: unknown key `onn`; did you mean `on`? (known are on)",
            ),
            (
                "Failed to deserialize query string: patience: `abc` is not a number; write for example 5s",
                "patience: `abc` is not a number; write for example 5s",
            ),
            ("queue: invalid type: null, expected a boolean at line 2 column 3", "queue: null is not true or false"),
            (
                "invalid type: integer `99999999999999999999` as i128, expected u64",
                "`99999999999999999999` is not a whole number from 0 to 18446744073709551615",
            ),
            ("something new: of serde", "something new: of serde"),
        ] {
            assert_eq!(plain(text), words);
        }
    }
}
