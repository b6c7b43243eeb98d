//! The user's own shell lines: `!command` in the message.
//!
//! Started by a request of a client and by nothing else: no text of a model, a tool or a server comes here. Each runs at
//! once, outside of the sandbox as in a shell, in the session's directory, with the environment of commands (no key of a
//! model's server is in it), under a guard that ends it with everything that it started. Its output goes to the agent as a
//! text of the user, which waits in the queue like any other and can be withdrawn there.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use tokio::runtime::Handle as Runtime;

use super::instructions;
use crate::model::{SHELL_NOTE, SHELL_NOTE_ENDED};
use steersman_base::event::{JobEnd, UserText};
use steersman_base::id::{AgentId, ClientId, JobId};
use steersman_base::limits;
use steersman_base::protocol::ShellOutput;
use steersman_base::steering::TextKind;
use steersman_base::text::is_blank;
use steersman_core::control::AgentControls;
use steersman_core::tool::Outputs;
use steersman_tools::workspace::{Confinement, Job, Spawner};
use steersman_tools::{Jobs, UserLine};

/// Starts the shell lines of the user.
pub struct Shell {
    /// Starts programs.
    pub(super) spawner: Arc<Spawner>,
    /// Where long output goes whole, while the session lasts: it goes away with that.
    pub(super) outputs: Option<Weak<Outputs>>,
    /// The session's directory.
    pub(super) directory: PathBuf,
    /// The root of the project that it lies in, else the same.
    pub(super) project: PathBuf,
    /// The commands in the background, among which it is.
    pub(super) jobs: Arc<Jobs>,
    /// The agents that may get its output.
    pub(super) agent_controls: Arc<AgentControls>,
    pub(super) runtime: Runtime,
}

impl Shell {
    /// Adds a line to the end of `AGENTS.md` at the root of the project, or in the session's directory where there is none.
    ///
    /// # Errors
    /// One sentence; the file is as it was.
    pub fn add_instruction(&self, line: &str) -> Result<(), String> {
        instructions::add_line(&self.project, line)
    }

    /// Runs a line.
    ///
    /// # Errors
    /// One sentence; nothing runs then.
    pub fn run(
        &self,
        to: &AgentId,
        line: &str,
        output: ShellOutput,
        sender: Option<ClientId>,
    ) -> Result<JobId, String> {
        if is_blank(line) {
            return Err("nothing stands behind the !".to_owned());
        }
        if line.contains('\0') || line.len() > limits::COMMAND_LENGTH {
            let most = limits::COMMAND_LENGTH / 1024;
            return Err(format!("a shell takes no NUL character, and no more than {most} KiB"));
        }
        self.jobs.check_room()?;
        let main = AgentId::main();
        let to = if self.agent_controls.get(to).is_some() { to } else { &main };
        let variables = self.spawner.environment().variables().iter();
        let shell = variables.into_iter().find(|(name, _)| name == "SHELL").map(|(_, shell)| shell.clone());
        let shell =
            shell.filter(|shell| PathBuf::from(shell).is_absolute()).unwrap_or_else(|| OsString::from("/bin/sh"));
        let job = Job {
            argv: vec![shell, "-c".into(), line.into()],
            cwd: self.directory.clone(),
            environment: Vec::new(),
            confinement: Confinement::default(),
        };
        let _entered = self.runtime.enter();
        let running =
            self.spawner.start_unconfined(&job).map_err(|error| format!("cannot start the shell: {error}"))?;
        let outputs = self.outputs.as_ref().and_then(Weak::upgrade);
        let new = UserLine { agent: to.clone(), line: line.to_owned(), running, outputs };
        let (id, end) = self.jobs.start_line(new);
        if output == ShellOutput::Deliver {
            let (agent_controls, line) = (Arc::downgrade(&self.agent_controls), line.to_owned());
            let (to, id) = (to.clone(), id.clone());
            self.runtime.spawn(async move {
                let end = end.await;
                deliver(&agent_controls, &to, &delivered(&id, &line, &end), sender.as_ref());
            });
        }
        Ok(id)
    }
}

/// Puts the output into the queue of the agent, or of the main agent where that one has ended.
fn deliver(agent_controls: &Weak<AgentControls>, to: &AgentId, text: &str, sender: Option<&ClientId>) {
    let Some(agent_controls) = agent_controls.upgrade() else { return };
    // A note: it goes with the next text, and starts no turn.
    let message = || UserText { sender: sender.cloned(), ..UserText::from((text, TextKind::Note)) };
    let controls = agent_controls.get(to).unwrap_or_else(|| agent_controls.main());
    if controls.interloper.inject_user_message(message()).is_err() {
        let _ = agent_controls.main().interloper.inject_user_message(message());
    }
}

/// Returns what the agent gets: the line, how it ended, and its output, in a frame that the output cannot end.
fn delivered(id: &JobId, line: &str, end: &JobEnd) -> String {
    let output = if end.output.is_empty() { "[no output]" } else { end.output.trim_end_matches('\n') };
    let mut tag = format!("shell-{id}");
    while output.contains(&tag) || line.contains(&tag) {
        tag.push('x');
    }
    format!("{SHELL_NOTE}{line}{SHELL_NOTE_ENDED}{}\n<{tag}>\n{output}\n</{tag}>", end.describe())
}
