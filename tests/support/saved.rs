//! A saved session for the tests of search, export, import and replay: two rounds, a sub-agent, a text sent while a tool
//! ran, and hostile texts.

use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use steersman_base::details::{Details, FileDiff};
use steersman_base::event::{Envelope, Event, Outcome, Pending, Usage};
use steersman_base::id::AgentId;
use steersman_base::message::{Arguments, Message};
use steersman_base::protocol::DraftText;
use steersman_base::steering::TextKind;
use steersman_core::listener::{HistoryChange, Listener as _};
use steersman_session::host::Keeper as _;
use steersman_session::journal::{Header, Journal, SessionFile, SessionFiles};
use tempfile::TempDir;

use crate::journals::header;

/// A text that would run in a browser, in a terminal and in a spreadsheet.
pub const HOSTILE: &str = "=cmd()<script>alert(1)</script>\u{1b}]0;owned\u{7}\u{202e}<img src=x onerror=alert(2)>";

/// A home directory with sessions in it.
pub struct Saved {
    pub home: TempDir,
}

impl Saved {
    pub fn new() -> Self {
        Self { home: TempDir::new().unwrap() }
    }

    pub fn files(&self) -> SessionFiles {
        SessionFiles::within(&self.home.path().join(".local/state/steersman"))
    }

    /// Saves a session in which all this happened.
    pub fn session(&self, play: impl FnOnce(&mut Play)) -> SessionFile {
        let header = header();
        self.session_of(&header, play)
    }

    pub fn session_of(&self, header: &Header, play: impl FnOnce(&mut Play)) -> SessionFile {
        let journal = Journal::begin(header.clone(), self.files().creating(header, &TimeZone::UTC));
        let at = "2026-11-22T20:35:08Z".parse().unwrap();
        let mut playing = Play { journal, at, seq: 0 };
        play(&mut playing);
        // A long one takes its time; an end is waited for only so long.
        let began = Instant::now();
        while let Some(missing) = playing.journal.close() {
            assert!(began.elapsed() < Duration::from_mins(2), "{missing}");
        }
        self.files().find(header.session.as_str()).unwrap()
    }

    /// Two sessions that part after their first turn.
    pub fn two_that_part(&self) -> [SessionFile; 2] {
        let first = self.session(|play| goes_on(play, "now the lexer", "src/lex.rs", "The lexer is written."));
        let second =
            self.session(|play| goes_on(play, "now the tests", "tests/all.rs", "The tests are\u{1b}[2J written."));
        [first, second]
    }

    /// Saves the session that most tests are about.
    pub fn usual(&self) -> SessionFile {
        self.session(usual)
    }
}

/// A session that happens, an event each second.
pub struct Play {
    journal: Journal,
    at: Timestamp,
    seq: u64,
}

impl Play {
    pub fn event(&mut self, agent: &str, event: Event) -> &mut Self {
        let parent = (!agent.is_empty()).then(AgentId::main);
        self.seq += 1;
        self.at += SignedDuration::from_secs(1);
        self.journal.on_event(&Envelope { seq: self.seq, at: self.at, agent: agent.into(), parent, event });
        self
    }

    pub fn accepted(&mut self, id: &str, text: &str) -> &mut Self {
        let entry = Pending::new(id.into(), text, self.at);
        self.journal.accepted(&AgentId::main(), entry);
        self
    }

    /// Saves what the user is writing.
    pub fn draft(&mut self, text: &str) -> &mut Self {
        let (to, text, kind) = (AgentId::main(), text.to_owned(), TextKind::Add);
        self.journal.drafts(vec![DraftText { to, text, kind, edits: None, images: Vec::new(), sender: None }]);
        self
    }

    pub fn message(&mut self, message: &Message) -> &mut Self {
        self.journal.on_history(&AgentId::main(), HistoryChange::Appended(message));
        self
    }

    pub fn user(&mut self, id: &str, text: &str, after: Option<&str>) -> &mut Self {
        let event = Event::UserTurn {
            content: text.to_owned(),
            mid_loop: after.is_some(),
            injection: Some(id.into()),
            step: if after.is_some() { 2 } else { 0 },
            after: after.map(str::to_owned),
            sender: None,
            kind: steersman_base::steering::TextKind::Add,
            met: None,
            images: Vec::new(),
        };
        self.event("", event).message(&Message::user(text))
    }

    pub fn call(&mut self, agent: &str, id: &str, name: &str, arguments: &str) -> &mut Self {
        let arguments = Arguments::parse(arguments);
        self.event(agent, Event::ToolCall { id: id.into(), name: name.to_owned(), arguments })
    }

    pub fn result(&mut self, agent: &str, id: &str, content: &str) -> &mut Self {
        let is_error = content.starts_with("Error: ");
        let content = content.to_owned();
        self.event(agent, Event::ToolResult { id: id.into(), content, is_error, elapsed_ms: 1_200 })
    }

    pub fn answer(&mut self, agent: &str, text: &str) -> &mut Self {
        self.event(agent, Event::Assistant { text: text.to_owned(), interrupted: false })
    }

    pub fn tokens(&mut self, agent: &str, input: u64, output: u64) -> &mut Self {
        let usage = Usage {
            input: Some(input),
            output: Some(output),
            cached: Some(10),
            model: Some("test-model".to_owned()),
            cost_nanos: Some(1_500_000),
            ..Usage::default()
        };
        self.event(agent, Event::Tokens(usage))
    }
}

/// Plays one turn with everything in it.
pub fn usual(play: &mut Play) {
    let tools = || vec!["read".to_owned(), "agent".to_owned()];
    play.event(
        "",
        Event::SessionStarted {
            schema: steersman_base::event::SCHEMA,
            program: "steersman 0.1.0".to_owned(),
            cwd: "/work/project".to_owned(),
            provider: "openai".to_owned(),
            model: Some("test-model".to_owned()),
            max_steps: Some(300),
            tools: tools(),
        },
    );
    play.message(&Message::system("You are the agent of this story, and always polite."));
    play.accepted("m1", "Count the files, please");
    play.event("", Event::TurnStarted { turn: 1 }).user("m1", "Count the files, please", None);
    play.event("", Event::RoundStarted { turn: 1, round: 1 });
    play.event("", Event::Seen { injections: vec!["m1".into()], step: 0 });
    play.event("", Event::Thinking { text: "I had better look.".to_owned() }).answer("", "I look **first**.");
    play.tokens("", 100, 20);
    play.call("", "c1", "read", r#"{"path": "src"}"#);
    let diff = FileDiff {
        path: "a.rs".to_owned(),
        created: false,
        added: 1,
        removed: 0,
        hunks: "@@ -1 +1,2 @@\n a\n+b\n".to_owned(),
    };
    play.event("", Event::ToolDetails { id: "c1".into(), details: Details::Diff(diff) });
    play.result("", "c1", &format!("a.rs\nb.rs\n{HOSTILE}"));
    play.call("", "c2", "agent", r#"{"persona": "researcher", "task": "Look at the tests"}"#);
    child(play, tools());
    play.accepted("m2", "and the \"tests\" too");
    play.result("", "c2", "Seven stories.").user("m2", "and the \"tests\" too", Some("agent"));
    play.event("", Event::RoundEnded { turn: 1, round: 1 }).event("", Event::RoundStarted { turn: 1, round: 2 });
    play.event("", Event::Seen { injections: vec!["m2".into()], step: 2 });
    let answer =
        format!("There are **two** files and `seven` stories.\n\n{HOSTILE}\n\n| a | b |\n|---|---|\n| 1 | 2 |");
    play.answer("", &answer).tokens("", 200, 30).event("", Event::RoundEnded { turn: 1, round: 2 });
    play.event("", Event::TurnEnded { turn: 1, outcome: Outcome::Completed, message: None });
}

fn child(play: &mut Play, tools: Vec<String>) {
    let name = "researcher 0";
    let spawned = Event::AgentSpawned {
        child: name.into(),
        persona: "researcher".to_owned(),
        task: "Look at the tests".to_owned(),
        call: Some("c2".into()),
        model: Some("small-model".to_owned()),
        max_steps: Some(20),
        tools,
    };
    play.event("", spawned).event(name, Event::TurnStarted { turn: 1 });
    let task = "Look at the tests".to_owned();
    play.event(
        name,
        Event::UserTurn {
            content: task,
            mid_loop: false,
            injection: None,
            step: 0,
            after: None,
            sender: None,
            kind: steersman_base::steering::TextKind::Add,
            met: None,
            images: Vec::new(),
        },
    );
    play.event(name, Event::RoundStarted { turn: 1, round: 1 }).tokens(name, 50, 5);
    play.call(name, "k1", "read", "not json").result(name, "k1", "Error: the arguments are no object");
    play.event(name, Event::RoundEnded { turn: 1, round: 1 }).event(name, Event::RoundStarted { turn: 1, round: 2 });
    play.answer(name, "Seven stories.").tokens(name, 60, 6);
    play.event(name, Event::RoundEnded { turn: 1, round: 2 });
    play.event(name, Event::TurnEnded { turn: 1, outcome: Outcome::Completed, message: None });
    play.event("", Event::AgentFinished { child: name.into(), outcome: Outcome::Completed, message: None });
}

/// What both sessions begin with.
fn parser_found(play: &mut Play) {
    play.event("", Event::TurnStarted { turn: 1 });
    play.user("m1", "find the parser", None);
    play.call("", "c1", "read", r#"{"path":"src/parse.rs"}"#);
    play.result("", "c1", "fn parse() {}");
    play.answer("", "It is in src/parse.rs.");
    play.event("", Event::TurnEnded { turn: 1, outcome: Outcome::Completed, message: None });
}

fn goes_on(play: &mut Play, text: &str, path: &str, answer: &str) {
    parser_found(play);
    play.event("", Event::TurnStarted { turn: 2 });
    play.user("m2", text, None);
    play.call("", "c2", "write", &format!(r#"{{"path":"{path}"}}"#));
    let diff = FileDiff { path: path.to_owned(), created: true, added: 2, removed: 0, hunks: String::new() };
    play.event("", Event::ToolDetails { id: "c2".into(), details: Details::Diff(diff) });
    play.result("", "c2", "written");
    play.tokens("", 1_000, 200);
    play.answer("", answer);
    play.event("", Event::TurnEnded { turn: 2, outcome: Outcome::Completed, message: None });
}
