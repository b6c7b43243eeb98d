//! Writes pixels as sixels, the pictures of DEC's terminals: six rows of pixels at a time, one colour after the other.
//!
//! Called by `preview.rs`. The format is described in "VT330/VT340 Programmer Reference Manual", volume 2, chapter 14, with
//! colours as `RGBA` percentages. Always holds: the data is of digits and the characters that the format has; no pixel is set
//! beneath the last row, so that nothing is drawn below a height that is no multiple of six.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use ::image::{Rgba, RgbaImage};

use steersman_base::limits;

/// Rows of pixels that one character stands for.
const BAND: usize = 6;
/// From this opacity on a pixel is drawn.
const OPAQUE: u8 = 128;
/// Shortest run that is written as a number and a character.
const RUN: usize = 4;

/// Red, green and blue of a pixel, percent: terminals know no finer ones.
type Colour = [u8; 3];

/// The colours of a picture, few enough for a terminal.
#[derive(Debug)]
pub(crate) struct SixelPalette {
    colours: Vec<Colour>,
    /// Which one stands for a colour of the picture.
    numbers: BTreeMap<Colour, usize>,
}

/// Colours of a picture that one colour is to stand for, with the pixels that have them.
#[derive(Debug)]
struct ColourBox {
    colours: Vec<(Colour, u64)>,
    /// The place of red, green or blue, whichever differs most.
    channel: usize,
    /// How much is gained when it is split; 0 when it cannot be.
    gain: u64,
}

impl SixelPalette {
    /// Chooses the colours of a picture by median cut; one with few colours keeps them as they are.
    pub(crate) fn new(picture: &RgbaImage) -> Self {
        let mut counts: BTreeMap<Colour, u64> = BTreeMap::new();
        for colour in picture.pixels().filter_map(colour) {
            *counts.entry(colour).or_default() += 1;
        }
        let mut boxes = vec![ColourBox::new(counts.into_iter().collect())];
        while boxes.len() < limits::SIXEL_COLOURS
            && let Some((place, _)) = boxes.iter().enumerate().max_by_key(|(_, held)| held.gain)
            && boxes.get(place).is_some_and(|held| held.gain > 0)
        {
            let parts = boxes.swap_remove(place).split();
            boxes.extend(parts);
        }
        let numbers = boxes
            .iter()
            .enumerate()
            .flat_map(|(number, held)| held.colours.iter().map(move |(colour, _)| (*colour, number)));
        Self { numbers: numbers.collect(), colours: boxes.iter().map(ColourBox::mean).collect() }
    }

    /// Returns a part of the picture as the data of a sequence. What can be looked through is left as it is on the screen.
    pub(crate) fn write(&self, part: &RgbaImage) -> Vec<u8> {
        let width = usize::try_from(part.width()).unwrap_or(usize::MAX).max(1);
        let number = |pixel| colour(pixel).and_then(|colour| self.numbers.get(&colour).copied());
        let numbers: Vec<Option<usize>> = part.pixels().map(number).collect();
        let mut data = format!("\"1;1;{};{}", part.width(), part.height());
        for number in numbers.iter().flatten().collect::<BTreeSet<_>>() {
            if let Some([red, green, blue]) = self.colours.get(*number) {
                let _ = write!(data, "#{number};2;{red};{green};{blue}");
            }
        }
        for (place, band) in numbers.chunks(width.saturating_mul(BAND)).enumerate() {
            if place > 0 {
                data.push('-');
            }
            let mut planes: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
            for (place, number) in band.iter().enumerate() {
                let Some(number) = number else { continue };
                let plane = planes.entry(*number).or_insert_with(|| vec![0; width]);
                if let Some(bits) = plane.get_mut(place % width) {
                    *bits |= 1 << (place / width);
                }
            }
            for (place, (number, plane)) in planes.iter().enumerate() {
                // Back to the first column, for the next colour.
                let again = if place > 0 { "$" } else { "" };
                let _ = write!(data, "{again}#{number}");
                write_plane(&mut data, plane);
            }
        }
        data.into_bytes()
    }
}

impl ColourBox {
    fn new(colours: Vec<(Colour, u64)>) -> Self {
        let spread = |channel: &usize| {
            let values = || colours.iter().filter_map(|(colour, _)| colour.get(*channel));
            values().max().zip(values().min()).map_or(0, |(most, least)| most - least)
        };
        let channel = (0..3).max_by_key(spread).unwrap_or_default();
        let pixels: u64 = colours.iter().map(|(_, count)| count).sum();
        let gain = u64::from(spread(&channel)) * pixels;
        Self { colours, channel, gain }
    }

    /// Splits it where half of the pixels are on each side; both sides have a colour.
    fn split(mut self) -> [Self; 2] {
        let channel = self.channel;
        self.colours.sort_by_key(|(colour, _)| colour.get(channel).copied());
        let half = self.colours.iter().map(|(_, count)| count).sum::<u64>() / 2;
        let mut before = 0;
        let middle = self.colours.iter().take_while(|(_, count)| {
            before += count;
            before <= half
        });
        let middle = middle.count().clamp(1, self.colours.len().saturating_sub(1).max(1));
        let behind = self.colours.split_off(middle.min(self.colours.len()));
        [Self::new(self.colours), Self::new(behind)]
    }

    fn mean(&self) -> Colour {
        let pixels = self.colours.iter().map(|(_, count)| count).sum::<u64>().max(1);
        let mut sums = [0_u64; 3];
        for (colour, count) in &self.colours {
            sums.iter_mut().zip(colour).for_each(|(sum, value)| *sum += u64::from(*value) * count);
        }
        sums.map(|sum| u8::try_from((sum + pixels / 2) / pixels).unwrap_or(100))
    }
}

/// Returns the colour of a pixel; `None` for one that can be looked through.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "an iterator of pixels lends them")]
fn colour(&Rgba([red, green, blue, opacity]): &Rgba<u8>) -> Option<Colour> {
    let percent = |value: u8| u8::try_from((u16::from(value) * 100 + 127) / 255).unwrap_or(100);
    (opacity >= OPAQUE).then(|| [red, green, blue].map(percent))
}

/// Writes where a band has a colour: a character for each column, as far as there are any.
fn write_plane(data: &mut String, plane: &[u8]) {
    let end = plane.iter().rposition(|bits| *bits != 0).map_or(0, |last| last + 1);
    for run in plane.get(..end).unwrap_or_default().chunk_by(|one, next| one == next) {
        let sixel = char::from(run.first().copied().unwrap_or_default() + b'?');
        if run.len() < RUN {
            data.extend(std::iter::repeat_n(sixel, run.len()));
        } else {
            let _ = write!(data, "!{}{sixel}", run.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the data as a terminal does: the pixels that are set, with their colours in percent.
    fn read(data: &[u8]) -> ((usize, usize), BTreeMap<(usize, usize), Colour>) {
        let mut text = std::str::from_utf8(data).unwrap();
        let (mut size, mut registers, mut pixels) = ((0, 0), BTreeMap::new(), BTreeMap::new());
        let (mut column, mut top, mut register, mut times) = (0, 0, 0, 1);
        while let Some(command) = text.chars().next() {
            text = &text[1..];
            let end = text.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(text.len());
            let numbers: Vec<usize> = text[..end].split(';').filter_map(|number| number.parse().ok()).collect();
            match (command, numbers.as_slice()) {
                ('"', [1, 1, width, height]) => size = (*width, *height),
                ('#', [number, 2, colour @ ..]) => {
                    let colour: Vec<u8> = colour.iter().map(|part| u8::try_from(*part).unwrap()).collect();
                    registers.insert(*number, Colour::try_from(colour).unwrap());
                }
                ('#', [number]) => register = *number,
                ('!', [count]) => times = *count,
                ('$', []) => column = 0,
                ('-', []) => (column, top) = (0, top + BAND),
                (sixel @ '?'..='~', []) => {
                    for column in column..column + times {
                        for row in (0..BAND).filter(|row| (sixel as u8 - b'?') & (1 << row) != 0) {
                            assert_eq!(pixels.insert((column, top + row), registers[&register]), None, "set twice");
                        }
                    }
                    (column, times) = (column + times, 1);
                }
                other => panic!("{other:?} is no part of a sixel picture"),
            }
            text = &text[end..];
        }
        (size, pixels)
    }

    fn written(picture: &RgbaImage) -> Vec<u8> {
        SixelPalette::new(picture).write(picture)
    }

    #[test]
    fn a_picture_of_any_size_is_read_back_pixel_by_pixel() {
        for (width, height) in [(1, 1), (5, 6), (7, 7), (40, 20), (3, 13), (300, 4)] {
            let picture = RgbaImage::from_fn(width, height, |x, y| match (x + y) % 5 {
                0 => Rgba([0, 0, 0, 255]),
                1 => Rgba([255, 255, 255, 255]),
                2 => Rgba([255, 0, 51, 255]),
                3 => Rgba([9, 9, 9, 0]),
                _ => Rgba([51, 102, 153, 200]),
            });
            let (size, pixels) = read(&written(&picture));
            assert_eq!(size, (width as usize, height as usize));
            let expected =
                picture.enumerate_pixels().filter_map(|(x, y, pixel)| Some(((x as usize, y as usize), colour(pixel)?)));
            assert_eq!(pixels, expected.collect(), "{width}×{height}");
        }
    }

    #[test]
    fn many_colours_become_as_many_as_a_terminal_has_and_stay_near() {
        let picture = RgbaImage::from_fn(120, 90, |x, y| {
            let part = |value: u32| u8::try_from(value % 256).unwrap();
            Rgba([part(x * 2), part(y * 2), part(x + y), 255])
        });
        let palette = SixelPalette::new(&picture);
        assert_eq!(palette.colours.len(), limits::SIXEL_COLOURS);
        let (_, pixels) = read(&palette.write(&picture));
        assert_eq!(pixels.len(), 120 * 90);
        for (x, y, pixel) in picture.enumerate_pixels() {
            let shown = pixels[&(x as usize, y as usize)];
            let near = colour(pixel).unwrap().iter().zip(shown).all(|(one, other)| one.abs_diff(other) <= 16);
            assert!(near, "{pixel:?} as {shown:?}");
        }
    }

    #[test]
    fn one_colour_costs_a_few_bytes_and_none_costs_none() {
        let blue = written(&RgbaImage::from_pixel(600, 20, Rgba([0, 0, 255, 255])));
        assert_eq!(String::from_utf8(blue).unwrap(), "\"1;1;600;20#0;2;0;0;100#0!600~-#0!600~-#0!600~-#0!600B");
        let clear = written(&RgbaImage::new(30, 13));
        assert_eq!(String::from_utf8(clear).unwrap(), "\"1;1;30;13--");
    }
}
