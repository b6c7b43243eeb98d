//! The keys that terminals send as control sequences: xterm's, rxvt's, the Linux console's and the kitty protocol's.
//!
//! Called by the decoder with what stands between the bracket and the last byte.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// Reads `ESC O` and a byte: the keypad's application mode.
pub(super) fn application(key: u8) -> Option<KeyEvent> {
    match key {
        b'M' => Some(KeyCode::Enter.into()),
        // rxvt's arrows with Ctrl.
        b'a'..=b'd' => letter(key.to_ascii_uppercase()).map(|code| KeyEvent::new(code, KeyModifiers::CONTROL)),
        _ => letter(key).map(KeyEvent::from),
    }
}

/// Reads `ESC [ [` and a byte: F1 to F5 of the Linux console.
pub(super) fn console(key: u8) -> Option<KeyEvent> {
    matches!(key, b'A'..=b'E').then(|| KeyCode::F(key - b'A' + 1).into())
}

/// Reads the first parameter.
pub(super) fn number(text: &str) -> Option<u16> {
    text.split([';', ':']).next()?.parse().ok()
}

/// Reads a sequence that is a key; `None` for every other.
pub(super) fn key(text: &str, last: u8) -> Option<KeyEvent> {
    let mut parameters = text.split(';');
    let first = parameters.next().unwrap_or_default();
    let (modifiers, kind) = modifiers(parameters.next().unwrap_or_default());
    let (code, modifiers) = match last {
        b'Z' => (KeyCode::BackTab, modifiers | KeyModifiers::SHIFT),
        b'u' => coded(first, modifiers)?,
        // xterm's other keys: 27, the modifiers, the character.
        b'~' if first == "27" => coded(parameters.next()?, modifiers)?,
        b'~' => (numbered(number(first)?)?, modifiers),
        // rxvt's others with Ctrl.
        b'^' => (numbered(number(first)?)?, modifiers | KeyModifiers::CONTROL),
        _ if first.is_empty() || first == "1" => (letter(last)?, modifiers),
        // rxvt and others leave a number out: `ESC [ 5 A`.
        _ if text == first => (letter(last)?, self::modifiers(first).0),
        _ => return None,
    };
    Some(KeyEvent::new_with_kind(code, modifiers, kind))
}

fn letter(key: u8) -> Option<KeyCode> {
    Some(match key {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'P'..=b'S' => KeyCode::F(key - b'P' + 1),
        _ => return None,
    })
}

fn numbered(number: u16) -> Option<KeyCode> {
    let number = u8::try_from(number).ok()?;
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::F(number - 10),
        17..=21 => KeyCode::F(number - 11),
        23..=26 => KeyCode::F(number - 12),
        28..=29 => KeyCode::F(number - 15),
        31..=34 => KeyCode::F(number - 17),
        _ => return None,
    })
}

/// Reads the modifiers and whether the key goes down or up: `5`, or `5:3`.
fn modifiers(text: &str) -> (KeyModifiers, KeyEventKind) {
    let mut parts = text.split(':');
    let bits = parts.next().and_then(|bits| bits.parse::<u16>().ok()).unwrap_or(1).saturating_sub(1);
    let kind = match parts.next() {
        Some("2") => KeyEventKind::Repeat,
        Some("3") => KeyEventKind::Release,
        _ => KeyEventKind::Press,
    };
    let named = [
        (1, KeyModifiers::SHIFT),
        (2, KeyModifiers::ALT),
        (4, KeyModifiers::CONTROL),
        (8, KeyModifiers::SUPER),
        (16, KeyModifiers::HYPER),
        (32, KeyModifiers::META),
    ];
    let set = named.into_iter().filter(|(bit, _)| bits & bit != 0).fold(KeyModifiers::NONE, |all, (_, one)| all | one);
    (set, kind)
}

/// Reads a key of the kitty protocol: a code, perhaps with the one that Shift makes of it.
fn coded(text: &str, mut modifiers: KeyModifiers) -> Option<(KeyCode, KeyModifiers)> {
    let mut codes = text.split(':').map(|code| code.parse::<u32>().ok());
    let code = codes.next().flatten()?;
    let shifted = codes.next().flatten().and_then(char::from_u32);
    if let (true, Some(c)) = (modifiers.contains(KeyModifiers::SHIFT), shifted) {
        modifiers.remove(KeyModifiers::SHIFT);
        return Some((KeyCode::Char(c), modifiers));
    }
    // Keys with these are of the window manager.
    if modifiers.intersects(KeyModifiers::SUPER | KeyModifiers::HYPER | KeyModifiers::META) && code < 57_344 {
        return None;
    }
    // Esc, Enter and Tab as every terminal has sent them.
    let code = match char::from_u32(code).filter(|_| modifiers == KeyModifiers::CONTROL) {
        Some(c @ ('[' | 'm' | 'i')) => {
            modifiers = KeyModifiers::NONE;
            u32::from(c) & 0x1F
        }
        Some(_) | None => code,
    };
    let key = match code {
        0x1B => KeyCode::Esc,
        0x0D | 57_414 => KeyCode::Enter,
        0x09 if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        0x09 => KeyCode::Tab,
        0x7F => KeyCode::Backspace,
        // The keypad.
        57_399..=57_408 => KeyCode::Char(char::from_digit(code - 57_399, 10)?),
        57_409 => KeyCode::Char('.'),
        57_410 => KeyCode::Char('/'),
        57_411 => KeyCode::Char('*'),
        57_412 => KeyCode::Char('-'),
        57_413 => KeyCode::Char('+'),
        57_415 => KeyCode::Char('='),
        57_416 => KeyCode::Char(','),
        57_417 => KeyCode::Left,
        57_418 => KeyCode::Right,
        57_419 => KeyCode::Up,
        57_420 => KeyCode::Down,
        57_421 => KeyCode::PageUp,
        57_422 => KeyCode::PageDown,
        57_423 => KeyCode::Home,
        57_424 => KeyCode::End,
        57_425 => KeyCode::Insert,
        57_426 => KeyCode::Delete,
        57_376..=57_398 => KeyCode::F(u8::try_from(code - 57_376).ok()?.saturating_add(13)),
        // Locks, media and modifiers by themselves mean nothing here.
        57_344..=63_743 => return None,
        _ => KeyCode::Char(char::from_u32(code).filter(|c| !c.is_control())?),
    };
    Some((key, modifiers))
}
