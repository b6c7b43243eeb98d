//! What a crash leaves behind: a note with the session and how to resume it, and nothing that was said in it.
//!
//! Set once for each session of the screen, on the thread whose panic ends the program. A panic of another thread is
//! caught where that is started, and leaves no note.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::panic::{self, PanicHookInfo};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once};
use std::thread;

use jiff::Timestamp;
use rustix::fs::OFlags;

use crate::program::cli::exit::say;
use steersman_base::protocol::Unsaved;
use steersman_base::sync::lock;
use steersman_session::journal::Journal;

/// What a panic is about: the state directory, and the journal of the session that runs.
static WATCHED: Mutex<Option<(PathBuf, Journal)>> = Mutex::new(None);
static HOOK: Once = Once::new();

/// Has a panic of this thread close the journal, write the note and say how to resume; of several sessions the newest
/// counts. The terminal is given back before: whoever takes it puts that in front.
pub(super) fn watch(state: &Path, journal: &Journal) {
    *lock(&WATCHED) = Some((state.to_owned(), journal.clone()));
    HOOK.call_once(|| {
        let thread = thread::current().id();
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            previous(info);
            if thread::current().id() == thread {
                leave_note(info);
            }
        }));
    });
}

fn leave_note(info: &PanicHookInfo<'_>) {
    let watched = lock(&WATCHED).take();
    let Some((state, journal)) = watched.filter(|(_, journal)| journal.has_begun()) else { return };
    let missing = journal.close();
    let resume = resume(journal.session().as_str(), lock(&journal.saving()).as_ref());
    let note = note(info, &resume);
    let written = write(&state, &note);
    say(&format!("{}{}", note.trim_end(), whereabouts(&written)));
    if let Some(missing) = missing {
        say(&missing);
    }
}

/// Returns the note: when and where, never what the panic says, which may hold anything.
fn note(info: &PanicHookInfo<'_>, resume: &str) -> String {
    let place = info.location().map(|place| format!(" in {}:{}", place.file(), place.line())).unwrap_or_default();
    let program = concat!("steersman ", env!("CARGO_PKG_VERSION"));
    format!("{program} crashed at {}{place}\n{resume}\n", Timestamp::now())
}

/// Returns how to resume, as far as anything of the session was saved.
fn resume(session: &str, unsaved: Option<&Unsaved>) -> String {
    match unsaved {
        Some(unsaved) if !unsaved.has_begun => unsaved.why.clone(),
        Some(unsaved) => format!("To resume what was saved before: steersman --resume {session}\n{}", unsaved.why),
        None => format!("To resume: steersman --resume {session}"),
    }
}

fn whereabouts(written: &io::Result<PathBuf>) -> String {
    match written {
        Ok(path) => format!("\nThis note is in {}", path.display()),
        Err(error) => format!("\nThis note could not be written: {error}"),
    }
}

/// Writes the note in place of an earlier one.
fn write(state: &Path, note: &str) -> io::Result<PathBuf> {
    let path = state.join("crash.txt");
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).custom_flags(flags).open(&path)?;
    file.write_all(note.as_bytes())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_offers_to_resume_only_what_was_saved() {
        let unsaved = |has_begun| Unsaved { why: "The disk is full".to_owned(), has_begun };
        assert_eq!(resume("s1", None), "To resume: steersman --resume s1");
        let before = "To resume what was saved before: steersman --resume s1\nThe disk is full";
        assert_eq!(resume("s1", Some(&unsaved(true))), before);
        assert_eq!(resume("s1", Some(&unsaved(false))), "The disk is full");
    }
}
