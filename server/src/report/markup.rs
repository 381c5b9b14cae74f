//! Text that is markup: HTML with SVG in it, written so that it is well-formed XML too.
//!
//! The one place where anything is escaped. Names of elements and attributes are part of the program; whatever else
//! is written comes out as text, wherever it came from.

use std::fmt::{Display, Write};

/// A piece of markup that grows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Markup(String);

/// Attributes of an element.
pub(super) type Attributes<'a> = &'a [(&'static str, &'a dyn Display)];

impl Markup {
    /// An element with what is in it.
    pub(super) fn element(&mut self, name: &'static str, attributes: Attributes<'_>, inside: impl FnOnce(&mut Self)) {
        self.open(name, attributes);
        self.0.push('>');
        inside(self);
        let _ = write!(self.0, "</{name}>");
    }

    /// An element that has nothing in it and no end.
    pub(super) fn void(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.open(name, attributes);
        self.0.push_str("/>");
    }

    /// An element of this class with what is in it.
    pub(super) fn classed(&mut self, name: &'static str, class: &'static str, inside: impl FnOnce(&mut Self)) {
        self.element(name, &[("class", &class)], inside);
    }

    /// An element that holds only text.
    pub(super) fn leaf(&mut self, name: &'static str, text: impl Display) {
        self.element(name, &[], |m| m.text(text));
    }

    /// An element of this class that holds only text.
    pub(super) fn note(&mut self, name: &'static str, class: &'static str, text: impl Display) {
        self.classed(name, class, |m| m.text(text));
    }

    /// Text.
    pub(super) fn text(&mut self, text: impl Display) {
        self.escaped(&text);
    }

    /// A style sheet of the program's own.
    pub(super) fn style(&mut self, css: &'static str) {
        let _ = write!(self.0, "<style>{css}</style>");
    }

    /// As a string.
    pub fn into_string(self) -> String {
        self.0
    }

    fn open(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.0.push('<');
        self.0.push_str(name);
        for (key, value) in attributes {
            let _ = write!(self.0, " {key}=\"");
            self.escaped(value);
            self.0.push('"');
        }
    }

    fn escaped(&mut self, text: &dyn Display) {
        // Writing to a string cannot fail; a `Display` that does stops where it stands.
        let _ = write!(Escape(&mut self.0), "{text}");
    }
}

/// Escapes what is written through it.
struct Escape<'a>(&'a mut String);

impl Write for Escape<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\n' | '\t' => self.0.push(' '),
                c if invisible(c) => self.0.push('\u{fffd}'),
                c => self.0.push(c),
            }
        }
        Ok(())
    }
}

/// Control characters, what XML does not allow, and marks that turn the direction of the text behind them.
pub(super) fn invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::Markup;

    #[test]
    fn text_never_becomes_markup() {
        let mut m = Markup::default();
        let hostile = "\"'><script>alert(1)</script>&\u{0}\u{202e}\n";
        m.element("p", &[("title", &hostile)], |m| m.text(hostile));
        let safe = "&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;\u{fffd}\u{fffd} ";
        assert_eq!(m.into_string(), format!("<p title=\"{safe}\">{safe}</p>"));
    }
}
