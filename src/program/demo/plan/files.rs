//! What a path says about a file: what it is written in, and how much it tells about a project.
//! Pure: no file is opened. Steps choose by it, reports count by it.

use std::cmp::Reverse;

/// The endings of text files with what they are written in.
const LANGUAGES: &str = "rs:Rust py:Python js:JavaScript mjs:JavaScript jsx:JavaScript ts:TypeScript tsx:TypeScript go:Go c:C h:C cc:C++ \
     cpp:C++ hpp:C++ cs:C# java:Java kt:Kotlin rb:Ruby php:PHP swift:Swift scala:Scala lua:Lua pl:Perl sh:Shell zig:Zig \
     hs:Haskell ml:OCaml ex:Elixir sql:SQL html:HTML css:CSS md:Markdown rst:reStructuredText adoc:AsciiDoc txt:Text \
     tex:TeX toml:TOML json:JSON yaml:YAML yml:YAML xml:XML ini:INI cfg:INI conf:INI csv:CSV log:Log";
const MANIFESTS: &str = "cargo.toml package.json pyproject.toml go.mod pom.xml build.gradle gemfile makefile cmakelists.txt \
                         dockerfile composer.json mix.exs setup.py requirements.txt";
/// Files in which a program begins.
const ENTRIES: &str = "main lib index app mod __init__";
/// Files that say little about what a project does.
const BACKGROUND: &str = "license licence changelog authors notice copying package-lock";

pub(super) fn is_among(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known.eq_ignore_ascii_case(word))
}

/// Returns what a file is written in, for a table; its ending when that is not known.
pub(super) fn language_of(path: &str) -> String {
    let ending = ending_of(path).unwrap_or("no ending").to_lowercase();
    languages().find(|(known, _)| *known == ending).map_or(ending, |(_, name)| name.to_owned())
}

/// Returns the ending of a language's files, when a word names a language or is a known ending with its dot.
pub(super) fn ending_of_language(word: &str) -> Option<&'static str> {
    // Single letters and everyday words name no language.
    let language = if is_among("text go c log", word) { "" } else { word };
    let mut languages = languages();
    let named =
        |(ending, name): &(&str, &str)| word.strip_prefix('.') == Some(ending) || name.eq_ignore_ascii_case(language);
    languages.find(named).map(|(ending, _)| ending)
}

/// Tells whether a path ends as files do that people name.
pub(super) fn has_known_ending(path: &str) -> bool {
    let ending = ending_of(path).unwrap_or_default();
    languages().any(|(known, _)| known.eq_ignore_ascii_case(ending)) || is_among(MANIFESTS, name_of(path))
}

/// Tells whether a file has words for people.
pub(super) fn is_document(path: &str) -> bool {
    ending_of(path).is_some_and(|ending| is_among("md rst adoc txt tex", ending))
}

pub(super) fn ending_of(path: &str) -> Option<&str> {
    name_of(path).rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ending)| ending)
}

/// Orders files by how much they tell about a project: manifests, readmes, entry points, then the shallow ones. What is
/// no text is left out.
pub(super) fn by_importance(paths: &[String]) -> Vec<String> {
    let mut ordered: Vec<&String> =
        paths.iter().filter(|path| has_known_ending(path) || rank(name_of(path)) < 2).collect();
    ordered.sort_by_key(|path| (path.matches('/').count() * 10 + rank(name_of(path)), path.len(), *path));
    ordered.into_iter().cloned().collect()
}

/// Returns the files that have to do with a subject, by their paths.
pub(super) fn about(paths: &[String], subject: &str) -> Vec<String> {
    let subject = subject.trim_end_matches('/').to_lowercase();
    let fits = |path: &&String| subject.split_whitespace().any(|word| path.to_lowercase().contains(word));
    paths.iter().filter(fits).cloned().collect()
}

/// Counts things by their names, the most frequent first.
pub(super) fn tally<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<(&'a str, usize)> {
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
pub(super) fn top_of(path: &str) -> &str {
    path.split_once('/').map_or("", |(top, _)| top)
}

pub(super) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn languages() -> impl Iterator<Item = (&'static str, &'static str)> {
    LANGUAGES.split(' ').filter_map(|entry| entry.split_once(':'))
}

fn rank(name: &str) -> usize {
    let stem = name.split('.').next().unwrap_or_default();
    match stem {
        _ if is_among(MANIFESTS, name) => 0,
        "README" | "readme" | "Readme" => 1,
        _ if is_among(ENTRIES, stem) => 2,
        _ if is_among(BACKGROUND, stem) => 80,
        _ => 25,
    }
}
