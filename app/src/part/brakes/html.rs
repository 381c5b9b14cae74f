//! Text as HTML.

/// A text as it stands between tags or within quotes.
pub(super) fn text(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A word with its explanation, as `Term` has it.
pub(super) fn term(id: &str, word: &str, tip: &str) -> String {
    let (id, word, tip) = (text(id), text(word), text(tip));
    [
        "<span class=\"term\"><span class=\"word\" tabindex=\"0\" aria-describedby=\"tip-",
        &id,
        "\">",
        &word,
        "</span><span class=\"tip\" role=\"tooltip\" id=\"tip-",
        &id,
        "\">",
        &tip,
        "</span></span>",
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        let hostile = r#"<img src=x onerror='a' title="b">&amp;"#;
        let safe = text(hostile);
        assert_eq!(safe, "&lt;img src=x onerror=&#39;a&#39; title=&quot;b&quot;&gt;&amp;amp;");
        let term = term(hostile, hostile, hostile);
        assert_eq!((term.matches('<').count(), term.contains("<img")), (6, false));
    }
}
