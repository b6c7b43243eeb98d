//! The thread that writes a journal: it alone touches the file.
//!
//! Records that wait together are written together, and whoever waits for the disk shares one sync. A line stays in
//! memory until it is safe, so that a failure loses nothing: it is told once, and everything is tried again.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use std::{io, mem};

use crate::journal::record::Record;
use crate::journal::texts::{HiddenKey, Written};
use steersman_base::limits;
use steersman_base::protocol::Unsaved;
use steersman_base::sync::lock;

/// Where lines go.
pub trait Store: Send {
    /// Appends bytes, whole or, when it fails, perhaps a part of them.
    ///
    /// # Errors
    /// What the system says.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Makes everything appended safe from a loss of power.
    ///
    /// # Errors
    /// What the system says.
    fn sync(&mut self) -> io::Result<()>;

    /// Removes everything, when there turned out to be nothing to come back to.
    ///
    /// # Errors
    /// What the system says.
    fn discard(&mut self) -> io::Result<()>;
}

/// Opens the store, when there is something to write; tried again after a failure.
pub type Opening = Box<dyn FnMut() -> io::Result<Box<dyn Store>> + Send>;

/// What the thread is asked for.
pub(super) enum Job {
    Record(Box<Record>),
    /// Makes the file now, whether or not anything comes.
    Open,
    /// Calls back once everything before it is safe, or cannot be made so now.
    Sync(Box<dyn FnOnce() + Send>),
    /// Ends, and answers with what is missing in the file.
    Close(SyncSender<Option<String>>),
}

/// Tells the user that nothing can be saved, and that it can again.
#[derive(Default)]
pub(super) struct TroubleReporter {
    to: Option<Box<dyn Fn(String) + Send>>,
    /// Said before anybody listened.
    waiting: Vec<String>,
}

impl TroubleReporter {
    pub(super) fn listen(&mut self, to: Box<dyn Fn(String) + Send>) {
        mem::take(&mut self.waiting).into_iter().for_each(&to);
        self.to = Some(to);
    }

    pub(super) fn say(&mut self, sentence: String) {
        match &self.to {
            Some(to) => to(sentence),
            None => self.waiting.push(sentence),
        }
    }
}

/// What the thread owns.
#[allow(clippy::struct_excessive_bools)] // Each is a fact of its own.
pub(super) struct Writer {
    opening: Opening,
    store: Option<Box<dyn Store>>,
    /// Lines that are not known to be safe, and how many of them were handed to the store.
    lines: VecDeque<Vec<u8>>,
    handed: usize,
    bytes: usize,
    /// True when the last append may have ended within a line.
    is_torn: bool,
    /// The last failure, until everything is safe again.
    failing_since: Option<Instant>,
    /// True once somebody said or ran something.
    has_begun: bool,
    /// True while there is a draft.
    has_draft: bool,
    /// True once the file is made before anything is said.
    is_opened: bool,
    number: u64,
    /// Records that found no room in memory.
    lost: u64,
    texts: Written,
    pub(super) secrets: Arc<Mutex<Vec<HiddenKey>>>,
    pub(super) trouble: Arc<Mutex<TroubleReporter>>,
    pub(super) saving: Arc<Mutex<Option<Unsaved>>>,
    /// True once something is in the file.
    is_in_file: bool,
}

impl Writer {
    /// Makes the writer of a new session, whose records are numbered behind this one.
    pub(super) fn new(opening: Opening, last: u64) -> Self {
        Self {
            opening,
            store: None,
            lines: VecDeque::new(),
            handed: 0,
            bytes: 0,
            is_torn: false,
            failing_since: None,
            has_begun: false,
            has_draft: false,
            is_opened: false,
            number: last,
            lost: 0,
            texts: Written::default(),
            secrets: Arc::default(),
            trouble: Arc::default(),
            saving: Arc::default(),
            is_in_file: false,
        }
    }

    /// Makes the writer of a session that goes on behind its last record.
    pub(super) fn resuming(opening: Opening, last: u64) -> Self {
        // Another program may have been killed within the last line.
        Self { is_torn: true, has_begun: true, is_in_file: true, ..Self::new(opening, last) }
    }

    /// Works until it is told to end, or until nobody can tell it anything any more.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        let mut waiting: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
        loop {
            let first = match self.failing_since {
                Some(_) => jobs.recv_timeout(limits::JOURNAL_RETRY),
                None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            let mut end = None;
            let is_over = matches!(first, Err(RecvTimeoutError::Disconnected));
            let mut is_sync = is_over;
            let mut next = first.ok();
            // What waits together is written together.
            while let Some(job) = next {
                match job {
                    Job::Record(record) => is_sync |= self.add_record(&record),
                    Job::Open => self.is_opened = true,
                    Job::Sync(done) => waiting.push(done),
                    Job::Close(answer) => end = Some(answer),
                }
                is_sync |= self.bytes > limits::JOURNAL_UNSYNCED;
                let is_due = end.is_some() || is_sync && self.failing_since.is_none();
                next = if is_due { None } else { jobs.try_recv().ok() };
            }
            let is_last = is_over || end.is_some();
            self.write(is_sync || is_last || !waiting.is_empty(), is_last);
            waiting.drain(..).for_each(|done| done());
            if let Some(answer) = end {
                let _ = answer.send(self.missing());
            }
            if is_last {
                return;
            }
        }
    }

    /// Puts a record among the lines; tells whether it is to be synced.
    fn add_record(&mut self, record: &Record) -> bool {
        self.has_begun |= record.begins();
        self.has_draft = record.has_draft().unwrap_or(self.has_draft);
        if self.bytes > limits::JOURNAL_BACKLOG {
            self.lost += 1;
            self.texts.forget();
            return false;
        }
        if self.lost > 0 {
            let records = mem::take(&mut self.lost);
            self.push(&Record::Missing { records });
        }
        self.push(record);
        record.is_synced()
    }

    fn push(&mut self, record: &Record) {
        self.number += 1;
        let line = record.members(self.number).and_then(|mut members| {
            let secrets = lock(&self.secrets);
            self.texts.shorten(self.number, &mut members, &secrets);
            serde_json::to_vec(&members)
        });
        match line {
            Ok(mut line) => {
                line.push(b'\n');
                self.bytes += line.len();
                self.lines.push_back(line);
            }
            Err(error) => tracing::error!(%error, "a record has no written form"),
        }
    }

    /// Writes what is not written yet, and makes it safe when that is asked for. While the store fails, not all the time,
    /// but `is_last` once more.
    fn write(&mut self, is_sync: bool, is_last: bool) {
        let rests = self.failing_since.is_some_and(|since| since.elapsed() < limits::JOURNAL_RETRY);
        if !self.is_wanted() && is_last {
            return self.discard();
        }
        if !self.is_wanted() && !self.is_opened && self.store.is_none() || rests && !is_last {
            return;
        }
        let is_failing = self.failing_since.is_some();
        match self.try_write(is_sync || is_failing) {
            Ok(()) if is_failing => {
                self.failing_since = None;
                *lock(&self.saving) = None;
                self.say("The session is saved again".to_owned());
            }
            Ok(()) => {}
            Err(error) => {
                // Whatever reached the file may be there twice afterwards; the reader knows a line again.
                self.handed = 0;
                self.is_torn = true;
                self.failing_since = Some(Instant::now());
                if !is_failing {
                    let sentence = "It goes on in memory, and saving is tried again";
                    let why = format!("The session cannot be saved: {error}");
                    *lock(&self.saving) = Some(Unsaved { why: why.clone(), has_begun: self.is_in_file });
                    self.say(format!("{why}. {sentence}"));
                }
            }
        }
    }

    /// Tells whether there is anything to come back to.
    fn is_wanted(&self) -> bool {
        self.has_begun || self.has_draft
    }

    fn discard(&mut self) {
        if let Some(Err(error)) = self.store.as_mut().map(|store| store.discard()) {
            self.say(format!("The file of an empty session cannot be removed: {error}"));
        }
    }

    fn try_write(&mut self, is_sync: bool) -> io::Result<()> {
        let store = match &mut self.store {
            Some(store) => store,
            None => self.store.insert((self.opening)()?),
        };
        if self.handed < self.lines.len() {
            let mut bytes = Vec::new();
            if self.is_torn {
                bytes.push(b'\n');
            }
            self.lines.iter().skip(self.handed).for_each(|line| bytes.extend_from_slice(line));
            store.append(&bytes)?;
            self.is_in_file = true;
            self.is_torn = false;
            self.handed = self.lines.len();
        }
        if is_sync && self.handed > 0 {
            store.sync()?;
            self.lines.clear();
            self.handed = 0;
            self.bytes = 0;
        }
        Ok(())
    }

    fn say(&self, sentence: String) {
        tracing::warn!(%sentence, "journal");
        lock(&self.trouble).say(sentence);
    }

    /// Returns a sentence about what is missing in the file; `None` when nothing is.
    fn missing(&self) -> Option<String> {
        let unsaved = self.lines.len() as u64 + self.lost;
        (self.is_wanted() && unsaved > 0)
            .then(|| format!("the last {unsaved} records of the session could not be saved"))
    }
}
