//! One connection: reads calls, carries them out one after the other, and writes answers and updates.
//!
//! Always holds: a line that is no call is answered and harms nothing; what waits to be written is bounded, and a client
//! that does not read is disconnected.

use std::io;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::client::Client as _;
use crate::hub::Beginning;
use crate::local::LocalClient;
use crate::socket::server::{Seat, Shared};
use crate::socket::wire::{self, Call, CallError, Hello, Method, Replied, Updates, Welcome};
use steersman_base::limits;
use steersman_base::protocol::{Notice, Update, VERSION};
use steersman_base::sync::lock;
use steersman_base::text::is_blank;

/// Part of a line that is read at once, bytes.
const PIECE: usize = 16 * 1024;
/// Longest name of a kind of client, and longest token, bytes.
const NAME: usize = 32;
const TOKEN: usize = 100;
/// Answers that wait to be written before nothing more is read.
const ANSWERS: usize = 32;
/// Lines that cannot be read before a connection is closed.
const FAULTS: usize = 100;

/// Tells somebody why the connection is closed.
pub(super) async fn refuse(mut stream: UnixStream, why: &str) {
    let line = wire::answer::<()>(None, Err(CallError::refused(why)));
    let _ = timeout(limits::CLIENT_FAREWELL, stream.write_all(line.as_bytes())).await;
}

/// Talks to whoever has connected, to the end.
pub(super) async fn serve(stream: UnixStream, number: u64, shared: Arc<Shared>) {
    let (read, mut write) = stream.into_split();
    let mut lines = Lines { read, buffer: Vec::new(), piece: vec![0; PIECE] };
    let greeted = timeout(limits::GREETING_TIME, greeting(&mut lines, &mut write, &shared)).await;
    shared.no_stranger(number);
    let Ok(Some((hello, id, seat))) = greeted else { return };
    talk(lines, write, hello, id, &shared).await;
    drop(seat);
}

/// Answers until somebody with the key says who it is.
async fn greeting(lines: &mut Lines, write: &mut OwnedWriteHalf, shared: &Arc<Shared>) -> Option<(Hello, u64, Seat)> {
    let mut has_key = false;
    loop {
        let line = match lines.next(limits::GREETING_LINE).await {
            Ok(line) => line?,
            Err(error) => {
                let answer = wire::answer::<()>(None, Err(CallError::unreadable(error.to_string())));
                let _ = write.write_all(answer.as_bytes()).await;
                return None;
            }
        };
        let answer = match wire::read_call(&line) {
            Ok(Call { id, method: Method::Authorize(key), .. }) => {
                has_key = shared.key.is(&key);
                wire::answer(Some(id), has_key.then_some(()).ok_or_else(|| CallError::refused("this is not the key")))
            }
            Ok(Call { id, .. }) if !has_key => {
                wire::answer::<()>(Some(id), Err(CallError::refused("authorize first, with the key of this session")))
            }
            Ok(Call { id, method: Method::Hello(hello), .. }) => match (check(&hello), shared.seat()) {
                (Ok(()), Some(seat)) => return Some((hello, id, seat)),
                (Err(error), _) => wire::answer::<()>(Some(id), Err(error)),
                (Ok(()), None) => {
                    wire::answer::<()>(Some(id), Err(CallError::refused("too many clients are connected already")))
                }
            },
            Ok(Call { id, method: Method::Status, .. }) => answer_status(id, shared),
            Ok(Call { id, .. }) => wire::answer::<()>(Some(id), Err(CallError::refused("say hello first"))),
            Err(error) => wire::answer::<()>(None, Err(error)),
        };
        write.write_all(answer.as_bytes()).await.ok()?;
    }
}

fn check(hello: &Hello) -> Result<(), CallError> {
    if hello.version != VERSION {
        let sentence = format!("this session speaks version {VERSION} of the protocol, not {}", hello.version);
        return Err(CallError::refused(sentence));
    }
    let is_name = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_blank(&hello.name) || hello.name.len() > NAME || !is_name(&hello.name) {
        return Err(CallError::refused("a name has letters, digits and hyphens, at most 32"));
    }
    if hello.token.as_ref().is_some_and(|token| token.len() > TOKEN) {
        return Err(CallError::refused("a token has at most 100 bytes"));
    }
    Ok(())
}

fn answer_status(id: u64, shared: &Shared) -> String {
    let mut status = shared.hub.status();
    status.session.clone_from(&shared.about.session);
    if status.directory.is_empty() {
        status.directory.clone_from(&shared.about.directory);
    }
    wire::answer(Some(id), Ok(status))
}

/// What the reading and the writing half of a connection share.
struct Connection {
    client: LocalClient,
    updates: Updates,
    answers: Mutex<Vec<String>>,
    wake: Notify,
    /// Rung when answers were written.
    written: Notify,
}

impl Connection {
    fn answer<T: Serialize>(&self, id: Option<u64>, outcome: Result<T, CallError>) {
        self.push(wire::answer(id, outcome));
    }

    fn push(&self, line: String) {
        lock(&self.answers).push(line);
        self.wake.notify_one();
    }

    async fn room(&self) {
        while lock(&self.answers).len() >= ANSWERS {
            self.written.notified().await;
        }
    }

    /// Takes what is to be written, as lines; the answers before the snapshots that show what came of them.
    fn take_lines(&self) -> String {
        let mut updates = self.client.answers();
        updates.extend(self.client.events());
        // Taken after the snapshots: a snapshot is marked after its answer, so none is written before its answer.
        let mut lines = std::mem::take(&mut *lock(&self.answers)).concat();
        if self.updates != Updates::None {
            for update in &updates {
                lines.push_str(&wire::update(update));
            }
        }
        lines
    }
}

async fn talk(mut lines: Lines, write: OwnedWriteHalf, hello: Hello, id: u64, shared: &Arc<Shared>) {
    let name = shared.hub.name_for(&hello.name, hello.token.as_deref());
    let beginning = if hello.updates == Updates::Past { Beginning::Past } else { Beginning::Now };
    let about = &shared.about;
    let welcome = Welcome {
        version: VERSION,
        program: concat!("steersman ", env!("CARGO_PKG_VERSION")).to_owned(),
        client: name.clone(),
        session: about.session.clone(),
        directory: about.directory.clone(),
        label: about.label.clone(),
        is_served: about.is_served,
    };
    let client = shared.hub.join(name, beginning);
    let answers = Mutex::new(vec![wire::answer(Some(id), Ok(welcome))]);
    let connection =
        Arc::new(Connection { client, updates: hello.updates, answers, wake: Notify::new(), written: Notify::new() });
    let waking = Arc::downgrade(&connection);
    connection.client.on_wake(Arc::new(move |_| {
        if let Some(connection) = waking.upgrade() {
            connection.wake.notify_one();
        }
    }));
    tokio::select! {
        () = read_calls(&mut lines, &connection, shared) => {
            // What was asked for last is answered.
            let _ = timeout(limits::CLIENT_FAREWELL, connection.all_written()).await;
        }
        () = write_lines(write, &connection) => {}
    }
}

impl Connection {
    async fn all_written(&self) {
        while !lock(&self.answers).is_empty() {
            self.written.notified().await;
        }
    }
}

async fn read_calls(lines: &mut Lines, connection: &Arc<Connection>, shared: &Arc<Shared>) {
    let mut faults = 0;
    loop {
        connection.room().await;
        let line = match lines.next(limits::CLIENT_LINE).await {
            Ok(Some(line)) => line,
            Ok(None) => return,
            Err(error) => return connection.answer::<()>(None, Err(CallError::unreadable(error.to_string()))),
        };
        match wire::read_call(&line) {
            Ok(Call { id, method, .. }) => carry_out(id, method, connection, shared).await,
            Err(error) => {
                faults += 1;
                connection.answer::<()>(None, Err(error));
                if faults >= FAULTS {
                    return;
                }
            }
        }
    }
}

async fn carry_out(id: u64, method: Method, connection: &Arc<Connection>, shared: &Arc<Shared>) {
    match method {
        Method::Authorize(_) => connection.answer(Some(id), Ok(())),
        Method::Hello(_) => connection.answer::<()>(Some(id), Err(CallError::refused("you said hello already"))),
        Method::Status => connection.push(answer_status(id, shared)),
        Method::End => {
            let is_last = shared.about.is_served && !shared.hub.has_others(connection.client.name());
            if is_last {
                shared.over.notify_one();
            }
            connection.answer(Some(id), Ok(is_last));
        }
        Method::Request(request) => {
            let takes_a_moment = request.takes_a_moment();
            let carrying = Arc::clone(connection);
            // It may wait for the disk, and this thread serves all clients.
            let work = tokio::task::spawn_blocking(move || {
                carrying.client.carry_out(id, *request, |reply| carrying.answer(Some(id), Ok(Replied { reply })));
            });
            if !takes_a_moment {
                let _ = work.await;
            }
        }
    }
}

async fn write_lines(mut write: OwnedWriteHalf, connection: &Connection) {
    loop {
        let lines = connection.take_lines();
        connection.written.notify_one();
        let is_over = connection.client.is_over();
        let mut work = std::pin::pin!(write.write_all(lines.as_bytes()));
        let mut is_woken = false;
        let is_written = loop {
            tokio::select! {
                written = &mut work => break written.is_ok(),
                () = connection.wake.notified() => {
                    is_woken = true;
                    if connection.client.is_lost() {
                        break false;
                    }
                }
            }
        };
        if is_over {
            let update = wire::update(&Update::Notice(Notice::Over("the session has ended".to_owned())));
            let _ = timeout(limits::CLIENT_FAREWELL, write.write_all(update.as_bytes())).await;
            return;
        }
        if !is_written || connection.client.is_lost() {
            return;
        }
        if !is_woken {
            connection.wake.notified().await;
        }
    }
}

/// The lines of a connection.
struct Lines {
    read: OwnedReadHalf,
    buffer: Vec<u8>,
    /// What is read into.
    piece: Vec<u8>,
}

impl Lines {
    /// Reads the next line without its end; `None` when the connection is closed. What is begun and not ended is no line.
    ///
    /// # Errors
    /// When the line is longer than `most`, or cannot be read.
    async fn next(&mut self, most: usize) -> io::Result<Option<Vec<u8>>> {
        let mut looked = 0;
        loop {
            if let Some(end) = self.buffer.get(looked..).and_then(|new| memchr::memchr(b'\n', new)) {
                let mut line: Vec<u8> = self.buffer.drain(..=looked + end).collect();
                line.pop();
                return Ok(Some(line));
            }
            looked = self.buffer.len();
            if looked > most {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the line is too long"));
            }
            let read = self.read.read(&mut self.piece).await?;
            if read == 0 {
                return Ok(None);
            }
            self.buffer.extend_from_slice(self.piece.get(..read).unwrap_or_default());
        }
    }
}
