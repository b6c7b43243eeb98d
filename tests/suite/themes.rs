//! The built-in themes can be read: contrast by the numbers, and no colour where none is wanted.

use ratatui::style::{Color, Modifier, Style};
use steersman::tui::theme::{Depth, Theme, Themes};

/// Backgrounds that terminals come with, dark and light; the least dark and the least light last.
const DARK: [u32; 4] = [0x00_0000, 0x1e_1e1e, 0x1a_1b26, 0x28_2c34];
const LIGHT: [u32; 4] = [0xff_ffff, 0xfa_fafa, 0xfd_f6e3, 0xee_eeee];
/// What those terminals write in when nothing is said.
const DARK_INK: u32 = 0xcc_cccc;
const LIGHT_INK: u32 = 0x33_3333;

/// The relative luminance of WCAG 2.
fn luminance(colour: u32) -> f64 {
    let part = |shift: u32| {
        let value = f64::from((colour >> shift) & 0xff) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0)
}

fn contrast(one: u32, other: u32) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn value(colour: Option<Color>, usual: u32) -> u32 {
    match colour {
        None | Some(Color::Reset) => usual,
        Some(Color::Rgb(red, green, blue)) => u32::from_be_bytes([0, red, green, blue]),
        Some(other) => panic!("{other:?} is whatever the terminal makes of it"),
    }
}

/// Returns the least contrast of a style on these backgrounds; a reversed one has the same.
fn least(style: Style, grounds: [u32; 4], ink: u32) -> f64 {
    assert!(!style.add_modifier.contains(Modifier::DIM), "nobody knows how dim a terminal makes it");
    let contrasts = grounds.map(|ground| contrast(value(style.fg, ink), value(style.bg, ground)));
    contrasts.into_iter().fold(f64::MAX, f64::min)
}

#[test]
fn every_style_of_dark_and_light_reads_on_its_backgrounds() {
    for (name, grounds, ink) in [("dark", DARK, DARK_INK), ("light", LIGHT, LIGHT_INK)] {
        for (key, style) in Theme::built_in(name, Depth::True).styles() {
            let least = least(style, grounds, ink);
            assert!(least >= 4.5, "{name}, {key}: {least:.2}");
        }
    }
}

#[test]
fn every_style_of_high_contrast_reads_on_every_background() {
    for (key, style) in Theme::built_in("high-contrast", Depth::True).styles() {
        for (grounds, ink) in [(DARK, DARK_INK), (LIGHT, LIGHT_INK)] {
            let least = least(style, grounds, ink);
            assert!(least >= 7.0, "{key}: {least:.2}");
        }
    }
}

#[test]
fn plain_has_no_colour_and_without_colours_no_theme_has_one() {
    let has_colour = |(_, style): &(String, Style)| style.fg.is_some() || style.bg.is_some();
    assert!(!Theme::plain().styles().iter().any(has_colour));
    for name in Themes::default().names() {
        assert!(!Theme::built_in(name, Depth::None).styles().iter().any(has_colour), "{name}");
    }
}

#[test]
fn with_sixteen_colours_every_colour_is_one_of_the_terminals_own() {
    for name in Themes::default().names() {
        for (key, style) in Theme::built_in(name, Depth::Sixteen).styles() {
            for colour in [style.fg, style.bg].into_iter().flatten() {
                assert!(!matches!(colour, Color::Rgb(..) | Color::Indexed(_)), "{name}, {key}: {colour:?}");
            }
        }
    }
}
