//! The shape of a JSON document, whatever it says: how deep, how long, how many, nothing twice, nothing that a terminal
//! would obey. Looked at before anything is made of it, so that no document can take more memory than its own length
//! allows for.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt::{self, Write};

/// Deepest nesting.
const DEEPEST: usize = 16;
/// Longest text in bytes.
const LONGEST: usize = 16 * 1024;
/// Most keys of one object.
const MOST_KEYS: usize = 1024;
/// Most values in all.
const MOST_VALUES: usize = 8_000_000;

/// Walks through a document and refuses what is out of bounds, with the place where it is.
pub(super) fn check(json: &[u8]) -> Result<(), serde_json::Error> {
    let mut walk = Walk::default();
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    Any(&mut walk).deserialize(&mut deserializer)?;
    deserializer.end()
}

#[derive(Debug, Default)]
struct Walk {
    path: Vec<Step>,
    values: usize,
}

#[derive(Debug)]
enum Step {
    Key(String),
    Item(usize),
}

impl Walk {
    /// `trials[3].void: `
    fn place(&self) -> String {
        let mut text = String::new();
        for step in &self.path {
            let _ = match step {
                Step::Key(key) if text.is_empty() => write!(text, "{key}"),
                Step::Key(key) => write!(text, ".{key}"),
                Step::Item(n) => write!(text, "[{n}]"),
            };
        }
        if text.is_empty() { text } else { text + ": " }
    }

    fn refuse<E: Error>(&self, what: impl fmt::Display) -> E {
        E::custom(format_args!("{}{what}", self.place()))
    }

    fn enter<E: Error>(&mut self, step: Step) -> Result<(), E> {
        if self.path.len() >= DEEPEST {
            return Err(self.refuse(format_args!("more than {DEEPEST} levels of nesting")));
        }
        self.path.push(step);
        Ok(())
    }

    fn text<E: Error>(&self, text: &str) -> Result<(), E> {
        if text.len() > LONGEST {
            return Err(self.refuse(format_args!("a text of {} bytes; at most {LONGEST} are read", text.len())));
        }
        match text.chars().find(|c| disobedient(*c)) {
            Some(c) => Err(self.refuse(format_args!("a text with the control character {}", c.escape_default()))),
            None => Ok(()),
        }
    }
}

/// Control characters, and those that turn the direction of the text around them.
fn disobedient(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

struct Any<'a>(&'a mut Walk);

impl<'de> DeserializeSeed<'de> for Any<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.values += 1;
        if self.0.values > MOST_VALUES {
            return Err(self.0.refuse(format_args!("more than {MOST_VALUES} values")));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Any<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.text(text)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        self.0.enter(Step::Item(0))?;
        while seq.next_element_seed(Any(self.0))?.is_some() {
            if let Some(Step::Item(n)) = self.0.path.last_mut() {
                *n += 1;
            }
        }
        self.0.path.pop();
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            self.0.text(&key)?;
            if keys.contains(&key) {
                return Err(self.0.refuse(format_args!("the key `{key}` stands there twice")));
            }
            if keys.len() >= MOST_KEYS {
                return Err(self.0.refuse(format_args!("more than {MOST_KEYS} keys")));
            }
            self.0.enter(Step::Key(key.clone()))?;
            map.next_value_seed(Any(self.0))?;
            self.0.path.pop();
            keys.insert(key);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_bounds_is_named_with_its_place() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(20), "]".repeat(20));
        let long = format!("{{\"a\":[1,\"{}\"]}}", "x".repeat(LONGEST + 1));
        let keys: Vec<_> = (0..=MOST_KEYS).map(|n| format!("\"{n}\":0")).collect();
        let cases = [
            (deep, "more than 16 levels"),
            (long, "a[1]: a text of 16385 bytes"),
            (format!("{{{}}}", keys.join(",")), "more than 1024 keys"),
            (r#"{"a":{"b":1,"c":2,"b":3}}"#.into(), "a: the key `b` stands there twice"),
            (r#"{"a":[{"b":"x\u001b[31m"}]}"#.into(), "a[0].b: a text with the control character \\u{1b}"),
            (r#"{"a":"x\u202ey"}"#.into(), "a: a text with the control character \\u{202e}"),
            (r#"{"a\n":1}"#.into(), "control character \\n"),
        ];
        for (json, words) in cases {
            serde_json::from_str::<serde::de::IgnoredAny>(&json).expect("sound JSON");
            let error = check(json.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("line 1 column"), "{error}");
        }
        for good in ["{}", "[]", "null", r#"{"a":{"b":1},"c":{"b":1},"d":["größe",-1,1.5,true]}"#] {
            check(good.as_bytes()).unwrap();
        }
        for bad in ["", "{", "{}{}", "[1,]", "nan", "1e999", "\u{feff}{}"] {
            assert!(check(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
