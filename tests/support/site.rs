//! Web servers of the tests, on loopback: a [`Site`] that sends whatever bytes a test writes, and a [`Canary`] that must
//! never be asked.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use steersman_base::details::{Details, PageInfo};
use steersman_base::message::Arguments;
use steersman_core::approval::{Answerer, Approvals, Mode, Policy};
use steersman_core::tool::{Tool, ToolContext, ToolError, ToolReport};

use super::skip::{Need, skip};

/// One thing that a site does in its answer.
pub enum Sent {
    /// Sends these bytes.
    Bytes(Vec<u8>),
    /// Sends these bytes again and again until the client goes away.
    Endless(Vec<u8>),
    /// Sends these bytes one by one with a pause before each.
    Drip(Vec<u8>, Duration),
    /// Sends nothing until the client goes away.
    Hang,
}

/// Makes a whole answer: status line, headers and body.
pub fn answer(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<Sent> {
    let body = body.as_ref();
    let mut head = format!("HTTP/1.1 {status} Status\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    vec![Sent::Bytes([head.as_bytes(), body].concat())]
}

/// Makes an answer of a type.
pub fn typed(content_type: &str, body: impl AsRef<[u8]>) -> Vec<Sent> {
    answer(200, &[("Content-Type", content_type)], body)
}

/// Makes a redirect.
pub fn redirect(to: &str) -> Vec<Sent> {
    answer(302, &[("Location", to)], "")
}

type Route = dyn Fn(&str) -> Vec<Sent> + Send + Sync;

/// A running web server on 127.0.0.1.
pub struct Site {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    connections: AtomicUsize,
    bytes: AtomicUsize,
    heads: Mutex<Vec<String>>,
}

impl Site {
    /// Starts with a function from a path and its query to an answer. Each connection takes one request.
    pub fn start(route: impl Fn(&str) -> Vec<Sent> + Send + Sync + 'static) -> Self {
        Self::start_at((Ipv4Addr::LOCALHOST, 0).into(), route)
    }

    /// Starts at another address of the test's network.
    pub fn start_at(address: SocketAddr, route: impl Fn(&str) -> Vec<Sent> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let (route, of_thread): (Arc<Route>, _) = (Arc::new(route), Arc::clone(&shared));
        let thread = std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                if of_thread.stop.load(Ordering::SeqCst) {
                    return;
                }
                of_thread.connections.fetch_add(1, Ordering::SeqCst);
                let (route, shared) = (Arc::clone(&route), Arc::clone(&of_thread));
                std::thread::spawn(move || serve(socket, &*route, &shared));
            }
        });
        Self { address, shared, thread: Some(thread) }
    }

    /// Starts with the same answer to everything of this type.
    pub fn of(content_type: &str, body: impl AsRef<[u8]>) -> Self {
        let (content_type, body) = (content_type.to_owned(), body.as_ref().to_vec());
        Self::start(move |_| typed(&content_type, &body))
    }

    /// Returns `127.0.0.1:port`.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns the address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Counts the connections that were made.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Counts the bytes that were sent.
    pub fn bytes(&self) -> usize {
        self.shared.bytes.load(Ordering::SeqCst)
    }

    /// Returns the requests as they came: line, headers, and the body of those that have one.
    pub fn heads(&self) -> Vec<String> {
        self.shared.heads.lock().unwrap().clone()
    }

    /// Returns the paths that were asked for.
    pub fn paths(&self) -> Vec<String> {
        self.heads().iter().filter_map(|head| head.split(' ').nth(1).map(str::to_owned)).collect()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(mut socket: TcpStream, route: &Route, shared: &Shared) {
    let _ = socket.set_read_timeout(Some(Duration::from_secs(30)));
    let mut head = Vec::new();
    let mut piece = [0; 4096];
    let end = loop {
        if let Some(at) = head.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        match socket.read(&mut piece) {
            Ok(count) if count > 0 => head.extend_from_slice(&piece[..count]),
            _ => return,
        }
    };
    let text = String::from_utf8_lossy(&head[..end]).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse::<usize>().ok());
    while head.len() < end + length.unwrap_or(0) {
        match socket.read(&mut piece) {
            Ok(count) if count > 0 => head.extend_from_slice(&piece[..count]),
            _ => return,
        }
    }
    let request = String::from_utf8_lossy(&head).into_owned();
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    shared.heads.lock().unwrap().push(request);
    for sent in route(&path) {
        let done = match sent {
            Sent::Bytes(bytes) => send(&mut socket, &bytes, shared),
            Sent::Endless(bytes) => loop {
                if !send(&mut socket, &bytes, shared) {
                    break false;
                }
            },
            Sent::Drip(bytes, pause) => bytes.iter().all(|byte| {
                std::thread::sleep(pause);
                send(&mut socket, &[*byte], shared)
            }),
            Sent::Hang => !matches!(socket.read(&mut piece), Ok(0) | Err(_)),
        };
        if !done {
            return;
        }
    }
}

fn send(socket: &mut TcpStream, bytes: &[u8], shared: &Shared) -> bool {
    let sent = !shared.stop.load(Ordering::SeqCst) && socket.write_all(bytes).is_ok();
    if sent {
        shared.bytes.fetch_add(bytes.len(), Ordering::SeqCst);
    }
    sent
}

/// A server on every address of this machine, `127.0.0.1` and `::1` among them, that counts connections.
pub struct Canary {
    port: u16,
    listener: TcpListener,
}

impl Canary {
    /// Starts it; where the machine knows no IPv6, it listens on IPv4 alone and says so.
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)).unwrap_or_else(|error| {
            skip(Need::Ipv6, &format!("the canary listens on IPv4 alone ({error})"));
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap()
        });
        listener.set_nonblocking(true).unwrap();
        Self { port: listener.local_addr().unwrap().port(), listener }
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Counts the connections since the last time. One of our own shows that it can.
    pub fn connections(&self) -> usize {
        let _own = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        let mut count = 0;
        let deadline = std::time::Instant::now() + Duration::from_secs(10);
        loop {
            match self.listener.accept() {
                Ok(_) => count += 1,
                Err(_) if count > 0 => return count - 1,
                Err(error) => assert!(std::time::Instant::now() < deadline, "the canary is deaf: {error}"),
            }
        }
    }
}

/// Makes a context in which everything that needs an approval has it.
pub fn approving() -> ToolContext {
    let policy = Policy { answerer: Answerer::Yes, ..Policy::default() };
    ToolContext::with_approvals(Arc::new(Approvals::new(policy, Mode::default())))
}

/// Calls a tool with JSON arguments and everything approved; returns what it says and shows.
pub async fn call_in(
    tool: &dyn Tool,
    mut context: ToolContext,
    arguments: serde_json::Value,
) -> (Result<String, String>, Vec<PageInfo>) {
    let told: Arc<Mutex<Vec<PageInfo>>> = Arc::default();
    let of_tell = Arc::clone(&told);
    context.report = Arc::new(move |one| {
        if let ToolReport::Details(Details::Page(facts)) = one {
            of_tell.lock().unwrap().push(facts);
        }
    });
    let args = tool.spec().parameters.validate(&Arguments::parse(&arguments.to_string())).unwrap();
    let result = tool.execute(args, &context).await.map_err(|error| match error {
        ToolError::Failed(words) => words,
        ToolError::Cancelled(cancelled) => panic!("{cancelled}"),
    });
    let told = told.lock().unwrap().clone();
    (result, told)
}

/// As [`call_in`], without the details.
pub async fn call(tool: &dyn Tool, arguments: serde_json::Value) -> Result<String, String> {
    call_in(tool, approving(), arguments).await.0
}
