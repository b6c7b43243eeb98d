//! `steersman mcp login` and `logout`: the login at a server, kept in a file of the user's alone.

use std::io::{self, Write as _};

use crate::program::cli::args::Flags;
use crate::program::cli::exit::{Exit, say};
use crate::program::cli::{signals, with_runtime};
use steersman_base::summary::count;
use steersman_extensions::mcp::login;

/// Logs in at a server that wants it.
pub(super) fn log_in(flags: &Flags, name: &str) -> Result<Exit, String> {
    let mut notes = Vec::new();
    let start = super::started(flags, &mut notes)?;
    with_runtime(async {
        let mut signals = signals()?;
        let servers = super::servers(&start, &mut notes).await?;
        for note in &notes {
            say(note);
        }
        let server = servers.get(name).ok_or_else(|| format!("there is no server {name}"))?;
        let instance = servers.main_instance(name)?;
        let work = async {
            let Err(why) = instance.discover().await else {
                say(&format!("the server {name} wants no login, or takes the one that there is"));
                return Exit::Done;
            };
            let Some(challenge) = server.login().challenge() else {
                say(&why);
                return Exit::Failed;
            };
            let http = &server.around().http;
            let made = login::log_in(server.definition(), server.login(), http, &challenge, |place| {
                say("open this address in a browser of this machine:");
                let _ = writeln!(io::stdout(), "{place}");
            });
            if let Err(why) = made.await {
                say(&why);
                return Exit::Failed;
            }
            match instance.discover().await {
                Ok(()) => say(&format!("logged in at {name}: {}", count(server.tools().len(), "tool"))),
                Err(why) => say(&format!("logged in, but {why}")),
            }
            Exit::Done
        };
        let exit = tokio::select! {
            biased;
            code = signals.end() => Exit::Signal(code),
            exit = work => exit,
        };
        servers.close();
        Ok(exit)
    })
}

/// Forgets the login at a server.
pub(super) fn log_out(flags: &Flags, name: &str) -> Result<Exit, String> {
    let mut notes = Vec::new();
    let start = super::started(flags, &mut notes)?;
    let servers = with_runtime(super::servers(&start, &mut notes))?;
    let server = servers.get(name).ok_or_else(|| format!("there is no server {name}"))?;
    let had_one = server.login().log_out().map_err(|error| format!("cannot remove the login: {error}"))?;
    say(&if had_one { format!("removed the login at {name}") } else { format!("there is no login at {name}") });
    Ok(Exit::Done)
}
