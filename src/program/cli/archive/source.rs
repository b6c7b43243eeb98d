//! The session that a command is about: one that is saved, by its ID, or a journal that lies anywhere.

use std::fs::File;
use std::io;
use std::path::Path;

use jiff::tz::TimeZone;
use ratatui::layout::Size;

use steersman_base::limits;
use steersman_base::regular_file::{self, Links};
use steersman_base::text::visible_line;
use steersman_session::journal::{Header, Reading, Record, Records, SessionFiles};
use steersman_tui::replay::Replayed;
use steersman_tui::run::sessions::facts_of;

/// Reads a session by its ID or the path of its journal.
///
/// # Errors
/// One sentence, when there is none or it cannot be read.
pub(super) fn reading(files: &SessionFiles, name: &str) -> Result<Reading, String> {
    let reading = records(files, name)?.reading().map_err(|error| unreadable(name, &error))?;
    if reading.header().is_none() {
        return Err(no_journal(name));
    }
    Ok(reading)
}

/// Returns what a session is, and its records one after the other.
///
/// # Errors
/// As [`reading`].
pub(super) fn opened(files: &SessionFiles, name: &str) -> Result<(Header, Records<File>), String> {
    let header = records(files, name)?.map_while(Result::ok).find_map(Record::into_header);
    Ok((header.ok_or_else(|| no_journal(name))?, records(files, name)?))
}

fn records(files: &SessionFiles, name: &str) -> Result<Records<File>, String> {
    let is_path = name.contains('/') || Path::new(name).extension().is_some_and(|extension| extension == "jsonl");
    let records = if is_path {
        regular_file::open(Path::new(name), Links::Followed).and_then(|(file, metadata)| {
            if metadata.len() > limits::JOURNAL_FILE {
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than any journal"));
            }
            Records::within(file, 0..metadata.len())
        })
    } else {
        files.find(name)?.records()
    };
    records.map_err(|error| unreadable(name, &error))
}

/// Says that a session cannot be read.
pub(super) fn unreadable(name: &str, error: &io::Error) -> String {
    format!("cannot read session {}: {error}", visible_line(name))
}

fn no_journal(name: &str) -> String {
    format!("{} is no journal of a session, or its first record is damaged", visible_line(name))
}

/// Returns what a screen of this size shows of a session beside its events.
pub(super) fn replayed(header: Option<&Header>, size: Size) -> Replayed {
    Replayed {
        size,
        zone: TimeZone::system(),
        started: header.map(|header| header.started).unwrap_or_default(),
        details: header.map(facts_of).unwrap_or_default(),
    }
}

/// Reads a size of the screen: `120x36`.
pub(super) fn size(text: &str) -> Result<Size, &'static str> {
    const MOST: u16 = 1_000;
    let sides = text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    let fits = |side: u16| (1..=MOST).contains(&side);
    let size = sides.filter(|(width, height)| fits(*width) && fits(*height));
    size.map(|(width, height)| Size { width, height }).ok_or("it must be columns and rows, such as 120x36")
}
