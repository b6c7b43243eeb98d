//! Work that must not hold the screen up: the history's file, the list of paths, the branch, fuzzy matching.
//!
//! Always holds: texts are written in the order in which they were sent; of several searches the newest is answered.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use jiff::Timestamp;

use crate::files::Files;
use crate::fuzzy::{FuzzyQuery, find};
use crate::history_file::{HistoryFile, Record};
use crate::message::history::Sent;
use crate::msg::Msg;
use crate::run::path_walk::walk;
use crate::run::status_line::branch;
use crate::run::{ScreenOptions, images, sessions};
use crate::switch::{SessionPlace, SessionsFor};
use steersman_base::sync::lock;

/// The places, and what is still to be written.
#[derive(Debug)]
pub(super) struct Memory {
    file: Option<HistoryFile>,
    state: Option<PathBuf>,
    /// The name of the session that runs.
    session: Option<String>,
    cwd: PathBuf,
    home: Option<PathBuf>,
    unwritten: Arc<Mutex<VecDeque<Record>>>,
    /// Held while the history's file is written.
    writing: Arc<Mutex<()>>,
    newest: Arc<AtomicU64>,
}

impl Memory {
    pub(super) fn new(options: &ScreenOptions) -> Self {
        Self {
            file: options.state.as_deref().map(HistoryFile::within),
            state: options.state.clone(),
            session: options.session.clone(),
            cwd: options.cwd.clone(),
            home: options.home.clone(),
            unwritten: Arc::default(),
            writing: Arc::default(),
            newest: Arc::default(),
        }
    }

    /// Reads what earlier sessions sent.
    pub(super) fn load(&self, files: &Files) {
        let Some(file) = self.file.clone() else { return };
        files.aside(move || {
            let texts = file.load().map_err(|error| error.to_string());
            vec![Msg::History(texts.map(|texts| texts.iter().map(|text| Sent::new(text)).collect()))]
        });
    }

    pub(super) fn remember(&self, text: String, files: &Files) {
        let Some(file) = self.file.clone() else { return };
        let cwd = self.cwd.to_string_lossy().into_owned();
        let (unwritten, writing) = (Arc::clone(&self.unwritten), Arc::clone(&self.writing));
        lock(&unwritten).push_back(Record { at: Timestamp::now(), cwd, text });
        files.aside(move || {
            // Whoever writes does it for all, in order. The list is free meanwhile: the screen does not wait for the file.
            let _writing = lock(&writing);
            let next = || lock(&unwritten).pop_front();
            while let Some(record) = next() {
                if let Err(error) = file.append(&record) {
                    return vec![Msg::NotRemembered(error.to_string())];
                }
            }
            Vec::new()
        });
    }

    /// Reads an image that the user names.
    pub(super) fn read_image(&self, written: String, path: String, files: &Files) {
        let (cwd, home) = (self.cwd.clone(), self.home.clone());
        files.aside(move || {
            let outcome = images::read_image(&path, &cwd, home.as_deref());
            vec![Msg::ImageRead { written, outcome }]
        });
    }

    /// Finds out which branch is checked out.
    pub(super) fn find_branch(&self, files: &Files) {
        let cwd = self.cwd.clone();
        files.aside(move || vec![Msg::Branch(branch(&cwd).unwrap_or_default())]);
    }

    pub(super) fn list_sessions(&self, wanted_for: SessionsFor, files: &Files) {
        let state = self.state.clone();
        files.aside(move || {
            let rows = match &wanted_for {
                SessionsFor::Choosing | SessionsFor::Named(_) => sessions::list(state.as_deref()),
                SessionsFor::Holding(words) => sessions::search(state.as_deref(), words),
            };
            vec![Msg::Sessions(wanted_for, rows)]
        });
    }

    pub(super) fn compare(&self, names: [String; 2], files: &Files) {
        let state = self.state.clone();
        files.aside(move || vec![Msg::Compared(sessions::compared(state.as_deref(), &names))]);
    }

    pub(super) fn read_session(&self, wanted: SessionPlace, files: &Files) {
        let (state, own) = (self.state.clone(), self.session.clone());
        files.aside(move || vec![Msg::Replayed(sessions::recorded(state.as_deref(), own.as_deref(), wanted))]);
    }

    /// Lists the paths of the working directory.
    pub(super) fn list(&self, files: &Files) {
        let cwd = self.cwd.clone();
        files.aside(move || vec![Msg::Paths(walk(&cwd))]);
    }

    /// Searches a list, unless a newer search comes meanwhile.
    pub(super) fn find(&self, query: FuzzyQuery, files: &Files) {
        self.newest.store(query.number, Ordering::Relaxed);
        let newest = Arc::clone(&self.newest);
        files.aside(move || {
            let found = find(&query, || newest.load(Ordering::Relaxed) == query.number);
            found.map(Msg::Matched).into_iter().collect()
        });
    }
}
