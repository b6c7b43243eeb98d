//! The body of an answer as it comes in, decompressed where a server compressed it unasked.
//!
//! Used by the course of a request and by the probes. Of a compressed body only a small piece is opened at a time, and
//! of any body only so much is taken at all (fault N3).

use std::collections::VecDeque;
use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::{DeflateDecoder, GzDecoder, ZlibDecoder};
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;

use crate::limits;
use crate::provider::ProviderError;

/// Reads one body.
pub(super) struct Incoming {
    response: Response,
    decoder: Decoder,
    waiting: VecDeque<Bytes>,
    taken: usize,
}

enum Decoder {
    Plain,
    Gzip(GzDecoder<Vec<u8>>),
    /// `deflate`, of which nothing has come: servers mean two formats by it.
    Deflate,
    Zlib(ZlibDecoder<Vec<u8>>),
    Raw(DeflateDecoder<Vec<u8>>),
}

impl Incoming {
    /// Starts reading.
    ///
    /// # Errors
    /// [`ProviderError::Malformed`] when the body is compressed in a way that nobody here knows.
    pub fn new(response: Response) -> Result<Self, ProviderError> {
        let encoding = response.headers().get(CONTENT_ENCODING).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let encoding = encoding.unwrap_or_default().trim().to_ascii_lowercase();
        let decoder = match encoding.as_str() {
            "" | "identity" => Decoder::Plain,
            "gzip" | "x-gzip" => Decoder::Gzip(GzDecoder::new(Vec::new())),
            "deflate" => Decoder::Deflate,
            other => {
                let what = format!("a body compressed as {other}, which was not asked for");
                return Err(ProviderError::Malformed(what));
            }
        };
        Ok(Self { response, decoder, waiting: VecDeque::new(), taken: 0 })
    }

    /// Returns the next piece, `None` at the end. Can be dropped and called again.
    ///
    /// # Errors
    /// [`ProviderError::CutOff`] when the connection breaks, [`ProviderError::Malformed`] for what cannot be
    /// decompressed and for a body without an end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ProviderError> {
        loop {
            if let Some(piece) = self.waiting.pop_front() {
                let opened = self.decoder.open(piece).map_err(|error| {
                    ProviderError::Malformed(format!("a compressed body that cannot be read ({error})"))
                })?;
                self.taken = self.taken.saturating_add(opened.len());
                if self.taken > limits::STREAM_BYTES {
                    return Err(ProviderError::Malformed(format!("a body longer than {} bytes", limits::STREAM_BYTES)));
                }
                if opened.is_empty() {
                    continue;
                }
                return Ok(Some(opened));
            }
            let Some(mut bytes) = self.response.chunk().await.map_err(|_| ProviderError::CutOff)? else {
                return Ok(None);
            };
            if matches!(self.decoder, Decoder::Plain) {
                self.waiting.push_back(bytes);
                continue;
            }
            while !bytes.is_empty() {
                self.waiting.push_back(bytes.split_to(bytes.len().min(limits::COMPRESSED_PIECE_BYTES)));
            }
        }
    }
}

impl Decoder {
    fn open(&mut self, piece: Bytes) -> io::Result<Bytes> {
        if matches!(self, Self::Deflate) {
            let zlib = piece.first().is_some_and(|first| first & 0x0F == 8);
            *self = if zlib {
                Self::Zlib(ZlibDecoder::new(Vec::new()))
            } else {
                Self::Raw(DeflateDecoder::new(Vec::new()))
            };
        }
        match self {
            Self::Plain | Self::Deflate => Ok(piece),
            Self::Gzip(decoder) => feed(decoder, &piece).map(|()| std::mem::take(decoder.get_mut()).into()),
            Self::Zlib(decoder) => feed(decoder, &piece).map(|()| std::mem::take(decoder.get_mut()).into()),
            Self::Raw(decoder) => feed(decoder, &piece).map(|()| std::mem::take(decoder.get_mut()).into()),
        }
    }
}

/// Feeds a decoder and takes all out of it that it can give: a stream does not wait for a full buffer.
fn feed(decoder: &mut impl Write, mut piece: &[u8]) -> io::Result<()> {
    while !piece.is_empty() {
        match decoder.write(piece)? {
            // Behind the end of the data nothing is looked at.
            0 => break,
            used => piece = piece.get(used..).unwrap_or_default(),
        }
    }
    decoder.flush()
}
