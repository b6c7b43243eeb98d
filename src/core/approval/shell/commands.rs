//! What a shell would run of a command, at most: for rules that must not miss one.
//!
//! The lexer tells what stands in chains, pipes, compounds, substitutions and strings for other shells. The raw text is
//! looked through besides, by every reading of its quotes, so that a command which the lexer takes for something else is
//! found too. Too much may be found, never an error: what cannot be known is said to be so. All of it takes time in the
//! length of the text, whatever the text is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Shape;
use super::indirect::{SETS_VARIABLE, runs_others, steers};
use super::lexer::{self, Command, Reading};
use super::runners::{self, Reach};
use steersman_base::limits;
use steersman_base::paths::without_dots;

/// A command that may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundCommand {
    /// Its words, as far as they are known.
    pub words: Vec<String>,
    /// True when a command may begin at any of its words, because its program runs what it is given.
    pub anywhere: bool,
}

/// What may run of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Commands {
    pub found: Vec<FoundCommand>,
    /// Why something may run that is not among them, the first reason.
    pub unclear: Option<&'static str>,
}

/// Finds everything that a command of this shape may run.
pub(crate) fn commands(command: &str, shape: &Shape) -> Commands {
    let mut commands = Commands::default();
    commands.look_into(command);
    // What quotes hold is only text where every reader agrees.
    if matches!(shape, Shape::Complex { .. }) {
        commands.look_through(command);
    }
    commands
}

/// Returns the words of a text as a shell may see them, split also where an option or a redirect ends.
pub(crate) fn plain_words(command: &str) -> impl Iterator<Item = String> {
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

impl Commands {
    /// Returns the paths that its words may name, without `.` and `..`: from where it starts, and from where it goes.
    pub(crate) fn named_paths(&self, cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
        let place = |base: &Path, word: &str| {
            let at_home = ["~/", "$HOME/", "${HOME}/", "HOME/"].iter().find_map(|start| word.strip_prefix(start));
            without_dots(&match (at_home, home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => base.join(word),
            })
        };
        let mut bases = vec![cwd.to_owned()];
        for found in &self.found {
            if let [program, to, ..] = found.words.as_slice()
                && matches!(program.as_str(), "cd" | "pushd")
                && bases.len() < limits::READ_DEPTH
            {
                let from = bases.last().map_or(cwd, PathBuf::as_path);
                bases.push(place(from, to));
            }
        }
        let words = self.found.iter().flat_map(|found| &found.words);
        // `--file=x`, `if=x`, `HEAD:x`, `-fx` and `@x` name a file within a word.
        let parts = words.flat_map(|word| {
            let ends = word.split(|c: char| "=:,@<>".contains(c));
            let attached = word.strip_prefix('-').and_then(|rest| rest.char_indices().nth(1)).map(|(at, _)| at + 1);
            std::iter::once(word.as_str()).chain(ends).chain(attached.and_then(|at| word.get(at..)))
        });
        let parts: BTreeSet<&str> = parts.filter(|part| !part.is_empty()).collect();
        let paths = parts.iter().flat_map(|part| bases.iter().map(|base| place(base, part)));
        paths.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Says that a word may stand for names that are not written; `None` where none does.
    pub(crate) fn pattern(&self) -> Option<&'static str> {
        let mut words = self.found.iter().flat_map(|found| &found.words);
        words.any(|word| word.contains(['*', '?', '[', '{'])).then_some("it has a wildcard")
    }

    /// Adds what the lexer sees, in the strings for other shells too.
    fn look_into(&mut self, command: &str) {
        if command.len() > limits::COMMAND_LENGTH {
            self.unclear.get_or_insert("it is too long to read");
            return;
        }
        let mut readings = vec![(lexer::lex(command), 0)];
        while let Some((reading, depth)) = readings.pop() {
            let Reading { commands, variables, documents, unsure } = reading;
            self.unclear = self.unclear.or(unsure);
            if variables.iter().any(|variable| steers(&variable.name)) {
                self.unclear.get_or_insert(SETS_VARIABLE);
            }
            let mut inner: Vec<(String, bool)> = documents;
            for command in commands {
                inner.extend(strings(&command).map(|text| (text.to_owned(), true)));
                self.read_command(command);
            }
            for (text, is_run) in inner {
                self.look_through(&text);
                if depth >= limits::READ_DEPTH {
                    self.unclear.get_or_insert("it is too complex to read");
                } else if is_run {
                    readings.push((lexer::lex(&text), depth + 1));
                    readings.push((lexer::read_document(&text), depth + 1));
                }
            }
        }
    }

    /// Adds a command that the lexer found.
    fn read_command(&mut self, command: Command) {
        let why = runs_others(&command);
        self.unclear = self.unclear.or(why);
        self.add(command.words);
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
        self.found.push(FoundCommand { words, anywhere });
    }
}

/// Returns the words of a command that may be scripts.
fn strings(command: &Command) -> impl Iterator<Item = &str> {
    let is_code = runners::reach(&command.words) == Reach::Code;
    let pairs = command.words.iter().zip(command.words.iter().skip(1));
    pairs
        .filter(move |(before, word)| {
            let is_message = matches!(before.as_str(), "-m" | "-am" | "--message");
            is_code && !is_message && word.contains(|c: char| c.is_whitespace() || is_operator(c))
        })
        .map(|(_, word)| word.as_str())
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name.trim_end_matches('+'));
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_[]".contains(c)))
}
