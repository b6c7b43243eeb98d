//! Makes keys, pastes, mouse and focus reports out of the bytes of a terminal. Pure: bytes in, events out.
//!
//! What a read cut in two is put together again. Nothing that a terminal sends makes it panic, stand still or grow:
//! what means nothing here is passed over, a sequence has a longest length, and so has a paste.
//!
//! # Where things are
//!
//! - the text of a bracketed paste: `pasted.rs`
//! - what each terminal sends for the keys that the program has: `terminals.rs`

mod pasted;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent};
use memchr::memmem;

use super::{mouse, sequence};
use crate::msg::Attention;
use crate::pictures::PictureProtocol;
use crate::pictures::protocol::{KITTY_ANSWER, has_sixels};
use steersman_base::limits;

/// Longest control sequence; what is longer is none.
const SEQUENCE_BYTES: usize = 64;
/// Begins a bracketed paste, behind the escape character and the bracket.
const PASTE: u16 = 200;
const PASTE_END: &[u8] = b"\x1b[201~";
/// Begins the terminal's answer about its background.
const BACKGROUND: &[u8] = b"\x1b]11;rgb";
/// Longest colour in such an answer; what is longer is none.
const COLOUR_BYTES: usize = 32;
/// Longest rest of an answer about pictures; what is longer is none.
const ANSWER_BYTES: usize = 128;
/// Longest answer of any other kind, as of a clipboard; what is longer is none.
const STRING_BYTES: usize = 4 * 1024;
/// Most digits of the number of an operating system command.
const COMMAND_DIGITS: usize = 4;
const ESC: u8 = 0x1B;
const KITTY: Decoded = Decoded::Pictures(PictureProtocol::Kitty);
const SIXELS: Decoded = Decoded::Pictures(PictureProtocol::Sixel);

/// One thing that the bytes meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decoded {
    Key(KeyEvent),
    Paste(String),
    Mouse(MouseEvent),
    /// The terminal got or lost the focus.
    Attention(Attention),
    /// The terminal says the colour of its background: red, green, blue.
    Background([u8; 3]),
    /// The terminal says that it shows pictures of this protocol.
    Pictures(PictureProtocol),
    /// The terminal says the width and the height of a cell, pixels.
    CellPixels((u16, u16)),
}

/// What has not come in full yet.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    pending: Vec<u8>,
    paste: Option<Vec<u8>>,
    /// What was taken for keys last because nothing followed: the beginning of a key or an answer that came apart, perhaps.
    decided: Vec<u8>,
    /// Whether bytes behind the key were typed with it: then a letter behind them was typed, too.
    is_rest_typed: bool,
    /// Bytes at the start of what is pending that were taken for keys already.
    taken: usize,
}

/// What the bytes that are pending wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Awaits {
    /// The rest of a key: without it they are keys by themselves, as a lone Esc is.
    Key,
    /// The rest of an answer of the terminal: without it they are nothing.
    Answer,
}

/// What the first bytes are.
enum Step {
    /// This many bytes, with what they mean if they mean something.
    Done(usize, Option<Decoded>),
    /// The beginning of a paste, this many bytes.
    Paste(usize),
    /// Not all of it is there.
    More,
}

impl Decoder {
    /// Takes bytes; what they complete goes to `out`.
    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut Vec<Decoded>) {
        let cut = std::mem::take(&mut self.decided);
        let is_rest_typed = std::mem::take(&mut self.is_rest_typed);
        if !cut.is_empty() && is_rest(&cut, is_rest_typed, &[&cut, bytes].concat()) {
            // Nobody types that: what was taken for a key was the beginning of this.
            self.taken = cut.len();
            self.pending = cut;
        }
        let mut rest = bytes;
        let joined;
        // Most reads begin with nothing left over; then nothing is copied.
        if !self.pending.is_empty() {
            joined = [std::mem::take(&mut self.pending).as_slice(), bytes].concat();
            rest = &joined;
        }
        while !rest.is_empty() {
            if self.paste.is_some() {
                rest = self.paste_on(rest, out);
                continue;
            }
            match first(rest) {
                // It is no sequence after all: only what came behind the key is left.
                Step::Done(used, _) if self.taken > 0 && !is_whole(rest, used) => {
                    rest = rest.get(std::mem::take(&mut self.taken)..).unwrap_or_default();
                }
                Step::Done(used, decoded) => {
                    self.taken = 0;
                    out.extend(decoded);
                    rest = rest.get(used.max(1)..).unwrap_or_default();
                }
                Step::Paste(used) => {
                    self.taken = 0;
                    self.paste = Some(Vec::new());
                    rest = rest.get(used..).unwrap_or_default();
                }
                Step::More => {
                    self.pending = rest.to_vec();
                    return;
                }
            }
        }
    }

    /// Returns what the last bytes wait for; `None` where nothing is to be decided without more of them.
    pub(super) fn awaits(&self) -> Option<Awaits> {
        match self.pending.as_slice() {
            [] => None,
            _ if self.paste.is_some() => None,
            bytes if self.taken > 0 && !is_answer(bytes) => Some(Awaits::Key),
            [ESC] | [ESC, ESC | b'[' | b'O' | b']' | b'_' | b'P'] | [ESC, ESC, b'[' | b'O'] | [ESC, b'P', _] => {
                Some(Awaits::Key)
            }
            // Of a number behind a bracket, too, the rest is waited for as long; without it they are keys.
            [ESC, b']' | b'P' | b'_', ..] => Some(Awaits::Answer),
            _ => None,
        }
    }

    /// Takes what waits for more as it is: nothing followed.
    pub(super) fn decide(&mut self, out: &mut Vec<Decoded>) {
        let Some(awaits) = self.awaits() else { return };
        let pending = std::mem::take(&mut self.pending);
        let taken = std::mem::take(&mut self.taken);
        if awaits == Awaits::Answer && !is_number(&pending) {
            return;
        }
        if taken > 0 {
            self.feed(pending.get(taken..).unwrap_or_default(), out);
            if self.pending.is_empty() {
                self.decided = pending;
                self.is_rest_typed = true;
            }
            return;
        }
        let (keys, behind) = match pending.as_slice() {
            [ESC] => (vec![None], &[][..]),
            [ESC, ESC] => (vec![None, None], &[][..]),
            [ESC, ESC, byte, behind @ ..] => (vec![None, Some(*byte)], behind),
            [ESC, byte, behind @ ..] => (vec![Some(*byte)], behind),
            _ => (Vec::new(), &[][..]),
        };
        for byte in keys {
            out.push(Decoded::Key(match byte {
                Some(byte) => KeyEvent::new(KeyCode::Char(byte.into()), KeyModifiers::ALT),
                None => KeyCode::Esc.into(),
            }));
        }
        self.feed(behind, out);
        self.decided = match pending.as_slice() {
            [ESC] | [ESC, ESC] => vec![ESC],
            [ESC, b'[' | b']' | b'_' | b'P', ..] if self.pending.is_empty() => pending,
            _ => Vec::new(),
        };
        self.is_rest_typed = self.decided.len() > 2;
    }

    /// Tells whether the bytes that are pending end with an escape character, which may begin the end of an answer.
    pub(super) fn ends_in_escape(&self) -> bool {
        self.pending.ends_with(&[ESC])
    }

    /// Makes a key of what was taken for one: what comes now is too late to be its rest.
    pub(super) fn keep_decided(&mut self) {
        self.decided.clear();
    }

    /// Forgets what has not come in full.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Goes on with a paste; returns what stands behind it.
    fn paste_on<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<Decoded>) -> &'a [u8] {
        let Some(text) = &mut self.paste else { return bytes };
        let (inside, behind) = if let Some(at) = memmem::find(bytes, PASTE_END) {
            (bytes.get(..at), bytes.get(at + PASTE_END.len()..))
        } else {
            // The end may be cut in two.
            let cut = (1..PASTE_END.len()).rev().find(|&cut| bytes.ends_with(PASTE_END.get(..cut).unwrap_or_default()));
            let inside = bytes.len() - cut.unwrap_or(0);
            self.pending = bytes.get(inside..).unwrap_or_default().to_vec();
            (bytes.get(..inside), None)
        };
        let room = limits::PASTE_READ_BYTES.saturating_sub(text.len());
        let inside = inside.unwrap_or_default();
        text.extend_from_slice(inside.get(..room).unwrap_or(inside));
        let Some(behind) = behind else { return &[] };
        let text = self.paste.take().unwrap_or_default();
        out.push(Decoded::Paste(pasted::text(&text)));
        behind
    }
}

/// Tells whether what follows a key is the rest of it: `bytes` hold both.
fn is_rest(key: &[u8], is_rest_typed: bool, bytes: &[u8]) -> bool {
    let [_, second @ (b'[' | b'O' | b']' | b'P' | b'_'), ..] = bytes else { return false };
    match first(bytes) {
        Step::Paste(_) => true,
        // What may be the first bytes of its rest is typed a moment later when nothing more comes.
        Step::More => *second != b'O' || key != [ESC],
        Step::Done(used, _) if !is_whole(bytes, used) => false,
        Step::Done(used, _) => {
            is_answer(bytes) || !is_rest_typed && (used == bytes.len() || key == [ESC] && *second == b'[')
        }
    }
}

/// Tells whether the bytes that stand first, so many, are all of a sequence: else they were typed.
fn is_whole(bytes: &[u8], used: usize) -> bool {
    match bytes {
        // A mouse report of the old kind has three bytes of any value.
        [ESC, b'[', b'M', ..] => used > 3,
        // Of the keys of rxvt with Shift, letters behind a bracket are the likelier.
        [ESC, b'[', b'a'..=b'd', ..] => false,
        [ESC, b'[', ..] if used > 2 => bytes
            .get(used - 1)
            .is_some_and(|last| last.is_ascii_alphabetic() || matches!(last, b'~' | b'^' | b'@' | b'$')),
        _ => used > 2,
    }
}

/// Tells whether bytes begin with an answer of the terminal that nobody types.
fn is_answer(bytes: &[u8]) -> bool {
    // What follows the parameters says what is answered: the attributes, the number of colours, the size of a cell, the
    // place of the cursor, a mode.
    let is_report = |body: &[u8]| {
        let is_parameter = |byte: &u8| matches!(byte, b'0'..=b'9' | b';' | b'?' | b'>' | b'$');
        let end = body.iter().position(|byte| !is_parameter(byte)).unwrap_or(body.len());
        let parameters = body.get(..end).unwrap_or_default();
        let is_marked = matches!(parameters, [b'?' | b'>', b'0'..=b'9', ..]);
        match body.get(end) {
            Some(b'c' | b'S' | b'u') => is_marked,
            Some(b'n') => is_marked || matches!(parameters, b"0" | b"3"),
            None => is_marked || parameters.contains(&b';'),
            Some(b'y') => parameters.ends_with(b"$"),
            Some(b'R') => parameters.contains(&b';'),
            Some(b't') => parameters.starts_with(b"6;"),
            Some(_) => false,
        }
    };
    is_string(bytes) || bytes.strip_prefix(b"\x1b[").is_some_and(is_report)
}

/// Tells whether these are the bytes of an answer up to its number: they may be keys, too.
fn is_number(bytes: &[u8]) -> bool {
    matches!(bytes, [ESC, b']', digits @ ..] if digits.iter().all(u8::is_ascii_digit))
}

/// Tells whether bytes begin with an answer that is a string: a colour, the version of the terminal, pictures.
fn is_string(bytes: &[u8]) -> bool {
    match bytes {
        [ESC, b']', body @ ..] => {
            let digits = body.iter().take_while(|byte| byte.is_ascii_digit()).count();
            (1..=COMMAND_DIGITS).contains(&digits) && body.get(digits) == Some(&b';')
        }
        [ESC, b'P', b'>' | b'!', b'|', ..] | [ESC, b'P', b'0' | b'1', b'$' | b'+', ..] => true,
        _ => bytes.starts_with(b"\x1b_Gi="),
    }
}

/// Reads what stands first.
fn first(bytes: &[u8]) -> Step {
    match bytes {
        [] => Step::More,
        [ESC, ..] => escape(bytes),
        [byte, ..] if *byte < 0x20 || *byte == 0x7F => Step::Done(1, Some(Decoded::Key(control(*byte)))),
        _ => character(bytes),
    }
}

/// Reads a control character as the key that sends it.
fn control(byte: u8) -> KeyEvent {
    let (code, modifiers) = match byte {
        b'\r' => (KeyCode::Enter, KeyModifiers::NONE),
        b'\t' => (KeyCode::Tab, KeyModifiers::NONE),
        0x7F => (KeyCode::Backspace, KeyModifiers::NONE),
        0 => (KeyCode::Char(' '), KeyModifiers::CONTROL),
        1..=0x1A => (KeyCode::Char((byte - 1 + b'a').into()), KeyModifiers::CONTROL),
        // Ctrl+4 to Ctrl+7, as they are on the oldest keyboards.
        _ => (KeyCode::Char((byte.saturating_sub(0x1C) + b'4').into()), KeyModifiers::CONTROL),
    };
    KeyEvent::new(code, modifiers)
}

fn character(bytes: &[u8]) -> Step {
    let length = match bytes.first() {
        Some(0..=0x7F) => 1,
        Some(0xC2..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF4) => 4,
        // No character begins like that.
        _ => return Step::Done(1, None),
    };
    let whole = bytes.get(..length).unwrap_or(bytes);
    match std::str::from_utf8(whole) {
        Ok(text) => Step::Done(length, text.chars().next().map(|c| Decoded::Key(KeyCode::Char(c).into()))),
        Err(error) => match error.error_len() {
            None => Step::More,
            Some(wrong) => Step::Done(wrong, None),
        },
    }
}

fn escape(bytes: &[u8]) -> Step {
    match bytes {
        [_, b'[', ..] => bracket(bytes),
        [_, b']', ..] => command(bytes),
        [_, b'P', ..] => control_string(bytes),
        [_, b'_', ..] => pictures(bytes),
        [_, key @ (b'^' | b'X'), _, ..] => string_or(bytes, char::from(*key)),
        [_, b'O', key, ..] => match sequence::application(*key) {
            Some(key) => Step::Done(3, Some(Decoded::Key(key))),
            // Alt+O, and then something else.
            None => Step::Done(2, Some(alt(KeyCode::Char('O').into()))),
        },
        [_] | [_, b'O' | ESC] => Step::More,
        [_, ESC, b'[' | b'O', ..] => with_alt(bytes),
        // Twice the key itself.
        [_, ESC, ..] => Step::Done(1, Some(Decoded::Key(KeyCode::Esc.into()))),
        _ => with_alt(bytes),
    }
}

/// Reads what stands behind an escape character, with Alt.
fn with_alt(bytes: &[u8]) -> Step {
    match first(bytes.get(1..).unwrap_or_default()) {
        // Shift+Tab of the Linux console. Alt+Tab is a key of windows everywhere else.
        Step::Done(used, Some(Decoded::Key(KeyEvent { code: KeyCode::Tab, .. }))) => {
            Step::Done(used + 1, Some(Decoded::Key(KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT))))
        }
        Step::Done(used, Some(Decoded::Key(key))) => Step::Done(used + 1, Some(alt(key))),
        Step::More => Step::More,
        // Esc by itself; what follows is read next.
        Step::Done(..) | Step::Paste(_) => Step::Done(1, Some(Decoded::Key(KeyCode::Esc.into()))),
    }
}

fn alt(mut key: KeyEvent) -> Decoded {
    key.modifiers |= KeyModifiers::ALT;
    Decoded::Key(key)
}

/// Reads a control sequence: parameters, and the byte that ends it.
fn bracket(bytes: &[u8]) -> Step {
    let body = bytes.get(2..).unwrap_or_default();
    match body {
        // F1 to F5 of the Linux console.
        [b'[', key, ..] => return Step::Done(4, sequence::console(*key).map(Decoded::Key)),
        // The old mouse report: three bytes of any value.
        [b'M', button, x, y, ..] => return Step::Done(6, mouse::old(*button, *x, *y).map(Decoded::Mouse)),
        [b'['] | [b'M', ..] => return Step::More,
        _ => {}
    }
    let Some(end) = body.iter().position(|byte| !(0x20..=0x3F).contains(byte)) else {
        return if body.len() > SEQUENCE_BYTES { Step::Done(bytes.len(), None) } else { Step::More };
    };
    if end > SEQUENCE_BYTES {
        return Step::Done(2 + end, None);
    }
    let (parameters, last) = (body.get(..end).unwrap_or_default(), body.get(end).copied().unwrap_or_default());
    if !(0x40..=0x7E).contains(&last) {
        // Not a sequence: Alt+[ when nothing was between, else a torn one.
        let key = (end == 0).then(|| alt(KeyCode::Char('[').into()));
        return Step::Done(2 + end, key);
    }
    let used = end + 3;
    let text = std::str::from_utf8(parameters).unwrap_or_default();
    match (text, last) {
        ("", b'I') => Step::Done(used, Some(Decoded::Attention(Attention::Here))),
        ("", b'O') => Step::Done(used, Some(Decoded::Attention(Attention::Away))),
        // The place of the cursor; F3 with no modifier has no parameters.
        ("1;1", b'R') => Step::Done(used, None),
        (_, b'M' | b'm') => {
            let report = text.strip_prefix('<').and_then(|text| mouse::report(text, last));
            Step::Done(used, report.map(Decoded::Mouse))
        }
        (_, b'c') if text.starts_with('?') => Step::Done(used, has_sixels(text).then_some(SIXELS)),
        (_, b't') if end > 0 => Step::Done(used, cell_pixels(text).map(Decoded::CellPixels)),
        (_, b'~') if sequence::number(text) == Some(PASTE) => Step::Paste(used),
        _ => match sequence::key(text, last) {
            // No terminal sends that: it is the Esc key, and then a bracket and a letter that were typed at once.
            None if end == 0 && last != b'E' => Step::Done(1, Some(Decoded::Key(KeyCode::Esc.into()))),
            key => Step::Done(used, key.map(Decoded::Key)),
        },
    }
}

/// Reads the size of a cell: 6, its height, its width.
fn cell_pixels(text: &str) -> Option<(u16, u16)> {
    let mut sides = text.strip_prefix("6;")?.split(';').map(|side| side.parse().ok().filter(|side| *side > 0));
    let (height, width) = (sides.next()??, sides.next()??);
    sides.next().is_none().then_some((width, height))
}

/// Reads an operating system command: the colour of the background, or an answer that means nothing here.
fn command(bytes: &[u8]) -> Step {
    let known = bytes.len().min(BACKGROUND.len());
    if bytes.get(..known) == BACKGROUND.get(..known) {
        return background(bytes);
    }
    let digits = bytes.iter().skip(2).take_while(|byte| byte.is_ascii_digit()).count();
    if is_string(bytes) {
        string(bytes)
    } else if digits > 0 && digits <= COMMAND_DIGITS && bytes.len() == 2 + digits {
        Step::More
    } else {
        string_or(bytes, ']')
    }
}

/// Reads a device control string: the version of the terminal, what it can do, a setting.
fn control_string(bytes: &[u8]) -> Step {
    match bytes {
        _ if is_string(bytes) => string(bytes),
        [_, _] | [_, _, b'>' | b'!' | b'0' | b'1'] => Step::More,
        _ => string_or(bytes, 'P'),
    }
}

/// Reads a string that is there with its end, whatever it says: nobody types that at once. Else it is a key with Alt.
fn string_or(bytes: &[u8], key: char) -> Step {
    match whole_string(bytes) {
        Some(used) => Step::Done(used, None),
        None => Step::Done(2, Some(alt(KeyCode::Char(key).into()))),
    }
}

/// Returns how many bytes the string has that stands first, with its end.
fn whole_string(bytes: &[u8]) -> Option<usize> {
    let [ESC, kind @ (b']' | b'P' | b'_' | b'^' | b'X'), body @ ..] = bytes else { return None };
    let end = body.iter().take(STRING_BYTES).position(|byte| *byte < 0x20 || *byte == 0x7F)?;
    match body.get(end..)? {
        [ESC, b'\\', ..] => Some(end + 4),
        [0x07, ..] if *kind == b']' => Some(end + 3),
        _ => None,
    }
}

/// Reads a string up to its end: a bell or `ESC \`.
fn string(bytes: &[u8]) -> Step {
    let end = bytes.iter().skip(2).position(|byte| *byte < 0x20 || *byte == 0x7F).map_or(bytes.len(), |end| end + 2);
    match bytes.get(end..).unwrap_or_default() {
        _ if end > STRING_BYTES => Step::Done(end, None),
        [] | [ESC] => Step::More,
        [0x07, ..] => Step::Done(end + 1, None),
        [ESC, b'\\', ..] => Step::Done(end + 2, None),
        // It broke off; what follows is read for itself.
        _ => Step::Done(end, None),
    }
}

/// Reads what a terminal says of its background: `ESC ] 11 ; rgb : RRRR / GGGG / BBBB`, then a bell or `ESC \`.
fn background(bytes: &[u8]) -> Step {
    let known = bytes.len().min(BACKGROUND.len());
    let body = bytes.get(known..).unwrap_or_default();
    let is_colour = |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'/');
    let end = body.iter().position(|byte| !is_colour(byte)).unwrap_or(body.len());
    let used = known + end;
    let colour = || body.get(..end).and_then(colour).map(Decoded::Background);
    match body.get(end..).unwrap_or_default() {
        _ if end > COLOUR_BYTES => Step::Done(used, None),
        [] | [ESC] => Step::More,
        [0x07, ..] => Step::Done(used + 1, colour()),
        [ESC, b'\\', ..] => Step::Done(used + 2, colour()),
        // It broke off; what follows is read for itself.
        _ => Step::Done(used, None),
    }
}

/// Reads whether a terminal shows pictures: `ESC _ G i = 31 ; OK ESC \`, or why it does not in the place of `OK`.
fn pictures(bytes: &[u8]) -> Step {
    let known = bytes.len().min(KITTY_ANSWER.len());
    if bytes.get(..known) != KITTY_ANSWER.get(..known) {
        return string_or(bytes, '_');
    }
    let body = bytes.get(known..).unwrap_or_default();
    let end = body.iter().position(|byte| !(0x20..=0x7E).contains(byte)).unwrap_or(body.len());
    let used = known + end;
    match body.get(end..).unwrap_or_default() {
        _ if end > ANSWER_BYTES => Step::Done(used, None),
        [] | [ESC] => Step::More,
        [ESC, b'\\', ..] => Step::Done(used + 2, (body.get(..end) == Some(b"OK")).then_some(KITTY)),
        // It broke off; what follows is read for itself.
        _ => Step::Done(used, None),
    }
}

/// Reads `:RRRR/GGGG/BBBB`, each part of one to four digits; what stands behind an `a` says how opaque it is.
fn colour(text: &[u8]) -> Option<[u8; 3]> {
    let text = std::str::from_utf8(text).ok()?;
    let (_, parts) = text.split_once(':')?;
    let mut parts = parts.split('/').map(|part| {
        let most = 16_u32.checked_pow(u32::try_from(part.len()).ok()?)?.checked_sub(1)?;
        let value = u32::from_str_radix(part, 16).ok()?;
        u8::try_from((value * 255).checked_div(most)?).ok()
    });
    Some([parts.next()??, parts.next()??, parts.next()??])
}

#[cfg(test)]
mod terminals;
#[cfg(test)]
mod tests;
