//! Tasks: how a listing is divided among sub-agents, and the self-contained task that each one gets.
//!
//! [`Task::text`] writes a task and [`Task::read`] reads it again; a task in other words is a request like any other.

use crate::program::demo::markdown::{and_code, inline_quote, number};
use crate::program::demo::plan::files;

/// What stands in every task before the words of the person.
const REQUEST: &str = "The request behind it:";
pub(super) const MARKS: [&str; 3] = ["TODO", "FIXME", "HACK"];

/// A part of a project to look at, and what to look for in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Task {
    /// The part's name.
    pub label: String,
    /// A glob pattern that covers it.
    pub pattern: String,
    /// The words to look for; perhaps none.
    pub words: Vec<String>,
}

impl Task {
    /// Makes the task to look at everything.
    pub(super) fn whole(label: &str, words: Vec<String>) -> Self {
        Self { label: label.to_owned(), pattern: "**/*".to_owned(), words }
    }

    /// Divides files into at most so many tasks by their directories; at least two where that many may be.
    pub(super) fn divide(paths: &[String], most: usize) -> Vec<Self> {
        let part = |(top, _): (&str, usize)| match top {
            "" => Self { label: "the top level".to_owned(), pattern: "*".to_owned(), words: Vec::new() },
            top => Self { label: format!("{top}/"), pattern: format!("{top}/**/*"), words: Vec::new() },
        };
        let mut tasks: Vec<Self> = match most {
            1 => vec![Self::whole("the whole project", Vec::new())],
            _ => files::tally(paths.iter().map(|path| files::top_of(path))).into_iter().map(part).collect(),
        };
        tasks.truncate(most);
        if tasks.len() == 1 && most > 1 {
            tasks.push(Self::whole("the open TODOs", MARKS.map(str::to_owned).to_vec()));
        }
        tasks
    }

    /// Writes the task for a sub-agent that has some files to look at: it says all there is to know.
    pub(super) fn text(&self, paths: &[String], request: &str) -> String {
        let own: Vec<String> = paths.iter().filter(|path| self.covers(path)).cloned().collect();
        let first: Vec<String> = files::by_importance(&own).into_iter().take(2).collect();
        let with = |verb: &str, words: &[String]| match words {
            [] => String::new(),
            words => format!(" {verb} {}.", and_code(words)),
        };
        format!(
            "Survey {} in the current directory: {}, pattern `{}`.{}{} Report what they are for, the main definitions, \
             counts and open TODOs (TODO, FIXME, HACK), each finding with path and line.\n\n{REQUEST} {}",
            self.label,
            number(own.len(), "file"),
            self.pattern,
            with("Begin with", &first),
            with("Look for", &self.words),
            inline_quote(request),
        )
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let (own, _) = text.split_once(REQUEST)?;
        let (label, rest) = own.strip_prefix("Survey ")?.split_once(" in the current directory")?;
        let (head, look) = rest.split_once("Look for ").unwrap_or((rest, ""));
        let spans = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
        let words = spans(look.split(". ").next().unwrap_or_default());
        Some(Self { label: label.to_owned(), pattern: spans(head).into_iter().next()?, words })
    }

    /// Returns the directory in which the pattern stays; empty when it stays in none.
    pub(super) fn scope(&self) -> &str {
        self.pattern.split_once("/**").map_or("", |(directory, _)| directory)
    }

    fn covers(&self, path: &str) -> bool {
        self.pattern == "**/*" || files::top_of(path) == self.scope()
    }
}
