//! The extension that gives the main agent the tools of the session's servers, and ends them with it.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

use crate::mcp::Servers;
use crate::mcp::resource::mentions;
use steersman_agent::{Agent, AgentContext, Configurator, Extension, ExtensionError};
use steersman_base::error::BuildError;
use steersman_core::tool::{ToolScope, ToolSource as _};

/// The extension for the main agent.
pub struct ServerTools {
    servers: Arc<Servers>,
    scope: ToolScope,
}

impl ServerTools {
    /// Makes the extension; `scope` is what the main agent may use.
    pub fn new(servers: Arc<Servers>, scope: ToolScope) -> Self {
        Self { servers, scope }
    }
}

impl Extension for ServerTools {
    fn name(&self) -> &'static str {
        "mcp"
    }

    fn configure(&self, configurator: &mut Configurator) -> Result<(), BuildError> {
        let servers = Arc::clone(&self.servers);
        configurator.on_close(move || servers.close());
        Ok(())
    }

    fn bind<'a>(&'a self, agent: &'a mut Agent) -> BoxFuture<'a, Result<(), BuildError>> {
        self.servers.attach(self.scope.clone(), None, agent.context_window_cap(), agent.additions());
        ready(Ok(())).boxed()
    }

    fn on_user_message<'a>(
        &'a self,
        _: &'a AgentContext<'_>,
        content: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, ExtensionError>> {
        ready(Ok(mentions(&self.servers, content))).boxed()
    }
}
