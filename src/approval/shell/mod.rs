//! What a shell command is, as far as rules may rely on it: one simple command of plain words, or something else.
//!
//! Two readers must agree: an own one that knows few characters and gives up at every other, and a real parser. What
//! either does not understand is [`Shape::Complex`], and asked about (faults S1, S3). What bash would run of a command,
//! at most, is in `commands`; which programs run other code by their arguments, in `runners`.

mod commands;
mod git;
pub(super) mod runners;

use brush_parser::ast::{Command, CommandPrefixOrSuffixItem, SeparatorOperator, SimpleCommand};
use brush_parser::word::{self, WordPiece};
use brush_parser::{Parser, ParserOptions};

use crate::{limits, text};

pub(super) use commands::{Commands, Found, commands, plain_words};

/// Is what a command is.
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
    pub fn of(command: &str) -> Self {
        match scan(command) {
            Ok(words) if parsed(command).as_ref() == Some(&words) => Self::Simple(words),
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

/// Reads the words with the parser; `None` when it sees anything but one simple command of them.
fn parsed(command: &str) -> Option<Vec<String>> {
    let program = Parser::new(command.as_bytes(), &ParserOptions::default()).parse_program().ok()?;
    let [list] = program.complete_commands.as_slice() else { return None };
    let [item] = list.0.as_slice() else { return None };
    if !matches!(item.1, SeparatorOperator::Sequence) || !item.0.additional.is_empty() {
        return None;
    }
    let pipeline = &item.0.first;
    match pipeline.seq.as_slice() {
        [Command::Simple(simple)] if pipeline.timed.is_none() && !pipeline.bang => parsed_words(simple),
        _ => None,
    }
}

fn parsed_words(simple: &SimpleCommand) -> Option<Vec<String>> {
    if simple.prefix.as_ref().is_some_and(|prefix| !prefix.0.is_empty()) {
        return None;
    }
    let mut words = vec![literal(&simple.word_or_name.as_ref()?.value)?];
    for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
        // A word of the form a=b is one of its own kind, and yet only an argument here.
        match item {
            CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                words.push(literal(&word.value)?);
            }
            CommandPrefixOrSuffixItem::IoRedirect(_) | CommandPrefixOrSuffixItem::ProcessSubstitution(..) => {
                return None;
            }
        }
    }
    Some(words)
}

/// Returns what a word stands for; `None` when that is known at its run only.
fn literal(word: &str) -> Option<String> {
    let pieces = word::parse(word, &ParserOptions::default()).ok()?;
    let mut text = String::new();
    for piece in &pieces {
        match &piece.piece {
            WordPiece::Text(part) | WordPiece::SingleQuotedText(part) => text.push_str(part),
            WordPiece::DoubleQuotedSequence(parts) => {
                for part in parts {
                    match &part.piece {
                        WordPiece::Text(part) => text.push_str(part),
                        WordPiece::EscapeSequence(escape) => text.push_str(escape.strip_prefix('\\').unwrap_or(escape)),
                        _ => return None,
                    }
                }
            }
            _ => return None,
        }
    }
    Some(text)
}
