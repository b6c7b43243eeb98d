//! What a shell command is, as far as rules may rely on it: one simple command of plain words, or something else.
//!
//! Two readers must agree: one that knows few characters and gives up at every other, and the lexer that reads every
//! text. What either does not understand is [`Shape::Complex`], and asked about. What bash would run of a
//! command, at most, is in `commands`; which programs run other code by their arguments, in `runners` and `indirect`.
//!
//! # Where things are
//!
//! - shell commands as rules see them: `mod.rs`, `lexer/mod.rs`, `commands.rs`, `indirect.rs`, `builtins.rs`,
//!   `runners.rs`; tests:
//!   `shell_policy/mod.rs`, `shell_policy/parsing.rs`, `shell_policy/deny_rules.rs`, `shell_policy/complexity.rs`
//! - which uses of git only look: `git.rs`

mod builtins;
mod commands;
mod git;
mod indirect;
mod lexer;
pub(super) mod runners;

use steersman_base::limits;
use steersman_base::text;

use lexer::Certainty;

pub use git::outside_arguments;
pub use indirect::steers;

pub(super) use commands::{Commands, FoundCommand, commands, plain_words};

/// What a command is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// One simple command; exactly these words are its argument vector.
    Simple(Vec<String>),
    /// Anything else.
    Complex {
        /// The first thing that makes it so, in a few words for the user.
        why: &'static str,
    },
}

impl Shape {
    /// Finds out what a command is.
    pub fn parse(command: &str) -> Self {
        match scan(command) {
            Ok(words) if lexed(command).as_ref() == Some(&words) => Self::Simple(words),
            Ok(_) => Self::Complex { why: "it is not understood with certainty" },
            Err(why) => Self::Complex { why },
        }
    }
}

/// Words that begin something other than a simple command.
const RESERVED: [&str; 17] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function",
    "time", "coproc", "in",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    No,
    Single,
    Double,
}

/// Reads the words of a simple command; the error says what is in it beyond plain words.
fn scan(command: &str) -> Result<Vec<String>, &'static str> {
    if command.len() > limits::RULED_COMMAND_BYTES {
        return Err("it is too long for a rule");
    }
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = Quote::No;
    let mut before = ' ';
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match quote {
            Quote::No => match c {
                ' ' => words.extend(word.take()),
                '\'' | '"' if words.is_empty() => return Err("the name of its program is quoted"),
                '\'' => quote = Quote::Single,
                '"' => quote = Quote::Double,
                c if c.is_ascii_alphanumeric() || "_./:=@%+,-".contains(c) => word.get_or_insert_default().push(c),
                // Behind a letter these two mean nothing: `HEAD^`, `HEAD~2`.
                '^' | '~' if before.is_ascii_alphanumeric() && word.is_some() => word.get_or_insert_default().push(c),
                c => return Err(meaning(c)),
            },
            Quote::Single if c == '\'' => quote = Quote::No,
            Quote::Double if c == '"' => quote = Quote::No,
            Quote::Double if "$`!".contains(c) => return Err(meaning(c)),
            Quote::Double if c == '\\' => match chars.peek() {
                Some('$' | '`') | None => return Err(meaning(c)),
                Some(next @ ('\\' | '"')) => {
                    word.get_or_insert_default().push(*next);
                    chars.next();
                }
                Some(_) => word.get_or_insert_default().push(c),
            },
            Quote::Single | Quote::Double if c.is_control() || text::is_invisible(c) => return Err(meaning(c)),
            Quote::Single | Quote::Double if !c.is_ascii() && c.is_whitespace() => return Err(meaning(c)),
            Quote::Single | Quote::Double => word.get_or_insert_default().push(c),
        }
        if quote != Quote::No {
            // Also what is quoted and empty is a word.
            word.get_or_insert_default();
        }
        before = c;
    }
    if quote != Quote::No {
        return Err("a quote in it does not end");
    }
    words.extend(word);
    let Some(program) = words.first() else { return Err("it is empty") };
    if program.contains('=') {
        return Err("it sets a variable");
    }
    if RESERVED.contains(&program.as_str()) || program.starts_with(['%', '-', '+']) {
        return Err("it is more than one simple command");
    }
    Ok(words)
}

/// Returns what a character may mean to a shell.
fn meaning(c: char) -> &'static str {
    match c {
        '|' => "it has a pipe",
        ';' => "it has several commands",
        '\n' => "it has several lines",
        '&' => "it has a chain or runs in the background",
        '<' | '>' => "it redirects",
        '$' => "it has an expansion",
        '`' => "it has a substitution",
        '(' | ')' => "it has a subshell",
        '*' | '?' | '[' | ']' => "it has a file pattern",
        '{' | '}' => "it has a brace",
        '~' => "it has a tilde",
        '#' => "it has a comment",
        '!' => "it has an exclamation mark",
        '\\' => "it has an escape",
        c if c.is_ascii() => "it has a control character",
        _ => "it has an unusual character outside quotes, or an invisible one",
    }
}

/// Reads the words with the lexer; `None` when it sees anything but one command of known words.
fn lexed(command: &str) -> Option<Vec<String>> {
    let reading = lexer::lex(command);
    let [only] = reading.commands.as_slice() else { return None };
    let is_plain = reading.unsure.is_none() && reading.variables.is_empty() && reading.documents.is_empty();
    let is_plain = is_plain && only.variables.is_empty() && only.known.iter().all(|known| *known == Certainty::All);
    is_plain.then(|| only.words.clone())
}
