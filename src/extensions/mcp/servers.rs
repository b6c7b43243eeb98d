//! The servers of a session, and which of their tools which agent has.
//!
//! An agent is attached once. Its tools go into its requests whole when they take little of its window, else a search
//! loads them one by one. Always holds: what an agent has changes only between two of its requests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use futures_util::future::join_all;
use tokio::runtime::Handle;

use crate::mcp::definition::ServerDefinition;
use crate::mcp::instance::{Instance, ServerRequest};
use crate::mcp::names::{PREFIX, mean, mean_server, mean_whole, means_server};
use crate::mcp::resource::ResourceTool;
use crate::mcp::results;
use crate::mcp::search::ToolSearch;
use crate::mcp::server::{OfferedTool, Server, Surroundings};
use crate::mcp::tool::{ServerTool, instruction_tokens, tokens};
use steersman_base::limits;
use steersman_base::protocol::ServerStatus;
use steersman_base::summary::count;
use steersman_base::sync::lock;
use steersman_base::text::{QuestionText, visible_line};
use steersman_core::approval::{Mode, PlainAnswer};
use steersman_core::tool::{Additions, Outputs, RawTool, ToolScope, ToolSource, Traits, WeakAdditions};

/// Hears of each change of how a server stands. It must not block.
pub(super) type Watcher = Arc<dyn Fn() + Send + Sync>;

/// The servers of a session.
pub struct Servers {
    own: Weak<Servers>,
    all: Vec<Arc<Server>>,
    /// Where the long results go.
    outputs: Option<Arc<Outputs>>,
    /// How much of a window definitions may take, per cent.
    percent: u8,
    agents: Mutex<Vec<Arc<Agent>>>,
    /// Where the main agent works.
    directory: PathBuf,
    /// Those of that directory, which last as long as the session.
    kept: Mutex<Vec<Arc<Instance>>>,
    /// The resources that the user has named, each with its server.
    named: Mutex<BTreeSet<(String, String)>>,
    /// Whether the user lets servers start only to see what they offer, by their names.
    decided: tokio::sync::Mutex<BTreeMap<String, bool>>,
    /// Where the work is done that somebody waits for elsewhere.
    runtime: Option<Handle>,
    watcher: OnceLock<Watcher>,
}

/// An agent that has tools of servers.
pub(super) struct Agent {
    pub scope: ToolScope,
    pub directory: PathBuf,
    additions: WeakAdditions,
    /// Tokens that definitions may take in each of its requests.
    room: u64,
    state: Mutex<AgentState>,
}

#[derive(Default)]
struct AgentState {
    /// Whether its tools are searched for instead of being in every request.
    searches: bool,
    /// Whether it has the tool that searches.
    has_search: bool,
    /// Whether it has the tool that reads resources.
    has_resources: bool,
    /// What it was told of each tool that it has.
    has: BTreeMap<String, String>,
    /// The tool of each server that brings the instructions of the server.
    instructed_by: BTreeMap<String, String>,
    loaded: BTreeSet<String>,
}

impl Servers {
    /// Makes the servers of a session, whose main agent works in this directory; none is started.
    pub fn new(
        definitions: Vec<ServerDefinition>,
        around: Surroundings,
        directory: PathBuf,
        outputs: Option<Arc<Outputs>>,
        percent: u8,
    ) -> Arc<Self> {
        let around = Arc::new(around);
        Arc::new_cyclic(|own: &Weak<Self>| {
            let server = |definition| {
                let (around, own) = (Arc::clone(&around), own.clone());
                let changed = move || {
                    if let Some(servers) = own.upgrade() {
                        servers.changed();
                    }
                };
                Arc::new(Server::new(definition, around, changed))
            };
            let all = definitions.into_iter().map(server).collect();
            Self {
                own: own.clone(),
                all,
                outputs,
                percent,
                agents: Mutex::default(),
                directory,
                kept: Mutex::default(),
                named: Mutex::default(),
                decided: tokio::sync::Mutex::default(),
                runtime: Handle::try_current().ok(),
                watcher: OnceLock::new(),
            }
        })
    }

    /// Calls `watcher` after each change; the first one stays.
    pub fn watch(&self, watcher: Watcher) {
        let _ = self.watcher.set(watcher);
    }

    /// Tells whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns how each stands, in the order of the configuration.
    pub fn status(&self) -> Vec<ServerStatus> {
        self.all.iter().map(|server| server.status()).collect()
    }

    /// Returns the server of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<Server>> {
        self.all.iter().find(|server| server.definition().name == name)
    }

    /// Returns the servers, in the order of the configuration.
    pub fn all(&self) -> &[Arc<Server>] {
        &self.all
    }

    /// Ends all of them.
    pub fn close(&self) {
        lock(&self.agents).clear();
        for server in &self.all {
            server.close();
        }
        lock(&self.kept).clear();
    }

    /// Returns the servers that an agent may use tools of.
    pub(super) fn in_scope<'a>(&'a self, scope: &'a ToolScope) -> impl Iterator<Item = &'a Arc<Server>> {
        self.all.iter().filter(move |server| match scope {
            ToolScope::Main => server.definition().on_main_agent,
            ToolScope::Named(names) => mean_server(names, &server.definition().name),
        })
    }

    /// Returns the servers whose resources an agent may read: a persona has to name the whole server for that.
    pub(super) fn whole_in_scope<'a>(&'a self, scope: &'a ToolScope) -> impl Iterator<Item = &'a Arc<Server>> {
        self.in_scope(scope).filter(move |server| match scope {
            ToolScope::Main => true,
            ToolScope::Named(names) => mean_whole(names, &server.definition().name),
        })
    }

    /// Returns the tools that are known and that an agent may use, each with the name of its server.
    pub(super) fn offered(&self, scope: &ToolScope) -> Vec<(String, OfferedTool)> {
        let tools = self.in_scope(scope).flat_map(|server| {
            let name = server.definition().name.clone();
            server.tools().into_iter().map(move |tool| (name.clone(), tool))
        });
        let is_meant = |(server, tool): &(String, OfferedTool)| match scope {
            ToolScope::Main => true,
            ToolScope::Named(names) => mean(names, server, &tool.name),
        };
        tools.filter(is_meant).collect()
    }

    /// Starts the servers of an agent whose tools are not known, as far as the user lets them start; returns each with what
    /// came of it.
    pub(super) async fn discover(&self, agent: &Agent) -> Vec<(String, Result<(), String>)> {
        let unknown: Vec<&Arc<Server>> = self.in_scope(&agent.scope).filter(|server| !server.is_known()).collect();
        let each = unknown.iter().zip(self.starts(&unknown).await).map(|(server, may_start)| async move {
            let outcome = match may_start {
                Ok(()) => self.instance(server, &agent.directory).discover().await,
                Err(why) => Err(why),
            };
            (server.definition().name.clone(), outcome)
        });
        join_all(each).await
    }

    /// Asks the user, once in a session for each, whether servers may be started only to see what they offer. A rule that
    /// allows tools of a server has answered already.
    pub(super) async fn starts(&self, wanted: &[&Arc<Server>]) -> Vec<Result<(), String>> {
        // Held while the user thinks, so that searches at the same time ask once.
        let mut decided = self.decided.lock().await;
        let undecided = |server: &&&Arc<Server>| !server.is_known() && !decided.contains_key(&server.definition().name);
        let is_allowed = |server: &Arc<Server>| server.around().approvals.allows_server(&server.definition().name);
        let (allowed, open): (Vec<&Arc<Server>>, Vec<&Arc<Server>>) =
            wanted.iter().filter(undecided).partition(|server| is_allowed(server));
        decided.extend(allowed.iter().map(|server| (server.definition().name.clone(), true)));
        if let Some(first) = open.first() {
            let approvals = &first.around().approvals;
            let mut detail = QuestionText::default();
            let why =
                "An agent looks for tools. Nothing is known about what these servers offer until they have run once:";
            detail.part(why);
            for server in &open {
                detail.quote(&server.start_line());
            }
            let answer = match approvals.mode() {
                _ if approvals.has_standing_yes() => PlainAnswer::Yes,
                Mode::AutoWithoutSandbox => PlainAnswer::Yes,
                Mode::Ask | Mode::AutoEdit | Mode::Auto | Mode::Plan | Mode::ReadOnly => {
                    approvals.ask_plain(format!("start {}?", count(open.len(), "MCP server")), detail).await
                }
            };
            if answer != PlainAnswer::Nobody {
                decided
                    .extend(open.iter().map(|server| (server.definition().name.clone(), answer == PlainAnswer::Yes)));
            }
        }
        let may_start = |server: &&Arc<Server>| {
            let name = &server.definition().name;
            match decided.get(name) {
                Some(true) => Ok(()),
                _ if server.is_known() => Ok(()),
                Some(false) => Err("the user does not want it to be started".to_owned()),
                None => Err(format!(
                    "it is not started without a yes, and nobody is there to say it; the user makes its tools known with: \
                     steersman mcp doctor {name}"
                )),
            }
        };
        wanted.iter().map(may_start).collect()
    }

    /// Gives an agent these tools, besides those that it has.
    pub(super) fn load(&self, agent: &Arc<Agent>, names: BTreeSet<String>) {
        lock(&agent.state).loaded.extend(names);
        self.bring_up_to_date(agent);
    }

    /// Returns the process or session for a directory. Those of the main agent's last as long as this.
    pub(super) fn instance(&self, server: &Arc<Server>, directory: &Path) -> Arc<Instance> {
        let instance = server.instance(directory);
        let mut kept = lock(&self.kept);
        if directory == self.directory && !kept.iter().any(|known| Arc::ptr_eq(known, &instance)) {
            kept.push(Arc::clone(&instance));
        }
        instance
    }

    /// Returns the process or session of a server in the main agent's directory, for what the user asks.
    ///
    /// # Errors
    /// One sentence when there is no such server.
    pub fn main_instance(&self, name: &str) -> Result<Arc<Instance>, String> {
        let server = self.get(name).ok_or_else(|| format!("there is no server {}", visible_line(name)))?;
        Ok(self.instance(server, &self.directory))
    }

    /// Starts a server now, or looks at how it runs, for somebody who waits on a thread of its own.
    ///
    /// # Errors
    /// One sentence.
    pub fn start(&self, name: &str) -> Result<(), String> {
        let instance = self.main_instance(name)?;
        self.wait(async move { instance.discover().await })
    }

    /// Returns the text of a prompt of a server, filled in with these words, for somebody who waits on a thread of its own.
    ///
    /// # Errors
    /// One sentence.
    pub fn prompt(&self, server: &str, name: &str, words: &str) -> Result<String, String> {
        let instance = self.main_instance(server)?;
        self.wait(async move {
            instance.discover().await?;
            let prompts = instance.server().catalog().prompts;
            let prompt = prompts.iter().find(|prompt| prompt.name == name);
            let prompt = prompt.ok_or_else(|| format!("the server {server} has no prompt {}", visible_line(name)))?;
            let arguments = super::prompt::filled(prompt, words)?;
            let result = instance.ask(ServerRequest::Prompt { name, arguments: &arguments }, &|_| {}).await?;
            Ok(results::prompt(&result))
        })
    }

    fn wait<T>(&self, work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
        match &self.runtime {
            Some(runtime) => runtime.block_on(work),
            None => Err("nothing runs that could ask the server".to_owned()),
        }
    }

    /// Notes that the user has named a resource.
    pub(super) fn note_named(&self, server: &str, uri: &str) {
        lock(&self.named).insert((server.to_owned(), uri.to_owned()));
    }

    /// Tells whether the user has named a resource.
    pub(super) fn is_named(&self, server: &str, uri: &str) -> bool {
        lock(&self.named).contains(&(server.to_owned(), uri.to_owned()))
    }

    pub(super) fn outputs(&self) -> Option<&Outputs> {
        self.outputs.as_deref()
    }

    fn changed(&self) {
        let agents = {
            let mut agents = lock(&self.agents);
            agents.retain(|agent| agent.additions.upgrade().is_some());
            agents.clone()
        };
        for agent in &agents {
            self.bring_up_to_date(agent);
        }
        if let Some(watcher) = self.watcher.get() {
            watcher();
        }
    }

    /// Adds, replaces and takes away what an agent was told differently; it takes effect at its next request.
    fn bring_up_to_date(&self, agent: &Arc<Agent>) {
        let Some(additions) = agent.additions.upgrade() else { return };
        let offered = self.offered(&agent.scope);
        let needed = self.needed(&offered);
        let mut state = lock(&agent.state);
        // What a server has added is searched for where all of it would take too much; what the agent has stays.
        state.searches |= needed > agent.room;
        let wanted: Vec<&(String, OfferedTool)> = offered
            .iter()
            .filter(|(_, tool)| {
                !state.searches || state.loaded.contains(&tool.name) || state.has.contains_key(&tool.name)
            })
            .collect();
        let gone: Vec<String> =
            state.has.keys().filter(|name| !wanted.iter().any(|(_, tool)| tool.name == **name)).cloned().collect();
        for name in gone {
            additions.remove(&name);
            state.has.remove(&name);
            state.instructed_by.retain(|_, tool| *tool != name);
        }
        for (server, tool) in wanted {
            let Some(server) = self.get(server) else { continue };
            let name = &server.definition().name;
            // The first one that the agent gets, for as long as it has it: the others stay as they were.
            let first = state.instructed_by.entry(name.clone()).or_insert_with(|| tool.name.clone());
            let instructions = if *first == tool.name { server.instructions() } else { String::new() };
            let described = tool.definition.hash() + &instructions;
            let known = state.has.get(&tool.name);
            if known == Some(&described) {
                continue;
            }
            let instance = self.instance_of(server, agent);
            let made = Arc::new(ServerTool::new(instance, tool.clone(), &instructions, self.outputs.clone()));
            if known.is_some() {
                additions.replace(made);
            } else if let Err(error) = additions.add(made) {
                tracing::warn!(tool = %tool.name, %error, "a tool of a server is left out");
                state.instructed_by.retain(|_, first| *first != tool.name);
                continue;
            }
            state.has.insert(tool.name.clone(), described);
        }
        self.add_own_tools(agent, &mut state, &additions);
    }

    /// Adds the tools that search and that read resources, once an agent has a use for them.
    fn add_own_tools(&self, agent: &Arc<Agent>, state: &mut AgentState, additions: &Additions) {
        let Some(own) = self.own.upgrade() else { return };
        let has_resources = self
            .whole_in_scope(&agent.scope)
            .any(|server| !server.is_known() || !server.catalog().resources.is_empty());
        let mut more: Vec<Arc<dyn RawTool>> = Vec::new();
        if state.searches && !std::mem::replace(&mut state.has_search, true) {
            more.push(Arc::new(ToolSearch::new(&own, Arc::clone(agent))));
        }
        if has_resources && !std::mem::replace(&mut state.has_resources, true) {
            more.push(Arc::new(ResourceTool::new(&own, Arc::clone(agent))));
        }
        for tool in more {
            if let Err(error) = additions.add(tool) {
                tracing::warn!(%error, "a tool for servers is left out");
            }
        }
    }

    /// Returns about how many tokens these tools take in each request, with the instructions of their servers.
    fn needed(&self, offered: &[(String, OfferedTool)]) -> u64 {
        let servers: BTreeSet<&String> = offered.iter().map(|(server, _)| server).collect();
        let servers = servers.into_iter().filter_map(|server| self.get(server));
        let instructions = servers.map(|server| instruction_tokens(&server.definition().name, &server.instructions()));
        offered.iter().map(|(server, tool)| tokens(server, tool)).chain(instructions).sum()
    }

    fn instance_of(&self, server: &Arc<Server>, agent: &Agent) -> Arc<Instance> {
        self.instance(server, &agent.directory)
    }
}

impl ToolSource for Servers {
    fn knows(&self, name: &str) -> bool {
        self.all.iter().any(|server| {
            let of_server = means_server(name, &server.definition().name);
            // Of one that is not known yet any name may be right.
            let one = [name.to_owned()];
            let is_tool = || server.tools().iter().any(|tool| mean(&one, &server.definition().name, &tool.name));
            of_server && (!server.is_known() || is_tool())
        })
    }

    fn reach(&self, names: &[String]) -> Traits {
        let scope = ToolScope::Named(names.to_vec());
        self.in_scope(&scope).map(|server| server.definition().traits).fold(Traits::NONE, Traits::and)
    }

    fn names(&self, names: &[String]) -> Vec<String> {
        let scope = ToolScope::Named(names.to_vec());
        self.offered(&scope).into_iter().map(|(_, tool)| tool.name).collect()
    }

    fn names_of_main(&self) -> Vec<String> {
        let name = |server: &Arc<Server>| format!("{PREFIX}{}", server.definition().name);
        self.in_scope(&ToolScope::Main).map(name).collect()
    }

    fn attach(&self, scope: ToolScope, directory: Option<&Path>, window: Option<u64>, additions: &Additions) {
        if self.in_scope(&scope).next().is_none() {
            return;
        }
        let offered = self.offered(&scope);
        let needed = self.needed(&offered);
        let room = window.unwrap_or(limits::MCP_WINDOW) / 100 * u64::from(self.percent);
        let searches = self.in_scope(&scope).any(|server| !server.is_known());
        let mut state = AgentState { searches, ..AgentState::default() };
        if needed <= room {
            state.loaded = offered.into_iter().map(|(_, tool)| tool.name).collect();
        }
        let agent = Arc::new(Agent {
            scope,
            directory: directory.unwrap_or(&self.directory).to_owned(),
            additions: additions.downgrade(),
            room,
            state: Mutex::new(state),
        });
        lock(&self.agents).push(Arc::clone(&agent));
        self.bring_up_to_date(&agent);
    }
}
