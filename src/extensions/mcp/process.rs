//! The process of a server: what it runs, where, and what it reaches in the sandbox. Started by `transport::stdio`.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretString};

use crate::mcp::definition::{PinnedFiles, ProcessDefinition};
use crate::mcp::transport::ServerJob;
use steersman_base::paths::without_dots;
use steersman_base::text::visible_line;
use steersman_tools::workspace::{Job, NamedFiles, Network, PrivateCopy, SiblingFiles, Spawner, replace_parts};

/// The variables that name a place for what programs load from elsewhere, with that place in the directory for it.
const CACHES: [(&str, &str); 3] = [("XDG_CACHE_HOME", ""), ("npm_config_cache", "npm"), ("UV_TOOL_DIR", "uv-tools")];

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
    // Python loads nothing that lies in the workspace only because the server runs there.
    let mut environment = vec![("PYTHONSAFEPATH".into(), "1".into())];
    let mut confinement = spawner.reach(workspace);
    let beside = spawner.beside(process.placement, process.network);
    let checked = process.pinned.as_ref().map(|pinned| checked(pinned, beside)).transpose()?;
    let (named, copy) = checked.unwrap_or_default();
    confinement.readable.extend(process.readable.iter().cloned());
    confinement.writable.extend(process.writable.iter().cloned());
    if process.network == Network::On {
        confinement.network = Network::On;
    }
    if let Some(cache) = process.cache.as_ref().filter(|_| spawner.sandbox().name().is_some()) {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(cache);
        made.map_err(|error| format!("its directory {} cannot be made: {error}", cache.display()))?;
        environment.extend(CACHES.map(|(name, place)| (name.into(), cache.join(place).into())));
        confinement.writable.push(cache.clone());
        // What it loads brings names of the table along, and nobody else looks there.
        confinement.unprotected.push(cache.clone());
    }
    let variable = |(name, value): &(String, SecretString)| (name.into(), value.expose_secret().into());
    environment.extend(process.environment.iter().map(variable));
    confinement.readable.extend(copy.as_ref().map(|copy| copy.directory().to_owned()));
    let base = process.pinned.as_ref().map_or(directory, |pinned| &pinned.directory);
    let place = |part: &str| {
        let path = Some(base.join(part)).filter(|path| named.names(path))?;
        copy.as_ref()?.copy_of(&path).map(|copy| copy.to_string_lossy().into_owned())
    };
    let words = std::iter::once(&process.command).chain(&process.args);
    let argv = words.map(|word| replace_parts(word, place).into()).collect();
    let cwd = match &process.pinned {
        Some(pinned) => working_directory(pinned, directory, &named, copy.as_ref())?,
        None => directory.to_owned(),
    };
    let job = Job { argv, cwd, environment, confinement };
    Ok(ServerJob { job, placement: process.placement, workspace: workspace.to_owned(), copy: copy.map(Arc::new) })
}

/// Returns where a server works: in the copy of a directory that was compared, so that it loads nothing else from there.
///
/// # Errors
/// One sentence: the directory was compared, and has no copy.
fn working_directory(
    pinned: &PinnedFiles,
    directory: &Path,
    named: &NamedFiles,
    copy: Option<&PrivateCopy>,
) -> Result<PathBuf, String> {
    if !named.compares(directory, &pinned.root) {
        return Ok(directory.to_owned());
    }
    let copied = copy.and_then(|copy| copy.copy_of(&without_dots(directory)));
    copied.map(Path::to_owned).ok_or_else(|| {
        let shown = visible_line(&directory.to_string_lossy()).into_owned();
        format!("its directory {shown} holds no file: what it would load there cannot be compared")
    })
}

/// Reads the files that the user trusts, and copies them to where agents cannot write, so that these run.
///
/// # Errors
/// One sentence: one of them is not what the user trusts.
fn checked(pinned: &PinnedFiles, beside: SiblingFiles) -> Result<(NamedFiles, Option<PrivateCopy>), String> {
    let PinnedFiles { root, directory, words, files: trusted, uncompared } = pinned;
    let now = NamedFiles::find(words.iter().map(String::as_str), directory, root)?;
    // One that was made too large meanwhile, by whoever writes there.
    if let Some((directory, why)) = now.newly_uncompared(uncompared) {
        let shown = visible_line(&directory.to_string_lossy()).into_owned();
        return Err(format!(
            "its directory {shown} cannot be compared with what you trusted any more: {why}; the next start of this \
             program asks about it"
        ));
    }
    let pins = now.pins();
    let differs = |path: &&PathBuf| pins.get(*path) != trusted.get(*path);
    if let Some(changed) = pins.keys().chain(trusted.keys()).find(differs) {
        let shown = visible_line(&changed.to_string_lossy()).into_owned();
        return Err(format!(
            "its file {shown} has changed since you trusted it; the next start of this program asks about it"
        ));
    }
    let copy = PrivateCopy::new(&now.files, &[root], beside)
        .map_err(|error| format!("its files cannot be copied: {error}"))?;
    Ok((now, copy))
}
