//! What most programs with an agent use: `use steersman::prelude::*;`.

pub use futures_util::future::BoxFuture;

pub use steersman_agent::subagent::{Persona, SubAgents};
pub use steersman_agent::{
    Agent, AgentBuilder, AgentContext, BoundaryNote, Configurator, EventKind, EventPayload, Extension, ExtensionError,
    FnExtension,
};
pub use steersman_base::control::{Cancellable, Controls, Crew, Injection, Interloper, StepLimit};
pub use steersman_base::error::{BuildError, ProviderError, Refused, RunError};
pub use steersman_base::event::{Delivery, Envelope, Event, Outcome};
pub use steersman_base::id::{AgentId, MessageId};
pub use steersman_base::listener::{InMemoryEventList, JsonLines, Listener};
pub use steersman_base::message::Message;
pub use steersman_provider::HttpConnector;
pub use steersman_provider::{
    ChatProvider, ChatRequest, ChatTransport, Connector, Piece, Played, Reply, ScriptedProvider, Sink, Streaming,
};
pub use steersman_session::host::{self, LastRun, RunningAgent};
pub use steersman_tools::approval::{Answer, Answerer, Approvals, CustomAct, Mode, Policy};
pub use steersman_tools::typed;
pub use steersman_tools::{
    Args, Concurrency, FnTool, OnCancel, Parameters, Tool, ToolContext, ToolError, ToolSpec, Traits,
};
