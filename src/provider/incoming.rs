//! The body of an answer as it arrives, decompressed where a server compressed it without being asked.
//!
//! Used by the HTTP provider and by the probes. A compressed body is decompressed in small pieces, and the size of
//! every body is limited.

use std::collections::VecDeque;
use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::{DeflateDecoder, GzDecoder, ZlibDecoder};
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;

use steersman_base::limits;
use steersman_core::provider::ProviderError;

/// A body that is being read.
pub(super) struct IncomingBody {
    response: Response,
    decoder: BodyDecoder,
    waiting: VecDeque<Bytes>,
    taken: usize,
}

enum BodyDecoder {
    Plain,
    Gzip(GzDecoder<Vec<u8>>),
    /// `deflate` before its first byte, which shows which of two formats the server means.
    Deflate,
    Zlib(ZlibDecoder<Vec<u8>>),
    Raw(DeflateDecoder<Vec<u8>>),
}

impl IncomingBody {
    /// Starts reading.
    ///
    /// # Errors
    /// [`ProviderError::Malformed`] when the body is compressed in an unknown way.
    pub(crate) fn new(response: Response) -> Result<Self, ProviderError> {
        let encoding = response.headers().get(CONTENT_ENCODING).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let encoding = encoding.unwrap_or_default().trim().to_ascii_lowercase();
        let decoder = match encoding.as_str() {
            "" | "identity" => BodyDecoder::Plain,
            "gzip" | "x-gzip" => BodyDecoder::Gzip(GzDecoder::new(Vec::new())),
            "deflate" => BodyDecoder::Deflate,
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
    /// [`ProviderError::CutOff`] when the connection breaks, [`ProviderError::Malformed`] for a body that
    /// cannot be decompressed or is too long.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, ProviderError> {
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
            if matches!(self.decoder, BodyDecoder::Plain) {
                self.waiting.push_back(bytes);
                continue;
            }
            while !bytes.is_empty() {
                self.waiting.push_back(bytes.split_to(bytes.len().min(limits::COMPRESSED_PIECE_BYTES)));
            }
        }
    }
}

impl BodyDecoder {
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
            Self::Gzip(decoder) => decode(decoder, &piece).map(|()| std::mem::take(decoder.get_mut()).into()),
            Self::Zlib(decoder) => decode(decoder, &piece).map(|()| std::mem::take(decoder.get_mut()).into()),
            Self::Raw(decoder) => decode(decoder, &piece).map(|()| std::mem::take(decoder.get_mut()).into()),
        }
    }
}

/// Writes a piece to a decoder and flushes it: a stream does not wait for a full buffer.
fn decode(decoder: &mut impl Write, mut piece: &[u8]) -> io::Result<()> {
    while !piece.is_empty() {
        match decoder.write(piece)? {
            // Bytes after the end of the data are ignored.
            0 => break,
            used => piece = piece.get(used..).unwrap_or_default(),
        }
    }
    decoder.flush()
}
