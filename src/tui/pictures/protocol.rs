//! Which protocol for pictures a terminal has, and the sequences of each. Pure: the environment and PNG files in, bytes out.
//!
//! kitty's is at `sw.kovidgoyal.net/kitty/graphics-protocol`, iTerm2's at `iterm2.com/documentation-images.html`; `WezTerm`
//! has the second too, and the first without the placeholders that scrolling needs. Always holds: a sequence is of digits,
//! letters of this file and base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::placeholder::number;
use super::state::PictureSlot;
use crate::image::{Preview, PreviewCut};
use crate::limits;

/// Asks whether pictures can be shown, with one of a pixel that is not kept; answered at once by whoever knows the question.
pub const ASK_KITTY: &[u8] = b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\";
/// How the answer begins.
pub const KITTY_ANSWER: &[u8] = b"\x1b_Gi=31;";
/// Most base64 of one sequence, bytes.
const CHUNK: usize = 4096;

/// How a terminal is given pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureProtocol {
    /// It keeps them, and shows them where their placeholders stand: kitty, Ghostty.
    Kitty,
    /// It draws them, and then they are cells: iTerm2, `WezTerm`.
    Iterm2,
}

impl PictureProtocol {
    /// Chooses by what the environment says of the terminal; `None` where it is not known to show pictures, where a
    /// multiplexer stands before it, which would not hand them on, and without colours.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let is_set = |name: &&str| variable(name).is_some_and(|value| !value.is_empty());
        // On another machine the name of the terminal alone tells of a multiplexer.
        let is_multiplexed =
            variable("TERM").is_some_and(|term| term.starts_with("tmux") || term.starts_with("screen"));
        if is_multiplexed || ["TMUX", "STY", "ZELLIJ", "NO_COLOR"].iter().any(is_set) {
            return None;
        }
        let is = |name: &str, values: &[&str]| variable(name).is_some_and(|value| values.contains(&value.as_str()));
        // The variable is also seen by a terminal that was started from kitty.
        let others = ["TERM_PROGRAM", "VTE_VERSION", "XTERM_VERSION", "KONSOLE_VERSION", "ALACRITTY_WINDOW_ID"];
        if is("TERM", &["xterm-kitty", "xterm-ghostty"])
            || is("TERM_PROGRAM", &["ghostty"])
            || (is_set(&"KITTY_WINDOW_ID") && !others.iter().any(is_set))
        {
            return Some(Self::Kitty);
        }
        let is_iterm2 = is("TERM_PROGRAM", &["iTerm.app", "WezTerm"]) || is("LC_TERMINAL", &["iTerm2"]);
        (is_iterm2 && !is("TERM", &["dumb", "linux"])).then_some(Self::Iterm2)
    }

    /// Returns what a picture is cut into for it.
    pub fn cut(self) -> PreviewCut {
        match self {
            Self::Kitty => PreviewCut::Whole,
            Self::Iterm2 => PreviewCut::Rows,
        }
    }
}

/// Returns what gives a terminal of kitty's protocol a picture, to be shown where its placeholders stand.
pub fn kitty(slot: PictureSlot, picture: &Preview) -> Vec<u8> {
    let Some(png) = picture.parts.first() else { return Vec::new() };
    let data = STANDARD.encode(png);
    let chunks = data.len().div_ceil(CHUNK);
    let mut bytes = Vec::with_capacity(data.len() + chunks * 16 + 64);
    for (place, chunk) in data.as_bytes().chunks(CHUNK).enumerate() {
        let more = u8::from(place + 1 < chunks);
        let head = if place == 0 {
            let (number, columns, rows) = (number(slot), picture.columns, picture.rows);
            format!("a=T,U=1,q=2,f=100,t=d,i={number},c={columns},r={rows},m={more}")
        } else {
            format!("q=2,m={more}")
        };
        bytes.extend_from_slice(format!("\x1b_G{head};").as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\x1b\\");
    }
    bytes
}

/// Returns what takes every picture from a terminal of kitty's protocol, also out of the middle of one that is being sent.
pub fn forget_kitty() -> Vec<u8> {
    let forget = |slot| format!("\x1b_Ga=d,d=I,q=2,i={}\x1b\\", number(PictureSlot(slot)));
    std::iter::once("\x1b\\".to_owned()).chain((0..limits::PICTURES).map(forget)).collect::<String>().into_bytes()
}

/// Returns what draws one row of a picture at the cursor in a terminal of iTerm2's protocol.
pub fn iterm2(columns: u16, png: &[u8]) -> Vec<u8> {
    let data = STANDARD.encode(png);
    let size = png.len();
    let head = "inline=1;preserveAspectRatio=0;doNotMoveCursor=1";
    format!("\x1b]1337;File={head};size={size};width={columns};height=1:{data}\x07").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(variables: &[(&str, &str)]) -> Option<PictureProtocol> {
        PictureProtocol::detect(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn only_a_terminal_that_is_known_to_show_pictures_is_one() {
        for (variables, protocol) in [
            (&[("TERM", "xterm-kitty")][..], Some(PictureProtocol::Kitty)),
            (&[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1")], Some(PictureProtocol::Kitty)),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "ghostty")], Some(PictureProtocol::Kitty)),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], Some(PictureProtocol::Iterm2)),
            (&[("TERM", "xterm-256color"), ("LC_TERMINAL", "iTerm2")], Some(PictureProtocol::Iterm2)),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")], Some(PictureProtocol::Iterm2)),
            (&[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1"), ("XTERM_VERSION", "XTerm(390)")], None),
            (&[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1"), ("TERM_PROGRAM", "vscode")], None),
            (&[("TERM", "tmux-256color"), ("TMUX", "/tmp/t,1,0"), ("LC_TERMINAL", "iTerm2")], None),
            (&[("TERM", "screen-256color"), ("LC_TERMINAL", "iTerm2")], None),
            (&[("TERM", "xterm-kitty"), ("STY", "1.pts")], None),
            (&[("TERM", "xterm-kitty"), ("NO_COLOR", "1")], None),
            (&[("TERM", "dumb"), ("LC_TERMINAL", "iTerm2")], None),
            (&[("TERM", "xterm-256color")], None),
            (&[], None),
        ] {
            assert_eq!(detected(variables), protocol, "{variables:?}");
        }
    }

    #[test]
    fn a_picture_goes_out_in_pieces_and_nothing_but_base64_stands_in_them() {
        let picture = Preview { columns: 4, rows: 2, parts: vec![vec![0x1b; 7_000]] };
        let text = String::from_utf8(kitty(PictureSlot(3), &picture)).unwrap();
        let pieces: Vec<&str> = text.split_terminator("\x1b\\").collect();
        assert_eq!(pieces.len(), 3);
        assert!(pieces[0].starts_with("\x1b_Ga=T,U=1,q=2,f=100,t=d,i=5460995,c=4,r=2,m=1;"), "{}", &pieces[0][..60]);
        assert!(pieces[1].starts_with("\x1b_Gq=2,m=1;") && pieces[2].starts_with("\x1b_Gq=2,m=0;"));
        for piece in pieces {
            let (_, data) = piece.split_once(';').unwrap();
            assert!(
                data.len() <= CHUNK && data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
            );
        }
    }
}
