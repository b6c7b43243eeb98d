//! Steersman: an agent library, and the full-screen host that steers an agent while it runs.
//!
//! The program is `src/main.rs` and [`cli`]; everything else can be used without it.
//!
//! # An agent that gets a message while it works
//!
//! A model calls a tool, and while the tool runs a message is injected. It enters the conversation at the boundary:
//! after the tool's result, and so in the very next request.
//!
//! ```
//! use std::sync::Arc;
//!
//! use steersman::agent::Agent;
//! use steersman::control::Interloper;
//! use steersman::event::Event;
//! use steersman::listener::InMemoryEventList;
//! use steersman::message::Message;
//! use steersman::provider::{ChatTransport, FixedProvider, Played, ScriptedProvider};
//! use steersman::tool::{FnTool, Parameters};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! // The model; for a real server use `HttpConnector` in place of `FixedProvider`.
//! let model = Arc::new(ScriptedProvider::new([
//!     Played::calls(&[("call_1", "weather", r#"{"place": "Reykjavik"}"#)]),
//!     Played::text("Reykjavik: 4 °C. And Helsinki I look up next."),
//! ]));
//! let connector = Arc::new(FixedProvider::new(model.clone()));
//!
//! // Messages come in here, from any thread, at any time.
//! let interloper = Arc::new(Interloper::new());
//!
//! let typing = interloper.clone();
//! let place = Parameters::build(|p| {
//!     p.required_string("place", "The place.");
//! });
//! let weather = FnTool::new("weather", "Tells the weather.", place, move |_, _| {
//!     let typing = typing.clone();
//!     async move {
//!         // Somebody types while the tool runs.
//!         let _ = typing.inject_user_message("And Helsinki?");
//!         Ok("4 °C".to_owned())
//!     }
//! });
//!
//! let events = Arc::new(InMemoryEventList::new());
//! let transport = ChatTransport::default().with_model("any-model");
//! let mut agent = Agent::builder(transport, "You are helpful.", connector)
//!     .interloper(interloper)
//!     .build(|configurator| {
//!         configurator.add_listener(events.clone());
//!         configurator.add_tool(Arc::new(weather))
//!     })
//!     .await?;
//!
//! agent.run_loop("How is the weather in Reykjavik?").await?;
//!
//! let second_request = &model.requests()[1].messages;
//! assert!(matches!(second_request[3], Message::Tool { .. }));
//! assert!(matches!(&second_request[4], Message::User { content, .. } if content == "And Helsinki?"));
//! assert!(events.events().iter().any(|event| matches!(
//!     event,
//!     Event::UserTurn { content, mid_loop: true, .. } if content == "And Helsinki?"
//! )));
//! assert_eq!(agent.last_assistant_content(), Some("Reykjavik: 4 °C. And Helsinki I look up next."));
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # Layers
//!
//! Each module uses only those above it; `tests/suite/layers.rs` enforces it.
//!
//! | layer | modules | knows |
//! |---|---|---|
//! | words | [`id`] [`image`] [`message`] [`event`] [`error`] [`text`] [`target`] [`price`] [`limits`] [`assets`] [`summary`] [`packed`] [`regular_file`] [`front_matter`] [`manual`] [`steering`] [`plan`] `tls` | the standard library, serde |
//! | parts | [`approval`] [`control`] [`listener`] [`provider`] [`web`] [`workspace`] | words, not each other |
//! | tools | [`tool`] | words, `approval`, `control`, `web`, `workspace`, the schema that a `provider` sends |
//! | agent | [`agent`] | words, parts, tools; one future per turn, no task of its own |
//! | crew | [`subagent`] [`skill`] [`hooks`] | all above |
//! | host | [`host`] | all above; nothing of the screen |
//! | session | [`session`] | all above |
//! | screen | [`tui`] | words; only its `run` sees `host` |
//! | program | [`cli`] [`config`] [`demo`] | everything; only here are flags, environment and logging |
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
//! | none | agent, control, listeners, events, messages, sub-agents, the interface of tools, the scripted provider |
//! | `http` | model servers in four dialects, the lists of their models |
//! | `tools` | a workspace, the tools on files, commands, the sandbox |
//! | `web` | searching and reading the web, cloning; with `http` and `tools` |
//! | `mcp` | a client of MCP servers; with `http` and `tools` |
//! | `program` (default) | the screen, the command line, sessions, the embedded model; with all others |
//!
//! # Where things are
//!
//! The documentation of each folder ends with such a list; `tests/suite` mirrors the names.
//!
//! - events and their wire form: `event.rs`; stories: `events.rs`
//! - bounded reading of regular files; the walk under ignore rules: `regular_file.rs`,
//!   `workspace/walk.rs`, `workspace/ignore_rules.rs`; stories: `hostile_files.rs`, `own_files.rs`
//! - the sanitiser of untrusted text; colours and carriage returns in a command's output: `text.rs`,
//!   `text/command_output.rs`; stories: `text.rs`, `untrusted.rs`, `hostile_sinks.rs`
//! - summaries of calls: heads, diffs, ends of commands, live output: `summary.rs`, `tui/transcript/result.rs`,
//!   `tui/transcript/fold/calls.rs`, `tui/transcript/view/call.rs`; stories: `result_views.rs`
//! - `@researcher 0 …`, `@all …`: the agent that a text is for: `target.rs`; stories: `target.rs`
//! - prices of tokens: `price.rs`; stories: `price.rs`
//! - every limit: `limits.rs`, `limits/jobs.rs`; stories: `controls.rs`
//! - the layers of modules: `lib.rs`; stories: `layers.rs`

// Without the program some parts have no user.
#![cfg_attr(not(feature = "program"), allow(dead_code))]

pub mod agent;
pub mod approval;
pub mod assets;
#[cfg(feature = "program")]
pub mod cli;
pub mod clock;
#[cfg(feature = "program")]
pub mod config;
pub mod control;
#[cfg(feature = "program")]
pub mod demo;
pub mod details;
pub mod dialect;
pub mod error;
pub mod event;
#[cfg(feature = "tools")]
mod fault;
pub mod front_matter;
#[cfg(feature = "tools")]
pub mod hooks;
pub mod host;
pub mod id;
pub mod image;
pub mod limits;
pub mod listener;
#[cfg(feature = "program")]
pub mod manual;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod message;
pub mod mode;
#[cfg(feature = "program")]
pub mod packed;
pub mod plan;
pub mod prelude;
pub mod price;
pub mod protocol;
pub mod provider;
pub mod regular_file;
#[cfg(feature = "program")]
pub mod session;
#[cfg(feature = "tools")]
pub mod skill;
pub mod steering;
pub mod subagent;
pub mod summary;
mod sync;
pub mod target;
pub mod text;
#[cfg(feature = "http")]
mod tls;
pub mod tool;
#[cfg(feature = "program")]
pub mod tui;
#[cfg(feature = "web")]
pub mod web;
#[cfg(feature = "tools")]
pub mod workspace;
