//! Images of the user: what a message has beside its text.
//!
//! Plain values, shared: the kind is read from the first bytes, and the model's server opens the rest. Only what is too
//! large to be sent is opened here, in `src/images/fitting.rs`. They are kept as base64, the form in which every server and the
//! journal of a session take them.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::limits;
use crate::text::hex;

/// An image.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Its name: the path that the user gave.
    pub name: String,
    /// What its bytes are.
    pub media_type: ImageType,
    /// Its bytes in base64.
    data: Arc<str>,
}

/// What is told of an image to whoever only shows that it is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ImageFacts"))]
pub struct ImageInfo {
    /// Its name: the path that the user gave.
    pub name: String,
    /// What its bytes are.
    pub media_type: ImageType,
    /// How many bytes it has.
    pub bytes: usize,
    /// By what a host is asked for it; absent in what an earlier version wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<ImageDigest>,
}

/// The digest of an image's bytes, by which it is found again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct ImageDigest(String);

impl ImageDigest {
    /// Bytes of SHA-256 that are kept: enough that nobody makes two images with the same.
    const BYTES: usize = 16;
}

/// A kind of image that every dialect takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ImageType {
    /// PNG.
    #[serde(rename = "image/png")]
    Png,
    /// JPEG.
    #[serde(rename = "image/jpeg")]
    Jpeg,
    /// GIF.
    #[serde(rename = "image/gif")]
    Gif,
    /// WebP.
    #[serde(rename = "image/webp")]
    WebP,
}

impl ImageType {
    /// How many of the first bytes of a file tell its kind.
    pub const HEAD: u64 = 12;

    /// Returns the kind of a file that begins with these bytes; `None` when it is no image that can be sent.
    pub fn detect(head: &[u8]) -> Option<Self> {
        match head {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::WebP),
            _ => None,
        }
    }

    /// Returns its name as a media type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::WebP => "image/webp",
        }
    }
}

impl Image {
    /// Makes an image out of the bytes of a file.
    ///
    /// # Errors
    /// Why it cannot be sent, in one sentence.
    pub fn new(name: impl Into<String>, bytes: &[u8]) -> Result<Self, String> {
        let media_type = ImageType::detect(bytes).ok_or("it is no PNG, JPEG, GIF or WebP image")?;
        if bytes.len() as u64 > limits::IMAGE_BYTES {
            return Err(format!("it is an image of more than {} KiB", limits::IMAGE_BYTES / 1024));
        }
        Ok(Self { name: name.into(), media_type, data: STANDARD.encode(bytes).into() })
    }

    /// Returns its bytes in base64.
    pub fn base64(&self) -> &str {
        &self.data
    }

    /// Returns it as the address that holds the data itself.
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type.name(), self.data)
    }

    /// Returns what is told of it.
    pub fn facts(&self) -> ImageInfo {
        let (name, media_type) = (self.name.clone(), self.media_type);
        let digest = Some(self.digest());
        ImageInfo { name, media_type, bytes: self.bytes(), digest }
    }

    /// Returns how many bytes it has.
    pub fn bytes(&self) -> usize {
        let padding = self.data.bytes().rev().take_while(|byte| *byte == b'=').count();
        (self.data.len() / 4 * 3).saturating_sub(padding)
    }

    /// Returns by what it is found again.
    pub fn digest(&self) -> ImageDigest {
        let hash = Sha256::digest(self.data.as_bytes());
        ImageDigest(hex(hash.get(..ImageDigest::BYTES).unwrap_or_default()))
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({}, {}, {} bytes)", self.name, self.media_type.name(), self.bytes())
    }
}
