//! Which protocol for pictures a terminal has, and the sequences of each. Pure: the environment and PNG files in, bytes out.
//!
//! kitty's is at `sw.kovidgoyal.net/kitty/graphics-protocol`, iTerm2's at `iterm2.com/documentation-images.html`; `WezTerm`
//! has the second too, and the first without the placeholders that scrolling needs. Sixels are DEC's ("VT330/VT340 Programmer
//! Reference Manual", volume 2, chapter 14); that a terminal has them it says in its attributes (`DA1` in xterm's
//! `ctlseqs`), how large its cells are in pixels when it is asked (`CSI 16 t`), and the number of its colours is set as
//! `XTSMGRAPHICS` says there. Always holds: a sequence is of digits, letters of this file, base64 and `src/images/sixel.rs`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::placeholder::number;
use super::state::PictureSlot;
use steersman_base::limits;
use steersman_images::{Preview, PreviewCrop};

/// Asks whether pictures can be shown, with one of a pixel that is not kept; answered at once by whoever knows the question.
pub const ASK_KITTY: &[u8] = b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\";
/// How the answer begins.
pub const KITTY_ANSWER: &[u8] = b"\x1b_Gi=31;";
/// Asks how large a cell is in pixels.
pub const ASK_CELL: &[u8] = b"\x1b[16t";
/// Asks for the attributes of the terminal: where 4 is one, it supports sixel.
pub const ASK_ATTRIBUTES: &[u8] = b"\x1b[c";
/// Has a sixel terminal keep as many colours as a picture has; xterm as a VT340 would keep sixteen. It is not undone
/// at the end: the answer to that would go to the shell.
pub const SIXEL_COLOURS: &[u8] = b"\x1b[?1;3;256S";
/// The attribute of a terminal that supports sixel.
const SIXEL_ATTRIBUTE: &str = "4";
/// Most base64 of one sequence, bytes.
const CHUNK: usize = 4096;

/// How a terminal is given pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureProtocol {
    /// It keeps them, and shows them where their placeholders stand: kitty, Ghostty.
    Kitty,
    /// It draws them, and then they are cells: iTerm2, `WezTerm`.
    Iterm2,
    /// It draws sixels over its cells, which erase them again: foot, xterm, Konsole, Windows Terminal and many others.
    Sixel,
}

impl PictureProtocol {
    /// Chooses by what the environment says of the terminal; for one of which it says nothing, what it is to be asked about.
    /// `None` where there is nothing to ask, where a multiplexer stands before it, which would not hand pictures on, and
    /// without colours.
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
        if !is_set(&"TERM") || is("TERM", &["dumb", "linux"]) {
            return None;
        }
        let is_iterm2 = is("TERM_PROGRAM", &["iTerm.app", "WezTerm"]) || is("LC_TERMINAL", &["iTerm2"]);
        Some(if is_iterm2 { Self::Iterm2 } else { Self::Sixel })
    }

    /// Returns what a picture is cut into for it.
    pub fn cut(self) -> PreviewCrop {
        match self {
            Self::Kitty => PreviewCrop::Whole,
            Self::Iterm2 => PreviewCrop::Rows,
            Self::Sixel => PreviewCrop::Sixels,
        }
    }
}

/// Tells whether a terminal with these attributes, `62;4;22`, supports sixel. The first says what kind of terminal it is.
pub fn has_sixels(attributes: &str) -> bool {
    attributes.split(';').skip(1).any(|attribute| attribute == SIXEL_ATTRIBUTE)
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

/// Returns what draws one row of a picture at the cursor of a sixel terminal, over cells that are blanked first: what was
/// there would be seen through it. The cursor is somewhere in the row then.
pub fn sixel(columns: u16, data: &[u8]) -> Vec<u8> {
    let blanks = " ".repeat(columns.into());
    [b"\x1b7", blanks.as_bytes(), b"\x1b8\x1bP0;1;0q", data, b"\x1b\\"].concat()
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
    fn only_a_terminal_that_is_known_to_show_pictures_is_one_and_others_are_asked() {
        for (variables, protocol) in [
            (&[("TERM", "xterm-kitty")][..], Some(PictureProtocol::Kitty)),
            (&[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1")], Some(PictureProtocol::Kitty)),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "ghostty")], Some(PictureProtocol::Kitty)),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], Some(PictureProtocol::Iterm2)),
            (&[("TERM", "xterm-256color"), ("LC_TERMINAL", "iTerm2")], Some(PictureProtocol::Iterm2)),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")], Some(PictureProtocol::Iterm2)),
            (
                &[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1"), ("XTERM_VERSION", "XTerm(390)")],
                Some(PictureProtocol::Sixel),
            ),
            (
                &[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1"), ("TERM_PROGRAM", "vscode")],
                Some(PictureProtocol::Sixel),
            ),
            (&[("TERM", "xterm-256color")], Some(PictureProtocol::Sixel)),
            (&[("TERM", "foot")], Some(PictureProtocol::Sixel)),
            (&[("TERM", "tmux-256color"), ("TMUX", "/tmp/t,1,0"), ("LC_TERMINAL", "iTerm2")], None),
            (&[("TERM", "screen-256color"), ("LC_TERMINAL", "iTerm2")], None),
            (&[("TERM", "xterm-kitty"), ("STY", "1.pts")], None),
            (&[("TERM", "xterm-kitty"), ("NO_COLOR", "1")], None),
            (&[("TERM", "dumb"), ("LC_TERMINAL", "iTerm2")], None),
            (&[("TERM", "xterm-256color"), ("NO_COLOR", "1")], None),
            (&[("TERM", "xterm-256color"), ("ZELLIJ", "0")], None),
            (&[("TERM", "linux")], None),
            (&[("TERM", "")], None),
            (&[], None),
        ] {
            assert_eq!(detected(variables), protocol, "{variables:?}");
        }
    }

    #[test]
    fn terminals_are_known_by_their_attributes() {
        for (terminal, attributes, expected) in [
            ("foot", "62;4;22", true),
            ("xterm -ti vt340", "63;1;2;4;6;9;15;22", true),
            ("Konsole", "62;1;4", true),
            ("Windows Terminal 1.22", "61;4;6;7;14;21;22;23;24;28;32;42", true),
            ("mlterm", "63;1;2;3;4;7;29", true),
            ("VTE without sixel", "65;1;9", false),
            ("Alacritty", "6", false),
            ("Terminal.app", "1;2", false),
            ("a VT132", "4;6", false),
            ("nothing of the kind", "62;14;44", false),
            ("nothing", "", false),
        ] {
            assert_eq!(has_sixels(attributes), expected, "{terminal}");
        }
    }

    #[test]
    fn a_picture_goes_out_in_pieces_and_nothing_but_base64_stands_in_them() {
        let picture = Preview { columns: 4, rows: 2, cell: (10, 20), parts: vec![vec![0x1b; 7_000]] };
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
