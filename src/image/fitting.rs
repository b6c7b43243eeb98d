//! Makes images fit what model servers take: measures them, and opens only those that are too large.
//!
//! Called away from the screen and from the run, as it may take a second. Always holds: an image is measured by its header
//! before anything of it is opened, and opening is bounded in pixels and in memory; what fits is sent byte for byte, what
//! is made smaller loses everything but its pixels.
//!
//! The longest side is that of Anthropic's guide (`docs.anthropic.com/en/docs/build-with-claude/vision`, "Evaluate image
//! size": larger images are scaled down to 1568 pixels by the server, and more than 8000 are refused); the other services
//! scale to about the same.

use std::io::Cursor;
use std::path::Path;

use ::image::codecs::gif::GifDecoder;
use ::image::codecs::jpeg::JpegEncoder;
use ::image::codecs::png::{CompressionType, FilterType, PngEncoder};
use ::image::{AnimationDecoder as _, DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits, imageops};

use super::{Image, ImageType};
use crate::limits;
use crate::regular_file::read_own;

/// An image that can be sent, with its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FittedImage {
    /// The image.
    pub image: Image,
    /// Its width, pixels.
    pub width: u32,
    /// Its height, pixels.
    pub height: u32,
}

impl FittedImage {
    /// Makes an image out of the bytes of a file; one that is too large becomes smaller.
    ///
    /// # Errors
    /// Why it cannot be sent, in one sentence.
    pub fn new(name: impl Into<String>, bytes: &[u8]) -> Result<Self, String> {
        let media_type = ImageType::of(bytes).ok_or("it is no PNG, JPEG, GIF or WebP image")?;
        let (width, height) = measured(media_type, bytes)?;
        let fits = bytes.len() as u64 <= limits::IMAGE_BYTES && width.max(height) <= limits::IMAGE_SIDE;
        if fits && !is_animated(media_type, bytes) {
            return Ok(Self { image: Image::new(name, bytes)?, width, height });
        }
        let mut picture = opened(media_type, bytes)?;
        let mut side = limits::IMAGE_SIDE;
        loop {
            if picture.width().max(picture.height()) > side {
                picture = picture.resize(side, side, imageops::FilterType::Triangle);
            }
            let (width, height) = (picture.width(), picture.height());
            let written = smallest(&picture)?;
            if written.len() as u64 <= limits::IMAGE_BYTES {
                return Ok(Self { image: Image::new(name, &written)?, width, height });
            }
            // Noise of that size does not become small enough otherwise.
            side = width.max(height) / 2;
            if side == 0 {
                return Err("it cannot be made small enough".to_owned());
            }
        }
    }
}

/// Adds the image in a file of the user's own to a message; the text names it, for whoever reads that alone.
///
/// # Errors
/// Why it cannot be attached, in one sentence that names it.
pub fn attach_file(text: &mut String, images: &mut Vec<Image>, path: &Path) -> Result<(), String> {
    let name = path.display().to_string();
    if images.len() >= limits::IMAGES {
        return Err(format!("cannot attach {name}: a message has at most {} images", limits::IMAGES));
    }
    let bytes = read_own(path, limits::IMAGE_FILE_BYTES).map_err(|error| format!("cannot read {name}: {error}"))?;
    let fitted = FittedImage::new(&*name, &bytes).map_err(|why| format!("cannot attach {name}: {why}"))?;
    *text = format!("{text}\n\nImage: {name}");
    images.push(fitted.image);
    Ok(())
}

/// Returns the width and the height that the header of an image names.
pub(super) fn measured(media_type: ImageType, bytes: &[u8]) -> Result<(u32, u32), String> {
    let reader = ImageReader::with_format(Cursor::new(bytes), format(media_type));
    let (width, height) = reader.into_dimensions().map_err(|error| unreadable(&error))?;
    if width == 0 || height == 0 {
        return Err("it is an image without a pixel".to_owned());
    }
    if u64::from(width) * u64::from(height) > limits::IMAGE_PIXELS {
        let most = limits::IMAGE_PIXELS / 1_000_000;
        return Err(format!("it has {width}×{height} pixels, more than {most} million"));
    }
    Ok((width, height))
}

/// Opens an image under the limits; of an animated one the first picture. It stands as its camera was held.
pub(super) fn opened(media_type: ImageType, bytes: &[u8]) -> Result<DynamicImage, String> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format(media_type));
    reader.limits(bounds());
    let mut decoder = reader.into_decoder().map_err(|error| unreadable(&error))?;
    let orientation = decoder.orientation().map_err(|error| unreadable(&error))?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|error| unreadable(&error))?;
    picture.apply_orientation(orientation);
    Ok(picture)
}

/// Tells whether a GIF has a second picture: not every server takes those.
fn is_animated(media_type: ImageType, bytes: &[u8]) -> bool {
    if media_type != ImageType::Gif {
        return false;
    }
    let Ok(mut decoder) = GifDecoder::new(Cursor::new(bytes)) else { return false };
    decoder.set_limits(bounds()).is_ok() && decoder.into_frames().take(2).flatten().count() > 1
}

/// Writes a picture as PNG or as JPEG, whichever is smaller; one that can be looked through only as PNG.
fn smallest(picture: &DynamicImage) -> Result<Vec<u8>, String> {
    let mut png = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut png, CompressionType::Default, FilterType::Adaptive);
    // Deeper colours than these no model sees.
    let is_clear = picture.color().has_alpha();
    let plain = if is_clear { DynamicImage::from(picture.to_rgba8()) } else { DynamicImage::from(picture.to_rgb8()) };
    plain.write_with_encoder(encoder).map_err(|error| unreadable(&error))?;
    if is_clear {
        return Ok(png);
    }
    let mut jpeg = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut jpeg, limits::IMAGE_QUALITY);
    plain.write_with_encoder(encoder).map_err(|error| unreadable(&error))?;
    Ok(if jpeg.len() < png.len() { jpeg } else { png })
}

fn bounds() -> Limits {
    let mut bounds = Limits::default();
    bounds.max_alloc = Some(limits::IMAGE_MEMORY);
    bounds
}

fn format(media_type: ImageType) -> ImageFormat {
    match media_type {
        ImageType::Png => ImageFormat::Png,
        ImageType::Jpeg => ImageFormat::Jpeg,
        ImageType::Gif => ImageFormat::Gif,
        ImageType::WebP => ImageFormat::WebP,
    }
}

pub(super) fn unreadable(error: &::image::ImageError) -> String {
    format!("it cannot be read as an image: {error}")
}
