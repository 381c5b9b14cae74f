//! Names that nobody knows, answered with the nearest one that is known.

use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use std::fmt;
use std::marker::PhantomData;

/// The candidate that looks most like `word`, if one looks like it at all: at most a third of it wrong.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1);
    let scored = candidates.into_iter().map(|c| (distance(word, c), c));
    scored.filter(|&(d, _)| d <= limit).min_by_key(|&(d, _)| d).map(|(_, c)| c)
}

/// "; did you mean `x`?", or nothing.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |c| format!("; did you mean `{c}`?"))
}

/// Letters to insert, drop, replace or swap with their neighbour (optimal string alignment, case ignored).
fn distance(a: &str, b: &str) -> usize {
    let letters = |s: &str| s.chars().take(100).flat_map(char::to_lowercase).collect::<Vec<_>>();
    let (a, b) = (letters(a), letters(b));
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let cell = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX - 1);
            let mut best = (cell(&above, j) + usize::from(x != y)).min(cell(&above, j + 1) + 1).min(cell(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(cell(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().unwrap_or(0)
}

/// A struct written as a map, whose unknown keys are answered with the nearest known one.
pub trait Keyed: Sized {
    /// What was expected instead, for something that is no map: "an experiment".
    const WHAT: &'static str;
    /// The derived deserialisation.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

/// Reads such a struct.
pub fn strict<'de, T: Keyed, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_map(KeyedVisitor(PhantomData))
}

struct KeyedVisitor<T>(PhantomData<T>);

impl<'de, T: Keyed> Visitor<'de> for KeyedVisitor<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(T::WHAT)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::read(StrictMap(map))
    }
}

/// A map that learns from the derived code which keys there are.
pub(super) struct StrictMap<A>(pub(super) A);

impl<'de, A: MapAccess<'de>> Deserializer<'de> for StrictMap<A> {
    type Error = A::Error;
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_map(KnownKeys { map: self.0, fields })
    }
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        MapAccessDeserializer::new(self.0).deserialize_any(visitor)
    }
    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct KnownKeys<A> {
    map: A,
    fields: &'static [&'static str],
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for KnownKeys<A> {
    type Error = A::Error;
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        let Some(key) = self.map.next_key::<String>()? else { return Ok(None) };
        if !self.fields.contains(&key.as_str()) {
            let hint = did_you_mean(&key, self.fields.iter().copied());
            let known = self.fields.join(", ");
            return Err(A::Error::custom(format_args!("unknown key `{key}`{hint} (known are {known})")));
        }
        seed.deserialize(StringDeserializer::<A::Error>::new(key)).map(Some)
    }
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_finger_are_recognised() {
        let keys = ["threshold_percent", "max_blocks", "min_blocks", "seed", "knobs"];
        for (word, right) in [
            ("treshold_percent", Some("threshold_percent")),
            ("threshold", None),
            ("maxblocks", Some("max_blocks")),
            ("Seed", Some("seed")),
            ("sede", Some("seed")),
            ("knob", Some("knobs")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, keys), right, "{word}");
        }
    }
}
