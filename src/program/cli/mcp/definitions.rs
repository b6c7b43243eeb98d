//! The MCP servers of a start: those of the user's configuration, and those of a trusted project behind them.

use std::path::{Component, Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::program::cli::load::Start;
use crate::program::config::{Environment, ServerSection};
use steersman_base::text::{hex, visible_line};
use steersman_extensions::mcp::definition::{Reached, ServerDefinition};
use steersman_extensions::mcp::store::Store;
use steersman_session::host::ServerSetup;

/// Bytes below which the value of a variable is too short to be a secret that could be hidden anywhere.
const SHORT: usize = 8;

/// The source of a server that a project brings.
const PROJECT: &str = "project";

/// Files at the top of a package, or of an environment of Python.
const PACKAGES: [&str; 4] = ["package.json", "pyproject.toml", "pyvenv.cfg", ".git"];

/// Makes the setup of servers; sentences about those that cannot be used go to `notes`.
pub fn setup(start: &Start, notes: &mut Vec<String>) -> ServerSetup {
    ServerSetup {
        definitions: definitions(start, notes),
        store: start.places.state.as_deref().map(Store::at).unwrap_or_default(),
        http: start.config.http(),
        window_percent: start.config.mcp_window_percent,
    }
}

/// Makes the definitions of the servers that are switched on.
pub(super) fn definitions(start: &Start, notes: &mut Vec<String>) -> Vec<ServerDefinition> {
    let environment = Environment::of_process();
    let project = start.places.project.as_deref().unwrap_or(&start.cwd);
    let own =
        start.config.servers.iter().map(|(name, server)| (name, server, "config.toml".to_owned(), start.cwd.as_path()));
    let of_project = start.project_servers.iter().filter_map(|(name, server)| {
        if start.config.servers.contains_key(name) {
            notes.push(format!("the MCP server {name} of the project is not used: one of yours has its name"));
            return None;
        }
        let source =
            start.plugin_servers.get(name).map_or(PROJECT.to_owned(), |(plugin, _)| format!("plugin {plugin}"));
        Some((name, server, source, project))
    });
    let all: Vec<(&String, &ServerSection, String, &Path)> = own.chain(of_project).collect();
    let mut definitions = Vec::new();
    for (name, server, source, beside) in all.into_iter().filter(|(_, server, ..)| server.is_enabled()) {
        match server.definition(name, &source, &environment, beside) {
            Ok(definition) => definitions.push(placed(definition, start)),
            Err(why) => notes.push(format!("the MCP server {} is not used: {why}", visible_line(name))),
        }
    }
    definitions
}

/// Adds what a process needs in the sandbox beside what its section names: a directory for what it loads from elsewhere, and
/// of a server of the user's the programs and directories that its command line names.
fn placed(mut definition: ServerDefinition, start: &Start) -> ServerDefinition {
    let Reached::Process(process) = &mut definition.reached else { return definition };
    let plugin = start.plugin_servers.get(&definition.name).filter(|_| definition.source.starts_with("plugin "));
    let origin = match plugin {
        Some((_, root)) => Some(root.as_path()),
        None if definition.source == PROJECT => Some(start.places.project.as_deref().unwrap_or(&start.cwd)),
        None => None,
    };
    process.cache = start.places.cache.as_ref().map(|cache| cache.join("mcp").join(cache_of(&definition.name, origin)));
    if origin.is_some() {
        process.readable.extend(plugin.map(|(_, root)| root.clone()));
        process.pinned = start.project_pins.get(&definition.name).cloned();
    } else {
        // The directories that a path with `..` passes through are not in the sandbox.
        for word in std::iter::once(&mut process.command).chain(&mut process.args) {
            let path = Path::new(&*word);
            let goes_up = path.components().any(|step| step == Component::ParentDir);
            if let Some(real) = path.canonicalize().ok().filter(|_| goes_up && path.is_absolute()) {
                *word = real.to_string_lossy().into_owned();
            }
        }
        let words = std::iter::once(&process.command).chain(&process.args).map(Path::new);
        let named = words.filter(|word| word.is_absolute() && word.exists());
        process.readable.extend(named.map(|path| directory_of(path, start.places.home.as_deref())));
    }
    definition
}

/// Returns the name of the directory for what a server loads: one of a project or a plugin shares none, since what one of them
/// left there another would run.
fn cache_of(name: &str, origin: Option<&Path>) -> String {
    let digest = |origin: &Path| hex(&Sha256::digest(origin.as_os_str().as_encoded_bytes()));
    origin.map_or_else(|| name.to_owned(), |origin| format!("{name}-{:.16}", digest(origin)))
}

/// Returns what a program sees of the place that its command line names: of a file the package that it belongs to.
fn directory_of(path: &Path, home: Option<&Path>) -> PathBuf {
    let is_broad = |at: &Path| at.parent().is_none() || home.is_some_and(|home| home.starts_with(at));
    if path.is_dir() {
        return path.to_owned();
    }
    let above = path.ancestors().skip(1).take(5).take_while(|at| !is_broad(at));
    let mut packages = above.filter(|at| PACKAGES.iter().any(|name| at.join(name).exists()));
    packages.next().unwrap_or(path).to_owned()
}

/// Returns the secrets of a server that must not enter a record: one so short would hide half of every text.
pub fn hidden(server: &ServerDefinition) -> impl Iterator<Item = &str> {
    server.secrets().filter(|secret| secret.len() >= SHORT)
}
