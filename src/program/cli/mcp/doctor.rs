//! `steersman mcp doctor`: starts each server, asks what it offers, and ends it.

use futures_util::future::join_all;

use crate::program::cli::args::Flags;
use crate::program::cli::exit::{Exit, print, say};
use crate::program::cli::{signals, with_runtime};

/// Checks the servers of these names, or all.
pub(super) fn run(flags: &Flags, names: &[String]) -> Result<Exit, String> {
    let mut notes = Vec::new();
    let start = super::started(flags, &mut notes)?;
    with_runtime(async {
        let mut signals = signals()?;
        let servers = super::servers(&start, &mut notes).await?;
        if let Some(unknown) = names.iter().find(|name| servers.get(name).is_none()) {
            return Err(format!("there is no server {unknown}"));
        }
        let has_faults = !notes.is_empty();
        for note in &notes {
            say(note);
        }
        let wanted = servers.all().iter().map(|server| server.definition().name.clone());
        let wanted: Vec<String> = wanted.filter(|name| names.is_empty() || names.contains(name)).collect();
        let checks = wanted.iter().map(|name| {
            let servers = &servers;
            async move {
                let outcome = match servers.main_instance(name) {
                    Ok(instance) => instance.discover().await,
                    Err(why) => Err(why),
                };
                let status = servers.status().into_iter().find(|server| server.name == *name);
                let text = status.iter().map(super::list::lines).collect::<String>();
                print(&text);
                outcome.is_ok()
            }
        });
        let fine = tokio::select! {
            biased;
            code = signals.end() => return Ok(Exit::Signal(code)),
            fine = join_all(checks) => fine,
        };
        servers.close();
        if wanted.is_empty() {
            say("no MCP server is configured; steersman help mcp says how");
        }
        Ok(if fine.iter().all(|fine| *fine) && !has_faults { Exit::Done } else { Exit::Failed })
    })
}
