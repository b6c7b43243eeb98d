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
#![cfg_attr(feature = "typed", doc = "```")]
#![cfg_attr(not(feature = "typed"), doc = "```ignore")]
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
//! to a fresh agent with another prompt and other tools. With a [`Crew`](control::Crew) each of them has controls of its own and
//! is steered by its name. Extensions of your own add tools, prompt text and notes, as a type or as a few closures
//! ([`FnExtension`](agent::FnExtension)); their hooks may wait.
//!
//! # Hosts
//!
//! [`RunningAgent::start`](host::RunningAgent::start) puts any agent on a task of its own, with the controls of its whole crew:
//! a stream of events, what is pending, messages to each agent, stop, end. [`host::run()`] does it for an agent that is built.
//! The program is such a host with a screen. A model is anything that is a [`ChatProvider`](provider::ChatProvider).
//!
//! # Safety
//!
//! What models, servers and files say is untrusted: show it through [`text`], which makes escapes and invisible characters
//! visible. Arguments are checked before a tool runs. A tool that acts asks first
//! ([`ToolContext::approve`](tool::ToolContext::approve), [`CustomAct`](approval::CustomAct)); without somebody who answers it
//! does not act. Private data and text of strangers in one agent are watched: sending is asked about then. `unsafe` is
//! forbidden, and no outside data makes the library panic.
//!
//! The minimum supported Rust version is 1.95. A raise of it is a minor version; so are new variants and fields of types that
//! are marked `#[non_exhaustive]`.
//!
//! # Layers
//!
//! Each module uses only those above it; `tests/suite/layers.rs` enforces it.
//!
//! | layer | modules | knows |
//! |---|---|---|
//! | words | [`id`] [`image`] [`message`] [`event`] [`error`] [`text`] [`target`] [`price`] [`limits`] `assets` `summary` `packed` `regular_file` `temporary` `front_matter` `manual` [`steering`] [`plan`] `tls` | the standard library, serde |
//! | parts | [`approval`] [`control`] [`listener`] [`provider`] [`web`] [`workspace`] | words, not each other |
//! | tools | [`tool`] | words, `approval`, `control`, `web`, `workspace`, the schema that a `provider` sends |
//! | agent | [`agent`] | words, parts, tools; one future per turn, no task of its own |
//! | crew | [`subagent`] [`skill`] [`hooks`] `mcp` | all above |
//! | host | [`host`] | all above; nothing of the screen |
//! | session | [`session`] | all above |
//! | screen | `tui` | words; only its `run` sees `host` |
//! | program | `cli` `config` `demo` | everything; only here are flags, environment and logging |
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
//! - *crew*: the controls of every agent that runs; through them a host steers each by itself.
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
//! # Rules
//!
//! Comments and tests name them by number.
//!
//! | rule | says |
//! |---|---|
//! | D1 | Messages enter a running turn after the last result of a batch, never between a call and its result. |
//! | D2 | Everything typed goes through the queue; with no turn running, the worker starts one with it. After a failed or cancelled turn it waits for the next text. |
//! | D3 | Steers left at a turn's end start one turn together; follow-ups start one each. |
//! | D4 | A pending message can be withdrawn, replaced, moved, held; each operation says whether it still was pending. |
//! | D5 | A message is draft, pending, delivered or returned: exactly one of them, whatever happens. |
//! | D6 | A cancel acts at once: requests are dropped, tools end, within a second. |
//! | D7 | A history that cannot be sent cannot be built, and is checked again on every request. |
//! | D8 | Text that came before a cancel or a cut is kept, marked interrupted; half calls are dropped. |
//! | D9 | Only the root turn clears the cancel flag, under the queue's lock. |
//! | D10 | A used-up step budget ends in a rescue, unless set to fail; its answer enters the history. |
//! | D11 | Adjacent calls that allow it run at the same time, at most eight; results enter in call order. |
//! | D12 | Events have an agent, a parent, a time and one rising number for the whole tree. |
//! | D13 | Turns and rounds have a begin and an end event each, always. |
//! | D14 | A failure in a tool is an `Error: …` observation; only a cancel passes through. |
//! | D15 | A call runs only out of a whole reply, with arguments that passed its schema. |
//! | D16 | Blank means: nothing but white space and invisible characters. Refused text stays with its sender. |
//! | D17 | A listener cannot break a turn. |
//! | D18 | `on`, `on_any`, `reset` and `max_turns` are offered besides the listeners. |
//! | D19 | How many entries a boundary takes can be set per kind. A running call is never cut by a message; one that is to be delivered now cuts the answer being written, or the calls not yet started. |
//! | D20 | Children are named `persona 0`, `persona 1`, …; a number is never used again. |
//! | D21 | Children have no queue, cancel flag or gate of their own, unless the host gives a crew to the tool that spawns them. |
//! | D22 | A key is never shown, logged, recorded or passed on. |
//! | D23 | A host sends with `inject_user_message` and shows what `peek` returns; there is no other way in. |
//! | D24 | A turn or a construction that is dropped leaves a history that can be sent, and no event and no handler open. |
//! | D25 | A running tool can add tools to its agent; they are on offer from the next request. |
//! | D27 | Functions subscribed with `on` and `on_any` get events with payloads from their own agent and its rescue. |
//!
//! # Features
//!
//! | feature | brings |
//! |---|---|
//! | none | agent, control, listeners, events, messages, sub-agents, hosts, the interface of tools, the scripted provider |
//! | `typed` (default) | tools whose arguments are a Rust type |
//! | `http` | model servers in four dialects, the lists of their models, rules about web addresses |
//! | `tools` | a workspace, the tools on files, commands, the sandbox, personas and skills out of files |
//! | `web` | searching and reading the web, cloning; with `http` and `tools` |
//! | `mcp` | a client of MCP servers; with `http` and `tools` |
//! | `program` (default) | the screen, the command line, sessions, the embedded model; with `web` and `mcp` |
//!
//! # Where things are
//!
//! The documentation of each folder ends with such a list; `tests/suite` mirrors the names.
//!
//! - events and their wire form: `event.rs`, `event/envelope.rs`; stories: `events.rs`,
//!   `events/wire_form.rs`
//! - bounded reading of regular files; the walk under ignore rules: `regular_file.rs`,
//!   `workspace/walk.rs`, `workspace/ignore_rules.rs`; stories: `hostile_files.rs`, `own_files.rs`
//! - temporary directories, of which none stays behind: `temporary.rs`; stories: `headless/environments.rs`
//! - the sanitiser of untrusted text; colours and carriage returns in a command's output: `text.rs`,
//!   `text/command_output.rs`; stories: `text.rs`, `untrusted.rs`, `hostile_sinks.rs`
//! - summaries of calls: heads, diffs, ends of commands, live output: `summary.rs`, `tui/transcript/result.rs`,
//!   `tui/transcript/fold/calls.rs`, `tui/transcript/view/call.rs`; stories: `result_views.rs`
//! - `@researcher 0 …`, `@all …`: the agent that a text is for: `target.rs`; stories: `target.rs`
//! - prices of tokens: `price.rs`; stories: `price.rs`
//! - every limit: `limits.rs`, `limits/jobs.rs`; stories: `controls.rs`
//! - the layers of modules: `lib.rs`; stories: `layers.rs`
//! - what most programs use: `prelude.rs`; stories: `library/examples.rs`, `tests/examples/typed_tool.rs`

// Without the program some parts have no user.
#![cfg_attr(not(feature = "program"), allow(dead_code))]

pub mod agent;
pub mod approval;
#[doc(hidden)]
pub mod assets;
#[cfg(feature = "program")]
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod clock;
#[cfg(feature = "program")]
#[doc(hidden)]
pub mod config;
pub mod control;
#[cfg(feature = "program")]
#[doc(hidden)]
pub mod demo;
#[doc(hidden)]
pub mod details;
pub mod dialect;
pub mod error;
pub mod event;
#[cfg(feature = "tools")]
mod fault;
#[doc(hidden)]
pub mod front_matter;
#[cfg(feature = "tools")]
pub mod hooks;
pub mod host;
pub mod id;
pub mod image;
pub mod limits;
pub mod listener;
#[cfg(feature = "program")]
#[doc(hidden)]
pub mod manual;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod message;
pub mod mode;
#[cfg(feature = "program")]
#[doc(hidden)]
pub mod named_file;
#[cfg(feature = "program")]
#[doc(hidden)]
pub mod packed;
pub mod plan;
pub mod prelude;
pub mod price;
#[doc(hidden)]
pub mod protected;
pub mod protocol;
pub mod provider;
#[doc(hidden)]
pub mod regular_file;
#[cfg(feature = "program")]
pub mod session;
#[cfg(feature = "tools")]
pub mod skill;
pub mod steering;
pub mod subagent;
#[doc(hidden)]
pub mod summary;
mod sync;
pub mod target;
#[doc(hidden)]
pub mod temporary;
pub mod text;
#[cfg(feature = "http")]
mod tls;
pub mod tool;
#[cfg(feature = "program")]
#[doc(hidden)]
pub mod tui;
#[cfg(feature = "web")]
pub mod web;
#[cfg(feature = "tools")]
pub mod workspace;
