//! What a terminal gets at the start and at the end, by its kind. Pure.
//!
//! None of it is asked about first: a terminal that does not know a sequence passes over it. The Linux console does not
//! always: up to version 4.x it ends a sequence at a `<` or `>` and prints the rest (`do_con_trol` in the kernel's `vt.c`).

use super::alert::Relay;
pub use crate::msg::MouseMode;

/// What shows the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TerminalKind {
    /// A terminal that passes over what it does not know.
    #[default]
    Emulator,
    /// tmux, which tells keys with modifiers apart only in the form of xterm.
    Tmux,
    /// The console of Linux: no second screen, no title, and nothing that it would print.
    LinuxConsole,
}

/// Alternate screen, bracketed paste, reports of the focus, and the kitty protocol's first level, which tells Shift+Enter from Enter.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?2004h\x1b[?1004h\x1b[>1u";
/// The same for a terminal that may have the modes still: one level of the keys' protocol, never two.
const ENTER_AGAIN: &[u8] = b"\x1b[<u\x1b[?1049h\x1b[?2004h\x1b[?1004h\x1b[>1u";
/// The way back, also out of the middle of a frame.
const LEAVE: &[u8] = b"\x1b[?2026l\x1b[r\x1b[?1006l\x1b[?1002l\x1b[?1004l\x1b[<u\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l";
/// Has xterm's form of keys with modifiers sent: Shift+Enter, where tmux has `extended-keys` on.
const OTHER_KEYS: &[u8] = b"\x1b[>4;2m";
const TMUX_LEAVE: &[u8] =
    b"\x1b[?2026l\x1b[r\x1b[?1006l\x1b[?1002l\x1b[?1004l\x1b[>4m\x1b[<u\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l";
/// Buttons, the wheel and drags, but no mere moves; in the form that knows no largest column.
const MOUSE_ON: &[u8] = b"\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1002l";

/// Consoles that know these modes have them; the others pass over the question mark.
const CONSOLE_ENTER: &[u8] = b"\x1b[?1049h\x1b[?2004h";
/// The same way back, and what the second screen would have taken away.
const CONSOLE_LEAVE: &[u8] = b"\x1b[r\x1b[?2004l\x1b[0m\x1b[?25h\x1b[H\x1b[2J\x1b[?1049l";

impl TerminalKind {
    /// Tells the kinds apart by the name of the terminal and what stands before it.
    pub fn new(term: Option<&str>, relay: Relay) -> Self {
        match (term, relay) {
            (_, Relay::Tmux) => Self::Tmux,
            (Some("linux"), Relay::None | Relay::Screen) => Self::LinuxConsole,
            (_, Relay::None | Relay::Screen) => Self::Emulator,
        }
    }

    /// Tells whether it has a title and answers questions about itself.
    pub fn is_emulator(self) -> bool {
        match self {
            Self::Emulator | Self::Tmux => true,
            Self::LinuxConsole => false,
        }
    }

    /// Returns what sets the modes.
    pub(super) fn enter(self, mouse: MouseMode) -> Vec<u8> {
        match self {
            Self::Emulator => [ENTER, self.mouse(mouse)].concat(),
            Self::Tmux => [ENTER, OTHER_KEYS, self.mouse(mouse)].concat(),
            Self::LinuxConsole => CONSOLE_ENTER.to_vec(),
        }
    }

    /// Returns what sets the modes where they may be set already.
    pub(super) fn enter_again(self, mouse: MouseMode) -> Vec<u8> {
        match self {
            Self::Emulator => [ENTER_AGAIN, self.mouse(mouse)].concat(),
            Self::Tmux => [ENTER_AGAIN, OTHER_KEYS, self.mouse(mouse)].concat(),
            Self::LinuxConsole => CONSOLE_ENTER.to_vec(),
        }
    }

    /// Returns what asks for the mouse, or leaves it to the terminal.
    pub(super) fn mouse(self, mouse: MouseMode) -> &'static [u8] {
        match (self, mouse) {
            (Self::Emulator | Self::Tmux, MouseMode::On) => MOUSE_ON,
            (Self::Emulator | Self::Tmux, MouseMode::Off) => MOUSE_OFF,
            (Self::LinuxConsole, MouseMode::On | MouseMode::Off) => b"",
        }
    }

    /// Returns what gives the terminal its modes back.
    pub(super) fn leave(self) -> &'static [u8] {
        match self {
            Self::Emulator => LEAVE,
            Self::Tmux => TMUX_LEAVE,
            Self::LinuxConsole => CONSOLE_LEAVE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how often each sequence is set and unset by what a terminal gets from the start to the end.
    fn count(written: &[u8], sequence: &str) -> usize {
        String::from_utf8_lossy(written).matches(sequence).count()
    }

    #[test]
    fn what_is_set_at_the_start_is_unset_at_the_end_on_every_terminal() {
        let terms = [
            "xterm-256color",
            "tmux-256color",
            "screen",
            "screen-256color",
            "linux",
            "xterm-kitty",
            "foot",
            "alacritty",
            "wezterm",
            "xterm-ghostty",
            "nsterm",
            "vt220",
        ];
        let others = [TerminalKind::new(None, Relay::None), TerminalKind::new(Some("xterm"), Relay::Tmux)];
        for kind in terms.map(|term| TerminalKind::new(Some(term), Relay::None)).into_iter().chain(others) {
            for mouse in [MouseMode::On, MouseMode::Off] {
                let (enter, again, leave) = (kind.enter(mouse), kind.enter_again(mouse), kind.leave());
                for mode in ["1049", "2004", "1004", "1002", "1006"] {
                    let set = count(&enter, &format!("\x1b[?{mode}h"));
                    assert!(count(leave, &format!("\x1b[?{mode}l")) >= set, "{kind:?}: {mode}");
                    assert_eq!(count(&again, &format!("\x1b[?{mode}h")), set, "{kind:?}: {mode}");
                }
                assert_eq!(
                    count(&enter, "\x1b[>1u"),
                    count(leave, "\x1b[<u"),
                    "{kind:?}: one level of the keys' protocol"
                );
                assert_eq!(count(&again, "\x1b[>1u"), count(&again, "\x1b[<u"), "{kind:?}: never two");
                let asks = usize::from(kind == TerminalKind::Tmux);
                let other_keys = [count(&enter, "\x1b[>4;2m"), count(&again, "\x1b[>4;2m"), count(leave, "\x1b[>4m")];
                assert_eq!(other_keys, [asks; 3], "{kind:?}: xterm's form of keys");
            }
        }
    }

    #[test]
    fn the_linux_console_gets_nothing_that_it_would_print() {
        let kind = TerminalKind::new(Some("linux"), Relay::None);
        let all = [kind.enter(MouseMode::On), kind.enter_again(MouseMode::On), kind.leave().to_vec()].concat();
        assert!(!all.iter().any(|byte| matches!(byte, b'<' | b'>' | b'=' | b']')), "{}", String::from_utf8_lossy(&all));
        assert_eq!(kind.mouse(MouseMode::On), b"");
    }
}
