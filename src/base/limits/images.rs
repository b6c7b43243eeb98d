//! Limits of images: those that users attach, those that tools return, and their pictures on the screen.

use std::time::Duration;

/// Largest image that is sent, bytes: what the strictest server takes, in base64.
pub const IMAGE_BYTES: u64 = 3_750 * 1024;
/// Largest file that is opened to make an image of it that can be sent, bytes.
pub const IMAGE_FILE_BYTES: u64 = 32 * 1024 * 1024;
/// Longest side of an image that is sent, pixels: servers make larger ones smaller themselves.
pub const IMAGE_SIDE: u32 = 1_568;
/// Most pixels of an image that is opened.
pub const IMAGE_PIXELS: u64 = 64_000_000;
/// Longest side of an image that is opened, pixels: what makes one smaller works on whole rows and columns.
pub const IMAGE_OPENED_SIDE: u32 = 32_768;
/// Most memory that opening an image may take, bytes; one image is opened at a time.
pub const IMAGE_MEMORY: u64 = 256 * 1024 * 1024;
/// Longest time for opening an image.
pub const IMAGE_TIME: Duration = Duration::from_secs(20);
/// Part of an image's bytes that is opened before that time is looked at; a PNG can become a thousand times as much.
pub const IMAGE_PIECE_BYTES: usize = 4 * 1024;
/// Quality of an image that becomes a JPEG, of 100.
pub const IMAGE_QUALITY: u8 = 85;
/// Images that the screen keeps, so that texts which come back have them.
pub const KEPT_IMAGES: usize = 100;
/// Most images of one message.
pub const IMAGES: usize = 10;
/// Images of the conversations that a host keeps for its screens.
pub const GALLERY_IMAGES: usize = 100;
/// Most bytes of them, in base64.
pub const GALLERY_BYTES: usize = 64 * 1024 * 1024;
/// Pictures that a terminal has at once; their numbers are one byte.
pub const PICTURES: u8 = 32;
/// Most bytes of a picture that a terminal is sent.
pub const PICTURE_BYTES: usize = 2 * 1024 * 1024;
/// Most columns of a picture; there is a mark for each, in `tui/pictures/placeholder.rs`.
pub const PICTURE_COLUMNS: u16 = 60;
/// Most rows of a picture.
pub const PICTURE_ROWS: u16 = 12;
/// Most pixels of a cell's side; a terminal that says more gets coarser pictures.
pub const CELL_PIXELS: u32 = 48;
/// Most pixels of a cell's side of a sixel terminal, which never scales pictures; one that says more gets no pictures.
pub const SIXEL_CELL_PIXELS: u32 = 128;
/// Most pixels of a sixel picture; with six bytes for each it is within [`PICTURE_BYTES`], whatever it shows.
pub const SIXEL_PIXELS: u32 = 300_000;
/// Most colours of a sixel picture: what terminals have at least.
pub const SIXEL_COLOURS: usize = 256;
/// Images of which the screen knows that they have no picture.
pub const PICTURELESS: usize = 1_000;
