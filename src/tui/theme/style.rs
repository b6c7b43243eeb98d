//! A style in words: `bold #7aa2f7 on 236 | bold blue`. What stands behind `|` is for terminals with sixteen colours.

use ratatui::style::{Color, Modifier, Style};

use super::depth::{Depth, SIXTEEN, nearest_of_256, nearest_of_sixteen};

const ATTRIBUTES: [(&str, Modifier); 6] = [
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underlined", Modifier::UNDERLINED),
    ("reversed", Modifier::REVERSED),
    ("crossed-out", Modifier::CROSSED_OUT),
];

/// A style as a theme's file says it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ThemeStyle {
    rich: Style,
    /// For terminals with sixteen colours; the nearest of them otherwise.
    sixteen: Option<Style>,
}

impl ThemeStyle {
    /// Reads it.
    ///
    /// # Errors
    /// A sentence about the first word that is none.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text.split_once('|') {
            None => Ok(Self { rich: style(text)?, sixteen: None }),
            Some((rich, sixteen)) => Ok(Self { rich: style(rich)?, sixteen: Some(style(sixteen)?) }),
        }
    }

    /// Returns what a terminal shows of it.
    pub(super) fn at(self, depth: Depth) -> Style {
        match depth {
            Depth::True => self.rich,
            Depth::Indexed => with_colours(self.rich, nearest_of_256),
            Depth::Sixteen => self.sixteen.unwrap_or_else(|| with_colours(self.rich, nearest_of_sixteen)),
            Depth::None => without_colour(self.sixteen.unwrap_or(self.rich)),
        }
    }
}

fn with_colours(style: Style, nearest: fn(Color) -> Color) -> Style {
    Style { fg: style.fg.map(nearest), bg: style.bg.map(nearest), ..style }
}

/// Leaves the attributes; what a background alone told is reversed instead.
fn without_colour(style: Style) -> Style {
    let bare = Style { fg: None, bg: None, ..style };
    if style.bg.is_some() { bare.add_modifier(Modifier::REVERSED) } else { bare }
}

fn style(text: &str) -> Result<Style, String> {
    let mut style = Style::new();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        if let Some((_, attribute)) = ATTRIBUTES.iter().find(|(name, _)| *name == word) {
            style = style.add_modifier(*attribute);
        } else if word == "on" {
            let background = words.next().ok_or("\"on\" needs a background colour after it")?;
            style.bg = colour(background)?;
        } else {
            style.fg = colour(word)?;
        }
    }
    Ok(style)
}

/// Reads a colour; `None` is the terminal's own.
fn colour(word: &str) -> Result<Option<Color>, String> {
    if word == "default" {
        return Ok(None);
    }
    if let Some((_, colour, _)) = SIXTEEN.iter().find(|(name, ..)| *name == word) {
        return Ok(Some(*colour));
    }
    if let Some(digits) = word.strip_prefix('#') {
        let value = u32::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 6);
        let [_, red, green, blue] = value
            .map(u32::to_be_bytes)
            .ok_or_else(|| format!("{word:?} is not a colour: # needs six digits of 0 to f, as in #7aa2f7"))?;
        return Ok(Some(Color::Rgb(red, green, blue)));
    }
    match word.parse::<u8>() {
        Ok(index) => Ok(Some(Color::Indexed(index))),
        Err(_) => Err(format!(
            "{word:?} is neither a colour nor an attribute; colours are #rrggbb, 0 to 255, red, bright-red, default; attributes \
             are {}",
            ATTRIBUTES.map(|(name, _)| name).join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_is_attributes_a_colour_and_a_background() {
        let style = ThemeStyle::parse("bold italic #7aa2f7 on 236").unwrap();
        let expected = Style::new().fg(Color::Rgb(0x7a, 0xa2, 0xf7)).bg(Color::Indexed(236));
        assert_eq!(style.at(Depth::True), expected.add_modifier(Modifier::BOLD | Modifier::ITALIC));
        assert_eq!(ThemeStyle::parse("").unwrap().at(Depth::True), Style::new());
        assert_eq!(ThemeStyle::parse("bright-red").unwrap().at(Depth::Sixteen), Style::new().fg(Color::LightRed));
    }

    #[test]
    fn a_terminal_shows_what_it_can() {
        let style = ThemeStyle::parse("#ff0000 on #0000ff").unwrap();
        assert_eq!(style.at(Depth::Indexed), Style::new().fg(Color::Indexed(196)).bg(Color::Indexed(21)));
        assert_eq!(style.at(Depth::Sixteen), Style::new().fg(Color::LightRed).bg(Color::Blue));
        assert_eq!(style.at(Depth::None), Style::new().add_modifier(Modifier::REVERSED));
        let style = ThemeStyle::parse("#808080 | dim").unwrap();
        assert_eq!(style.at(Depth::Sixteen), Style::new().add_modifier(Modifier::DIM));
        assert_eq!(style.at(Depth::None), Style::new().add_modifier(Modifier::DIM));
    }

    #[test]
    fn what_is_no_style_says_why() {
        for (text, part) in [
            ("blau", "\"blau\" is neither a colour nor an attribute"),
            ("#12345", "six digits"),
            ("#12345é", "six digits"),
            ("256", "neither a colour"),
            ("bold on", "needs a background colour"),
            ("red | fett", "\"fett\""),
        ] {
            let error = ThemeStyle::parse(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
