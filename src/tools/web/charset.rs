//! Decodes bytes to text: by a byte order mark, the server's charset, the page's own declaration, or a guess.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use crate::web::ContentType;

/// The bytes of a page that are searched for its charset declaration, as browsers do.
const HEAD_BYTES: usize = 1024;

/// Decodes a body. Invalid bytes become U+FFFD.
pub fn decode<'a>(bytes: &'a [u8], content_type: &ContentType) -> Cow<'a, str> {
    let said = content_type.charset().and_then(|label| Encoding::for_label(label.as_bytes()));
    let of_page = || if content_type.is_html() { in_page(bytes) } else { None };
    let encoding = said.or_else(of_page).unwrap_or_else(|| guess(bytes));
    // A byte order mark wins over all of these.
    encoding.decode(bytes).0
}

/// Finds `<meta charset=…>` or its older form.
fn in_page(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(bytes.get(..HEAD_BYTES.min(bytes.len()))?).to_ascii_lowercase();
    head.match_indices("<meta").find_map(|(at, _)| {
        let tag = head.get(at..)?.split('>').next()?;
        let (_, label) = tag.split_once("charset")?;
        let label = label.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
        let label = label.split(['"', '\'', ';', ' ', '/', '\t', '\n', '\r']).next()?;
        // The declaration was readable as ASCII, so an encoding that is not compatible with ASCII is wrong.
        Encoding::for_label(label.as_bytes()).map(|found| if found.is_ascii_compatible() { found } else { UTF_8 })
    })
}

/// Guesses UTF-8, unless the bytes are invalid before their end, where a character may be cut off.
fn guess(bytes: &[u8]) -> &'static Encoding {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_some() => WINDOWS_1252,
        Ok(_) | Err(_) => UTF_8,
    }
}
