//! The sequences by which a terminal tells its user something, and its title. Pure: words in, bytes out.
//!
//! The words are made safe here once more, whoever made them: nothing in them ends the sequence or begins another.

use steersman_base::limits;
use steersman_base::text::{clip, visible_line};

/// How the user is notified.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AlertMethod {
    /// Not at all.
    Off,
    #[default]
    Bell,
    /// A note with words, as iTerm2, `WezTerm`, Ghostty and kitty show it.
    Osc9,
    /// A note with a title and words, as foot and rxvt-unicode show it.
    Osc777,
}

/// What stands between the program and the terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Relay {
    #[default]
    None,
    /// tmux: it rings on, and hands other sequences on only when they are wrapped.
    Tmux,
    /// GNU screen, likewise.
    Screen,
}

/// Whether the terminal's title is the program's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Titled {
    /// It says what the agents do, and is put back at the end.
    #[default]
    Yes,
    /// It is left alone.
    No,
}

/// Bytes of a sequence that GNU screen gets in one string.
const SCREEN_STRING: usize = 240;
/// Remembers the terminal's title.
pub(super) const KEEP_TITLE: &[u8] = b"\x1b[22;0t";
/// Puts it back.
pub(super) const RESTORE_TITLE: &[u8] = b"\x1b[23;0t";

impl AlertMethod {
    /// Chooses by what the environment says of the terminal: words where it is known to show them, else the bell.
    pub fn detect(program: Option<&str>, term: Option<&str>, relay: Relay) -> Self {
        if relay != Relay::None {
            return Self::Bell;
        }
        match (program, term) {
            (Some("iTerm.app" | "WezTerm" | "ghostty" | "WarpTerminal"), _)
            | (_, Some("xterm-kitty" | "xterm-ghostty")) => Self::Osc9,
            (_, Some(term)) if term.starts_with("foot") || term.starts_with("rxvt-unicode") => Self::Osc777,
            _ => Self::Bell,
        }
    }
}

pub fn alert(way: AlertMethod, relay: Relay, words: &str) -> Vec<u8> {
    let words = safe(words);
    match way {
        AlertMethod::Off => Vec::new(),
        AlertMethod::Bell => b"\x07".to_vec(),
        AlertMethod::Osc9 => through(relay, &format!("\x1b]9;{words}\x1b\\")),
        AlertMethod::Osc777 => through(relay, &format!("\x1b]777;notify;Steersman;{words}\x1b\\")),
    }
}

pub fn title(words: &str) -> Vec<u8> {
    format!("\x1b]2;{}\x1b\\", safe(words)).into_bytes()
}

fn safe(words: &str) -> String {
    clip(&visible_line(words), limits::ALERT_COLUMNS).into_owned()
}

/// Wraps a sequence for what stands in between.
pub fn through(relay: Relay, sequence: &str) -> Vec<u8> {
    match relay {
        Relay::None => sequence.as_bytes().to_vec(),
        Relay::Tmux => format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b")).into_bytes(),
        // It ends the wrapping at the first end of a string; the bell ends these sequences too.
        Relay::Screen => in_pieces(&format!("{}\x07", sequence.trim_end_matches("\x1b\\"))),
    }
}

/// Wraps a sequence for GNU screen, which hands on what one string holds after the other. Of a longer string it would print
/// the rest: it keeps 256 bytes up to version 4.2, then 768 (`MAXSTR` in its `window.h`).
fn in_pieces(sequence: &str) -> Vec<u8> {
    let mut wrapped = Vec::new();
    let mut rest = sequence;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(SCREEN_STRING));
        wrapped.extend_from_slice(b"\x1bP");
        wrapped.extend_from_slice(piece.as_bytes());
        wrapped.extend_from_slice(b"\x1b\\");
        rest = behind;
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_has_its_sequence_and_tmux_its_wrapping() {
        let text = |way, relay| String::from_utf8(alert(way, relay, "done")).unwrap();
        assert_eq!(text(AlertMethod::Bell, Relay::Tmux), "\x07");
        assert_eq!(text(AlertMethod::Osc9, Relay::None), "\x1b]9;done\x1b\\");
        assert_eq!(text(AlertMethod::Osc777, Relay::None), "\x1b]777;notify;Steersman;done\x1b\\");
        assert_eq!(text(AlertMethod::Osc9, Relay::Tmux), "\x1bPtmux;\x1b\x1b]9;done\x1b\x1b\\\x1b\\");
        assert_eq!(text(AlertMethod::Osc9, Relay::Screen), "\x1bP\x1b]9;done\x07\x1b\\");
        assert!(alert(AlertMethod::Off, Relay::None, "done").is_empty());
    }

    #[test]
    fn screen_gets_no_string_longer_than_it_keeps() {
        let long = format!("\x1b]52;c;{}\x1b\\", "é".repeat(1_000));
        let wrapped = String::from_utf8(through(Relay::Screen, &long)).unwrap();
        let pieces: Vec<&str> =
            wrapped.split_terminator("\x1b\\").map(|piece| piece.strip_prefix("\x1bP").unwrap()).collect();
        assert!(pieces.iter().all(|piece| piece.len() < 256), "{pieces:?}");
        assert_eq!(pieces.concat(), format!("{}\x07", long.trim_end_matches("\x1b\\")));
    }

    #[test]
    fn no_words_end_the_sequence_or_begin_another() {
        let hostile = format!("a\x1b\\\x07\x1b]0;owned\x07\u{9c}\n{}", "x".repeat(10_000));
        for bytes in [alert(AlertMethod::Osc9, Relay::None, &hostile), title(&hostile)] {
            let text = String::from_utf8(bytes).unwrap();
            assert_eq!(
                (text.matches('\x1b').count(), text.contains('\x07'), text.contains('\u{9c}')),
                (2, false, false)
            );
            assert!(text.len() < 1_000);
        }
    }

    #[test]
    fn the_way_is_chosen_by_the_terminal() {
        assert_eq!(AlertMethod::detect(Some("WezTerm"), None, Relay::None), AlertMethod::Osc9);
        assert_eq!(AlertMethod::detect(Some("WezTerm"), None, Relay::Tmux), AlertMethod::Bell);
        assert_eq!(AlertMethod::detect(None, Some("foot-extra"), Relay::None), AlertMethod::Osc777);
        assert_eq!(AlertMethod::detect(None, Some("xterm-256color"), Relay::None), AlertMethod::Bell);
    }
}
