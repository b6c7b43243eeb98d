//! Steersman: an agent library whose agents are steered while they run, and the full-screen host that does so.
//!
//! The program is `src/main.rs` and a module of its own; everything else can be used without it. Most programs begin with
//! `use steersman::prelude::*;`. Each part of this page has an example in `tests/examples`, run with
//! `cargo run --example NAME`.
//!
//! # Agent
//!
//! An [`Agent`](agent::Agent) is a model, a conversation and tools. A tool is a closure and a Rust type: its fields are the
//! parameters, its doc comments tell the model what they are; what does not fit goes back to the model, and `?` turns any
//! error into an observation.
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use steersman::prelude::*;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Forecast {
//!     /// The place, as its inhabitants call it.
//!     place: String,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let controls = Controls::default();
//! let typing = controls.clone();
//! let forecast = typed("forecast", "Tells the weather.", move |args: Forecast, _| {
//!     let typing = typing.clone();
//!     async move {
//!         // Somebody types while the tool runs.
//!         typing.send("And Helsinki?")?;
//!         Ok(format!("{}: 4 °C", args.place))
//!     }
//! });
//!
//! // With a real server: `Agent::over_http(transport, "You are helpful.")`.
//! let model = ScriptedProvider::new([
//!     Played::call("forecast", r#"{"place": "Oslo"}"#),
//!     Played::text("Oslo: 4 °C. Helsinki comes next."),
//! ]);
//! let mut agent = Agent::with_provider(model.clone(), "You are helpful.").tool(forecast).controls(controls).await?;
//! assert_eq!(agent.ask("How is the weather in Oslo?").await?, "Oslo: 4 °C. Helsinki comes next.");
//!
//! // The message entered at the boundary: behind the tool's result, in the very next request.
//! let second_request = &model.requests()[1].messages;
//! assert_eq!(second_request[3].role(), "tool");
//! assert_eq!(second_request[4].content(), "And Helsinki?");
//! # Ok(())
//! # }
//! ```
//!
//! # Turn and boundary
//!
//! A turn is one user message up to the final answer: [`ask`](agent::Agent::ask) runs one and returns the answer,
//! [`run_loop`](agent::Agent::run_loop) runs one, [`run_queue`](agent::Agent::run_queue) runs those that wait. It is rounds
//! of one request and the tool calls of its reply. The boundary is the moment behind the last result of a round: only there do
//! messages enter, never between a call and its result, so that the conversation can always be sent.
//!
//! A turn is one future and spawns nothing. Dropped by a time-out or a `select!`, it ends as by a cancel: the request and the
//! tools end, what came of the answer is kept, every event that opened something has the one that closes it, and the next turn
//! works. [`Cancellable::cancel`](control::Cancellable::cancel) does the same from any thread, within a second.
//!
//! # Steering
//!
//! [`Controls`](control::Controls) are three handles that are cloned and used from anywhere: the queue (send, look at what is
//! pending, withdraw, change, reorder, hold), the cancel flag, and the gate that pauses. A message is a steer for the next
//! boundary, a follow-up with a turn of its own, or one that is delivered now, which cuts the answer being written. What
//! happens is told by events: to listeners, to functions given to [`on`](agent::Agent::on), to a host.
//!
//! # Sub-agents
//!
//! [`SubAgents`](subagent::SubAgents) is an [`Extension`](agent::Extension) that gives the model a tool which delegates a task
//! to a fresh agent with another prompt and other tools. With a [`AgentControls`](control::AgentControls) each of them has controls of its own and
//! is steered by its name. Extensions of your own add tools, prompt text and notes, as a type or as a few closures
//! ([`FnExtension`](agent::FnExtension)); their hooks may wait.
//!
//! # Hosts
//!
//! [`RunningAgent::start`](host::RunningAgent::start) puts any agent on a task of its own, with the controls of its whole tree:
//! a stream of events, what is pending, messages to each agent, stop, end. [`host::run()`] does it for an agent that is built.
//! The program is such a host with a screen. A model is anything that is a [`ChatProvider`](provider::ChatProvider).
//!
//! # Safety
//!
//! What models, servers and files say is untrusted: show it through [`text`], which makes escapes and invisible characters
//! visible. Arguments are checked before a tool runs. A tool that acts asks first
//! ([`ToolContext::approve`](tool::ToolContext::approve), [`CustomOperation`](approval::CustomOperation)); without somebody who answers it
//! does not act. Private data and text of strangers in one agent are watched: sending is asked about then. `unsafe` is
//! forbidden, and no outside data makes the library panic.
//!
//! The minimum supported Rust version is 1.95. A raise of it is a minor version; so are new variants and fields of types that
//! are marked `#[non_exhaustive]`: what a program only reads. Not marked are events and errors, of which a program should not
//! overlook a new one, what is made with `..Default::default()`, and ids and the like, which do not grow.
//!
//! # Crates
//!
//! This crate is the program and a facade: each module named below is a crate of its own or a part of one, and a library user
//! can depend on that crate alone. `assets/manual/architecture.md` says which crates there are, what each uses, the ways of the
//! data through them, and the rules (D1 to D29) that comments and tests name.
//!
//! # Glossary
//!
//! One word per concept, in the code as in the documentation.
//!
//! - *turn*: one user message up to the final answer. Counted per agent, from 1.
//! - *round*: one model request with the batch of calls that its reply asks for. Counted per turn, from 1.
//! - *batch*: the tool calls of one reply. *Group*: adjacent calls in it that run at the same time.
//! - *boundary*: the moment after a batch's last result. Here messages enter a running turn; only one that is to be
//!   delivered now makes a place for itself, by a cut.
//! - *cut*: the end of the answer being written, or of the calls not yet started, because of a message for now.
//! - *steer*: a message for the next boundary; after the last one it starts the next turn.
//! - *follow-up*: a message that starts a turn of its own when the running one has ended.
//! - *now*: a message that is delivered at once, by a cut; with no turn running it starts one.
//! - *pending*: accepted and not yet delivered; it can still be changed, moved, held and taken back.
//! - *stale*: pending for so long that it is held back until the user confirms it.
//! - *seen*: delivered, and the reply to a request with it has begun.
//! - *kind*: what a text is to the agent that it is for: *add* adds to the task, *instead* replaces it, *note* is information,
//!   *rule* holds until it is withdrawn.
//! - *task*: what the agent works on: the text that started the turn, or the last *instead* of it.
//! - *frame*: what stands around a text in the conversation and says its kind and when it was sent.
//! - *held*: kept back in the queue, while it is edited or stale.
//! - *paused*: of an agent: it waits at its next boundary or call until the user lets it continue.
//! - *agent controls*: the controls of every agent that runs; through them a host steers each by itself.
//! - *persona*: the kind of a sub-agent: name, prompt, tools, step budget.
//! - *rescue*: the answer that a fresh, tools-free conversation (the [synthesizer](agent::synthesizer_prompt)) writes
//!   from the evidence when a turn's step budget is used up.
//! - *step*: one tool call. *Step budget*: how many of them a turn may make. *Budget*: the money and the tokens that a whole
//!   tree may use.
//! - *hook*: a command of the user, or of a trusted project, that runs at a point of the loop and may forbid what comes next.
//! - *job*: a command that goes on in the background, of an agent or a shell line of the user.
//! - *compaction*: the summary of older rounds that takes their place in the conversation.
//! - *seed*: one of the Ruby classes (Pikuri's `Agent`, `Synthesizer`, `Interloper`, `SubAgentTool`; Truffle's `Agent`)
//!   whose behaviour the library takes over, where no rule below says otherwise.
//!
//! # Where things are
//!
//! - what most programs with an agent use: `use steersman::prelude::*;`: `prelude.rs`

pub mod prelude;
pub mod program;

/// What `#[tool]` writes stands on.
#[doc(hidden)]
pub mod macro_support {
    pub use {schemars, serde};
}

pub use steersman_agent as agent;
pub use steersman_agent::subagent;
pub use steersman_base::{
    clock, details, dialect, error, event, id, limits, message, mode, plan, price, protocol, steering, summary, target,
    text,
};
pub use steersman_core::{approval, control, listener};
pub use steersman_exchange as exchange;
pub use steersman_extensions::{hooks, mcp, output_schema, skill};
pub use steersman_session as session;
pub use steersman_session::host;
pub use steersman_tools::{web, workspace};

/// Images: what is sent, and files that are made small enough for it.
pub mod image {
    pub use steersman_base::image::*;
    pub use steersman_images::*;
}

/// Model servers: the interface, a prepared conversation for tests, and four dialects over HTTP.
pub mod provider {
    pub use steersman_core::provider::*;
    pub use steersman_provider::*;
}

/// Tools: the interface, and the tools of the program.
pub mod tool {
    pub use steersman_core::tool::*;
    pub use steersman_tools::*;
}
