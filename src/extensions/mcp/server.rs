//! One configured server: what is known of it, what it offers, how it stands. Its processes are in `instance`.
//!
//! Always holds: a model is told only definitions that the user has seen or accepted. The first time that a server
//! offers a tool, its definition is taken; a later one waits until the user has seen the difference and said yes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use crate::mcp::catalog::{Catalog, Hints, ToolDefinition};
use crate::mcp::definition::{Reached, ServerDefinition};
use crate::mcp::instance::Instance;
use crate::mcp::login::Login;
use crate::mcp::names::tool_names;
use crate::mcp::store::Store;
use crate::mcp::transport::ErrorOutput;
use steersman_base::protocol::{ServerState, ServerStatus};
use steersman_base::sync::lock;
use steersman_base::text::{QuestionText, visible_line};
use steersman_core::approval::{Approvals, PlainAnswer};
use steersman_core::tool::Traits;
use steersman_provider::Http;
use steersman_tools::workspace::{Network, Placement, Spawner, diff};

/// What servers work with.
pub struct Surroundings {
    /// Starts processes.
    pub spawner: Arc<Spawner>,
    /// The clients for addresses.
    pub http: Http,
    /// Asks the user.
    pub approvals: Arc<Approvals>,
    /// Keeps what is known.
    pub store: Store,
}

impl Surroundings {
    /// Makes surroundings in which nothing is kept from one session to the next.
    pub fn new(spawner: Arc<Spawner>, approvals: Arc<Approvals>) -> Self {
        Self { spawner, http: Http::default(), approvals, store: Store::default() }
    }
}

/// A configured server.
pub struct Server {
    definition: ServerDefinition,
    around: Arc<Surroundings>,
    login: Arc<Login>,
    inner: Mutex<Inner>,
    /// Called after each change of how it stands; must not block.
    changed: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct Inner {
    /// What the user has seen or accepted; `None` while nothing is known.
    accepted: Option<Catalog>,
    /// The tools that the server has now, by its names.
    listed: Vec<String>,
    /// Definitions that differ from the accepted ones.
    proposed: HashMap<String, ToolDefinition>,
    /// Hashes of changes that the user has declined in this session.
    declined: Vec<String>,
    /// Whether the server, once it ran, gave no instructions.
    is_silent: bool,
    /// Instructions that differ from the accepted ones, until the user is asked about them.
    proposed_instructions: Option<String>,
    /// Those that the user has declined last in this session.
    declined_instructions: Option<String>,
    /// Sentences about what of its lists is left out.
    notes: Vec<String>,
    about: String,
    calls: u64,
    error: Option<String>,
    /// The error output of the process that was started last.
    errors: ErrorOutput,
    instances: HashMap<PathBuf, Weak<Instance>>,
}

/// A tool of a server as a model gets it.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    /// Its name for the model.
    pub name: String,
    /// Its definition.
    pub definition: ToolDefinition,
}

/// What became of a changed definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeAnswer {
    /// There is none, or the user accepted it.
    Accepted,
    /// The user did not.
    Declined,
    /// Nobody is there to look at it.
    Nobody,
}

impl Server {
    /// Makes a server out of its definition and of what is known about it.
    pub fn new(
        definition: ServerDefinition,
        around: Arc<Surroundings>,
        changed: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let accepted = around.store.load(&definition);
        let listed = accepted.iter().flat_map(|catalog| &catalog.tools).map(|tool| tool.name.clone()).collect();
        let inner = Mutex::new(Inner { accepted, listed, ..Inner::default() });
        let login = Arc::new(Login::new(&definition, &around.store));
        Self { definition, around, login, inner, changed: Box::new(changed) }
    }

    /// Returns how it is configured.
    pub fn definition(&self) -> &ServerDefinition {
        &self.definition
    }

    /// Returns the login at the server.
    pub fn login(&self) -> &Arc<Login> {
        &self.login
    }

    /// Returns what servers work with.
    pub fn around(&self) -> &Surroundings {
        &self.around
    }

    /// Returns how it is reached and where it runs, in one line, for a question about its start.
    pub fn start_line(&self) -> String {
        let how = match &self.definition.reached {
            Reached::Process(process) => format!("starts, {}:", process.place()),
            Reached::Address(_) => "is asked at".to_owned(),
        };
        format!("{} {how} {}", visible_line(&self.definition.name), visible_line(&self.definition.shown))
    }

    /// Returns what to try when it does not start because of where it runs, behind the reason; empty where that cannot be it.
    pub(super) fn hint(&self) -> String {
        let sandbox = self.around.spawner.sandbox().name();
        match &self.definition.reached {
            Reached::Process(process) if sandbox.is_some() && process.placement == Placement::Sandboxed => {
                let keys = match process.network {
                    Network::Off => "network, readable and writable",
                    Network::On => "readable and writable",
                };
                let name = visible_line(&self.definition.name);
                format!(
                    "; it ran {}: {keys} in [mcp.{name}] of your configuration open more (steersman help mcp)",
                    process.place()
                )
            }
            Reached::Process(_) | Reached::Address(_) => String::new(),
        }
    }

    /// Returns what the results of one of its tools bring and the calls send: what its definition says, but that a process
    /// which the sandbox keeps from every network sends nothing, unless the configuration says that it does.
    pub(super) fn traits_of(&self, hints: Hints) -> Traits {
        let traits = self.definition.traits_of(hints);
        let is_offline = match &self.definition.reached {
            Reached::Process(process) => self.around.spawner.is_offline(process.placement, process.network),
            Reached::Address(_) => false,
        };
        Traits { egress: traits.egress && (self.definition.set_traits.egress || !is_offline), ..traits }
    }

    /// Tells whether its tools are known.
    pub fn is_known(&self) -> bool {
        lock(&self.inner).accepted.is_some()
    }

    /// Returns the tools that are on offer, in the order of the server.
    pub fn tools(&self) -> Vec<OfferedTool> {
        let inner = lock(&self.inner);
        let accepted = inner.accepted.iter().flat_map(|catalog| &catalog.tools);
        let used: Vec<&ToolDefinition> =
            accepted.filter(|tool| inner.listed.contains(&tool.name) && self.definition.uses(&tool.name)).collect();
        let names = tool_names(&self.definition.name, used.iter().map(|tool| tool.name.as_str()));
        let offered = names.into_iter().zip(used);
        offered.map(|(name, definition)| OfferedTool { name, definition: definition.clone() }).collect()
    }

    /// Returns how its tools are to be used, in its own words; empty where it says nothing of it.
    pub fn instructions(&self) -> String {
        let inner = lock(&self.inner);
        inner.accepted.as_ref().filter(|_| !inner.is_silent).map(|known| known.instructions.clone()).unwrap_or_default()
    }

    /// Returns what else is known: its resources and prompts.
    pub fn catalog(&self) -> Catalog {
        lock(&self.inner).accepted.clone().unwrap_or_default()
    }

    /// Returns the one that works in a directory; made when there is none.
    pub fn instance(self: &Arc<Self>, directory: &Path) -> Arc<Instance> {
        let workspace = directory;
        let directory = match &self.definition.reached {
            Reached::Process(process) => process.cwd.clone().unwrap_or_else(|| workspace.to_owned()),
            // The same wherever its agent works.
            Reached::Address(_) => PathBuf::new(),
        };
        let mut inner = lock(&self.inner);
        inner.instances.retain(|_, instance| instance.strong_count() > 0);
        if let Some(instance) = inner.instances.get(&directory).and_then(Weak::upgrade) {
            return instance;
        }
        let instance = Arc::new(Instance::new(Arc::clone(self), directory.clone(), workspace.to_owned()));
        inner.instances.insert(directory, Arc::downgrade(&instance));
        instance
    }

    /// Takes what the server offers now. What is new is accepted, what has changed waits for a yes.
    pub fn offers(&self, now: Catalog, notes: Vec<String>) {
        let kept = {
            let mut inner = lock(&self.inner);
            let Inner { accepted, listed, proposed, .. } = &mut *inner;
            let before = accepted.take().unwrap_or_default();
            *listed = now.tools.iter().map(|tool| tool.name.clone()).collect();
            proposed.clear();
            let mut tools = Vec::new();
            for tool in now.tools {
                match before.tools.iter().find(|known| known.name == tool.name) {
                    Some(known) if known.hash() != tool.hash() => {
                        tools.push(known.clone());
                        proposed.insert(tool.name.clone(), tool);
                    }
                    Some(_) | None => tools.push(tool),
                }
            }
            // One that comes back later is compared with what it was.
            let gone = before.tools.into_iter().filter(|known| !listed.contains(&known.name));
            tools.extend(gone.collect::<Vec<_>>());
            let (given, known) = (now.instructions, before.instructions);
            let is_silent = given.is_empty();
            let is_change = !is_silent && !known.is_empty() && given != known;
            let instructions = if known.is_empty() { given.clone() } else { known };
            let kept = Catalog { instructions, tools, resources: now.resources, prompts: now.prompts };
            *accepted = Some(kept.clone());
            inner.notes = notes;
            inner.is_silent = is_silent;
            let is_new = is_change && inner.declined_instructions.as_ref() != Some(&given);
            inner.proposed_instructions = is_new.then_some(given);
            kept
        };
        self.keep(&kept);
        (self.changed)();
    }

    fn keep(&self, catalog: &Catalog) {
        if let Err(error) = self.around.store.write(&self.definition, catalog) {
            lock(&self.inner).notes.push(format!("what is known about it cannot be kept: {error}"));
        }
    }

    /// Shows the user how the definition of a tool has changed, where it has, and takes the answer. What the server changes
    /// while the question is open is asked about next.
    pub async fn ask_about_change(&self, tool: &str) -> ChangeAnswer {
        let name = visible_line(&self.definition.name).into_owned();
        loop {
            let (before, after) = {
                let inner = lock(&self.inner);
                let Some(after) = inner.proposed.get(tool).cloned() else { return ChangeAnswer::Accepted };
                if inner.declined.contains(&after.hash()) {
                    return ChangeAnswer::Declined;
                }
                let known = inner.accepted.iter().flat_map(|catalog| &catalog.tools).find(|known| known.name == tool);
                (known.cloned(), after)
            };
            let title = format!("The server {name} has changed what it says about a tool. Use it with the new words?");
            let before = before.map(|known| known.lines()).unwrap_or_default();
            match self.ask_about(title, &before, &after.lines()).await {
                PlainAnswer::Yes => self.accept_tool(&after),
                PlainAnswer::No | PlainAnswer::NotNow => lock(&self.inner).declined.push(after.hash()),
                PlainAnswer::Nobody => return ChangeAnswer::Nobody,
            }
        }
    }

    /// Shows the user how the instructions have changed, where they have. Without a yes the model keeps the earlier ones, and
    /// the calls go on.
    pub async fn ask_about_instructions(&self) {
        let (before, after) = {
            let mut inner = lock(&self.inner);
            // Taken, so that calls that run at the same time do not ask as well.
            let Some(after) = inner.proposed_instructions.take() else { return };
            (inner.accepted.as_ref().map(|known| known.instructions.clone()).unwrap_or_default(), after)
        };
        let name = visible_line(&self.definition.name).into_owned();
        let title = format!(
            "The server {name} has changed its instructions for the use of its tools. Give the agents the new words?"
        );
        match self.ask_about(title, &before, &after).await {
            PlainAnswer::Yes => self.accept(|_, known| known.instructions = after),
            PlainAnswer::No | PlainAnswer::NotNow => lock(&self.inner).declined_instructions = Some(after),
            PlainAnswer::Nobody => {}
        }
    }

    async fn ask_about(&self, title: String, before: &str, after: &str) -> PlainAnswer {
        let mut detail = QuestionText::default();
        detail.quote(&diff(before.as_bytes(), after.as_bytes()).hunks);
        self.around.approvals.ask_plain(title, detail).await
    }

    fn accept_tool(&self, after: &ToolDefinition) {
        self.accept(|proposed, known| {
            // The server may have changed it again meanwhile, or taken the change back: then what was accepted stays.
            match proposed.get(&after.name) {
                Some(now) if now == after => drop(proposed.remove(&after.name)),
                Some(_) => {}
                None => return,
            }
            if let Some(known) = known.tools.iter_mut().find(|known| known.name == after.name) {
                *known = after.clone();
            }
        });
    }

    /// Changes what the user has accepted.
    fn accept(&self, change: impl FnOnce(&mut HashMap<String, ToolDefinition>, &mut Catalog)) {
        let kept = {
            let mut inner = lock(&self.inner);
            let mut kept = inner.accepted.clone().unwrap_or_default();
            change(&mut inner.proposed, &mut kept);
            inner.accepted = Some(kept.clone());
            kept
        };
        self.keep(&kept);
        (self.changed)();
    }

    /// Notes that a process or a session of it has begun.
    pub(super) fn started(&self, about: String, errors: &ErrorOutput) {
        {
            let mut inner = lock(&self.inner);
            inner.about = about;
            inner.errors = errors.clone();
            inner.error = None;
        }
        (self.changed)();
    }

    /// Notes that a tool of it is called.
    pub(super) fn called(&self) {
        let is_first = {
            let mut inner = lock(&self.inner);
            inner.calls += 1;
            inner.calls == 1
        };
        if is_first {
            (self.changed)();
        }
    }

    /// Notes what went wrong.
    pub(super) fn failed(&self, why: &str, errors: &ErrorOutput) {
        {
            let mut inner = lock(&self.inner);
            inner.error = Some(why.to_owned());
            inner.errors = errors.clone();
        }
        (self.changed)();
    }

    /// Notes that a process or a session of it has ended as it should.
    pub(super) fn ended(&self) {
        (self.changed)();
    }

    /// Ends everything of it.
    pub fn close(&self) {
        for instance in self.instances() {
            instance.close();
        }
    }

    fn instances(&self) -> Vec<Arc<Instance>> {
        lock(&self.inner).instances.values().filter_map(Weak::upgrade).collect()
    }

    /// Returns how it stands.
    pub fn status(&self) -> ServerStatus {
        let runs = self.instances().iter().any(|instance| instance.is_running());
        let tools: Vec<String> = self.tools().into_iter().map(|tool| tool.name).collect();
        let instructions = if tools.is_empty() { String::new() } else { self.instructions() };
        let inner = lock(&self.inner);
        let state = match (runs, &inner.error) {
            (true, _) if inner.calls > 0 => ServerState::Used,
            (true, _) => ServerState::Started,
            (false, Some(_)) => ServerState::Failed,
            (false, None) if inner.accepted.is_some() => ServerState::Known,
            (false, None) => ServerState::Configured,
        };
        let changed = inner.proposed.keys().map(|tool| {
            format!("the definition of {} has changed; its next call shows the difference", visible_line(tool))
        });
        let mut changed: Vec<String> = changed.collect();
        changed.sort();
        if inner.proposed_instructions.is_some() {
            changed.push("its instructions have changed; its next call shows the difference".to_owned());
        }
        let name = &self.definition.name;
        let catalog = inner.accepted.as_ref();
        ServerStatus {
            name: name.clone(),
            source: self.definition.source.clone(),
            reached: self.definition.shown.clone(),
            variables: self.definition.secret_names().into_iter().map(str::to_owned).collect(),
            state,
            about: inner.about.clone(),
            tools,
            instructions,
            resources: catalog.iter().flat_map(|catalog| &catalog.resources).map(|one| one.uri.clone()).collect(),
            prompts: catalog
                .iter()
                .flat_map(|catalog| &catalog.prompts)
                .map(|prompt| format!("/mcp__{name}__{}", prompt.name))
                .collect(),
            calls: inner.calls,
            error: inner.error.clone(),
            errors: inner.errors.text(),
            notes: inner.notes.iter().cloned().chain(changed).collect(),
        }
    }
}
