//! The records of a journal reduced to what documents are made of: agents, and what each read, wrote and called.
//!
//! Always holds: items are in the order in which they happened, and a call is with the reply that asked for it.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use steersman_base::details::Details;
use steersman_base::event::{Envelope, Event, JobOwner, JobStart, Outcome, Usage};
use steersman_base::id::{AgentId, CallId, MessageId};
use steersman_base::message::{Arguments, Message};
use steersman_base::steering::{TextKind, text_answers};
use steersman_base::target::MAIN;
use steersman_session::journal::{Header, Reading, Record};

/// A session, as documents tell it.
#[derive(Debug, Clone, Default)]
pub struct SessionParts {
    /// What it is; `None` when that record was damaged.
    pub header: Option<Header>,
    /// The provider of the main agent, as far as it is known.
    pub provider: Option<String>,
    /// The agents, in the order in which they began; the main agent is the first.
    pub agents: Vec<AgentPart>,
    /// A sentence about the journal when it is not whole.
    pub damage: Option<String>,
}

#[derive(Default)]
struct ExportReducer {
    parts: SessionParts,
    /// By their number, so that each is made where it is first named.
    agents: BTreeMap<usize, AgentPart>,
    numbers: HashMap<AgentId, usize>,
    /// When each text was accepted.
    sent: HashMap<MessageId, Timestamp>,
}

/// One agent.
#[derive(Debug, Clone)]
pub struct AgentPart {
    /// Its name; empty for the main agent.
    pub id: AgentId,
    /// The agent that spawned it.
    pub parent: Option<AgentId>,
    /// Its persona.
    pub persona: Option<String>,
    /// Its model, as it was asked for.
    pub model: Option<String>,
    /// Its tools.
    pub tools: Vec<String>,
    /// Its system prompt, where that was saved.
    pub system: Option<String>,
    /// What happened to it.
    pub items: Vec<Item>,
}

/// One thing that happened to an agent.
#[derive(Debug, Clone)]
pub enum Item {
    /// A turn began.
    TurnStarted {
        /// When.
        at: Timestamp,
    },
    /// A text entered the conversation.
    Text {
        /// When.
        at: Timestamp,
        /// The text.
        text: String,
        /// What is known of its way there.
        state: TextState,
    },
    /// The model was asked.
    Reply(Reply),
    /// Something was told to the user alone.
    Note {
        /// When.
        at: Timestamp,
        /// What.
        text: String,
    },
    /// A turn ended.
    TurnEnded {
        /// When.
        at: Timestamp,
        /// How.
        outcome: Outcome,
        /// Why, when it failed.
        message: Option<String>,
    },
}

/// What is known of the way of a text into the conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextState {
    /// Its name, when it came through a queue.
    pub id: Option<MessageId>,
    /// What it was to the agent.
    pub kind: TextKind,
    /// When it was accepted.
    pub sent: Option<Timestamp>,
    /// Whether it entered a running turn.
    pub is_mid_loop: bool,
    /// Tool calls of the turn before it.
    pub step: u32,
    /// The tool after whose result it entered.
    pub after: Option<String>,
    /// When the first reply to it began.
    pub seen: Option<Timestamp>,
    /// What the model says that it did with it; `None` where it says nothing.
    pub answer: Option<String>,
}

/// What came of one request.
#[derive(Debug, Clone)]
pub struct Reply {
    /// When the request was made.
    pub at: Timestamp,
    /// When the whole reply was there.
    pub ended: Timestamp,
    /// The reasoning.
    pub thinking: String,
    /// The text, Markdown.
    pub text: String,
    /// Whether it was cut.
    pub is_interrupted: bool,
    /// The tokens, where they are known.
    pub usage: Option<Usage>,
    /// The calls that it asked for.
    pub calls: Vec<CallPart>,
}

/// One call.
#[derive(Debug, Clone)]
pub struct CallPart {
    /// Its name.
    pub id: CallId,
    /// The tool.
    pub tool: String,
    /// The arguments, as the model wrote them.
    pub arguments: Arguments,
    /// When it began.
    pub at: Timestamp,
    /// What a screen shows beyond the result.
    pub details: Option<Details>,
    /// What came of it; `None` when it was cut off.
    pub result: Option<ResultPart>,
    /// The agents that it spawned.
    pub children: Vec<AgentId>,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultPart {
    /// When.
    pub at: Timestamp,
    /// What the model got.
    pub content: String,
    /// Whether it is an error.
    pub is_error: bool,
    /// How long it took, milliseconds.
    pub elapsed_ms: u64,
}

impl SessionParts {
    /// Applies what a journal holds.
    pub fn new(reading: Reading) -> Self {
        let mut reducer = ExportReducer::default();
        reducer.agent(&AgentId::main(), None);
        for record in reading.records {
            reducer.add(record);
        }
        let agents = reducer.agents.into_values().collect();
        Self { damage: reading.damage.sentence(), agents, ..reducer.parts }
    }

    /// Returns the first text of the user, or nothing.
    pub fn title(&self) -> &str {
        let items = self.agents.first().map(|main| main.items.as_slice()).unwrap_or_default();
        let texts = items.iter().find_map(|item| if let Item::Text { text, .. } = item { Some(text) } else { None });
        texts.map_or("", String::as_str)
    }
}

impl ExportReducer {
    fn add(&mut self, record: Record) {
        match record {
            Record::Session(header) => self.parts.header = Some(header),
            Record::Accepted { entry, .. } => {
                self.sent.entry(entry.id).or_insert(entry.at);
            }
            Record::History { messages, .. } => self.system(&AgentId::main(), messages),
            Record::AgentHistory { agent, messages, .. } => self.system(&agent, messages),
            Record::Event(envelope) => self.apply(envelope),
            Record::Run { .. }
            | Record::Restored { .. }
            | Record::TakenBack { .. }
            | Record::Drafts { .. }
            | Record::Missing { .. }
            | Record::Unattended
            | Record::Unknown => {}
        }
    }

    /// Takes the system prompt of an agent, once.
    fn system(&mut self, agent: &AgentId, messages: Vec<Message>) {
        let system = messages.into_iter().find_map(|message| match message {
            Message::System { content } => Some(content),
            Message::User { .. } | Message::Assistant(_) | Message::Tool { .. } => None,
        });
        let part = self.agent(agent, None);
        part.system = part.system.take().or(system);
    }

    fn agent(&mut self, id: &AgentId, parent: Option<&AgentId>) -> &mut AgentPart {
        let next = self.numbers.len();
        let number = *self.numbers.entry(id.clone()).or_insert(next);
        self.agents.entry(number).or_insert_with(|| AgentPart::new(id.clone(), parent.cloned()))
    }

    fn apply(&mut self, Envelope { at, agent: id, parent, event, .. }: Envelope) {
        match event {
            Event::SessionStarted { provider, model, tools, .. } => {
                self.parts.provider = Some(provider);
                let agent = self.agent(&id, None);
                (agent.model, agent.tools) = (model.or_else(|| agent.model.take()), tools);
            }
            Event::AgentSpawned { child, persona, call, model, tools, .. } => {
                let part = self.agent(&child, Some(&id));
                (part.persona, part.model, part.tools) = (Some(persona), model, tools);
                if let Some(call) = call.and_then(|call| self.agent(&id, parent.as_ref()).call(&call)) {
                    call.children.push(child);
                }
            }
            Event::UserTurn { content, mid_loop, injection, step, after, sender: _, kind, met: _, images: _ } => {
                let sent = injection.as_ref().and_then(|id| self.sent.get(id)).copied();
                let state =
                    TextState { id: injection, kind, sent, is_mid_loop: mid_loop, step, after, ..TextState::default() };
                self.agent(&id, parent.as_ref()).text(Item::Text { at, text: content, state });
            }
            event => self.agent(&id, parent.as_ref()).apply(at, event),
        }
    }
}

impl AgentPart {
    fn new(id: AgentId, parent: Option<AgentId>) -> Self {
        let (persona, model, system) = (None, None, None);
        Self { id, parent, persona, model, tools: Vec::new(), system, items: Vec::new() }
    }

    /// Returns its name for people.
    pub fn name(&self) -> &str {
        if self.id.is_main() { MAIN } else { self.id.as_str() }
    }

    /// Returns its replies.
    pub fn replies(&self) -> impl Iterator<Item = &Reply> + Clone {
        self.items.iter().filter_map(|item| if let Item::Reply(reply) = item { Some(reply) } else { None })
    }

    fn call(&mut self, id: &CallId) -> Option<&mut CallPart> {
        let replies = self.items.iter_mut().rev().filter_map(|item| match item {
            Item::Reply(reply) => Some(reply),
            Item::TurnStarted { .. } | Item::Text { .. } | Item::Note { .. } | Item::TurnEnded { .. } => None,
        });
        replies.flat_map(|reply| reply.calls.iter_mut().rev()).find(|call| call.id == *id)
    }

    /// Changes the reply that is being told; a new one when none was begun.
    fn reply(&mut self, at: Timestamp, change: impl FnOnce(&mut Reply)) {
        let is_reply = |item: &Item| matches!(item, Item::Reply(_));
        let is_turn = |item: &Item| matches!(item, Item::TurnStarted { .. });
        let place = self.items.iter().rposition(|item| is_reply(item) || is_turn(item));
        let place = place.filter(|place| self.items.get(*place).is_some_and(is_reply)).unwrap_or_else(|| {
            self.items.push(Item::Reply(Reply::new(at)));
            self.items.len() - 1
        });
        if let Some(Item::Reply(reply)) = self.items.get_mut(place) {
            change(reply);
        }
    }

    /// Adds a text of the user. One that comes behind a summary, in a round whose reply has not begun, stands before that reply.
    fn text(&mut self, text: Item) {
        let place = self.items.iter().rposition(|item| !matches!(item, Item::Text { .. } | Item::Note { .. }));
        // The tokens of the summary are there already.
        let is_unbegun = |item: &Item| matches!(item, Item::Reply(reply) if reply.says_nothing());
        let unbegun = place.filter(|place| self.items.get(*place).is_some_and(is_unbegun));
        let reply = unbegun.map(|place| self.items.remove(place));
        self.items.push(text);
        self.items.extend(reply);
    }

    fn note(&mut self, at: Timestamp, text: String) {
        self.items.push(Item::Note { at, text });
    }

    fn apply(&mut self, at: Timestamp, event: Event) {
        match event {
            Event::TurnStarted { .. } => self.items.push(Item::TurnStarted { at }),
            Event::TurnEnded { outcome, message, .. } => self.items.push(Item::TurnEnded { at, outcome, message }),
            Event::RoundStarted { .. } => self.items.push(Item::Reply(Reply::new(at))),
            Event::Thinking { text } => self.reply(at, |reply| reply.thinking = text),
            Event::Assistant { text, interrupted } => {
                if !interrupted {
                    self.answered(&text);
                }
                self.reply(at, |reply| (reply.text, reply.is_interrupted, reply.ended) = (text, interrupted, at));
            }
            Event::Tokens(usage) => {
                self.reply(at, |reply| (reply.usage, reply.ended) = (Some(usage), at));
            }
            Event::ToolCall { id, name, arguments } => {
                let (details, result, children) = (None, None, Vec::new());
                let call = CallPart { id, tool: name, arguments, at, details, result, children };
                self.reply(at, |reply| reply.calls.push(call));
            }
            Event::ToolDetails { id, details } => {
                if let Some(call) = self.call(&id) {
                    call.details = Some(details);
                }
            }
            Event::ToolResult { id, content, is_error, elapsed_ms } => {
                if let Some(call) = self.call(&id) {
                    call.result = Some(ResultPart { at, content, is_error, elapsed_ms });
                }
            }
            Event::Seen { injections, .. } => self.seen(at, &injections),
            Event::ModelSwitched { ref to, .. } => {
                self.model = to.clone().or_else(|| self.model.take());
                self.tell(at, &event);
            }
            Event::Compacted { messages, summary, .. } if summary.is_empty() => {
                self.note(at, format!("Results among {messages} older messages were shortened"));
            }
            Event::Compacted { messages, summary, .. } => {
                self.note(at, format!("{messages} older messages were replaced by a summary:\n\n{summary}"));
            }
            Event::JobStarted(JobStart { id, command, owner: JobOwner::User, .. }) => {
                self.note(at, format!("The user ran in a shell ({id}): {command}"));
            }
            Event::JobEnded(end) => {
                let output = if end.output.is_empty() { String::new() } else { format!("\n\n{}", end.output) };
                self.note(at, format!("{}{output}", end.sentence()));
                end.notes.into_iter().for_each(|note| self.note(at, note));
            }
            Event::PlanChanged(changed) => {
                self.note(at, format!("{}\n\n{}", changed.sentence(), changed.plan.checklist()));
            }
            Event::Question { question, .. } => self.note(at, format!("The program asked: {question}")),
            Event::Answer { answer, words, .. } => {
                let words = words.map(|words| format!(": {words}")).unwrap_or_default();
                self.note(at, format!("The answer was {answer}{words}"));
            }
            other => self.tell(at, &other),
        }
    }

    /// Tells an event that is no item of its own.
    fn tell(&mut self, at: Timestamp, event: &Event) {
        event.notes().into_iter().for_each(|note| self.note(at, note.text));
    }

    fn seen(&mut self, at: Timestamp, ids: &[MessageId]) {
        for item in &mut self.items {
            if let Item::Text { state, .. } = item
                && state.id.as_ref().is_some_and(|id| ids.contains(id))
            {
                state.seen.get_or_insert(at);
            }
        }
    }

    /// Notes what a reply says that was done with texts that were seen; the first sentence about each counts.
    fn answered(&mut self, reply: &str) {
        for found in text_answers(reply) {
            let mut texts = self.items.iter_mut().filter_map(|item| match item {
                Item::Text { state, .. } => Some(state),
                Item::TurnStarted { .. } | Item::Reply(_) | Item::Note { .. } | Item::TurnEnded { .. } => None,
            });
            if let Some(state) = texts.find(|state| state.id.as_ref() == Some(&found.id) && state.seen.is_some()) {
                state.answer.get_or_insert(found.sentence);
            }
        }
    }
}

impl Reply {
    fn new(at: Timestamp) -> Self {
        let (thinking, text) = (String::new(), String::new());
        Self { at, ended: at, thinking, text, is_interrupted: false, usage: None, calls: Vec::new() }
    }

    /// Tells whether nothing came of the request.
    pub fn is_empty(&self) -> bool {
        self.says_nothing() && self.usage.is_none()
    }

    fn says_nothing(&self) -> bool {
        self.thinking.is_empty() && self.text.is_empty() && self.calls.is_empty()
    }
}
