//! How the text of a file is written down: in UTF-8, or in UTF-16. Called by `read`, `write`, `edit`
//! and their differences; what is written goes back in the encoding, with the mark and the line ends, that the file has.

use std::borrow::Cow;

use steersman_base::text::Utf16Order;

/// The byte order mark.
pub(super) const MARK: &str = "\u{feff}";

/// The encoding of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextEncoding {
    Utf8,
    Utf16(Utf16Order),
}

impl TextEncoding {
    pub(super) fn detect(bytes: &[u8]) -> Self {
        Utf16Order::detect(bytes).map_or(Self::Utf8, Self::Utf16)
    }

    /// Returns a text in UTF-8, with its mark; `None` where half a character of UTF-16 stands alone.
    pub(super) fn decode(self, bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
        let Self::Utf16(order) = self else { return Some(Cow::Borrowed(bytes)) };
        let (pairs, rest) = bytes.as_chunks::<2>();
        let text: Result<String, _> = char::decode_utf16(pairs.iter().copied().map(order.unit())).collect();
        text.ok().filter(|_| rest.is_empty()).map(|text| Cow::Owned(text.into_bytes()))
    }

    /// Returns a text in UTF-8 in this encoding.
    pub(super) fn encode(self, text: Vec<u8>) -> Vec<u8> {
        let unit: fn(u16) -> [u8; 2] = match self {
            Self::Utf8 => return text,
            Self::Utf16(Utf16Order::LittleEndian) => u16::to_le_bytes,
            Self::Utf16(Utf16Order::BigEndian) => u16::to_be_bytes,
        };
        String::from_utf8_lossy(&text).encode_utf16().flat_map(unit).collect()
    }
}

/// Returns the text of a file in UTF-8, as far as it is one.
pub(super) fn text_of(bytes: &[u8]) -> Cow<'_, [u8]> {
    TextEncoding::detect(bytes).decode(bytes).unwrap_or(Cow::Borrowed(bytes))
}

/// Tells whether all lines of a text end in CRLF, and it has some.
pub(super) fn is_crlf(text: &[u8]) -> bool {
    let mut ends = memchr::memchr_iter(b'\n', text).peekable();
    ends.peek().is_some() && ends.all(|at| at > 0 && text.get(at - 1) == Some(&b'\r'))
}
