//! Paths behind `@`: what was listed, what is typed of one, and which match.
//!
//! The list is made and searched away from the screen; until an answer comes, what was found before and still matches is
//! offered. Always holds: a path that is taken reads as one path, and never as the name of an agent.

use std::sync::Arc;

use jiff::Timestamp;

use crate::fuzzy::{FuzzyMatches, FuzzyQuery, QueryKind, narrow};
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::target::{ALL, MAIN};

/// A list of files and directories, relative to the working directory; directories end with `/`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathList {
    /// All of them, those that are not hidden first, the flattest first.
    pub names: Arc<[Arc<str>]>,
    /// How many are not hidden.
    pub visible: usize,
}

/// A path that is being typed: from its `@` to the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The line, and the character of its `@`.
    pub at: (usize, usize),
    /// The characters from there to the cursor.
    pub chars: usize,
    /// What was typed of the path, without quotes.
    pub typed: String,
}

/// What is known of the paths.
#[derive(Debug, Default)]
pub struct Paths {
    list: PathList,
    /// When the list was made; `None` before the first.
    listed: Option<Timestamp>,
    /// True while a list is being made.
    is_listing: bool,
    token: Option<Token>,
    /// The place of the `@` behind which Esc closed the list.
    closed: Option<(usize, usize)>,
    found: FuzzyMatches,
}

impl Paths {
    /// Takes what stands before the cursor; tells whether a list must be made. The list is made anew when it is old.
    pub fn type_token(&mut self, token: Option<Token>, now: Timestamp) -> bool {
        let begins = token.is_some() && self.token.as_ref().map(|token| token.at) != token.as_ref().map(|new| new.at);
        if token.as_ref().map(|token| token.at) != self.closed {
            self.closed = None;
        }
        self.token = token;
        let age = self.listed.map(|listed| now.duration_since(listed).unsigned_abs());
        let is_wanted = begins && !self.is_listing && age.is_none_or(|age| age >= limits::PATHS_AGE);
        self.is_listing |= is_wanted;
        is_wanted
    }

    pub fn take_list(&mut self, list: PathList, now: Timestamp) {
        self.list = list;
        self.listed = Some(now);
        self.is_listing = false;
    }

    /// Returns what is typed, while its list is open.
    pub fn token(&self) -> Option<&Token> {
        self.token.as_ref().filter(|token| self.closed != Some(token.at))
    }

    /// Returns what is to be searched for; its answer counts from here on.
    pub fn search(&mut self, number: u64) -> Option<FuzzyQuery> {
        let token = self.token()?;
        let query = token.typed.clone();
        let hits = narrow(&self.found.hits, &query, QueryKind::Paths);
        self.found = FuzzyMatches { number, count: hits.len(), hits };
        // A dot at the end may become a name; one before a slash is the directory itself.
        let is_hidden = query
            .split('/')
            .rev()
            .enumerate()
            .any(|(place, part)| part.starts_with('.') && (place == 0 || !matches!(part, "." | "..")));
        let first = if is_hidden { self.list.names.len() } else { self.list.visible };
        (first > 0).then(|| FuzzyQuery {
            number,
            kind: QueryKind::Paths,
            query,
            among: Arc::clone(&self.list.names),
            first,
        })
    }

    /// Takes an answer, unless it is to an older question.
    pub fn set_matches(&mut self, found: FuzzyMatches) {
        if found.number == self.found.number {
            self.found = found;
        }
    }

    pub fn found(&self) -> &FuzzyMatches {
        &self.found
    }

    /// Closes the list for the path that is being typed.
    pub fn close(&mut self) {
        self.closed = self.token.as_ref().map(|token| token.at);
    }
}

impl Token {
    /// Finds the path that is being typed at the end of a line's beginning; `@` counts at its start and behind a blank.
    pub fn find(row: usize, line: &str) -> Option<Self> {
        let begins =
            |at: usize| line.get(..at).is_some_and(|before| before.chars().next_back().is_none_or(char::is_whitespace));
        let token = |at: usize, typed: String| {
            let column = line.get(..at).unwrap_or_default().chars().count();
            Some(Self { at: (row, column), chars: line.get(at..).unwrap_or_default().chars().count(), typed })
        };
        let quoted = line.match_indices("@\"").map(|(at, _)| at).filter(|at| begins(*at)).last();
        if let Some(at) = quoted
            && let Some(typed) = line.get(at + 2..).and_then(unquoted)
        {
            return token(at, typed);
        }
        let word = line
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + line.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8));
        let typed = line.get(word..)?.strip_prefix('@')?;
        token(word, typed.to_owned())
    }
}

/// Returns what was typed behind an opening quote; `None` when it is closed.
fn unquoted(text: &str) -> Option<String> {
    let mut typed = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => return None,
            '\\' => typed.extend(rest.next()),
            c => typed.push(c),
        }
    }
    Some(typed)
}

/// Writes a path as it stands in a message: in quotes where a blank or a quote is in it, behind `./` where it could be
/// taken for one of these agents. The quotes of a directory stay open: what is in it is typed next.
pub fn written<'a>(path: &str, agents: impl Iterator<Item = &'a AgentId>) -> String {
    let is_name = |name: &str| name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let is_agent = is_name(MAIN) || is_name(ALL) || agents.into_iter().any(|agent| is_name(agent.as_str()));
    let path = if is_agent { format!("./{path}") } else { path.to_owned() };
    if !path.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\\')) {
        return format!("@{path}");
    }
    let end = if path.ends_with('/') { "" } else { "\"" };
    format!("@\"{}{end}", path.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &str) -> Option<(usize, usize, String)> {
        Token::find(0, line).map(|token| (token.at.1, token.chars, token.typed))
    }

    #[test]
    fn an_at_sign_begins_a_path_at_the_start_and_behind_a_blank() {
        assert_eq!(typed("@src/ma"), Some((0, 7, "src/ma".to_owned())));
        assert_eq!(typed("日本 @x"), Some((3, 2, "x".to_owned())));
        assert_eq!(typed("look at @"), Some((8, 1, String::new())));
        for line in ["", "mail me@example.org", "@src done", "a @b c", "x\u{3000}y"] {
            assert_eq!(typed(line), None, "{line}");
        }
        assert_eq!(typed("a\u{3000}@x"), Some((2, 2, "x".to_owned())));
    }

    #[test]
    fn within_quotes_a_blank_belongs_to_the_path() {
        assert_eq!(typed("@\"my fi"), Some((0, 7, "my fi".to_owned())));
        assert_eq!(typed("@\"a \\\"b"), Some((0, 7, "a \"b".to_owned())));
        assert_eq!(typed("@\"my file\" and"), None);
        assert_eq!(typed("@\"my file\" and @x"), Some((15, 2, "x".to_owned())));
    }

    #[test]
    fn a_path_is_written_so_that_it_reads_as_one_and_names_no_agent() {
        let agents = [AgentId::new("file_miner 0")];
        let write = |path: &str| written(path, agents.iter());
        assert_eq!(write("src/main.rs"), "@src/main.rs");
        assert_eq!(write("my file"), "@\"my file\"");
        assert_eq!(write("my files/"), "@\"my files/");
        assert_eq!(write("a \"b\"\\c"), "@\"a \\\"b\\\"\\\\c\"");
        assert_eq!([write("main"), write("all"), write("file_miner")], ["@./main", "@./all", "@./file_miner"]);
        assert_eq!([write("main.rs"), write("file_mine"), write("all/")], ["@main.rs", "@file_mine", "@all/"]);
        assert_eq!(write("file_miner 0"), "@\"./file_miner 0\"");
    }
}
