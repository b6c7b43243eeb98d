//! The server of one session: a thread that accepts connections and gives each a task.
//!
//! Always holds: the number of connections is bounded, and of those that have not said who they are the oldest gives way.

use std::collections::VecDeque;
use std::io;
use std::os::unix::net::UnixListener as StdListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::net::UnixListener;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::hub::Hub;
use crate::socket::key::SessionKey;
use crate::socket::place::Sockets;
use crate::socket::{connection, peer, place};
use steersman_base::limits;
use steersman_base::sync::lock;

/// Threads that carry requests out at the same time.
const THREADS: usize = 8;
/// Time until the next try when no connection can be accepted.
const REST: Duration = Duration::from_millis(50);

/// What a session says of itself to those who connect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// Its ID.
    pub session: String,
    /// The directory that it works in.
    pub directory: String,
    /// The model as it is configured.
    pub label: String,
    /// Whether it runs without a screen of its own.
    pub is_served: bool,
}

/// A session that listens, until this is dropped.
#[derive(Debug)]
pub struct SocketServer {
    path: PathBuf,
    /// Links to it.
    links: Vec<PathBuf>,
    end: Arc<Notify>,
    over: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

/// What all connections share.
pub(super) struct Shared {
    pub hub: Arc<Hub>,
    pub about: About,
    pub key: SessionKey,
    /// Rung when a client ends the session.
    pub over: Arc<Notify>,
    /// Connections that have not said who they are, the oldest first.
    strangers: Mutex<VecDeque<(u64, AbortHandle)>>,
    clients: AtomicUsize,
}

/// A place among the clients, until it is dropped.
pub(super) struct Seat(Arc<Shared>);

/// Lets a session listen. What the run says is kept from now on, so this comes before its first client.
///
/// # Errors
/// What the system says; the session goes on without.
pub fn listen(hub: Arc<Hub>, about: About, sockets: &Sockets) -> io::Result<SocketServer> {
    let (listener, path, key) = sockets.listen(&about.session)?;
    listener.set_nonblocking(true)?;
    let (end, over) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(THREADS).build()?;
    hub.open();
    let shared = Arc::new(Shared {
        hub,
        about,
        key,
        over: Arc::clone(&over),
        strangers: Mutex::default(),
        clients: AtomicUsize::new(0),
    });
    let ending = Arc::clone(&end);
    let thread = thread::Builder::new().name("outside".to_owned()).spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                () = accept(listener, &shared) => {}
                () = ending.notified() => {}
            }
            // Whoever reads gets the last of it.
            shared.say_goodbye().await;
        });
        runtime.shutdown_background();
    })?;
    Ok(SocketServer { path, links: Vec::new(), end, over, thread: Some(thread) })
}

impl SocketServer {
    /// Lets the session be found in another directory too.
    ///
    /// # Errors
    /// What the system says; the session is found in its own directory.
    pub fn announce(&mut self, sockets: &Sockets) -> io::Result<()> {
        self.links.push(sockets.announce(&self.path)?);
        Ok(())
    }

    /// Waits until a client ends the session.
    pub async fn ended(&self) {
        self.over.notified().await;
    }
}

impl Drop for SocketServer {
    fn drop(&mut self) {
        place::remove(&self.path);
        for link in &self.links {
            let _ = std::fs::remove_file(link);
        }
        self.end.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(listener: StdListener, shared: &Arc<Shared>) {
    let Ok(listener) = UnixListener::from_std(listener) else { return };
    let mut number = 0;
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "no connection can be accepted");
                tokio::time::sleep(REST).await;
                continue;
            }
        };
        if let Err(why) = peer::check(&stream) {
            tracing::warn!(why, "a connection was refused");
            tokio::spawn(connection::refuse(stream, why));
            continue;
        }
        number += 1;
        // It is among the strangers before it runs: this thread runs one task at a time.
        let task = tokio::spawn(connection::serve(stream, number, Arc::clone(shared)));
        shared.add_stranger(number, task.abort_handle());
    }
}

impl Shared {
    fn add_stranger(&self, number: u64, task: AbortHandle) {
        let mut strangers = lock(&self.strangers);
        strangers.push_back((number, task));
        if strangers.len() > limits::STRANGERS
            && let Some((_, oldest)) = strangers.pop_front()
        {
            oldest.abort();
        }
    }

    /// Takes a connection off the strangers.
    pub(super) fn no_stranger(&self, number: u64) {
        lock(&self.strangers).retain(|(other, _)| *other != number);
    }

    /// Gives a connection a place among the clients; `None` when there is none left.
    pub(super) fn seat(self: &Arc<Self>) -> Option<Seat> {
        let seat = Seat(Arc::clone(self));
        (self.clients.fetch_add(1, Ordering::SeqCst) < limits::CLIENTS).then_some(seat)
    }

    async fn say_goodbye(&self) {
        let until = tokio::time::Instant::now() + limits::CLIENT_FAREWELL;
        self.hub.end();
        while self.clients.load(Ordering::SeqCst) > 0 && tokio::time::Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::SeqCst);
    }
}
