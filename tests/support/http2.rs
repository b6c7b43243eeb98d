//! A scripted HTTP/2 server behind TLS, written frame by frame, so that it can do what good servers do not.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use super::tls::{Identity, acceptor};

/// What the server does with one request.
#[derive(Debug, Clone)]
pub enum Operation {
    /// Answers.
    Answer(Vec<u8>),
    /// Refuses the stream: it has not looked at it.
    Refuse,
    /// Breaks the stream before an answer.
    Break,
    /// Sends this much of an answer, then breaks the stream.
    BreakBehind(Vec<u8>),
    /// Says that it leaves and has not looked at the request; then leaves.
    LeaveUnseen,
    /// Says that it leaves and that it has taken the request; then leaves.
    LeaveSeen,
    /// Says that it leaves, and answers before it does.
    LeaveBehind(Vec<u8>),
}

/// A running server. Dropping it stops it.
pub struct Http2Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    script: Mutex<VecDeque<Operation>>,
    bodies: Mutex<Vec<String>>,
    protocols: Mutex<Vec<String>>,
}

impl Http2Server {
    pub fn start(identity: Identity, script: impl IntoIterator<Item = Operation>) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared { script: Mutex::new(script.into_iter().collect()), ..Shared::default() });
        let (stop, stopped) = oneshot::channel();
        let in_thread = Arc::clone(&shared);
        let acceptor = acceptor(identity, &["h2", "http/1.1"]);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                let accept = async {
                    while let Ok((socket, _)) = listener.accept().await {
                        tokio::spawn(connection(socket, acceptor.clone(), Arc::clone(&in_thread)));
                    }
                };
                tokio::select! { () = accept => {}, _ = stopped => {} }
            });
        });
        Self { address, shared, stop: Some(stop), thread: Some(thread) }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn act(&self, operation: Operation) {
        self.shared.script.lock().unwrap().push_back(operation);
    }

    /// Returns the bodies of the requests so far.
    pub fn bodies(&self) -> Vec<String> {
        self.shared.bodies.lock().unwrap().clone()
    }

    /// Returns what each connection agreed on.
    pub fn protocols(&self) -> Vec<String> {
        self.shared.protocols.lock().unwrap().clone()
    }
}

impl Drop for Http2Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;

const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

const NO_ERROR: u32 = 0;
const INTERNAL: u32 = 2;
const REFUSED: u32 = 7;

async fn connection(socket: TcpStream, acceptor: TlsAcceptor, shared: Arc<Shared>) -> std::io::Result<()> {
    let mut tls = acceptor.accept(socket).await?;
    let agreed = tls.get_ref().1.alpn_protocol().unwrap_or_default();
    shared.protocols.lock().unwrap().push(String::from_utf8_lossy(agreed).into_owned());
    let mut preface = [0; 24];
    tls.read_exact(&mut preface).await?;
    frame(&mut tls, SETTINGS, 0, 0, &[]).await?;
    let mut body = Vec::new();
    loop {
        let mut head = [0; 9];
        tls.read_exact(&mut head).await?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let (kind, flags) = (head[3], head[4]);
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        let mut payload = vec![0; length];
        tls.read_exact(&mut payload).await?;
        match kind {
            SETTINGS | PING if flags & ACK == 0 => {
                let payload = if kind == PING { payload } else { Vec::new() };
                frame(&mut tls, kind, ACK, 0, &payload).await?;
            }
            DATA | HEADERS => {
                if kind == DATA {
                    body.extend_from_slice(&payload);
                }
                if flags & END_STREAM != 0 {
                    let whole = String::from_utf8_lossy(&std::mem::take(&mut body)).into_owned();
                    shared.bodies.lock().unwrap().push(whole);
                    let operation = shared.script.lock().unwrap().pop_front().unwrap_or(Operation::Break);
                    if !play(&mut tls, stream, operation).await? {
                        // Gives the client the time to read why.
                        return tls.shutdown().await;
                    }
                }
            }
            _ => {}
        }
    }
}

/// Does an operation; false when the connection ends with it.
async fn play(
    tls: &mut (impl AsyncRead + AsyncWrite + Unpin),
    stream: u32,
    operation: Operation,
) -> std::io::Result<bool> {
    let leave = |last: u32| [last.to_be_bytes(), NO_ERROR.to_be_bytes()].concat();
    match operation {
        Operation::Answer(body) => answer(tls, stream, &body, END_STREAM).await?,
        Operation::Refuse => frame(tls, RESET, 0, stream, &REFUSED.to_be_bytes()).await?,
        Operation::Break => frame(tls, RESET, 0, stream, &INTERNAL.to_be_bytes()).await?,
        Operation::BreakBehind(body) => {
            answer(tls, stream, &body, 0).await?;
            frame(tls, RESET, 0, stream, &INTERNAL.to_be_bytes()).await?;
        }
        Operation::LeaveUnseen => {
            frame(tls, GO_AWAY, 0, 0, &leave(stream.saturating_sub(2))).await?;
            return Ok(false);
        }
        Operation::LeaveSeen => {
            frame(tls, GO_AWAY, 0, 0, &leave(stream)).await?;
            return Ok(false);
        }
        Operation::LeaveBehind(body) => {
            frame(tls, GO_AWAY, 0, 0, &leave(stream)).await?;
            answer(tls, stream, &body, END_STREAM).await?;
            return Ok(false);
        }
    }
    Ok(true)
}

async fn answer(tls: &mut (impl AsyncWrite + Unpin), stream: u32, body: &[u8], end: u8) -> std::io::Result<()> {
    // 0x88 is `:status: 200` in the static table.
    frame(tls, HEADERS, END_HEADERS, stream, &[0x88]).await?;
    frame(tls, DATA, end, stream, body).await
}

async fn frame(
    tls: &mut (impl AsyncWrite + Unpin),
    kind: u8,
    flags: u8,
    stream: u32,
    payload: &[u8],
) -> std::io::Result<()> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], kind, flags];
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    tls.write_all(&bytes).await?;
    tls.flush().await
}
