//! Limits of images: those that users attach, and those that tools return.

/// Largest image that is sent, bytes: what the strictest server takes, in base64.
pub const IMAGE_BYTES: u64 = 3_750 * 1024;
/// Largest file that is opened to make an image of it that can be sent, bytes.
pub const IMAGE_FILE_BYTES: u64 = 32 * 1024 * 1024;
/// Longest side of an image that is sent, pixels: servers make larger ones smaller themselves.
pub const IMAGE_SIDE: u32 = 1_568;
/// Most pixels of an image that is opened.
pub const IMAGE_PIXELS: u64 = 80_000_000;
/// Most memory that opening an image may take, bytes.
pub const IMAGE_MEMORY: u64 = 512 * 1024 * 1024;
/// Quality of an image that becomes a JPEG, of 100.
pub const IMAGE_QUALITY: u8 = 85;
/// Images that the screen keeps, so that texts which come back have them.
pub const KEPT_IMAGES: usize = 100;
/// Most images of one message.
pub const IMAGES: usize = 10;
