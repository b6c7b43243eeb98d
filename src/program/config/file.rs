//! The configuration file: TOML text to a [`Layer`]. An unknown key is an error that names the nearest known one.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::program::config::allowed::sentence;
use crate::program::config::{Key, Layer, ServerSection};
use steersman_base::text::distance;

/// What is wrong with the file and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct FileError {
    pub line: usize,
    pub message: String,
}

/// Reads the text of a configuration file.
///
/// # Errors
/// [`FileError`] for what is not TOML, for an unknown key and for a value of the wrong kind.
pub fn parse(text: &str) -> Result<Layer, FileError> {
    let at = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
    let words = |error: &toml::de::Error| error.message().replace('\n', ", ");
    let table =
        DeTable::parse(text).map_err(|error| FileError { line: line_of(text, at(&error)), message: words(&error) })?;
    let unknown = unknown_keys(table.get_ref());
    if let Some(key) = unknown.iter().min_by_key(|key| key.at) {
        return Err(FileError { line: line_of(text, key.at), message: key.sentence() });
    }
    toml::from_str(text).map_err(|error| FileError {
        line: line_of(text, at(&error)),
        message: sentence(text, table.get_ref(), at(&error)).unwrap_or_else(|| words(&error)),
    })
}

/// Returns the line of a key of the top, counted from 1; `None` when the text does not have it.
pub(super) fn key_at(text: &str, name: &str) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    let key = table.get_ref().keys().find(|key| key.get_ref() == name)?;
    Some(line_of(text, key.span().start))
}

/// A key that the file must not have, and the section that it stands in; the top has no name.
struct UnknownKey<'a> {
    section: String,
    name: &'a str,
    /// The keys that stand below it, if it is a section.
    keys: Vec<&'a str>,
    at: usize,
}

/// Finds the unknown keys of the top and of every section.
fn unknown_keys<'a>(top: &'a DeTable<'_>) -> Vec<UnknownKey<'a>> {
    let top_keys: Vec<&str> = Layer::names().collect();
    let mut unknown = unknown_of(top, "", &top_keys);
    for (section, keys) in Layer::SECTIONS {
        if let Some(table) = top.get(*section).and_then(|value| value.get_ref().as_table()) {
            unknown.extend(unknown_of(table, section, &names(keys)));
        }
    }
    for (key, keys) in named_keys() {
        let tables = top.get(key).and_then(|value| value.get_ref().as_table());
        for (name, table) in tables.into_iter().flatten() {
            if let Some(table) = table.get_ref().as_table() {
                unknown.extend(unknown_of(table, &format!("{key}.{}", name.get_ref()), &keys));
            }
        }
    }
    unknown
}

/// Returns the keys whose tables have names of the user's, each with the keys of such a table.
fn named_keys() -> [(&'static str, Vec<&'static str>); 2] {
    [("profile", Layer::PROFILE_KEYS.to_vec()), ("mcp", names(ServerSection::KEYS))]
}

fn names(keys: &[Key]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}

fn unknown_of<'a>(table: &'a DeTable<'_>, section: &str, known: &[&str]) -> Vec<UnknownKey<'a>> {
    let unknown = table.iter().filter(|(key, _)| !known.contains(&&**key.get_ref()));
    let key = |(key, value): (&'a Spanned<std::borrow::Cow<'_, str>>, &'a Spanned<DeValue<'_>>)| {
        let (name, at) = (key.get_ref(), key.span().start);
        let keys = value.get_ref().as_table().into_iter().flat_map(|table| table.keys());
        UnknownKey { section: section.to_owned(), name, keys: keys.map(|key| &**key.get_ref()).collect(), at }
    };
    unknown.map(key).collect()
}

impl UnknownKey<'_> {
    fn sentence(&self) -> String {
        let Self { section, name, keys, .. } = self;
        let top: Vec<&str> = Layer::names().collect();
        if section.is_empty() {
            if let [one] = sections_with(name).as_slice() {
                return format!("unknown key {name:?}; {name:?} belongs below [{one}]");
            }
            // A section with a name of another program: its keys say which is meant.
            let meant = keys.iter().find_map(|key| Some((key, *sections_with(key).first()?)));
            if let Some((key, section)) = meant.filter(|_| distance(name, nearest(name, &top)) > 2) {
                return format!("unknown section [{name}]; {key:?} belongs below [{section}]");
            }
            return format!("unknown key {name:?}; the nearest known key is {:?}", nearest(name, &top));
        }
        let whole = format!("{section}.{name}");
        if top.contains(name) {
            return format!("unknown key {whole:?}; {name:?} belongs above the first [section]");
        }
        let named = || named_keys().into_iter().find(|(key, _)| section.split('.').next() == Some(*key));
        let keys = Layer::section(section).map(names).or_else(|| named().map(|(_, keys)| keys)).unwrap_or_default();
        format!("unknown key {whole:?}; the nearest known key is {:?}", format!("{section}.{}", nearest(name, &keys)))
    }
}

/// Returns the sections that have a key of this name.
fn sections_with(name: &str) -> Vec<&'static str> {
    let has = |keys: &[Key]| keys.iter().any(|key| key.name == name);
    Layer::SECTIONS.iter().filter(|(_, keys)| has(keys)).map(|(section, _)| *section).collect()
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

/// Returns the known key with the fewest edits to `name`; the first of those that are equally near.
fn nearest<'k>(name: &str, known: &[&'k str]) -> &'k str {
    let name = name.to_lowercase().replace('-', "_");
    // A name cut short, or one with an ending too many, is nearer than any slip of the hand.
    let cut = |key: &str| key.starts_with(&name) || name.starts_with(key);
    // So is one with its letters in another order.
    let letters = |name: &str| {
        let mut letters: Vec<char> = name.chars().collect();
        letters.sort_unstable();
        letters
    };
    let is_near = |key: &str| cut(key) || letters(key) == letters(&name);
    known.iter().copied().min_by_key(|key| (!is_near(key), distance(&name, key))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Layer, distance, nearest};

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
            ("context_win", "context_window"),
            ("streaming", "stream"),
        ] {
            assert_eq!(nearest(typed, &Layer::names().collect::<Vec<_>>()), meant, "for {typed}");
        }
    }
}
