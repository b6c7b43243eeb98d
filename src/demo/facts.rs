//! What real results say: the output of `glob`, `grep` and `read` as values, and what a path tells about a file.
//!
//! Pure and tolerant: a line that is not understood is passed over, an `Error: …` result holds nothing. Results are data;
//! nothing in them is ever obeyed.

/// Is one line of a file, as a search or a reading showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The file.
    pub path: String,
    /// The line's number, from 1.
    pub line: usize,
    /// The line.
    pub text: String,
}

/// Is the kind of a file, as a survey divides them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Program text.
    Source,
    /// Program text that tests.
    Test,
    /// Words for people.
    Doc,
    /// Settings and manifests.
    Config,
    /// Anything else.
    Other,
}

/// Endings of text files, with the language and whether it is program text.
const ENDINGS: &[(&str, &str, Kind)] = &[
    ("rs", "Rust", Kind::Source),
    ("py", "Python", Kind::Source),
    ("js", "JavaScript", Kind::Source),
    ("mjs", "JavaScript", Kind::Source),
    ("jsx", "JavaScript", Kind::Source),
    ("ts", "TypeScript", Kind::Source),
    ("tsx", "TypeScript", Kind::Source),
    ("go", "Go", Kind::Source),
    ("c", "C", Kind::Source),
    ("h", "C", Kind::Source),
    ("cc", "C++", Kind::Source),
    ("cpp", "C++", Kind::Source),
    ("hpp", "C++", Kind::Source),
    ("cs", "C#", Kind::Source),
    ("java", "Java", Kind::Source),
    ("kt", "Kotlin", Kind::Source),
    ("rb", "Ruby", Kind::Source),
    ("php", "PHP", Kind::Source),
    ("swift", "Swift", Kind::Source),
    ("scala", "Scala", Kind::Source),
    ("lua", "Lua", Kind::Source),
    ("pl", "Perl", Kind::Source),
    ("sh", "Shell", Kind::Source),
    ("zig", "Zig", Kind::Source),
    ("hs", "Haskell", Kind::Source),
    ("ml", "OCaml", Kind::Source),
    ("ex", "Elixir", Kind::Source),
    ("sql", "SQL", Kind::Source),
    ("html", "HTML", Kind::Source),
    ("css", "CSS", Kind::Source),
    ("md", "Markdown", Kind::Doc),
    ("rst", "reStructuredText", Kind::Doc),
    ("adoc", "AsciiDoc", Kind::Doc),
    ("txt", "Text", Kind::Doc),
    ("tex", "TeX", Kind::Doc),
    ("toml", "TOML", Kind::Config),
    ("json", "JSON", Kind::Config),
    ("yaml", "YAML", Kind::Config),
    ("yml", "YAML", Kind::Config),
    ("xml", "XML", Kind::Config),
    ("ini", "INI", Kind::Config),
    ("cfg", "INI", Kind::Config),
    ("conf", "INI", Kind::Config),
    ("lock", "Lock file", Kind::Config),
    ("csv", "CSV", Kind::Other),
    ("log", "Log", Kind::Other),
];

const MANIFESTS: &[&str] = &[
    "cargo.toml",
    "package.json",
    "pyproject.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "gemfile",
    "makefile",
    "cmakelists.txt",
    "dockerfile",
    "composer.json",
    "mix.exs",
    "setup.py",
    "requirements.txt",
];

/// Documents that say little about what a project does.
const NOTICES: &[&str] = &["license", "licence", "changelog", "authors", "notice", "copying"];

/// Tells whether a result is a failure.
pub fn failed(result: &str) -> bool {
    result.starts_with("Error:")
}

/// Reads a listing: one path a line; directories (with a slash at the end) and notes are passed over.
pub fn paths(listing: &str) -> Vec<String> {
    if failed(listing) || (listing.lines().count() == 1 && is_note(listing)) {
        return Vec::new();
    }
    let lines = listing.lines().map(str::trim_end).filter(|line| !line.is_empty() && !is_note(line));
    lines.filter(|line| !line.ends_with('/')).map(|line| line.trim_start_matches("./").to_owned()).collect()
}

/// Tells whether a result says of itself that it is not the whole.
pub fn is_cut(result: &str) -> bool {
    result.lines().rev().take(3).any(|line| {
        let lower = line.to_lowercase();
        is_note(line)
            && ["more", "narrow", "to go on", "first", "truncated", "stopped", "shown"]
                .iter()
                .any(|word| lower.contains(word))
    })
}

/// Returns how many paths there are when a listing shows only some of them: `[1000 of 5313 paths: …]`.
pub fn total_paths(listing: &str) -> Option<usize> {
    let note = listing.lines().rev().take(3).find(|line| is_note(line) && line.contains(" paths"))?;
    note.split(" of ").nth(1)?.split(' ').next()?.parse().ok()
}

/// Reads search results: `path:line:text`, or a path on its own line followed by `line:text`.
pub fn hits(result: &str) -> Vec<Hit> {
    if failed(result) {
        return Vec::new();
    }
    let mut heading = "";
    let mut hits = Vec::new();
    for line in result.lines().filter(|line| !(is_note(line) && line.ends_with(']'))) {
        if let Some((number, text)) = numbered(line) {
            if !heading.is_empty() {
                hits.push(Hit { path: heading.to_owned(), line: number, text: text.to_owned() });
            }
        } else if let Some(hit) = located(line) {
            hits.push(hit);
        } else if !line.trim().is_empty() && !is_note(line) {
            heading = line.trim().trim_end_matches(':').trim_start_matches("./");
        }
    }
    hits
}

/// Reads the lines of a file: number, tab, text.
pub fn lines(path: &str, result: &str) -> Vec<Hit> {
    if failed(result) {
        return Vec::new();
    }
    let hit = |(line, text): (usize, &str)| Hit { path: path.to_owned(), line, text: text.to_owned() };
    result.lines().filter_map(numbered).map(hit).collect()
}

/// Finds what a report names: `path:line` in backticks, and the words behind it.
pub fn references(report: &str) -> Vec<Hit> {
    report
        .lines()
        .filter_map(|line| {
            let (place, rest) = line.trim_start_matches(['-', '*', ' ']).strip_prefix('`')?.split_once('`')?;
            let (path, number) = place.rsplit_once(':')?;
            let text = rest.trim_start_matches([' ', '—', '-', ':']).trim().trim_matches('`');
            Some(Hit { path: path.to_owned(), line: number.parse().ok()?, text: text.to_owned() })
        })
        .collect()
}

/// Returns the kind of a file by its path.
pub fn kind_of(path: &str) -> Kind {
    let lower = path.to_lowercase();
    let name = name_of(&lower);
    let stem = name.split('.').next().unwrap_or_default();
    let kind = ending_entry(&lower).map_or(Kind::Other, |(_, _, kind)| *kind);
    let in_tests =
        lower.split('/').any(|part| ["test", "tests", "spec", "specs", "__tests__", "testing"].contains(&part));
    let named_test =
        stem.ends_with("_test") || stem.starts_with("test_") || name.contains(".spec.") || name.contains(".test.");
    if kind == Kind::Source && (in_tests || named_test) {
        return Kind::Test;
    }
    if MANIFESTS.contains(&name) || (kind == Kind::Other && name.starts_with('.')) {
        return Kind::Config;
    }
    if kind == Kind::Other && (stem == "readme" || NOTICES.contains(&stem)) {
        return Kind::Doc;
    }
    kind
}

/// Returns what a file is written in, for a table; the ending itself when it is not known.
pub fn language_of(path: &str) -> String {
    let lower = path.to_lowercase();
    match ending_entry(&lower) {
        Some((_, language, _)) => (*language).to_owned(),
        None => match name_of(&lower).rsplit_once('.') {
            Some((stem, ending)) if !stem.is_empty() && ending.len() <= 8 => format!(".{ending}"),
            _ => "no ending".to_owned(),
        },
    }
}

/// Returns the ending of a language's files, when a word names a language or a known ending.
pub fn ending_of_language(word: &str) -> Option<&'static str> {
    let lower = word.to_lowercase();
    let dotted = lower.strip_prefix('.');
    let mut entries = ENDINGS.iter();
    // Single letters and everyday words name no language.
    let named = |(ending, language, _): &&(&'static str, &str, Kind)| {
        dotted == Some(*ending)
            || (language.eq_ignore_ascii_case(&lower) && !["text", "go", "c", "log"].contains(&lower.as_str()))
    };
    entries.find(named).map(|(ending, _, _)| *ending)
}

/// Tells whether a path ends as files do that people name.
pub fn has_known_ending(path: &str) -> bool {
    let lower = path.to_lowercase();
    !lower.ends_with('/') && (ending_entry(&lower).is_some() || MANIFESTS.contains(&name_of(&lower)))
}

/// Orders files by how much they tell about a project: manifests, readmes, entry points, then the shallow ones.
pub fn by_weight(paths: &[String]) -> Vec<&str> {
    let mut ordered: Vec<&str> = paths.iter().map(String::as_str).filter(|path| weight(path) < usize::MAX).collect();
    ordered.sort_by_key(|path| (weight(path), path.len(), *path));
    ordered
}

/// Returns the first part of a path, or `.` for a file at the top.
pub fn top_of(path: &str) -> &str {
    path.split_once('/').map_or(".", |(top, _)| top)
}

/// Returns the name at the end of a path.
pub fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn weight(path: &str) -> usize {
    let lower = path.to_lowercase();
    let name = name_of(&lower);
    let stem = name.split('.').next().unwrap_or_default();
    let depth = path.matches('/').count();
    if name.rsplit_once('.').is_some_and(|(_, ending)| ending == "lock") || name == "package-lock.json" {
        return usize::MAX;
    }
    if MANIFESTS.contains(&name) {
        return depth * 10;
    }
    match kind_of(path) {
        Kind::Doc if stem == "readme" => depth * 10 + 1,
        Kind::Doc if NOTICES.contains(&stem) => depth * 10 + 80,
        Kind::Source | Kind::Test if ["main", "lib", "index", "app", "mod", "__init__"].contains(&stem) => {
            depth * 10 + 2
        }
        Kind::Source | Kind::Test | Kind::Doc => depth * 10 + 25,
        Kind::Config => depth * 10 + 60,
        Kind::Other if ending_entry(&lower).is_some() => depth * 10 + 90,
        Kind::Other => usize::MAX,
    }
}

fn ending_entry(lower: &str) -> Option<&'static (&'static str, &'static str, Kind)> {
    let (stem, ending) = name_of(lower).rsplit_once('.')?;
    ENDINGS.iter().find(|(known, _, _)| !stem.is_empty() && *known == ending)
}

fn is_note(line: &str) -> bool {
    let line = line.trim_start();
    line.contains(' ')
        && (line.starts_with(['(', '[', '…'])
            || line.starts_with("...")
            || line.starts_with("No ")
            || line.starts_with("no "))
}

/// Reads `  12<TAB>text` or `12:text`.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_start();
    let digits = line.find(|c: char| !c.is_ascii_digit())?;
    let (number, rest) = line.split_at(digits);
    Some((number.parse().ok()?, rest.strip_prefix(['\t', ':'])?))
}

/// Reads `path:12:text`.
fn located(line: &str) -> Option<Hit> {
    let (path, rest) = line.split_once(':')?;
    let (line, text) = numbered(rest)?;
    (!path.is_empty()).then(|| Hit { path: path.trim_start_matches("./").to_owned(), line, text: text.to_owned() })
}
