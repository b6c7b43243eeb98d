//! The process of a server: what it runs, where, and what it reaches in the sandbox. Started by `transport::stdio`.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};

use crate::limits;
use crate::mcp::definition::ProcessDefinition;
use crate::mcp::transport::ServerJob;
use crate::regular_file::{self, Links};
use crate::text::{hex, visible_line};
use crate::workspace::{Job, Network, Spawner};

/// The variables that name a place for what programs load from elsewhere.
const CACHES: [&str; 2] = ["XDG_CACHE_HOME", "npm_config_cache"];

/// Makes the process of a server that runs in `directory`, for agents that work in `workspace`.
///
/// # Errors
/// One sentence: a script of it is not what the user trusts.
pub(super) fn server_job(
    process: &ProcessDefinition,
    directory: &Path,
    workspace: &Path,
    spawner: &Spawner,
) -> Result<ServerJob, String> {
    for (path, hash) in &process.pinned {
        check(path, hash)?;
    }
    // Python loads nothing that lies in the workspace only because the server runs there.
    let mut environment = vec![("PYTHONSAFEPATH".into(), "1".into())];
    let mut confinement = spawner.reach(workspace);
    confinement.readable.extend(process.readable.iter().cloned());
    confinement.writable.extend(process.writable.iter().cloned());
    if process.network == Network::On {
        confinement.network = Network::On;
    }
    if let Some(cache) = process.cache.as_ref().filter(|_| spawner.sandbox().name().is_some()) {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(cache);
        made.map_err(|error| format!("its directory {} cannot be made: {error}", cache.display()))?;
        environment.extend(CACHES.map(|name| (name.into(), cache.into())));
        confinement.writable.push(cache.clone());
    }
    let variable = |(name, value): &(String, SecretString)| (name.into(), value.expose_secret().into());
    environment.extend(process.environment.iter().map(variable));
    let words = std::iter::once(&process.command).chain(&process.args);
    let job = Job { argv: words.map(Into::into).collect(), cwd: directory.to_owned(), environment, confinement };
    Ok(ServerJob { job, placement: process.placement, workspace: workspace.to_owned() })
}

/// Compares a script with what the user has seen.
fn check(path: &Path, hash: &str) -> Result<(), String> {
    let shown = visible_line(&path.to_string_lossy()).into_owned();
    let read = regular_file::open(path, Links::Followed)
        .and_then(|(file, metadata)| regular_file::read_whole(file, metadata.len(), limits::HOOK_SCRIPT_BYTES));
    let content = read.map_err(|error| format!("its script {shown} cannot be compared: {error}"))?;
    if hex(&Sha256::digest(&content)) == hash {
        return Ok(());
    }
    Err(format!("its script {shown} has changed since you trusted it; the next start of this program asks about it"))
}
