//! `steersman sessions`: the sessions that are saved, and their removal.

use std::io;

use crate::program::cli::args::{Flags, SessionsArgs, SessionsCommand};
use crate::program::cli::exit::{Exit, json, print_outcome, say};
use crate::program::cli::places::UserDirectories;
use steersman_base::price::dollars;
use steersman_base::summary;
use steersman_base::text::visible_line;
use steersman_session::journal::{Outline, SessionFiles};

/// Most characters of a title in the list.
const TITLE: usize = 60;

/// Prints the list, or removes what is asked for.
pub(super) fn run(flags: &Flags, args: &SessionsArgs) -> Exit {
    let done = files(flags).and_then(|files| match &args.command {
        None => list(&files, args),
        Some(SessionsCommand::Rm { id }) => remove(&files, id),
        Some(SessionsCommand::Prune { older, above }) => prune(&files, *older, *above),
    });
    print_outcome(done, Exit::Failed)
}

pub(super) fn files(flags: &Flags) -> Result<SessionFiles, String> {
    let cwd = flags.cwd.clone().map_or_else(std::env::current_dir, Ok);
    let cwd = cwd.and_then(|cwd| cwd.canonicalize()).map_err(|error| format!("there is no such directory: {error}"))?;
    let state = UserDirectories::find(&cwd).state.ok_or("there is no directory for sessions: HOME is not set")?;
    Ok(SessionFiles::within(&state))
}

fn list(files: &SessionFiles, args: &SessionsArgs) -> Result<String, String> {
    let found = files.outlines().map_err(|error| format!("cannot list the sessions: {error}"))?;
    let mut outlines = Vec::new();
    for (file, outline) in found {
        match outline {
            Ok(outline) => outlines.extend(Some(outline).filter(Outline::is_listed)),
            Err(error) => say(&format!("{}: {error}", visible_line(&file.path.to_string_lossy()))),
        }
    }
    if args.json {
        return json(&outlines);
    }
    if outlines.is_empty() {
        return Ok("No session is saved.\n".to_owned());
    }
    Ok(outlines.iter().map(entry).collect::<Vec<_>>().join("\n"))
}

/// Returns the lines about one session.
fn entry(outline: &Outline) -> String {
    let Outline {
        id,
        title,
        directory,
        branch,
        model,
        started,
        turns,
        agents,
        tokens,
        cost_nanos,
        state,
        parent,
        imported,
        ..
    } = outline;
    let title = visible_line(title.lines().next().unwrap_or_default()).into_owned();
    let title = match title.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", title.get(..end).unwrap_or_default()),
        None => title,
    };
    let branch = branch.as_ref().map(|branch| format!(" ({branch})")).unwrap_or_default();
    let when = started.map(|at| at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string());
    let mut facts =
        vec![state.name().to_owned(), summary::count(usize::try_from(*turns).unwrap_or(usize::MAX), "turn")];
    if *agents > 0 {
        facts.push(summary::count(usize::try_from(*agents).unwrap_or(usize::MAX), "sub-agent"));
    }
    facts.push(format!("{} tokens", summary::tokens(*tokens)));
    facts.extend(cost_nanos.map(dollars));
    facts.extend(imported.as_ref().map(|origin| format!("imported from {}", visible_line(&origin.program))));
    facts.extend(parent.as_ref().map(|parent| format!("branch of {parent}")));
    facts.extend(model.as_ref().map(|model| visible_line(model).into_owned()));
    let place = visible_line(&format!("{directory}{branch}")).into_owned();
    let damage = outline.damage.as_ref().map(|damage| format!("  {damage}\n")).unwrap_or_default();
    format!("{id}  {}  {title}\n  {place}\n  {}\n{damage}", when.unwrap_or_default(), facts.join(", "))
}

fn remove(files: &SessionFiles, id: &str) -> Result<String, String> {
    let file = files.find(id)?;
    match file.remove() {
        Ok(()) => Ok(format!("removed session {}\n", file.session)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            Err(format!("{}; end that first", file.written_elsewhere()))
        }
        Err(error) => Err(format!("cannot remove session {}: {error}", file.session)),
    }
}

fn prune(files: &SessionFiles, older: Option<u32>, above: Option<u64>) -> Result<String, String> {
    let unlisted = |error: io::Error| format!("cannot list the sessions: {error}");
    let mut removed = match older {
        Some(days) => files.prune(days).map_err(unlisted)?,
        None => 0,
    };
    if let Some(bytes) = above {
        removed += files.prune_above(bytes).map_err(unlisted)?;
    }
    Ok(format!("removed {}\n", summary::count(removed, "session")))
}
