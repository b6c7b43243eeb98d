//! The body of an answer, decoded piece by piece up to a cap and within a time limit, and its content type.

use std::io::{self, Write};

use flate2::write::GzDecoder;
use reqwest::header::CONTENT_ENCODING;
use reqwest::{Response, Url};
use tokio::time::{Instant, timeout_at};

use crate::web::{RequestLimits, WebError};
use steersman_base::error::request_causes;

/// The part of a body that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The decoded bytes.
    pub bytes: Vec<u8>,
    /// Whether the body was longer than the cap.
    pub cut: bool,
}

/// The content type of a body, as the server sends it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentType {
    essence: String,
    charset: Option<String>,
}

impl ContentType {
    /// Reads the value of a header; an empty value gives an empty type.
    pub fn parse(header: &str) -> Self {
        let mut parts = header.split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"').to_owned())
        });
        Self { essence, charset }
    }

    /// Returns the type without parameters, in lower case; empty when the server sends none.
    pub fn essence(&self) -> &str {
        &self.essence
    }

    /// Returns the character set, as the server names it.
    pub fn charset(&self) -> Option<&str> {
        self.charset.as_deref()
    }

    /// Returns whether it is a page of HTML.
    pub fn is_html(&self) -> bool {
        matches!(self.essence(), "text/html" | "application/xhtml+xml")
    }

    /// Returns whether it is a PDF document.
    pub fn is_pdf(&self) -> bool {
        matches!(self.essence(), "application/pdf" | "application/x-pdf")
    }

    /// Returns whether it is text: all of `text/`, and the textual types of `application/`.
    pub fn is_text(&self) -> bool {
        const TEXTUAL: [&str; 21] = [
            "ecmascript",
            "graphql",
            "javascript",
            "json",
            "json5",
            "jsonl",
            "jwk-set+json",
            "ndjson",
            "sql",
            "toml",
            "typescript",
            "x-httpd-php",
            "x-javascript",
            "x-json",
            "x-ndjson",
            "x-perl",
            "x-sh",
            "x-tex",
            "x-www-form-urlencoded",
            "x-yaml",
            "yaml",
        ];
        match self.essence.split_once('/') {
            Some(("text", _)) => true,
            Some(("application", kind)) => {
                TEXTUAL.contains(&kind)
                    || kind == "xml"
                    || ["+json", "+xml", "+yaml"].iter().any(|end| kind.ends_with(end))
            }
            _ => false,
        }
    }
}

/// Reads a body up to the cap.
pub(super) async fn read_body(
    mut response: Response,
    url: &Url,
    bounds: RequestLimits,
    deadline: Instant,
) -> Result<Body, WebError> {
    let encoding = response.headers().get(CONTENT_ENCODING).map(|value| value.to_str().unwrap_or("?").to_owned());
    let encoding = encoding.unwrap_or_default().trim().to_ascii_lowercase();
    let room = CappedBuffer { bytes: Vec::new(), cap: bounds.bytes, cut: false };
    let mut decoder = match encoding.as_str() {
        "" | "identity" => BodyDecoder::Plain(room),
        "gzip" | "x-gzip" => BodyDecoder::Gzip(Box::new(GzDecoder::new(room))),
        other => {
            let other = steersman_base::text::visible_line(other);
            return Err(WebError::Failed(format!("the body of {url} is encoded as {other}, which was not asked for")));
        }
    };
    loop {
        let piece = timeout_at(deadline, response.chunk()).await.map_err(|_| {
            let (read, time) = (decoder.room().bytes.len(), bounds.time.as_secs_f32());
            WebError::Failed(format!("the body of {url} took longer than {time} s ({read} bytes of it came)"))
        })?;
        let piece = piece.map_err(|error| {
            let (read, reason) = (decoder.room().bytes.len(), request_causes(&error.without_url()));
            WebError::Failed(format!("the body of {url} broke off after {read} bytes: {reason}"))
        })?;
        let Some(piece) = piece else { break };
        let taken = decoder.add_piece(&piece);
        if decoder.room().cut {
            break;
        }
        taken.map_err(|error| broken(url, &error))?;
    }
    decoder.end().map_err(|error| broken(url, &error))
}

fn broken(url: &Url, error: &io::Error) -> WebError {
    WebError::Failed(format!("the body of {url} cannot be decompressed: {error}"))
}

enum BodyDecoder {
    Plain(CappedBuffer),
    Gzip(Box<GzDecoder<CappedBuffer>>),
}

impl BodyDecoder {
    fn add_piece(&mut self, mut piece: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(room) => room.write_all(piece),
            Self::Gzip(decoder) => {
                while !piece.is_empty() {
                    match decoder.write(piece) {
                        // Bytes after the end of the data are ignored.
                        Ok(0) => return Ok(()),
                        Ok(used) => piece = piece.get(used..).unwrap_or_default(),
                        Err(error) => return Err(error),
                    }
                }
                Ok(())
            }
        }
    }

    fn room(&self) -> &CappedBuffer {
        match self {
            Self::Plain(room) => room,
            Self::Gzip(decoder) => decoder.get_ref(),
        }
    }

    fn end(self) -> io::Result<Body> {
        let room = match self {
            Self::Plain(room) => room,
            Self::Gzip(mut decoder) => {
                let ended = decoder.try_finish();
                let room = std::mem::take(decoder.get_mut());
                // A cut body has no end to check.
                if !room.cut {
                    ended?;
                }
                room
            }
        };
        Ok(Body { bytes: room.bytes, cut: room.cut })
    }
}

/// A buffer that takes bytes up to a cap.
#[derive(Default)]
struct CappedBuffer {
    bytes: Vec<u8>,
    cap: usize,
    cut: bool,
}

impl Write for CappedBuffer {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let free = self.cap.saturating_sub(self.bytes.len());
        let taken = piece.get(..free.min(piece.len())).unwrap_or_default();
        self.bytes.extend_from_slice(taken);
        if taken.len() < piece.len() {
            self.cut = true;
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "more than the cap"));
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
