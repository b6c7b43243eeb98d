//! The text of a bracketed paste: control sequences in it are the keys of line ends and tabs, or nothing.
//!
//! tmux sends what is pasted as keys where a program has asked for them in the form of control sequences.

use crossterm::event::{KeyCode, KeyModifiers};

use super::{ESC, SEQUENCE_BYTES};
use crate::input::sequence;
use crate::keymap::{self, Chord};

/// Returns the text of a paste. Of a control sequence that is no character only the escape character stays, so that what
/// takes the text can say that something was left out.
pub(super) fn text(bytes: &[u8]) -> String {
    let mut text = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(ESC, rest) {
        let (plain, behind) = rest.split_at(at);
        text.extend_from_slice(plain);
        let (c, used) = sequence_in(behind).unwrap_or((char::from(ESC), 1));
        text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        rest = behind.get(used..).unwrap_or_default();
    }
    text.extend_from_slice(rest);
    String::from_utf8_lossy(&text).into_owned()
}

/// Reads the control sequence that stands first: its character, and how many bytes it has.
fn sequence_in(bytes: &[u8]) -> Option<(char, usize)> {
    let body = match bytes {
        [_, b'[', body @ ..] => body,
        // Enter and Tab of the keypad.
        [_, b'O', b'M', ..] => return Some(('\n', 3)),
        [_, b'O', b'I', ..] => return Some(('\t', 3)),
        _ => return super::whole_string(bytes).map(|used| (char::from(ESC), used)),
    };
    let end = body.iter().take(SEQUENCE_BYTES).position(|byte| !(0x20..=0x3F).contains(byte))?;
    let last = body.get(end).copied().filter(|last| (0x40..=0x7E).contains(last))?;
    let parameters = std::str::from_utf8(body.get(..end)?).ok()?;
    let pressed = sequence::key(parameters, last).filter(keymap::pressed);
    let key = pressed.map(|key| Chord::from_event(&key));
    let c = key.and_then(|key| match (key.code, key.modifiers) {
        (KeyCode::Enter, _) | (KeyCode::Char('j' | 'm'), KeyModifiers::CONTROL) => Some('\n'),
        (KeyCode::Tab, _) | (KeyCode::Char('i'), KeyModifiers::CONTROL) => Some('\t'),
        _ => key.typed(),
    });
    Some((c.unwrap_or(char::from(ESC)), end + 3))
}
