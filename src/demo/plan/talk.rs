//! A conversation as the planner sees it: turns, their rounds with calls and results, and what was said in between.
//!
//! Derived from the messages alone. A user message behind the results of a batch is steering; one behind an answer
//! (or behind a batch that was cancelled) opens a turn.

use serde_json::{Map, Value};

use crate::demo::facts;
use crate::demo::plan::offer::Offer;
use crate::demo::wire::{ChatBody, Role};

/// Is the whole conversation; its last turn is the one to go on with.
#[derive(Debug, Default)]
pub struct Talk {
    /// The instructions in front.
    pub system: String,
    /// The turns before the current one.
    pub earlier: Vec<Turn>,
    /// The turn that runs.
    pub turn: Turn,
    /// The tools on offer.
    pub offer: Offer,
    /// How many messages there are; makes call ids unique.
    pub messages: usize,
}

/// Is one turn.
#[derive(Debug, Default)]
pub struct Turn {
    /// The user messages that opened it, in order.
    pub asks: Vec<String>,
    /// Its rounds with calls.
    pub rounds: Vec<Round>,
    /// Its answer; empty while it runs, or when it was cut off.
    pub answer: String,
}

/// Is one reply with calls, their results, and the user messages that came at the boundary behind them.
#[derive(Debug, Default)]
pub struct Round {
    /// The calls with their results, in order.
    pub calls: Vec<Done>,
    /// The steering behind the results, in order.
    pub steers: Vec<String>,
}

/// Is a call with its result.
#[derive(Debug, Default)]
pub struct Done {
    id: String,
    /// The call.
    pub call: Call,
    /// What came back.
    pub result: String,
}

/// Is a call without the id that it has on the wire.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Call {
    /// The tool's name.
    pub name: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
}

impl Talk {
    /// Reads a conversation.
    pub fn of(body: &ChatBody) -> Self {
        let mut talk = Self { offer: Offer::of(body.offers()), messages: body.messages.len(), ..Self::default() };
        for message in &body.messages {
            let text = message.text();
            match message.role {
                // Instructions behind the first user message come from extensions and are background.
                Role::System if talk.turn.asks.is_empty() && talk.earlier.is_empty() => {
                    talk.system.push_str(&text);
                    talk.system.push('\n');
                }
                Role::System => {}
                Role::User => talk.hear(text),
                Role::Assistant if message.calls().is_empty() => talk.turn.answer = text,
                Role::Assistant => {
                    let done = |call: &crate::demo::wire::WireCall| Done {
                        id: call.id.clone(),
                        call: Call { name: call.function.name.clone(), arguments: call.function.object() },
                        result: String::new(),
                    };
                    let calls = message.calls().iter().map(done).collect();
                    talk.turn.rounds.push(Round { calls, steers: Vec::new() });
                }
                Role::Tool => {
                    let id = message.tool_call_id.as_deref().unwrap_or_default();
                    let calls = talk.turn.rounds.last_mut().map(|round| round.calls.iter_mut());
                    if let Some(done) = calls.into_iter().flatten().find(|done| done.id == id) {
                        done.result = text;
                    }
                }
            }
        }
        talk
    }

    fn hear(&mut self, text: String) {
        let cancelled = |round: &Round| round.calls.iter().any(|done| done.result.starts_with("Error: cancelled"));
        let ended = !self.turn.answer.is_empty() || self.turn.rounds.last().is_some_and(cancelled);
        if ended {
            self.earlier.push(std::mem::take(&mut self.turn));
        }
        match self.turn.rounds.last_mut() {
            Some(round) => round.steers.push(text),
            None => self.turn.asks.push(text),
        }
    }

    /// Returns the files of the last whole listing before the current turn.
    pub fn earlier_listing(&self) -> Option<Vec<String>> {
        let survey = self.offer.glob("**/*")?;
        self.earlier.iter().rev().find_map(|turn| turn.result_of(&survey)).map(facts::paths).filter(|p| !p.is_empty())
    }

    /// Returns the directory that the instructions name, for titles.
    pub fn directory(&self) -> &str {
        let line =
            self.system.lines().find_map(|line| line.trim_start_matches(['-', ' ']).strip_prefix("Working directory:"));
        line.map_or("", |path| path.trim().trim_matches('`'))
    }
}

impl Turn {
    /// Returns every call with its result, in order.
    pub fn done(&self) -> impl Iterator<Item = &Done> {
        self.rounds.iter().flat_map(|round| &round.calls)
    }

    /// Returns the result of a call that was made in this turn.
    pub fn result_of(&self, call: &Call) -> Option<&str> {
        self.done().find(|done| done.call == *call).map(|done| done.result.as_str())
    }

    /// Returns the results of a tool's calls that succeeded, with the calls.
    pub fn results(&self, name: &str) -> impl Iterator<Item = &Done> {
        self.done().filter(move |done| done.call.name == name && !facts::failed(&done.result))
    }

    /// Keeps the calls that were not made in this turn yet, each once.
    pub fn missing(&self, calls: Vec<Call>) -> Vec<Call> {
        let mut missing: Vec<Call> = Vec::new();
        for call in calls {
            if self.result_of(&call).is_none() && !missing.contains(&call) {
                missing.push(call);
            }
        }
        missing
    }
}

impl Call {
    /// Returns an argument's text; empty when there is none.
    pub fn text(&self, argument: &str) -> &str {
        self.arguments.get(argument).and_then(Value::as_str).unwrap_or_default()
    }
}
