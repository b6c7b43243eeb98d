//! The saved sessions, and the places in them where words stand, as rows of a list to choose from; a recorded session to be
//! shown. Reads every journal, so it takes a moment.

use std::collections::HashMap;
use std::path::Path;
use std::{io, iter};

use jiff::tz::TimeZone;

use crate::choices::ListChoice;
use crate::switch::{EventPlace, SessionPlace};
use crate::timeline::{Recorded, RecordedContext, RecordedSource, Step, Steps};
use steersman_base::summary::{ComparedTable, count, tokens};
use steersman_base::target::MAIN;
use steersman_exchange::compare::compare;
use steersman_session::journal::{Header, Outline, Record, SessionFiles, SessionId, SessionIndex};
use steersman_session::replay::{Moment, moments};
use steersman_session::search::{self, Hit, SearchQuery};

/// Most places that a search lists.
const MOST_HITS: usize = 500;
/// Most calls, files and lines of an answer in a comparison.
const MOST_COMPARED: usize = 1_000;

/// Lists the sessions below the user's state directory, the newest first.
///
/// # Errors
/// A sentence, when the directory cannot be read.
pub fn list(state: Option<&Path>) -> Result<Vec<ListChoice>, String> {
    let outlines = saved(state)?.outlines().map_err(|error| unlisted(&error))?;
    // One that cannot be read is named by `steersman sessions`.
    let outlines = outlines.into_iter().filter_map(|(_, outline)| outline.ok()).filter(Outline::is_listed);
    Ok(outlines.map(|outline| row(&outline)).collect())
}

/// Searches the sessions below the user's state directory, the newest first, for texts that hold these words.
///
/// # Errors
/// A sentence, when there is nothing to search for, or the directory cannot be read.
pub fn search(state: Option<&Path>, words: &str) -> Result<Vec<ListChoice>, String> {
    let sought = SearchQuery::new(&[words.to_owned()])?;
    // In a transcript a capital letter would count.
    let word = words.split_whitespace().next().unwrap_or_default().to_lowercase();
    let files = saved(state)?;
    let all = files.list().map_err(|error| unlisted(&error))?;
    let index = SessionIndex::load(&files);
    // One that cannot be read is named by `steersman search`.
    let hits = search::search(&all, &sought, MOST_HITS).hits;
    let mut places: HashMap<SessionId, String> = HashMap::new();
    let rows = hits.into_iter().take(MOST_HITS).map(|hit| {
        let place = places.entry(hit.session.clone()).or_insert_with(|| {
            let file = all.iter().find(|file| file.session == hit.session);
            file.and_then(|file| index.directory(file)).map(|directory| name_of(&directory)).unwrap_or_default()
        });
        hit_row(hit, place, &word)
    });
    Ok(rows.collect())
}

fn saved(state: Option<&Path>) -> Result<SessionFiles, String> {
    let state = state.ok_or("no session is saved: there is no directory for them")?;
    Ok(SessionFiles::within(state))
}

fn unlisted(error: &io::Error) -> String {
    format!("cannot list the sessions: {error}")
}

fn hit_row(hit: Hit, directory: &str, word: &str) -> ListChoice {
    let Hit { session, agent, at, seq, kind, excerpt, .. } = hit;
    let when = at.map(|at| at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string());
    let name = if agent.is_main() { MAIN } else { agent.as_str() };
    let details = [
        when.unwrap_or_default(),
        directory.to_owned(),
        name.to_owned(),
        kind.replace('_', " "),
        seq.map(|seq| format!("#{seq}")).unwrap_or_default(),
    ];
    let details: Vec<String> = details.into_iter().filter(|fact| !fact.is_empty()).collect();
    ListChoice {
        id: session.to_string(),
        title: excerpt.clone(),
        details: details.join(" · "),
        preview: excerpt,
        place: EventPlace { seq, agent: Some(agent), word: word.to_owned() },
        ..ListChoice::default()
    }
}

/// Reads what a session sent to its screen, to be shown at a place; `own` is the session that runs.
///
/// # Errors
/// A sentence, when the session cannot be read.
pub fn recorded(state: Option<&Path>, own: Option<&str>, wanted: SessionPlace) -> Result<Recorded, String> {
    let SessionPlace { session, place } = wanted;
    let file = saved(state)?.find(&session)?;
    let source = if own == Some(file.session.as_str()) {
        RecordedSource::Own
    } else {
        RecordedSource::Other(file.header().map(|header| facts_of(&header)).unwrap_or_default())
    };
    let steps = file.records().and_then(steps_of).map_err(|error| format!("cannot read the session: {error}"))?;
    Ok(Recorded { steps, source, place })
}

/// Compares two sessions.
///
/// # Errors
/// A sentence, when one of them cannot be read.
pub fn compared(state: Option<&Path>, names: &[String; 2]) -> Result<ComparedTable, String> {
    let files = saved(state)?;
    let read = |name: &String| {
        let file = files.find(name)?;
        let records = file.read().map_err(|error| format!("cannot read session {name}: {error}"))?.records;
        Ok::<_, String>((file.session.to_string(), records))
    };
    let [first, second] = names;
    let ((first, one), (second, other)) = (read(first)?, read(second)?);
    Ok(compare(&one, &other).table([first, second], MOST_COMPARED))
}

/// Returns what a screen shows of a session beside its events.
pub fn facts_of(header: &Header) -> RecordedContext {
    RecordedContext {
        place: name_of(&header.directory),
        branch: header.branch.clone().unwrap_or_default(),
        model: header.model.clone().unwrap_or_default(),
    }
}

fn name_of(directory: &str) -> String {
    Path::new(directory).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns what a screen got, from the records of a journal.
///
/// # Errors
/// What stops the records.
pub fn steps_of(mut records: impl Iterator<Item = io::Result<Record>>) -> io::Result<Steps> {
    let mut failed = Ok(());
    let whole = iter::from_fn(|| match records.next()? {
        Ok(record) => Some(record),
        Err(error) => {
            failed = Err(error);
            None
        }
    });
    let steps = moments(whole).map(|Moment { seq, at, update }| Step { seq, at, update }).collect();
    failed.map(|()| steps)
}

fn row(outline: &Outline) -> ListChoice {
    let Outline { id, title, directory, branch, started, turns, tokens: used, state, parent, preview, .. } = outline;
    let when = started.map(|at| at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string());
    let branch = branch.as_ref().map(|branch| format!("({branch})"));
    let parent = parent.as_ref().map(|parent| format!("branch of {}", parent.as_str().get(..8).unwrap_or_default()));
    let turns = count(usize::try_from(*turns).unwrap_or(usize::MAX), "turn");
    let place: Vec<String> = [name_of(directory)].into_iter().chain(branch).filter(|part| !part.is_empty()).collect();
    let details = [
        when.unwrap_or_default(),
        place.join(" "),
        state.name().to_owned(),
        turns,
        format!("{} tokens", tokens(*used)),
        parent.unwrap_or_default(),
    ];
    let details: Vec<String> = details.into_iter().filter(|fact| !fact.is_empty()).collect();
    let said = preview.texts.iter().map(|text| format!("› {text}"));
    let answer = (!preview.answer.is_empty()).then(|| format!("The last answer:\n{}", preview.answer));
    // The newest answer first: it says best how far the session came.
    let preview: Vec<String> = answer.into_iter().chain(said).collect();
    ListChoice {
        id: id.to_string(),
        directory: directory.clone(),
        title: title.lines().next().unwrap_or_default().to_owned(),
        details: details.join(" · "),
        preview: preview.join("\n"),
        ..ListChoice::default()
    }
}
