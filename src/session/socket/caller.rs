//! The other end of a connection for a command: calls one after the other, and the updates between the answers.
//!
//! It blocks, with a limit on how long a session may take to answer.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::socket::key::SessionKey;
use crate::socket::place;
use crate::socket::wire::{self, CallError, Hello, Incoming, Method, Replied, Updates, Welcome};
use steersman_base::limits;
use steersman_base::protocol::{Reply, Request, SessionStatus, Update, VERSION};

/// A connection to a session.
#[derive(Debug)]
pub struct Caller {
    read: BufReader<UnixStream>,
    write: UnixStream,
    number: u64,
    updates: VecDeque<Update>,
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum CallFailed {
    /// The connection broke, or the session does not answer.
    #[error("the session does not answer: {0}")]
    Broken(#[from] io::Error),
    /// The session refused it (untrusted).
    #[error("{}", .0.message)]
    Refused(CallError),
}

/// One thing that a session sends.
pub(super) enum Received {
    Update(Box<Update>),
    Answer(u64, Result<String, CallError>),
}

impl Caller {
    /// Connects to a socket, with the key that lies beside it.
    ///
    /// # Errors
    /// [`CallFailed`].
    pub fn connect(path: &Path) -> Result<Self, CallFailed> {
        let key = SessionKey::load(&place::key_path(path))?;
        let write = UnixStream::connect(path)?;
        write.set_write_timeout(Some(limits::OUTSIDE_PATIENCE))?;
        write.set_read_timeout(Some(limits::OUTSIDE_PATIENCE))?;
        let read = BufReader::new(write.try_clone()?);
        let mut caller = Self { read, write, number: 0, updates: VecDeque::new() };
        caller.call::<()>(&Method::Authorize(key))?;
        Ok(caller)
    }

    /// Says who this is.
    ///
    /// # Errors
    /// [`CallFailed`].
    pub fn hello(&mut self, name: &str, updates: Updates) -> Result<Welcome, CallFailed> {
        self.call(&Method::Hello(Hello { version: VERSION, name: name.to_owned(), token: None, updates }))
    }

    /// Asks how the session stands.
    ///
    /// # Errors
    /// [`CallFailed`].
    pub fn status(&mut self) -> Result<SessionStatus, CallFailed> {
        self.call(&Method::Status)
    }

    /// Sends a request, and returns its reply where it has one.
    ///
    /// # Errors
    /// [`CallFailed`].
    pub fn request(&mut self, request: Request) -> Result<Option<Reply>, CallFailed> {
        self.call(&Method::Request(Box::new(request))).map(|Replied { reply }| reply)
    }

    /// Sends a request whose reply may wait for a command or for a person, and waits as long.
    ///
    /// # Errors
    /// [`CallFailed`].
    pub fn request_patiently(&mut self, request: Request) -> Result<Option<Reply>, CallFailed> {
        self.write.set_read_timeout(None)?;
        let reply = self.request(request);
        self.write.set_read_timeout(Some(limits::OUTSIDE_PATIENCE))?;
        reply
    }

    /// Calls a method and waits for its result.
    ///
    /// # Errors
    /// [`CallFailed`].
    pub fn call<T: DeserializeOwned>(&mut self, method: &Method) -> Result<T, CallFailed> {
        self.number += 1;
        self.write.write_all(wire::call(self.number, method).as_bytes())?;
        loop {
            match receive(&mut self.read)? {
                Some(Received::Update(update)) => self.updates.push_back(*update),
                Some(Received::Answer(number, outcome)) if number == self.number || number == 0 => {
                    let result = outcome.map_err(CallFailed::Refused)?;
                    return Ok(serde_json::from_slice(result.as_bytes()).map_err(io::Error::from)?);
                }
                Some(Received::Answer(..)) => {}
                None => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            }
        }
    }

    /// Waits for the next update, however long that takes; `None` when the session has ended.
    ///
    /// # Errors
    /// What the system says.
    pub fn next_update(&mut self) -> io::Result<Option<Update>> {
        if let Some(update) = self.updates.pop_front() {
            return Ok(Some(update));
        }
        self.write.set_read_timeout(None)?;
        loop {
            match receive(&mut self.read)? {
                Some(Received::Update(update)) => return Ok(Some(*update)),
                Some(Received::Answer(..)) => {}
                None => return Ok(None),
            }
        }
    }

    /// Takes the connection apart: what is read, and what is written to.
    pub(super) fn split(self) -> io::Result<(BufReader<UnixStream>, UnixStream, u64)> {
        self.write.set_read_timeout(None)?;
        Ok((self.read, self.write, self.number))
    }
}

/// Reads what a session sends next; `None` when the connection is closed.
pub(super) fn receive(read: &mut BufReader<UnixStream>) -> io::Result<Option<Received>> {
    let mut line = Vec::new();
    let most = limits::SERVED_LINE as u64;
    if read.take(most).read_until(b'\n', &mut line)? == 0 || line.last() != Some(&b'\n') {
        return Ok(None);
    }
    let incoming: Incoming<'_> = serde_json::from_slice(&line)?;
    Ok(Some(match (incoming.params, incoming.error, incoming.result) {
        // From bytes, as the journal is read: from text, every type of an event would be compiled a second time.
        (Some(update), ..) => Received::Update(Box::new(serde_json::from_slice(update.get().as_bytes())?)),
        (None, Some(error), _) => Received::Answer(incoming.id.unwrap_or(0), Err(error)),
        (None, None, result) => {
            let result = result.map_or("null", serde_json::value::RawValue::get);
            Received::Answer(incoming.id.unwrap_or(0), Ok(result.to_owned()))
        }
    }))
}
