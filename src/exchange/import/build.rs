//! The events and the conversation of an imported session, made from what a file says one after the other.
//!
//! Turns and rounds begin where somebody speaks: a text of the user, a reply of the model. A turn of which the file has no
//! end, and no answer at its end, stays open.

use std::collections::HashMap;
use std::path::Path;

use jiff::Timestamp;

use super::{ForeignProgram, Imported, compressed};
use steersman_base::event::{Envelope, Event, Outcome, SCHEMA, Usage};
use steersman_base::id::{AgentId, CallId, MessageId};
use steersman_base::message::{Arguments, AssistantMessage, Message, ToolCall};
use steersman_base::steering::TextKind;
use steersman_session::journal::{Header, Origin, Record, SCHEMA as JOURNAL_SCHEMA, SessionId};

/// What a file says of its session as a whole.
#[derive(Debug, Clone, Default)]
pub(super) struct SessionInfo {
    pub session: String,
    pub started: Option<Timestamp>,
    pub version: String,
    pub directory: String,
    pub branch: Option<String>,
    pub provider: String,
    pub model: Option<String>,
}

/// A session that is being made.
pub(super) struct Build {
    program: ForeignProgram,
    pub facts: SessionInfo,
    /// The size of the file, and its lines that say nothing known.
    bytes: u64,
    pub skipped: u64,
    at: Option<Timestamp>,
    envelopes: Vec<Built>,
    agents: HashMap<AgentId, AgentState>,
    texts: u64,
    /// Texts of the user behind which the main agent's model has not said anything.
    unseen: Vec<MessageId>,
    /// The conversation of the main agent as far as it is recorded, and what comes next.
    history: Vec<Message>,
    unwritten: Vec<Message>,
}

/// A record, and when it is from; some lines have no time.
struct Built {
    at: Option<Timestamp>,
    agent: AgentId,
    parent: Option<AgentId>,
    what: BuiltRecord,
}

enum BuiltRecord {
    Event(Event),
    History { replaced: bool, messages: Vec<Message> },
}

#[derive(Default)]
struct AgentState {
    parent: Option<AgentId>,
    turn: u32,
    is_in_turn: bool,
    round: u32,
    current: Option<RoundState>,
    /// Calls without a result, and when each was made.
    open: Vec<(CallId, Option<Timestamp>)>,
    /// The last thing was a result.
    is_behind_result: bool,
    /// Calls of the turn, and the tool that was called last.
    steps: u32,
    last_tool: Option<String>,
}

/// Whether the model has said something, or called something, in a round.
#[derive(Debug, Clone, Copy, Default)]
struct RoundState {
    has_text: bool,
    has_calls: bool,
}

impl AgentState {
    fn is_speaking(&self) -> bool {
        self.current.is_some_and(|round| round.has_text || round.has_calls)
    }
}

impl Build {
    pub(super) fn new(program: ForeignProgram, bytes: u64, skipped: u64) -> Self {
        Self {
            program,
            facts: SessionInfo::default(),
            bytes,
            skipped,
            at: None,
            envelopes: Vec::new(),
            agents: HashMap::new(),
            texts: 0,
            unseen: Vec::new(),
            history: Vec::new(),
            unwritten: Vec::new(),
        }
    }

    /// Takes the time of the next line; a line without one is from the time of the one before.
    pub(super) fn at(&mut self, at: Option<Timestamp>) {
        self.at = self.at.max(at);
        self.facts.started = self.facts.started.or(at);
    }

    pub(super) fn is_in_turn(&self, agent: &AgentId) -> bool {
        self.agents.get(agent).is_some_and(|state| state.is_in_turn)
    }

    /// Takes a text of the user, or the task of a sub-agent. Behind a result it entered the turn; else the turn before has
    /// ended with its answer.
    pub(super) fn user(&mut self, agent: &AgentId, text: &str) {
        let state = self.agents.entry(agent.clone()).or_default();
        let is_mid_loop = state.is_in_turn && state.is_behind_result;
        let (step, after) = if is_mid_loop { (state.steps, state.last_tool.clone()) } else { (0, None) };
        if is_mid_loop {
            self.end_round(agent);
        } else {
            self.settle(agent);
            self.begin_turn(agent);
        }
        let injection = agent.is_main().then(|| {
            self.texts += 1;
            let id = MessageId::new(format!("m{}", self.texts));
            self.unseen.push(id.clone());
            id
        });
        if agent.is_main() {
            self.write_history();
        }
        let kind = TextKind::default();
        let content = text.to_owned();
        let turn = Event::UserTurn {
            content,
            mid_loop: is_mid_loop,
            injection,
            step,
            after,
            sender: None,
            kind,
            met: None,
            images: Vec::new(),
        };
        self.push(agent, turn);
        if agent.is_main() {
            self.unwritten.push(Message::user(text));
        }
    }

    /// Takes the reasoning of a reply, which begins with it.
    pub(super) fn thinking(&mut self, agent: &AgentId, text: String) {
        if self.agents.get(agent).is_some_and(AgentState::is_speaking) {
            self.end_round(agent);
        }
        self.in_round(agent);
        self.push(agent, Event::Thinking { text });
    }

    pub(super) fn answer(&mut self, agent: &AgentId, text: String) {
        if self.agents.get(agent).is_some_and(AgentState::is_speaking) {
            self.end_round(agent);
        }
        self.in_round(agent).current.get_or_insert_default().has_text = true;
        if agent.is_main() {
            self.unwritten.push(Message::assistant(text.clone()));
        }
        self.push(agent, Event::Assistant { text, interrupted: false });
    }

    pub(super) fn call(&mut self, agent: &AgentId, id: &str, name: &str, arguments: Arguments) {
        let (id, at) = (CallId::new(id), self.at);
        let state = self.in_round(agent);
        let is_first = !state.is_speaking();
        state.current.get_or_insert_default().has_calls = true;
        state.open.push((id.clone(), at));
        state.steps = state.steps.saturating_add(1);
        state.last_tool = Some(name.to_owned());
        if agent.is_main() {
            let call = ToolCall { id: id.clone(), name: name.to_owned(), arguments: arguments.clone() };
            match self.unwritten.last_mut() {
                Some(Message::Assistant(reply)) if !is_first => reply.tool_calls.push(call),
                _ => {
                    let reply = AssistantMessage { tool_calls: vec![call], ..AssistantMessage::default() };
                    self.unwritten.push(Message::Assistant(reply));
                }
            }
        }
        self.push(agent, Event::ToolCall { id, name: name.to_owned(), arguments });
    }

    /// Takes the result of a call, and how long it took where the file says so, else by the times of both; one of a call that
    /// nobody made is counted.
    pub(super) fn result(
        &mut self,
        agent: &AgentId,
        id: &str,
        content: String,
        is_error: bool,
        elapsed_ms: Option<u64>,
    ) {
        let (id, now) = (CallId::new(id), self.at);
        let state = self.agents.entry(agent.clone()).or_default();
        let Some(place) = state.open.iter().position(|(open, _)| *open == id) else {
            self.skipped += 1;
            return;
        };
        let (_, began) = state.open.remove(place);
        let between = began.zip(now).and_then(|(began, now)| u64::try_from(now.duration_since(began).as_millis()).ok());
        let elapsed_ms = elapsed_ms.or(between).unwrap_or(0);
        state.is_behind_result = state.open.is_empty();
        if agent.is_main() {
            self.answer_call(&id, &content);
        }
        self.push(agent, Event::ToolResult { id, content, is_error, elapsed_ms });
    }

    /// Puts a result behind its call and the results that are there already, in the order of the calls.
    fn answer_call(&mut self, id: &CallId, content: &str) {
        let calls = |message: &Message| match message {
            Message::Assistant(reply) => reply.tool_calls.clone(),
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => Vec::new(),
        };
        let is_it = |message: &Message| calls(message).iter().any(|call| call.id == *id);
        let Some(place) = self.unwritten.iter().rposition(is_it) else { return };
        let calls = self.unwritten.get(place).map(calls).unwrap_or_default();
        let number = |id: &CallId| calls.iter().position(|call| call.id == *id);
        let behind = self.unwritten.iter().skip(place + 1);
        let before = behind
            .take_while(|message| matches!(message, Message::Tool { call_id, .. } if number(call_id) < number(id)));
        let at = place + 1 + before.count();
        if let Some(call) = calls.iter().find(|call| call.id == *id) {
            self.unwritten.insert(at, Message::tool(call, content));
        }
    }

    /// Takes what a reply cost.
    pub(super) fn usage(&mut self, agent: &AgentId, usage: Usage) {
        if self.is_in_turn(agent) {
            self.push(agent, Event::Tokens(usage));
        }
    }

    /// Takes a sentence for the user alone.
    pub(super) fn notice(&mut self, agent: &AgentId, text: String) {
        self.push(agent, Event::Notice { text });
    }

    /// Takes a summary that replaces the conversation; with the messages that stand in its place, where the file has them.
    pub(super) fn compacted(&mut self, summary: String, messages: Vec<Message>) {
        self.write_history();
        let messages = if messages.is_empty() { vec![Message::user(summary.clone())] } else { messages };
        let (before, after, replaced) = (None, None, self.history.len());
        self.history.clone_from(&messages);
        let main = AgentId::main();
        self.put(&main, BuiltRecord::History { replaced: true, messages });
        self.push(&main, Event::Compacted { before, after, messages: replaced, summary });
    }

    /// Returns the length of the conversation, for [`Build::rewind`].
    pub(super) fn length(&self) -> usize {
        self.history.len() + self.unwritten.len()
    }

    /// Goes back to a shorter conversation: the user took back what was said since.
    pub(super) fn rewind(&mut self, length: usize) {
        let main = AgentId::main();
        self.end(&main, Outcome::Cancelled, None);
        self.write_history();
        if length < self.history.len() {
            self.history.truncate(length);
            let messages = self.history.clone();
            self.put(&main, BuiltRecord::History { replaced: true, messages });
            self.notice(&main, "The conversation went back to an earlier message".to_owned());
        }
    }

    /// Takes a sub-agent that begins.
    pub(super) fn spawn(&mut self, parent: &AgentId, child: &AgentId, persona: &str, task: &str, call: Option<CallId>) {
        let state = self.agents.entry(child.clone()).or_default();
        state.parent = Some(parent.clone());
        let (child, persona, task) = (child.clone(), persona.to_owned(), task.to_owned());
        let (model, max_steps, tools) = (None, None, Vec::new());
        self.push(parent, Event::AgentSpawned { child, persona, task, call, model, max_steps, tools });
    }

    /// Takes the end of a sub-agent.
    pub(super) fn finish_agent(&mut self, parent: &AgentId, child: &AgentId) {
        if self.agents.contains_key(child) {
            self.settle(child);
            let (child, outcome, message) = (child.clone(), Outcome::Completed, None);
            self.push(parent, Event::AgentFinished { child, outcome, message });
        }
    }

    pub(super) fn end(&mut self, agent: &AgentId, outcome: Outcome, message: Option<String>) {
        self.end_round(agent);
        let state = self.agents.entry(agent.clone()).or_default();
        if std::mem::take(&mut state.is_in_turn) {
            state.open.clear();
            let turn = state.turn;
            self.push(agent, Event::TurnEnded { turn, outcome, message });
        }
    }

    /// Ends a turn that ended with an answer; one without stays as it is.
    pub(super) fn settle(&mut self, agent: &AgentId) {
        let is_answered = |state: &AgentState| {
            state.current.is_some_and(|round| round.has_text && !round.has_calls) && state.open.is_empty()
        };
        if self.agents.get(agent).is_some_and(is_answered) {
            self.end(agent, Outcome::Completed, None);
        }
    }

    fn begin_turn(&mut self, agent: &AgentId) {
        self.end_round(agent);
        let state = self.agents.entry(agent.clone()).or_default();
        let parent = state.parent.take();
        *state = AgentState { parent, turn: state.turn + 1, is_in_turn: true, ..AgentState::default() };
        let turn = state.turn;
        self.push(agent, Event::TurnStarted { turn });
    }

    /// Begins a round, unless one goes on in which nothing has come back yet.
    fn in_round(&mut self, agent: &AgentId) -> &mut AgentState {
        let state = self.agents.entry(agent.clone()).or_default();
        let is_answered = |round: RoundState| round.has_calls && state.open.is_empty();
        if state.current.is_some_and(|round| state.is_behind_result || is_answered(round)) {
            self.end_round(agent);
        }
        if !self.is_in_turn(agent) {
            self.begin_turn(agent);
        }
        let state = self.agents.entry(agent.clone()).or_default();
        if state.current.is_none() {
            state.current = Some(RoundState::default());
            state.is_behind_result = false;
            state.round += 1;
            let (turn, round) = (state.turn, state.round);
            let step = state.steps;
            self.push(agent, Event::RoundStarted { turn, round });
            // The file has a reply behind them.
            if agent.is_main() && !self.unseen.is_empty() {
                let injections = std::mem::take(&mut self.unseen);
                self.push(agent, Event::Seen { injections, step });
            }
        }
        self.agents.entry(agent.clone()).or_default()
    }

    pub(super) fn end_round(&mut self, agent: &AgentId) {
        let state = self.agents.entry(agent.clone()).or_default();
        if state.current.take().is_some() {
            let (turn, round) = (state.turn, state.round);
            self.push(agent, Event::RoundEnded { turn, round });
        }
    }

    fn push(&mut self, agent: &AgentId, event: Event) {
        self.put(agent, BuiltRecord::Event(event));
    }

    fn put(&mut self, agent: &AgentId, what: BuiltRecord) {
        let parent = self.agents.get(agent).and_then(|state| state.parent.clone());
        self.envelopes.push(Built { at: self.at, agent: agent.clone(), parent, what });
    }

    fn write_history(&mut self) {
        if !self.unwritten.is_empty() {
            let messages = std::mem::take(&mut self.unwritten);
            self.history.extend(messages.iter().cloned());
            self.put(&AgentId::main(), BuiltRecord::History { replaced: false, messages });
        }
    }

    /// Returns the session; `None` when nobody said anything, or nothing in the file tells when.
    pub(super) fn finish(mut self, path: &Path) -> Option<Imported> {
        let agents: Vec<AgentId> = self.agents.keys().cloned().collect();
        for agent in &agents {
            self.settle(agent);
        }
        self.write_history();
        let started = self.facts.started.filter(|_| self.texts > 0)?;
        let Self { program, facts, bytes, skipped, envelopes, .. } = self;
        let version = facts.version;
        let program = program.name();
        // A session that is compressed later stays the same session.
        let plain = compressed::plain(path);
        let written_by = if version.is_empty() { program.to_owned() } else { format!("{program} {version}") };
        let header = Header {
            schema: JOURNAL_SCHEMA,
            program: written_by.clone(),
            session: SessionId::derived(started, &format!("{program} {} {}", facts.session, plain.display())),
            started,
            directory: facts.directory.clone(),
            branch: facts.branch,
            model: facts.model.clone(),
            parent: None,
            imported: Some(Origin {
                program: written_by.clone(),
                session: facts.session,
                path: path.display().to_string(),
                bytes,
                skipped,
            }),
        };
        let begun = Event::SessionStarted {
            schema: SCHEMA,
            program: written_by,
            cwd: facts.directory,
            provider: facts.provider,
            model: facts.model,
            max_steps: None,
            tools: Vec::new(),
        };
        let begun = Built { at: Some(started), agent: AgentId::main(), parent: None, what: BuiltRecord::Event(begun) };
        let mut seq = 0;
        let mut record = |Built { at, agent, parent, what }: Built| match what {
            BuiltRecord::History { replaced, messages } => Record::History { replaced, messages },
            BuiltRecord::Event(event) => {
                seq += 1;
                Record::Event(Envelope { seq, at: at.unwrap_or(started), agent, parent, event })
            }
        };
        let records = std::iter::once(begun).chain(envelopes).map(&mut record).collect();
        Some(Imported { header, records })
    }
}
