//! The tour: a look at a whole project. List it, delegate its parts in one batch, read the centre, then report.
//!
//! Without sub-agents the same is done with the own tools. Focus, skipping and the number of agents change what comes next.

use crate::demo::facts;
use crate::demo::plan::areas::{self, Area};
use crate::demo::plan::main_agent::plain_calls;
use crate::demo::plan::markdown::{and, code, inline_quote, number};
use crate::demo::plan::steering::Steering;
use crate::demo::plan::talk::{Call, Talk, Turn};
use crate::demo::plan::{Step, digest, wants};
use crate::demo::words::Intent;

/// The persona that looks at files.
const MINER: &str = "file_miner";
/// Areas of a tour, unless the person says another number.
const AREAS: usize = 3;

/// Plans the next round of a tour; `None` when there is nothing left to look at.
pub fn next(talk: &Talk, steering: &Steering) -> Option<Step> {
    list(talk, steering).or_else(|| look(talk, steering)).or_else(|| look_closer(talk, steering))
}

/// Is what the tour's listing found.
pub struct Listing {
    /// The files that it shows.
    pub files: Vec<String>,
    /// How many there are as far as it knows.
    pub total: usize,
    /// Whether there may be more than that.
    pub cut: bool,
}

/// Returns what the tour's listing found.
pub fn listing(talk: &Talk) -> Listing {
    let result = talk.offer.glob("**/*").and_then(|call| talk.turn.result_of(&call)).unwrap_or_default();
    let files = facts::paths(result);
    let known = facts::total_paths(result);
    Listing { total: known.unwrap_or(files.len()), cut: known.is_none() && facts::is_cut(result), files }
}

/// Returns the files that the tour is about after everything said so far: within the focus, without what is skipped.
pub fn in_view(talk: &Talk, steering: &Steering) -> Vec<String> {
    let files = listing(talk).files;
    let skipped: Vec<&String> = subjects(steering, |intent| match intent {
        Intent::Skip(subject) => Some(subject),
        _ => None,
    });
    let left: Vec<String> = files
        .iter()
        .filter(|path| !skipped.iter().any(|subject| !areas::about(std::slice::from_ref(*path), subject).is_empty()))
        .cloned()
        .collect();
    let focused: Vec<String> =
        focus(steering).map_or(Vec::new(), |subject| areas::about(&left, subject).into_iter().cloned().collect());
    if focused.is_empty() { left } else { focused }
}

fn list(talk: &Talk, steering: &Steering) -> Option<Step> {
    let calls = talk.turn.missing(talk.offer.glob("**/*").into_iter().collect());
    if calls.is_empty() {
        return None;
    }
    let thinking = format!(
        "The request is {}. Before I say anything about these files I have to see them. One listing of the current \
         directory is cheap; it tells me what kinds of files there are and where they lie. Then I can divide the work.",
        inline_quote(&steering.primary.text),
    );
    Some(Step::Work { thinking, say: "I look at what is here first.".to_owned(), calls })
}

/// Delegates, or looks itself where it cannot.
fn look(talk: &Talk, steering: &Steering) -> Option<Step> {
    let files = in_view(talk, steering);
    let first = first_delegation(&talk.turn);
    let refused = first.is_some() && talk.turn.results("agent").next().is_none();
    let mut delegated: Vec<Call> = match first {
        None => areas(&files, steering).iter().filter_map(|area| delegate(talk, steering, area)).collect(),
        Some(round) if !refused => late_focus(talk, steering, round),
        Some(_) => Vec::new(),
    };
    delegated = talk.turn.missing(delegated);
    let own = first.is_none() && delegated.is_empty() || refused;
    let mut calls = plain_calls(talk, steering);
    if own {
        calls.extend(look_myself(talk, &files));
    } else {
        calls.extend(delegated.clone());
    }
    calls.extend(question(talk, steering));
    let calls = talk.turn.missing(calls);
    if calls.is_empty() {
        return None;
    }
    let seen = format!("The listing shows {}: {}.", number(files.len(), "file"), kinds(&files));
    let (thinking, say) = match (delegated.len(), first) {
        (0, _) => (
            format!("{seen} I look at the most telling files myself."),
            "I read the most telling files and search for definitions and open ends.".to_owned(),
        ),
        (_, Some(_)) => (
            "The agents' reports are in, and the focus has moved since. Another agent can look there.".to_owned(),
            "I send one more agent after the new focus.".to_owned(),
        ),
        (count, None) => (
            format!(
                "{seen} The parts do not depend on each other, so {} can work at the same time. They see nothing of this \
                 conversation: each needs a task that stands by itself, with its pattern and the files to begin with.",
                number(count, "agent"),
            ),
            format!(
                "There are {} here. I send {} into them at the same time.",
                number(files.len(), "file"),
                number(count, "agent")
            ),
        ),
    };
    Some(Step::Work { thinking, say, calls })
}

/// Reads the file at the centre, so that the report can show it.
fn look_closer(talk: &Talk, steering: &Steering) -> Option<Step> {
    first_delegation(&talk.turn)?;
    let files = in_view(talk, steering);
    let centre = facts::by_weight(&files).into_iter().next()?.to_owned();
    let calls = talk.turn.missing(talk.offer.read(&centre).into_iter().collect());
    if calls.is_empty() || talk.turn.results("read").next().is_some() {
        return None;
    }
    let thinking = format!(
        "The reports are in. Reports are data, and the report I write should show a real line or two: {} is the centre, I \
         read it myself.",
        code(&centre),
    );
    Some(Step::Work {
        thinking,
        say: format!("The agents are back. A look at {} of my own, then I report.", code(&centre)),
        calls,
    })
}

fn areas(files: &[String], steering: &Steering) -> Vec<Area> {
    let wanted = steering.intents().filter_map(|(_, intent)| match intent {
        Intent::Agents(count) => Some(*count),
        _ => None,
    });
    let mut areas = areas::divide(files, wanted.last().unwrap_or(AREAS));
    let words = question_words(steering);
    for area in &mut areas {
        area.words.extend(focus(steering).cloned());
        area.words.extend(words.iter().cloned());
    }
    areas
}

fn delegate(talk: &Talk, steering: &Steering, area: &Area) -> Option<Call> {
    talk.offer.agent(MINER, &areas::task(area, &steering.primary.text))
}

/// Returns the delegations for a focus that came when the first agents were on their way already.
fn late_focus(talk: &Talk, steering: &Steering, delegated: usize) -> Vec<Call> {
    let files = listing(talk).files;
    let late = steering.intents().filter_map(|(after, intent)| match intent {
        Intent::Focus(subject) if after > delegated => Some(subject),
        _ => None,
    });
    let area = |subject: &String| {
        let about: Vec<String> = areas::about(&files, subject).into_iter().cloned().collect();
        let files = if about.is_empty() { files.clone() } else { about };
        let mut area = areas::divide(&files, 1).pop()?;
        area.label.clone_from(subject);
        area.words.push(subject.clone());
        delegate(talk, steering, &area)
    };
    late.filter_map(area).collect()
}

fn look_myself(talk: &Talk, files: &[String]) -> Vec<Call> {
    let chosen: Vec<&str> = facts::by_weight(files).into_iter().take(2).collect();
    let mut calls: Vec<Call> = chosen.iter().filter_map(|path| talk.offer.read(path)).collect();
    if !files.is_empty() || !talk.offer.has("glob") {
        calls.extend(talk.offer.grep(digest::definitions(facts::Kind::Source), None));
        calls.extend(talk.offer.grep(&digest::open_ends(), None));
    }
    calls
}

/// Searches for the telling words of the request itself.
fn question(talk: &Talk, steering: &Steering) -> Option<Call> {
    let words = question_words(steering);
    let files = listing(talk).files;
    if words.is_empty() || files.is_empty() { None } else { talk.offer.grep(&wants::expression(&words), None) }
}

/// Returns the telling words of the request.
pub fn question_words(steering: &Steering) -> Vec<String> {
    let words = steering.primary.intents.iter().filter_map(|intent| match intent {
        Intent::Survey(words) => Some(words.clone()),
        _ => None,
    });
    words.flatten().collect()
}

/// Returns the newest focus, when there is one.
pub fn focus(steering: &Steering) -> Option<&String> {
    subjects(steering, |intent| match intent {
        Intent::Focus(subject) => Some(subject),
        _ => None,
    })
    .pop()
}

fn subjects(steering: &Steering, pick: fn(&Intent) -> Option<&String>) -> Vec<&String> {
    steering.intents().filter_map(|(_, intent)| pick(intent)).collect()
}

/// Returns the number of the first round with a delegation.
fn first_delegation(turn: &Turn) -> Option<usize> {
    turn.rounds.iter().position(|round| round.calls.iter().any(|done| done.call.name == "agent"))
}

fn kinds(files: &[String]) -> String {
    let areas = areas::divide(files, 5);
    let kinds: Vec<String> = areas
        .iter()
        .filter(|area| area.label != "open ends")
        .map(|area| number(area.files.len(), area.label.strip_suffix('s').unwrap_or(&area.label)))
        .collect();
    and(&kinds)
}
