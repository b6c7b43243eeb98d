//! What most programs with an agent use: `use steersman::prelude::*;`.
//!
//! # Examples
//!
//! ## An agent with a tool
//!
//! ```
//! use steersman::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let look = FnTool::new("look", "Looks.", Parameters::default(), |_, _| async { Ok("a tree") });
//! let model = ScriptedProvider::new([Played::call("look", "{}"), Played::text("There is a tree.")]);
//! let mut agent = Agent::with_provider(model, "You are helpful.").tool(look).await?;
//! assert_eq!(agent.ask("What is there?").await?, "There is a tree.");
//! let roles: Vec<&str> = agent.history().messages().iter().map(Message::role).collect();
//! assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant"]);
//! # Ok(())
//! # }
//! ```
//!
//! ## A tool out of a function
//!
//! ```
//! use steersman::prelude::*;
//!
//! /// Tells the weather.
//! #[tool]
//! async fn forecast(
//!     /// The place, as its inhabitants call it.
//!     place: String,
//!     /// How many days; one when it is left out.
//!     days: Option<u32>,
//! ) -> Result<String, ToolError> {
//!     Ok(format!("{place} for {} days: 4 °C", days.unwrap_or(1)))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = ScriptedProvider::new([Played::call("forecast", r#"{"place": "Oslo"}"#), Played::text("Cold.")]);
//! let mut agent = Agent::with_provider(model, "You are helpful.").tool(forecast()).await?;
//! assert_eq!(agent.ask("How is the weather in Oslo?").await?, "Cold.");
//! # Ok(())
//! # }
//! ```
//!
//! ## What a turn took
//!
//! ```
//! use steersman::event::{TurnFinish, Usage};
//! use steersman::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let usage = Usage { input: Some(90), output: Some(30), cost_nanos: Some(4_200_000), ..Usage::default() };
//! let model = ScriptedProvider::new([Played::text("Four.").with_usage(usage)]);
//! let mut agent = Agent::with_provider(model, "You count.").await?;
//! agent.ask("How many?").await?;
//! let turn = agent.last_turn().expect("it has ended");
//! assert_eq!((turn.rounds, turn.calls, turn.finish), (1, 0, Some(TurnFinish::Stop)));
//! assert_eq!((turn.usage.output, turn.cost().as_deref()), (Some(30), Some("$0.0042")));
//! # Ok(())
//! # }
//! ```
//!
//! ## An answer as a type
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use steersman::prelude::*;
//!
//! #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
//! struct Count {
//!     /// How many birds there are.
//!     birds: u32,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The first answer does not match: it is asked for again. A fence is taken off.
//! let model = ScriptedProvider::new([Played::text("Two birds."), Played::text("```json\n{\"birds\": 2}\n```")]);
//! let mut agent = Agent::with_provider(model, "You count.").await?;
//! assert_eq!(agent.ask_as::<Count>("How many?").await?, Count { birds: 2 });
//! # Ok(())
//! # }
//! ```
//!
//! ## A prepared conversation
//!
//! ```
//! use steersman::agent::Agent;
//! use steersman::provider::{Played, ScriptedProvider};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = ScriptedProvider::new([Played::text("Four.")]);
//! let mut agent = Agent::with_provider(model.clone(), "You count.").await?;
//! assert_eq!(agent.ask("How many?").await?, "Four.");
//! assert_eq!(model.requests()[0].messages.len(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! ## A hosted agent
//!
//! ```
//! use steersman::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = ScriptedProvider::new([Played::text("Hello.")]);
//! let mut running = RunningAgent::start(Agent::with_provider(model, "You are helpful.")).await?;
//! running.send("Hi.")?;
//! assert_eq!(running.settled().await?, LastRun::Answered);
//! # Ok(())
//! # }
//! ```
//!
//! ## A hosted agent with controls of your own
//!
//! ```
//! # use std::sync::Arc;
//! use steersman::agent::Agent;
//! use steersman::control::Controls;
//! use steersman::event::Event;
//! use steersman::host;
//! # use steersman::provider::{Played, ScriptedProvider};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let provider = Arc::new(ScriptedProvider::new([Played::text("Hello.")]));
//! let controls = Controls::default();
//! let agent = Agent::with_provider(provider, "You are helpful.").controls(controls.clone()).await?;
//! let mut running = host::run(agent, controls)?;
//! running.send("Hi.")?;
//! while let Some(envelope) = running.next_event().await {
//!     match envelope.event {
//!         Event::Assistant { text, .. } => println!("{text}"),
//!         Event::TurnEnded { .. } => break,
//!         _ => {}
//!     }
//! }
//! running.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! ## A provider of your own
//!
//! ```
//! use steersman::prelude::*;
//!
//! /// A model that says the last message again.
//! struct Parrot;
//!
//! impl ChatProvider for Parrot {
//!     fn complete<'a>(
//!         &'a self,
//!         request: ChatRequest<'a>,
//!         sink: &'a mut Sink<'a>,
//!     ) -> BoxFuture<'a, Result<Reply, ProviderError>> {
//!         Box::pin(async move {
//!             let said = request.messages().last().map_or("", Message::content);
//!             // Also where a stop ends the request.
//!             sink(Piece::text(said))?;
//!             Ok(Reply::text(said))
//!         })
//!     }
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut agent = Agent::with_provider(Parrot, "You are a parrot.").await?;
//! assert_eq!(agent.ask("Polly!").await?, "Polly!");
//! # Ok(())
//! # }
//! ```
//!
//! ## A provider out of a closure
//!
//! ```
//! use steersman::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let parrot = FnProvider::new(|request| {
//!     let said = request.messages().last().map_or("", Message::content).to_owned();
//!     async move { Ok(said) }
//! });
//! let mut agent = Agent::with_provider(parrot, "You are a parrot.").await?;
//! assert_eq!(agent.ask("Polly!").await?, "Polly!");
//! # Ok(())
//! # }
//! ```
//!
//! ## A sub-agent
//!
//! ```
//! use steersman::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let scout = Persona::new("scout", "Looks around.", "You look around.");
//! let model = ScriptedProvider::new([
//!     Played::call("agent", r#"{"name": "scout", "task": "Go north."}"#),
//!     Played::text("Hills."),
//!     Played::text("There are hills in the north."),
//! ]);
//! let mut agent = Agent::with_provider(model, "You lead.").extension(SubAgents::new([scout])?).await?;
//! assert_eq!(agent.ask("What is there?").await?, "There are hills in the north.");
//! # Ok(())
//! # }
//! ```
//!
//! ## The controls of a tree
//!
//! ```
//! use std::sync::Arc;
//!
//! use steersman::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let agent_controls = Arc::new(AgentControls::default());
//! let model = ScriptedProvider::new([Played::text("Hello.")]);
//! let mut running = RunningAgent::start(Agent::with_provider(model, "You lead.").agent_controls(agent_controls.clone())).await?;
//! agent_controls.send_to(&AgentId::main(), "Hi.")?;
//! assert_eq!(running.settled().await?, LastRun::Answered);
//! assert_eq!(agent_controls.send_to(&AgentId::new("scout 0"), "Hi."), Err(Refused::Ended), "nobody of this name runs");
//! # Ok(())
//! # }
//! ```
//!
//! ## A pause before a call
//!
//! ```
//! use std::sync::Arc;
//!
//! use steersman::control::{Decision, PauseGate};
//! use steersman::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let gate = Arc::new(PauseGate::new());
//! gate.pause();
//! let look = FnTool::new("look", "Looks.", Parameters::default(), |_, _| async { Ok("a tree") });
//! let model = ScriptedProvider::new([Played::call("look", "{}"), Played::text("I did not look.")]);
//! let builder = Agent::with_provider(model.clone(), "You look.").tool(look).gate(gate.clone());
//! let mut running = RunningAgent::start(builder).await?;
//! running.send("What is there?")?;
//! while let Some(envelope) = running.next_event().await {
//!     match envelope.event {
//!         // The agent waits before a call, and behind its result.
//!         Event::Paused { call: Some(call) } => {
//!             gate.decide(Some(&call.id), Decision::Skip("it is dark".to_owned()));
//!         }
//!         Event::Paused { call: None } => gate.resume(),
//!         Event::TurnEnded { .. } => break,
//!         _ => {}
//!     }
//! }
//! assert_eq!(model.requests()[1].messages[3].content(), "Error: skipped by the user: it is dark");
//! # Ok(())
//! # }
//! ```
//!
//! ## A plan that the user changes
//!
//! ```
//! use std::sync::Arc;
//!
//! use steersman::control::Plans;
//! use steersman::plan::{PlanEdit, StepState};
//! use steersman::prelude::*;
//! use steersman::tool::PlanTool;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let plans = Arc::new(Plans::default());
//! let steps = r#"{"steps": [{"text": "Look.", "state": "running"}, {"text": "Tell Ada.", "state": "pending"}]}"#;
//! let model = ScriptedProvider::new([Played::call("plan", steps), Played::text("Planned."), Played::text("Done.")]);
//! let builder = Agent::with_provider(model.clone(), "You plan.").tool(PlanTool::new(plans.clone()));
//! let mut agent = builder.plans(plans.clone()).await?;
//! agent.ask("Plan it.").await?;
//! // The user strikes a step out; the model is told before its next request.
//! let (main, step) = (AgentId::main(), plans.of(&AgentId::main()).steps[1].id.clone());
//! plans.edit(&main, &PlanEdit::Mark { step, state: StepState::StruckOut }, None)?;
//! agent.ask("Go on.").await?;
//! let told = |message: &Message| message.role() != "assistant" && message.content().contains("Tell Ada.");
//! assert!(model.requests()[2].messages.iter().skip(4).any(told));
//! # Ok(())
//! # }
//! ```
//!
//! ## A budget
//!
//! ```
//! use std::sync::Arc;
//!
//! use steersman::control::{Budget, Spending};
//! use steersman::event::Usage;
//! use steersman::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A limit in money is `max_cost: Some("0.50".parse()?)`.
//! let budget = Arc::new(Budget::new(Spending { max_tokens: Some(100), ..Spending::default() }));
//! let usage = Usage { input: Some(90), output: Some(30), ..Usage::default() };
//! let model = ScriptedProvider::new([Played::text("One.").with_usage(usage)]);
//! let mut agent = Agent::with_provider(model, "You count.").budget(budget.clone()).await?;
//! assert_eq!(agent.ask("Begin.").await?, "One.");
//! assert_eq!(budget.standing().tokens, 120);
//! assert!(matches!(agent.ask("Go on.").await, Err(RunError::Budget(_))), "nothing is sent any more");
//! # Ok(())
//! # }
//! ```
//!
//! ## An approval
//!
//! ```
//! use std::sync::Arc;
//!
//! use steersman::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mail = FnTool::new("mail", "Sends a mail.", Parameters::default(), |_, cx| async move {
//!     cx.approve(CustomOperation::new("mail", "send a mail", "to Ada: hello")).await?;
//!     Ok("sent")
//! });
//! // Every question is answered with a yes; without an answerer the tool could not act.
//! let approvals = Approvals::new(Policy { answerer: Answerer::Yes, ..Policy::default() }, Mode::Ask);
//! let model = ScriptedProvider::new([Played::call("mail", "{}"), Played::text("It is sent.")]);
//! let builder = Agent::with_provider(model.clone(), "You write.").tool(mail).approvals(Arc::new(approvals));
//! assert_eq!(builder.await?.ask("Greet Ada.").await?, "It is sent.");
//! assert_eq!(model.requests()[1].messages[3].content(), "sent");
//! # Ok(())
//! # }
//! ```
//!
//! ## A host that answers approvals
//!
//! ```
//! use std::sync::Arc;
//!
//! use steersman::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mail = FnTool::new("mail", "Sends a mail.", Parameters::default(), |_, cx| async move {
//!     cx.approve(CustomOperation::new("mail", "send a mail", "to Ada: hello")).await?;
//!     Ok("sent")
//! });
//! // Questions wait for this host.
//! let approvals = Approvals::new(Policy { answerer: Answerer::User, ..Policy::default() }, Mode::Ask);
//! let model = ScriptedProvider::new([Played::call("mail", "{}"), Played::text("It is not sent.")]);
//! let builder = Agent::with_provider(model.clone(), "You write.").tool(mail).approvals(Arc::new(approvals));
//! let mut running = RunningAgent::start(builder).await?;
//! running.send("Greet Ada.")?;
//! while let Some(envelope) = running.next_event().await {
//!     match envelope.event {
//!         Event::Question { id, question, detail, .. } => {
//!             println!("{question}\n{}", detail.unwrap_or_default());
//!             // `Answer::Once` is a yes, `Answer::Session` one for all of its kind.
//!             running.approvals().answer(id.parse()?, Answer::No(Some("not today".to_owned())));
//!         }
//!         Event::TurnEnded { .. } => break,
//!         _ => {}
//!     }
//! }
//! assert!(model.requests()[1].messages[3].content().contains("not today"));
//! # Ok(())
//! # }
//! ```
//!
//! ## A question before each call of any tool
//!
//! ```
//! use std::sync::Arc;
//!
//! use steersman::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mail = FnTool::new("mail", "Sends a mail.", Parameters::default(), |_, _| async { Ok("sent") });
//! let mail = WithApproval::new(mail).action("send a mail");
//! let approvals = Approvals::new(Policy { answerer: Answerer::Nobody, ..Policy::default() }, Mode::Ask);
//! let model = ScriptedProvider::new([Played::call("mail", "{}"), Played::text("It is not sent.")]);
//! let builder = Agent::with_provider(model.clone(), "You write.").tool(mail).approvals(Arc::new(approvals));
//! assert_eq!(builder.await?.ask("Greet Ada.").await?, "It is not sent.");
//! assert!(model.requests()[1].messages[3].content().starts_with("Error: "));
//! # Ok(())
//! # }
//! ```
//!
//! ## Several readers of the events
//!
//! ```
//! use steersman::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = ScriptedProvider::new([Played::text("Hello.")]);
//! let running = RunningAgent::start(Agent::with_provider(model, "You are helpful.")).await?;
//! let readers = [running.subscribe(), running.subscribe()];
//! running.send("Hi.")?;
//! for mut reader in readers {
//!     while let Some(envelope) = reader.next_event().await {
//!         match envelope.event {
//!             Event::Assistant { text, .. } => assert_eq!(text, "Hello."),
//!             Event::TurnEnded { .. } => break,
//!             _ => {}
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! ## Spans for `tracing` and OpenTelemetry
//!
//! A turn, each round, each model request and each tool call is a span of `tracing`: `turn` (fields `agent`, `turn`), `round`,
//! `request` (`model`, and the tokens `input` and `output`) and `tool_call` (`tool`, `call`), within each other and those of a
//! sub-agent within its call. Any subscriber gets them; the layer of `tracing-opentelemetry` sends them on.
//!
//! ```
//! use steersman::prelude::*;
//! use tracing_subscriber::fmt::format::FmtSpan;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! tracing_subscriber::fmt().with_span_events(FmtSpan::CLOSE).with_writer(std::io::stderr).init();
//! let model = ScriptedProvider::new([Played::text("Hello.")]);
//! Agent::with_provider(model, "You are helpful.").await?.ask("Hi.").await?;
//! # Ok(())
//! # }
//! ```
//!
//! ## Events in memory
//!
//! ```
//! use std::sync::Arc;
//!
//! use steersman::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let events = Arc::new(InMemoryEventList::new());
//! let model = ScriptedProvider::new([Played::text("Hello.")]);
//! let mut agent = Agent::with_provider(model, "You are helpful.").listener(events.clone()).await?;
//! agent.ask("Hi.").await?;
//! assert!(events.events().iter().any(|event| matches!(event, Event::Assistant { text, .. } if text == "Hello.")));
//! # Ok(())
//! # }
//! ```
//!
//! ## Events as lines of JSON
//!
//! ```
//! use steersman::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let path = std::env::temp_dir().join(format!("events-{}.jsonl", std::process::id()));
//! let model = ScriptedProvider::new([Played::text("Hello.")]);
//! let lines = JsonLines::new(std::fs::File::create(&path)?);
//! let mut agent = Agent::with_provider(model, "You are helpful.").listener(lines).await?;
//! agent.ask("Hi.").await?;
//! let written = std::fs::read_to_string(&path)?;
//! assert!(written.lines().any(|line| line.contains(r#""type":"assistant""#) && line.contains("Hello.")));
//! # std::fs::remove_file(path)?;
//! # Ok(())
//! # }
//! ```
//!
//! ## Another model between two turns
//!
//! ```
//! use std::sync::Arc;
//!
//! use steersman::agent::ModelChoice;
//! use steersman::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let choice = Arc::new(ModelChoice::new());
//! let model = ScriptedProvider::new([Played::text("One."), Played::text("Two.")]);
//! let mut agent = Agent::with_provider(model.clone(), "You count.").model_choice(choice.clone()).await?;
//! agent.ask("Begin.").await?;
//! // From anywhere, also while a turn runs.
//! choice.choose(agent.transport().with_model("large"));
//! agent.ask("Go on.").await?;
//! assert_eq!(model.requests()[1].model, "large");
//! # Ok(())
//! # }
//! ```
//!
//! ## An answer that matches a schema
//!
//! ```
//! use std::sync::Arc;
//!
//! use steersman::agent::OutputSchema;
//! use steersman::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = serde_json::json!({"type": "object", "properties": {"birds": {"type": "integer"}}, "required": ["birds"]});
//! // The function is that of any checker of schemas; `steersman::output_schema` has one.
//! let schema = Arc::new(OutputSchema::new(schema, |answer| match answer["birds"].as_u64() {
//!     Some(_) => Vec::new(),
//!     None => vec!["birds must be an integer".to_owned()],
//! }));
//! // The first answer does not match: it is asked for again.
//! let model = ScriptedProvider::new([Played::text("Two birds."), Played::text(r#"{"birds": 2}"#)]);
//! let mut agent = Agent::with_provider(model, "You count.").output_schema(Some(schema.clone())).await?;
//! let answer = agent.ask("How many?").await?;
//! assert_eq!(schema.check(&answer)?.value["birds"], 2);
//! # Ok(())
//! # }
//! ```

pub use futures_util::future::BoxFuture;

pub use steersman_agent::subagent::{Persona, SubAgents};
pub use steersman_agent::{
    Agent, AgentBuilder, AgentContext, BoundaryNote, Configurator, EventKind, EventPayload, Extension, ExtensionError,
    FnExtension, LastTurn,
};
pub use steersman_base::error::{AskError, BuildError, ProviderError, Refused, RunError};
pub use steersman_base::event::{Delivery, Envelope, Event, Outcome};
pub use steersman_base::id::{AgentId, MessageId};
pub use steersman_base::message::Message;
pub use steersman_core::approval::{Answer, Answerer, Approvals, CustomOperation, Mode, Policy};
pub use steersman_core::control::{AgentControls, AgentControls as Crew, Cancellable, Controls, Interloper, StepLimit};
pub use steersman_core::listener::{InMemoryEventList, JsonLines, Listener};
pub use steersman_core::provider::{
    ChatProvider, ChatRequest, ChatTransport, Connector, FnProvider, Piece, Played, Reply, ScriptedProvider, Sink,
    Streaming,
};
pub use steersman_core::tool::typed;
pub use steersman_core::tool::{
    Args, Concurrency, FnTool, OnCancel, Parameters, Tool, ToolContext, ToolError, ToolSpec, Traits, WithApproval,
};
pub use steersman_extensions::output_schema::AskAs;
pub use steersman_extensions::over_http::OverHttp;
pub use steersman_macros::tool;
pub use steersman_provider::HttpConnector;
pub use steersman_session::host::{self, EventStream, LastRun, RunningAgent};
