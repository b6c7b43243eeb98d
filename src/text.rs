//! The one sanitiser: every text from outside passes here before it reaches a cell, a title, a log line or stderr.
//!
//! Escape, control, bidi and invisible characters are shown, not obeyed. Also the one rule for what is blank (D16).

use std::borrow::Cow;
use std::fmt::Write as _;

/// Makes a text safe to show: line feeds and tabs stay, every other control or invisible character becomes visible.
///
/// Controls become their pictures (`␛`), the rest `<U+202E>`; CRLF becomes a line feed; emoji selectors are dropped.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c == '\n' || c == '\t' || !is_invisible(c);
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\u{FE0E}' | '\u{FE0F}' => {}
            '\n' | '\t' => shown.push(c),
            '\0'..='\u{1F}' => shown.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{FFFD}')),
            '\u{7F}' => shown.push('␡'),
            c if is_invisible(c) => {
                // Writing to a string cannot fail.
                let _ = write!(shown, "<U+{:04X}>", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Tells whether a text is empty after removing white space and invisible characters (D16).
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_invisible(c))
}

/// Tells whether a character shows nothing by itself: controls, zero-width, fillers, bidi marks, tags, selectors.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
            | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
            | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}
