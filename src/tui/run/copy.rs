//! Copies: through the terminal (OSC 52), which also works over ssh, and with a program of this machine. Within tmux that
//! program is tmux itself, which takes no copies from others as it is set up; GNU screen hands them on in pieces.
//!
//! Nobody can ask a terminal whether it took the text; so the answer says which way it went.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::terminal::alert::{Relay, through};
use steersman_base::limits;

/// Returns what makes a terminal take the text; `None` when it is longer than many terminals take.
pub(super) fn sequence(text: &str, relay: Relay) -> Option<Vec<u8>> {
    let relay = match relay {
        // It understands the sequence itself, if it is to.
        Relay::None | Relay::Tmux => Relay::None,
        Relay::Screen => Relay::Screen,
    };
    let coded = STANDARD.encode(text);
    (coded.len() <= limits::COPY_TERMINAL_BYTES).then(|| through(relay, &format!("\x1b]52;c;{coded}\x1b\\")))
}

/// Says how the text went.
pub(super) fn answer(sent: bool, program: Option<Result<String, String>>) -> Result<String, String> {
    match (program, sent) {
        (Some(Ok(name)), _) => Ok(format!("with {name}")),
        (None, true) => Ok("through the terminal".to_owned()),
        (Some(Err(reason)), true) => Ok(format!("through the terminal; {reason}")),
        (Some(Err(reason)), false) => Err(format!("too long for the terminal's clipboard, and {reason}")),
        (None, false) => {
            Err("too long for the terminal's clipboard, and there is no wl-copy, xclip, xsel, pbcopy or tmux"
                .to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_more_than_terminals_take() {
        for relay in [Relay::None, Relay::Tmux] {
            assert_eq!(sequence("hi\n", relay).unwrap(), b"\x1b]52;c;aGkK\x1b\\");
        }
        assert_eq!(sequence("hi\n", Relay::Screen).unwrap(), b"\x1bP\x1b]52;c;aGkK\x07\x1b\\");
        let longest = limits::COPY_TERMINAL_BYTES / 4 * 3;
        assert!(sequence(&"x".repeat(longest), Relay::None).is_some());
        assert!(sequence(&"x".repeat(longest + 3), Relay::None).is_none());
    }

    #[test]
    fn the_answer_says_which_way_the_text_went() {
        assert_eq!(answer(true, None).unwrap(), "through the terminal");
        assert_eq!(answer(false, Some(Ok("wl-copy".to_owned()))).unwrap(), "with wl-copy");
        assert!(answer(true, Some(Err("xclip: exit status: 1".to_owned()))).unwrap().contains("xclip"));
        assert!(answer(false, None).unwrap_err().contains("too long"));
    }
}
