//! What most programs with an agent use: `use steersman::prelude::*;`.

pub use futures_util::future::BoxFuture;

pub use crate::agent::{
    Agent, AgentBuilder, AgentContext, BoundaryNote, Configurator, EventKind, EventPayload, Extension, ExtensionError,
    FnExtension,
};
pub use crate::approval::{Answer, Answerer, Approvals, CustomAct, Mode, Policy};
pub use crate::control::{Cancellable, Controls, Crew, Injection, Interloper, StepLimit};
pub use crate::error::{BuildError, ProviderError, Refused, RunError};
pub use crate::event::{Delivery, Envelope, Event, Outcome};
pub use crate::host::{self, LastRun, RunningAgent};
pub use crate::id::{AgentId, MessageId};
pub use crate::listener::{InMemoryEventList, JsonLines, Listener};
pub use crate::message::Message;
#[cfg(feature = "http")]
pub use crate::provider::HttpConnector;
pub use crate::provider::{
    ChatProvider, ChatRequest, ChatTransport, Connector, Piece, Played, Reply, ScriptedProvider, Sink, Streaming,
};
pub use crate::subagent::{Persona, SubAgents};
#[cfg(feature = "typed")]
pub use crate::tool::typed;
pub use crate::tool::{
    Args, Concurrency, FnTool, OnCancel, Parameters, Tool, ToolContext, ToolError, ToolSpec, Traits,
};
