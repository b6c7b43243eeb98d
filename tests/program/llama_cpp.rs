//! The program against a real llama.cpp server: tools, thinking, steering, cancel, overflow, `/props`.
//!
//! Not a part of a usual run: `LLAMA_SERVER` names the server's program, and the README says how to build it. The model
//! is a chain of words that `support::gguf` writes, so everything but the words is the server's own.

use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;
use steersman_base::event::{Envelope, Event, Outcome};
use tempfile::TempDir;

use crate::support::gguf;
use crate::support::program::{Program, exit_code, stderr, stdout};

/// The dialects that llama.cpp speaks.
const DIALECTS: [&str; 3] = ["openai", "openai-responses", "anthropic"];

/// Room for the system prompt and the tools (a token of the chain is a byte, so they take some 13,000) and a long answer.
const WINDOW: u32 = 32_768;

/// A running llama.cpp server; it ends with its value.
struct Llama {
    child: Child,
    port: u16,
    _model: TempDir,
}

impl Llama {
    /// Starts the server with a window of so many tokens, and waits until it has loaded the model.
    fn start(window: u32) -> Self {
        let program = std::env::var("LLAMA_SERVER").expect("LLAMA_SERVER names the program llama-server");
        let model = TempDir::new().unwrap();
        let file = model.path().join("chain.gguf");
        std::fs::write(&file, gguf::model()).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (window, number) = (window.to_string(), port.to_string());
        let child = Command::new(program)
            .args(["-m", file.to_str().unwrap(), "-c", &window, "-np", "1", "--host", "127.0.0.1", "--port", &number])
            .args(["-t", "1", "--jinja", "--no-warmup", "--temp", "0"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { child, port, _model: model };
        let deadline = Instant::now() + Duration::from_mins(1);
        while !server.get("/health").contains("\"ok\"") {
            assert!(Instant::now() < deadline, "the server does not load the model");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns what the server answers on a path; nothing when it does not.
    fn get(&self, path: &str) -> String {
        let mut answer = String::new();
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
            use std::io::Write as _;
            let _ = write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n");
            let _ = stream.read_to_string(&mut answer);
        }
        answer
    }

    /// Waits until the server computes nothing.
    fn wait_until_idle(&self) {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let answer = self.get("/slots");
            let slots: Value =
                answer.split_once("\r\n\r\n").map_or(Value::Null, |(_, body)| serde_json::from_str(body).unwrap());
            if slots.as_array().is_some_and(|slots| slots.iter().all(|slot| slot["is_processing"] == false)) {
                return;
            }
            assert!(Instant::now() < deadline, "the server still computes: {answer}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Makes a run of the program in a dialect, with notes to read.
    fn exec(&self, dialect: &str, prompt: &str) -> Program {
        Program::new()
            .args(["exec", "--json", "--provider", dialect, "--base-url", &self.url(), "--model", "chain", prompt])
            .file("work/notes.txt", "The harbour opens at seven.\n")
            .file("work/a.txt", "first\n")
            .file("work/b.txt", "second\n")
    }

    fn events(&self, dialect: &str, prompt: &str) -> Vec<Event> {
        let output = self.exec(dialect, prompt).output();
        assert_eq!((exit_code(&output), stderr(&output)), (0, String::new()), "{dialect}: {}", stdout(&output));
        events(&stdout(&output))
    }
}

impl Drop for Llama {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One server at a time: each takes a core.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn events(lines: &str) -> Vec<Event> {
    lines.lines().map(|line| serde_json::from_str::<Envelope>(line).unwrap().event).collect()
}

fn answers(events: &[Event]) -> Vec<&str> {
    fn answer(event: &Event) -> Option<&str> {
        if let Event::Assistant { text, .. } = event { Some(text) } else { None }
    }
    events.iter().filter_map(answer).collect()
}

fn results(events: &[Event]) -> Vec<&str> {
    fn result(event: &Event) -> Option<&str> {
        if let Event::ToolResult { content, .. } = event { Some(content) } else { None }
    }
    events.iter().filter_map(result).collect()
}

#[test]
#[ignore = "needs LLAMA_SERVER, a llama.cpp server"]
fn a_call_runs_and_its_result_is_answered_in_every_dialect_of_the_server() {
    let _alone = alone();
    let server = Llama::start(WINDOW);
    for dialect in DIALECTS {
        let events = server.events(dialect, "Read the notes, please.");
        let said: Vec<&str> = answers(&events).into_iter().map(str::trim_end).collect();
        assert_eq!(said, ["I read it.", "The notes say that the harbour opens at seven."], "{dialect}");
        assert!(results(&events)[0].contains("The harbour opens at seven."), "{dialect}: {:?}", results(&events));
        let usages = events.iter().filter(|event| matches!(event, Event::Tokens(usage) if usage.prompt() > 1_000));
        assert_eq!(usages.count(), 2, "{dialect}: {events:?}");
    }
}

#[test]
#[ignore = "needs LLAMA_SERVER, a llama.cpp server"]
fn two_calls_of_one_reply_run_beside_each_other() {
    let _alone = alone();
    let server = Llama::start(WINDOW);
    for dialect in DIALECTS {
        let events = server.events(dialect, "Now both files.");
        let results = results(&events);
        assert_eq!(results.len(), 2, "{dialect}: {events:?}");
        assert!(results[0].contains("first") && results[1].contains("second"), "{dialect}: {results:?}");
    }
}

#[test]
#[ignore = "needs LLAMA_SERVER, a llama.cpp server"]
fn thinking_stays_apart_from_the_answer() {
    let _alone = alone();
    let server = Llama::start(WINDOW);
    let events = server.events("openai", "Think: two and two?");
    assert_eq!(answers(&events), ["Four."]);
    let thought = |event: &Event| matches!(event, Event::Thinking { text } if text.contains("make four"));
    assert!(events.iter().any(thought), "{events:?}");
}

#[test]
#[ignore = "needs LLAMA_SERVER, a llama.cpp server"]
fn the_window_is_known_from_props() {
    let _alone = alone();
    let server = Llama::start(20_480);
    let events = server.events("openai", "Hello.");
    assert!(events.contains(&Event::ContextCap { tokens: Some(20_480) }), "{events:?}");
    assert_eq!(answers(&events), ["Hello from a chain of words."]);
}

#[test]
#[ignore = "needs LLAMA_SERVER, a llama.cpp server"]
fn a_stop_ends_the_computing_and_the_next_turn_works() {
    let _alone = alone();
    let server = Llama::start(WINDOW);
    for dialect in DIALECTS {
        let mut run = server.exec(dialect, "Count, and do not end.").args(["--steer-stdin"]).piped().run();
        run.wait_for_line(|line| line.contains("assistant_delta"));
        run.write("/stop\n");
        run.close_stdin();
        let end = run.end();
        assert_eq!(end.code, Some(130), "{dialect}: {}", end.stderr);
        server.wait_until_idle();
        assert_eq!(answers(&server.events(dialect, "Hello.")), ["Hello from a chain of words."], "{dialect}");
    }
}

#[test]
#[ignore = "needs LLAMA_SERVER, a llama.cpp server"]
fn what_is_typed_during_a_call_enters_behind_its_result() {
    let _alone = alone();
    let server = Llama::start(WINDOW);
    let mut run = server.exec("openai", "Read the notes, please.").args(["--steer-stdin"]).piped().run();
    run.write("And say hello.\n");
    run.close_stdin();
    let end = run.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    let events = events(&end.stdout);
    let delivered =
        events.iter().filter(|event| matches!(event, Event::UserTurn { content, .. } if content == "And say hello."));
    assert_eq!(delivered.count(), 1);
    // The chain looks at the last message only, which is the typed one.
    assert_eq!(answers(&events).last(), Some(&"Hello from a chain of words."));
}

#[test]
#[ignore = "needs LLAMA_SERVER, a llama.cpp server"]
fn a_conversation_that_is_too_long_is_said_to_be_and_the_window_that_fills_cuts_the_reply() {
    let _alone = alone();
    let server = Llama::start(8_192);
    for dialect in DIALECTS {
        let output = server.exec(dialect, "Hello.").output();
        assert_eq!(exit_code(&output), 1, "{dialect}: {}", stdout(&output));
        let said = stderr(&output);
        assert!(said.contains("too long for the model"), "{dialect}: {said}");
    }
    drop(server);
    // The system prompt and the tools take most of it, the count the rest.
    let server = Llama::start(16_384);
    let output = server.exec("openai", "Count, and do not end.").output();
    let events = events(&stdout(&output));
    assert!(
        events.iter().any(|event| matches!(event, Event::TurnEnded { outcome: Outcome::Completed, .. })),
        "{events:?}"
    );
    assert!(events.iter().any(|event| matches!(event, Event::Notice { text } if text.contains("cut"))), "{events:?}");
}
