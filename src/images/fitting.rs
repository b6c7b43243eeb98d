//! Makes images fit what model servers take: measures and opens each, so that no damaged one is sent.
//!
//! Called away from the screen and from the run, as it may take a second. Always holds: an image is measured by its header
//! before anything of it is opened, and opening is bounded in pixels, sides, memory and time, one image at a time; what fits is
//! sent byte for byte, what is made smaller loses everything but its pixels.
//!
//! The longest side is that of Anthropic's guide (`docs.anthropic.com/en/docs/build-with-claude/vision`, "Evaluate image
//! size": larger images are scaled down to 1568 pixels by the server, and more than 8000 are refused); the other services
//! scale to about the same.

use std::io::{self, BufRead, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use ::image::codecs::gif::GifDecoder;
use ::image::codecs::jpeg::JpegEncoder;
use ::image::codecs::png::{CompressionType, FilterType, PngEncoder};
use ::image::{AnimationDecoder as _, DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits, imageops};

use steersman_base::image::{Image, ImageType};
use steersman_base::limits;
use steersman_base::regular_file::read_own;
use steersman_base::sync::lock;

/// Held while an image is opened: nothing else that the program does takes as much memory.
static OPENING: Mutex<()> = Mutex::new(());

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
        let media_type = ImageType::detect(bytes).ok_or("it is no PNG, JPEG, GIF or WebP image")?;
        let (width, height) = measured(media_type, bytes)?;
        let fits = bytes.len() as u64 <= limits::IMAGE_BYTES && width.max(height) <= limits::IMAGE_SIDE;
        // Also where it fits: a server refuses a damaged one, and with it all that is sent beside it.
        let mut picture = opened(media_type, bytes, limits::IMAGE_SIDE)?;
        if !has_end(media_type, bytes) {
            return Err("it is damaged: its end is missing".to_owned());
        }
        if fits && !is_animated(media_type, bytes) {
            return Ok(Self { image: Image::new(name, bytes)?, width, height });
        }
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
    let bytes = read_own(path, limits::IMAGE_FILE_BYTES).map_err(|error| format!("cannot read {name}: {error}"))?;
    attach_bytes(text, images, &name, &bytes)
}

/// Adds the image of this name to a message, as [`attach_file`].
///
/// # Errors
/// As [`attach_file`].
pub fn attach_bytes(text: &mut String, images: &mut Vec<Image>, name: &str, bytes: &[u8]) -> Result<(), String> {
    if images.len() >= limits::IMAGES {
        return Err(format!("cannot attach {name}: a message has at most {} images", limits::IMAGES));
    }
    let fitted = FittedImage::new(name, bytes).map_err(|why| format!("cannot attach {name}: {why}"))?;
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
    if width.max(height) > limits::IMAGE_OPENED_SIDE {
        let most = limits::IMAGE_OPENED_SIDE;
        return Err(format!("it has {width}×{height} pixels, more than {most} on one side"));
    }
    Ok((width, height))
}

/// Opens an image that was measured, under the limits; of an animated one the first picture. It stands as its camera was held.
/// One that is far larger than `side` becomes smaller at once, and the memory of the whole is free again.
pub(super) fn opened(media_type: ImageType, bytes: &[u8], side: u32) -> Result<DynamicImage, String> {
    opened_until(Instant::now() + limits::IMAGE_TIME, media_type, bytes, side)
}

fn opened_until(end: Instant, media_type: ImageType, bytes: &[u8], side: u32) -> Result<DynamicImage, String> {
    let _alone = lock(&OPENING);
    let mut reader = ImageReader::with_format(TimedBytes { bytes: Cursor::new(bytes), end }, format(media_type));
    reader.limits(bounds());
    let mut decoder = reader.into_decoder().map_err(|error| unreadable(&error))?;
    let orientation = decoder.orientation().map_err(|error| unreadable(&error))?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|error| unreadable(&error))?;
    // The good filter holds a row of the whole's width in memory for each new row, as numbers of four bytes.
    let rough = side.saturating_mul(2);
    if picture.width().max(picture.height()) > rough {
        picture = picture.thumbnail(rough, rough);
    }
    picture.apply_orientation(orientation);
    Ok(picture)
}

/// The bytes of an image, which end with an error once its time is over.
#[derive(Debug)]
struct TimedBytes<'a> {
    bytes: Cursor<&'a [u8]>,
    end: Instant,
}

impl TimedBytes<'_> {
    fn check(&self) -> io::Result<()> {
        let late = || io::Error::new(io::ErrorKind::TimedOut, "opening it takes too long");
        if Instant::now() < self.end { Ok(()) } else { Err(late()) }
    }
}

impl Read for TimedBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.check()?;
        let piece = buffer.len().min(limits::IMAGE_PIECE_BYTES);
        self.bytes.read(buffer.get_mut(..piece).unwrap_or_default())
    }
}

impl BufRead for TimedBytes<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.check()?;
        let rest = self.bytes.fill_buf()?;
        Ok(rest.get(..limits::IMAGE_PIECE_BYTES).unwrap_or(rest))
    }

    fn consume(&mut self, amount: usize) {
        self.bytes.consume(amount);
    }
}

impl Seek for TimedBytes<'_> {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(place)
    }
}

/// Tells whether the end of an image is there, as far as its kind says where that is: of a JPEG what is missing is opened as
/// grey.
fn has_end(media_type: ImageType, bytes: &[u8]) -> bool {
    let last = |mark: &[u8]| memchr::memmem::rfind(bytes, mark);
    match media_type {
        ImageType::Png => last(b"IEND").is_some(),
        ImageType::Jpeg => {
            matches!((last(&[0xff, 0xda]), last(&[0xff, 0xd9])), (Some(picture), Some(end)) if picture < end)
        }
        ImageType::WebP => {
            let size = bytes.get(4..8).and_then(|size| size.try_into().ok()).map(u32::from_le_bytes);
            size.is_some_and(|size| u64::from(size).saturating_add(8) <= bytes.len() as u64)
        }
        ImageType::Gif => gif_has_end(bytes),
    }
}

/// Tells whether the blocks of a GIF lead to its end.
fn gif_has_end(bytes: &[u8]) -> bool {
    // Of colours there are as many as the lowest bits of the flags say, if the highest one is set.
    let colours = |flags: u8| if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) };
    let data = |mut at: usize| loop {
        match bytes.get(at) {
            Some(0) => return Some(at + 1),
            Some(length) => at += 1 + usize::from(*length),
            None => return None,
        }
    };
    let mut at = 13 + bytes.get(10).map_or(0, |flags| colours(*flags));
    loop {
        let behind = match bytes.get(at) {
            Some(0x3b) => return true,
            Some(0x21) => data(at + 2),
            Some(0x2c) => bytes.get(at + 9).and_then(|flags| data(at + 11 + colours(*flags))),
            Some(_) | None => return false,
        };
        let Some(behind) = behind else { return false };
        at = behind;
    }
}

/// Tells whether a GIF has a second picture, or a WebP says that it moves: not every server takes those.
fn is_animated(media_type: ImageType, bytes: &[u8]) -> bool {
    match media_type {
        ImageType::Gif => {}
        // The flags of the extended form, and the one of them for this.
        ImageType::WebP => {
            return bytes.get(12..16) == Some(b"VP8X") && bytes.get(20).is_some_and(|flags| flags & 2 != 0);
        }
        ImageType::Png | ImageType::Jpeg => return false,
    }
    let _alone = lock(&OPENING);
    let bytes = TimedBytes { bytes: Cursor::new(bytes), end: Instant::now() + limits::IMAGE_TIME };
    let Ok(mut decoder) = GifDecoder::new(bytes) else { return false };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_whose_time_is_over_is_given_up() {
        for (format, media_type) in [
            (ImageFormat::Png, ImageType::Png),
            (ImageFormat::Jpeg, ImageType::Jpeg),
            (ImageFormat::Gif, ImageType::Gif),
            (ImageFormat::WebP, ImageType::WebP),
        ] {
            let mut bytes = Vec::new();
            DynamicImage::new_rgb8(300, 200).write_to(&mut Cursor::new(&mut bytes), format).unwrap();
            let picture = opened(media_type, &bytes, 50).unwrap();
            assert_eq!((picture.width(), picture.height()), (100, 67), "{media_type:?}");
            let late = opened_until(Instant::now(), media_type, &bytes, 50);
            assert!(late.is_err_and(|why| why.contains("takes too long")), "{media_type:?}");
        }
    }
}
