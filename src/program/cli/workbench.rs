//! Makes the parts that tools need from the configuration: the spawner with its sandbox and environment, and the web.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use secrecy::SecretString;

use crate::program::cli::left_files;
use crate::program::cli::load::writable;
use crate::program::cli::places::UserDirectories;
use crate::program::config::{Config, SandboxKind, WebSettings};
use steersman_core::provider::ApiKey;
use steersman_session::host::{StartError, WebPool, Workbench};
use steersman_session::socket::Sockets;
use steersman_tools::web;
use steersman_tools::workspace::denied_files::DeniedFiles;
use steersman_tools::workspace::sandbox::{SandboxChoice, Surroundings};
use steersman_tools::workspace::{
    ChildEnvironment, Confinement, Network, OwnProgram, Sandbox, Spawner, denied_files, denied_programs,
};

/// Finds the sandbox of this machine, and makes the spawner.
///
/// # Errors
/// [`StartError`] when the configured sandbox does not work here.
pub(super) async fn workbench(
    config: &Config,
    places: &UserDirectories,
    cwd: &Path,
    notes: &mut Vec<String>,
) -> Result<Workbench, StartError> {
    if let Some(state) = &places.state {
        left_files::remove(state);
    }
    let settings = &config.sandbox;
    let (wanted, around) = wanted_sandbox(config, places, cwd)?;
    let sandbox =
        Sandbox::detect(wanted, &around).await.map_err(|error| StartError::Configuration(error.to_string()))?;
    if let (SandboxKind::Auto, Some(why)) = (settings.kind, sandbox.why_none()) {
        notes.push(format!("commands are not sandboxed ({why})"));
    }
    notes.extend(places.within(&around.writable));
    if let (Some(_), Some(why)) = (sandbox.name(), sandbox.why_names_are_open()) {
        notes.push(format!(
            "each command that may write is asked about: the sandbox cannot keep it from what git and others run later ({why})"
        ));
    }
    let set = |name: &OsString| name.to_str().is_some_and(|name| settings.variables.contains_key(name));
    let set_here = settings.variables.iter().map(|(name, value)| (name.into(), value.into()));
    let variables = std::env::vars_os().filter(|(name, _)| !set(name)).chain(set_here);
    let passed: Vec<String> = settings.pass_env.iter().chain(settings.variables.keys()).cloned().collect();
    let environment = ChildEnvironment::new(variables, &passed, &settings.key_variables);
    let rules = config.rules.parse().map_err(|error| StartError::Configuration(error.to_string()))?;
    let mut denied = if rules.is_empty() {
        Vec::new()
    } else {
        denied_programs::find(|path| rules.denies_program(path), &around.path, &around.writable)
    };
    let seen: Vec<PathBuf> = around.writable.iter().chain(&settings.readable).cloned().collect();
    let hidden = rules.unreadable(Some(cwd));
    let DeniedFiles { mut paths, is_cut } = denied_files::find(&hidden, &seen);
    denied.append(&mut paths);
    if is_cut {
        notes.push(
            "commands may read files that your rules deny: there are too many files to find each of them".to_owned(),
        );
    }
    let confinement = Confinement {
        readable: settings.readable.clone(),
        writable: settings.writable.clone(),
        network: if settings.network { Network::On } else { Network::Off },
        ..Confinement::default()
    };
    Ok(Workbench {
        spawner: Arc::new(
            Spawner::new(around.program, sandbox, environment)
                .with_writable(around.writable)
                .with_reach(confinement.clone()),
        ),
        // What the user's rules deny is denied to commands.
        confinement: Confinement { denied, hidden, ..confinement },
        added: config.sandbox.added.clone(),
        web: web(&config.web, places),
        web_pool: if config.web.on_main_agent { WebPool::Main } else { WebPool::SubAgents },
    })
}

/// Returns the configured sandbox, and the facts of the machine that it needs.
///
/// # Errors
/// [`StartError`] when the program does not find its own file.
pub(super) fn wanted_sandbox(
    config: &Config,
    places: &UserDirectories,
    cwd: &Path,
) -> Result<(SandboxChoice, Surroundings), StartError> {
    let program = OwnProgram::of_process()
        .map_err(|error| StartError::Failed(format!("the program does not find its own file: {error}")))?;
    let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin"));
    let around = Surroundings {
        program,
        home: places.home.clone(),
        path,
        writable: writable(cwd, config),
        protected: places.protected(),
        hidden: places.sockets.iter().cloned().map(Sockets::within).flat_map(|sockets| sockets.directories()).collect(),
    };
    let wanted = match config.sandbox.kind {
        SandboxKind::Auto => SandboxChoice::Auto,
        SandboxKind::Namespaces => SandboxChoice::Namespaces,
        SandboxKind::Bubblewrap => SandboxChoice::Bubblewrap,
        SandboxKind::Landlock => SandboxChoice::Landlock,
        SandboxKind::Off => SandboxChoice::Off,
    };
    Ok((wanted, around))
}

fn web(settings: &WebSettings, places: &UserDirectories) -> web::WebOptions {
    let key = |key: &Option<ApiKey>| key.as_ref().map(|key| SecretString::from(key.expose()));
    web::WebOptions {
        allowed_hosts: settings.allow_hosts.clone(),
        searxng_url: settings.searxng_url.clone(),
        brave_key: key(&settings.brave_key),
        exa_key: key(&settings.exa_key),
        cache_dir: places.cache.clone(),
        ..web::WebOptions::default()
    }
}
