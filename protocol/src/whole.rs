//! Whole numbers with limits of their own, which are said to whoever writes one that no number type holds.

use serde::de::{Deserializer, Error, Unexpected, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// Reads a whole number that is to be `LOW` to `HIGH`; those beyond that `T` holds are left to be checked, which is said
/// with the key's name.
///
/// # Errors
/// What `T` does not hold, or what is no whole number, with the limits.
pub(crate) fn whole<'de, const LOW: u64, const HIGH: u64, T: TryFrom<u64>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_u64(Limits::<LOW, HIGH, T>(PhantomData))
}

/// The same of a number that may be left out, or `null`.
///
/// # Errors
/// As [`whole`].
pub(crate) fn maybe_whole<'de, const LOW: u64, const HIGH: u64, T: TryFrom<u64>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    deserializer.deserialize_option(Maybe::<LOW, HIGH, T>(PhantomData))
}

struct Limits<const LOW: u64, const HIGH: u64, T>(PhantomData<T>);

impl<const LOW: u64, const HIGH: u64, T: TryFrom<u64>> Visitor<'_> for Limits<LOW, HIGH, T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "a whole number from {LOW} to {HIGH}")
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        T::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        let held = u64::try_from(number).ok().and_then(|n| T::try_from(n).ok());
        held.ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }
}

struct Maybe<const LOW: u64, const HIGH: u64, T>(PhantomData<T>);

impl<'de, const LOW: u64, const HIGH: u64, T: TryFrom<u64>> Visitor<'de> for Maybe<LOW, HIGH, T> {
    type Value = Option<T>;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "a whole number from {LOW} to {HIGH}")
    }
    fn visit_none<E: Error>(self) -> Result<Option<T>, E> {
        Ok(None)
    }
    fn visit_unit<E: Error>(self) -> Result<Option<T>, E> {
        Ok(None)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<T>, D::Error> {
        whole::<LOW, HIGH, T, D>(deserializer).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use crate::api::RunRequest;
    use crate::experiment::ExperimentSpec;
    use crate::workload::Workload;

    #[test]
    fn the_limits_are_those_of_the_key() {
        for (text, said) in [
            (r#"{"design":"ab","max_blocks":99999999999}"#, "`99999999999`, expected a whole number from 2 to 10000"),
            (r#"{"design":"ab","min_blocks":-4}"#, "`-4`, expected a whole number from 2 to 10000"),
            (r#"{"design":"ab","max_blocks":1.5}"#, "`1.5`, expected a whole number from 2 to 10000"),
        ] {
            let error = serde_json::from_str::<ExperimentSpec>(text).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        for (key, limits) in [("iodepth", "1 to 1024"), ("numjobs", "1 to 256"), ("rwmixread", "0 to 100")] {
            for number in ["-1", "99999999999"] {
                let error = serde_json::from_str::<Workload>(&format!(r#"{{"rw":"read","{key}":{number}}}"#));
                let error = error.unwrap_err().to_string();
                assert!(error.contains(&format!("`{number}`, expected a whole number from {limits}")), "{error}");
            }
        }
        let run = |n: &str| serde_json::from_str::<RunRequest>(&format!(r#"{{"target":"/","repetitions":{n}}}"#));
        assert!(run("-1").unwrap_err().to_string().contains("a whole number from 1 to 100"));
        assert_eq!(run("null").unwrap().repetitions, None);
        assert_eq!(run("7").unwrap().repetitions, Some(7));
    }
}
