//! Reads which commands a text for bash holds, in one pass: no recursion and no way back, whatever the text.
//!
//! Every command is found, in chains, pipes, compounds and substitutions alike, with its words as far as they are known
//! before it runs. What this reader does not understand for certain it says to be so ([`Reading::unsure`]); it never fails.
//! Of what bash evaluates once more it knows the harmless forms only (`expansions`).
//!
//! # Where things are
//!
//! - quotes and expansions: `expansions.rs`

mod expansions;

use std::iter::Peekable;
use std::mem;
use std::str::Chars;

/// A command with its words.
#[derive(Debug, Default)]
pub(super) struct Command {
    /// Its words, what is unknown in them left out.
    pub words: Vec<String>,
    pub known: Vec<Certainty>,
    /// The variables that it alone gets.
    pub variables: Vec<Assignment>,
}

/// How far a word is known before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    All,
    /// That it is one word.
    Count,
    Nothing,
}

/// A variable that is set.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Assignment {
    pub name: String,
    /// Its value; `None` when that is not known.
    pub value: Option<String>,
}

/// What a text holds.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// Its commands, the inner ones first.
    pub commands: Vec<Command>,
    /// The variables that it sets for itself.
    pub variables: Vec<Assignment>,
    /// The bodies of its here-documents, and whether substitutions run in them.
    pub documents: Vec<(String, bool)>,
    /// The first thing that is not understood for certain.
    pub unsure: Option<&'static str>,
}

pub(super) fn lex(text: &str) -> Reading {
    Lexer::new(text, LexedText::Script).run()
}

/// Reads what runs in a here-document: its substitutions.
pub(super) fn read_document(text: &str) -> Reading {
    Lexer::new(text, LexedText::Document).run()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LexedText {
    Script,
    /// The body of a here-document, where quotes are text.
    Document,
    /// `( … )`, `$( … )`, `<( … )`.
    Shell,
    Backquote,
    /// `${ … }`
    Parameter,
    /// `$(( … ))`
    Arithmetic,
    /// `x=( … )`
    Array,
}

/// What the next word is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Redirect {
    File,
    Document { strips_tabs: bool },
}

/// A bracket that is open, with the command in it as far as it is read.
struct Frame {
    kind: LexedText,
    is_quoted: bool,
    /// True when the bracket stands within double quotes.
    within_quotes: bool,
    /// Parentheses that are open in arithmetic or a test.
    depth: usize,
    is_test: bool,
    command: Command,
    word: Option<Word>,
    redirect: Option<Redirect>,
}

#[expect(clippy::struct_excessive_bools, reason = "independent properties of one word")]
#[derive(Default)]
struct Word {
    text: String,
    is_unknown: bool,
    /// True when it may become several words, or none.
    splits: bool,
    /// True once a part of it was quoted.
    is_quoted: bool,
    /// True once it had a bracket outside quotes that may make several words of it.
    has_bracket: bool,
    is_assignment: bool,
}

struct Lexer<'a> {
    chars: Peekable<Chars<'a>>,
    now: Frame,
    outer: Vec<Frame>,
    /// Here-documents whose bodies begin at the next line.
    waiting: Vec<(String, bool, bool)>,
    reading: Reading,
}

/// Words that a command follows.
const LEADS: &[&str] = &["if", "then", "else", "elif", "while", "until", "do", "!", "time", "{"];

impl Frame {
    fn new(kind: LexedText, within_quotes: bool) -> Self {
        Self {
            kind,
            is_quoted: kind == LexedText::Document,
            within_quotes,
            depth: 0,
            is_test: false,
            command: Command::default(),
            word: None,
            redirect: None,
        }
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn push(&mut self, c: char) {
        self.word().text.push(c);
    }

    /// Notes that a part of the word is known only when it runs.
    fn unknown(&mut self) {
        let splits = !self.is_quoted;
        let word = self.word();
        word.is_unknown = true;
        word.splits |= splits;
    }
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str, kind: LexedText) -> Self {
        Self {
            chars: text.chars().peekable(),
            now: Frame::new(kind, false),
            outer: Vec::new(),
            waiting: Vec::new(),
            reading: Reading::default(),
        }
    }

    fn run(mut self) -> Reading {
        while let Some(c) = self.chars.next() {
            if matches!(self.now.kind, LexedText::Parameter | LexedText::Arithmetic) {
                self.expression(c);
            } else if self.now.is_quoted {
                self.quoted(c);
            } else {
                self.plain(c);
            }
        }
        if !self.outer.is_empty() || self.now.is_quoted && self.now.kind != LexedText::Document {
            self.unsure("a bracket or a quote in it does not end");
        }
        if !self.waiting.is_empty() {
            self.unsure("a here-document in it does not end");
        }
        while let Some(outer) = self.outer.pop() {
            self.end_command();
            self.now = outer;
        }
        self.end_command();
        self.reading
    }

    fn unsure(&mut self, why: &'static str) {
        self.reading.unsure.get_or_insert(why);
    }

    fn quoted(&mut self, c: char) {
        let is_document = self.now.kind == LexedText::Document;
        match c {
            '"' if !is_document => self.now.is_quoted = false,
            '\\' => match self.chars.next_if(|c| matches!(c, '$' | '`' | '"' | '\\' | '\n')) {
                Some('\n') => {}
                Some(escaped) => self.now.push(escaped),
                None => self.now.push('\\'),
            },
            '$' => self.dollar(),
            '`' => self.backquote(),
            _ if is_document => {}
            c => self.now.push(c),
        }
    }

    fn plain(&mut self, c: char) {
        match c {
            ' ' | '\t' => self.end_word(),
            '\n' => {
                self.end_command();
                self.documents();
            }
            '\\' => match self.chars.next() {
                Some('\n') => {}
                Some(escaped) => {
                    self.now.push(escaped);
                    self.now.word().is_quoted = true;
                }
                None => self.unsure("it ends in an escape"),
            },
            '\'' => self.single(),
            '"' => {
                self.now.word().is_quoted = true;
                self.now.is_quoted = true;
            }
            '$' => self.dollar(),
            '`' => self.backquote(),
            '#' if self.now.word.is_none() => {
                if self.now.kind == LexedText::Backquote {
                    self.unsure("it has a comment within backquotes");
                }
                while self.chars.next_if(|c| *c != '\n').is_some() {}
            }
            ';' | '&' | '|' | '<' | '>' if self.now.is_test => self.end_word(),
            '&' if self.chars.next_if_eq(&'>').is_some() => self.redirect(),
            ';' | '&' | '|' => self.end_command(),
            '<' | '>' => self.angle(c),
            '(' => self.parenthesis(),
            ')' if self.now.is_test && self.now.depth > 0 => {
                self.end_word();
                self.now.depth -= 1;
            }
            ')' => {
                if matches!(self.now.kind, LexedText::Shell | LexedText::Array) {
                    self.leave();
                } else {
                    self.unsure("it has a bracket that closes nothing, as in a case");
                    self.end_command();
                }
            }
            '*' | '?' => {
                self.now.push(c);
                self.now.unknown();
            }
            '[' | '{' => {
                self.now.push(c);
                self.now.word().has_bracket = true;
            }
            '=' => {
                let word = self.now.word();
                word.is_assignment |= !word.is_quoted && !word.is_unknown && is_name(&word.text);
                word.text.push(c);
            }
            c => self.now.push(c),
        }
    }

    /// Reads `<` or `>`, of which there may be several.
    fn angle(&mut self, c: char) {
        let is_number =
            |word: &Word| !word.is_quoted && !word.text.is_empty() && word.text.bytes().all(|b| b.is_ascii_digit());
        if self.now.word.as_ref().is_some_and(|word| word.has_bracket && word.text.ends_with('}')) {
            self.unsure("it redirects by a variable");
        }
        if self.now.word.as_ref().is_some_and(is_number) {
            self.now.word = None;
        }
        if self.chars.next_if_eq(&'(').is_some() {
            self.now.unknown();
            return self.enter(LexedText::Shell);
        }
        self.end_word();
        if c == '<' && self.chars.next_if_eq(&'<').is_some() {
            if self.chars.next_if_eq(&'<').is_none() {
                let strips_tabs = self.chars.next_if_eq(&'-').is_some();
                self.now.redirect = Some(Redirect::Document { strips_tabs });
                return;
            }
        } else {
            self.chars.next_if(|c| matches!(c, '>' | '&' | '|'));
        }
        self.now.redirect = Some(Redirect::File);
    }

    fn redirect(&mut self) {
        self.end_word();
        self.chars.next_if_eq(&'>');
        self.now.redirect = Some(Redirect::File);
    }

    fn parenthesis(&mut self) {
        if self.now.is_test {
            self.end_word();
            self.now.depth += 1;
            return;
        }
        match &self.now.word {
            Some(word) if word.is_assignment && word.text.ends_with('=') => {
                self.now.unknown();
                self.enter(LexedText::Array);
            }
            None if self.chars.next_if_eq(&'(').is_some() => {
                self.unsure("it evaluates arithmetic, or has brackets that can be read so");
                self.enter(LexedText::Shell);
                self.enter(LexedText::Shell);
            }
            None if self.now.command.words.is_empty() => self.enter(LexedText::Shell),
            Some(_) | None => {
                self.unsure("it defines a function, or has an unusual bracket");
                self.end_word();
                self.enter(LexedText::Shell);
            }
        }
    }

    fn enter(&mut self, kind: LexedText) {
        let within_quotes = self.now.is_quoted || self.now.within_quotes && self.now.kind == LexedText::Parameter;
        let inner = Frame::new(kind, within_quotes);
        self.outer.push(mem::replace(&mut self.now, inner));
    }

    fn leave(&mut self) {
        self.end_command();
        if let Some(outer) = self.outer.pop() {
            self.now = outer;
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.now.word.take() else { return };
        let is_lone = matches!(word.text.as_str(), "[" | "[[" | "{" | "{}");
        let may_expand = word.has_bracket && !is_lone && word.text.contains(['[', ',', '.']);
        let is_known = !word.is_unknown && !may_expand;
        match self.now.redirect.take() {
            Some(Redirect::File) => return,
            Some(Redirect::Document { strips_tabs }) => {
                if !is_known || self.now.kind == LexedText::Backquote {
                    self.unsure("it has an unusual here-document");
                }
                self.waiting.push((word.text, strips_tabs, word.is_quoted));
                return;
            }
            None => {}
        }
        if self.now.kind == LexedText::Array && word.text.starts_with('[') {
            self.unsure("it names a place in an array");
        }
        if matches!(
            self.now.kind,
            LexedText::Array | LexedText::Parameter | LexedText::Arithmetic | LexedText::Document
        ) {
            return;
        }
        if self.now.command.words.is_empty() && !word.is_quoted {
            let text = word.text.as_str();
            if matches!(text, "case" | "function" | "coproc" | "select") {
                self.unsure("it has a case, a function or a coprocess");
                return;
            }
            if word.is_assignment {
                self.assign(text, !word.is_unknown);
                return;
            }
            if !word.is_unknown && LEADS.contains(&text) {
                return;
            }
        }
        self.now.is_test |= self.now.command.words.is_empty() && word.text == "[[";
        let ends_test = word.text == "]]";
        self.now.command.known.push(match (is_known, word.splits || may_expand) {
            (true, _) => Certainty::All,
            (false, false) => Certainty::Count,
            (false, true) => Certainty::Nothing,
        });
        self.now.command.words.push(word.text);
        if ends_test {
            self.now.is_test = false;
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        if self.now.redirect.take().is_some() {
            self.unsure("it redirects to nothing");
        }
        self.now.is_test = false;
        self.now.depth = 0;
        let command = mem::take(&mut self.now.command);
        if command.words.is_empty() {
            self.reading.variables.extend(command.variables);
        } else {
            self.reading.commands.push(command);
        }
    }

    /// Notes an assignment before a command.
    fn assign(&mut self, text: &str, is_known: bool) {
        let (target, value) = text.split_once('=').unwrap_or((text, ""));
        let target = target.strip_suffix('+').unwrap_or(target);
        let (name, place) = target.split_once('[').map_or((target, None), |(name, place)| (name, Some(place)));
        if place.is_some_and(|place| !is_known || !expansions::is_plain_place(place)) {
            self.unsure("it names a place in an array");
        }
        let value = is_known.then(|| value.to_owned());
        self.now.command.variables.push(Assignment { name: name.to_owned(), value });
    }

    /// Reads the bodies of the here-documents that begin at this line.
    fn documents(&mut self) {
        for (delimiter, strips_tabs, is_quoted) in mem::take(&mut self.waiting) {
            let mut body = String::new();
            loop {
                if self.chars.peek().is_none() {
                    self.unsure("a here-document in it does not end");
                    break;
                }
                let mut line = String::new();
                while let Some(c) = self.chars.next_if(|c| *c != '\n') {
                    line.push(c);
                }
                self.chars.next();
                if strips_tabs {
                    line = line.trim_start_matches('\t').to_owned();
                }
                if line == delimiter {
                    break;
                }
                body.push_str(&line);
                body.push('\n');
            }
            self.reading.documents.push((body, !is_quoted));
        }
    }
}

/// Tells whether a text is what stands before the `=` of an assignment.
fn is_name(text: &str) -> bool {
    let name = text.strip_suffix('+').unwrap_or(text);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
