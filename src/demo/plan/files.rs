//! What a path says about a file: its kind, its language, how much it tells about a project.
//! Pure: no file is opened. Steps choose by it, reports count by it.

use std::cmp::Reverse;

/// The kind of a file, as a survey divides them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Program text.
    Source,
    /// Program text that tests.
    Test,
    /// Words for people.
    Document,
    /// Settings and manifests.
    Settings,
    /// Anything else.
    Other,
}

/// Every kind with the name of a group of such files and another word for it, in the order in which a survey takes them.
pub const KINDS: [(FileKind, &str, &str); 5] = [
    (FileKind::Source, "sources", "code"),
    (FileKind::Test, "tests", "testing"),
    (FileKind::Document, "documents", "docs"),
    (FileKind::Settings, "settings", "configuration"),
    (FileKind::Other, "other files", "others"),
];

/// The endings of text files with their languages, by kind.
const LANGUAGES: &[(FileKind, &str)] = &[
    (
        FileKind::Source,
        "rs:Rust py:Python js:JavaScript mjs:JavaScript jsx:JavaScript ts:TypeScript tsx:TypeScript go:Go c:C h:C cc:C++ \
         cpp:C++ hpp:C++ cs:C# java:Java kt:Kotlin rb:Ruby php:PHP swift:Swift scala:Scala lua:Lua pl:Perl sh:Shell zig:Zig \
         hs:Haskell ml:OCaml ex:Elixir sql:SQL html:HTML css:CSS",
    ),
    (FileKind::Document, "md:Markdown rst:reStructuredText adoc:AsciiDoc txt:Text tex:TeX"),
    (FileKind::Settings, "toml:TOML json:JSON yaml:YAML yml:YAML xml:XML ini:INI cfg:INI conf:INI lock:Lockfile"),
    (FileKind::Other, "csv:CSV log:Log"),
];

const MANIFESTS: &str = "cargo.toml package.json pyproject.toml go.mod pom.xml build.gradle gemfile makefile cmakelists.txt \
                         dockerfile composer.json mix.exs setup.py requirements.txt";
/// Documents that say little about what a project does.
const NOTICES: &str = "license licence changelog authors notice copying";

impl FileKind {
    /// Returns the kind of a file by its path.
    pub fn of(path: &str) -> Self {
        let lower = path.to_lowercase();
        let (name, stem) = (name_of(&lower), stem_of(&lower));
        let kind = language(&lower).map_or(Self::Other, |(kind, _)| kind);
        let in_tests = lower.split('/').any(|part| is_among("test tests spec specs __tests__ testing", part));
        let marked = stem.ends_with("_test") || stem.starts_with("test_");
        match kind {
            Self::Source if in_tests || marked || name.contains(".spec.") || name.contains(".test.") => Self::Test,
            _ if is_among(MANIFESTS, name) || (kind == Self::Other && name.starts_with('.')) => Self::Settings,
            Self::Other if stem == "readme" || is_among(NOTICES, stem) => Self::Document,
            kind => kind,
        }
    }
}

/// Tells whether a word is in a list of words.
pub fn is_among(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known.eq_ignore_ascii_case(word))
}

/// Returns what a file is written in, for a table; the ending itself when it is not known.
pub fn language_of(path: &str) -> String {
    let lower = path.to_lowercase();
    match (language(&lower), ending_of(&lower)) {
        (Some((_, language)), _) => language.to_owned(),
        (None, Some(ending)) if ending.len() <= 8 => format!(".{ending}"),
        (None, _) => "no ending".to_owned(),
    }
}

/// Returns the ending of a language's files, when a word names a language or is a known ending with its dot.
pub fn ending_of_language(word: &str) -> Option<&'static str> {
    let lower = word.to_lowercase();
    let mut endings = LANGUAGES.iter().flat_map(|(_, all)| all.split(' ')).filter_map(|entry| entry.split_once(':'));
    // Single letters and everyday words name no language.
    let language = if is_among("text go c log", &lower) { "" } else { &lower };
    let named =
        |(ending, name): &(&str, &str)| lower.strip_prefix('.') == Some(ending) || name.eq_ignore_ascii_case(language);
    endings.find(named).map(|(ending, _)| ending)
}

/// Tells whether a path ends as files do that people name.
pub fn has_known_ending(path: &str) -> bool {
    let lower = path.to_lowercase();
    !lower.ends_with('/') && (language(&lower).is_some() || is_among(MANIFESTS, name_of(&lower)))
}

/// Returns the ending of a path, when it has one.
pub fn ending_of(path: &str) -> Option<&str> {
    name_of(path).rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ending)| ending)
}

/// Orders files by how much they tell about a project: manifests, readmes, entry points, then the shallow ones. Lock
/// files and what is no text are left out.
pub fn most_telling(paths: &[String]) -> Vec<String> {
    let mut ordered: Vec<_> = paths.iter().filter_map(|path| Some((rank(path)?, path.len(), path.clone()))).collect();
    ordered.sort();
    ordered.into_iter().map(|(_, _, path)| path).collect()
}

/// Returns the files that have to do with a subject, by their paths and kinds.
pub fn about(paths: &[String], subject: &str) -> Vec<String> {
    let subject = subject.trim_end_matches('/').to_lowercase();
    let fits = |path: &&String| {
        let (lower, kind) = (path.to_lowercase(), FileKind::of(path));
        let is_kind = |word: &str| {
            KINDS.iter().any(|(known, name, other)| {
                *known == kind && (word == *other || name.trim_end_matches('s') == word.trim_end_matches('s'))
            })
        };
        subject.split_whitespace().any(|word| lower.contains(word) || is_kind(word))
    };
    paths.iter().filter(fits).cloned().collect()
}

/// Counts things by their names, the most frequent first.
pub fn tally<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<(&'a str, usize)> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in names {
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.sort_by_key(|(name, count)| (Reverse(*count), *name));
    counts
}

/// Returns the first part of a path, or nothing for a file at the top.
pub fn top_of(path: &str) -> &str {
    path.split_once('/').map_or("", |(top, _)| top)
}

/// Returns the name at the end of a path.
pub fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn stem_of(path: &str) -> &str {
    name_of(path).split('.').next().unwrap_or_default()
}

fn language(lower: &str) -> Option<(FileKind, &'static str)> {
    let ending = ending_of(lower)?;
    let entry = |all: &'static str| all.split(' ').find_map(|entry| entry.strip_prefix(ending)?.strip_prefix(':'));
    LANGUAGES.iter().find_map(|(kind, all)| Some((*kind, entry(all)?)))
}

fn rank(path: &str) -> Option<usize> {
    let lower = path.to_lowercase();
    let (name, stem, kind) = (name_of(&lower), stem_of(&lower), FileKind::of(path));
    let rank = match kind {
        _ if ending_of(name) == Some("lock") || name == "package-lock.json" => return None,
        _ if is_among(MANIFESTS, name) => 0,
        FileKind::Document if stem == "readme" => 1,
        FileKind::Document if is_among(NOTICES, stem) => 80,
        FileKind::Source | FileKind::Test if is_among("main lib index app mod __init__", stem) => 2,
        FileKind::Source | FileKind::Test | FileKind::Document => 25,
        FileKind::Settings => 60,
        FileKind::Other if language(&lower).is_some() => 90,
        FileKind::Other => return None,
    };
    Some(path.matches('/').count() * 10 + rank)
}
