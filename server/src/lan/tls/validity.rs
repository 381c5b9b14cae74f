//! From when to when a certificate holds.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// A certificate's time (RFC 5280, section 4.1.2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Validity {
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
}

/// ASN.1 tags, as DER has them.
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

impl Validity {
    /// Reads it: in the certificate, in its part to be signed, after version, serial number, algorithm and issuer.
    pub(super) fn of(der: &[u8]) -> Option<Self> {
        let (certificate, _) = element(der, SEQUENCE)?;
        let (mut signed, _) = element(certificate, SEQUENCE)?;
        if signed.first() == Some(&VERSION) {
            signed = any(signed)?.2;
        }
        for _serial_algorithm_issuer in 0..3 {
            signed = any(signed)?.2;
        }
        let (times, _) = element(signed, SEQUENCE)?;
        let (tag, from, rest) = any(times)?;
        let from = time(tag, from)?;
        let (tag, until, _) = any(rest)?;
        Some(Self { from, until: time(tag, until)? })
    }
}

/// Tag and content of the first element, and what follows it.
fn any(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    // The length itself, or how many bytes hold it.
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        if bytes.len() > 4 {
            return None;
        }
        (bytes.iter().fold(0, |n, &b| n << 8 | usize::from(b)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// Content of the first element, if it is of this kind, and what follows it.
fn element(der: &[u8], wanted: u8) -> Option<(&[u8], &[u8])> {
    let (tag, content, rest) = any(der)?;
    (tag == wanted).then_some((content, rest))
}

/// `YYMMDDHHMMSSZ`, where years from 50 on are of the last century, or `YYYYMMDDHHMMSSZ`.
fn time(tag: u8, text: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok()?;
    let text = match tag {
        UTC_TIME if text < "50" => format!("20{text}"),
        UTC_TIME => format!("19{text}"),
        GENERALIZED_TIME => text.to_owned(),
        _ => return None,
    };
    let civil = DateTime::strptime("%Y%m%d%H%M%SZ", &text).ok()?;
    TimeZone::UTC.to_timestamp(civil).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_rustls::rustls::pki_types::CertificateDer;
    use tokio_rustls::rustls::pki_types::pem::PemObject;

    #[test]
    fn times_of_both_forms_are_read_and_damage_is_none() {
        for years in [(1999, 2030), (2020, 2060), (2050, 2990)] {
            let (pem, _) = super::super::own::make(&["box".into()], years).unwrap();
            let der = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
            let validity = Validity::of(&der).unwrap();
            let shown = [validity.from, validity.until].map(|t| t.strftime("%Y-%m-%dT%T").to_string());
            assert_eq!(shown, [format!("{}-01-01T00:00:00", years.0), format!("{}-01-01T00:00:00", years.1)]);
            for end in 0..der.len().min(100) {
                assert_eq!(Validity::of(&der[..end]), None);
            }
        }
        assert_eq!(Validity::of(&[0x30, 0xff, 1, 2, 3]), None);
    }
}
