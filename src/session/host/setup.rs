//! What the main agent of the program is made of: tools, personas, prompt, controls.
//!
//! `exec` and the screen build the same agent from one [`Setup`]; only their listeners differ.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Zoned;

use crate::host::Handle;
use crate::host::context_files::{self, ContextFile, ContextPlaces, NestedInstructions};
use crate::host::fill::Fill;
use crate::host::guards::Guards;
use crate::host::open_questions::QuestionDesk;
use crate::host::resumed::{ResumeSource, Resumed};
use crate::host::shell::Shell;
use crate::host::tools::{Pools, WebPool, Workbench};
use crate::host::undo::UndoNotes;
use steersman_agent::OutputSchema;
use steersman_agent::subagent::{Persona, Roster, SubAgents};
use steersman_agent::{Agent, CompactionRequest, LoopHooks, ModelChoice};
use steersman_base::assets;
use steersman_base::error::BuildError;
use steersman_base::event::{Event, SCHEMA};
use steersman_base::limits;
use steersman_base::protocol::{HookStatus, PromptTemplate};
use steersman_base::steering::{AgentsGiveWay, Framing};
use steersman_base::summary::count;
use steersman_base::text::clip;
use steersman_core::approval::{Approvals, MainWeb, Mode, Network, Policy, Sandboxed};
use steersman_core::control::{ContextBook, Controls, OnExhausted, Spending, StepLimit};
use steersman_core::listener::{Listener, ListenerList};
use steersman_core::provider::{ChatTransport, Connector, Streaming};
use steersman_core::tool::{Outputs, ToolScope, ToolSource};
use steersman_extensions::hooks::{BrokenGuard, GuardedHooks, HookPlaces, HookRunner, HookSession, Hooks, TrustedHook};
use steersman_extensions::mcp::definition::ServerDefinition;
use steersman_extensions::mcp::server::Surroundings;
use steersman_extensions::mcp::store::Store;
use steersman_extensions::mcp::{ServerTools, Servers};
use steersman_extensions::skill::{Skill, SkillCatalogue, SkillLibrary, SkillTool};
use steersman_provider::{Http, Sources};
use steersman_tools::workspace::{self, Caution, Spawner, Workspace};

/// Everything that the program decides before an agent is built.
pub struct Setup {
    /// Which model answers.
    pub transport: ChatTransport,
    /// Makes providers.
    pub connector: Arc<dyn Connector>,
    /// The servers that the user can switch to.
    pub sources: Arc<Sources>,
    /// The directory that tools work in.
    pub cwd: PathBuf,
    /// How far searches go.
    pub caution: Caution,
    /// What tools work with.
    pub workbench: Workbench,
    /// Tool calls that a turn may make.
    pub max_steps: u32,
    /// Rounds that a turn of the main agent may have.
    pub max_rounds: Option<u32>,
    /// The only tools that the main agent gets.
    pub only_tools: Option<Vec<String>>,
    /// What the main agent's answer must match.
    pub output_schema: Option<Arc<OutputSchema>>,
    /// What happens when a turn has made them.
    pub on_exhausted: OnExhausted,
    /// Whether replies come in pieces.
    pub streaming: Streaming,
    /// How much the whole tree may spend, and what tokens cost.
    pub spending: Spending,
    /// How texts of the user reach the models during a turn.
    pub framing: Framing,
    /// Which texts end the wait for sub-agents.
    pub agents_give_way: AgentsGiveWay,
    /// How many sub-agents work at the same time.
    pub agents_at_once: usize,
    /// How full the context window is when older rounds are summarised, per cent; 0 is never beforehand.
    pub compact_at: u8,
    /// Who answers questions, the rules, and the user's own places. The rest of it is found out here.
    pub policy: Policy,
    /// How much runs without a question, at first.
    pub mode: Mode,
    /// The llama.cpp `/props` address, when the server may be one.
    pub llama_probe_url: Option<String>,
    /// A system prompt in place of the default one.
    pub system_prompt: Option<String>,
    /// Where context files are looked for; `None` for none at all.
    pub context: Option<ContextPlaces>,
    /// Which personas there are.
    pub roster: Roster,
    /// The skills and custom commands.
    pub skills: SkillLibrary,
    /// The MCP servers.
    pub servers: ServerSetup,
    /// The hooks.
    pub hooks: HookSetup,
    /// Sentences for the user about how the setup was found out (which model was taken, …).
    pub notes: Vec<String>,
    /// What of the user's and the project's files counts for nothing, one sentence each.
    pub left_out: Vec<String>,
    /// Whether that is said at the start, or counted there and listed with what fills the context window.
    pub says_left_out: bool,
    /// Who gets the events, besides the mailbox of a screen.
    pub listeners: Vec<Arc<dyn Listener>>,
    /// What the session goes on with, when an earlier process began it.
    pub resumed: Option<Box<dyn ResumeSource>>,
}

impl Setup {
    /// Builds the main agent and emits `session_started`, then `guards`, before anything else.
    ///
    /// # Errors
    /// What the builder says; one sentence for the user.
    pub(super) async fn build(
        self,
        handle: &Handle,
        choice: Arc<ModelChoice>,
        compaction_request: Arc<CompactionRequest>,
        listeners: ListenerList,
        resumed: Resumed,
    ) -> Result<Built, BuildError> {
        let workspace = Workspace::new(&self.cwd)
            .map_err(|error| BuildError::argument(format!("cannot work in {}: {error}", self.cwd.display())))?;
        let root = workspace.root().to_path_buf();
        let workspace = workspace.with_changes(Arc::clone(handle.changes())).with_caution(self.caution);
        let mut pools = Pools::new(workspace, &self.workbench, handle.plans(), Some(QuestionDesk::for_tools(handle)))?;
        let (agent_controls, approvals, jobs) = (handle.agent_controls(), handle.approvals(), handle.jobs());
        let skills: Arc<[Skill]> = self.skills.skills().cloned().collect();
        if skills.iter().any(Skill::is_for_model) {
            pools.main.push(Arc::new(SkillTool::new(Arc::clone(&skills))));
        }
        let mut notes = Vec::new();
        let spawner = Arc::clone(&self.workbench.spawner);
        let project = self.hooks.project.clone().unwrap_or_else(|| root.clone());
        let (hooks, known_hooks) = self.hooks.make(&spawner, approvals, root.clone());
        let servers = self.servers.make(spawner, Arc::clone(approvals), root.clone(), pools.outputs.clone());
        let source: Arc<dyn ToolSource> = Arc::clone(&servers) as _;
        // A persona has no tool that is left out for all.
        if let Some(only) = &self.only_tools {
            pools.keep_only(only, source.as_ref())?;
        }
        let roster = self.roster.usable(&pools.all(), Some(source.as_ref()));
        let personas: Vec<Persona> = roster.members().iter().map(|member| member.persona.clone()).collect();

        let has_agents = self.only_tools.as_ref().is_none_or(|only| only.iter().any(|name| name == "agent"));
        let personas = if has_agents { personas } else { Vec::new() };
        let scope = self.only_tools.clone().map_or(ToolScope::Main, ToolScope::Named);
        let mut names: Vec<&str> = pools.main.iter().map(|tool| tool.name()).collect();
        if !personas.is_empty() {
            names.push("agent");
        }
        listeners.emit(started(&self.transport, self.max_steps, &root, &names));
        let sandbox = self.workbench.spawner.sandbox().name();
        approvals.configure(policy(self.policy, &self.workbench, &root), Mode::Ask);
        if let Err(refused) = approvals.start_in(self.mode) {
            notes.push(format!("{refused}; it is {} now", Mode::Ask.name()));
        }
        let context = self.context.as_ref().map(|places| context_files::find(places, &root)).unwrap_or_default();
        notes.extend(context.note().into_iter().chain(context.faults.iter().cloned()));
        let nested = self.context.map(|places| NestedInstructions::new(places, &root, &context));
        let context_labels = context.files.iter().map(ContextFile::label).collect();
        let guards = Guards::start(Arc::clone(approvals), sandbox.map(str::to_owned), context_labels, &listeners);

        let templates = self.skills.templates();
        let fill = Fill::new(templates.clone(), &pools.main, hooks.clone(), handle, listeners.clone());
        let prompt = filled(self.system_prompt.as_deref().unwrap_or(assets::MAIN_PROMPT), &root, &names);
        let Controls { interloper, cancellable, gate } = agent_controls.main();
        let mut builder = Agent::builder(self.transport, prompt, self.connector)
            .step_limit(StepLimit::new(self.max_steps)?.on_exhausted(self.on_exhausted))
            .cancellable(cancellable)
            .interloper(interloper)
            .gate(gate)
            .model_choice(choice)
            .compaction_request(compaction_request)
            .compact_at(self.compact_at)
            .budget(Arc::clone(handle.budget()))
            .rules(Arc::clone(handle.rules()))
            .plans(Arc::clone(handle.plans()))
            .framing(self.framing)
            .hooks(hooks)
            .context_book(Arc::clone(handle.context()))
            .instructions(context.files.iter().map(|file| (file.label(), file.text.as_str())))
            .approvals(Arc::clone(approvals))
            .jobs(Arc::clone(jobs))
            .streaming(self.streaming)
            .output_schema(self.output_schema)
            .listeners(listeners);
        if let Some(rounds) = self.max_rounds {
            builder = builder.max_turns(rounds);
        }
        if let Some(url) = self.llama_probe_url {
            builder = builder.llama_probe_url(url);
        }
        jobs.number_from(resumed.numbers.jobs);
        let shell = shell(handle, &self.workbench, &pools, (root, project));
        let numbers = resumed.numbers.agents.clone();
        let mut agent = builder
            .build(|configurator| {
                if let Some(snippet) = context_files::snippet(&context.files) {
                    configurator.append_system_prompt(snippet);
                }
                configurator.add_tools(pools.main.iter().cloned())?;
                for tool in &pools.sub_agents {
                    configurator.add_sub_agent_tool(Arc::clone(tool))?;
                }
                configurator.add_extension(Arc::new(SkillCatalogue::new(skills)))?;
                nested.into_iter().try_for_each(|nested| configurator.add_extension(Arc::new(nested)))?;
                configurator.add_extension(Arc::new(UndoNotes { changes: Arc::clone(handle.changes()) }))?;
                let agents = SubAgents::new(personas)?.agent_controls(Arc::clone(agent_controls));
                let agents = agents.outputs(pools.outputs.clone()).source(Some(source)).scope(scope.clone());
                let agents = agents.continuations(Arc::clone(handle.continuations()));
                let agents = agents.agents_give_way(self.agents_give_way).at_once(self.agents_at_once).numbers(numbers);
                configurator.add_extension(Arc::new(agents))?;
                // Behind everything else: what they add comes last in each request.
                configurator.add_extension(Arc::new(ServerTools::new(Arc::clone(&servers), scope)))
            })
            .await?;
        let replaced = resumed.hand_over(&mut agent, handle, pools.outputs.as_deref()).await;
        notes.extend(replaced.and_then(|before| changed_prompt(&before, agent.system_prompt(), &context.files)));
        let warnings = roster.warnings().iter().cloned().chain(self.skills.warnings());
        let left_out = self.left_out.into_iter().chain(warnings).collect();
        notes.extend(say_left_out(left_out, self.says_left_out, handle.context()));
        Ok(Built { agent, guards, sources: self.sources, servers, shell, fill, templates, known_hooks, notes })
    }
}

/// Returns what runs the user's shell lines.
fn shell(handle: &Handle, workbench: &Workbench, pools: &Pools, (directory, project): (PathBuf, PathBuf)) -> Shell {
    Shell {
        spawner: Arc::clone(&workbench.spawner),
        outputs: pools.outputs.as_ref().map(Arc::downgrade),
        directory,
        project,
        jobs: Arc::clone(handle.jobs()),
        agent_controls: Arc::clone(handle.agent_controls()),
        runtime: tokio::runtime::Handle::current(),
    }
}

/// Returns what is said at the start about what counts for nothing, in one line: all of it, as far as a line may be long, or how
/// much there is in the list of contexts. What is cut is whole in the check of `doctor`.
fn say_left_out(mut sentences: Vec<String>, says_all: bool, context: &ContextBook) -> Vec<String> {
    let mut seen = HashSet::new();
    sentences.retain(|sentence| seen.insert(sentence.clone()));
    if sentences.is_empty() {
        return sentences;
    }
    if says_all {
        let mut room = limits::LEFT_OUT_LINE_BYTES;
        let fits = |sentence: &&String| {
            let is_first = room == limits::LEFT_OUT_LINE_BYTES;
            let left = room.checked_sub(sentence.len());
            room = left.unwrap_or(0);
            is_first || left.is_some()
        };
        let named: Vec<Cow<'_, str>> = sentences
            .iter()
            .take_while(fits)
            .map(|sentence| clip(sentence, limits::LEFT_OUT_SENTENCE_COLUMNS))
            .collect();
        let is_cut = named.iter().zip(&sentences).any(|(shown, sentence)| *shown != *sentence);
        let more = match sentences.len() - named.len() {
            0 if is_cut => "; steersman doctor names all".to_owned(),
            0 => String::new(),
            more => format!("; and {more} more, which steersman doctor names"),
        };
        return vec![format!("not all of your set-up is used: {}{more}", named.join("; "))];
    }
    let number = count(sentences.len(), "note");
    context.leave_out(sentences);
    vec![format!("some of your set-up has no effect here: /context says what ({number})")]
}

/// Returns the event with which a session begins.
fn started(transport: &ChatTransport, max_steps: u32, root: &Path, tools: &[&str]) -> Event {
    Event::SessionStarted {
        schema: SCHEMA,
        program: concat!("steersman ", env!("CARGO_PKG_VERSION")).to_owned(),
        cwd: root.display().to_string(),
        provider: transport.provider.clone().unwrap_or_else(|| "openai".to_owned()),
        model: transport.model.clone(),
        max_steps: Some(max_steps),
        tools: tools.iter().map(|name| (*name).to_owned()).collect(),
    }
}

/// Adds what the set-up shows to what the user's own configuration says of approvals.
fn policy(policy: Policy, workbench: &Workbench, root: &Path) -> Policy {
    let is_sandboxed = workbench.spawner.sandbox().name().is_some();
    Policy {
        sandboxed: Some(if is_sandboxed { Sandboxed::Yes } else { Sandboxed::No }),
        names_are_open: is_sandboxed && !workbench.spawner.sandbox().closes_names(),
        network: match workbench.confinement.network {
            workspace::Network::Off if is_sandboxed => Network::Off,
            workspace::Network::Off | workspace::Network::On => Network::On,
        },
        main_web: match workbench.web_pool {
            WebPool::SubAgents => MainWeb::AsAny,
            WebPool::Main => MainWeb::Asked,
        },
        root: Some(root.to_path_buf()),
        added: workbench.added.clone(),
        ..policy
    }
}

/// What came of a setup.
pub(super) struct Built {
    pub agent: Agent,
    /// What follows the mode.
    pub guards: Guards,
    /// The servers that the user can switch to.
    pub sources: Arc<Sources>,
    pub servers: Arc<Servers>,
    /// What the user's commands can send.
    pub templates: Vec<PromptTemplate>,
    /// The hooks that there are.
    pub known_hooks: Vec<HookStatus>,
    /// What runs the user's shell lines.
    pub shell: Shell,
    /// What fills in commands.
    pub fill: Fill,
    /// Sentences for the user.
    pub notes: Vec<String>,
}

/// Fills the placeholders of a system prompt.
fn filled(prompt: &str, cwd: &Path, tools: &[&str]) -> String {
    let date = Zoned::now().date().to_string();
    prompt
        .replace("{{cwd}}", &cwd.display().to_string())
        .replace("{{date}}", &date)
        .replace("{{tools}}", &tools.join(", "))
}

/// Returns a sentence about what differs between two system prompts beside the date, as far as the files of conventions
/// tell it.
fn changed_prompt(before: &str, now: &str, files: &[ContextFile]) -> Option<String> {
    let date = Zoned::now().date().to_string();
    let is_same = |(before, now): (&str, &str)| before == now || (now.contains(&date) && before.len() == now.len());
    if before.lines().count() == now.lines().count() && before.lines().zip(now.lines()).all(is_same) {
        return None;
    }
    let changed = files.iter().filter(|file| !before.contains(&file.text)).map(ContextFile::label);
    let names = changed.collect::<Vec<_>>().join(", ");
    let what = if names.is_empty() { String::new() } else { format!(" ({names})") };
    Some(format!("The instructions changed since this session was saved{what}. The new ones apply from now on."))
}

/// What the program decides about hooks before an agent is built.
#[derive(Default)]
pub struct HookSetup {
    /// The hooks that may run.
    pub hooks: Vec<TrustedHook>,
    /// The hooks before calls that cannot be read: these calls are stopped.
    pub broken: Vec<BrokenGuard>,
    /// All hooks that there are, for the clients.
    pub known: Vec<HookStatus>,
    /// The id of the session; empty for one that is not saved.
    pub session: String,
    /// The file that the session is saved in.
    pub transcript: Option<PathBuf>,
    /// The project's root; without one the directory that tools work in.
    pub project: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
}

impl HookSetup {
    /// Makes the hooks of a session whose main agent works in this directory, `None` without any; with all that there are.
    pub(super) fn make(
        self,
        spawner: &Arc<Spawner>,
        approvals: &Arc<Approvals>,
        cwd: PathBuf,
    ) -> (Option<Arc<dyn LoopHooks>>, Vec<HookStatus>) {
        let project = self.project.unwrap_or_else(|| cwd.clone());
        let places = HookPlaces { cwd: cwd.clone(), project, home: self.home };
        let runner = HookRunner { spawner: Arc::clone(spawner), places };
        let session = HookSession { id: self.session, transcript: self.transcript, cwd };
        let hooks = Hooks::new(self.hooks, runner, session, Arc::clone(approvals));
        (GuardedHooks::over(hooks.map(|hooks| hooks as Arc<dyn LoopHooks>), self.broken), self.known)
    }
}

/// What the program decides about servers before an agent is built.
#[derive(Default)]
pub struct ServerSetup {
    /// The servers.
    pub definitions: Vec<ServerDefinition>,
    /// Where it is kept what is known about them.
    pub store: Store,
    /// The clients for addresses.
    pub http: Http,
    /// How much of the context window their tools take before they are searched for, per cent.
    pub window_percent: u8,
}

impl ServerSetup {
    /// Makes the servers of a session whose main agent works in this directory.
    pub fn make(
        self,
        spawner: Arc<Spawner>,
        approvals: Arc<Approvals>,
        directory: PathBuf,
        outputs: Option<Arc<Outputs>>,
    ) -> Arc<Servers> {
        let around = Surroundings { spawner, http: self.http, approvals, store: self.store };
        Servers::new(self.definitions, around, directory, outputs, self.window_percent)
    }
}
