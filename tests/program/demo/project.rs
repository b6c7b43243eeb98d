//! A conversation with the planner over a project in memory: plans a reply, runs its calls, appends the results.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Value, json};
use steersman::program::demo::{ChatBody, PlannedCall, PlannedReply, plan};

pub const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"kettle\"\nversion = \"0.1.0\"\n"),
    ("README.md", "# Kettle\n\nBoils water when asked politely, and says so.\n"),
    ("docs/guide.md", "# Guide\n\nTODO: write the part about descaling\n"),
    (
        "src/heater.rs",
        "//! The heater and its error handling.\npub struct Heater;\n\npub fn heat() {}\n// FIXME: overshoots\n",
    ),
    ("src/lib.rs", "//! A kettle as a library.\npub mod heater;\n"),
    ("src/main.rs", "//! The program.\nfn main() {\n    // TODO: read the clock\n}\n"),
    ("tests/boil.rs", "#[test]\nfn it_boils() {}\n"),
];

/// The tools of the main agent.
pub const MAIN: &[&str] = &["read", "grep", "glob", "calculator", "agent"];
/// The tools of a miner.
pub const MINER: &[&str] = &["read", "grep", "glob"];

pub struct Run {
    pub messages: Vec<Value>,
    tools: &'static [&'static str],
    files: Vec<(String, String)>,
}

impl Run {
    pub fn new(tools: &'static [&'static str]) -> Self {
        let system = if tools.contains(&"agent") || tools.contains(&"calculator") {
            "You are Steersman.\n- Working directory: /home/me/kettle\n"
        } else {
            "You are a file miner: you find facts."
        };
        let messages = vec![json!({"role": "system", "content": system})];
        let files = FILES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        Self { messages, tools, files }
    }

    pub fn with_files(mut self, files: &[(&str, &str)]) -> Self {
        self.files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        self
    }

    pub fn say(&mut self, text: &str) -> &mut Self {
        self.messages.push(json!({"role": "user", "content": text}));
        self
    }

    pub fn body(&self) -> ChatBody {
        ChatBody::parse(&self.raw()).expect("every conversation in a test is valid")
    }

    pub fn raw(&self) -> Vec<u8> {
        let tools: Vec<Value> = self.tools.iter().map(|name| offer(name)).collect();
        json!({"model": "any", "messages": self.messages, "tools": tools, "stream": true}).to_string().into_bytes()
    }

    /// Plans one reply, checks it, runs its calls and appends everything.
    pub fn step(&mut self) -> PlannedReply {
        let reply = plan(&self.body());
        assert_eq!(reply, plan(&self.body()), "the same request gives the same reply");
        assert!(!reply.text.is_empty() || !reply.calls.is_empty(), "no reply is empty");
        assert!(!reply.thinking.is_empty(), "it thinks aloud");
        let results: Vec<String> = reply.calls.iter().map(|call| self.execute(call)).collect();
        self.append(&reply, &results);
        reply
    }

    /// Appends a reply, with the same result for each of its calls.
    pub fn answer_with(&mut self, reply: &PlannedReply, result: &str) {
        self.append(reply, &vec![result.to_owned(); reply.calls.len()]);
    }

    fn append(&mut self, reply: &PlannedReply, results: &[String]) {
        let mut message = json!({"role": "assistant", "content": reply.text});
        if !reply.calls.is_empty() {
            let call = |call: &PlannedCall| json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}});
            message["tool_calls"] = reply.calls.iter().map(call).collect();
        }
        self.messages.push(message);
        for (call, result) in reply.calls.iter().zip(results) {
            self.messages.push(json!({"role": "tool", "tool_call_id": call.id, "content": result}));
        }
    }

    /// Goes on to the end of the turn; returns its replies.
    pub fn finish(&mut self) -> Vec<PlannedReply> {
        let mut replies = Vec::new();
        loop {
            replies.push(self.step());
            let last = replies.last().unwrap();
            if last.calls.is_empty() {
                return replies;
            }
            assert!(replies.len() < 12, "a turn ends");
        }
    }

    /// Goes on to the end of the turn and returns the answer.
    pub fn answer(&mut self) -> String {
        self.finish().pop().unwrap().text
    }

    /// Replaces the result of the newest call of a tool.
    pub fn fail(&mut self, why: &str) {
        for message in self.messages.iter_mut().rev().take_while(|message| message["role"] == "tool") {
            message["content"] = json!(format!("Error: {why}"));
        }
    }

    fn execute(&self, call: &PlannedCall) -> String {
        assert!(self.tools.contains(&call.name.as_str()), "{} is not available", call.name);
        let arguments: Value = serde_json::from_str(&call.arguments).expect("arguments are JSON");
        assert!(arguments.is_object(), "arguments are an object");
        let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        match call.name.as_str() {
            "glob" => self.glob(&text("pattern")),
            "grep" => self.grep(&text("pattern"), arguments["path"].as_str()),
            "read" => self.read(&text("path")),
            "calculator" => "14".to_owned(),
            "plan" => "The plan now:".to_owned(),
            "bash" => "one\ntwo\n".to_owned(),
            "write" => format!("wrote {}", text("path")),
            "agent" => {
                let mut child = Run { messages: Vec::new(), tools: MINER, files: self.files.clone() };
                child.messages.push(json!({"role": "system", "content": "You are a file miner: you find facts."}));
                child.say(&text("task")).answer()
            }
            other => panic!("no tool {other}"),
        }
    }

    fn glob(&self, pattern: &str) -> String {
        let matcher =
            globset::GlobBuilder::new(pattern).literal_separator(true).build().expect("a pattern").compile_matcher();
        let paths: Vec<&str> =
            self.files.iter().map(|(path, _)| path.as_str()).filter(|path| matcher.is_match(path)).collect();
        if paths.is_empty() { "[no file in . matches]".to_owned() } else { paths.join("\n") }
    }

    fn grep(&self, pattern: &str, scope: Option<&str>) -> String {
        use grep_matcher::Matcher as _;
        let matcher = matcher(pattern);
        let scope = scope.unwrap_or(".");
        let mut hits = Vec::new();
        for (path, text) in self.files.iter().filter(|(path, _)| scope == "." || path.starts_with(scope)) {
            for (index, line) in text.lines().enumerate() {
                if matcher.is_match(line.as_bytes()).unwrap() {
                    hits.push(format!("{path}:{}:{line}", index + 1));
                }
            }
        }
        if hits.is_empty() { "[no hits: 7 files searched]".to_owned() } else { hits.join("\n") }
    }

    fn read(&self, path: &str) -> String {
        match self.files.iter().find(|(known, _)| known == path) {
            Some((_, text)) => {
                let numbered = text.lines().enumerate().map(|(index, line)| format!("{:>6}\t{line}", index + 1));
                numbered.collect::<Vec<_>>().join("\n")
            }
            None => format!("Error: there is no file {path}"),
        }
    }
}

/// Compiles an expression, once per test binary: that is what takes long in an unoptimised build.
fn matcher(pattern: &str) -> grep_regex::RegexMatcher {
    static KNOWN: Mutex<BTreeMap<String, grep_regex::RegexMatcher>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap();
    let compile = || grep_regex::RegexMatcher::new(pattern).expect("a regular expression");
    known.entry(pattern.to_owned()).or_insert_with(compile).clone()
}

fn offer(name: &str) -> Value {
    let (properties, required) = match name {
        "glob" | "grep" => (json!({"pattern": {"type": "string"}, "path": {"type": "string"}}), json!(["pattern"])),
        "read" => (json!({"path": {"type": "string"}, "offset": {"type": "integer"}}), json!(["path"])),
        "calculator" => (json!({"expression": {"type": "string"}}), json!(["expression"])),
        "bash" => (json!({"command": {"type": "string"}}), json!(["command"])),
        "write" => (json!({"path": {"type": "string"}, "content": {"type": "string"}}), json!(["path", "content"])),
        "agent" => (
            json!({"name": {"type": "string", "enum": ["file_miner"]}, "task": {"type": "string"}}),
            json!(["name", "task"]),
        ),
        _ => (json!({"query": {"type": "string"}, "url": {"type": "string"}}), json!([])),
    };
    let parameters = json!({"type": "object", "properties": properties, "required": required});
    json!({"type": "function", "function": {"name": name, "description": "", "parameters": parameters}})
}
