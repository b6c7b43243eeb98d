//! Which session a command is for, and the connection to it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::program::cli::args::Flags;
use crate::program::cli::places::UserDirectories;
use crate::program::cli::running::args::SessionArg;
use steersman_base::protocol::SessionStatus;
use steersman_session::journal::{SessionFile, SessionFiles};
use steersman_session::socket::{Caller, Sockets, Updates, Welcome, name_of};

/// A session that runs and was asked how it stands.
pub(super) struct RunningSession {
    pub status: SessionStatus,
    pub path: PathBuf,
}

/// Returns the user's directories, and the directory that the command works in.
fn places(flags: &Flags) -> Result<(UserDirectories, String), String> {
    let cwd = flags.cwd.clone().map_or_else(std::env::current_dir, Ok);
    let cwd = cwd.and_then(|cwd| cwd.canonicalize()).map_err(|error| format!("there is no such directory: {error}"))?;
    Ok((UserDirectories::find(&cwd), cwd.display().to_string()))
}

/// Returns the sessions that run, the oldest first.
pub(super) fn running(flags: &Flags) -> Result<Vec<RunningSession>, String> {
    // One directory can have links to the sockets of another.
    let mut paths = BTreeSet::new();
    for directory in places(flags)?.0.sockets {
        let listed = Sockets::within(directory).list();
        paths.extend(listed.map_err(|error| format!("cannot list the running sessions: {error}"))?);
    }
    let mut found = Vec::new();
    for path in paths {
        // Nobody listens where a program was killed.
        let status = Caller::connect(&path).ok().and_then(|mut caller| caller.status().ok());
        found.extend(status.map(|status| RunningSession { status, path }));
    }
    found.sort_by(|one, other| one.status.session.cmp(&other.status.session));
    Ok(found)
}

/// Connects to the session that is meant.
pub(super) fn connect(
    flags: &Flags,
    which: &SessionArg,
    name: &str,
    updates: Updates,
) -> Result<(Caller, Welcome), String> {
    let path = choose(flags, which)?;
    let session = name_of(&path).unwrap_or_default().to_owned();
    let mut caller = Caller::connect(&path).map_err(|error| format!("session {session}: {error}"))?;
    let welcome = caller.hello(name, updates).map_err(|error| error.to_string())?;
    Ok((caller, welcome))
}

/// Returns the sentence that a session does not run, and what can be done where it is saved.
fn not_running(flags: &Flags, id: &str) -> Result<String, String> {
    let saved = places(flags)?.0.state.and_then(|state| SessionFiles::within(&state).find(id).ok());
    Ok(match saved {
        Some(SessionFile { session, .. }) => {
            format!("session {session} does not run; to go on with it: steersman --resume {session}")
        }
        None => format!("no session {id:?} runs; `steersman status` lists those that do"),
    })
}

/// Returns the session that runs under this ID, or under one that begins so.
pub(super) fn named(flags: &Flags, id: &str) -> Result<RunningSession, String> {
    let mut all = running(flags)?;
    all.retain(|found| !id.is_empty() && found.status.session.starts_with(id));
    match (all.pop(), all.len()) {
        (None, _) => Err(not_running(flags, id)?),
        (Some(one), 0) => Ok(one),
        (Some(_), more) => Err(format!("{id:?} is the beginning of {} sessions; write more of it", more + 1)),
    }
}

fn choose(flags: &Flags, which: &SessionArg) -> Result<PathBuf, String> {
    if let Some(id) = &which.session {
        return named(flags, id).map(|found| found.path);
    }
    let all = running(flags)?;
    let (_, cwd) = places(flags)?;
    let here: Vec<&RunningSession> = all.iter().filter(|found| found.status.directory == cwd).collect();
    match (all.as_slice(), here.as_slice()) {
        ([], _) => Err("no session runs".to_owned()),
        ([one], _) => Ok(one.path.clone()),
        (_, [one]) => Ok(one.path.clone()),
        (all, _) => Err(format!("{} sessions run: name one by its ID; `steersman status` lists them", all.len())),
    }
}
