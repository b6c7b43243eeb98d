//! Which language a block of code is in: by the label of its fence, or by the name of its file.
//!
//! Says nothing about whether a grammar is there: the worker knows, and a language without one stays plain.

use std::path::Path;
use std::sync::Arc;

/// Longest label that is taken for a language, bytes.
const LABEL: usize = 32;

/// Labels and extensions that mean a language which the grammars know by another name.
const ALIASES: [(&str, &str); 36] = [
    ("rust", "rs"),
    ("python3", "py"),
    ("py3", "py"),
    ("pyi", "py"),
    ("ipython", "py"),
    ("javascript", "js"),
    ("node", "js"),
    ("mjs", "js"),
    ("cjs", "js"),
    ("typescript", "ts"),
    ("mts", "ts"),
    ("cts", "ts"),
    ("jsonc", "json"),
    ("json5", "json"),
    ("jsonl", "json"),
    ("ndjson", "json"),
    ("shell", "sh"),
    ("console", "sh"),
    ("terminal", "sh"),
    ("shell-session", "sh"),
    ("sh-session", "sh"),
    ("shellsession", "sh"),
    ("ksh", "sh"),
    ("golang", "go"),
    ("c++", "cpp"),
    ("cxx", "cpp"),
    ("hh", "cpp"),
    ("h++", "cpp"),
    ("c#", "cs"),
    ("csharp", "cs"),
    ("kt", "kotlin"),
    ("objc", "m"),
    ("docker", "dockerfile"),
    ("make", "makefile"),
    ("patch", "diff"),
    ("yml", "yaml"),
];

/// Labels that name no language.
const PLAIN: [&str; 9] = ["text", "txt", "plain", "plaintext", "output", "none", "log", "ascii", "raw"];

/// The name of a language as the grammars write it, in small letters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Language(Arc<str>);

impl Language {
    /// Takes the label of a fence: `rust`, `rs,ignore`, `{.python}`, `Console`; `None` when it names no language.
    pub fn of_label(label: &str) -> Option<Self> {
        let first = label.split([',', ' ', '{', '}', ':', ';']).find(|part| !part.is_empty())?;
        Self::from_name(first.trim_start_matches('.'))
    }

    /// Takes the name of a file; `None` when it tells nothing.
    pub fn of_path(path: &str) -> Option<Self> {
        let path = Path::new(path);
        let name = path.file_name()?.to_str()?;
        match path.extension().and_then(|extension| extension.to_str()) {
            Some(extension) if name != "CMakeLists.txt" => Self::from_name(extension),
            _ => Self::from_name(name),
        }
    }

    fn from_name(word: &str) -> Option<Self> {
        if word.is_empty() || word.len() > LABEL {
            return None;
        }
        let word = word.to_lowercase();
        if PLAIN.contains(&word.as_str()) {
            return None;
        }
        let known = ALIASES.iter().find(|(alias, _)| *alias == word).map(|(_, token)| *token);
        Some(Self(known.unwrap_or(&word).into()))
    }

    /// Returns the word by which a grammar is looked for.
    pub fn token(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Language;

    #[test]
    fn labels_and_files_name_their_language() {
        let label = |label: &str| Language::of_label(label).map(|language| language.token().to_owned());
        for (written, token) in [
            ("rust", "rs"),
            ("rs,ignore", "rs"),
            ("Rust {.numbered}", "rs"),
            ("{.python}", "python"),
            ("jsonc", "json"),
            ("console", "sh"),
            ("C++", "cpp"),
            ("toml", "toml"),
        ] {
            assert_eq!(label(written).as_deref(), Some(token), "{written}");
        }
        for plain in ["", "text", " ", "output", &"x".repeat(40)] {
            assert_eq!(label(plain), None, "{plain}");
        }
        let path = |path: &str| Language::of_path(path).map(|language| language.token().to_owned());
        assert_eq!(path("src/a.rs").as_deref(), Some("rs"));
        assert_eq!(path("deploy/Dockerfile").as_deref(), Some("dockerfile"));
        assert_eq!(path("CMakeLists.txt").as_deref(), Some("cmakelists.txt"));
        assert_eq!(path("notes.txt"), None);
        assert_eq!(path(""), None);
    }
}
