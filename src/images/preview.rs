//! Makes small pictures of images, for a screen that shows them in cells.
//!
//! Called away from the screen, as it may take a second. Always holds: an image is opened under the limits of `fitting.rs`,
//! nothing of its bytes is handed on but its pixels, and these are bounded whatever the image is.

use std::io::Cursor;

use ::image::codecs::png::{CompressionType, FilterType, PngEncoder};
use ::image::{DynamicImage, RgbaImage, imageops};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::fitting::{measured, opened, unreadable};
use super::sixel::SixelPalette;
use steersman_base::image::{Image, ImageType};
use steersman_base::limits;

/// The room for a picture, and the size of a cell in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellArea {
    /// Most columns.
    pub columns: u16,
    /// Most rows.
    pub rows: u16,
    /// Width and height of a cell, pixels.
    pub cell: (u16, u16),
}

/// What a picture is cut into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreviewCrop {
    /// Nothing: the terminal keeps it as a whole.
    Whole,
    /// A strip for each row of cells: the terminal forgets it as soon as it is drawn.
    Rows,
    /// A sixel strip for each row of cells: the terminal does not scale it.
    Sixels,
}

/// A picture that fills a rectangle of cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// Its columns.
    pub columns: u16,
    /// Its rows.
    pub rows: u16,
    /// The size of a cell that it was made for, pixels.
    pub cell: (u16, u16),
    /// PNG files: one of the whole, or one of each row from the top; or the data of a sixel sequence for each row.
    pub parts: Vec<Vec<u8>>,
}

impl Preview {
    /// Makes a picture of an image: as large as the image where there is room for that, else smaller, never larger. What of its
    /// last column and row is beside the image can be looked through.
    ///
    /// # Errors
    /// Why there is none, in one sentence.
    pub fn new(image: &Image, room: CellArea, cut: PreviewCrop) -> Result<Self, String> {
        let bytes = STANDARD.decode(image.base64()).map_err(|error| error.to_string())?;
        let media_type = ImageType::detect(&bytes).ok_or("it is no PNG, JPEG, GIF or WebP image")?;
        measured(media_type, &bytes)?;
        let most_side = match cut {
            PreviewCrop::Whole | PreviewCrop::Rows => limits::CELL_PIXELS,
            PreviewCrop::Sixels if u32::from(room.cell.0.max(room.cell.1)) > limits::SIXEL_CELL_PIXELS => {
                return Err("the cells of the terminal are too large".to_owned());
            }
            PreviewCrop::Sixels => limits::SIXEL_CELL_PIXELS,
        };
        let side = |pixels: u16| u32::from(pixels).clamp(1, most_side);
        let cell = (side(room.cell.0), side(room.cell.1));
        let most = (u32::from(room.columns) * cell.0, u32::from(room.rows) * cell.1);
        if most.0 == 0 || most.1 == 0 {
            return Err("there is no room for a picture".to_owned());
        }
        let picture = opened(media_type, &bytes, most.0.max(most.1))?;
        let picture = if picture.width() > most.0 || picture.height() > most.1 {
            picture.resize(most.0, most.1, imageops::FilterType::Triangle)
        } else {
            picture
        };
        let picture = match cut {
            PreviewCrop::Whole | PreviewCrop::Rows => picture,
            PreviewCrop::Sixels => of_few_pixels(picture),
        };
        let (columns, rows) = (picture.width().div_ceil(cell.0), picture.height().div_ceil(cell.1));
        let mut canvas = RgbaImage::new(columns * cell.0, rows * cell.1);
        imageops::overlay(&mut canvas, &picture.to_rgba8(), 0, 0);
        let strips =
            (0..rows).map(|row| imageops::crop_imm(&canvas, 0, row * cell.1, canvas.width(), cell.1).to_image());
        let parts = match cut {
            PreviewCrop::Whole => vec![png(&canvas)?],
            PreviewCrop::Rows => strips.map(|strip| png(&strip)).collect::<Result<_, _>>()?,
            PreviewCrop::Sixels => {
                // One palette: a terminal may have the colours of what it drew last alone.
                let palette = SixelPalette::new(&canvas);
                strips.map(|strip| palette.write(&strip)).collect()
            }
        };
        if parts.iter().map(Vec::len).sum::<usize>() > limits::PICTURE_BYTES {
            return Err("its picture is too large".to_owned());
        }
        let count = |cells: u32| u16::try_from(cells).unwrap_or(u16::MAX);
        Ok(Self { columns: count(columns), rows: count(rows), cell: room.cell, parts })
    }
}

/// Makes a picture smaller until it has no more pixels than a sixel picture may have.
fn of_few_pixels(picture: DynamicImage) -> DynamicImage {
    let (width, height, most) = (picture.width().max(1), picture.height().max(1), limits::SIXEL_PIXELS);
    if u64::from(width) * u64::from(height) <= u64::from(most) {
        return picture;
    }
    let across = (u64::from(most) * u64::from(width) / u64::from(height)).isqrt().max(1);
    let across = u32::try_from(across).unwrap_or(u32::MAX);
    picture.resize(across, (most / across).max(1), imageops::FilterType::Triangle)
}

fn png(picture: &RgbaImage) -> Result<Vec<u8>, String> {
    let mut bytes = Cursor::new(Vec::new());
    let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Default, FilterType::Adaptive);
    picture.write_with_encoder(encoder).map_err(|error| unreadable(&error))?;
    Ok(bytes.into_inner())
}
