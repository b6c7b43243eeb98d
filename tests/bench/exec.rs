//! Many steered runs of `exec` at once, and one whose reader has stopped: `cargo bench --bench exec`.
//!
//! Each of fifty runs calls a command that leaves a process behind, then streams answers at 50 words a second while texts
//! enter it. Printed are lines that are no event, the time from an event to its line at the reader, memory, and the
//! processes that are left. Memory and processes come from `/proc`, so it needs Linux.

use steersman_test_support as support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Value, json};
use support::figures::print;
use support::processes::{alive, unique};
use support::server::{Gate, Reply, Request, Server, Step};

const RUNS: usize = 50;
/// Texts that are sent into one run.
const TEXTS: usize = 10;
/// Time between two of them.
const PAUSE: Duration = Duration::from_millis(300);
/// Words of one answer, and the time of one.
const WORDS: usize = 50;
const WORD: Duration = Duration::from_millis(20);

fn main() {
    let mark = unique();
    let dir = tempfile::Builder::new().prefix(&mark).tempdir().unwrap();
    fifty(dir.path(), &mark);
    stopped(dir.path());
    gone(dir.path());
}

/// Streams words; the first reply of each run calls a command.
fn answer(request: &Request) -> Reply {
    if !request.roles().iter().any(|role| role == "tool") {
        return Reply::calls(&[("c1", "bash", r#"{"command":"sleep 600 & echo left"}"#)]);
    }
    let words = (0..WORDS).flat_map(|_| [Step::delta(json!({"content": "word "})), Step::Pause(WORD)]);
    Reply::stream(words.chain([Step::finish("stop"), Step::done()]))
}

fn start(home: &Path, server: &Server, args: &[&str]) -> Child {
    std::fs::create_dir_all(home.join("work")).unwrap();
    Command::new(env!("CARGO_BIN_EXE_steersman"))
        .args(["exec", "--base-url", &server.url(), "--model", "m", "--sandbox", "off", "--yes"])
        .args(args)
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .env("STEERSMAN_LOCAL_PORTS", "none")
        .current_dir(home.join("work"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[derive(Default)]
struct Figures {
    lines: usize,
    bad: usize,
    late: Vec<Duration>,
    memory: u64,
    ended: usize,
}

/// Reads a run to its end, and sends it texts.
fn steer(mut child: Child) -> Figures {
    let mut figures = Figures::default();
    let mut input = child.stdin.take().unwrap();
    let mut send = move |request: Value| {
        // It may have ended.
        let _ = writeln!(input, "{request}");
    };
    send(json!({"type": "send", "text": "begin"}));
    let (mut sent, mut last, mut seq) = (0, Instant::now(), 0);
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let now = Timestamp::now();
        let Ok(line) = line.map_err(|_| ()).and_then(|line| serde_json::from_str::<Value>(&line).map_err(|_| ()))
        else {
            figures.bad += 1;
            continue;
        };
        figures.lines += 1;
        let number = line["seq"].as_u64().unwrap_or_default();
        let at = line["at"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
        figures.bad += usize::from(number < seq || at.is_none());
        seq = number;
        figures.late.extend(at.and_then(|at| Duration::try_from(now.duration_since(at)).ok()));
        figures.ended += usize::from(line["event"]["type"] == "session_ended");
        if sent < TEXTS && last.elapsed() >= PAUSE {
            (sent, last) = (sent + 1, Instant::now());
            send(json!({"type": "send", "text": format!("text {sent}")}));
            if sent == TEXTS {
                figures.memory = kib(child.id(), "VmHWM:");
                send(json!({"type": "end"}));
            }
        }
    }
    child.wait().unwrap();
    figures
}

fn fifty(dir: &Path, mark: &str) {
    let server = Server::routed(answer);
    let began = Instant::now();
    let children: Vec<Child> =
        (0..RUNS).map(|number| start(&dir.join(format!("{number}")), &server, &["--input", "json"])).collect();
    let threads: Vec<_> = children.into_iter().map(|child| std::thread::spawn(move || steer(child))).collect();
    let all: Vec<Figures> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let time = began.elapsed();
    let sum = |part: fn(&Figures) -> usize| all.iter().map(part).sum::<usize>();
    println!("{RUNS} steered runs at once, {:.1} s", time.as_secs_f64());
    println!("{:<46} {:>22}", "runs that ended / lines / bad lines", {
        format!("{} / {} / {}", sum(|run| run.ended), sum(|run| run.lines), sum(|run| run.bad))
    });
    print("event to reader: median / p99 / max", all.iter().flat_map(|run| run.late.clone()).collect());
    let mut memory: Vec<u64> = all.iter().map(|run| run.memory / 1024).collect();
    memory.sort_unstable();
    println!(
        "{:<46} {:>18} MiB",
        "memory of one: median / max",
        format!("{} / {}", memory[RUNS / 2], memory[RUNS - 1])
    );
    println!("{:<46} {:>22}", "processes left", alive(mark).len());
}

/// A run whose reader takes nothing while the model writes on.
fn stopped(dir: &Path) {
    let long = "word ".repeat(2_000);
    // Each reply has 400 KB and a call, so that the run goes on for as long as it is allowed to.
    let server = Server::routed(move |request| {
        let pieces = (0..40).map(|_| Step::delta(json!({"content": long})));
        let call = json!({"index": 0, "id": format!("c{}", request.roles().len()), "type": "function",
            "function": {"name": "glob", "arguments": r#"{"pattern":"*"}"#}});
        let call = Step::delta(json!({"tool_calls": [call]}));
        Reply::stream(pieces.chain([call, Step::finish("tool_calls"), Step::done()]))
    });
    let mut child = start(&dir.join("stopped"), &server, &["--json", "begin"]);
    let mut memory = Vec::new();
    for second in [1, 2, 5, 10] {
        std::thread::sleep(Duration::from_secs(second));
        memory.push(format!("{}", kib(child.id(), "VmRSS:") / 1024));
    }
    println!("{:<46} {:>18} MiB", "a reader that stopped: memory after 1, 3, 8, 18 s", memory.join(" / "));
    let asked = Instant::now();
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    child.wait().unwrap();
    print("a reader that stopped: SIGTERM to the end", vec![asked.elapsed()]);
}

/// Runs whose reader goes away while the model says nothing.
fn gone(dir: &Path) {
    let server = Server::routed(|_| Reply::stream([Step::Wait(Gate::new())]));
    let end = |number: usize| {
        let mut child = start(&dir.join(format!("gone {number}")), &server, &["--json", "begin"]);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("user_turn") {
            line.clear();
            out.read_line(&mut line).unwrap();
        }
        let began = Instant::now();
        drop(out);
        child.wait().unwrap();
        began.elapsed()
    };
    print("a reader that is gone: to the end", (0..5).map(end).collect());
}

fn kib(pid: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
    line.split_ascii_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}
