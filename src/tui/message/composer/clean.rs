//! What of a text from outside gets into the message: line ends of one kind, nothing that nobody can see.

use std::borrow::Cow;

use steersman_base::text::is_invisible;

/// The code points that are no characters; chips are marked with them.
const INTERNAL: std::ops::RangeInclusive<char> = '\u{FDD0}'..='\u{FDEF}';

/// Makes every line end `\n` and removes what would be invisible; returns how many characters went.
///
/// Joiners and variation selectors stay: emoji are made of them. Tags do not: they can hide whole sentences.
pub(super) fn clean(text: &str) -> (Cow<'_, str>, usize) {
    // Most of what comes is plain: then it is looked at once and not copied.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return (Cow::Borrowed(text), 0);
    }
    let mut clean = String::with_capacity(text.len());
    let mut removed = 0;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' => {
                rest.next_if_eq(&'\n');
                clean.push('\n');
            }
            '\n' | '\t' | '\u{200C}' | '\u{200D}' | '\u{FE00}'..='\u{FE0F}' => clean.push(c),
            c if is_invisible(c) || INTERNAL.contains(&c) => removed += 1,
            c => clean.push(c),
        }
    }
    (Cow::Owned(clean), removed)
}
