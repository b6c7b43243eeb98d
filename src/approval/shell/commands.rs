//! What a shell would run of a command, at most: for rules that must not miss one.
//!
//! The tree of the parser tells what stands in chains, pipes, compounds, substitutions and strings for other shells. The
//! raw text is looked through besides, by every reading of its quotes, so that a command which the parser takes for
//! something else is found too. Too much may be found, never an error: what cannot be known is said to be so.

use brush_parser::ast::{
    AssignmentValue, Command, CommandPrefixOrSuffixItem, CompoundCommand, CompoundList, ExtendedTestExpr,
    IoFileRedirectTarget, IoRedirect, SimpleCommand, Word,
};
use brush_parser::word::{self, WordPiece, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions};

use super::Shape;
use super::runners::{self, Reach};
use crate::limits;

/// Is one command that may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its words, as far as they are known.
    pub words: Vec<String>,
    /// True when a command may begin at any of its words, because its program runs what it is given.
    pub anywhere: bool,
}

/// Is what may run of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commands {
    /// Each command.
    pub found: Vec<Found>,
    /// True when something runs that is known at its run only.
    pub is_opaque: bool,
}

/// Finds everything that a command may run.
pub fn commands(command: &str) -> Commands {
    let mut commands = Commands::default();
    commands.look_into(command, 0);
    // What quotes hold is only text where every reader agrees.
    if matches!(Shape::of(command), Shape::Complex { .. }) {
        commands.look_through(command);
    }
    commands
}

/// Returns the words of a text as a shell may see them, split also where an option or a redirect ends.
pub fn plain_words(command: &str) -> impl Iterator<Item = String> {
    let bare: String = command.chars().filter(|c| !is_quote(*c)).collect();
    let words: Vec<String> = bare
        .split(|c: char| c.is_whitespace() || is_operator(c) || "=,:".contains(c))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.into_iter()
}

fn is_quote(c: char) -> bool {
    matches!(c, '\'' | '"' | '\\')
}

fn is_operator(c: char) -> bool {
    matches!(c, '|' | '&' | ';' | '<' | '>' | '(' | ')' | '{' | '}' | '`' | '$' | '\n' | '\r' | '!')
}

/// Words that something which may begin a command follows.
const LEADS: &[&str] = &[
    "if", "then", "else", "elif", "while", "until", "do", "time", "coproc", "in", "-exec", "-execdir", "-ok", "-okdir",
];

/// Counts what may nest. The parser is recursive; what nests deeper is looked through only.
fn openers(command: &str) -> usize {
    let brackets = command.chars().filter(|c| matches!(c, '(' | '{' | '[' | '`' | '!')).count();
    let is_key = |word: &&str| {
        matches!(*word, "if" | "for" | "while" | "until" | "case" | "select" | "function" | "time" | "coproc" | "elif")
    };
    let words = command.split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|')).filter(is_key).count();
    brackets + words
}

impl Commands {
    /// Adds what the parser sees.
    fn look_into(&mut self, command: &str, depth: usize) {
        let is_small = command.len() <= limits::PARSED_COMMAND_BYTES && openers(command) <= limits::PARSED_OPENERS;
        if depth > limits::PARSED_DEPTH || !is_small {
            self.is_opaque = true;
            self.look_through(command);
            return;
        }
        let Ok(program) = Parser::new(command.as_bytes(), &ParserOptions::default()).parse_program() else {
            self.is_opaque = true;
            self.look_through(command);
            return;
        };
        for list in &program.complete_commands {
            self.list(list, depth);
        }
    }

    /// Adds what a look at the words alone shows, with quotes left out and with quotes as ends.
    fn look_through(&mut self, command: &str) {
        let joined: String = command.replace("\\\n", "").chars().filter(|c| !is_quote(*c)).collect();
        let split: String = command.chars().map(|c| if is_quote(c) { ';' } else { c }).collect();
        for text in [joined, split] {
            for part in text.split(is_operator) {
                let words = part.split_whitespace().skip_while(|word| is_assignment(word) || LEADS.contains(word));
                self.add(words.map(str::to_owned).collect());
            }
        }
    }

    fn add(&mut self, words: Vec<String>) {
        if words.is_empty() {
            return;
        }
        let anywhere = runners::reach(&words) == Reach::Code || words.iter().any(|word| LEADS.contains(&word.as_str()));
        self.found.push(Found { words, anywhere });
    }

    fn list(&mut self, list: &CompoundList, depth: usize) {
        for item in &list.0 {
            for (_, pipeline) in &item.0 {
                for command in &pipeline.seq {
                    self.command(command, depth);
                }
            }
        }
    }

    fn command(&mut self, command: &Command, depth: usize) {
        match command {
            Command::Simple(simple) => self.simple(simple, depth),
            Command::Compound(compound, redirects) => {
                self.compound(compound, depth);
                self.redirects(redirects.iter().flat_map(|list| &list.0), depth);
            }
            Command::Function(function) => {
                self.compound(&function.body.0, depth);
                self.redirects(function.body.1.iter().flat_map(|list| &list.0), depth);
                // It may bear the name of a program.
                self.is_opaque = true;
            }
            Command::ExtendedTest(test, redirects) => {
                self.test(&test.expr, depth);
                self.redirects(redirects.iter().flat_map(|list| &list.0), depth);
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand, depth: usize) {
        match compound {
            CompoundCommand::Arithmetic(command) => self.text(&command.expr.value),
            CompoundCommand::ArithmeticForClause(command) => {
                for part in [&command.initializer, &command.condition, &command.updater].into_iter().flatten() {
                    self.text(&part.value);
                }
                self.list(&command.body.list, depth);
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list, depth),
            CompoundCommand::Subshell(shell) => self.list(&shell.list, depth),
            CompoundCommand::ForClause(command) => {
                self.words(command.values.iter().flatten(), depth);
                self.list(&command.body.list, depth);
            }
            CompoundCommand::CaseClause(command) => {
                self.word(&command.value, depth);
                for case in &command.cases {
                    self.words(&case.patterns, depth);
                    if let Some(list) = &case.cmd {
                        self.list(list, depth);
                    }
                }
            }
            CompoundCommand::IfClause(command) => {
                self.list(&command.condition, depth);
                self.list(&command.then, depth);
                for part in command.elses.iter().flatten() {
                    if let Some(condition) = &part.condition {
                        self.list(condition, depth);
                    }
                    self.list(&part.body, depth);
                }
            }
            CompoundCommand::WhileClause(command) | CompoundCommand::UntilClause(command) => {
                self.list(&command.0, depth);
                self.list(&command.1.list, depth);
            }
            CompoundCommand::Coprocess(command) => self.command(&command.body, depth),
        }
    }

    fn simple(&mut self, simple: &SimpleCommand, depth: usize) {
        let mut words = Vec::new();
        let mut is_known = true;
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        for item in prefix {
            self.item(item, depth);
        }
        if let Some(program) = &simple.word_or_name {
            is_known &= self.word_into(program, depth, &mut words);
            if !is_known {
                self.is_opaque = true;
            }
        }
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                    is_known &= self.word_into(word, depth, &mut words);
                }
                CommandPrefixOrSuffixItem::IoRedirect(_) | CommandPrefixOrSuffixItem::ProcessSubstitution(..) => {
                    self.item(item, depth);
                }
            }
        }
        let Some(program) = words.first() else { return };
        // What it runs may be in its input, or in something that is not known yet.
        self.is_opaque |= runners::runs_its_words(program) && !is_known || runners::reads_commands(&words);
        if runners::reach(&words) == Reach::Code {
            for (before, word) in words.iter().zip(words.iter().skip(1)) {
                let is_message = matches!(before.as_str(), "-m" | "-am" | "--message");
                if !is_message && word.contains(|c: char| c.is_whitespace() || is_operator(c)) {
                    self.look_into(word, depth + 1);
                    self.look_through(word);
                }
            }
        }
        self.add(words);
    }

    /// Adds a word to a command and tells whether it is known.
    fn word_into(&mut self, word: &Word, depth: usize, words: &mut Vec<String>) -> bool {
        self.word(word, depth);
        let Ok(pieces) = word::parse(&word.value, &ParserOptions::default()) else {
            words.push(word.value.clone());
            return false;
        };
        let mut text = String::new();
        let is_known = spell(&pieces, &mut text);
        let has_brace = word.value.contains('{') && text.contains(',');
        words.push(text);
        is_known && !has_brace
    }

    fn words<'a>(&mut self, words: impl IntoIterator<Item = &'a Word>, depth: usize) {
        for word in words {
            self.word(word, depth);
        }
    }

    /// Adds what runs when a word is expanded.
    fn word(&mut self, word: &Word, depth: usize) {
        match word::parse(&word.value, &ParserOptions::default()) {
            Ok(pieces) => self.pieces(&pieces, depth),
            Err(_) => self.text(&word.value),
        }
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource], depth: usize) {
        for piece in pieces {
            match &piece.piece {
                WordPiece::CommandSubstitution(inner) => self.look_into(inner, depth + 1),
                WordPiece::BackquotedCommandSubstitution(inner) => {
                    self.look_into(&inner.replace("\\`", "`"), depth + 1);
                }
                WordPiece::DoubleQuotedSequence(inner) | WordPiece::GettextDoubleQuotedSequence(inner) => {
                    self.pieces(inner, depth);
                }
                // Their parts are expanded too; the look through the whole text finds what is in them.
                WordPiece::ParameterExpansion(_)
                | WordPiece::ArithmeticExpression(_)
                | WordPiece::Text(_)
                | WordPiece::SingleQuotedText(_)
                | WordPiece::AnsiCQuotedText(_)
                | WordPiece::TildeExpansion(_)
                | WordPiece::EscapeSequence(_) => {}
            }
        }
    }

    fn item(&mut self, item: &CommandPrefixOrSuffixItem, depth: usize) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirects([redirect], depth),
            CommandPrefixOrSuffixItem::Word(word) => self.word(word, depth),
            CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                self.word(word, depth);
                match &assignment.value {
                    AssignmentValue::Scalar(value) => self.word(value, depth),
                    AssignmentValue::Array(values) => self.words(values.iter().map(|(_, value)| value), depth),
                }
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(_, shell) => self.list(&shell.list, depth),
        }
    }

    fn redirects<'a>(&mut self, redirects: impl IntoIterator<Item = &'a IoRedirect>, depth: usize) {
        for redirect in redirects {
            match redirect {
                IoRedirect::File(_, _, target) => match target {
                    IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => {
                        self.word(word, depth);
                    }
                    IoFileRedirectTarget::Fd(_) => {}
                    IoFileRedirectTarget::ProcessSubstitution(_, shell) => self.list(&shell.list, depth),
                },
                // Its reader may be a shell.
                IoRedirect::HereDocument(_, document) => self.look_into(&document.doc.value, depth + 1),
                IoRedirect::HereString(_, word) => {
                    self.word(word, depth);
                    self.text(&word.value);
                }
                IoRedirect::OutputAndError(word, _) => self.word(word, depth),
            }
        }
    }

    fn test(&mut self, test: &ExtendedTestExpr, depth: usize) {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left, depth);
                self.test(right, depth);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner, depth),
            ExtendedTestExpr::UnaryTest(_, word) => self.word(word, depth),
            ExtendedTestExpr::BinaryTest(_, left, right) => self.words([left, right], depth),
        }
    }

    /// Adds what an arithmetic expression or a string may run.
    fn text(&mut self, text: &str) {
        if text.contains(is_operator) {
            self.look_through(text);
        }
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name.trim_end_matches('+'));
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_[]".contains(c)))
}

/// Writes what the pieces stand for and tells whether all of it is known.
fn spell(pieces: &[WordPieceWithSource], text: &mut String) -> bool {
    let mut is_known = true;
    for piece in pieces {
        match &piece.piece {
            WordPiece::Text(part) => {
                is_known &= !part.contains(['*', '?', '[']);
                text.push_str(part);
            }
            WordPiece::SingleQuotedText(part) => text.push_str(part),
            WordPiece::AnsiCQuotedText(part) => is_known &= unescape(part, text),
            WordPiece::DoubleQuotedSequence(inner) | WordPiece::GettextDoubleQuotedSequence(inner) => {
                is_known &= spell(inner, text);
            }
            WordPiece::EscapeSequence(escape) => text.push_str(escape.strip_prefix('\\').unwrap_or(escape)),
            WordPiece::TildeExpansion(_) => text.push('~'),
            WordPiece::ParameterExpansion(_)
            | WordPiece::CommandSubstitution(_)
            | WordPiece::BackquotedCommandSubstitution(_)
            | WordPiece::ArithmeticExpression(_) => is_known = false,
        }
    }
    is_known
}

/// Writes what stands between `$'` and `'`; false when it has more than letters by number.
fn unescape(part: &str, text: &mut String) -> bool {
    let mut chars = part.chars().peekable();
    let mut is_known = true;
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        let (radix, most) = match chars.next() {
            Some('x') => (16, 2),
            Some('u') => (16, 4),
            Some('U') => (16, 8),
            Some(digit @ '0'..='7') => {
                let mut code = digit.to_digit(8).unwrap_or_default();
                for _ in 0..2 {
                    let Some(next) = chars.next_if(|c| c.is_digit(8)) else { break };
                    code = code * 8 + next.to_digit(8).unwrap_or_default();
                }
                text.extend(char::from_u32(code));
                continue;
            }
            Some('n' | 't' | 'r' | 'v' | 'f') => {
                text.push(' ');
                continue;
            }
            Some(other @ ('\\' | '\'' | '"' | '?')) => {
                text.push(other);
                continue;
            }
            _ => {
                is_known = false;
                continue;
            }
        };
        let mut code = 0_u32;
        for _ in 0..most {
            let Some(next) = chars.next_if(|c| c.is_digit(radix)) else { break };
            code = code.wrapping_mul(radix).wrapping_add(next.to_digit(radix).unwrap_or_default());
        }
        text.extend(char::from_u32(code));
    }
    is_known
}
