//! Words of Markdown without their marks, and where a sentence ends. Pure.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use steersman_base::text::visible_line;

/// Shortest sentence that gets a line of its own, bytes: abbreviations are shorter.
const SENTENCE: usize = 24;
/// Keeps words at the beginning of a piece from being read as a block.
const GUARD: &str = "x ";

/// Returns words as they are read aloud: without marks, a link as its words and its target.
pub fn plain(text: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let guarded = format!("{GUARD}{text}");
    let mut out = String::new();
    let mut target: Option<(usize, String)> = None;
    for event in Parser::new_ext(&guarded, Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Text(words) | Event::Code(words) | Event::InlineHtml(words) | Event::Html(words) => {
                out.push_str(&words);
            }
            Event::Start(Tag::Link { dest_url, .. }) => target = Some((out.len(), dest_url.to_string())),
            Event::Start(Tag::Image { dest_url, .. }) => {
                out.push_str("image ");
                target = Some((out.len(), dest_url.to_string()));
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                if let Some((from, target)) = target.take()
                    && out.get(from..).is_some_and(|words| words != target && !target.is_empty())
                {
                    out.push_str(" (");
                    out.push_str(&target);
                    out.push(')');
                }
            }
            Event::Start(Tag::Strikethrough) => out.push_str("struck out: "),
            Event::SoftBreak | Event::HardBreak => out.push(' '),
            _ => {}
        }
    }
    let words = out.strip_prefix(GUARD).unwrap_or(&out);
    visible_line(words).into_owned()
}

/// Finds the end of the first sentence, behind the blank that follows it; `None` while that may still change.
///
/// A sentence ends before a blank and a character that can begin another; not within code, brackets or emphasis.
pub(super) fn sentence_end(text: &str) -> Option<usize> {
    let mut is_code = false;
    let mut brackets = 0_usize;
    let mut stars = 0_usize;
    let mut chars = text.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        match c {
            '`' => is_code = !is_code,
            '(' | '[' if !is_code => brackets += 1,
            ')' | ']' if !is_code => brackets = brackets.saturating_sub(1),
            '*' if !is_code && before != '*' => stars += 1,
            _ => {}
        }
        let ends = matches!(before, '.' | '!' | '?' | '…')
            || (matches!(before, '"' | '”' | ')' | '*' | '’') && closes(text, at));
        let wide = matches!(c, '。' | '！' | '？');
        let is_open = is_code || brackets > 0 || stars % 2 == 1;
        if wide && !is_open && chars.peek().is_some() {
            return Some(at + c.len_utf8());
        }
        if c == ' ' && ends && !is_open && at >= SENTENCE {
            let next = chars.peek().map(|(_, next)| *next)?;
            if next != ' ' && !next.is_lowercase() && !next.is_ascii_digit() {
                return Some(at + 1);
            }
        }
        before = c;
    }
    None
}

/// Tells whether what closes before this place closes a sentence.
fn closes(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().trim_end_matches(['"', '”', ')', '*', '’']);
    before.ends_with(['.', '!', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_go_and_words_stay() {
        for (text, read) in [
            ("**bold** and *soft*, `let x = 1;`", "bold and soft, let x = 1;"),
            ("see [the book](https://a.example/b) now", "see the book (https://a.example/b) now"),
            ("<https://a.example>", "https://a.example"),
            ("![a cat](cat.png)", "image a cat (cat.png)"),
            ("# no heading, - no item", "# no heading, - no item"),
            ("a &amp; b \\* c", "a & b * c"),
            ("a_b_c 2 * 3 * 4", "a_b_c 2 * 3 * 4"),
            ("~~old~~ new", "struck out: old new"),
            ("&#27;[2J\u{202e}", "␛[2J<U+202E>"),
        ] {
            assert_eq!(plain(text), read);
        }
    }

    #[test]
    fn a_sentence_ends_where_another_can_begin() {
        let end = |text: &str| sentence_end(text).map(|end| text[..end].to_owned());
        assert_eq!(end("This is the first sentence. This").as_deref(), Some("This is the first sentence. "));
        for text in [
            "This is the first sentence. ",
            "This is the first sentence.",
            "This is about version 1.2 of it",
            "Some of these, e.g. those here",
            "A call of `the.function ends. Here` is",
            "This (and that is the end. Of it) goes on",
            "This **is the bold beginning. It** goes on",
        ] {
            assert_eq!(end(text), None, "{text}");
        }
    }
}
