//! The mouse reports of terminals: SGR's (mode 1006), and the old ones of terminals that do not know it.

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

/// Reads an SGR report: button, column and row, each from 1; `last` tells down from up.
pub(super) fn report(text: &str, last: u8) -> Option<MouseEvent> {
    let mut numbers = text.split(';').map(|number| number.parse::<u16>().ok());
    let bits = u8::try_from(numbers.next()??).ok()?;
    let column = numbers.next()??.checked_sub(1)?;
    let row = numbers.next()??.checked_sub(1)?;
    let kind = match (kind(bits)?, last) {
        (MouseEventKind::Down(button), b'm') => MouseEventKind::Up(button),
        (kind, _) => kind,
    };
    Some(MouseEvent { kind, column, row, modifiers: modifiers(bits) })
}

/// Reads an old report: three bytes, each 32 more than it says.
pub(super) fn old(button: u8, x: u8, y: u8) -> Option<MouseEvent> {
    let bits = button.checked_sub(32)?;
    let place = |byte: u8| byte.checked_sub(33).map(u16::from);
    Some(MouseEvent { kind: kind(bits)?, column: place(x)?, row: place(y)?, modifiers: modifiers(bits) })
}

fn kind(bits: u8) -> Option<MouseEventKind> {
    let is_moving = bits & 0b10_0000 != 0;
    let button = |left_to_right: u8| match left_to_right {
        0 => MouseButton::Left,
        1 => MouseButton::Middle,
        _ => MouseButton::Right,
    };
    match ((bits & 0b11) | ((bits & 0b1100_0000) >> 4), is_moving) {
        (number @ 0..=2, false) => Some(MouseEventKind::Down(button(number))),
        (number @ 0..=2, true) => Some(MouseEventKind::Drag(button(number))),
        // The old report does not say which button went up.
        (3, false) => Some(MouseEventKind::Up(MouseButton::Left)),
        (3, true) => Some(MouseEventKind::Moved),
        (4, false) => Some(MouseEventKind::ScrollUp),
        (5, false) => Some(MouseEventKind::ScrollDown),
        (6, false) => Some(MouseEventKind::ScrollLeft),
        (7, false) => Some(MouseEventKind::ScrollRight),
        _ => None,
    }
}

fn modifiers(bits: u8) -> KeyModifiers {
    let named = [(4, KeyModifiers::SHIFT), (8, KeyModifiers::ALT), (16, KeyModifiers::CONTROL)];
    named.into_iter().filter(|(bit, _)| bits & bit != 0).fold(KeyModifiers::NONE, |all, (_, one)| all | one)
}
