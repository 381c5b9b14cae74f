//! A certificate of our own, signed by itself.

use super::{Pair, chain, key_of, text};
use crate::state_dir::open_private;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use protocol::error::{ErrorBody, ErrorCode};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, date_time_ymd};
use std::io::{Seek, Write};
use std::path::Path;

/// The one in this file, if it still holds; else a new one, which is then kept there with its key.
pub(super) fn load_or_make(file: &Path, names: &[String]) -> Result<Pair, ErrorBody> {
    if let Ok(pair) = load(file) {
        return Ok(pair);
    }
    let year = i32::from(TimeZone::UTC.to_datetime(Timestamp::now()).year());
    let failed = |e: &dyn std::fmt::Display| {
        ErrorBody::new(ErrorCode::Internal, format!("A certificate for viewers cannot be made: {e}."))
    };
    // From last year, since clocks differ, for as long as browsers trust one at all.
    let (certificate, key) = make(names, (year - 1, year + 1)).map_err(|e| failed(&e))?;
    let mut stored = open_private(file).map_err(|e| failed(&e))?;
    let write = stored.set_len(0).and_then(|()| stored.rewind()).and_then(|()| write!(stored, "{certificate}{key}"));
    write.and_then(|()| stored.sync_all()).map_err(|e| failed(&e))?;
    load(file)
}

fn load(file: &Path) -> Result<Pair, ErrorBody> {
    let pem = text(file)?;
    let pair = Pair { chain: chain(&pem, file)?, key: key_of(&pem, file)? };
    pair.check(file, Timestamp::now())?;
    Ok(pair)
}

/// Certificate and key in PEM form, from the beginning of one year to that of another.
pub(super) fn make(names: &[String], (from, until): (i32, i32)) -> Result<(String, String), rcgen::Error> {
    let mut parameters = CertificateParams::new(names)?;
    parameters.not_before = date_time_ymd(from, 1, 1);
    parameters.not_after = date_time_ymd(until, 1, 1);
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, "Brakecheck");
    let key = KeyPair::generate()?;
    Ok((parameters.self_signed(&key)?.pem(), key.serialize_pem()))
}
