//! Areas: how a listing is divided among sub-agents, and the self-contained task that each one gets.
//!
//! [`task`] writes a task and [`Task::read`] reads one; a task in other words is understood as well as any text.

use std::collections::BTreeMap;

use crate::demo::facts::{self, Kind};
use crate::demo::plan::markdown::{and, code, inline_quote, number};
use crate::demo::words;

/// What stands in every task before the words of the person.
const BEHIND_IT: &str = "The request behind it:";
/// The marks of open ends.
pub const MARKS: &[&str] = &["TODO", "FIXME", "HACK"];

/// Is a part of a project that one sub-agent looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area {
    /// Its name, for people.
    pub label: String,
    /// A glob pattern that covers it.
    pub pattern: String,
    /// Its files.
    pub files: Vec<String>,
    /// Words to look for in it.
    pub words: Vec<String>,
}

/// Is a task as a sub-agent understands it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The area's name.
    pub label: String,
    /// What to list.
    pub pattern: String,
    /// The files to begin with; perhaps none.
    pub first: Vec<String>,
    /// The words to look for; perhaps none.
    pub words: Vec<String>,
}

/// Divides a listing into at most so many areas by the kinds of its files; at least two as long as there are files.
pub fn divide(paths: &[String], most: usize) -> Vec<Area> {
    if paths.is_empty() || most == 0 {
        return Vec::new();
    }
    let area = |label: &str, files: Vec<String>| Area {
        label: label.to_owned(),
        // Sources have a place of their own; documents and settings stand at the top as well.
        pattern: pattern(&files, if ["sources", "tests"].contains(&label) { 60 } else { 100 }),
        files,
        words: Vec::new(),
    };
    if most == 1 {
        return vec![Area { pattern: "**/*".to_owned(), ..area("whole project", paths.to_vec()) }];
    }
    let kinds = [
        (Kind::Source, "sources"),
        (Kind::Test, "tests"),
        (Kind::Doc, "documents"),
        (Kind::Config, "settings"),
        (Kind::Other, "other files"),
    ];
    let of_kind = |kind| paths.iter().filter(|path| facts::kind_of(path) == kind).cloned().collect::<Vec<_>>();
    let mut areas: Vec<Area> =
        kinds.iter().map(|(kind, label)| area(label, of_kind(*kind))).filter(|area| !area.files.is_empty()).collect();
    areas.truncate(most);
    if areas.len() < 2 || areas.len() < most.saturating_sub(1) {
        let marks = MARKS.iter().map(|mark| (*mark).to_owned()).collect();
        areas.push(Area { pattern: "**/*".to_owned(), words: marks, ..area("open ends", paths.to_vec()) });
    }
    areas
}

/// Returns the files that have to do with a subject, by their paths.
pub fn about<'a>(paths: &'a [String], subject: &str) -> Vec<&'a String> {
    let subject = subject.trim_end_matches('/').to_lowercase();
    let words: Vec<&str> = subject.split_whitespace().collect();
    let label = |path: &str| match facts::kind_of(path) {
        Kind::Source => "sources code",
        Kind::Test => "tests",
        Kind::Doc => "documents documentation docs",
        Kind::Config => "settings configuration manifests",
        Kind::Other => "",
    };
    let fits = |path: &&String| {
        let lower = path.to_lowercase();
        let kind = label(path);
        words.iter().any(|word| {
            lower.contains(word) || kind.split(' ').any(|name| name == *word || name.trim_end_matches('s') == *word)
        })
    };
    paths.iter().filter(fits).collect()
}

/// Writes the task of a sub-agent: it says all there is to know.
pub fn task(area: &Area, request: &str) -> String {
    let first: Vec<String> = facts::by_weight(&area.files).into_iter().take(2).map(code).collect();
    let begin = if first.is_empty() { String::new() } else { format!(" Begin with {}.", and(&first)) };
    let words: Vec<String> = area.words.iter().map(|word| code(word)).collect();
    let look = if words.is_empty() { String::new() } else { format!(" Look for {}.", and(&words)) };
    format!(
        "Survey the {} in the current directory: {}, pattern {}.{begin}{look} Report what they are for, the main \
         definitions, counts and open ends (TODO, FIXME, HACK), each finding with path and line.\n\n{BEHIND_IT} {}",
        area.label,
        number(area.files.len(), "file"),
        code(&area.pattern),
        inline_quote(request),
    )
}

/// Finds the area's name in a task as [`task`] writes it.
fn label_of(head: &str) -> Option<&str> {
    let (_, behind) = head.split_once("Survey the ")?;
    behind.split_once(" in the current directory").map(|(label, _)| label)
}

impl Task {
    /// Reads a task.
    pub fn read(text: &str) -> Self {
        let own = text.split(BEHIND_IT).next().unwrap_or_default();
        let (head, look) = own.split_once("Look for ").unwrap_or((own, ""));
        let spans = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
        let named = spans(head);
        let pattern = named.iter().find(|span| span.contains('*')).cloned();
        let mut words = spans(look.split(". ").next().unwrap_or_default());
        let mut first: Vec<String> = named.into_iter().filter(|span| !span.contains('*')).collect();
        if pattern.is_none() && words.is_empty() {
            first = words::path_in(own).filter(|path| facts::has_known_ending(path)).into_iter().collect();
            words = words::telling(own);
        }
        Self {
            label: label_of(head).unwrap_or("task").to_owned(),
            pattern: pattern.unwrap_or_else(|| "**/*".to_owned()),
            first,
            words,
        }
    }

    /// Returns the directory in which the pattern stays, if it stays in one.
    pub fn scope(&self) -> Option<&str> {
        let fixed = self.pattern.split('*').next().unwrap_or_default();
        fixed.rsplit_once('/').map(|(directory, _)| directory).filter(|directory| !directory.is_empty())
    }
}

/// Finds a pattern that covers most of some files: the directory that holds so many per cent, and the ending of most.
fn pattern(files: &[String], per_cent: usize) -> String {
    let most = |counts: BTreeMap<&str, usize>, per_cent: usize| {
        let best = counts.into_iter().max_by_key(|(name, count)| (*count, std::cmp::Reverse(*name)));
        best.filter(|(_, count)| count * 100 >= files.len() * per_cent).map(|(name, _)| name.to_owned())
    };
    let mut tops: BTreeMap<&str, usize> = BTreeMap::new();
    let mut endings: BTreeMap<&str, usize> = BTreeMap::new();
    for path in files {
        *tops.entry(facts::top_of(path)).or_default() += 1;
        *endings.entry(facts::name_of(path).rsplit_once('.').map_or("", |(_, ending)| ending)).or_default() += 1;
    }
    let top = most(tops, per_cent).filter(|top| top != ".").map_or(String::new(), |top| format!("{top}/"));
    let ending =
        most(endings, 60).filter(|ending| !ending.is_empty()).map_or(String::new(), |ending| format!(".{ending}"));
    format!("{top}**/*{ending}")
}
