//! A client in another process than the run: the same updates and requests as in the same process, over the socket.
//!
//! One thread reads, one writes; nothing here waits for the session, so a screen on it stays quick.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::client::{Client, Wake, WakeReason, Wakeable};
use crate::host::ClosingEvent;
use crate::open_items::OpenItems;
use crate::socket::caller::{CallFailed, Caller, Received, receive};
use crate::socket::wire::{self, Method, Replied};
use steersman_base::clock;
use steersman_base::event::Envelope;
use steersman_base::limits;
use steersman_base::mode::Mode;
use steersman_base::protocol::{Notice, Request, Update};
use steersman_base::sync::lock;

/// A client at the other end of a socket.
pub struct RemoteClient {
    lines: Sender<String>,
    number: AtomicU64,
    shared: Arc<Shared>,
    /// Closed once everything is written.
    writing: Mutex<Receiver<()>>,
}

#[derive(Default)]
struct Shared {
    answers: Mutex<Vec<Update>>,
    events: Mutex<Vec<Update>>,
    wake: Wakeable,
}

impl Shared {
    fn push(&self, update: Update) {
        let waiting = match &update {
            Update::Reply(_)
            | Update::Queues { .. }
            | Update::Approvals { .. }
            | Update::Budget(_)
            | Update::Notice(Notice::Withdrawn { .. } | Notice::Returned(_) | Notice::Over(_)) => WakeReason::Answers,
            Update::Envelope(_) | Update::Notice(_) => WakeReason::Events,
        };
        match waiting {
            WakeReason::Answers => {
                let mut answers = lock(&self.answers);
                // Only the newest snapshot is true.
                answers.retain(|old| !is_replaced(old, &update));
                answers.push(update);
            }
            WakeReason::Events => {
                let mut events = lock(&self.events);
                let is_merged = match (events.last_mut(), &update) {
                    (Some(Update::Envelope(last)), Update::Envelope(next)) => last.merge(next),
                    _ => false,
                };
                if !is_merged {
                    events.push(update);
                }
            }
        }
        self.wake.wake(waiting);
    }
}

fn is_replaced(old: &Update, new: &Update) -> bool {
    matches!(
        (old, new),
        (Update::Queues { .. }, Update::Queues { .. })
            | (Update::Approvals { .. }, Update::Approvals { .. })
            | (Update::Budget(_), Update::Budget(_))
    )
}

impl RemoteClient {
    /// Goes on with a connection that has said hello.
    ///
    /// # Errors
    /// When there is no thread for it.
    pub fn new(caller: Caller) -> Result<Self, CallFailed> {
        let (mut read, write, number) = caller.split()?;
        let shared = Arc::new(Shared::default());
        let (lines, written) = channel();
        let (done, writing) = channel();
        thread::Builder::new().name("to session".to_owned()).spawn(move || {
            write_all(write, &written);
            drop::<Sender<()>>(done);
        })?;
        let inbox = Arc::clone(&shared);
        thread::Builder::new().name("from session".to_owned()).spawn(move || {
            let mut told = Told::default();
            let sentence = loop {
                match receive(&mut read) {
                    Ok(Some(Received::Update(update))) => match *update {
                        Update::Notice(Notice::Over(sentence)) => break sentence,
                        update => {
                            told.apply(&update);
                            inbox.push(update);
                        }
                    },
                    Ok(Some(Received::Answer(_, Ok(result)))) => {
                        let replied: Option<Replied> = serde_json::from_slice(result.as_bytes()).ok();
                        if let Some(Replied { reply: Some(reply) }) = replied {
                            inbox.push(Update::Reply(reply));
                        }
                    }
                    Ok(Some(Received::Answer(_, Err(error)))) => {
                        inbox.push(Update::Notice(Notice::Info(error.message)));
                    }
                    Ok(None) => break "the connection to the session is closed".to_owned(),
                    Err(error) => break format!("the connection to the session is broken: {error}"),
                }
            };
            told.closing(&sentence).for_each(|update| inbox.push(update));
            inbox.push(Update::Notice(Notice::Over(sentence)));
        })?;
        Ok(Self { lines, number: AtomicU64::new(number), shared, writing: Mutex::new(writing) })
    }

    /// Ends the session, if it was served without a screen and nobody else looks at it.
    pub fn end_session(&self) {
        self.call(&Method::End);
    }

    fn call(&self, method: &Method) {
        let number = self.number.fetch_add(1, Ordering::SeqCst) + 1;
        // After the end there is nobody to send it to, which the screen says.
        let _ = self.lines.send(wire::call(number, method));
    }

    /// Closes the connection once what was sent is written.
    pub fn close(self) {
        let Self { lines, shared, writing, .. } = self;
        shared.wake.set(None);
        drop(lines);
        // A session that reads nothing any more is not waited for.
        let _ = lock(&writing).recv_timeout(limits::OUTSIDE_PATIENCE);
    }
}

/// What the session has told that goes on for as long as its end is not told.
#[derive(Default)]
struct Told {
    open: OpenItems,
    /// The number of the last event.
    last: u64,
    /// The mode, once approvals were told.
    mode: Option<Mode>,
}

impl Told {
    fn apply(&mut self, update: &Update) {
        match update {
            Update::Envelope(envelope) => {
                self.open.apply(envelope);
                self.last = self.last.max(envelope.seq);
            }
            Update::Approvals { mode, .. } => self.mode = Some(*mode),
            Update::Reply(_) | Update::Queues { .. } | Update::Budget(_) | Update::Notice(_) => {}
        }
    }

    /// Returns the updates with which all of it has ended for this client: nobody will tell it.
    fn closing(self, why: &str) -> impl Iterator<Item = Update> {
        let questions = self.mode.map(|mode| Update::Approvals { mode, open: Vec::new() });
        let at = clock::now();
        let numbered = (self.last + 1..).zip(self.open.closing(why));
        let events = numbered.map(move |(seq, ClosingEvent { agent, parent, event })| {
            Update::Envelope(Envelope { seq, at, agent, parent, event })
        });
        questions.into_iter().chain(events)
    }
}

fn write_all(mut write: UnixStream, lines: &Receiver<String>) {
    while let Ok(line) = lines.recv() {
        if write.write_all(line.as_bytes()).is_err() {
            return;
        }
    }
    let _ = write.shutdown(std::net::Shutdown::Write);
}

impl Client for RemoteClient {
    fn send(&self, request: Request) {
        self.call(&Method::Request(Box::new(request)));
    }

    fn answers(&self) -> Vec<Update> {
        std::mem::take(&mut *lock(&self.shared.answers))
    }

    fn events(&self) -> Vec<Update> {
        std::mem::take(&mut *lock(&self.shared.events))
    }

    fn on_wake(&self, wake: Wake) {
        self.shared.wake.set(Some(Arc::clone(&wake)));
        wake(WakeReason::Answers);
        wake(WakeReason::Events);
    }

    /// Leaves the run as it is.
    fn end(&self) {}
}
