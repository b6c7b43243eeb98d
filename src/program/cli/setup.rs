//! Makes the host's setup from a loaded start: server, model and key. Runs on the worker, after the first frame.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::program::cli::first_start::look;
use crate::program::cli::hooks::{HookSearch, all, broken_guards, trusted_of_user};
use crate::program::cli::key_offer::offer_service;
use crate::program::cli::load::{Start, writable};
use crate::program::cli::plugins;
use crate::program::cli::project::{
    FrontEnd, KeptRules, ProjectOffer, TrustQuestion, adopted, relied_on, trusted, user_agents, user_library,
};
use crate::program::cli::sources::{registry_or_bundled, sources};
use crate::program::cli::workbench::workbench;
use crate::program::cli::{keys, mcp};
use crate::program::config::{Config, ModelSource, RuleLists, Server};
use crate::program::demo::{self, DemoServer, Pace};
use futures_util::future::BoxFuture;
use steersman_agent::subagent::Roster;
use steersman_base::assets;
use steersman_base::error::BuildError;
use steersman_base::fault;
use steersman_core::approval::{Approvals, Mode, ModeRefused, Policy, Rules};
use steersman_core::control::OnExhausted;
use steersman_core::listener::Listener;
use steersman_core::provider::{ApiKey, ChatProvider, ChatTransport, Connector, ProviderError, Registry};
use steersman_extensions::skill::SkillLibrary;
use steersman_provider::{Http, HttpConnector, ModelServer, Sources, list_models, takes_images};
use steersman_session::host::{ContextPlaces, HookSetup, Setup, StartError};
use steersman_session::journal::Journal;
use steersman_tools::workspace::Caution;
use steersman_tui::commands::is_command;

/// Makes the setup: starts the embedded model, or requests the server's models when none is named.
///
/// # Errors
/// [`StartError`], one sentence for the user.
pub(super) async fn setup(
    mut start: Start,
    mut listeners: Vec<Arc<dyn Listener>>,
    approvals: Arc<Approvals>,
) -> Result<Setup, StartError> {
    fault::block_at("setup");
    let mut notes = std::mem::take(&mut start.places.notes);
    let mut roster = Roster::bundled()?;
    user_agents(&start, &mut roster);
    let mut skills = user_library(&start.places);
    // A preliminary policy, enough for the questions below.
    approvals.configure(Policy { answerer: start.answerer, ..Policy::default() }, start.config.mode);
    let mut left_out = std::mem::take(&mut start.left_out);
    let asked = TrustQuestion { front: start.front, places: &start.places, trust: start.trust.as_deref() };
    let offer = trusted(asked, &approvals, &mut notes, &mut left_out).await;
    if let Some(offer) = &offer {
        start.adopt(offer);
        adopted(offer, &mut roster, &mut skills);
    }
    let at = (&start.places, start.cwd.as_path());
    let plugins = plugins::trusted(start.front, at, &approvals, &mut notes, &mut left_out).await;
    let roots = adopt_plugins(&mut start, plugins, &mut roster, &mut skills);
    let hooks = hooks(&mut start, offer, &approvals, &mut notes).await;
    if let Some(kept) = KeptRules::find(&start.places, &start.cwd) {
        let rules = kept.load(&mut notes);
        approvals.keep_rules_in(Arc::new(kept), rules);
    }
    let caution = caution(&start, &mut notes);
    skills.without_commands(is_command);
    let mut bench = workbench(&start.config, &start.places, &start.cwd, &mut notes).await?;
    bench.confinement.readable.extend(sibling_roots(&start, &skills, roots));
    // The screen falls back to the mode ask and shows that; here nobody would see it.
    if start.front == FrontEnd::Exec && start.config.mode == Mode::Auto && bench.spawner.sandbox().name().is_none() {
        return Err(StartError::Configuration(ModeRefused::NotSandboxed.to_string()));
    }
    let servers = mcp::setup(&start, &mut notes);
    let mut config = start.config;
    offer_service(&mut config, start.front, &start.places, &approvals, &mut notes).await;
    let StartModel { transport, connector, sources } =
        answering(&config, start.front, start.places.config.as_deref(), &mut notes).await?;
    check_images(&start.images, &transport, &*connector, sources.http()).await?;
    if let Some(journal) = start.journal {
        let of_servers = servers.definitions.iter().flat_map(mcp::hidden).map(ApiKey::new);
        hide_keys(&journal, &sources, &config, of_servers.chain(transport.api_key.clone()));
        start.resumed = start.resumed.map(|earlier| journal.revealing(earlier));
        listeners.push(Arc::new(journal));
    }
    // Any server may be llama.cpp, and the embedded model answers like it: it is probed for its context window.
    let llama_probe_url = transport.api_base.clone();
    Ok(Setup {
        transport,
        connector,
        sources,
        cwd: start.cwd,
        caution,
        workbench: bench,
        max_steps: config.max_steps,
        on_exhausted: match start.front {
            FrontEnd::Screen => OnExhausted::Ask,
            FrontEnd::Exec => OnExhausted::Synthesize,
        },
        streaming: config.streaming,
        spending: config.spending,
        framing: config.framing,
        agents_give_way: config.agents_give_way,
        agents_at_once: config.agents_at_once,
        compact_at: config.compact_at,
        policy: Policy {
            answerer: start.answerer,
            rules: rules(&config.rules)?,
            protected: start.places.protected(),
            home: start.places.home.clone(),
            ..Policy::default()
        },
        mode: config.mode,
        llama_probe_url,
        system_prompt: match start.appended_prompt {
            Some(more) => Some(format!("{}\n\n{more}", start.system_prompt.as_deref().unwrap_or(assets::MAIN_PROMPT))),
            None => start.system_prompt,
        },
        max_rounds: start.max_rounds,
        only_tools: start.only_tools,
        output_schema: start.output_schema,
        context: config.context_files.then(|| ContextPlaces {
            user: start.places.config.map(|config| config.join("AGENTS.md")),
            home: start.places.home,
        }),
        roster,
        skills,
        servers,
        hooks,
        notes,
        left_out,
        says_left_out: start.front == FrontEnd::Exec,
        listeners,
        resumed: start.resumed,
    })
}

/// Says how broad the directory is that tools work in, with a note about one that holds nearly all files of the user.
fn caution(start: &Start, notes: &mut Vec<String>) -> Caution {
    if !is_everything(&start.cwd, start.places.home.as_deref()) {
        return Caution::Project;
    }
    notes.push(format!(
        "this is {}: tools reach all that is in it, and searches end early; better start in a project's directory",
        if start.cwd.parent().is_none() { "the root of the file system" } else { "your home directory" }
    ));
    Caution::Broad
}

/// Keeps the keys of all servers out of the journal, with those that are named besides.
fn hide_keys(journal: &Journal, sources: &Sources, config: &Config, more: impl Iterator<Item = ApiKey>) {
    let keys = sources.iter().filter_map(|source| source.transport.api_key.clone());
    let web = [&config.web.brave_key, &config.web.exa_key].into_iter().flatten().cloned();
    keys.chain(more).chain(web).filter(ApiKey::is_distinctive).for_each(|key| journal.hide(key));
}

/// Returns what commands read beside the workspace: the directories of skills, whose scripts they run, and of plugins.
fn sibling_roots(start: &Start, skills: &SkillLibrary, roots: Vec<PathBuf>) -> Vec<PathBuf> {
    let holds_more = |directory: &Path| {
        let home = start.places.home.as_deref();
        start.cwd.starts_with(directory) || home.is_some_and(|home| home.starts_with(directory))
    };
    let directories = skills.skills().map(|skill| skill.directory.clone()).chain(roots);
    directories.filter(|directory| !holds_more(directory)).collect()
}

/// Takes what trusted plugins bring; returns their roots, which commands read.
fn adopt_plugins(
    start: &mut Start,
    plugins: Vec<ProjectOffer>,
    roster: &mut Roster,
    skills: &mut SkillLibrary,
) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    for plugin in plugins {
        start.adopt(&plugin);
        adopted(&plugin, roster, skills);
        roots.push(plugin.root);
    }
    roots
}

/// Finds the hooks that run: those of the user, asking about them on the screen, and those of a trusted project.
async fn hooks(
    start: &mut Start,
    offer: Option<ProjectOffer>,
    approvals: &Approvals,
    notes: &mut Vec<String>,
) -> HookSetup {
    let mut hooks = Vec::new();
    let writable = writable(&start.cwd, &start.config);
    let search = HookSearch { places: &start.places, cwd: &start.cwd, writable: &writable };
    if start.user_hooks {
        hooks = trusted_of_user(start.front, &search, approvals, notes).await;
    }
    let offer = offer.or_else(|| relied_on(&start.places, start.front));
    let of_project = offer.into_iter().flat_map(|offer| offer.broken_hooks);
    let other_guards = of_project.chain(start.plugin_guards.iter().cloned()).collect();
    let broken = broken_guards(start.front, &search, other_guards, start.broken_hooks, approvals, notes).await;
    hooks.append(&mut start.project_hooks);
    let known = if start.front == FrontEnd::Screen { all(&search, Some(&hooks)).0 } else { Vec::new() };
    let journal = start.journal.as_ref();
    HookSetup {
        hooks,
        broken,
        known,
        transcript: journal.and_then(Journal::file).map(Path::to_path_buf),
        session: journal.map(|journal| journal.session().to_string()).unwrap_or_default(),
        project: start.places.project.clone(),
        home: start.places.home.clone(),
    }
}

/// Checks that the model takes the images of the first message, as far as anybody knows.
async fn check_images(
    images: &[String],
    to: &ChatTransport,
    by: &dyn Connector,
    http: &Http,
) -> Result<(), StartError> {
    if images.is_empty() || takes_images(http, to, &by.registry()).await != Some(false) {
        return Ok(());
    }
    let model = to.model.as_deref().unwrap_or("this model");
    Err(StartError::Configuration(format!("{model} takes no images: {}", images.join(", "))))
}

/// The model of the start, and the servers to switch to.
struct StartModel {
    transport: ChatTransport,
    connector: Arc<dyn Connector>,
    sources: Arc<Sources>,
}

/// Finds the model of the start: the embedded one, which is started, or a server's. `user` is the user's configuration
/// directory.
async fn answering(
    config: &Config,
    front: FrontEnd,
    user: Option<&Path>,
    notes: &mut Vec<String>,
) -> Result<StartModel, StartError> {
    let http = config.http();
    let registry = registry_or_bundled(config, user, notes);
    let mut connector: Arc<dyn Connector> = Arc::new(HttpConnector::new(http.clone()).with_registry(registry));
    let mut found = Vec::new();
    let mut embedded = None;
    let transport = match &config.model {
        ModelSource::Embedded { pace } => {
            let pace = pace.map_or_else(Pace::default, Pace::words_per_second);
            let ports = if config.unconfigured { config.local_ports.as_slice() } else { &[] };
            let (server, local) = tokio::join!(demo::start(pace), look(&http, ports));
            found = local;
            let server =
                server.map_err(|error| StartError::Failed(format!("the embedded model does not start: {error}")))?;
            demo_transport(embedded.insert(server), config.context_window)
        }
        ModelSource::Server(server) => {
            notes.extend(keys::warning(&server.key));
            notes.extend(server.plain_http());
            let key = keys::read_key(&server.key).await.map_err(StartError::Configuration)?;
            let transport = transport_of(server, key);
            match transport.model {
                Some(_) => transport,
                None => with_first_model(&http, &transport, notes).await?,
            }
        }
    };
    if embedded.is_none() && front == FrontEnd::Screen {
        // Without it only the list of models is shorter.
        embedded = demo::start(Pace::default()).await.ok();
    }
    let demo = embedded.as_ref().map(|server| ModelServer::new(demo::SOURCE, demo_transport(server, None)));
    if let Some(server) = embedded {
        connector = Arc::new(WithServer { http: connector, _server: server });
    }
    let current = ModelServer::new(config.source.clone(), transport.clone());
    let sources: Sources = sources(config, Some(current), &found).iter().cloned().chain(demo).collect();
    let sources = Arc::new(sources.with_http(http));
    Ok(StartModel { transport, connector, sources })
}

fn rules(lists: &RuleLists) -> Result<Rules, StartError> {
    lists.parse().map_err(|error| StartError::Configuration(error.to_string()))
}

/// Returns whether a directory is the root or the home, which contain nearly all files of the user.
fn is_everything(cwd: &Path, home: Option<&Path>) -> bool {
    cwd.parent().is_none() || home == Some(cwd)
}

pub(super) fn transport_of(server: &Server, key: Option<ApiKey>) -> ChatTransport {
    ChatTransport {
        model: server.model.clone(),
        provider: Some(server.dialect.name().to_owned()),
        assume_model_exists: true,
        api_base: Some(server.base_url.clone()),
        api_key: key,
        context_window: server.context_window,
        answering: server.answering,
    }
}

fn demo_transport(server: &DemoServer, context_window: Option<u64>) -> ChatTransport {
    ChatTransport {
        model: Some(demo::MODEL.to_owned()),
        provider: Some(demo::SOURCE.to_owned()),
        assume_model_exists: true,
        api_base: Some(server.base_url()),
        api_key: Some(server.api_key()),
        context_window,
        ..ChatTransport::default()
    }
}

/// A connector that keeps the embedded model's server alive.
struct WithServer {
    http: Arc<dyn Connector>,
    _server: DemoServer,
}

impl Connector for WithServer {
    fn connect(&self, transport: &ChatTransport) -> Result<Arc<dyn ChatProvider>, ProviderError> {
        self.http.connect(transport)
    }

    fn find_context_window<'a>(
        &'a self,
        transport: &'a ChatTransport,
        set: Option<u64>,
        probe: Option<(String, Option<ApiKey>)>,
    ) -> BoxFuture<'a, Option<u64>> {
        self.http.find_context_window(transport, set, probe)
    }

    fn is_listed<'a>(&'a self, transport: &'a ChatTransport) -> BoxFuture<'a, bool> {
        self.http.is_listed(transport)
    }

    fn registry(&self) -> Arc<Registry> {
        self.http.registry()
    }
}

/// Requests a server's models and takes the only or first one, with a note.
async fn with_first_model(
    http: &Http,
    transport: &ChatTransport,
    notes: &mut Vec<String>,
) -> Result<ChatTransport, StartError> {
    let models = list_models(http, transport).await.map_err(no_list)?;
    let Some((first, others)) = models.split_first() else {
        return Err(StartError::Configuration("the server lists no models; name one with --model NAME".to_owned()));
    };
    notes.push(match others.len() {
        0 => format!("using {first}, the server's only model"),
        more => format!("using {first}, the first of the server's {} models", more + 1),
    });
    Ok(transport.with_model(first))
}

/// Returns the error for a missing list. A server that answered may have models without a list of them.
fn no_list(error: ProviderError) -> StartError {
    match error {
        ProviderError::Status { status: 401 | 403, .. } => StartError::Authentication(error.to_string()),
        ProviderError::Status { .. } | ProviderError::Malformed(_) => {
            StartError::Failed(format!("{error}; if the server has no list of models, name one with --model NAME"))
        }
        other => BuildError::from(other).into(),
    }
}
