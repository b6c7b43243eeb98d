//! The tools of one agent, in the order of adding: checked tools, and raw tools that no sub-agent ever gets.
//!
//! The agent looks calls up here and sends its schemas with every request. A name occurs once over both kinds, and over
//! the tools that wait in [`Additions`] until the agent comes to its next request: nothing changes under a request.

use std::collections::HashSet;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use crate::provider::ToolSchema;
use crate::tool::{Concurrency, OnCancel, RawTool, ResultImages, Tool, Traits};
use steersman_base::error::BuildError;
use steersman_base::limits;
use steersman_base::message::ToolCall;
use steersman_base::sync::lock;

/// An agent's tools.
#[derive(Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
    raw: Vec<Arc<dyn RawTool>>,
    /// Made once for each tool: they go along with every request and count towards its size.
    schemas: Vec<ToolSchema>,
    additions: Additions,
    images: ResultImages,
}

/// The way by which an agent gets more tools while it runs, and loses them. Clones lead to the same agent.
#[derive(Clone, Default)]
pub struct Additions(Arc<Mutex<QueuedChanges>>);

/// An [`Additions`] that does not keep anything of its agent.
#[derive(Clone, Default)]
pub struct WeakAdditions(Weak<Mutex<QueuedChanges>>);

#[derive(Default)]
struct QueuedChanges {
    /// Every name that the agent has, those of the waiting tools included.
    names: HashSet<String>,
    changes: Vec<ToolChange>,
}

/// A change that waits for the agent's next request.
enum ToolChange {
    /// This tool comes, in place of one of its name.
    Put(Arc<dyn RawTool>),
    /// The raw tool of this name goes.
    Remove(String),
}

impl Additions {
    /// Adds a raw tool; it is on offer from the agent's next request on.
    ///
    /// # Errors
    /// [`BuildError::Argument`] when the name is empty or taken.
    pub fn add(&self, tool: Arc<dyn RawTool>) -> Result<(), BuildError> {
        let mut waiting = self.lock();
        waiting.take_name(tool.name())?;
        waiting.changes.push(ToolChange::Put(tool));
        Ok(())
    }

    /// Replaces the raw tool of the same name, from the agent's next request on.
    pub fn replace(&self, tool: Arc<dyn RawTool>) {
        self.lock().changes.push(ToolChange::Put(tool));
    }

    /// Takes a raw tool away, from the agent's next request on.
    pub fn remove(&self, name: &str) {
        let mut waiting = self.lock();
        waiting.names.remove(name);
        waiting.changes.push(ToolChange::Remove(name.to_owned()));
    }

    /// Returns a way that ends with the agent.
    pub fn downgrade(&self) -> WeakAdditions {
        WeakAdditions(Arc::downgrade(&self.0))
    }

    fn lock(&self) -> MutexGuard<'_, QueuedChanges> {
        lock(&self.0)
    }
}

impl WeakAdditions {
    /// Returns the way to the agent; `None` once it is gone.
    pub fn upgrade(&self) -> Option<Additions> {
        self.0.upgrade().map(Additions)
    }
}

impl QueuedChanges {
    fn take_name(&mut self, name: &str) -> Result<(), BuildError> {
        if name.is_empty() {
            return Err(BuildError::argument("a tool needs a name"));
        }
        // OpenAI and Anthropic take letters, digits, `_` and `-`, Gemini also `.` and `:`; the longest one is Anthropic's.
        let is_taken = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
        if name.len() > limits::TOOL_NAME_BYTES || !name.bytes().all(is_taken) {
            let most = limits::TOOL_NAME_BYTES;
            return Err(BuildError::argument(format!(
                "no model server accepts a tool named {name:?}: only letters, digits, _ and -, at most {most} of them"
            )));
        }
        if !self.names.insert(name.to_owned()) {
            return Err(BuildError::argument(format!("there are two tools named {name:?}")));
        }
        Ok(())
    }
}

/// A tool that was looked up by name.
#[derive(Clone)]
pub enum FoundTool {
    /// Its arguments are checked before it runs.
    Tool(Arc<dyn Tool>),
    /// It takes arguments unchecked.
    Raw(Arc<dyn RawTool>),
}

impl FoundTool {
    /// Says whether it may run beside others.
    pub fn concurrency(&self) -> Concurrency {
        match self {
            Self::Tool(tool) => tool.spec().concurrency,
            Self::Raw(tool) => tool.concurrency(),
        }
    }

    /// Says what its calls bring and send.
    pub fn traits(&self) -> Traits {
        match self {
            Self::Tool(tool) => tool.spec().traits,
            Self::Raw(tool) => tool.traits(),
        }
    }

    /// Says what a cancel does to a running call.
    pub fn on_cancel(&self) -> OnCancel {
        match self {
            Self::Tool(tool) => tool.spec().on_cancel,
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
        let spec = tool.spec();
        self.additions.lock().take_name(&spec.name)?;
        let schema = ToolSchema {
            name: spec.name.to_string(),
            description: spec.description.to_string(),
            parameters: spec.parameters.to_schema(),
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
        self.additions.add(tool)?;
        self.take_additions();
        Ok(())
    }

    /// Returns where running tools leave the images of their results.
    pub fn images(&self) -> &ResultImages {
        &self.images
    }

    /// Returns the way by which running tools add more; what they add waits for [`Self::take_additions`].
    pub fn additions(&self) -> &Additions {
        &self.additions
    }

    /// Carries out what was added, replaced and taken away meanwhile.
    pub fn take_additions(&mut self) {
        let changes = mem::take(&mut self.additions.lock().changes);
        for change in changes {
            match change {
                ToolChange::Put(tool) => {
                    let schema = ToolSchema {
                        name: tool.name().to_owned(),
                        description: tool.description().to_owned(),
                        parameters: tool.schema(),
                    };
                    // Where it stood: all that stands before it in a request stays as it is.
                    let place = self.raw_place(tool.name());
                    let slots = place.and_then(|place| {
                        Some((self.raw.get_mut(place)?, self.schemas.get_mut(self.tools.len() + place)?))
                    });
                    if let Some((raw, sent)) = slots {
                        (*raw, *sent) = (tool, schema);
                    } else {
                        self.schemas.push(schema);
                        self.raw.push(tool);
                    }
                }
                ToolChange::Remove(name) => {
                    if let Some(place) = self.raw_place(&name) {
                        self.schemas.remove(self.tools.len() + place);
                        self.raw.remove(place);
                    }
                }
            }
        }
    }

    fn raw_place(&self, name: &str) -> Option<usize> {
        self.raw.iter().position(|tool| tool.name() == name)
    }

    /// Returns the checked tools, in the order of adding.
    pub fn tools(&self) -> &[Arc<dyn Tool>] {
        &self.tools
    }

    /// Gives calls the names of the tools that they mean: in another case or spelling, with blanks, or behind a prefix such as
    /// `functions.`. A name that may mean several stays as it is.
    pub fn settle_names(&self, calls: &mut [ToolCall]) {
        for call in calls {
            if let Some(name) = self.meant(&call.name) {
                call.name = name;
            }
        }
    }

    /// Returns the only tool that a name can mean which is none of a tool.
    fn meant(&self, name: &str) -> Option<String> {
        if self.find(name).is_some() {
            return None;
        }
        let whole = plain_name(name);
        let behind = whole.rsplit(['.', ':', '/']).next().unwrap_or_default().trim();
        // A server names its own tools so: what stands behind is another's.
        let behind_marks = behind.rsplit("__").next().filter(|_| !behind.starts_with("mcp__")).unwrap_or_default();
        [whole, behind, behind_marks].into_iter().filter(|written| !written.is_empty()).find_map(|written| {
            if self.find(written).is_some() {
                return Some(written.to_owned());
            }
            let by = |is_meant: &dyn Fn(&str) -> bool| {
                let mut fitting = self.names().into_iter().filter(|known| is_meant(known));
                let only = fitting.next()?;
                fitting.next().is_none().then(|| only.to_owned())
            };
            by(&|known| known.eq_ignore_ascii_case(written))
                .or_else(|| by(&|known| letters(known).eq(letters(written))))
                .or_else(|| by(&|known| is_end_of_server_tool(known, written)))
        })
    }

    /// Looks a tool up by its name. Exact: [`Self::settle_names`] comes before.
    pub fn find(&self, name: &str) -> Option<FoundTool> {
        let checked = self.tools.iter().find(|tool| tool.name() == name).cloned().map(FoundTool::Tool);
        checked.or_else(|| self.raw.iter().find(|tool| tool.name() == name).cloned().map(FoundTool::Raw))
    }

    /// Returns the names of all tools, raw ones last.
    pub fn names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool.name()).chain(self.raw.iter().map(|tool| tool.name())).collect()
    }

    /// Returns what a request offers to the model, raw tools last.
    pub fn schemas(&self) -> &[ToolSchema] {
        &self.schemas
    }
}

/// Takes what some models write around the name of a tool off it: quotes, brackets, the number of the call, marks of their own
/// format.
fn plain_name(name: &str) -> &str {
    let name = name.split("<|").next().unwrap_or_default().trim();
    let name = name.trim_matches(|c| matches!(c, '"' | '\'' | '`')).trim_end_matches("()");
    // `functions.read:0`
    match name.rsplit_once(':') {
        Some((before, number)) if !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()) => before,
        Some(_) | None => name,
    }
}

/// Returns the letters and digits of a name, in small letters.
fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase())
}

/// Tells whether a name is what stands behind the mark of the servers, or behind the name of its server.
fn is_end_of_server_tool(known: &str, written: &str) -> bool {
    let Some((server, tool)) = known.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) else { return false };
    letters(tool).eq(letters(written)) || letters(server).chain(letters(tool)).eq(letters(written))
}
