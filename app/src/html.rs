//! HTML as text, for what is drawn anew as a whole and holds nothing to press: a tenth of the code that views take.

use std::fmt::{self, Display, Write};

/// A piece of HTML. Text gets in escaped or not at all; tags are written in the program.
#[derive(Debug, Default)]
pub(crate) struct Html(String);

impl Html {
    /// A piece of a tag, as it stands.
    pub(crate) fn tag(&mut self, tag: &'static str) -> &mut Self {
        self.0.push_str(tag);
        self
    }

    /// Text, between tags or in an attribute with double quotes.
    pub(crate) fn text(&mut self, text: impl Display) -> &mut Self {
        // Writing to a string does not fail.
        let _ = write!(Escaped(&mut self.0), "{text}");
        self
    }

    /// A word with its explanation, as `part::Term` has it, under an id that is on the page once; plain text where there
    /// is none.
    pub(crate) fn term(&mut self, id: &str, word: &str, explanation: Option<&str>) -> &mut Self {
        let Some(explanation) = explanation else { return self.text(word) };
        self.tag("<span class=\"term\"><span class=\"word\" tabindex=\"0\" aria-describedby=\"").text(id).tag("\">");
        self.text(word).tag("</span><span class=\"tip\" role=\"tooltip\" id=\"").text(id).tag("\">");
        self.text(explanation).tag("</span></span>")
    }

    /// The HTML.
    pub(crate) fn done(self) -> String {
        self.0
    }
}

struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '<' => self.0.push_str("&lt;"),
                '&' => self.0.push_str("&amp;"),
                '"' => self.0.push_str("&quot;"),
                c => self.0.push(c),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_a_tag_or_leave_its_attribute() {
        let mut html = Html::default();
        html.tag("<b title=\"").text("a\"b & c").tag("\">").text("<script>").text(5.5).tag("</b>");
        assert_eq!(html.done(), "<b title=\"a&quot;b &amp; c\">&lt;script>5.5</b>");
    }
}
