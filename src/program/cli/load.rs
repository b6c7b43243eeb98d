//! Reads the inputs of a start (environment, configuration file, system prompt, directory) into one [`Start`].

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::program::cli::args::Flags;
use crate::program::cli::hooks::BrokenHooks;
use crate::program::cli::places::UserDirectories;
use crate::program::cli::plugins;
use crate::program::cli::project::{FrontEnd, ProjectOffer, ProjectPermissions, restrictions};
use crate::program::cli::run_settings::{self, Setting, agents};
use crate::program::config::{
    ClaudeSettings, Config, ConfigError, Environment, FileError, KeyPlace, Layer, PermissionPlaces, ServerSection,
    parse,
};
use steersman_agent::OutputSchema;
use steersman_base::event::Envelope;
use steersman_base::limits;
use steersman_base::regular_file::read_own_text;
use steersman_core::approval::Answerer;
use steersman_extensions::hooks::{BrokenGuard, TrustedHook};
use steersman_extensions::mcp::definition::PinnedFiles;
use steersman_extensions::mcp::names::server_name;
use steersman_session::host::ResumeSource;
use steersman_session::journal::{Journal, SessionId};

/// The user's settings for Claude Code, below the home directory.
const CLAUDE_SETTINGS: &str = ".claude/settings.json";

/// The checked inputs of a start of the program.
#[derive(Debug)]
pub struct Start {
    pub config: Config,
    /// The directory to work in, absolute.
    pub cwd: PathBuf,
    /// The text that replaces the default system prompt.
    pub system_prompt: Option<String>,
    /// A text behind the system prompt.
    pub appended_prompt: Option<String>,
    /// The hash of a project's files that are trusted for this run.
    pub trust: Option<String>,
    /// Rounds that a turn may have.
    pub max_rounds: Option<u32>,
    /// The only tools of the main agent.
    pub only_tools: Option<Vec<String>>,
    /// What the answer of the main agent must match.
    pub output_schema: Option<Arc<OutputSchema>>,
    /// The agents of the command line, each as the text of a file.
    pub agents: Vec<String>,
    /// The images that go with the first message, by name.
    pub images: Vec<String>,
    pub answerer: Answerer,
    /// The front end, which decides whether trust can be asked about.
    pub front: FrontEnd,
    pub places: UserDirectories,
    /// What of the user's and the project's files counts for nothing, one sentence each.
    pub left_out: Vec<String>,
    /// Whether the user's own hooks are looked for.
    pub user_hooks: bool,
    pub project_hooks: Vec<TrustedHook>,
    /// Whether hooks that cannot be read stop calls.
    pub broken_hooks: BrokenHooks,
    /// The MCP servers of a trusted project.
    pub project_servers: BTreeMap<String, ServerSection>,
    /// What of the project those servers run, as the user has seen it.
    pub project_pins: BTreeMap<String, PinnedFiles>,
    /// The servers among them that plugins bring, each with the name and the root of its plugin.
    pub plugin_servers: BTreeMap<String, (String, PathBuf)>,
    /// The hooks before calls of trusted plugins that cannot be read.
    pub plugin_guards: Vec<BrokenGuard>,
    /// The settings of the command line, which a project does not override.
    pub flags: Layer,
    /// What the session is saved with; nothing without one.
    pub journal: Option<Journal>,
    /// What the session goes on with, when it is resumed.
    pub resumed: Option<Box<dyn ResumeSource>>,
    /// Its last events, to be shown while the rest is read; none of a short session.
    pub session_end: Vec<Envelope>,
    /// The session that is shown and not gone on with, and why: another program writes it.
    pub read_only: Option<(SessionId, String)>,
}

/// The reason why the program cannot start, in one sentence.
#[derive(Debug, thiserror::Error)]
pub(super) enum LoadError {
    /// A setting is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The configuration file has an error.
    #[error("{path}, {error}", path = .path.display())]
    File { path: PathBuf, error: FileError },
    /// A named file cannot be read.
    #[error("cannot read {path}: {error}", path = .path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    /// What stands behind `--system-prompt` cannot be read.
    #[error("cannot read {path}: {error}; --system-prompt takes the name of a file", path = .path.display())]
    SystemPrompt { path: PathBuf, error: io::Error },
    /// The command for a key is in a directory that the agent's commands can write to.
    #[error("api_key_command names {program}, which lies only where commands can change it; give its path")]
    KeyCommand { program: String },
    /// The command for the status line is in a directory that the agent's commands can write to.
    #[error("status.command names {program}, which lies only where commands can change it; give its path")]
    StatusCommand { program: String },
    /// What the command line sets for this run cannot be used.
    #[error("{0}")]
    Run(String),
    /// The working directory cannot be used.
    #[error("cannot work in {path}: {error}", path = .path.display())]
    Directory { path: PathBuf, error: io::Error },
}

/// Reads and interprets everything that the flags name or leave to defaults. `answerer` answers questions, unless
/// `--yes` is given, which no file and no environment can set; on the screen the user still answers what `--yes`
/// does not cover.
///
/// # Errors
/// [`LoadError`], one sentence for the user; the exit code is 2.
pub(super) fn load(flags: &Flags, front: FrontEnd, answerer: Answerer) -> Result<Start, LoadError> {
    let cwd = directory(flags.cwd.as_deref())?;
    let mut places = UserDirectories::find(&cwd);
    let default_file = places.config.as_ref().map(|config| config.join("config.toml"));
    let mut file = match (&flags.config, default_file) {
        (Some(path), _) if !flags.ignore_user_config => read_layer(path, &places, &flags.set)?,
        (None, Some(path)) if !flags.ignore_user_config && path.exists() => read_layer(&path, &places, &flags.set)?,
        (_, _) => layer_of(String::new(), Path::new("the command line"), &cwd, &places, &flags.set)?,
    };
    let mut left_out = Vec::new();
    let (of_project, of_user) = plugins::required_plugins(&places);
    places.notes.extend(of_project);
    left_out.extend(of_user.filter(|_| !flags.ignore_user_config));
    let mut of_claude = restrictions(&places, &cwd);
    if !flags.ignore_user_config {
        of_claude.extend(user_permissions(&places, &cwd));
    }
    for (named, permissions) in &of_claude {
        left_out.extend(permissions.left_out_line(named));
        file.mode = file.mode.or(permissions.mode);
    }
    let mut own_layer = flags.layer();
    if !flags.set.is_empty() {
        resolve_paths(&mut own_layer, &cwd, places.home.as_deref());
    }
    let mut config = Config::resolve(own_layer.clone(), &Environment::of_process(), file)?;
    places.notes.extend(run_settings::add_to(&mut config, flags).map_err(LoadError::Run)?);
    for (_, permissions) in of_claude {
        config.rules = config.rules.and(permissions.rules);
        if permissions.is_broken && !flags.without_broken_hooks {
            config.rules.ask.push("*".to_owned());
        }
        config.sandbox.readable.extend(permissions.directories);
        config.sandbox.variables.extend(permissions.variables);
        left_out.extend(permissions.model.and_then(|model| config.suggest_model(&model)));
    }
    let writable = writable(&cwd, &config);
    for key in config.keys_mut() {
        check_key_command(key, &writable)?;
    }
    if let Some(command) = &mut config.status_command {
        command.at_home(places.home.as_deref());
        command.keep_from(&writable).map_err(|program| LoadError::StatusCommand { program })?;
    }
    let system_prompt = config.system_prompt.as_deref().map(read_file).transpose().map_err(|error| match error {
        LoadError::Unreadable { path, error } if flags.system_prompt.is_some() => {
            LoadError::SystemPrompt { path, error }
        }
        error => error,
    })?;
    let answerer = match (flags.yes, front) {
        (false, _) => answerer,
        (true, FrontEnd::Screen) => Answerer::YesOrUser,
        (true, FrontEnd::Exec) => Answerer::Yes,
    };
    Ok(Start {
        config,
        cwd,
        system_prompt,
        appended_prompt: None,
        trust: None,
        max_rounds: None,
        only_tools: None,
        output_schema: None,
        agents: flags.agents.as_deref().map(agents).transpose().map_err(LoadError::Run)?.unwrap_or_default(),
        images: Vec::new(),
        answerer,
        front,
        places,
        left_out,
        user_hooks: !flags.ignore_user_config,
        project_hooks: Vec::new(),
        broken_hooks: if flags.without_broken_hooks { BrokenHooks::Ignored } else { BrokenHooks::StopCalls },
        project_servers: BTreeMap::new(),
        project_pins: BTreeMap::new(),
        plugin_servers: BTreeMap::new(),
        plugin_guards: Vec::new(),
        flags: own_layer,
        journal: None,
        resumed: None,
        session_end: Vec::new(),
        read_only: None,
    })
}

impl Start {
    /// Applies the settings of a trusted project. Flags have precedence over it, and it over the user's file.
    pub fn adopt(&mut self, offer: &ProjectOffer) {
        // The user's own servers keep their names.
        for (name, server) in &offer.servers {
            let mut own = name.clone();
            if let Some(plugin) = &offer.plugin {
                if self.config.servers.contains_key(name) || self.project_servers.contains_key(name) {
                    own = server_name(&format!("{plugin}-{name}"));
                }
                self.plugin_servers.insert(own.clone(), (plugin.clone(), offer.root.clone()));
            }
            self.project_servers.entry(own.clone()).or_insert_with(|| server.clone());
            if let Some(pins) = offer.pinned_files(name) {
                self.project_pins.insert(own, pins);
            }
        }
        if offer.plugin.is_some() {
            self.plugin_guards.extend(offer.broken_hooks.iter().cloned());
        }
        self.project_hooks.extend(offer.hooks.iter().cloned());
        for ProjectPermissions { allow, variables, .. } in &offer.permissions {
            self.config.rules.allow.extend(allow.iter().cloned());
            for (name, value) in variables {
                self.config.sandbox.variables.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        let Some(layer) = &offer.layer else { return };
        let rules = std::mem::take(&mut self.config.rules);
        self.config.rules = rules.and(layer.rules.clone());
        if let (None, Some(steps)) = (self.flags.max_steps, layer.max_steps) {
            self.config.max_steps = steps.get();
        }
        if let (None, Some(prompt)) = (&self.flags.system_prompt, &offer.system_prompt) {
            self.system_prompt = Some(prompt.clone());
        }
    }
}

/// Reads the permissions of the user's settings for Claude Code.
fn user_permissions(places: &UserDirectories, cwd: &Path) -> Option<(String, ClaudeSettings)> {
    let home = places.home.as_deref()?;
    let text = match read_own_text(&home.join(CLAUDE_SETTINGS), limits::HOOK_FILE_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        // As with a text that is no JSON, nobody knows what it denies.
        Err(error) => format!("\"deny\": {error}"),
    };
    let at = PermissionPlaces { home: Some(home), project: places.project.as_deref().unwrap_or(cwd), cwd };
    Some((format!("~/{CLAUDE_SETTINGS}"), ClaudeSettings::parse(&text, at)))
}

/// Returns the directories in which commands of the agent can write.
pub(super) fn writable(cwd: &Path, config: &Config) -> Vec<PathBuf> {
    std::iter::once(cwd.to_owned()).chain(config.sandbox.writable.iter().cloned()).collect()
}

/// Keeps a key command from what commands can write.
fn check_key_command(key: &mut KeyPlace, writable: &[PathBuf]) -> Result<(), LoadError> {
    let KeyPlace::Command(command) = key else { return Ok(()) };
    command.keep_from(writable).map_err(|program| LoadError::KeyCommand { program })
}

fn read_layer(path: &Path, places: &UserDirectories, set: &[Setting]) -> Result<Layer, LoadError> {
    let text = read_file(path)?;
    // What is wrong with the file is said by its lines.
    parse(&text).map_err(|error| LoadError::File { path: path.to_owned(), error })?;
    layer_of(text, path, path.parent().unwrap_or(Path::new("")), places, set)
}

/// Returns the layer of a file with what the command line adds to it.
fn layer_of(
    text: String,
    path: &Path,
    beside: &Path,
    places: &UserDirectories,
    set: &[Setting],
) -> Result<Layer, LoadError> {
    let text = Setting::added_to(set, text).map_err(LoadError::Run)?;
    let mut layer = parse(&text).map_err(|error| LoadError::File { path: path.to_owned(), error })?;
    resolve_paths(&mut layer, beside, places.home.as_deref());
    Ok(layer)
}

/// Lets the relative paths of a layer begin at a directory.
fn resolve_paths(layer: &mut Layer, beside: &Path, home: Option<&Path>) {
    if let Some(prompt) = &mut layer.system_prompt {
        *prompt = beside.join(&*prompt);
    }
    let profiles = layer.profile.iter_mut().flat_map(|profiles| profiles.values_mut());
    let key_files =
        profiles.map(|profile| &mut profile.api_key_file).chain([&mut layer.api_key_file, &mut layer.ca_file]);
    for path in key_files.flatten() {
        *path = from(beside, home, path);
    }
    if let Some(keys) = layer.screen.as_mut().and_then(|screen| screen.keys.as_mut()) {
        *keys = from(beside, home, keys);
    }
    for server in layer.mcp.iter_mut().flat_map(BTreeMap::values_mut) {
        for directory in server.directories_mut() {
            *directory = from(beside, home, directory);
        }
    }
    if let Some(sandbox) = &mut layer.sandbox {
        sandbox.each_directory(|directory| *directory = from(beside, home, directory));
    }
}

/// Resolves a path in a file: `~/` is the home, and a relative path starts at the file's directory.
fn from(beside: &Path, home: Option<&Path>, named: &Path) -> PathBuf {
    match (named.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        (Ok(_) | Err(_), _) => beside.join(named),
    }
}

fn read_file(path: &Path) -> Result<String, LoadError> {
    read_own_text(path, limits::OWN_FILE_BYTES).map_err(|error| LoadError::Unreadable { path: path.to_owned(), error })
}

fn directory(named: Option<&Path>) -> Result<PathBuf, LoadError> {
    let path = named.unwrap_or(Path::new("."));
    let fault = |error| LoadError::Directory { path: path.to_owned(), error };
    let absolute = path.canonicalize().map_err(fault)?;
    if !absolute.is_dir() {
        return Err(fault(io::ErrorKind::NotADirectory.into()));
    }
    Ok(absolute)
}
