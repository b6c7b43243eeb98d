//! A server that is a process of this machine: one message a line over its standard streams.
//!
//! The process is a job of the one spawner, under its guard. It never waits for the server: what it writes waits in a
//! queue, what it reads is bounded by a cap on a line, and of its log only the end is kept.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::mcp::message::{self, MessageError};
use crate::mcp::transport::lines::{Lines, StreamLine};
use crate::mcp::transport::{Arrival, Inbox, Outgoing, SendError, Transport};
use steersman_base::limits;
use steersman_base::summary::bytes;
use steersman_base::sync::lock;
use steersman_tools::workspace::{
    Ended, Failure, Job, JobErrors, JobInput, Placement, PrivateCopy, Running, Spawner, TalkingJob, signal_name,
};

/// Most bytes that are kept of a line which is no message.
const LOGGED_LINE: usize = 1_000;

/// The end of what a server wrote to its error output, and as log to the other one (untrusted). Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct ErrorOutput(Arc<Mutex<Vec<u8>>>);

impl ErrorOutput {
    /// Returns the text.
    pub fn text(&self) -> String {
        let kept = lock(&self.0);
        String::from_utf8_lossy(&kept).trim().to_owned()
    }

    /// Takes a line of the other output that is no message.
    fn push_line(&self, line: &[u8]) {
        self.push(line.get(..line.len().min(LOGGED_LINE)).unwrap_or_default());
        self.push(b"\n");
    }

    fn push(&self, piece: &[u8]) {
        let mut kept = lock(&self.0);
        kept.extend_from_slice(piece);
        let old = kept.len().saturating_sub(limits::MCP_ERRORS_BYTES);
        kept.drain(..old);
    }
}

/// A process that is to be a server.
#[derive(Debug, Clone)]
pub struct ServerJob {
    /// What is run.
    pub job: Job,
    /// Whether it runs in the sandbox.
    pub placement: Placement,
    /// The directory that its agents work in.
    pub workspace: PathBuf,
    /// The copy of the scripts that it runs, kept until it has ended.
    pub copy: Option<Arc<PrivateCopy>>,
}

/// A running process that is talked to.
#[derive(Debug)]
pub struct StdioTransport {
    lines: Mutex<Option<mpsc::Sender<Vec<u8>>>>,
    /// Why it is to end, once it is to.
    close: watch::Sender<Option<&'static str>>,
}

impl StdioTransport {
    /// Starts the process.
    ///
    /// # Errors
    /// As [`Spawner::start_talking`].
    ///
    /// # Panics
    /// Outside of a runtime.
    pub fn start(
        spawner: &Spawner,
        ServerJob { job, placement, workspace, copy }: &ServerJob,
        errors: &ErrorOutput,
        inbox: Inbox,
    ) -> io::Result<Self> {
        let TalkingJob { input, running, errors: error_stream } = spawner.start_talking(job, *placement, workspace)?;
        let (lines, waiting) = mpsc::channel(limits::MCP_OUTBOX);
        let (close, closed) = watch::channel(None);
        tokio::spawn(write(input, waiting));
        tokio::spawn(keep_errors(error_stream, errors.clone()));
        let (copy, errors) = (copy.clone(), errors.clone());
        tokio::spawn(async move {
            read_output(running, inbox, errors, closed).await;
            drop(copy);
        });
        Ok(Self { lines: Mutex::new(Some(lines)), close })
    }
}

impl Transport for StdioTransport {
    fn send(&self, message: Outgoing) {
        let mut line = message.message.to_string().into_bytes();
        line.push(b'\n');
        // Without a writer the reader says what has become of the process.
        let sent = lock(&self.lines).as_ref().map(|lines| lines.try_send(line));
        if let Some(Err(TrySendError::Full(_))) = sent {
            self.end("it does not read what it is sent");
        }
    }

    fn close(&self) {
        self.end("it was ended");
    }
}

impl StdioTransport {
    /// Ends the process for this reason; the first one counts.
    fn end(&self, why: &'static str) {
        *lock(&self.lines) = None;
        self.close.send_modify(|reason| {
            reason.get_or_insert(why);
        });
    }
}

async fn write(mut input: JobInput, mut waiting: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = waiting.recv().await {
        if input.write_all(&line).await.is_err() {
            return;
        }
    }
}

async fn keep_errors(mut stream: JobErrors, errors: ErrorOutput) {
    let mut buffer = vec![0; 8 * 1024];
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        errors.push(buffer.get(..read).unwrap_or_default());
    }
}

/// Reads until the process ends, is to end, or writes what cannot be read.
async fn read_output(
    mut running: Running,
    inbox: Inbox,
    log: ErrorOutput,
    mut closed: watch::Receiver<Option<&'static str>>,
) {
    let why = {
        let mut reading = std::pin::pin!(read_lines(&mut running, &inbox, &log));
        tokio::select! {
            why = &mut reading => Ok(why),
            // Closed, or dropped.
            closed = closed.wait_for(Option::is_some) => Err(closed.ok().and_then(|why| *why).unwrap_or("it was ended")),
        }
    };
    let why = match why {
        Ok(Some(why)) => why,
        Ok(None) => {
            // Who closes only the output is not waited for.
            let ended = timeout(limits::MCP_END_TIME, running.ended()).await;
            ended.map_or_else(|_| "it closed its output".to_owned(), |ended| sentence(&ended))
        }
        Err(why) => {
            let _ = timeout(limits::MCP_END_TIME, running.ended()).await;
            why.to_owned()
        }
    };
    running.kill();
    let _ = inbox.send(Arrival::Lost(why)).await;
}

/// Reads to the end of the output; returns why it stopped before that.
async fn read_lines(running: &mut Running, inbox: &Inbox, log: &ErrorOutput) -> Option<String> {
    let mut buffer = vec![0; 64 * 1024];
    let mut lines = Lines::default();
    loop {
        let read = match running.read_output(&mut buffer).await {
            Ok(0) | Err(_) => {
                // A last message without an end of its line counts.
                if let Ok(messages) = message::parse(lines.rest()) {
                    deliver(messages, inbox).await;
                }
                return None;
            }
            Ok(read) => read,
        };
        let mut found = Vec::new();
        let pushed = lines.push(buffer.get(..read).unwrap_or_default(), |line| match line {
            StreamLine::Whole(line) => {
                let read = message::parse(line);
                if read.is_err() {
                    log.push_line(line);
                }
                found.extend(arrivals(read));
            }
            StreamLine::TooLong(beginning) => {
                log.push_line(beginning);
                found.push(too_long(beginning));
            }
        });
        for arrival in found {
            // Nobody waits for it any more.
            let _ = inbox.send(arrival).await;
        }
        if pushed.is_err() {
            return Some(format!("it wrote a line of more than {}", bytes(limits::MCP_LOG_LINE_BYTES as u64)));
        }
    }
}

fn arrivals(read: Result<Vec<message::Incoming>, MessageError>) -> Vec<Arrival> {
    match read {
        Ok(messages) => messages.into_iter().map(Arrival::Message).collect(),
        Err(fault @ MessageError::Broken(_)) => vec![Arrival::Broken(fault.to_string())],
        Err(fault @ MessageError::NoJson(_)) => vec![Arrival::Noise(fault.to_string())],
    }
}

/// Tells what a line is of which only the beginning is kept: an answer that is too large ends its request, anything else
/// is log.
fn too_long(beginning: &[u8]) -> Arrival {
    let why = format!("a line of more than {}", bytes(limits::MCP_LINE_BYTES as u64));
    match message::answered_in(beginning) {
        Some(id) => Arrival::Failed(id, SendError::Broken(format!("its answer is {why}"))),
        None => Arrival::Noise(format!("it wrote {why}, which is not read")),
    }
}

async fn deliver(messages: Vec<message::Incoming>, inbox: &Inbox) {
    for message in messages {
        // Nobody waits for it any more.
        let _ = inbox.send(Arrival::Message(message)).await;
    }
}

/// Says how a process ended.
fn sentence(ended: &Ended) -> String {
    match (&ended.failure, ended.code, ended.signal) {
        (Some(Failure::NotStarted(why)), ..) => why.clone(),
        (Some(Failure::TooManyProcesses), ..) => "it had too many processes and was ended".to_owned(),
        (Some(Failure::TooMuchMemory(most)), ..) => {
            format!("it took more than {} of memory and was ended", bytes(*most))
        }
        (Some(Failure::MachineOutOfMemory), ..) => "it was ended: the machine had almost no memory left".to_owned(),
        (Some(Failure::Unwatched), ..) => "it was ended: its processes could not be seen any more".to_owned(),
        (Some(Failure::GuardLost), ..) | (None, None, None) => "it ended".to_owned(),
        (None, Some(code), _) => format!("it ended with exit code {code}"),
        (None, None, Some(signal)) => format!("it was killed by {}", signal_name(signal)),
    }
}
