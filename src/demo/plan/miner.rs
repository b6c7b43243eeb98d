//! The sub-agent `file_miner`: lists its area, reads the telling files, searches for definitions and open ends, reports.

use std::fmt::Write as _;

use crate::demo::facts::{self, Hit, Kind};
use crate::demo::plan::areas::Task;
use crate::demo::plan::digest::{self, ReadFile, files_read, telling_lines};
use crate::demo::plan::markdown::{and, code, finding, number};
use crate::demo::plan::steering::Steering;
use crate::demo::plan::talk::{Call, Talk};
use crate::demo::plan::{Step, wants};

/// Findings in a report.
const FINDINGS: usize = 10;
/// Open ends in a report.
const MARKED: usize = 4;

/// Plans the next step of a task.
pub fn step(talk: &Talk, steering: &Steering) -> Step {
    let work = Work::of(talk, Task::read(&steering.primary.text));
    if !steering.stop {
        for stage in [Work::list, Work::read, Work::search, Work::look_closer] {
            let (thinking, calls) = stage(&work);
            let calls = talk.turn.missing(calls);
            if !calls.is_empty() {
                return Step::Work { thinking, say: String::new(), calls };
            }
        }
    }
    let thinking =
        format!("I have seen enough of the {}: now the report, with places only from results.", work.task.label);
    Step::Answer { thinking, text: work.report() }
}

struct Work<'a> {
    talk: &'a Talk,
    task: Task,
    files: Vec<String>,
    cut: bool,
}

impl<'a> Work<'a> {
    fn of(talk: &'a Talk, given: Task) -> Self {
        let listing = talk.offer.glob(&given.pattern).and_then(|call| talk.turn.result_of(&call)).unwrap_or_default();
        Self { talk, files: facts::paths(listing), cut: facts::is_cut(listing), task: given }
    }

    fn list(&self) -> (String, Vec<Call>) {
        let thinking = format!("My task is about the {}. First I list {}.", self.task.label, code(&self.task.pattern));
        (thinking, self.talk.offer.glob(&self.task.pattern).into_iter().collect())
    }

    fn read(&self) -> (String, Vec<Call>) {
        let named = self.task.first.iter().map(String::as_str);
        let mut chosen: Vec<&str> =
            named.filter(|path| self.files.is_empty() || self.files.iter().any(|file| file == path)).collect();
        for path in facts::by_weight(&self.files) {
            if chosen.len() < 2 && !chosen.contains(&path) {
                chosen.push(path);
            }
        }
        chosen.truncate(2);
        let shown: Vec<String> = chosen.iter().map(|path| code(path)).collect();
        let thinking = format!(
            "{} here. The most telling: {}. I read them together.",
            number(self.files.len(), "file"),
            and(&shown)
        );
        (thinking, chosen.iter().filter_map(|path| self.talk.offer.read(path)).collect())
    }

    fn search(&self) -> (String, Vec<Call>) {
        let mut calls = Vec::new();
        if !self.task.words.is_empty() {
            calls.extend(self.talk.offer.grep(&wants::expression(&self.task.words), self.task.scope()));
        }
        calls.extend(self.definitions());
        calls.extend(self.talk.offer.grep(&digest::open_ends(), self.task.scope()));
        (
            "Now the definitions and the open ends, in one batch; the places tell where the weight lies.".to_owned(),
            calls,
        )
    }

    fn look_closer(&self) -> (String, Vec<Call>) {
        let hits = self.definition_hits();
        let count = |path: &str| hits.iter().filter(|hit| hit.path == path).count();
        let mut paths: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).filter(|path| self.is_ours(path)).collect();
        paths.dedup();
        let densest = paths.into_iter().max_by_key(|path| (count(path), std::cmp::Reverse(*path)));
        let thinking =
            format!("{} defines the most; a look at it completes the picture.", code(densest.unwrap_or("nothing")));
        (thinking, densest.and_then(|path| self.talk.offer.read(path)).into_iter().collect())
    }

    fn definitions(&self) -> Option<Call> {
        let kinds: Vec<Kind> = self.files.iter().map(|path| facts::kind_of(path)).collect();
        let count = |kind: Kind| kinds.iter().filter(|other| **other == kind).count();
        let kind = [Kind::Source, Kind::Test, Kind::Doc, Kind::Config].into_iter().max_by_key(|kind| count(*kind));
        let kind = kind.filter(|kind| count(*kind) > 0).unwrap_or(Kind::Source);
        self.talk.offer.grep(digest::definitions(kind), self.task.scope())
    }

    fn definition_hits(&self) -> Vec<Hit> {
        self.searched(self.definitions()).hits
    }

    fn is_ours(&self, path: &str) -> bool {
        self.files.is_empty() || self.files.iter().any(|file| file == path)
    }

    fn searched(&self, call: Option<Call>) -> Searched {
        let result = call.and_then(|call| self.talk.turn.result_of(&call)).unwrap_or_default();
        let hits = facts::hits(result).into_iter().filter(|hit| self.is_ours(&hit.path)).collect();
        Searched { hits, cut: facts::is_cut(result) }
    }

    fn report(&self) -> String {
        let offer = &self.talk.offer;
        let read = files_read(&self.talk.turn);
        let wanted = self.searched(offer.grep(&wants::expression(&self.task.words), self.task.scope()));
        let marks = self.searched(offer.grep(&digest::open_ends(), self.task.scope()));
        let defined = self.searched(self.definitions());
        let mut findings: Vec<Hit> = read.iter().flat_map(telling_lines).collect();
        findings.extend(wanted.hits.iter().take(4).cloned());
        findings.extend(defined.broad().into_iter().cloned());
        let mut shown: Vec<&Hit> = Vec::new();
        for hit in findings.iter().filter(|hit| !digest::is_open_end(hit)) {
            let known = shown.iter().any(|other| other.path == hit.path && other.line == hit.line);
            if shown.len() < FINDINGS && !known {
                shown.push(hit);
            }
        }
        let mut report = self.opening(&read);
        report.extend(shown.into_iter().chain(marks.hits.iter().take(MARKED)).map(finding));
        let mut sums = vec![defined.count("definition"), marks.count("open end")];
        if !self.task.words.is_empty() {
            let words: Vec<String> = self.task.words.iter().map(|word| code(word)).collect();
            sums.push(format!("{} with {}", wanted.count("line"), and(&words)));
        }
        let _ = write!(report, "\nCounted: {}.", and(&sums));
        let failures = self.talk.turn.done().filter(|done| facts::failed(&done.result)).count();
        if failures > 0 {
            let _ = write!(report, " {} failed.", number(failures, "call"));
        }
        if self.files.is_empty() {
            report.push_str(" I found no file for this task.");
        }
        report
    }

    fn opening(&self, read: &[ReadFile]) -> String {
        let least = if self.cut { "at least " } else { "" };
        let files = number(self.files.len(), "file");
        let mut text = format!("**{}**: {least}{files} under {}.", self.task.label, code(&self.task.pattern));
        let names: Vec<String> = read.iter().map(|file| format!("{} ({})", code(&file.path), lines(file))).collect();
        if !names.is_empty() {
            let _ = write!(text, " Read: {}.", and(&names));
        }
        text.push_str("\n\n");
        text
    }
}

/// Is what a search found within the task's files.
struct Searched {
    hits: Vec<Hit>,
    cut: bool,
}

impl Searched {
    fn count(&self, noun: &str) -> String {
        format!("{}{}", if self.cut { "at least " } else { "" }, number(self.hits.len(), noun))
    }

    /// Returns the hits, the first of each file in front: a survey shows breadth.
    fn broad(&self) -> Vec<&Hit> {
        let (mut first, mut rest): (Vec<&Hit>, Vec<&Hit>) = (Vec::new(), Vec::new());
        for hit in &self.hits {
            let known = first.last().is_some_and(|before| before.path == hit.path);
            if known { rest.push(hit) } else { first.push(hit) }
        }
        first.extend(rest);
        first
    }
}

/// Says how long a file is, as far as it was read.
fn lines(file: &ReadFile) -> String {
    format!("{}{}", if file.cut { "at least " } else { "" }, number(file.lines.len(), "line"))
}
