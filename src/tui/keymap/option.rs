//! What the Option key of a Mac types where the terminal does not take it for Alt.

/// Characters of the US keyboard and the keys behind them. Left out are those with which words of some language begin.
const TYPED: [(char, char); 17] = [
    ('∫', 'b'),
    ('∂', 'd'),
    ('ƒ', 'f'),
    ('©', 'g'),
    ('˙', 'h'),
    ('∆', 'j'),
    ('˚', 'k'),
    ('¬', 'l'),
    ('µ', 'm'),
    ('œ', 'q'),
    ('®', 'r'),
    ('†', 't'),
    ('√', 'v'),
    ('∑', 'w'),
    ('≈', 'x'),
    ('¥', 'y'),
    ('÷', '/'),
];

/// Returns what the user is told who typed this character, if it is one of the Option key.
pub fn option_hint(typed: char) -> Option<String> {
    let (_, key) = TYPED.iter().find(|(c, _)| *c == typed)?;
    let key = key.to_ascii_uppercase();
    Some(format!("{typed} is Option+{key}. Option as Meta: see steersman doctor; or Ctrl+X {key}"))
}
