//! The configuration file: TOML text to a [`Layer`]. An unknown key is an error that names the nearest known one.

use toml::Spanned;
use toml::de::DeTable;

use crate::config::Layer;
use crate::text::distance;

/// Says what is wrong with the file and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct FileError {
    /// Counts from 1.
    pub line: usize,
    /// One sentence.
    pub message: String,
}

/// Reads the text of a configuration file.
///
/// # Errors
/// [`FileError`] for what is not TOML, for an unknown key and for a value of the wrong kind.
pub fn parse(text: &str) -> Result<Layer, FileError> {
    let fault = |error: &toml::de::Error| FileError {
        line: line_of(text, error.span().map_or(0, |span| span.start)),
        message: error.message().replace('\n', ", "),
    };
    let table = DeTable::parse(text).map_err(|error| fault(&error))?;
    let mut unknown: Vec<_> = table.get_ref().keys().filter(|key| !Layer::KEYS.contains(&key_text(key))).collect();
    unknown.sort_by_key(|key| key.span().start);
    if let Some(key) = unknown.first() {
        let name = key_text(key);
        return Err(FileError {
            line: line_of(text, key.span().start),
            message: format!("unknown key {name:?}; the nearest known key is {:?}", nearest(name)),
        });
    }
    toml::from_str(text).map_err(|error| fault(&error))
}

fn key_text<'a>(key: &'a Spanned<std::borrow::Cow<'_, str>>) -> &'a str {
    key.get_ref()
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

/// Returns the known key with the fewest edits to `name`; the first of those that are equally near.
fn nearest(name: &str) -> &'static str {
    let name = name.to_lowercase().replace('-', "_");
    // A name cut short, or one with an ending too many, is nearer than any slip of the hand.
    let cut = |key: &str| key.starts_with(&name) || name.starts_with(key);
    Layer::KEYS.into_iter().min_by_key(|key| (!cut(key), distance(&name, key))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn distance_counts_single_edits() {
        assert_eq!(distance("", ""), 0);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("modle", "model"), 2);
    }

    #[test]
    fn nearest_finds_slips_of_the_hand() {
        for (typed, meant) in [
            ("modle", "model"),
            ("base-url", "base_url"),
            ("BASEURL", "base_url"),
            ("api_key", "api_key_env"),
            ("max_step", "max_steps"),
            ("context", "context_window"),
            ("streaming", "stream"),
        ] {
            assert_eq!(nearest(typed), meant, "for {typed}");
        }
    }
}
