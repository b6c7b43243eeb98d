//! Colours of code: what each stretch of a line is, by the grammars of bat.
//!
//! A line is named by its language and every line before it, so that a text that grows, is wrapped anew or is shown
//! elsewhere keeps its colours, and nothing is read twice. What comes out are classes, not colours. Reading is bounded in
//! time and size, and a grammar that breaks is given up.
//!
//! # Where things are
//!
//! - the grammars: `engine.rs`, and what their scopes mean: `classes.rs`; tests: `tests/tui/highlight.rs`
//! - the language of a block or a file: `language.rs`; tests: `tests/tui/highlight.rs`

#![allow(missing_docs)] // Most fields and variants are what they are called.

mod classes;
mod engine;
mod language;

use std::hash::{DefaultHasher, Hasher as _};
use std::sync::Arc;

pub use engine::{Engine, GrammarState};
pub use language::Language;
use steersman_base::limits;

/// What a stretch of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// A word of the language.
    Keyword,
    /// A text in quotes.
    String,
    Number,
    Comment,
    Function,
    Type,
    /// A value with a name of the language, or an escape within a text.
    Constant,
    /// An attribute, an annotation, the key of a value.
    Attribute,
    /// Operators and brackets.
    Punctuation,
    /// A line that a diff adds.
    Added,
    /// A line that a diff takes away.
    Removed,
}

/// A stretch of a line that has a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its first byte in the line.
    pub start: u32,
    /// The byte behind its last one.
    pub end: u32,
    /// What it is.
    pub class: Class,
}

/// A line of code with all that its colours depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LineKey(u64);

/// The lines of a block of code, one behind the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    language: Language,
    last: u64,
    lines: usize,
    bytes: usize,
}

impl Chain {
    /// Begins a block.
    pub fn new(language: Language) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(language.token().as_bytes());
        Self { language, last: hasher.finish(), lines: 0, bytes: 0 }
    }

    pub fn language(&self) -> &Language {
        &self.language
    }

    /// Returns how many lines the block has so far.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Returns the name of the last line, or of the block before it has any.
    pub fn key(&self) -> LineKey {
        LineKey(self.last)
    }

    /// Names the next line, given without its end; `None` once the block is longer than is coloured.
    pub fn push(&mut self, line: &str) -> Option<LineKey> {
        self.lines += 1;
        self.bytes += line.len();
        if self.lines > limits::CODE_LINES || self.bytes > limits::CODE_BYTES {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.last);
        hasher.write(line.as_bytes());
        self.last = hasher.finish();
        Some(LineKey(self.last))
    }
}

/// What a grammar knows behind a line: where to go on from.
#[derive(Debug, Clone)]
pub struct Resume(Arc<GrammarState>);

impl Resume {
    pub fn new(state: GrammarState) -> Self {
        Self(Arc::new(state))
    }

    pub fn state(&self) -> &GrammarState {
        &self.0
    }
}

impl PartialEq for Resume {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Resume {}

/// A stretch of a block whose colours are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub language: Language,
    /// What is known of the lines before; `None` at the beginning of a block.
    pub resume: Option<Resume>,
    /// The lines without their ends, each with its name.
    pub lines: Vec<(LineKey, String)>,
}

/// What was found out about the first lines of a job, as far as the time went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coloured {
    pub language: Language,
    /// The stretches of each line that have a class.
    pub lines: Vec<(LineKey, Vec<Span>)>,
    /// Where to go on behind the last of them; `None` when no line of the language will ever have colours.
    pub resume: Option<Resume>,
}
