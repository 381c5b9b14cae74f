//! What a terminal may show of names that others chose.

/// A path, a name or a line as a terminal may show it: control characters are escaped, so that a name with a line break
/// stays on its line and one with an escape sequence stays harmless.
pub(crate) fn shown(name: &str) -> String {
    name.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

/// A line on standard error, with the names in it as a terminal may show them.
pub(crate) fn say(line: &str) {
    eprintln!("{}", shown(line));
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn control_characters_are_escaped_and_nothing_else() {
        assert_eq!(shown("größe 漢字: 100%"), "größe 漢字: 100%");
        assert_eq!(shown("a\nb\u{1b}[31m\u{9b}0m"), "a\\nb\\u{1b}[31m\\u{9b}0m");
    }
}
