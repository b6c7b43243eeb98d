//! The planner: a pure function from a request to a reply. The same request gives the same reply.
//!
//! The model plays a script: a fixed row of steps for what the turn is about. Steering is laid over every turn alike: it is
//! quoted word for word in the next reply, what it asks for is done in the same batch, and the answer says what came of it.
//!
//! # Where things are
//!
//! - what the model does, step by step: `script.rs`; its answers: `report.rs`
//! - what a request or steering asks for, and what comes of it: `request.rs`, `steering.rs`
//! - what is known in a turn: `view.rs`, `conversation.rs`, `results.rs`, `files.rs`; tasks of sub-agents: `task.rs`;
//!   tests: `demo/mod.rs`, `tests/pty/embedded.rs`

mod conversation;
mod files;
mod report;
mod request;
mod results;
mod script;
mod steering;
mod task;
mod view;

use serde_json::Value;

use crate::program::demo::markdown::{all_joined, and_code, block_quote, inline_quote, joined};
use crate::program::demo::plan::conversation::{Call, Conversation};
use crate::program::demo::plan::script::Step;
use crate::program::demo::plan::view::{Request, View};
use crate::program::demo::wire::ChatBody;
use steersman_base::steering::TextKind;

/// A reply of the embedded model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedReply {
    /// The reasoning, aloud.
    pub thinking: String,
    /// The visible text, Markdown.
    pub text: String,
    pub calls: Vec<PlannedCall>,
}

/// A call of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCall {
    /// Unique within the conversation.
    pub id: String,
    pub name: String,
    /// The arguments, a JSON object as text.
    pub arguments: String,
}

/// Plans the reply to a request: the next step of the script that has calls to make, or else the answer.
pub fn plan(body: &ChatBody) -> PlannedReply {
    let talk = Conversation::new(body);
    let view = View::new(&talk);
    let steering = steering_calls(&view);
    let awaited: Vec<String> = talk.turn.awaited().map(str::to_owned).collect();
    let waits = !awaited.is_empty() && !view.is_stopped();
    let step = match script::next(&view) {
        _ if waits && steering.is_empty() => Step {
            calls: Vec::new(),
            thinking: "The agents work in the background. Their answers come to me as messages; until then I have nothing to do."
                .to_owned(),
            text: format!("I wait for {}; my report follows when they have answered.", and_code(&awaited)),
        },
        Some(step) if !waits => Step { calls: talk.turn.missing(steering.into_iter().chain(step.calls)), ..step },
        _ if !steering.is_empty() => Step {
            calls: steering,
            thinking: "It needs a look at the real files before I answer.".to_owned(),
            text: String::new(),
        },
        _ => Step {
            calls: Vec::new(),
            thinking:
                "All results are here. I answer now, with path and line of each finding, and say what is missing."
                    .to_owned(),
            text: joined(&report::answer(&view), &steering::account(&view)),
        },
    };
    let quoted = |request: &Request| format!("{}\n{}", block_quote(&request.text), steering::promises(&view, request));
    let replaced = (talk.turn.replaced_after == Some(talk.turn.rounds.len())).then(|| {
        format!("{}\nThis is the task now. I drop what was open of the one before.", block_quote(&view.request.text))
    });
    let acknowledgement = all_joined(replaced.into_iter().chain(view.fresh().map(quoted)));
    let fresh: Vec<String> = view.fresh().map(|request| inline_quote(&request.text)).collect();
    let steered = format!("The user wrote to me while I worked: {}. That comes first.", fresh.join(", then "));
    let planned = |(index, call): (usize, Call)| PlannedCall {
        id: format!("call_{}_{index}", talk.messages),
        name: call.name,
        arguments: Value::Object(call.arguments).to_string(),
    };
    PlannedReply {
        thinking: if fresh.is_empty() { step.thinking } else { joined(&steered, &step.thinking) },
        text: joined(&acknowledgement, &step.text),
        calls: step.calls.into_iter().enumerate().map(planned).collect(),
    }
}

/// Returns the calls that steering asks for and that were not made yet.
fn steering_calls(view: &View) -> Vec<Call> {
    let asks = |request: &&Request| !request.is_settled && request.kind == TextKind::Add;
    let intents = view.steering.iter().filter(asks).flat_map(|request| &request.intents);
    let intents = intents.filter(|_| view.has_rounds_left());
    view.talk.turn.missing(intents.filter_map(|intent| view.call(&intent.tool_use()?)))
}
