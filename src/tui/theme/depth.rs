//! How many colours a terminal shows, what it says of its background, and the nearest colour where it has fewer.
//!
//! Pure: the environment comes as a function. What the terminal itself says of its background comes from `input`.

use ratatui::style::Color;

/// How many colours are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// None.
    None,
    /// The terminal's own sixteen.
    #[default]
    Sixteen,
    /// 256.
    Indexed,
    /// Any.
    True,
}

/// What is known of the background.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Background {
    #[default]
    Unknown,
    Dark,
    Light,
}

/// Terminals that show any colour and may not say so in `COLORTERM`, by `TERM` or `TERM_PROGRAM`.
const TRUE_COLOUR: [&str; 11] = [
    "xterm-kitty",
    "alacritty",
    "xterm-ghostty",
    "ghostty",
    "wezterm",
    "WezTerm",
    "foot",
    "contour",
    "iTerm.app",
    "vscode",
    "rio",
];

impl Depth {
    /// Finds out from the environment; `get` returns a variable that is set and not empty.
    pub fn detect<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Self {
        // https://no-color.org
        if get("NO_COLOR").is_some() {
            return Self::None;
        }
        let term = get("TERM").unwrap_or_default();
        // GNU screen passes COLORTERM on and does not understand what it promises.
        if term.starts_with("screen") && get("TMUX").is_none() {
            return Self::Indexed;
        }
        let says_so = get("COLORTERM").is_some_and(|says| says == "truecolor" || says == "24bit");
        let is_known = |name: &str| TRUE_COLOUR.contains(&name) || name.ends_with("-direct");
        if says_so || is_known(term) || get("TERM_PROGRAM").is_some_and(is_known) {
            return Self::True;
        }
        if term.contains("256color") { Self::Indexed } else { Self::Sixteen }
    }
}

impl Background {
    /// Reads `COLORFGBG`, in which some terminals say the numbers of their colours; the last is the background.
    pub fn detect(colorfgbg: Option<&str>) -> Self {
        match colorfgbg.and_then(|says| says.rsplit(';').next()).map(str::parse::<u8>) {
            Some(Ok(0..=6 | 8)) => Self::Dark,
            Some(Ok(7 | 9..=15)) => Self::Light,
            _ => Self::Unknown,
        }
    }

    /// Judges a background by its colour, as the eye weighs red, green and blue.
    pub fn of_colour([red, green, blue]: [u8; 3]) -> Self {
        let light = 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue);
        if light < 128 * 1_000 { Self::Dark } else { Self::Light }
    }
}

/// The steps of each part of a colour in the cube of 256.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The sixteen colours in the order of their numbers, as xterm shows them.
pub(super) const SIXTEEN: [(&str, Color, [u8; 3]); 16] = [
    ("black", Color::Black, [0, 0, 0]),
    ("red", Color::Red, [205, 0, 0]),
    ("green", Color::Green, [0, 205, 0]),
    ("yellow", Color::Yellow, [205, 205, 0]),
    ("blue", Color::Blue, [0, 0, 238]),
    ("magenta", Color::Magenta, [205, 0, 205]),
    ("cyan", Color::Cyan, [0, 205, 205]),
    ("white", Color::Gray, [229, 229, 229]),
    ("bright-black", Color::DarkGray, [127, 127, 127]),
    ("bright-red", Color::LightRed, [255, 0, 0]),
    ("bright-green", Color::LightGreen, [0, 255, 0]),
    ("bright-yellow", Color::LightYellow, [255, 255, 0]),
    ("bright-blue", Color::LightBlue, [92, 92, 255]),
    ("bright-magenta", Color::LightMagenta, [255, 0, 255]),
    ("bright-cyan", Color::LightCyan, [0, 255, 255]),
    ("bright-white", Color::White, [255, 255, 255]),
];

pub(super) fn nearest_of_256(colour: Color) -> Color {
    let Color::Rgb(red, green, blue) = colour else { return colour };
    let wanted = [red, green, blue];
    let step = |part: u8| {
        let (at, value) = (0_u8..).zip(STEPS).min_by_key(|(_, step)| step.abs_diff(part)).unwrap_or_default();
        (at, value)
    };
    let [(r, red), (g, green), (b, blue)] = wanted.map(step);
    let cube = (16 + 36 * r + 6 * g + b, [red, green, blue]);
    let greys = (0_u8..24).map(|at| (232 + at, [8 + 10 * at; 3]));
    let nearest = std::iter::once(cube).chain(greys).min_by_key(|(_, known)| distance(*known, wanted));
    nearest.map_or(colour, |(index, _)| Color::Indexed(index))
}

pub(super) fn nearest_of_sixteen(colour: Color) -> Color {
    let wanted = match colour {
        Color::Rgb(red, green, blue) => [red, green, blue],
        Color::Indexed(index) => parts(index),
        named => return named,
    };
    SIXTEEN.iter().min_by_key(|(.., known)| distance(*known, wanted)).map_or(colour, |(_, colour, _)| *colour)
}

fn parts(index: u8) -> [u8; 3] {
    let step = |at: u8| STEPS.get(usize::from(at)).copied().unwrap_or_default();
    match index {
        0..16 => SIXTEEN.get(usize::from(index)).map_or([0; 3], |(.., parts)| *parts),
        16..232 => [(index - 16) / 36, (index - 16) / 6 % 6, (index - 16) % 6].map(step),
        232.. => [8 + 10 * (index - 232); 3],
    }
}

fn distance(one: [u8; 3], other: [u8; 3]) -> u32 {
    one.iter().zip(other).map(|(one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(variables: &[(&str, &'static str)]) -> Depth {
        Depth::detect(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| *value))
    }

    #[test]
    fn the_environment_says_how_many_colours_there_are() {
        assert_eq!(depth(&[("TERM", "xterm-256color")]), Depth::Indexed);
        assert_eq!(depth(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), Depth::True);
        assert_eq!(depth(&[("TERM", "xterm"), ("COLORTERM", "24bit")]), Depth::True);
        assert_eq!(depth(&[("TERM", "xterm-kitty")]), Depth::True);
        assert_eq!(depth(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")]), Depth::True);
        assert_eq!(depth(&[("TERM", "screen-256color"), ("COLORTERM", "truecolor")]), Depth::Indexed);
        let tmux = [("TERM", "screen-256color"), ("COLORTERM", "truecolor"), ("TMUX", "/tmp/x")];
        assert_eq!(depth(&tmux), Depth::True);
        assert_eq!(depth(&[("TERM", "linux")]), Depth::Sixteen);
        assert_eq!(depth(&[("TERM", "xterm-kitty"), ("NO_COLOR", "1")]), Depth::None);
        assert_eq!(depth(&[]), Depth::Sixteen);
    }

    #[test]
    fn a_background_is_dark_or_light_by_what_the_eye_sees() {
        let dark = [[0, 0, 0], [40, 44, 52], [0, 43, 54], [0, 0, 255]];
        let light = [[255, 255, 255], [253, 246, 227], [255, 255, 0], [0, 255, 0]];
        assert!(dark.into_iter().all(|colour| Background::of_colour(colour) == Background::Dark));
        assert!(light.into_iter().all(|colour| Background::of_colour(colour) == Background::Light));
    }

    #[test]
    fn the_background_is_known_only_where_the_terminal_says_it() {
        let backgrounds = [None, Some("15;0"), Some("0;15"), Some("0;default;15"), Some("15;default"), Some("x;300")];
        let expected = [
            Background::Unknown,
            Background::Dark,
            Background::Light,
            Background::Light,
            Background::Unknown,
            Background::Unknown,
        ];
        assert_eq!(backgrounds.map(Background::detect), expected);
    }

    #[test]
    fn greys_and_colours_have_their_nearest() {
        assert_eq!(nearest_of_256(Color::Rgb(128, 128, 128)), Color::Indexed(244));
        assert_eq!(nearest_of_256(Color::Rgb(0, 0, 0)), Color::Indexed(16));
        assert_eq!(nearest_of_256(Color::Red), Color::Red);
        assert_eq!(nearest_of_sixteen(Color::Indexed(196)), Color::LightRed);
        assert_eq!(nearest_of_sixteen(Color::Indexed(255)), Color::Gray);
        assert_eq!(nearest_of_sixteen(Color::Indexed(3)), Color::Yellow);
    }
}
