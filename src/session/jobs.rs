//! What clients ask about commands: one of the user's own is run, one stops, one goes on in the background.

use crate::host::Handle;
use crate::id::{AgentId, CallId, ClientId, JobId};
use crate::protocol::{Accepted, Reply, ShellOutput};

/// Runs a shell line of the user.
pub(super) fn run_line(
    handle: &Handle,
    to: &AgentId,
    line: String,
    output: ShellOutput,
    sender: Option<ClientId>,
) -> Reply {
    let started = handle.shell().map(|shell| shell.run(to, &line, output, sender));
    let outcome = started.unwrap_or_else(|| Err("the session has not started yet".to_owned()));
    Reply::ShellLine { line, outcome }
}

pub(super) fn stop(handle: &Handle, job: JobId) -> Reply {
    let accepted = Accepted::from(handle.jobs().stop(&job));
    Reply::JobStopped { job, accepted }
}

/// Lets a running command go on in the background.
pub(super) fn to_background(handle: &Handle, agent: &AgentId, call: CallId) -> Reply {
    let outcome = handle.jobs().to_background(agent, &call);
    Reply::Background { call, outcome }
}
