//! The journal of a start: where it lies, what it says of the session, which keys never enter it.
//!
//! Called by the screen, the line output and `exec`. A start that cannot save its session says so and goes on.

use std::ffi::OsString;
use std::io::{BufRead as _, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{io, thread};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::program::cli::args::Flags;
use crate::program::cli::load::Start;
use crate::program::cli::project::FrontEnd;
use crate::program::config::ModelSource;
use steersman_base::clock;
use steersman_base::event::Envelope;
use steersman_base::id::{AgentId, MessageId};
use steersman_base::limits;
use steersman_base::protocol::{DraftText, Unfinished};
use steersman_base::steering::TextKind;
use steersman_base::summary::count;
use steersman_base::sync::lock;
use steersman_base::text::{clip, visible_line};
use steersman_core::listener::Listener as _;
use steersman_core::provider::ApiKey;
use steersman_session::host::{ClosingEvent, Handle, Notice, Update};
use steersman_session::journal::{
    Digest, Header, Journal, LeftOpen, OpenFile, Opening, Parent, PreviousRun, Record, SCHEMA, SessionFile,
    SessionFiles, SessionId, SessionIndex, before, carried_over, images_of, restore_left,
};
use steersman_tools::workspace::is_secret;
use steersman_tui::run::status_line::branch;

/// Columns of a session's first text in a sentence about it.
const TITLE_COLUMNS: usize = 40;

/// Sessions that are named when some were removed for their age.
const NAMED_REMOVED: usize = 3;

/// Begins the journal of a session that is to be saved, or takes up that of the session that is resumed; removes the
/// journals that are too old.
///
/// # Errors
/// One sentence, when there is no such session or it cannot be gone on with.
pub(super) fn begin(start: &mut Start, flags: &Flags) -> Result<(), String> {
    if flags.session.ephemeral {
        return Ok(());
    }
    let Some(state) = &start.places.state else {
        start.places.notes.push("the session is not saved: there is no directory for it".to_owned());
        return Ok(());
    };
    let files = SessionFiles::within(state);
    let earlier = match (&flags.session.resume, flags.session.continues) {
        (Some(name), _) if name.is_empty() => match start.front {
            // The screen lets the user choose; until then it is a new session.
            FrontEnd::Screen => None,
            FrontEnd::Exec => return Err("name the session: --resume ID; `steersman sessions` lists them".to_owned()),
        },
        (Some(name), _) => Some(files.find(name)?),
        (None, true) => Some(last_used(&files, &start.cwd, start.front)?),
        (None, false) => None,
    };
    let journal = match earlier {
        Some(file) if is_imported(&file) => return imported(start, &file),
        Some(file) => match file.open() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return read_only(start, &file),
            open => resume(start, &file, open)?,
        },
        None => match (&flags.session.fork, &flags.session.session_id) {
            (Some(name), id) => fork(start, &files, name, id.as_ref())?,
            (None, id) => fresh(start, &files, id.as_ref())?,
        },
    };
    hide_variables(&journal, &start.cwd);
    if start.front == FrontEnd::Exec {
        journal.unattended();
    }
    if let Some(days) = start.config.keep_days {
        let journal = journal.clone();
        // Beside the start: a directory of thousands takes its time.
        thread::spawn(move || match files.prune_unused(days) {
            Ok(removed) if removed.is_empty() => {}
            Ok(removed) => journal.tell(removed_sentence(&removed, days)),
            Err(error) => tracing::warn!(%error, "old sessions cannot be listed"),
        });
    }
    start.journal = Some(journal);
    Ok(())
}

/// Returns the sentence that says which sessions were removed for their age.
fn removed_sentence(removed: &[SessionId], days: u32) -> String {
    let named: Vec<&str> = removed.iter().take(NAMED_REMOVED).map(SessionId::as_str).collect();
    let more = match removed.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let sessions = if removed.len() == 1 { "session" } else { "sessions" };
    let (count, names) = (removed.len(), named.join(", "));
    format!("Removed {count} {sessions} not used for {days} days (sessions.keep_days): {names}{more}")
}

/// Returns whether a variable's value must not enter a journal. The name alone says too little: `POSTGRES_PASSWORD=postgres`
/// would take an ordinary word out of every text, and `PWD` is a directory.
fn holds_a_secret(name: &str, value: &str) -> bool {
    is_secret(name) && ApiKey::has_form_of_a_key(value)
}

fn fresh(start: &Start, files: &SessionFiles, id: Option<&SessionId>) -> Result<Journal, String> {
    let header = header(start, None, unused(files, id)?)?;
    let (path, opening) = creating(files, &header);
    Ok(Journal::begin(header, opening).in_file(path))
}

/// Returns where the file of a new session will lie, and how it is made.
fn creating(files: &SessionFiles, header: &Header) -> (PathBuf, Opening) {
    let zone = TimeZone::system();
    (files.path_of(header, &zone), files.creating(header, &zone))
}

/// Returns a name that no session has yet.
fn unused(files: &SessionFiles, id: Option<&SessionId>) -> Result<Option<SessionId>, String> {
    let Some(id) = id else { return Ok(None) };
    let saved = files.list().map_err(|error| unlisted(&error))?;
    if saved.iter().any(|file| file.session == *id) {
        return Err(format!("there is a session {id} already: --resume {id} goes on with it"));
    }
    Ok(Some(id.clone()))
}

/// Begins the journal of a session with everything that another has recorded; that one stays as it is.
fn fork(start: &mut Start, files: &SessionFiles, name: &str, id: Option<&SessionId>) -> Result<Journal, String> {
    let file = if name.is_empty() { last_used(files, &start.cwd, start.front)? } else { files.find(name)? };
    let unreadable = |error: io::Error| unreadable(&file.session, &error);
    let reading = file.read().map_err(unreadable)?;
    let texts = file.highest_text().map_err(unreadable)?;
    let records = carried_over(&reading.records);
    let parent = Parent { session: file.session, before: None };
    let header = header(start, Some(parent), unused(files, id)?)?;
    let (path, opening) = creating(files, &header);
    let journal = Journal::branch(header, reading.last, &records, opening).behind_texts(texts).in_file(path);
    start.resumed = Some(Box::new(restore_left(records)));
    Ok(journal)
}

/// What a branch is made from.
pub(super) struct BranchPlan {
    /// The session that is left.
    pub parent: String,
    /// The message before which it begins.
    pub message: MessageId,
    pub text: String,
    /// Sentences about what became of files.
    pub notes: Vec<String>,
}

/// Begins the journal of a branch, with everything that was recorded before its message.
///
/// # Errors
/// One sentence, when the session that is left cannot be read, or has no such message.
pub(super) fn begin_branch(start: &mut Start, plan: BranchPlan) -> Result<(), String> {
    let BranchPlan { parent, message, text, notes } = plan;
    let state = start.places.state.as_ref().ok_or("there is no directory for sessions")?;
    let files = SessionFiles::within(state);
    let file = files.find(&parent)?;
    let unreadable = |error: io::Error| unreadable(&file.session, &error);
    let reading = file.read().map_err(unreadable)?;
    let texts = file.highest_text().map_err(unreadable)?;
    let records = before(&reading.records, &message)
        .ok_or_else(|| format!("session {parent} has no message {message} to branch from"))?;
    let images = images_of(&reading.records, &message);
    let header = header(start, Some(Parent { session: file.session, before: Some(message) }), None)?;
    let (path, opening) = creating(&files, &header);
    let journal = Journal::branch(header, reading.last, &records, opening).behind_texts(texts).in_file(path);
    hide_variables(&journal, &start.cwd);
    let mut resumed = restore_left(records);
    resumed.unfinished = Unfinished {
        images,
        drafts: vec![DraftText {
            to: AgentId::main(),
            text,
            kind: TextKind::default(),
            edits: None,
            images: Vec::new(),
            sender: None,
        }],
        ..Unfinished::default()
    };
    start.places.notes.extend(notes);
    start.resumed = Some(Box::new(resumed));
    start.journal = Some(journal);
    Ok(())
}

/// Keeps the values of variables that sound like secrets out of a journal. What is part of the working directory's path is
/// none: anybody sees it there, and the system prompt names it.
fn hide_variables(journal: &Journal, cwd: &Path) {
    let directory = cwd.display().to_string();
    for secret in secrets().into_iter().filter(|secret| !directory.contains(secret.expose().trim())) {
        journal.hide(secret);
    }
}

/// Returns the values of variables that sound like secrets.
pub(super) fn secrets() -> Vec<ApiKey> {
    // One that is no UTF-8 stands in texts as it is shown.
    let shown = |text: OsString| text.to_string_lossy().into_owned();
    let variables = std::env::vars_os().map(|(name, value)| (shown(name), shown(value)));
    let secrets = variables.filter(|(name, value)| holds_a_secret(name, value));
    secrets.map(|(_, value)| ApiKey::new(value)).collect()
}

fn header(start: &Start, parent: Option<Parent>, named: Option<SessionId>) -> Result<Header, String> {
    let started = Timestamp::now();
    let session = named.map_or_else(|| SessionId::new(started), Ok);
    let session = session.map_err(|error| format!("the session gets no name: {error}"))?;
    Ok(Header {
        schema: SCHEMA,
        program: concat!("steersman ", env!("CARGO_PKG_VERSION")).to_owned(),
        session,
        started,
        directory: start.cwd.display().to_string(),
        branch: branch(&start.cwd),
        model: match &start.config.model {
            ModelSource::Embedded { .. } => None,
            ModelSource::Server(server) => server.model.clone(),
        },
        parent,
        imported: None,
    })
}

/// Returns the session of a directory that was used last and in which something was said; where there is none, one with a
/// draft alone. On the screen it is a conversation of the user's, if there is one: a script in the same directory hides none.
fn last_used(files: &SessionFiles, cwd: &Path, front: FrontEnd) -> Result<SessionFile, String> {
    let mut index = SessionIndex::load(files);
    let (mut begun, mut any) = (None, None);
    let mut found = None;
    for file in files.list().map_err(|error| unlisted(&error))? {
        let Some(digest) = digest_here(&mut index, &file, cwd) else { continue };
        if digest.has_begun && (front == FrontEnd::Exec || digest.is_attended()) {
            found = Some(file);
            break;
        }
        let known = if digest.has_begun { &mut begun } else { &mut any };
        known.get_or_insert(file);
    }
    index.save();
    found.or(begun).or(any).ok_or_else(|| "no session of this directory is saved".to_owned())
}

/// Returns what a session of this directory says for lists; `None` for one of another directory, or that cannot be read.
fn digest_here(index: &mut SessionIndex, file: &SessionFile, cwd: &Path) -> Option<Digest> {
    if index.directory(file)? != cwd.display().to_string() {
        return None;
    }
    index.get(file).ok().map(|known| known.digest).filter(|digest| digest.imported.is_none())
}

fn unlisted(error: &io::Error) -> String {
    format!("cannot list the sessions: {error}")
}

/// Looks for the newest other session of a directory and says what it left unfinished, and how to go on with it. Beside the
/// start; of long journals that no list has read yet, the end alone is read.
pub(super) fn offer_unfinished(state: PathBuf, cwd: PathBuf, own: Option<SessionId>, handle: &Handle) {
    let mailbox = Arc::clone(handle.mailbox());
    thread::spawn(move || {
        let files = SessionFiles::within(&state);
        let mut index = SessionIndex::load(&files).reading_at_most(limits::START_READING);
        let others = files.list().unwrap_or_default().into_iter().filter(|file| Some(&file.session) != own.as_ref());
        for file in others {
            let Some(digest) = known_end(&mut index, &file, &cwd) else { continue };
            // Somebody is writing its first text, or nothing came of that.
            if let Some(left) = digest.left_open().filter(|_| !file.is_written()) {
                mailbox.push(Update::Notice(Notice::Info(unfinished(&file, left))));
                break;
            }
            if digest.has_begun {
                break;
            }
        }
        index.save();
    });
}

/// Returns what a session of this directory says for lists, or what its end says where it is too long to be read now.
fn known_end(index: &mut SessionIndex, file: &SessionFile, cwd: &Path) -> Option<Digest> {
    if index.directory(file)? != cwd.display().to_string() {
        return None;
    }
    let known = index.get(file).ok()?;
    let digest = if known.is_whole {
        known.digest
    } else {
        let end = Digest::of_tail(file, limits::UNFINISHED_TAIL).ok()?;
        known.digest.with_end(end)
    };
    Some(digest).filter(|digest| digest.imported.is_none())
}

/// Returns the sentence about what waits in a session.
fn unfinished(file: &SessionFile, left: LeftOpen) -> String {
    let LeftOpen { title, is_cut, pending, drafts } = left;
    let mut parts = Vec::new();
    if is_cut {
        parts.push("a turn was cut short".to_owned());
    }
    if pending > 0 {
        parts.push(format!("{pending} pending"));
    }
    if drafts > 0 {
        parts.push(count(drafts, "draft"));
    }
    let title = visible_line(title.trim_start().lines().next().unwrap_or_default());
    let title = if title.is_empty() { String::new() } else { format!(" “{}”", clip(&title, TITLE_COLUMNS)) };
    // As much of the name as no session of another millisecond has.
    let id = file.session.as_str().get(..13).unwrap_or(file.session.as_str());
    format!("The last session here is unfinished:{title} ({}). /resume {id} goes on with it", parts.join(", "))
}

/// Takes up a session: its file is this program's alone from here on. It is read while the screen shows its end.
fn resume(start: &mut Start, file: &SessionFile, open: io::Result<OpenFile>) -> Result<Journal, String> {
    let name = &file.session;
    let open = open.map_err(|error| unreadable(name, &error))?;
    let header = header_of(file)?;
    if header.schema > SCHEMA {
        return Err(format!("session {name} was saved by a newer version, {}", visible_line(&header.program)));
    }
    let worked_in = Path::new(&header.directory);
    // One that was moved, with a link in its place, is the same.
    if worked_in != start.cwd && worked_in.canonicalize().ok().as_ref() != Some(&start.cwd) {
        let directory = visible_line(&header.directory).into_owned();
        if worked_in.is_dir() {
            return Err(format!(
                "session {name} worked in {directory}: go on with it there, as with --cwd {directory}, or with all of it in a new session here: --fork {name}"
            ));
        }
        let gone = format!("session {name} worked in {directory}, which is gone");
        if !goes_on_here(start, &gone) {
            return Err(format!("{gone}: --fork {name} goes on with all of it in a new session here"));
        }
    }
    let last = load_history(start, file)?;
    let texts = file.highest_text().map_err(|error| unreadable(name, &error))?;
    Ok(Journal::resume(name.clone(), last, open.opening()).behind_texts(texts).in_file(file.path.clone()))
}

/// Asks on the terminal whether a session whose directory is gone goes on in this one; no where nobody is there to answer.
fn goes_on_here(start: &Start, gone: &str) -> bool {
    if start.front != FrontEnd::Screen || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return false;
    }
    eprint!("{gone}. Go on with it in {}? [y/N] ", visible_line(&start.cwd.display().to_string()));
    let mut answer = String::new();
    let is_read = io::stdin().lock().take(64).read_line(&mut answer).is_ok();
    is_read && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

fn header_of(file: &SessionFile) -> Result<Header, String> {
    let name = &file.session;
    if let Some(header) = file.header() {
        return Ok(header);
    }
    // Behind damage at the beginning.
    let reading = file.read().map_err(|error| unreadable(name, &error))?;
    let header = reading.header().cloned();
    header.ok_or_else(|| format!("session {name} does not say what it is: its first record is damaged"))
}

/// Lets the start show a session and go on with it. Returns the number of its last record.
fn load_history(start: &mut Start, file: &SessionFile) -> Result<u64, String> {
    let unreadable = |error: io::Error| unreadable(&file.session, &error);
    let mut tail = file.tail(limits::JOURNAL_TAIL).map_err(unreadable)?;
    let records: Vec<Record> = tail.by_ref().collect::<io::Result<_>>().map_err(unreadable)?;
    if !matches!(records.first(), Some(Record::Session(_))) {
        let event = |record| if let Record::Event(envelope) = record { Some(envelope) } else { None };
        start.session_end = records.into_iter().filter_map(event).collect();
    }
    start.resumed = Some(Box::new(PreviousRun::from_file(file).map_err(unreadable)?));
    match tail.last_number() {
        // Nothing of the end can be read.
        0 => Ok(file.read().map_err(unreadable)?.last),
        last => Ok(last),
    }
}

/// Shows a session that another program writes; where there is nobody to read it, it is refused.
fn read_only(start: &mut Start, file: &SessionFile) -> Result<(), String> {
    let why = file.written_elsewhere();
    if start.front == FrontEnd::Exec {
        let id = &file.session;
        return Err(format!("{why}; end that first, or send it a text: steersman inject --session {id} TEXT"));
    }
    load_history(start, file)?;
    let why = format!("{why}; to steer it: steersman attach {}", file.session);
    start.read_only = Some((file.session.clone(), why));
    Ok(())
}

fn is_imported(file: &SessionFile) -> bool {
    file.header().is_some_and(|header| header.imported.is_some())
}

/// Shows a session that another program wrote; only a branch goes on with it.
fn imported(start: &mut Start, file: &SessionFile) -> Result<(), String> {
    let id = &file.session;
    let program = file.header().and_then(|header| header.imported).map(|origin| origin.program).unwrap_or_default();
    let why = format!("session {id} was imported from {}", visible_line(&program));
    if start.front == FrontEnd::Exec {
        return Err(format!("{why} and can only be read; a new session goes on with all of it: --fork {id}"));
    }
    load_history(start, file)?;
    let why = format!("{why}. b on a message branches from it, --fork {id} goes on with all of it");
    start.read_only = Some((id.clone(), why));
    Ok(())
}

fn unreadable(name: &SessionId, error: &io::Error) -> String {
    format!("cannot read session {name}: {error}")
}

/// Ends what the earlier process left open in the journal alone: where nothing is shown again, it is nothing that this run
/// did.
///
/// # Errors
/// One sentence, when the session cannot be read.
pub(super) fn close_unseen(start: &mut Start) -> Result<(), String> {
    let Some(mut earlier) = start.resumed.take() else { return Ok(()) };
    while !earlier.events().map_err(|error| format!("cannot read the session: {error}"))?.is_empty() {}
    let mut resumed = earlier.resumed();
    if let Some(journal) = &start.journal {
        for ClosingEvent { agent, parent, event } in std::mem::take(&mut resumed.closing) {
            resumed.numbers.seq += 1;
            journal.on_event(&Envelope { seq: resumed.numbers.seq, at: clock::now(), agent, parent, event });
        }
    }
    start.resumed = Some(Box::new(resumed));
    Ok(())
}

/// Lets a host's texts be kept, and its user hear when nothing can be saved.
pub(super) fn attach(journal: &Journal, handle: &Handle) {
    handle.set_keeper(Arc::new(journal.clone()));
    // Before anybody sends a text: what was given a number in an earlier process is only known when all of that is read.
    handle.interloper().take_over(Vec::new(), journal.earlier_texts());
    let mailbox = Arc::clone(handle.mailbox());
    let saving = journal.saving();
    journal.on_trouble(move |sentence| {
        mailbox.push(Update::Notice(Notice::Info(sentence)));
        let unsaved = lock(&saving).clone();
        mailbox.push(Update::Notice(Notice::Unsaved(unsaved)));
    });
}
