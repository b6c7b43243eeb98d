//! The fold of the manual, in Python, against the program's own: random runs, the one reads the lines that `exec` wrote, the
//! other the journal of the same run.
//!
//! `FOLD_RUNS=500 cargo test --test program headless::fold` plays more of them; `FOLD_SEED` begins with another.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use serde_json::{Map, Value, json};
use steersman_base::event::{Envelope, Event, Outcome};
use steersman_base::protocol::{Notice, Update};
use steersman_exchange::export::{Item, SessionParts};
use steersman_session::journal::{Reading, Record};
use steersman_session::model::agents::{Activity, AgentNode};
use steersman_session::model::{Receipt, ReceiptState, RunState, UnseenReason};
use steersman_session::replay::moments;
use tempfile::TempDir;

use super::schema::blocks;
use super::sessions::saved;
use crate::support::built_program;
use crate::support::program::PATIENCE;
use crate::support::server::{Reply, Request, Server};
use crate::support::skip::{Need, skip};
use crate::support::stream_schema::check_lines;

/// How many random runs are compared unless a variable says otherwise.
const RUNS: u64 = 10;
/// Texts that are sent in one run.
const TEXTS: u64 = 10;
/// Moments of a run at which both folds are compared, the end besides.
const MOMENTS: usize = 8;

/// Numbers that look random, the same for each seed (`SplitMix64`).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }
}

/// Makes the reply of the model out of a request.
fn reply(random: &mut Random, request: &Request) -> Reply {
    let has = |tool: &str| request.tools().iter().any(|name| name == tool);
    let words = "word ".repeat(20 + usize::try_from(random.below(200)).unwrap());
    // Now and then the conversation seems to be full.
    let prompt = if random.one_in(5) { 7_600 } else { 1_000 + random.below(500) };
    let answer = Reply::text(&words).usage(prompt, 10 + random.below(90));
    let call = |name: &str, arguments: Value, count: u64| {
        let calls: Vec<(String, String)> =
            (0..count).map(|number| (format!("call-{number}"), arguments.to_string())).collect();
        let calls: Vec<(&str, &str, &str)> =
            calls.iter().map(|(id, arguments)| (id.as_str(), name, arguments.as_str())).collect();
        Reply::calls(&calls).usage(prompt, 20)
    };
    match random.below(20) {
        0..=2 if has("calculator") => {
            let count = 1 + random.below(3);
            call("calculator", json!({"expression": "1+1"}), count).saying("I count. ")
        }
        3..=5 if has("bash") => call("bash", json!({"command": "rm -f kept"}), 1),
        6..=8 if has("agent") => {
            let count = 1 + random.below(2);
            call("agent", json!({"name": "worker", "task": format!("part {}", random.below(100))}), count)
        }
        9 if has("glob") => call("glob", json!({"pattern": "*"}), 2),
        10 if has("read") => call("read", json!({"path": "missing"}), 1),
        11 => Reply::json(400, json!({"error": {"message": "the server does not want to"}})),
        12 => answer.thinking("Let me see. "),
        _ => answer,
    }
}

/// A run that is under way, as the test steers it.
struct Driver {
    random: Random,
    input: std::process::ChildStdin,
    sent: u64,
    requests: u64,
    children: Vec<String>,
    /// Sub-agents that have ended and may be continued.
    ended: Vec<String>,
    is_running: bool,
    is_paused: bool,
    has_ended: bool,
}

impl Driver {
    fn ask(&mut self, mut request: Value) {
        self.requests += 1;
        request["id"] = self.requests.into();
        // The run may have ended.
        let _ = writeln!(self.input, "{request}");
    }

    fn send(&mut self) {
        self.sent += 1;
        let delivery = ["steer", "steer", "follow_up", "now"][usize::try_from(self.random.below(4)).unwrap()];
        // Without a turn of the main agent it is a text that begins one: a continued sub-agent may run beside.
        let agents: Vec<&String> = self.children.iter().chain(&self.ended).filter(|_| self.is_running).collect();
        let place = usize::try_from(self.random.below(2 + agents.len() as u64)).unwrap();
        let agent = agents.get(place).copied().cloned().unwrap_or_default();
        self.ask(json!({"type": "send", "text": format!("text {}", self.sent), "delivery": delivery, "agent": agent}));
    }

    /// Sends the next text when no turn runs, or ends the run.
    fn go_on(&mut self) {
        if self.sent < TEXTS {
            self.send();
        } else if !self.has_ended {
            self.has_ended = true;
            self.ask(json!({"type": "end"}));
        }
    }

    /// Does something about a line, or nothing.
    fn hear(&mut self, line: &Value) {
        let event = &line["event"];
        match event["type"].as_str().unwrap() {
            "agent_spawned" if event["persona"] == "worker" => {
                self.ended.retain(|child| *child != event["agent"]);
                self.children.push(event["agent"].as_str().unwrap().to_owned());
            }
            "agent_finished" => {
                self.children.retain(|child| *child != event["agent"]);
                self.ended.push(event["agent"].as_str().unwrap().to_owned());
            }
            "question" => {
                let answer = ["yes", "no", "no"][usize::try_from(self.random.below(3)).unwrap()];
                self.ask(json!({"type": "answer", "question": event["number"], "answer": answer}));
            }
            "unparked" => self.is_paused = false,
            "parked" => self.ask(json!({"type": "pause", "agent": line["agent"], "paused": false})),
            "turn_started" if line["agent"] == "" => self.is_running = true,
            "turn_ended" if line["agent"] == "" => {
                self.is_running = false;
                return self.go_on();
            }
            // Nothing else comes of a cancel that was before a turn.
            "reply" if event["returned"].is_array() && !self.is_running => return self.go_on(),
            _ => {}
        }
        if self.has_ended || event["type"] == "reply" {
            return;
        }
        match self.random.below(60) {
            0..=5 if self.sent < TEXTS => self.send(),
            6 => self.ask(json!({"type": "cancel"})),
            7 if !self.children.is_empty() => {
                let child = self.children[0].clone();
                self.ask(json!({"type": "cancel", "agent": child}));
            }
            8 if !self.is_paused => {
                self.is_paused = true;
                self.ask(json!({"type": "pause", "agent": ""}));
            }
            _ => {}
        }
    }
}

/// Plays a random run; returns its lines and its home.
fn play(seed: u64) -> (Vec<String>, TempDir) {
    let random = Mutex::new(Random(seed ^ 0x5eed));
    let server = Server::routed(move |request| reply(&mut random.lock().unwrap(), request));
    let home = TempDir::new().unwrap();
    std::fs::create_dir_all(home.path().join("work")).unwrap();
    let mut child = Command::new(built_program())
        .args(["exec", "--base-url", &server.url(), "--model", "m", "--sandbox", "off", "--input", "json"])
        .args(["--deltas", "off", "--max-steps", "4", "--context-window", "8000"])
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", "/usr/bin:/bin")
        .env("STEERSMAN_LOCAL_PORTS", "none")
        .current_dir(home.path().join("work"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let input = child.stdin.take().unwrap();
    let mut driver = Driver {
        random: Random(seed),
        input,
        sent: 0,
        requests: 0,
        children: Vec::new(),
        ended: Vec::new(),
        is_running: false,
        is_paused: false,
        has_ended: false,
    };
    driver.send();
    let output = BufReader::new(child.stdout.take().unwrap());
    // A run that hangs is ended, so that its lines say where.
    let (over, is_over) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if is_over.recv_timeout(PATIENCE * 4) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            let _ = child.kill();
        }
        child.wait().unwrap()
    });
    let mut lines = Vec::new();
    for line in output.lines() {
        let line = line.unwrap();
        driver.hear(&serde_json::from_str(&line).unwrap());
        lines.push(line);
    }
    let _ = over.send(());
    watch.join().unwrap();
    let last: Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    assert_eq!(last["event"]["type"], "session_ended", "seed {seed} hangs; its last lines:\n{}", tail(&lines));
    check_lines(&lines.join("\n"));
    (lines, home)
}

fn tail(lines: &[String]) -> String {
    lines[lines.len().saturating_sub(15)..].iter().fold(String::new(), |mut text, line| {
        writeln!(text, "{}", line.chars().take(400).collect::<String>()).unwrap();
        text
    })
}

/// Returns what the program makes of the events of a journal, up to one of this number.
fn folded(records: &[Record], last: u64) -> Value {
    let is_before = |record: &&Record| matches!(record, Record::Event(envelope) if envelope.seq <= last);
    // The queues as the agents told them: the lines have nothing else.
    let records: Vec<Record> = records.iter().filter(is_before).cloned().collect();
    let parts = SessionParts::new(Reading { records: records.clone(), ..Reading::default() });
    let mut answers = Vec::new();
    let mut state = RunState::default();
    for moment in moments(records) {
        match &moment.update {
            // A replay concludes it for journals of earlier versions; the lines do not say it.
            Update::Notice(Notice::Returned(_)) => {}
            Update::Envelope(envelope) => {
                if let Event::Answer { id, answer, .. } = &envelope.event {
                    answers.push(json!([id, answer]));
                }
                state.apply(envelope);
            }
            update => state.apply_update(update, moment.at),
        }
    }
    let agents: Vec<Value> = state.agents.nodes().iter().map(|node| agent(node, &parts)).collect();
    let mut pending: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for text in state.pending.waiting() {
        pending.entry(text.agent.as_str()).or_default().push(text.message.id.as_str());
    }
    let receipts: Map<String, Value> =
        state.receipts.list().iter().map(|one| (one.id.as_str().to_owned(), receipt(one))).collect();
    let totals = state.agents.main().totals();
    let totals = json!({
        "tokens": totals.tokens(),
        "cost_nanos": u64::try_from(totals.cost_nanos).unwrap(),
        "unpriced": u64::try_from(totals.unpriced).unwrap(),
    });
    json!({"agents": agents, "pending": pending, "receipts": receipts, "answers": answers, "totals": totals})
}

fn agent(node: &AgentNode, parts: &SessionParts) -> Value {
    let state = match &node.activity {
        Activity::Idle => "idle".to_owned(),
        Activity::Ended(outcome, _) => word(*outcome),
        _ => "running".to_owned(),
    };
    let part = parts.agents.iter().find(|part| part.id == node.id);
    let mut transcript = Vec::new();
    for item in part.iter().flat_map(|part| &part.items) {
        match item {
            Item::Text { text, state, .. } => transcript.push(json!(["user", state.id, text])),
            Item::Reply(reply) => {
                if !reply.text.is_empty() {
                    transcript.push(json!(["assistant", reply.text, reply.is_interrupted]));
                }
                transcript.extend(reply.calls.iter().map(|call| {
                    json!(["call", call.id, call.tool, call.result.as_ref().map(|result| &result.content)])
                }));
            }
            Item::TurnEnded { outcome, .. } => transcript.push(json!(["turn", word(*outcome)])),
            Item::TurnStarted { .. } | Item::Note { .. } => {}
        }
    }
    json!({
        "id": node.id, "parent": node.parent, "persona": node.persona, "task": node.task, "model": node.model,
        "state": state, "steps": node.steps, "tokens": node.spent, "cost_nanos": node.cost_nanos,
        "unpriced": node.unpriced, "questions": node.questions().collect::<Vec<_>>(), "transcript": transcript,
    })
}

fn word(outcome: Outcome) -> String {
    serde_json::to_value(outcome).unwrap().as_str().unwrap().to_owned()
}

fn receipt(receipt: &Receipt) -> Value {
    let mut told = json!({"agent": receipt.agent, "text": receipt.text});
    if let Some(arrival) = receipt.arrival() {
        let after = match &arrival.boundary {
            steersman_session::model::Boundary::After(tool) => Some(tool),
            _ => None,
        };
        (told["turn"], told["step"], told["after"]) = (arrival.turn.into(), arrival.step.into(), json!(after));
    }
    told["state"] = match &receipt.state {
        ReceiptState::Pending => "pending",
        ReceiptState::Leaving => "leaving",
        ReceiptState::Delivered(_) => "delivered",
        ReceiptState::Unseen(_, why) => {
            told["reason"] = match why {
                UnseenReason::Cancelled => "cancelled",
                UnseenReason::Failed => "failed",
                UnseenReason::Ended | UnseenReason::Reset => "ended",
            }
            .into();
            "unseen"
        }
        ReceiptState::Seen(_, reply) => {
            (told["seen_turn"], told["seen_step"]) = (reply.turn.into(), reply.step.into());
            "seen"
        }
        ReceiptState::Returned => "returned",
        ReceiptState::Withdrawn => "withdrawn",
        ReceiptState::Merged(_) => "merged",
    }
    .into();
    told
}

fn compare(place: &str, left: &Value, right: &Value, found: &mut Vec<String>) {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            for name in left.keys().chain(right.keys().filter(|name| !left.contains_key(*name))) {
                let (left, right) = (left.get(name).unwrap_or(&Value::Null), right.get(name).unwrap_or(&Value::Null));
                compare(&format!("{place}/{name}"), left, right, found);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (number, (left, right)) in left.iter().zip(right).enumerate() {
                compare(&format!("{place}/{number}"), left, right, found);
            }
        }
        _ if left == right => {}
        _ => found.push(format!("{place}: {left} in the manual, {right} in the program")),
    }
}

/// Reads the events of each run up to each of its moments, and prints what is known then; and what is known at the end, from
/// every line. A reply tells of what a cancel gave back before the events do, and the journal has none.
const READER: &str = r#"
for run in sys.stdin:
    run = json.loads(run)
    whole, fold, states, moments = Fold(), Fold(), [], run["moments"]
    for line in map(json.loads, open(run["lines"], encoding="utf-8")):
        whole.add(line)
        if line["event"]["type"] in ("reply", "files_changed"):
            continue
        while moments and line["seq"] > moments[0]:
            states.append(json.loads(json.dumps(fold.state())))
            moments = moments[1:]
        fold.add(line)
    states += [fold.state()] * len(moments)
    print(json.dumps([states, whole.state()]), flush=True)
"#;

#[test]
fn the_fold_of_the_manual_says_what_the_program_knows() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (runs, first) = (number("FOLD_RUNS", RUNS), number("FOLD_SEED", 1));
    let code = &blocks("python")[1];
    let (fold, _) = code.split_once("if __name__").unwrap();
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with("import") && !line.starts_with("\"\"\"");
    let size = fold.lines().map(str::trim).filter(is_code).count();
    assert!(size <= 105, "{size} lines");
    let dir = TempDir::new().unwrap();
    let (mut requests, mut expected, mut seen) = (String::new(), Vec::new(), BTreeMap::<String, u64>::new());
    for seed in first..first + runs {
        let (lines, home) = play(seed);
        let records = saved(&home)[0].read().unwrap().records;
        let events: Vec<&Envelope> = records
            .iter()
            .filter_map(|record| if let Record::Event(envelope) = record { Some(envelope) } else { None })
            .collect();
        let mut random = Random(seed ^ 0xa11);
        let mut moments: Vec<u64> = (0..MOMENTS)
            .map(|_| events[usize::try_from(random.below(events.len() as u64)).unwrap()].seq)
            .chain([events.last().unwrap().seq])
            .collect();
        moments.sort_unstable();
        for line in &lines {
            let line: Value = serde_json::from_str(line).unwrap();
            let event = &line["event"];
            let is_continued =
                event["type"] == "agent_spawned" && event["call"].is_null() && event["persona"] == "worker";
            let name = if is_continued { "continued" } else { event["type"].as_str().unwrap() };
            *seen.entry(name.to_owned()).or_default() += 1;
        }
        let path = dir.path().join(format!("{seed}.jsonl"));
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        writeln!(requests, "{}", json!({"lines": path, "moments": moments})).unwrap();
        expected.push((seed, moments.iter().map(|last| folded(&records, *last)).collect::<Vec<Value>>(), moments));
    }
    let reader = Command::new("python3")
        .args(["-c", &format!("{fold}\n{READER}")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut reader) = reader else { return skip(Need::Program("python3"), "the fold of the manual") };
    let mut input = reader.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(requests.as_bytes()));
    let output = reader.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.lines().count(), expected.len(), "the fold of the manual breaks down");
    let mut compared = 0;
    for (line, (seed, states, moments)) in output.lines().zip(expected) {
        let (manual, end): (Vec<Value>, Value) = serde_json::from_str(line).unwrap();
        // Each text is in the conversation, or its user's again.
        assert_eq!(end["pending"], json!({}), "seed {seed}");
        for (id, receipt) in end["receipts"].as_object().unwrap() {
            let is_open = ["pending", "leaving", "delivered"].contains(&receipt["state"].as_str().unwrap());
            assert!(!is_open, "seed {seed}, {id}: {receipt}");
        }
        for ((manual, program), last) in manual.iter().zip(&states).zip(moments) {
            let mut found = Vec::new();
            compare("", manual, program, &mut found);
            assert!(found.is_empty(), "seed {seed}, behind event {last}:\n{}", found.join("\n"));
            compared += 1;
        }
    }
    eprintln!("{runs} runs, {compared} moments compared; events: {seen:?}");
    // What the runs are made of comes about in any hundred of them.
    for name in
        ["question", "answer", "agent_spawned", "continued", "returned", "seen", "compacted", "cancelled", "tool_call"]
    {
        assert!(runs < 100 || seen.contains_key(name), "{name} never came: {seen:?}");
    }
}
