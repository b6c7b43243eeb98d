//! Images of the user: what a message has beside its text.
//!
//! Plain values, shared: the kind is read from the first bytes, and the model's server opens the rest. Only what is too
//! large to be sent is opened here, in `image/fitting.rs`. They are kept as base64, the form in which every server and the
//! journal of a session take them.

#[cfg(feature = "tools")]
mod fitting;

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::limits;

#[cfg(feature = "tools")]
pub use fitting::{FittedImage, attach_file};

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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImageFacts {
    /// Its name: the path that the user gave.
    pub name: String,
    /// What its bytes are.
    pub media_type: ImageType,
    /// How many bytes it has.
    pub bytes: usize,
}

/// A kind of image that every dialect takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    pub fn of(head: &[u8]) -> Option<Self> {
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
        let media_type = ImageType::of(bytes).ok_or("it is no PNG, JPEG, GIF or WebP image")?;
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
    pub fn facts(&self) -> ImageFacts {
        let padding = self.data.bytes().rev().take_while(|byte| *byte == b'=').count();
        let bytes = (self.data.len() / 4 * 3).saturating_sub(padding);
        ImageFacts { name: self.name.clone(), media_type: self.media_type, bytes }
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ImageFacts { name, media_type, bytes } = self.facts();
        write!(f, "Image({name}, {}, {bytes} bytes)", media_type.name())
    }
}
