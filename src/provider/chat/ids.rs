//! Ids of calls for servers that accept nine letters and digits only (Mistral's, and its chat templates).
//!
//! An id that fits stays; any other is always replaced by the same one, so that a call and its result match and the
//! beginning of the conversation stays the same from request to request.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

const LENGTH: usize = 9;
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

pub(super) fn short(id: &str) -> Cow<'_, str> {
    if id.len() == LENGTH && id.bytes().all(|letter| letter.is_ascii_alphanumeric()) {
        return Cow::Borrowed(id);
    }
    let hash = Sha256::digest(id.as_bytes());
    let letter = |byte: &u8| LETTERS.get(usize::from(*byte) % LETTERS.len()).map(|letter| char::from(*letter));
    Cow::Owned(hash.iter().filter_map(letter).take(LENGTH).collect())
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn a_short_id_stays_and_others_become_short_and_differ() {
        assert_eq!(short("aB3dE6gH9"), "aB3dE6gH9");
        let ids = ["call_1", "call_2", "", "functions.add:0", "aB3dE6gH90", "aB3dE6gHü"];
        let short: Vec<_> = ids.iter().map(|id| short(id).into_owned()).collect();
        assert!(
            short.iter().all(|id| id.len() == 9 && id.bytes().all(|letter| letter.is_ascii_alphanumeric())),
            "{short:?}"
        );
        let different: std::collections::HashSet<_> = short.iter().collect();
        assert_eq!(different.len(), ids.len(), "{short:?}");
        assert_eq!(super::short("call_1"), short[0]);
    }
}
