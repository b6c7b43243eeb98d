//! Journals for tests: a disk that fails when it is told to, and things to write.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use steersman_base::event::{Envelope, Event, Outcome, Pending};
use steersman_base::id::AgentId;
use steersman_session::journal::{Header, Journal, Opening, Reading, SCHEMA, SessionId, Store, read_records};

/// A disk in memory. The calls whose numbers it is given fail, an append behind the first half of its bytes.
#[derive(Clone, Default)]
pub struct Disk(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    synced: usize,
    calls: usize,
    fails: BTreeSet<usize>,
    is_dead: bool,
}

impl Disk {
    /// Leaves these bytes at the end, as a write that was cut off.
    pub fn tear(&self, bytes: &[u8]) {
        self.0.lock().unwrap().bytes.extend_from_slice(bytes);
    }

    pub fn failing_at(calls: impl IntoIterator<Item = usize>) -> Self {
        let disk = Self::default();
        disk.0.lock().unwrap().fails.extend(calls);
        disk
    }

    pub fn dead() -> Self {
        let disk = Self::default();
        disk.0.lock().unwrap().is_dead = true;
        disk
    }

    pub fn revive(&self) {
        self.0.lock().unwrap().is_dead = false;
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().bytes.clone()
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }

    /// Returns what would be left after a loss of power.
    pub fn safe(&self) -> Vec<u8> {
        let state = self.0.lock().unwrap();
        state.bytes[..state.synced].to_vec()
    }

    /// Lets nothing be written as long as what is returned lives.
    pub fn stall(&self) -> impl Drop + '_ {
        self.0.lock().unwrap()
    }

    pub fn calls(&self) -> usize {
        self.0.lock().unwrap().calls
    }

    pub fn reading(&self) -> Reading {
        read_records(self.bytes().as_slice()).unwrap()
    }

    pub fn opening(&self) -> Opening {
        let disk = self.clone();
        Box::new(move || {
            disk.call()?;
            Ok(Box::new(disk.clone()))
        })
    }

    fn call(&self) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.calls += 1;
        let number = state.calls;
        if state.is_dead || state.fails.contains(&number) { Err(io::Error::other("no space left")) } else { Ok(()) }
    }
}

impl Store for Disk {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let outcome = self.call();
        let written = if outcome.is_ok() { bytes.len() } else { bytes.len() / 2 };
        self.0.lock().unwrap().bytes.extend_from_slice(&bytes[..written]);
        outcome
    }

    fn sync(&mut self) -> io::Result<()> {
        self.call()?;
        let mut state = self.0.lock().unwrap();
        state.synced = state.bytes.len();
        Ok(())
    }

    fn discard(&mut self) -> io::Result<()> {
        self.call()?;
        self.0.lock().unwrap().bytes.clear();
        Ok(())
    }
}

pub fn header() -> Header {
    let started: Timestamp = "2026-11-22T20:35:07Z".parse().unwrap();
    Header {
        schema: SCHEMA,
        program: "steersman 0.1.0".to_owned(),
        session: SessionId::new(started).unwrap(),
        started,
        directory: "/work/project".to_owned(),
        branch: Some("main".to_owned()),
        model: Some("test-model".to_owned()),
        parent: None,
        imported: None,
    }
}

pub fn journal(disk: &Disk) -> Journal {
    Journal::begin(header(), disk.opening())
}

pub fn event(seq: u64, event: Event) -> Envelope {
    Envelope { seq, at: "2026-11-22T20:35:08Z".parse().unwrap(), agent: AgentId::main(), parent: None, event }
}

pub fn ended(turn: u32) -> Event {
    Event::TurnEnded { turn, outcome: Outcome::Completed, message: None }
}

pub fn entry(id: &str, text: &str) -> Pending {
    Pending::new(id.into(), text, "2026-11-22T20:35:08Z".parse().unwrap())
}
