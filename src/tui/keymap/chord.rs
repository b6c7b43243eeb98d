//! The names of keys: `Ctrl+J` on the screen, `ctrl+j` in a file; `Ctrl+X J` for two keys.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::Chord;

const NAMED: [(&str, KeyCode); 15] = [
    ("Enter", KeyCode::Enter),
    ("Esc", KeyCode::Esc),
    ("Tab", KeyCode::Tab),
    ("Space", KeyCode::Char(' ')),
    ("Backspace", KeyCode::Backspace),
    ("Delete", KeyCode::Delete),
    ("Insert", KeyCode::Insert),
    ("Up", KeyCode::Up),
    ("Down", KeyCode::Down),
    ("Left", KeyCode::Left),
    ("Right", KeyCode::Right),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("PageUp", KeyCode::PageUp),
    ("PageDown", KeyCode::PageDown),
];
const OTHER_NAMES: [(&str, KeyCode); 5] = [
    ("Return", KeyCode::Enter),
    ("Escape", KeyCode::Esc),
    ("Del", KeyCode::Delete),
    ("PgUp", KeyCode::PageUp),
    ("PgDn", KeyCode::PageDown),
];
/// The key before the second one of two.
pub(super) const PREFIX: Chord =
    Chord { is_prefixed: false, code: KeyCode::Char('x'), modifiers: KeyModifiers::CONTROL };
/// What stands before the name of the second one.
pub(super) const PREFIX_NAME: &str = "Ctrl+X ";
const MODIFIERS: [(&str, KeyModifiers); 3] =
    [("Ctrl+", KeyModifiers::CONTROL), ("Alt+", KeyModifiers::ALT), ("Shift+", KeyModifiers::SHIFT)];
/// What terminals send for two keys alike.
const TWINS: [(char, &str); 3] = [('i', "Tab"), ('m', "Enter"), ('[', "Esc")];

impl fmt::Display for Chord {
    /// Writes the name as the screen shows it; letters with Ctrl or Alt in upper case.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_prefixed {
            f.write_str(PREFIX_NAME)?;
        }
        for (name, modifier) in MODIFIERS {
            if self.modifiers.contains(modifier) {
                f.write_str(name)?;
            }
        }
        match (NAMED.iter().find(|(_, code)| *code == self.code), self.code) {
            (Some((name, _)), _) => f.write_str(name),
            (None, KeyCode::F(number)) => write!(f, "F{number}"),
            (None, KeyCode::Char(c)) if self.modifiers.is_empty() && !self.is_prefixed => write!(f, "{c}"),
            (None, KeyCode::Char(c)) => write!(f, "{}", c.to_uppercase()),
            (None, _) => f.write_str("?"),
        }
    }
}

impl Chord {
    /// Reads a name: `ctrl+j`, `alt+enter`, `shift+tab`, `f5`, `g`, `G`, `ctrl+x g`. Case counts for single characters
    /// alone.
    ///
    /// # Errors
    /// A sentence that says why there is no such key.
    pub fn parse(name: &str) -> Result<Self, String> {
        let second = name.split_at_checked(PREFIX_NAME.len());
        if let Some((_, second)) = second.filter(|(first, _)| first.eq_ignore_ascii_case(PREFIX_NAME)) {
            return Self::parse(second.trim_start()).map(Self::prefixed);
        }
        let mut modifiers = KeyModifiers::NONE;
        let mut key = name;
        // What is behind the last stroke may be a plus itself.
        while let Some((modifier, rest)) = MODIFIERS.iter().find_map(|(prefix, modifier)| {
            let (head, rest) = key.split_at_checked(prefix.len())?;
            (head.eq_ignore_ascii_case(prefix) && !rest.is_empty()).then_some((*modifier, rest))
        }) {
            modifiers |= modifier;
            key = rest;
        }
        let code = code(key).ok_or_else(|| format!("{name:?} is not a key"))?;
        if let KeyCode::Char(c) = code {
            if modifiers.contains(KeyModifiers::SHIFT) {
                let upper = c.to_uppercase();
                return Err(format!("{name:?}: write the shifted character itself, as in \"{upper}\""));
            }
            let twin = TWINS.iter().find(|(twin, _)| *twin == c.to_ascii_lowercase());
            if let (true, Some((_, twin))) = (modifiers == KeyModifiers::CONTROL, twin) {
                return Err(format!("most terminals send the same for {name:?} as for {twin}"));
            }
        }
        // Of letters with another key only the letter is certain.
        let code = match code {
            KeyCode::Char(c) if !modifiers.is_empty() => KeyCode::Char(c.to_ascii_lowercase()),
            code => code,
        };
        Ok(Self::from_event(&KeyEvent::new(code, modifiers)))
    }

    pub fn file_name(self) -> String {
        match self.typed() {
            Some(c) if c != ' ' => c.to_string(),
            _ => self.to_string().to_lowercase(),
        }
    }
}

fn code(key: &str) -> Option<KeyCode> {
    let mut characters = key.chars();
    if let (Some(c), None) = (characters.next(), characters.next()) {
        return (!c.is_control()).then_some(KeyCode::Char(c));
    }
    let named = NAMED.iter().chain(&OTHER_NAMES).find(|(name, _)| name.eq_ignore_ascii_case(key));
    let function = || {
        let number: u8 = key.strip_prefix(['f', 'F'])?.parse().ok()?;
        (1..=24).contains(&number).then_some(KeyCode::F(number))
    };
    named.map(|(_, code)| *code).or_else(function)
}

/// What the Option key of a Mac types where the terminal does not take it for Alt: characters of the US keyboard and the keys behind them. Left out are those with which words of some language begin.
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
