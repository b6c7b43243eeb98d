//! A conversation as the planner sees it: turns, their rounds with calls and results, what was said in between, and the
//! tools on offer.
//!
//! Derived from the request alone: frames around texts and what a compaction kept are read as the explanation of frames
//! says. A user message behind the results of a batch is steering; one behind an answer
//! (or behind a batch that was cancelled) opens a turn.

use std::cmp::Ordering;
use std::mem;

use serde_json::{Map, Value, json};

use crate::program::demo::plan::results;
use crate::program::demo::wire::{ChatBody, OfferedFunction, Role};
use steersman_agent::{KEPT_HEAD, SUMMARY_HEAD};
use steersman_base::steering::{RuleNews, TextKind};
use steersman_core::wrapper::{self, ReadAgentNote};

/// The whole conversation; its last turn is the one to go on with.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    pub system: String,
    /// The turns before the current one.
    pub earlier: Vec<Turn>,
    pub turn: Turn,
    pub tools: Vec<OfferedFunction>,
    /// How many messages there are; makes call ids unique.
    pub messages: usize,
    /// Whether a plan is to be accepted before anything else.
    pub plans_first: bool,
    /// The rules of the person that hold, by their ids.
    pub rules: Vec<(String, String)>,
}

/// A text of the person during a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SteeringText {
    pub text: String,
    /// What they are: an addition to the task or a rule.
    pub kind: TextKind,
}

/// A turn: what opened it, what was done, how it ended.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// The user messages that opened it, in order; or the one that took their place.
    pub opening: Vec<String>,
    /// How many rounds were over when another task took the place of the first; nothing where none did.
    pub replaced_after: Option<usize>,
    /// Texts that were handled before the part of the conversation that is known.
    pub handled: Vec<String>,
    /// Information without a request.
    pub notes: Vec<String>,
    /// Steps of the plan that the user struck out.
    pub struck_out: Vec<String>,
    pub rounds: Vec<Round>,
    /// Its answer; empty while it runs, or when it was cut off.
    pub answer: String,
}

/// A reply with calls, their results, and the user messages that came behind them.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// The calls with their results, in order.
    pub calls: Vec<FinishedCall>,
    /// The steering behind the results, in order.
    pub steering: Vec<SteeringText>,
}

/// A call with its result.
#[derive(Debug, Default)]
pub(super) struct FinishedCall {
    id: String,
    pub call: Call,
    /// What came back.
    pub result: String,
}

/// A call without the id that it has on the wire.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Call {
    pub name: String,
    pub arguments: Map<String, Value>,
}

impl Conversation {
    /// Reads the conversation of a request.
    pub(super) fn new(body: &ChatBody) -> Self {
        let tools = body.offers().iter().map(|tool| tool.function.clone()).collect();
        let mut talk = Self { tools, messages: body.messages.len(), ..Self::default() };
        for message in &body.messages {
            let text = message.text();
            match message.role {
                // Instructions behind the first user message come from extensions and are background.
                Role::System if talk.turn.opening.is_empty() && talk.earlier.is_empty() => {
                    talk.system = format!("{}{text}\n", talk.system);
                }
                Role::System => {}
                Role::User if text.starts_with(SUMMARY_HEAD) => {}
                Role::User if text.starts_with(KEPT_HEAD) => talk.recall(&text),
                Role::User => talk.add_user_text(text),
                // It said that it waits for its agents: the turn goes on with their answers.
                Role::Assistant if message.calls().is_empty() && talk.turn.awaited().next().is_some() => {
                    talk.turn.rounds.push(Round::default());
                }
                Role::Assistant if message.calls().is_empty() => talk.turn.answer = text,
                Role::Assistant => {
                    let calls = message.calls().iter().map(|call| FinishedCall {
                        id: call.id.clone(),
                        call: Call { name: call.function.name.clone(), arguments: call.function.object() },
                        result: String::new(),
                    });
                    talk.turn.rounds.push(Round { calls: calls.collect(), steering: Vec::new() });
                }
                Role::Tool => {
                    let calls = talk.turn.rounds.last_mut().map(|round| round.calls.iter_mut());
                    let id = message.tool_call_id.as_deref().unwrap_or_default();
                    if let Some(finished) = calls.into_iter().flatten().find(|finished| finished.id == id) {
                        finished.result = text;
                    }
                }
            }
        }
        talk
    }

    /// Takes what the user changed of the plan, or that a plan is to be accepted first.
    fn take_plan_notice(&mut self, words: &str) {
        let struck_out = words.lines().filter_map(|line| line.strip_prefix("[-] ")?.split_once(' '));
        self.turn.struck_out = struck_out.map(|(_, text)| text.to_owned()).collect();
        let changes: Vec<&str> = words.lines().filter_map(|line| line.strip_prefix("- ")).collect();
        if changes.is_empty() {
            self.plans_first = words.contains("`submit`");
        } else {
            self.turn.notes.push(format!("the plan: {}", changes.join("; ")));
        }
    }

    /// Makes the call that writes these steps of a plan, so many of which are done; none where the tool is missing.
    pub(super) fn plan_call(&self, steps: &[&str], done: usize) -> Option<Call> {
        let step = |(index, text): (usize, &&str)| {
            let state = match index.cmp(&done) {
                _ if self.plans_first => "pending",
                Ordering::Less => "done",
                Ordering::Equal => "running",
                Ordering::Greater => "pending",
            };
            json!({"text": text, "state": state})
        };
        let mut call = self.call("plan", &[])?;
        call.arguments.insert("steps".to_owned(), steps.iter().enumerate().map(step).collect());
        if self.plans_first {
            call.arguments.insert("submit".to_owned(), true.into());
        }
        Some(call)
    }

    fn add_user_text(&mut self, text: String) {
        if let Some((tag, rest)) = text.strip_prefix("<steer-").and_then(|text| text.split_once(" kind=\"plan\">\n")) {
            let words = rest.strip_suffix(&format!("\n</steer-{tag}>")).unwrap_or(rest);
            self.take_plan_notice(words);
            return;
        }
        if let Some(note) = wrapper::read_agent_answer(&text) {
            self.turn.take_answer(&note);
            return;
        }
        if wrapper::is_note(&text) {
            return;
        }
        let cancelled = |round: &Round| round.calls.iter().any(|done| done.result.starts_with("Error: cancelled"));
        let last = self.turn.rounds.iter().rev().find(|round| !round.calls.is_empty());
        if !self.turn.answer.is_empty() || last.is_some_and(cancelled) {
            self.earlier.push(mem::take(&mut self.turn));
        }
        match wrapper::parse(&text) {
            None => self.add(text),
            Some(framed) => {
                let words = framed.words.to_owned();
                match framed.kind {
                    TextKind::Add => self.add(words),
                    TextKind::Note => self.turn.notes.push(words),
                    TextKind::Instead => {
                        self.turn.opening = vec![words];
                        self.turn.handled.clear();
                        self.turn.rounds.iter_mut().for_each(|round| round.steering.clear());
                        self.turn.replaced_after = Some(self.turn.rounds.len());
                    }
                    TextKind::Rule => {
                        self.rules.retain(|(id, _)| id != framed.id);
                        if framed.news != Some(RuleNews::Withdrawn) {
                            self.rules.push((framed.id.to_owned(), words.clone()));
                            if let Some(round) = self.turn.rounds.last_mut() {
                                round.steering.push(SteeringText { text: words, kind: TextKind::Rule });
                            }
                        }
                    }
                }
            }
        }
    }

    fn add(&mut self, text: String) {
        match self.turn.rounds.last_mut() {
            Some(round) => round.steering.push(SteeringText { text, kind: TextKind::Add }),
            None => self.turn.opening.push(text),
        }
    }

    /// Takes what a compaction kept: the task, the rules, and what was handled already.
    fn recall(&mut self, text: &str) {
        for kept in wrapper::read_kept(text) {
            let (id, words) = (kept.id.to_owned(), kept.words.to_owned());
            match (kept.name, kept.kind, kept.state) {
                ("rule", _, _) => self.rules.push((id, words)),
                ("task", _, _) => self.turn.opening.push(words),
                (_, TextKind::Note, Some(state)) if state.starts_with("handled") => self.turn.notes.push(words),
                (_, TextKind::Add, Some(state)) if state.starts_with("handled") => self.turn.handled.push(words),
                _ => {}
            }
        }
    }

    /// Returns the last earlier turn that listed the whole project, with the files that it found.
    pub(super) fn earlier_listing(&self) -> Option<(&Turn, Vec<String>)> {
        let call = self.call("glob", &[("pattern", "**/*")])?;
        let listed = self.earlier.iter().rev().find_map(|turn| Some((turn, turn.result_of(&call)?)));
        listed.map(|(turn, listing)| (turn, results::paths(listing))).filter(|(_, paths)| !paths.is_empty())
    }

    /// Returns the directory that the instructions name; empty when they name none.
    pub(super) fn directory(&self) -> &str {
        let mut lines = self.system.lines().map(|line| line.trim_start_matches(['-', ' ']));
        lines.find_map(|line| line.strip_prefix("Working directory:")).map_or("", |path| path.trim().trim_matches('`'))
    }

    pub(super) fn offers(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// Makes a call of a tool that is on offer, with the arguments that are not empty; their values must be among
    /// those that the schema lists, such as the personas.
    pub(super) fn call(&self, name: &str, arguments: &[(&str, &str)]) -> Option<Call> {
        let tool = self.tools.iter().find(|tool| tool.name == name)?;
        let allowed = |key: &str, value: &str| {
            let values = tool.parameters.pointer(&format!("/properties/{key}/enum")).and_then(Value::as_array);
            values.is_none_or(|values| values.iter().any(|allowed| allowed == value))
        };
        let arguments = arguments.iter().filter(|(_, value)| !value.is_empty());
        let known = arguments.clone().all(|(key, value)| allowed(key, value));
        let arguments = arguments.map(|(key, value)| ((*key).to_owned(), Value::from(*value))).collect();
        known.then(|| Call { name: name.to_owned(), arguments })
    }
}

impl Turn {
    /// Returns every call with its result, in order.
    pub(super) fn finished(&self) -> impl Iterator<Item = &FinishedCall> {
        self.rounds.iter().flat_map(|round| &round.calls)
    }

    /// Returns the result of a call that was made in this turn.
    pub(super) fn result_of(&self, call: &Call) -> Option<&str> {
        self.finished().find(|finished| finished.call == *call).map(|finished| finished.result.as_str())
    }

    pub(super) fn succeeded(&self, name: &str) -> impl Iterator<Item = &FinishedCall> {
        let has_result = |done: &&FinishedCall| {
            !results::failed(&done.result) && results::agent_in_background(&done.result).is_none()
        };
        self.finished().filter(move |done| done.call.name == name).filter(has_result)
    }

    /// Returns the sub-agents that work in the background.
    pub(super) fn awaited(&self) -> impl Iterator<Item = &str> {
        let agents = self.finished().filter(|done| done.call.name == "agent");
        agents.filter_map(|done| results::agent_in_background(&done.result))
    }

    /// Takes the answer of a sub-agent in the background as the result of its call.
    fn take_answer(&mut self, note: &ReadAgentNote<'_>) {
        let mut calls = self.rounds.iter_mut().flat_map(|round| &mut round.calls);
        let waits = |done: &&mut FinishedCall| results::agent_in_background(&done.result) == Some(note.agent);
        let Some(done) = calls.find(waits) else { return };
        let is_answer = note.end.starts_with("completed");
        done.result = if is_answer { note.answer.to_owned() } else { format!("Error: {}", note.answer) };
    }

    /// Returns the round of the first delegation, when there was one.
    pub(super) fn first_delegation(&self) -> Option<usize> {
        self.rounds.iter().position(|round| round.calls.iter().any(|finished| finished.call.name == "agent"))
    }

    /// Keeps the calls that were not made in this turn yet, each once.
    pub(super) fn missing(&self, calls: impl IntoIterator<Item = Call>) -> Vec<Call> {
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
    pub(super) fn text(&self, argument: &str) -> &str {
        self.arguments.get(argument).and_then(Value::as_str).unwrap_or_default()
    }
}
