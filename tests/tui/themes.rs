//! The built-in themes can be read: contrast by the numbers, and no colour where none is wanted.

use ratatui::style::{Color, Modifier, Style};
use steersman_tui::theme::{Depth, Theme, Themes};

/// Backgrounds of terminals and of widespread colour schemes, dark and light.
const DARK: [(&str, u32); 20] = [
    ("black", 0x00_0000),
    ("VS Code", 0x1e_1e1e),
    ("Ubuntu", 0x30_0a24),
    ("Tokyo Night", 0x1a_1b26),
    ("One Dark", 0x28_2c34),
    ("Nord", 0x2e_3440),
    ("Everforest", 0x2d_353b),
    ("Everforest, soft", 0x33_3c43),
    ("Catppuccin Mocha", 0x1e_1e2e),
    ("Catppuccin Macchiato", 0x24_273a),
    ("Catppuccin Frappé", 0x30_3446),
    ("Zenburn", 0x3f_3f3f),
    ("Dracula", 0x28_2a36),
    ("Gruvbox", 0x28_2828),
    ("Gruvbox, soft", 0x32_302f),
    ("Solarized", 0x00_2b36),
    ("Monokai", 0x27_2822),
    ("Material", 0x26_3238),
    ("Kanagawa", 0x1f_1f28),
    ("Rosé Pine Moon", 0x23_2136),
];
const LIGHT: [(&str, u32); 12] = [
    ("white", 0xff_ffff),
    ("One Light", 0xfa_fafa),
    ("PaperColor", 0xee_eeee),
    ("Solarized", 0xfd_f6e3),
    ("Catppuccin Latte", 0xef_f1f5),
    ("Gruvbox", 0xfb_f1c7),
    ("Gruvbox, soft", 0xf2_e5bc),
    ("Kanagawa Lotus", 0xf2_ecbc),
    ("Rosé Pine Dawn", 0xfa_f4ed),
    ("Tokyo Night Day", 0xe1_e2e7),
    ("Nord, light", 0xe5_e9f0),
    ("Iceberg", 0xe8_e9ec),
];
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
        // The cube and the greys of 256 colours; what is before them a terminal chooses itself.
        Some(Color::Indexed(index @ 16..232)) => {
            let step = |at: u8| [0, 95, 135, 175, 215, 255][usize::from(at)];
            let cube = index - 16;
            u32::from_be_bytes([0, step(cube / 36), step(cube / 6 % 6), step(cube % 6)])
        }
        Some(Color::Indexed(index @ 232..)) => {
            let grey = 8 + 10 * (index - 232);
            u32::from_be_bytes([0, grey, grey, grey])
        }
        Some(other) => panic!("{other:?} is whatever the terminal makes of it"),
    }
}

#[test]
fn every_style_of_dark_and_light_reads_on_its_backgrounds_with_all_colours_and_with_256() {
    let mut faint = Vec::new();
    for (name, backgrounds, ink) in [("dark", DARK.as_slice(), DARK_INK), ("light", &LIGHT, LIGHT_INK)] {
        for depth in [Depth::True, Depth::Indexed] {
            for (key, style) in Theme::built_in(name, depth).styles() {
                assert!(!style.add_modifier.contains(Modifier::DIM), "{key}: nobody knows how dim a terminal makes it");
                for (background, colour) in backgrounds {
                    // A reversed style has the same.
                    let contrast = contrast(value(style.fg, ink), value(style.bg, *colour));
                    if contrast < 4.5 {
                        faint.push(format!("{name}, {depth:?}, {key} on {background}: {contrast:.2}"));
                    }
                }
            }
        }
    }
    assert!(faint.is_empty(), "{}", faint.join("\n"));
}

#[test]
fn high_contrast_keeps_to_the_terminals_own_colours_or_sets_both_with_a_contrast_of_seven() {
    for depth in [Depth::True, Depth::Indexed] {
        for (key, style) in Theme::built_in("high-contrast", depth).styles() {
            assert!(!style.add_modifier.contains(Modifier::DIM), "{key}");
            assert_eq!(style.fg.is_some(), style.bg.is_some(), "{key} depends on the terminal's other colour");
            let contrast = contrast(value(style.fg, 0xff_ffff), value(style.bg, 0x00_0000));
            assert!(contrast >= 7.0, "{depth:?}, {key}: {contrast:.2}");
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
