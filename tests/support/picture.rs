//! A buffer as an SVG picture, for the README: what is shown there is what the program draws.
//!
//! Every stretch of one style is one text element of a fixed width, so that any monospaced font keeps the grid.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell, CellWidth as _};
use ratatui::style::{Color, Modifier};

/// Width and height of a cell, in tenths of a pixel.
const CELL: (u32, u32) = (84, 180);
/// Room around the screen, tenths of a pixel.
const MARGIN: u32 = 120;
const GROUND: &str = "#14161b";
const INK: &str = "#d5d8de";

/// Compares the picture with the file under `assets/pictures`; writes it instead when `UPDATE_PICTURES` is set.
#[track_caller]
pub fn assert_picture(name: &str, buffer: &Buffer) {
    let path = crate::root().join("assets/pictures").join(format!("{name}.svg"));
    let picture = svg(buffer);
    if std::env::var_os("UPDATE_PICTURES").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, picture).unwrap();
        return;
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(known == picture, "{} is not what is drawn now; set UPDATE_PICTURES=1 and look at it", path.display());
}

/// Writes the picture.
pub fn svg(buffer: &Buffer) -> String {
    let (width, height) = (u32::from(buffer.area.width), u32::from(buffer.area.height));
    let (across, down) = (width * CELL.0 + 2 * MARGIN, height * CELL.1 + 2 * MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"ui-monospace, 'DejaVu Sans \
         Mono', Menlo, Consolas, monospace\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" \
         fill=\"{GROUND}\"/>\n",
        tenths(across),
        tenths(down),
    );
    for y in 0..buffer.area.height {
        let mut x = 0;
        while x < buffer.area.width {
            let look = Look::of(&buffer[(x, y)]);
            let (start, mut text) = (x, String::new());
            while x < buffer.area.width && Look::of(&buffer[(x, y)]) == look {
                let symbol = buffer[(x, y)].symbol();
                text.push_str(symbol);
                x += symbol.cell_width().max(1);
            }
            look.write(&mut out, &text, (start, x.min(buffer.area.width)), y);
        }
    }
    out.push_str("</svg>\n");
    out
}

#[derive(PartialEq)]
struct Look {
    ink: &'static str,
    background: Option<&'static str>,
    modifiers: Modifier,
}

impl Look {
    fn of(cell: &Cell) -> Self {
        let ink = colour(cell.fg).unwrap_or(INK);
        let background = colour(cell.bg);
        if cell.modifier.contains(Modifier::REVERSED) {
            return Self { ink: background.unwrap_or(GROUND), background: Some(ink), modifiers: cell.modifier };
        }
        Self { ink, background, modifiers: cell.modifier }
    }

    fn write(&self, out: &mut String, text: &str, (start, end): (u16, u16), y: u16) {
        let left = u32::from(start) * CELL.0 + MARGIN;
        let width = u32::from(end - start) * CELL.0;
        let top = u32::from(y) * CELL.1 + MARGIN;
        if let Some(background) = self.background {
            let (x, y, w, h) = (tenths(left), tenths(top), tenths(width), tenths(CELL.1));
            writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{background}\"/>").unwrap();
        }
        if text.trim().is_empty() {
            return;
        }
        let mut style = String::new();
        for (modifier, words) in [
            (Modifier::BOLD, " font-weight=\"bold\""),
            (Modifier::ITALIC, " font-style=\"italic\""),
            (Modifier::UNDERLINED, " text-decoration=\"underline\""),
            (Modifier::CROSSED_OUT, " text-decoration=\"line-through\""),
            (Modifier::DIM, " opacity=\"0.6\""),
        ] {
            if self.modifiers.contains(modifier) {
                style.push_str(words);
            }
        }
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" textLength=\"{}\" xml:space=\"preserve\" fill=\"{}\"{style}>{text}</text>",
            tenths(left),
            tenths(top + CELL.1 * 3 / 4),
            tenths(width),
            self.ink,
        )
        .unwrap();
    }
}

fn tenths(value: u32) -> String {
    format!("{}.{}", value / 10, value % 10)
}

fn colour(colour: Color) -> Option<&'static str> {
    Some(match colour {
        Color::Black => "#2a2d34",
        Color::Red | Color::LightRed => "#f07178",
        Color::Green | Color::LightGreen => "#a5d66f",
        Color::Yellow | Color::LightYellow => "#ffcb6b",
        Color::Blue | Color::LightBlue => "#82aaff",
        Color::Magenta | Color::LightMagenta => "#d49bf0",
        Color::Cyan | Color::LightCyan => "#7fdbe0",
        Color::Gray | Color::White => "#eceff4",
        Color::DarkGray => "#7a808c",
        Color::Reset | Color::Rgb(..) | Color::Indexed(_) => return None,
    })
}
