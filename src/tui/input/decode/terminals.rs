//! What each terminal sends for the keys that the program has, from the terminal's own description, and what it is taken for.
//!
//! Sources: the entries of ncurses' terminal database (`infocmp -1 -x NAME`, ncurses 6.4), which their authors wrote; for
//! what it does not describe (Enter with Alt or Shift, Esc) the protocol of kitty ("Disambiguate escape codes",
//! <https://sw.kovidgoyal.net/kitty/keyboard-protocol/>), which kitty, foot, Alacritty, iTerm2 and Ghostty have, `WezTerm` with
//! `enable_kitty_keyboard`, and VS Code's terminal in its newer versions; else what tmux 3.3 and GNU screen 4.9 handed on when
//! asked. `WezTerm` keeps Alt+Enter for itself ("Default Key Assignments" in its manual), VS Code keeps F1.

use super::*;

/// The keys of one terminal as it sends them.
struct TerminalKeys {
    name: &'static str,
    function_keys: [&'static str; 12],
    home_end: [&'static str; 2],
    /// Up, Down, Right, Left.
    arrows: [&'static str; 4],
    /// Left, Right; the same as without Ctrl where it makes no difference.
    ctrl_arrows: [&'static str; 2],
    shift_tab: &'static str,
    alt_enter: &'static str,
    /// Most send the same as for Enter.
    shift_enter: &'static str,
    escape: &'static str,
    has_focus_reports: bool,
}

const XTERM_F: [&str; 12] = [
    "\x1bOP", "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[15~", "\x1b[17~", "\x1b[18~", "\x1b[19~", "\x1b[20~", "\x1b[21~",
    "\x1b[23~", "\x1b[24~",
];
const KITTY_F: [&str; 12] = [
    "\x1b[P", "\x1b[Q", "\x1b[13~", "\x1b[S", "\x1b[15~", "\x1b[17~", "\x1b[18~", "\x1b[19~", "\x1b[20~", "\x1b[21~",
    "\x1b[23~", "\x1b[24~",
];
const CONSOLE_F: [&str; 12] = [
    "\x1b[[A", "\x1b[[B", "\x1b[[C", "\x1b[[D", "\x1b[[E", "\x1b[17~", "\x1b[18~", "\x1b[19~", "\x1b[20~", "\x1b[21~",
    "\x1b[23~", "\x1b[24~",
];
const RXVT_F: [&str; 12] = [
    "\x1b[11~", "\x1b[12~", "\x1b[13~", "\x1b[14~", "\x1b[15~", "\x1b[17~", "\x1b[18~", "\x1b[19~", "\x1b[20~",
    "\x1b[21~", "\x1b[23~", "\x1b[24~",
];
const ARROWS: [&str; 4] = ["\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"];

/// A terminal that is like xterm in all of this: `xterm-256color`, `nsterm` (Terminal.app), `vscode`, `wezterm`, `mosh`.
const XTERM: TerminalKeys = TerminalKeys {
    name: "xterm",
    function_keys: XTERM_F,
    home_end: ["\x1b[H", "\x1b[F"],
    arrows: ARROWS,
    ctrl_arrows: ["\x1b[1;5D", "\x1b[1;5C"],
    shift_tab: "\x1b[Z",
    alt_enter: "\x1b\r",
    shift_enter: "\r",
    escape: "\x1b",
    has_focus_reports: true,
};

/// A terminal with the protocol of kitty, which the program has switched on.
const KITTY: TerminalKeys = TerminalKeys {
    name: "kitty, foot, Alacritty, iTerm2, Ghostty",
    function_keys: KITTY_F,
    shift_tab: "\x1b[9;2u",
    alt_enter: "\x1b[13;3u",
    shift_enter: "\x1b[13;2u",
    escape: "\x1b[27u",
    ..XTERM
};

const TERMINALS: [TerminalKeys; 7] = [
    XTERM,
    KITTY,
    // In the mode of application keys, as they have it without the protocol after another program left it on.
    TerminalKeys {
        name: "kitty, Alacritty, iTerm2, Terminal.app, VS Code in application mode",
        home_end: ["\x1bOH", "\x1bOF"],
        arrows: ["\x1bOA", "\x1bOB", "\x1bOC", "\x1bOD"],
        ..XTERM
    },
    TerminalKeys { name: "tmux", home_end: ["\x1b[1~", "\x1b[4~"], ..XTERM },
    // Without reports of its own: it hands on those of its terminal.
    TerminalKeys { name: "screen", home_end: ["\x1b[1~", "\x1b[4~"], ..XTERM },
    TerminalKeys {
        name: "linux",
        function_keys: CONSOLE_F,
        home_end: ["\x1b[1~", "\x1b[4~"],
        ctrl_arrows: ["\x1b[D", "\x1b[C"],
        shift_tab: "\x1b\t",
        has_focus_reports: false,
        ..XTERM
    },
    TerminalKeys {
        name: "rxvt-unicode",
        function_keys: RXVT_F,
        home_end: ["\x1b[7~", "\x1b[8~"],
        ctrl_arrows: ["\x1bOd", "\x1bOc"],
        ..XTERM
    },
];

fn decoded(bytes: &[u8], size: usize) -> Vec<Decoded> {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    for part in bytes.chunks(size) {
        decoder.feed(part, &mut out);
    }
    decoder.decide(&mut out);
    out
}

#[test]
fn the_keys_of_the_program_are_known_as_each_terminal_sends_them() {
    let (none, alt, ctrl, shift) = (KeyModifiers::NONE, KeyModifiers::ALT, KeyModifiers::CONTROL, KeyModifiers::SHIFT);
    for terminal in TERMINALS {
        let knows = |sent: &str, code: KeyCode, modifiers: KeyModifiers| {
            let expected = [Decoded::Key(KeyEvent::new(code, modifiers))];
            for size in [sent.len(), 1] {
                assert_eq!(decoded(sent.as_bytes(), size), expected, "{}: {sent:?} by {size}", terminal.name);
            }
        };
        for (number, sent) in (1..).zip(terminal.function_keys) {
            knows(sent, KeyCode::F(number), none);
        }
        for (code, sent) in [KeyCode::Home, KeyCode::End].into_iter().zip(terminal.home_end) {
            knows(sent, code, none);
        }
        let arrows = [KeyCode::Up, KeyCode::Down, KeyCode::Right, KeyCode::Left];
        for (code, sent) in arrows.into_iter().zip(terminal.arrows) {
            knows(sent, code, none);
        }
        for (code, sent) in [KeyCode::Left, KeyCode::Right].into_iter().zip(terminal.ctrl_arrows) {
            let makes_no_difference = terminal.arrows.contains(&sent);
            knows(sent, code, if makes_no_difference { none } else { ctrl });
        }
        knows(terminal.shift_tab, KeyCode::BackTab, shift);
        knows(terminal.alt_enter, KeyCode::Enter, alt);
        knows(terminal.shift_enter, KeyCode::Enter, if terminal.shift_enter == "\r" { none } else { shift });
        knows(terminal.escape, KeyCode::Esc, none);
        for (code, sent) in [(KeyCode::PageUp, "\x1b[5~"), (KeyCode::PageDown, "\x1b[6~"), (KeyCode::Delete, "\x1b[3~")]
        {
            knows(sent, code, none);
        }
        // Pastes are told apart wherever they are marked; the console marks none.
        assert_eq!(decoded(b"\x1b[200~a\rb\x1b[201~", 1), [Decoded::Paste("a\rb".to_owned())], "{}", terminal.name);
        if terminal.has_focus_reports {
            let reports = [Decoded::Attention(Attention::Here), Decoded::Attention(Attention::Away)];
            assert_eq!(decoded(b"\x1b[I\x1b[O", 1), reports, "{}", terminal.name);
        }
    }
}

#[test]
fn with_the_protocol_of_kitty_every_key_with_a_modifier_is_known() {
    let (alt, ctrl) = (KeyModifiers::ALT, KeyModifiers::CONTROL);
    for (sent, code, modifiers) in [
        ("\x1b[99;5u", KeyCode::Char('c'), ctrl),
        ("\x1b[121;3u", KeyCode::Char('y'), alt),
        ("\x1b[1;3A", KeyCode::Up, alt),
        ("\x1b[127;3u", KeyCode::Backspace, alt),
        ("\x1b[95;5u", KeyCode::Char('_'), ctrl),
    ] {
        assert_eq!(decoded(sent.as_bytes(), 1), [Decoded::Key(KeyEvent::new(code, modifiers))], "{sent:?}");
    }
}

#[test]
fn terminal_app_and_iterm2_send_words_moves_as_emacs_has_them() {
    // Option and an arrow, in Terminal.app's own profile: Escape and a letter.
    for (sent, letter) in [("\x1bb", 'b'), ("\x1bf", 'f')] {
        let expected = [Decoded::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::ALT))];
        assert_eq!(decoded(sent.as_bytes(), 1), expected);
    }
    // iTerm2 with Option as Esc+: the arrow's own sequence behind another escape (`kUP3` of `iterm2`).
    let expected = [Decoded::Key(KeyEvent::new(KeyCode::Up, KeyModifiers::ALT))];
    assert_eq!(decoded(b"\x1b\x1b[A", 1), expected);
}
