//! Later turns: a question after a tour. Searches for what is asked, reads where it stands, and says what is new.

use crate::demo::facts::{self, Hit};
use crate::demo::plan::digest::{self, files_read};
use crate::demo::plan::main_agent::{memory, plain_calls};
use crate::demo::plan::markdown::{and, code, fenced, finding, inline_quote, number};
use crate::demo::plan::steering::Steering;
use crate::demo::plan::talk::{Call, Talk};
use crate::demo::plan::{Step, areas, tour, wants};

/// Lines shown around a place.
const LINES: usize = 8;

/// Plans the next round; `None` when there is enough for an answer.
pub fn next(talk: &Talk, steering: &Steering) -> Option<Step> {
    let subjects = subjects(steering);
    let names = and(&subjects.iter().map(|word| code(word)).collect::<Vec<_>>());
    let mut calls = plain_calls(talk, steering);
    calls.extend(search(talk, &subjects));
    if subjects.is_empty() {
        calls.extend(unread(talk).iter().filter_map(|path| talk.offer.read(path)));
        calls.extend(talk.offer.grep(&digest::open_ends(), None));
    }
    let calls = talk.turn.missing(calls);
    if !calls.is_empty() {
        let asked = inline_quote(&steering.primary.text);
        let what = if subjects.is_empty() { "files I have not read yet".to_owned() } else { names };
        let thinking = format!("A question after my first look: {asked}. I know the listing; now I look for {what}.");
        let say = format!("{} Now I look for {what}.", memory(talk).unwrap_or_default());
        return Some(Step::Work { thinking, say: say.trim().to_owned(), calls });
    }
    let calls = talk.turn.missing(places(talk, &subjects).iter().filter_map(|path| talk.offer.read(path)).collect());
    if calls.is_empty() || !files_read(&talk.turn).is_empty() {
        return None;
    }
    let thinking =
        "The search says where it stands. The lines around tell more, so I read the files that have most of it.";
    Some(Step::Work { thinking: thinking.to_owned(), say: "I read where it stands most.".to_owned(), calls })
}

/// Writes the answer.
pub fn answer(talk: &Talk, steering: &Steering) -> String {
    let subjects = subjects(steering);
    let mut parts: Vec<String> = memory(talk).into_iter().map(|memory| format!("{memory} This is new:\n")).collect();
    if !subjects.is_empty() {
        let intent = crate::demo::words::Intent::Survey(subjects.clone());
        parts.push(format!(
            "## On {}\n\n{}",
            inline_quote(&steering.primary.text),
            wants::section(&intent, &talk.turn, &talk.offer)
        ));
    }
    let hits = hits(talk, &subjects);
    for file in files_read(&talk.turn) {
        let at = hits.iter().find(|hit| hit.path == file.path).map_or(1, |hit| hit.line);
        let around = file.lines.iter().filter(|hit| hit.line + 2 >= at).take(LINES);
        let lines: Vec<&str> = around.map(|hit| hit.text.as_str()).collect();
        let told: String = digest::telling_lines(&file).iter().map(finding).collect();
        let length = number(file.lines.len(), "line");
        let shown = fenced(&wants::fence_language(&file.path), &lines);
        parts.push(format!("### {} ({length}), from line {at}\n\n{shown}\n{told}", code(&file.path)));
    }
    let rest = unread(talk);
    if let Some(path) = rest.first() {
        parts.push(format!("Next I would read {}.\n", code(path)));
    }
    parts.join("\n")
}

/// Returns what the request is about: its telling words, or its focus.
fn subjects(steering: &Steering) -> Vec<String> {
    let mut words = tour::question_words(steering);
    words.extend(tour::focus(steering).cloned());
    words
}

fn search(talk: &Talk, subjects: &[String]) -> Option<Call> {
    if subjects.is_empty() { None } else { talk.offer.grep(&wants::expression(subjects), None) }
}

fn hits(talk: &Talk, subjects: &[String]) -> Vec<Hit> {
    facts::hits(search(talk, subjects).and_then(|call| talk.turn.result_of(&call)).unwrap_or_default())
}

/// Returns the two files that have most of it, by their lines or by their names.
fn places(talk: &Talk, subjects: &[String]) -> Vec<String> {
    let hits = hits(talk, subjects);
    let listing = talk.earlier_listing().unwrap_or_default();
    let mut paths: Vec<&String> = hits.iter().map(|hit| &hit.path).collect();
    paths.extend(subjects.iter().flat_map(|subject| areas::about(&listing, subject)));
    let mut counted: Vec<(usize, &String)> = Vec::new();
    for path in paths {
        match counted.iter_mut().find(|(_, other)| *other == path) {
            Some((count, _)) => *count += 1,
            None => counted.push((1, path)),
        }
    }
    counted.sort_by_key(|(count, path)| (std::cmp::Reverse(*count), (*path).clone()));
    counted.into_iter().take(2).map(|(_, path)| path.clone()).collect()
}

/// Returns the next two telling files that no turn has read.
fn unread(talk: &Talk) -> Vec<String> {
    let listing = talk.earlier_listing().unwrap_or_default();
    let before: Vec<String> = talk.earlier.iter().flat_map(files_read).map(|file| file.path).collect();
    let fresh = facts::by_weight(&listing).into_iter().filter(|path| !before.iter().any(|other| other == path));
    fresh.take(2).map(str::to_owned).collect()
}
