//! From bytes to text: a byte order mark, what the server says, what the page says of itself, then a guess.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use crate::web::ContentType;

/// How much of a page is searched for its own word on the matter, as browsers do.
const HEAD_BYTES: usize = 1024;

/// Decodes a body. What cannot be decoded becomes U+FFFD.
pub fn decode<'a>(bytes: &'a [u8], content_type: &ContentType) -> Cow<'a, str> {
    let said = content_type.charset().and_then(|label| Encoding::for_label(label.as_bytes()));
    let of_page = || if content_type.is_html() { in_page(bytes) } else { None };
    let encoding = said.or_else(of_page).unwrap_or_else(|| guess(bytes));
    // A byte order mark wins over all of it.
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
        // The declaration could be read, so the page cannot be what it says.
        Encoding::for_label(label.as_bytes()).map(|found| if found.is_ascii_compatible() { found } else { UTF_8 })
    })
}

/// Takes UTF-8, unless the text is not, also where only its end was cut off.
fn guess(bytes: &[u8]) -> &'static Encoding {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_some() => WINDOWS_1252,
        Ok(_) | Err(_) => UTF_8,
    }
}
