//! A model server for measurements: it streams Markdown at a pace that the last user message names.
//!
//! `stream 20000 words at 500 words/s`, `burst 20000 words`, `hang`, `silence`; anything else gets one line. `crew 992 and 8`
//! asks for so many sub-agents that answer at once, and then for so many that stream. Every answer in words ends with
//! the word `END`. It runs on plain threads, so that its own cost stays out of the way.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Most calls in one reply: what the program takes.
const CALLS: usize = steersman_base::limits::CALLS_PER_REPLY;
/// What a sub-agent is asked that streams.
const SLOW: &str = "stream 20000 words at 50 words/s";

/// A running server; it ends with the process.
pub struct Paced {
    url: String,
    moments: Arc<(Mutex<Moments>, Condvar)>,
}

/// When things happened at the server.
#[derive(Default)]
struct Moments {
    /// A connection was closed in the middle of a reply.
    cut: Option<Instant>,
    /// The arrival of each whole request for a reply.
    asked: Vec<Instant>,
}

impl Paced {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let moments = Arc::<(Mutex<Moments>, Condvar)>::default();
        let shared = Arc::clone(&moments);
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let moments = Arc::clone(&shared);
                std::thread::spawn(move || serve(socket, &moments));
            }
        });
        Self { url, moments }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits until the program closed a connection in the middle of a reply; returns the moment.
    pub fn wait_cut(&self) -> Instant {
        self.wait(|moments| moments.cut.take())
    }

    /// Waits until so many replies were asked for since the start; returns when the last of them was.
    pub fn wait_asked(&self, count: usize) -> Instant {
        self.wait(|moments| moments.asked.get(count - 1).copied())
    }

    fn wait(&self, mut moment: impl FnMut(&mut Moments) -> Option<Instant>) -> Instant {
        let (lock, happened) = &*self.moments;
        let mut moments = lock.lock().unwrap();
        loop {
            if let Some(moment) = moment(&mut moments) {
                return moment;
            }
            moments = happened.wait(moments).unwrap();
        }
    }
}

fn note((moments, happened): &(Mutex<Moments>, Condvar), note: impl FnOnce(&mut Moments, Instant)) {
    note(&mut moments.lock().unwrap(), Instant::now());
    happened.notify_all();
}

fn serve(socket: TcpStream, moments: &(Mutex<Moments>, Condvar)) {
    socket.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(socket.try_clone().unwrap());
    let mut writer = socket;
    while let Some((path, body)) = request(&mut reader) {
        if !path.ends_with("/chat/completions") {
            let body =
                json!({"data": [{"id": "paced"}], "default_generation_settings": {"n_ctx": 1_000_000}}).to_string();
            let _ = write!(writer, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            continue;
        }
        note(moments, |moments, now| moments.asked.push(now));
        if answer(&mut writer, &body).is_err() {
            note(moments, |moments, now| moments.cut = Some(now));
            return;
        }
    }
}

fn request(reader: &mut BufReader<TcpStream>) -> Option<(String, Value)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let header = header.trim().to_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((path, serde_json::from_slice(&body).unwrap_or(Value::Null)))
}

fn answer(writer: &mut TcpStream, body: &Value) -> std::io::Result<()> {
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let asked = messages.iter().rev().find(|message| message["role"] == "user");
    let asked = asked.and_then(|message| message["content"].as_str()).unwrap_or_default().to_owned();
    let numbers: Vec<u32> = asked.split(' ').filter_map(|word| word.parse().ok()).collect();
    writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")?;
    let mut finish = "stop";
    match numbers.as_slice() {
        [quick, slow] if asked.starts_with("crew") => {
            let done = messages.iter().filter(|message| message["role"] == "tool").count();
            let (quick, slow) = (*quick as usize, *slow as usize);
            let (count, task) = if done < quick { ((quick - done).min(CALLS), "be quick") } else { (slow, SLOW) };
            for index in 0..count {
                chunk(writer, &call(index, done + index, task))?;
            }
            finish = "tool_calls";
        }
        [count, rate] if asked.starts_with("stream") => {
            let began = Instant::now();
            for (index, word) in (0..).zip(words(*count as usize)) {
                let due = began + Duration::from_secs(1) * index / *rate;
                while let Some(left) = due.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
                    std::thread::park_timeout(left);
                }
                chunk(writer, &delta(&word))?;
            }
        }
        [count] if asked.starts_with("burst") => {
            for word in words(*count as usize) {
                chunk(writer, &delta(&word))?;
            }
        }
        [mebibytes] if asked.starts_with("flood") => {
            // A wide character of several parts, one that is stacked with marks, and a word to wait for.
            let piece = format!("flood {}{} ", "👩‍🚀".repeat(180), "e\u{301}\u{302}".repeat(400));
            for _ in 0..*mebibytes as usize * 1024 * 1024 / piece.len() {
                chunk(writer, &delta(&piece))?;
            }
        }
        _ if asked.starts_with("hang") || asked.starts_with("silence") => {
            if asked.starts_with("hang") {
                chunk(writer, &delta("hanging "))?;
            }
            // Ends when the program closes the connection: reading is the wait.
            let mut byte = [0];
            if writer.read(&mut byte)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        _ => chunk(writer, &delta("ok, done. "))?,
    }
    if finish == "stop" {
        chunk(writer, &delta("\n\nEND\n"))?;
    }
    chunk(writer, &json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}).to_string())?;
    chunk(writer, "[DONE]")?;
    writer.write_all(b"0\r\n\r\n")
}

fn delta(text: &str) -> String {
    json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]}).to_string()
}

fn call(index: usize, number: usize, task: &str) -> String {
    let arguments = json!({"name": "file_miner", "task": task}).to_string();
    let function = json!({"name": "agent", "arguments": arguments});
    let call = json!({"index": index, "id": format!("c{number}"), "type": "function", "function": function});
    json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": null}]}).to_string()
}

fn chunk(writer: &mut TcpStream, data: &str) -> std::io::Result<()> {
    let event = format!("data: {data}\n\n");
    write!(writer, "{:x}\r\n{event}\r\n", event.len())
}

/// Makes pieces of Markdown: headings, paragraphs with emphasis and code, lists, fenced code. Lower case only.
pub fn words(count: usize) -> impl Iterator<Item = String> {
    const WORDS: [&str; 24] = [
        "the", "model", "reads", "a", "line", "of", "code", "and", "finds", "where", "its", "value", "was", "set",
        "before", "it", "writes", "another", "test", "for", "this", "branch", "every", "change",
    ];
    let mut seed: u32 = 12345;
    let mut next = move || {
        seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12345) & 0x7FFF_FFFF;
        WORDS[(seed >> 16) as usize % WORDS.len()]
    };
    let mut block = 0;
    let mut pieces = std::collections::VecDeque::new();
    std::iter::from_fn(move || {
        if pieces.is_empty() {
            block += 1;
            pieces.push_back(format!("## part {block}\n\n"));
            for index in 0..55 {
                let word = next();
                pieces.push_back(match index {
                    _ if index == 54 => format!("{word}.\n\n"),
                    _ if index % 17 == 5 => format!("**{word}** "),
                    _ if index % 23 == 7 => format!("`{word}` "),
                    _ if index % 11 == 10 => format!("{word}. "),
                    _ => format!("{word} "),
                });
            }
            for _ in 0..4 {
                pieces.push_back("- ".to_owned());
                pieces.extend((0..6).map(|_| format!("{} ", next())));
                pieces.push_back("\n".to_owned());
            }
            pieces.push_back("\n".to_owned());
            if block % 2 == 0 {
                pieces.push_back("```python\n".to_owned());
                pieces.extend((0..5).map(|index| format!("def {}{index}(x):\n    return x + {index}\n", next())));
                pieces.push_back("```\n\n".to_owned());
            }
        }
        pieces.pop_front()
    })
    .take(count)
}
