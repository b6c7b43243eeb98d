//! The tools of one agent, in the order of adding: checked tools, and raw tools that no sub-agent ever gets.
//!
//! The agent looks calls up here and sends its schemas with every request. A name occurs once over both kinds.

use std::sync::Arc;

use crate::error::BuildError;
use crate::provider::ToolSchema;
use crate::tool::{Concurrency, OnCancel, RawTool, Tool, Traits};

/// Holds an agent's tools.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
    raw: Vec<Arc<dyn RawTool>>,
    /// Made once for each tool: they go along with every request and count towards its size.
    schemas: Vec<ToolSchema>,
}

/// Is a tool that was looked up by name.
#[derive(Clone)]
pub enum Found {
    /// Its arguments are checked before it runs.
    Tool(Arc<dyn Tool>),
    /// It takes arguments unchecked.
    Raw(Arc<dyn RawTool>),
}

impl Found {
    /// Says whether it may run beside others.
    pub fn concurrency(&self) -> Concurrency {
        match self {
            Self::Tool(tool) => tool.concurrency(),
            Self::Raw(tool) => tool.concurrency(),
        }
    }

    /// Says what its calls bring and send.
    pub fn traits(&self) -> Traits {
        match self {
            Self::Tool(tool) => tool.traits(),
            Self::Raw(tool) => tool.traits(),
        }
    }

    /// Says what a cancel does to a running call.
    pub fn on_cancel(&self) -> OnCancel {
        match self {
            Self::Tool(tool) => tool.on_cancel(),
            Self::Raw(tool) => tool.on_cancel(),
        }
    }
}

impl Toolbox {
    /// Makes an empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// [`BuildError::Argument`] when the name is empty or taken.
    pub fn add(&mut self, tool: Arc<dyn Tool>) -> Result<(), BuildError> {
        self.check(tool.name())?;
        let schema = ToolSchema {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            parameters: tool.parameters().to_schema(),
        };
        self.schemas.insert(self.tools.len(), schema);
        self.tools.push(tool);
        Ok(())
    }

    /// Adds a raw tool. It is on offer to the model, but not among [`Self::tools`].
    ///
    /// # Errors
    /// [`BuildError::Argument`] when the name is empty or taken.
    pub fn add_raw(&mut self, tool: Arc<dyn RawTool>) -> Result<(), BuildError> {
        self.check(tool.name())?;
        self.schemas.push(ToolSchema {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            parameters: tool.schema(),
        });
        self.raw.push(tool);
        Ok(())
    }

    /// Returns the checked tools, in the order of adding.
    pub fn tools(&self) -> &[Arc<dyn Tool>] {
        &self.tools
    }

    /// Looks a tool up by the name that the model used. Exact: no case folding, no trimming.
    pub fn find(&self, name: &str) -> Option<Found> {
        let checked = self.tools.iter().find(|tool| tool.name() == name).cloned().map(Found::Tool);
        checked.or_else(|| self.raw.iter().find(|tool| tool.name() == name).cloned().map(Found::Raw))
    }

    /// Returns the names of all tools, raw ones last.
    pub fn names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool.name()).chain(self.raw.iter().map(|tool| tool.name())).collect()
    }

    /// Returns what a request offers to the model, raw tools last.
    pub fn schemas(&self) -> &[ToolSchema] {
        &self.schemas
    }

    fn check(&self, name: &str) -> Result<(), BuildError> {
        if name.is_empty() {
            return Err(BuildError::argument("a tool needs a name"));
        }
        if self.names().contains(&name) {
            return Err(BuildError::argument(format!("there are two tools named {name:?}")));
        }
        Ok(())
    }
}
