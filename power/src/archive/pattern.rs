//! Identifiers that are known by their shape, wherever they stand.

use super::mask::Kind;

/// What begins at the start of `text`: its kind and length in bytes.
pub(super) fn at_start(text: &str) -> Option<(Kind, usize)> {
    let run = text.bytes().take_while(u8::is_ascii_hexdigit).count();
    let found = match run {
        8 if groups(text, &[8, 4, 4, 4, 12], b'-') => Some((Kind::Uuid, 36)),
        2 if groups(text, &[2; 6], b':') || groups(text, &[2; 6], b'-') => Some((Kind::Mac, 17)),
        // A bit mask is long, too, but has no letters.
        32.. if text.bytes().take(run).any(|b| b.is_ascii_alphabetic()) => Some((Kind::Identifier, run)),
        _ => world_wide_name(text).map(|length| (Kind::WorldWideName, length)),
    };
    found.filter(|(_, length)| {
        let (this, after) = text.split_at(*length);
        // Nothing but zeroes names nothing, and a longer word is something else.
        let named = this.bytes().any(|b| b.is_ascii_hexdigit() && b != b'0');
        named && !after.starts_with(|c: char| c.is_ascii_alphanumeric())
    })
}

/// Somebody's directory at the start of `text`: what comes before the name, and the name.
pub(super) fn user(text: &str) -> Option<(&str, &str)> {
    let home = ["/home/", "/media/", "/run/media/"].into_iter().find(|h| text.starts_with(h))?;
    let (home, rest) = text.split_at(home.len());
    let name = rest.split(|c: char| c == '/' || c.is_whitespace()).next()?;
    (!name.is_empty()).then_some((home, name))
}

/// Hexadecimal groups of these lengths with this between them.
fn groups(text: &str, lengths: &[usize], between: u8) -> bool {
    let mut bytes = text.bytes();
    lengths.iter().enumerate().all(|(i, &length)| {
        (i == 0 || bytes.next() == Some(between))
            && (0..length).all(|_| bytes.next().is_some_and(|b| b.is_ascii_hexdigit()))
    })
}

/// `naa.` or `eui.` and at least 16 digits.
fn world_wide_name(text: &str) -> Option<usize> {
    let number = text.strip_prefix("naa.").or_else(|| text.strip_prefix("eui."))?;
    let digits = number.bytes().take_while(u8::is_ascii_hexdigit).count();
    (digits >= 16).then_some(4 + digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_told_from_numbers_and_addresses() {
        let found = |text: &str| at_start(text).map(|(kind, length)| (kind, text[..length].to_owned()));
        let uuid = "0b3f5f5e-4bd8-4b0c-9a3e-0000000000a1";
        assert_eq!(found(&format!("{uuid} rw")), Some((Kind::Uuid, uuid.into())));
        assert_eq!(found("52:54:00:12:34:56\n"), Some((Kind::Mac, "52:54:00:12:34:56".into())));
        assert_eq!(found("eui.0025385b71b12345"), Some((Kind::WorldWideName, "eui.0025385b71b12345".into())));
        assert_eq!(found(&"ab".repeat(32)), Some((Kind::Identifier, "ab".repeat(32))));
        for other in
            ["0000:01:00.0", "ffffffff,ffffffff", "00000000-0000-0000-0000-000000000000", "52:54:00:12:34", "1234", ""]
        {
            assert_eq!(found(other), None, "{other}");
        }
    }
}
