//! The planner: a pure function from a request to a reply. The same request gives the same reply.
//!
//! Each role derives from the conversation what it would do in its whole turn and does the first part that has no
//! result yet; steering is laid over every role alike ([`steering`]).
//!
//! # Where things are
//!
//! - the embedded model's plan and how it is steered: `mod.rs`, `steering.rs`; stories: `demo.rs`,
//!   `tests/pty/embedded.rs`

mod areas;
mod dig;
mod digest;
mod main_agent;
mod markdown;
mod miner;
mod offer;
mod plain;
mod report;
mod researcher;
mod steering;
mod synthesizer;
mod talk;
mod tour;
mod wants;

use serde_json::Value;

use crate::demo::plan::talk::{Call, Talk};
use crate::demo::wire::ChatBody;

/// Is a reply of the embedded model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedReply {
    /// The reasoning, aloud.
    pub thinking: String,
    /// The visible text, Markdown.
    pub text: String,
    /// The calls it asks for.
    pub calls: Vec<PlannedCall>,
}

/// Is one call of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCall {
    /// Unique within the conversation.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, a JSON object as text.
    pub arguments: String,
}

/// Is what a role wants to do next.
#[derive(Debug)]
enum Step {
    /// Go on with calls.
    Work {
        /// Why, aloud.
        thinking: String,
        /// What it says before them.
        say: String,
        /// The calls.
        calls: Vec<Call>,
    },
    /// End the turn.
    Answer {
        /// Why, aloud.
        thinking: String,
        /// The answer.
        text: String,
    },
}

/// Plans the reply to a request.
pub fn plan(body: &ChatBody) -> PlannedReply {
    let talk = Talk::of(body);
    let step = match role(&talk) {
        Role::Main => steering::lay_over(&talk, main_agent::step),
        Role::Miner => steering::lay_over(&talk, miner::step),
        Role::Researcher => steering::lay_over(&talk, researcher::step),
        Role::Synthesizer => synthesizer::step(&talk),
        Role::Plain => plain::step(&talk),
    };
    reply(&talk, step)
}

/// Says as whom the model is asked.
#[derive(Debug, Clone, Copy)]
enum Role {
    Main,
    Miner,
    Researcher,
    Synthesizer,
    Plain,
}

fn role(talk: &Talk) -> Role {
    let system = talk.system.to_lowercase();
    let files = ["read", "grep", "glob"].iter().any(|name| talk.offer.has(name));
    if talk.offer.is_empty() {
        let asks = talk.turn.asks.iter().any(|ask| ask.contains("Evidence gathered:"));
        return if asks || system.contains("evidence") { Role::Synthesizer } else { Role::Plain };
    }
    if talk.offer.has("agent") || system.contains("steersman") {
        return Role::Main;
    }
    let only_files = talk.offer.names().all(|name| ["read", "grep", "glob"].contains(&name));
    if files && (only_files || system.contains("file miner") || system.contains("file_miner")) {
        return Role::Miner;
    }
    if !files && talk.offer.has("web_search") { Role::Researcher } else { Role::Main }
}

fn reply(talk: &Talk, step: Step) -> PlannedReply {
    let (thinking, text, calls) = match step {
        Step::Work { thinking, say, calls } => (thinking, say, calls),
        Step::Answer { thinking, text } => (thinking, text, Vec::new()),
    };
    let planned = |(index, call): (usize, Call)| PlannedCall {
        id: format!("call_{}_{index}", talk.messages),
        name: call.name,
        arguments: Value::Object(call.arguments).to_string(),
    };
    PlannedReply { thinking, text, calls: calls.into_iter().enumerate().map(planned).collect() }
}
