//! How a value is read.

use protocol::units::{Bytes, BytesPerSecond, Iops, Micros, Nanos, Seconds};
use serde_json::Value;

/// The first thing that was not as expected.
#[derive(Debug, Default)]
pub(crate) struct Problem {
    at: &'static str,
    found: Option<&'static str>,
}

impl Problem {
    /// Notes that what is read now is not what it should be.
    pub(crate) fn note(&mut self) {
        self.found.get_or_insert(self.at);
    }

    /// The name of what was wrong, if something was.
    pub(crate) fn end<T>(self, read: T) -> Result<T, String> {
        self.found.map_or(Ok(read), |name| Err(format!("`{name}` is missing or not what it should be")))
    }
}

/// What can be read. Where a value is not what it should be, the problem is noted and something else stands in.
pub(crate) trait Read: Sized {
    /// Reads a value; an absent one is `null`.
    fn read(value: &Value, problem: &mut Problem) -> Self;
}

/// Reads a value whole.
pub(crate) fn value<T: Read>(value: &Value) -> Result<T, String> {
    let mut problem = Problem { at: "all", found: None };
    let read = T::read(value, &mut problem);
    problem.end(read)
}

/// Reads a text of JSON.
pub(crate) fn text<T: Read>(text: &str) -> Result<T, String> {
    value(&serde_json::from_str(text).map_err(|e| e.to_string())?)
}

#[inline(never)]
fn within<'a>(object: &'a Value, name: &'static str, problem: &mut Problem) -> &'a Value {
    problem.at = name;
    object.get(name).unwrap_or(&Value::Null)
}

/// A field of an object.
pub(crate) fn field<T: Read>(object: &Value, name: &'static str, problem: &mut Problem) -> T {
    T::read(within(object, name, problem), problem)
}

/// A field that may be absent, or of another version: then the default.
pub(crate) fn kept<T: Read>(object: &Value, name: &str, default: T) -> T {
    object.get(name).and_then(|v| value(v).ok()).unwrap_or(default)
}

#[inline(never)]
fn whole(value: &Value, most: u64, problem: &mut Problem) -> u64 {
    value.as_u64().filter(|n| *n <= most).unwrap_or_else(|| {
        problem.note();
        0
    })
}

macro_rules! whole_numbers {
    ($($number:ty),+) => {$(
        impl Read for $number {
            fn read(value: &Value, problem: &mut Problem) -> Self {
                whole(value, <$number>::MAX.into(), problem).try_into().unwrap_or_default()
            }
        }
    )+};
}
whole_numbers!(u8, u32, u64);

impl Read for f64 {
    #[inline(never)]
    fn read(value: &Value, problem: &mut Problem) -> Self {
        value.as_f64().unwrap_or_else(|| {
            problem.note();
            0.0
        })
    }
}

/// Absent is false; fio's 0 and 1 will do.
impl Read for bool {
    #[inline(never)]
    fn read(value: &Value, problem: &mut Problem) -> Self {
        match value {
            Value::Bool(flag) => *flag,
            Value::Null => false,
            number => whole(number, 1, problem) == 1,
        }
    }
}

impl Read for String {
    #[inline(never)]
    fn read(value: &Value, problem: &mut Problem) -> Self {
        if let Value::String(text) = value {
            return text.clone();
        }
        problem.note();
        Self::new()
    }
}

impl Read for Value {
    fn read(value: &Value, _: &mut Problem) -> Self {
        value.clone()
    }
}

impl<T: Read> Read for Option<T> {
    fn read(value: &Value, problem: &mut Problem) -> Self {
        (!value.is_null()).then(|| T::read(value, problem))
    }
}

impl<T: Read> Read for Box<T> {
    fn read(value: &Value, problem: &mut Problem) -> Self {
        Self::new(T::read(value, problem))
    }
}

#[inline(never)]
fn items<'a>(value: &'a Value, problem: &mut Problem) -> &'a [Value] {
    match value {
        Value::Array(list) => list,
        Value::Null => &[],
        _ => {
            problem.note();
            &[]
        }
    }
}

/// An absent list is empty.
impl<T: Read> Read for Vec<T> {
    fn read(value: &Value, problem: &mut Problem) -> Self {
        items(value, problem).iter().map(|one| T::read(one, problem)).collect()
    }
}

impl<A: Read, B: Read> Read for (A, B) {
    fn read(value: &Value, problem: &mut Problem) -> Self {
        let at = |n: usize| value.get(n).unwrap_or(&Value::Null);
        (A::read(at(0), problem), B::read(at(1), problem))
    }
}

impl Read for Bytes {
    fn read(value: &Value, problem: &mut Problem) -> Self {
        Self(Read::read(value, problem))
    }
}
impl Read for Nanos {
    fn read(value: &Value, problem: &mut Problem) -> Self {
        Self(Read::read(value, problem))
    }
}
impl Read for Micros {
    fn read(value: &Value, problem: &mut Problem) -> Self {
        Self(Read::read(value, problem))
    }
}
impl Read for Iops {
    fn read(value: &Value, problem: &mut Problem) -> Self {
        Self(Read::read(value, problem))
    }
}
impl Read for BytesPerSecond {
    fn read(value: &Value, problem: &mut Problem) -> Self {
        Self(Read::read(value, problem))
    }
}
impl Read for Seconds {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    fn read(value: &Value, problem: &mut Problem) -> Self {
        Self(Micros((f64::read(value, problem) * 1e6).round() as u64))
    }
}

/// Names the fields of a type, all of them.
macro_rules! record {
    ($record:ident { $($name:ident),+ $(,)? }) => {
        impl $crate::read::Read for $record {
            fn read(value: &serde_json::Value, problem: &mut $crate::read::Problem) -> Self {
                Self { $($name: $crate::read::field(value, stringify!($name), problem)),+ }
            }
        }
    };
}

/// Names the words of a type. The first one stands in for an unknown word.
macro_rules! words {
    ($kind:ident { $($word:literal => $one:ident),+ $(,)? }) => {
        impl $crate::read::Read for $kind {
            fn read(value: &serde_json::Value, problem: &mut $crate::read::Problem) -> Self {
                const WORDS: &[(&str, $kind)] = &[$(($word, $kind::$one)),+];
                WORDS[$crate::read::reader::word(value, &mut WORDS.iter().map(|(word, _)| *word), problem)].1
            }
        }
    };
}

/// The place of a word in a list; 0, with a problem, if it is not there.
#[inline(never)]
pub(super) fn word(value: &Value, mut words: &mut dyn Iterator<Item = &'static str>, problem: &mut Problem) -> usize {
    let text = value.as_str().unwrap_or_default();
    Iterator::position(&mut words, |word| word == text).unwrap_or_else(|| {
        problem.note();
        0
    })
}

pub(super) use {record, words};
