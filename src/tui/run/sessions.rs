//! The saved sessions as rows of a list to choose from. Reads every journal, so it takes a moment.

use std::path::Path;
use std::{io, iter};

use jiff::tz::TimeZone;

use crate::session::journal::{Outline, Record, SessionFiles};
use crate::session::replay::{Moment, moments};
use crate::summary::{count, tokens};
use crate::tui::switch::Choice;
use crate::tui::timeline::{Step, Steps};

/// Most sessions that are listed, the newest.
const MOST: usize = 500;

/// Lists the sessions below the user's state directory, the newest first.
///
/// # Errors
/// A sentence, when the directory cannot be read.
pub fn list(state: Option<&Path>) -> Result<Vec<Choice>, String> {
    let state = state.ok_or("no session is saved: there is no directory for them")?;
    let files = SessionFiles::within(state).list();
    let files = files.map_err(|error| format!("the sessions cannot be listed: {error}"))?;
    // One that cannot be read is told of by `steersman sessions`.
    Ok(files.iter().take(MOST).filter_map(|file| Outline::of(file).ok()).map(|outline| row(&outline)).collect())
}

/// Reads what a session told its screen.
///
/// # Errors
/// A sentence, when the session cannot be read.
pub fn steps(state: Option<&Path>, name: &str) -> Result<Steps, String> {
    let state = state.ok_or("no session is saved: there is no directory for them")?;
    let records = SessionFiles::within(state).find(name)?.records();
    records.and_then(steps_of).map_err(|error| format!("the session cannot be read: {error}"))
}

/// Returns what a screen was told, from the records of a journal.
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
    let steps = moments(whole).map(|Moment { seq, at, post }| Step { seq, at, post }).collect();
    failed.map(|()| steps)
}

fn row(outline: &Outline) -> Choice {
    let Outline { id, title, directory, branch, started, turns, tokens: used, state, parent, preview, .. } = outline;
    let when = started.map(|at| at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string());
    let place = Path::new(directory).file_name().map(|name| name.to_string_lossy().into_owned());
    let branch = branch.as_ref().map(|branch| format!("({branch})"));
    let parent = parent.as_ref().map(|parent| format!("branch of {}", parent.as_str().get(..8).unwrap_or_default()));
    let turns = count(usize::try_from(*turns).unwrap_or(usize::MAX), "turn");
    let place: Vec<String> = place.into_iter().chain(branch).collect();
    let facts = [
        when.unwrap_or_default(),
        place.join(" "),
        state.name().to_owned(),
        turns,
        format!("{} tokens", tokens(*used)),
        parent.unwrap_or_default(),
    ];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    let said = preview.said.iter().map(|text| format!("› {text}"));
    let answer = (!preview.answer.is_empty()).then(|| format!("The last answer:\n{}", preview.answer));
    // The newest answer first: it says best how far the session came.
    let preview: Vec<String> = answer.into_iter().chain(said).collect();
    Choice {
        id: id.to_string(),
        directory: directory.clone(),
        title: title.lines().next().unwrap_or_default().to_owned(),
        facts: facts.join(" · "),
        preview: preview.join("\n"),
    }
}
