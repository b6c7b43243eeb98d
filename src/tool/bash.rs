//! The tool `bash`: a command in the workspace (spec 2.14, faults R1, R2, R5).
//!
//! It asks first, runs exactly what was approved through the spawner, and ends within two seconds of a time-out or a
//! cancel with everything dead that the command started. However much is printed, what it holds is bounded.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::time::{Instant, MissedTickBehavior};

use crate::approval::{CommandAct, PlainAnswer};
use crate::control::Cancellable;
use crate::details::{CommandEnd, Details, TouchedFiles};
use crate::error::Cancelled;
use crate::limits;
use crate::text::is_blank;
use crate::tool::capture::{Capture, Captured};
use crate::tool::live::{LIVE_STEP, Live};
use crate::tool::outputs::Outputs;
use crate::tool::{Args, OnCancel, Parameters, Tool, ToolContext, ToolError, ToolSpec, Traits};
use crate::workspace::snapshot::{Ask, Command, Decision, Question};
use crate::workspace::{
    ChangeMark, Confinement, Ended, Failure, Job, Network, Running, Sandbox, Spawner, Workspace, signal_name,
};

/// Bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// Runs commands in a workspace.
pub struct BashTool {
    workspace: Arc<Workspace>,
    spawner: Arc<Spawner>,
    outputs: Arc<Outputs>,
    confinement: Confinement,
    spec: ToolSpec,
}

impl BashTool {
    /// Makes the tool. `confinement` is what commands may reach besides the workspace, which they may change, and the
    /// outputs, which they may read.
    pub fn new(
        workspace: Arc<Workspace>,
        spawner: Arc<Spawner>,
        outputs: Arc<Outputs>,
        confinement: Confinement,
    ) -> Self {
        let parameters = Parameters::build(|p| {
            p.required_string("command", "What bash runs. May have several lines.");
            p.optional_integer("timeout", "How long it may take, seconds, from 1 to 600. Default 120.");
        });
        let network = match confinement.network {
            Network::Off if spawner.sandbox().name().is_some() => " There is no network.",
            Network::Off | Network::On => "",
        };
        let description = format!(
            "Runs a command with `bash -c` in the workspace's directory. You get what it prints (standard output and error \
             as one) and its exit code when that is not 0. Each call starts anew: no variable, no current directory and no \
             process outlives it; what still runs at its end is killed. Nothing can be typed into it, and there is no \
             terminal.{network} Of an output over {} KiB you get the beginning and the end, and the name of a file with the \
             whole. The user may be asked first, and may decline. Use the tools read, grep and glob to look at files, and \
             write and edit to change them, where they can do it.",
            limits::COMMAND_BYTES / 1024,
        );
        // A command that nothing confines can send whatever the setting says.
        let is_open = spawner.sandbox().name().is_none();
        let network = confinement.network == Network::On;
        let traits = Traits { private: true, untrusted: network, egress: network || is_open };
        let spec = ToolSpec::new("bash", description, parameters).on_cancel(OnCancel::Wait).traits(traits);
        Self { workspace, spawner, outputs, confinement, spec }
    }

    fn job(&self, act: &CommandAct) -> Job {
        let Confinement { mut readable, mut writable, network } = self.confinement.clone();
        readable.extend(self.outputs.path().map(Path::to_owned));
        writable.push(self.workspace.root().to_owned());
        Job {
            argv: ["bash", "-c", &act.command].map(Into::into).to_vec(),
            cwd: act.cwd.clone(),
            environment: Vec::new(),
            confinement: Confinement { readable, writable, network },
        }
    }

    async fn run(&self, act: &CommandAct, context: &ToolContext) -> Result<String, ToolError> {
        let failed = |error: io::Error| ToolError::failed(format!("the command cannot be started: {error}"));
        let mut job = self.job(act);
        let ask = |question| ask(question, context).boxed();
        let (command, mut notes) = tokio::select! {
            biased;
            () = context.cancellable.cancelled() => return Err(Cancelled.into()),
            entered = self.enter(&job, &ask) => entered?,
        };
        if let Some((name, mark)) = command.as_ref().and_then(Command::variable) {
            job.environment.push((name.into(), mark.into()));
        }
        // The sandbox looks through the workspace first.
        let spawner = Arc::clone(&self.spawner);
        let start = tokio::task::spawn_blocking(move || {
            let began = ChangeMark::now();
            (spawner.start(&job), job, began)
        });
        let (running, job, began) = start.await.map_err(|error| failed(io::Error::other(error)))?;
        let (end, ended, captured) = self.follow(running.map_err(failed)?, act.timeout, context).await;
        if let Some(command) = command {
            notes.extend(command.leave(&ask).await);
        }
        if ended.code != Some(0) {
            notes.extend(self.spawner.sandbox().explain(&job, &captured.text));
        }
        context.details(Details::Command(CommandEnd {
            code: ended.code,
            signal: ended.signal.map(signal_name),
            timed_out: end == End::TimedOut,
            bytes: captured.total,
            lines: Some(captured.lines),
            lines_left_out: captured.lines_left_out,
            killed: ended.killed,
            saved: captured.saved,
            touched: self.touched_since(began, &context.cancellable).await,
        }));
        let output = with_notes(captured.text, &notes);
        match (end, &ended.failure) {
            (End::Cancelled, _) => Err(Cancelled.into()),
            (_, Some(Failure::NotStarted(sentence))) => Err(ToolError::failed(sentence)),
            (_, Some(Failure::TooManyProcesses)) => Err(broken(
                &format!("the command was ended: it had more than {} processes", limits::JOB_PROCESSES),
                &output,
            )),
            (_, Some(Failure::TooMuchMemory(most))) => Err(broken(
                &format!("the command was ended: it had more than {} MB of memory", most / 1_000_000),
                &output,
            )),
            (_, Some(Failure::MachineOutOfMemory)) => {
                Err(broken("the command was ended: the machine had almost no memory left", &output))
            }
            (End::TimedOut, _) => Err(broken(
                &format!("the command timed out after {} s{}", act.timeout.as_secs(), killed(ended.killed, ended.left)),
                &output,
            )),
            (End::Itself, Some(Failure::GuardLost)) => {
                Err(broken("the command was ended: it killed the process that watches over it", &output))
            }
            (End::Itself, Some(Failure::Unwatched)) => {
                Err(broken("the command was ended: its processes could not be watched any more", &output))
            }
            (End::Itself, None) => Ok(observation(output, &ended)),
        }
    }

    /// Prepares for a command that could change protected files; nothing where nobody could keep it from anything.
    async fn enter(&self, job: &Job, ask: &Ask<'_>) -> Result<(Option<Command>, Vec<String>), ToolError> {
        let Some(cover) = self.spawner.sandbox().cover() else { return Ok((None, Vec::new())) };
        let mut roots = job.confinement.writable.clone();
        // It holds nothing of the user's.
        roots.retain(|path| !(self.workspace.is_temporary() && path == self.workspace.root()));
        let repositories = Sandbox::repositories(&job.confinement.writable);
        let entered = self.spawner.protection().enter(&roots, &repositories, cover, ask).await;
        let (command, notes) = entered.map_err(ToolError::failed)?;
        Ok((Some(command), notes))
    }

    /// Returns the files that changed since a command began; a cancel ends the search.
    async fn touched_since(&self, began: ChangeMark, cancellable: &Cancellable) -> TouchedFiles {
        let (workspace, cancellable) = (Arc::clone(&self.workspace), cancellable.clone());
        let search = move || {
            let touched = began.touched(&workspace, || cancellable.check().is_err());
            let paths = touched.paths.iter().map(|path| workspace.display(path)).collect();
            TouchedFiles { paths, partial: touched.is_partial }
        };
        // A search that breaks down has found nothing for certain.
        let nothing = |_| TouchedFiles { paths: Vec::new(), partial: true };
        tokio::task::spawn_blocking(search).await.unwrap_or_else(nothing)
    }

    /// Takes the output and waits for the end, which a time-out or a cancel brings about.
    async fn follow(&self, mut running: Running, timeout: Duration, context: &ToolContext) -> (End, Ended, Captured) {
        let mut end = End::Itself;
        let mut capture = Capture::default();
        let mut live = Live::new(Instant::now());
        let mut step = tokio::time::interval(LIVE_STEP);
        step.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut late = std::pin::pin!(tokio::time::sleep(timeout));
        let mut cancelled = std::pin::pin!(context.cancellable.cancelled());
        let mut buffer = vec![0; READ_BYTES];
        let mut is_open = true;
        let ended = loop {
            tokio::select! {
                // Neither a time-out nor a cancel nor what is shown waits for an output that never stops.
                biased;
                () = &mut late, if end == End::Itself => {
                    end = End::TimedOut;
                    running.kill();
                }
                () = &mut cancelled, if end == End::Itself => {
                    end = End::Cancelled;
                    running.kill();
                }
                _ = step.tick(), if live.is_waiting() => {
                    if let Some(text) = live.take(Instant::now()) {
                        context.progress(text);
                    }
                }
                came = next(&mut running, &mut buffer, is_open) => match came {
                    Came::Output(bytes) => {
                        let piece = buffer.get(..bytes).unwrap_or_default();
                        live.push(piece);
                        capture.push(piece, Some(self.outputs.as_ref())).await;
                    }
                    Came::Closed => is_open = false,
                    Came::End(ended) => break ended,
                },
            }
        };
        if let Some(text) = live.finish(Instant::now()) {
            context.progress(text);
        }
        (end, ended, capture.finish().await)
    }
}

impl Tool for BashTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(&'a self, args: Args, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        async move {
            context.cancellable.check()?;
            let act = CommandAct {
                command: command(args.str("command"))?.to_owned(),
                cwd: self.workspace.root().to_owned(),
                timeout: timeout(args.opt_int("timeout"))?,
            };
            let approved = tokio::select! {
                biased;
                () = context.cancellable.cancelled() => return Err(Cancelled.into()),
                approved = context.approve(act) => approved?,
            };
            let act = approved.take().map_err(|tampered| ToolError::failed(tampered.to_string()))?;
            self.run(&act, context).await
        }
        .boxed()
    }

    fn with_workspace(&self, workspace: &Arc<Workspace>) -> Option<Arc<dyn Tool>> {
        let (spawner, outputs) = (Arc::clone(&self.spawner), Arc::clone(&self.outputs));
        Some(Arc::new(Self::new(Arc::clone(workspace), spawner, outputs, self.confinement.clone())))
    }
}

/// What brought a command to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Itself,
    TimedOut,
    Cancelled,
}

enum Came {
    Output(usize),
    /// There is no more output; the command may go on without.
    Closed,
    End(Ended),
}

async fn next(running: &mut Running, buffer: &mut [u8], is_open: bool) -> Came {
    if !is_open {
        return Came::End(running.ended().await);
    }
    match running.read(buffer).await {
        Ok(0) | Err(_) => Came::Closed,
        Ok(bytes) => Came::Output(bytes),
    }
}

/// Asks what becomes of changed protected files; a cancel leaves the question for later.
async fn ask(question: Question, context: &ToolContext) -> Decision {
    tokio::select! {
        biased;
        () = context.cancellable.cancelled() => Decision::Postpone,
        answer = context.approvals.ask_plain(question.title, question.detail) => match answer {
            PlainAnswer::Yes => Decision::Keep,
            PlainAnswer::No => Decision::Restore,
            PlainAnswer::Nobody => Decision::Nobody,
        },
    }
}

fn command(command: &str) -> Result<&str, ToolError> {
    if is_blank(command) {
        Err(ToolError::failed("the command is blank"))
    } else if command.contains('\0') {
        Err(ToolError::failed("the command contains a NUL character, which no command can"))
    } else if command.len() > limits::COMMAND_LENGTH {
        let most = limits::COMMAND_LENGTH / 1024;
        Err(ToolError::failed(format!("the command is longer than {most} KiB; write a script and run that")))
    } else {
        Ok(command)
    }
}

fn timeout(asked: Option<i64>) -> Result<Duration, ToolError> {
    let most = limits::COMMAND_MOST_TIME;
    let Some(asked) = asked else { return Ok(limits::COMMAND_TIME) };
    u64::try_from(asked)
        .ok()
        .map(Duration::from_secs)
        .filter(|time| !time.is_zero() && *time <= most)
        .ok_or_else(|| ToolError::failed(format!("timeout must be from 1 to {} seconds", most.as_secs())))
}

/// Puts what the sandbox has to say behind an output, a line each.
fn with_notes(mut output: String, notes: &[String]) -> String {
    for note in notes {
        if !(output.is_empty() || output.ends_with('\n')) {
            output.push('\n');
        }
        output.push_str(note);
        output.push('\n');
    }
    output
}

/// Makes the observation of a command that ended by itself.
fn observation(output: String, ended: &Ended) -> String {
    let mut text = output;
    let mut notes = String::new();
    match (ended.code, ended.signal) {
        (Some(0), _) => {}
        (Some(code), _) => notes = format!("[exit code {code}]\n"),
        (None, Some(signal)) => notes = format!("[ended by {}]\n", signal_name(signal)),
        (None, None) => notes.push_str("[how it ended is unknown]\n"),
    }
    if ended.killed > 0 || ended.left > 0 {
        // Writing to a string cannot fail.
        let _ = writeln!(notes, "[it left processes running{}]", killed(ended.killed, ended.left));
    }
    if text.is_empty() && notes.is_empty() {
        return "[no output]\n".to_owned();
    }
    if !(text.is_empty() || text.ends_with('\n') || notes.is_empty()) {
        text.push('\n');
    }
    text + &notes
}

/// Says what became of the processes.
fn killed(killed: u32, left: u32) -> String {
    let dead = match killed {
        0 => String::new(),
        1 => "; 1 process was killed".to_owned(),
        more => format!("; {more} processes were killed"),
    };
    if left > 0 { format!("{dead}; {left} cannot be killed, the kernel holds them") } else { dead }
}

fn broken(sentence: &str, output: &str) -> ToolError {
    if output.is_empty() {
        ToolError::failed(format!("{sentence}. It printed nothing."))
    } else {
        ToolError::failed(format!("{sentence}. What it printed:\n{output}"))
    }
}
