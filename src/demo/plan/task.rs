//! Tasks: how a listing is divided among sub-agents, and the self-contained task that each one gets.
//!
//! [`Task::text`] writes a task and [`Task::read`] reads one; a task in other words is understood as well as any text.

use crate::demo::markdown::{and_code, inline_quote, number};
use crate::demo::plan::files::{self, FileKind, KINDS};
use crate::demo::plan::requests;

/// What stands in every task before the words of the person.
const REQUEST: &str = "The request behind it:";
/// The marks of open ends.
pub const MARKS: [&str; 3] = ["TODO", "FIXME", "HACK"];

/// A part of a project to look at, and what to look for in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The part's name.
    pub label: String,
    /// A glob pattern that covers it.
    pub pattern: String,
    /// Its files; in a task that was read those to begin with.
    pub files: Vec<String>,
    /// The words to look for; perhaps none.
    pub words: Vec<String>,
}

impl Task {
    /// Makes the task to look at some files as a whole.
    pub fn whole(label: &str, files: Vec<String>) -> Self {
        Self { label: label.to_owned(), pattern: "**/*".to_owned(), files, words: Vec::new() }
    }

    /// Divides files into at most so many tasks by their kinds; at least two as long as there are files.
    pub fn divide(paths: &[String], most: usize) -> Vec<Self> {
        if paths.is_empty() || most < 2 {
            let whole = (!paths.is_empty() && most == 1).then(|| Self::whole("whole project", paths.to_vec()));
            return whole.into_iter().collect();
        }
        let of_kind = |(kind, label, _): (FileKind, &str, &str)| {
            let files: Vec<String> = paths.iter().filter(|path| FileKind::of(path) == kind).cloned().collect();
            Self { pattern: pattern(&files, kind), ..Self::whole(label, files) }
        };
        let mut tasks: Vec<Self> = KINDS.into_iter().map(of_kind).filter(|task| !task.files.is_empty()).collect();
        tasks.truncate(most);
        if tasks.len() < 2 || tasks.len() + 1 < most {
            let words = MARKS.map(str::to_owned).to_vec();
            tasks.push(Self { words, ..Self::whole("open ends", paths.to_vec()) });
        }
        tasks
    }

    /// Writes the task for a sub-agent: it says all there is to know.
    pub fn text(&self, request: &str) -> String {
        let first: Vec<String> = files::most_telling(&self.files).into_iter().take(2).collect();
        let with = |verb: &str, words: &[String]| match words {
            [] => String::new(),
            words => format!(" {verb} {}.", and_code(words)),
        };
        format!(
            "Survey the {} in the current directory: {}, pattern `{}`.{}{} Report what they are for, the main definitions, \
             counts and open ends (TODO, FIXME, HACK), each finding with path and line.\n\n{REQUEST} {}",
            self.label,
            number(self.files.len(), "file"),
            self.pattern,
            with("Begin with", &first),
            with("Look for", &self.words),
            inline_quote(request),
        )
    }

    /// Reads a task.
    pub fn read(text: &str) -> Self {
        let own = text.split(REQUEST).next().unwrap_or_default();
        let (head, look) = own.split_once("Look for ").unwrap_or((own, ""));
        let spans = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
        let (patterns, mut files): (Vec<_>, Vec<_>) = spans(head).into_iter().partition(|span| span.contains('*'));
        let mut words = spans(look.split(". ").next().unwrap_or_default());
        if patterns.is_empty() && words.is_empty() {
            files = requests::path_in(own).filter(|path| files::has_known_ending(path)).into_iter().collect();
            words = requests::telling(own);
        }
        let label = head.split_once("Survey the ").and_then(|(_, rest)| rest.split_once(" in the current directory"));
        let pattern = patterns.into_iter().next().unwrap_or_else(|| "**/*".to_owned());
        Self { pattern, words, ..Self::whole(label.map_or("task", |(label, _)| label), files) }
    }

    /// Returns the directory in which the pattern stays; empty when it stays in none.
    pub fn scope(&self) -> &str {
        let fixed = self.pattern.split('*').next().unwrap_or_default();
        fixed.rsplit_once('/').map_or("", |(directory, _)| directory)
    }
}

/// Finds a pattern that covers most of some files: a directory and an ending. Program text has a directory of its own;
/// documents and settings stand at the top as well, so all of them must be in it.
fn pattern(files: &[String], kind: FileKind) -> String {
    let most = |names: Vec<&str>, per_cent: usize| {
        let (name, count) = files::tally(names).into_iter().next().unwrap_or_default();
        if count * 100 >= files.len() * per_cent { name.to_owned() } else { String::new() }
    };
    let per_cent = if matches!(kind, FileKind::Source | FileKind::Test) { 60 } else { 100 };
    let top = most(files.iter().map(|path| files::top_of(path)).collect(), per_cent);
    let ending = most(files.iter().map(|path| files::ending_of(path).unwrap_or_default()).collect(), 60);
    let (slash, dot) = (if top.is_empty() { "" } else { "/" }, if ending.is_empty() { "" } else { "." });
    format!("{top}{slash}**/*{dot}{ending}")
}
