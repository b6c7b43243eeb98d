//! Agents whose model is behind an HTTP server.

use std::sync::Arc;

use steersman_agent::{Agent, AgentBuilder};
use steersman_core::provider::ChatTransport;
use steersman_provider::HttpConnector;

/// What an [`Agent`] can begin with where model servers are reached over HTTP.
pub trait OverHttp {
    /// Starts building an agent whose model is behind an HTTP server.
    fn over_http(transport: ChatTransport, system_prompt: impl Into<String>) -> AgentBuilder;
}

impl OverHttp for Agent {
    fn over_http(transport: ChatTransport, system_prompt: impl Into<String>) -> AgentBuilder {
        Self::builder(transport, system_prompt, Arc::new(HttpConnector::default()))
    }
}
