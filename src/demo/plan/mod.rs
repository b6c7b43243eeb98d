//! The planner: a pure function from a request to a reply. The same request gives the same reply.
//!
//! The model plays a script: a table of steps for each role. Steering is laid over every role alike: it is quoted word for
//! word in the next reply, what it asks for is done in the same batch, and the answer says what came of it.
//!
//! # Where things are
//!
//! - what a role does and says, step by step: `script.rs`, `steps.rs`; its answer: `report.rs`, `answers.rs`
//! - what a request or steering asks for, and what comes of it: `requests.rs`, `intents.rs`
//! - what is known in a turn: `view.rs`, `conversation.rs`, `results.rs`, `files.rs`; tasks of sub-agents: `task.rs`;
//!   stories: `demo.rs`, `tests/pty/embedded.rs`

mod answers;
mod conversation;
mod files;
mod intents;
mod report;
mod requests;
mod results;
mod script;
mod steps;
mod task;
mod view;

use serde_json::Value;

use crate::demo::markdown::{all_joined, block_quote, inline_quote, joined};
use crate::demo::plan::conversation::{Call, Conversation};
use crate::demo::plan::view::{Request, View};
use crate::demo::wire::ChatBody;

/// A reply of the embedded model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedReply {
    /// The reasoning, aloud.
    pub thinking: String,
    /// The visible text, Markdown.
    pub text: String,
    /// The calls it asks for.
    pub calls: Vec<PlannedCall>,
}

/// A call of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCall {
    /// Unique within the conversation.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, a JSON object as text.
    pub arguments: String,
}

/// Plans the reply to a request: the first step of the role's script that has calls to make, or else the answer.
pub fn plan(body: &ChatBody) -> PlannedReply {
    let talk = Conversation::of(body);
    let view = View::of(&talk);
    let (turn, script) = (&talk.turn, view.role.script());
    let steering = steering_calls(&view);
    let steps = script.steps.iter().filter(|_| !view.stop);
    let next = steps.map(|step| (step, turn.missing((step.0)(&view)))).find(|(_, calls)| !calls.is_empty());
    let (thinking, text, calls) = match next {
        Some((step, calls)) => {
            let calls = turn.missing(steering.into_iter().chain(calls));
            (view.fill(step.1), joined(&acknowledgement(&view), &view.fill(step.2)), calls)
        }
        None if !steering.is_empty() => {
            ("It needs a look at the real files before I answer.".to_owned(), acknowledgement(&view), steering)
        }
        None => {
            let details = script.details.iter().filter(|_| !view.is_brief());
            let answer = script.sections.iter().chain(details).map(|section| section(&view));
            let text = [acknowledgement(&view)].into_iter().chain(answer).chain([intents::account(&view)]);
            (view.fill(script.closing), all_joined(text), Vec::new())
        }
    };
    let fresh: Vec<String> = view.fresh().map(|request| inline_quote(&request.text)).collect();
    let steered = format!("The person steers me: {}. That comes before my own plan.", fresh.join(", then "));
    let thinking = if fresh.is_empty() { thinking } else { joined(&steered, &thinking) };
    let planned = |(index, call): (usize, Call)| PlannedCall {
        id: format!("call_{}_{index}", talk.messages),
        name: call.name,
        arguments: Value::Object(call.arguments).to_string(),
    };
    PlannedReply { thinking, text, calls: calls.into_iter().enumerate().map(planned).collect() }
}

/// Returns the calls that steering asks for and that were not made yet.
fn steering_calls(view: &View) -> Vec<Call> {
    let intents = view.steering.iter().flat_map(|request| &request.intents).filter(|_| view.has_rounds_left());
    view.talk.turn.missing(intents.filter_map(|intent| view.call(&intent.tool_use()?)))
}

/// Quotes the steering that came since the last reply, each message with what is done for it.
fn acknowledgement(view: &View) -> String {
    let quoted = |request: &Request| format!("{}\n{}", block_quote(&request.text), intents::promises(view, request));
    all_joined(view.fresh().map(quoted))
}
