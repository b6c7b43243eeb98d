//! Images in PNG.

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

/// An image of one pixel.
pub fn png() -> Vec<u8> {
    STANDARD.decode(BASE64).unwrap()
}

/// The image in base64.
pub const BASE64: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP438AAAAQBAYD718vxAAAAAElFTkSuQmCC";

/// An image of one colour.
pub fn picture(width: u32, height: u32) -> DynamicImage {
    DynamicImage::from(RgbImage::from_pixel(width, height, Rgb([200, 30, 30])))
}

/// Returns it as PNG.
pub fn png_of(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    picture(width, height).write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
    bytes
}
