//! The tool `bash`: a command in the workspace.
//!
//! It asks first, runs exactly what was approved through the spawner, and ends within two seconds of a time-out or a
//! cancel with everything dead that the command started. However much is printed, what it holds is bounded. A command
//! that is to go on in the background becomes a job (`tool::jobs`), under the same approval and sandbox. A git
//! command that must write what the sandbox keeps closed runs outside of it, and only the user says yes to that.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, pending};

use crate::command_run::{Aftermath, CommandRun, End, OutputSink, command_end, failure_text};
use crate::jobs::{JobScope, Jobs, NewJob, Notify, jobs_of};
use crate::workspace::{
    ChangeMark, Confinement, Ended, Failure, GitOperations, Job, JobInput, Network, Running, Spawner, Workspace,
    signal_name,
};
use crate::workspace_in;
use steersman_base::details::Details;
use steersman_base::error::Cancelled;
use steersman_base::event::JobOwner;
use steersman_base::id::JobId;
use steersman_base::limits;
use steersman_base::message::Arguments;
use steersman_base::text::is_blank;
use steersman_core::approval::{Approvals, Asker, CommandOperation, only_reads, outside_arguments};
use steersman_core::tool::outputs::Outputs;
use steersman_core::tool::{
    Args, BackgroundJobs, Concurrency, OnCancel, Parameters, ReleasedBy, Tool, ToolContext, ToolDirectory, ToolError,
    ToolSpec, Traits,
};

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
        let is_confined = spawner.sandbox().name().is_some();
        let parameters = Parameters::build(|p| {
            p.required_string("command", "What bash runs. May have several lines.");
            p.optional_integer("timeout", "How long it may take, seconds, from 1 to 600. Default 120.");
            p.optional_boolean("background", "Whether it goes on in the background, without a timeout. Default false.");
            p.optional_boolean(
                "parallel",
                "Whether it needs nothing of the other calls of your reply, so that it may run beside them. Default false.",
            );
            p.optional_boolean("notify", "Whether you are told when a command in the background ends. Default true.");
            if is_confined {
                p.optional_boolean(
                    "outside",
                    "Whether it runs outside of the sandbox: one plain git command that must write what the sandbox keeps closed, \
                     such as git init, clone, config, submodule add and worktree add. Hooks do not run then. The user is asked \
                     each time. Default false.",
                );
            }
        });
        let network = match confinement.network {
            Network::Off if is_confined => " There is no network.",
            Network::Off | Network::On => "",
        };
        let description = format!(
            "Runs a command with `bash -c` in the workspace's directory. You get what it prints (standard output and error \
             as one) and its exit code when that is not 0. Each call starts anew: no variable, no current directory and no \
             process outlives it; what still runs at its end is killed. Nothing can be typed into it, and there is no \
             terminal.{network} Of an output over {} KiB you get the beginning and the end, and the name of a file with the \
             whole. For a server, a watcher or a long build use background: you get the name of a job at once, and go on \
             with job_output, job_input and job_stop. The user may be asked first, and may decline. Use the tools read, grep \
             and glob to look at files, and write and edit to change them, where they can do it.",
            limits::COMMAND_BYTES / 1024,
        );
        // A command that nothing confines can send whatever the setting says.
        let is_open = !is_confined;
        let network = confinement.network == Network::On;
        let traits = Traits { private: true, untrusted: network, egress: network || is_open };
        let spec = ToolSpec::new("bash", description, parameters).on_cancel(OnCancel::Wait).traits(traits);
        Self { workspace, spawner, outputs, confinement, spec }
    }

    /// Reads what is to be run.
    fn act(&self, args: &Args) -> Result<CommandOperation, ToolError> {
        let timeout = match (args.bool("background"), args.has("timeout")) {
            (false, _) => args.seconds("timeout", limits::COMMAND_TIME, limits::COMMAND_MOST_TIME)?,
            (true, false) => limits::BACKGROUND_MOST_TIME,
            (true, true) => {
                return Err(ToolError::failed("a command in the background has no timeout: it runs until it ends"));
            }
        };
        let command = command(args.str("command"))?.to_owned();
        let outside = args.bool("outside");
        if outside && args.bool("background") {
            return Err(ToolError::failed("a command outside of the sandbox is waited for: leave background out"));
        }
        if outside {
            outside_arguments(&command).map_err(ToolError::failed)?;
        }
        Ok(CommandOperation { command, cwd: self.workspace.root().to_owned(), timeout, outside })
    }

    fn job(&self, operation: &CommandOperation) -> Job {
        let mut confinement = self.confinement.clone();
        confinement.readable.extend(self.outputs.path().map(Path::to_owned));
        // Its lock is that of all who work here.
        confinement.writable.insert(0, self.workspace.root().to_owned());
        Job {
            argv: ["bash", "-c", &operation.command].map(Into::into).to_vec(),
            cwd: operation.cwd.clone(),
            environment: Vec::new(),
            confinement,
        }
    }

    async fn run(
        &self,
        operation: &CommandOperation,
        notify: Notify,
        context: &ToolContext,
    ) -> Result<String, ToolError> {
        let failed = |error: io::Error| ToolError::failed(format!("the command cannot be started: {error}"));
        let jobs = jobs_of(context);
        if operation.is_in_background() {
            jobs.as_ref().map_err(Clone::clone).and_then(|jobs| jobs.check_room()).map_err(ToolError::failed)?;
        }
        // Without a list of its agent's, it stays where it is.
        let jobs = jobs.unwrap_or_default();
        let job = self.job(operation);
        let outside = if operation.outside {
            Some(outside_arguments(&operation.command).map_err(ToolError::failed)?)
        } else {
            None
        };
        let (spawner, is_in_background) = (Arc::clone(&self.spawner), operation.is_in_background());
        let start = tokio::task::spawn_blocking(move || {
            let stopped = GitOperations::find(&job.confinement.writable);
            let mark = ChangeMark::now();
            let started = match outside {
                Some(arguments) => spawner.start_git(&arguments, &job).map(|running| (running, None)),
                None => start(&spawner, &job, is_in_background),
            };
            (started, job, stopped, mark, Instant::now())
        });
        let (started, job, stopped, began, since) = start.await.map_err(|error| failed(io::Error::other(error)))?;
        let (running, input) = started.map_err(failed)?;
        let run = CommandRun::new(running, Some(Arc::clone(&self.outputs)));
        let (spawner, workspace) = (Arc::clone(&self.spawner), Arc::clone(&self.workspace));
        let aftermath = Aftermath { job, spawner, workspace, began, stopped };
        let command = StartedCommand { run, input, aftermath, since };
        let is_main = context.asker.agent.is_main();
        if is_in_background {
            let id = to_background(operation, command, notify, context, &jobs);
            let notice = match notify {
                _ if !is_main => format!("; {ENDS_WITH_YOU}"),
                Notify::AtEnd => format!("; {ENDS_WITH_SESSION}"),
                Notify::Never => String::new(),
            };
            let result = format!("[{id} runs in the background: job_output reads what it prints{notice}]\n");
            return Ok(result);
        }
        wait_for(operation, command, context, &jobs).await
    }
}

impl Tool for BashTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(&'a self, args: Args, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        async move {
            context.cancellable.check()?;
            let operation = self.act(&args)?;
            let operation = context.cancellable.unless_cancelled(context.approve(operation)).await??.take();
            self.run(&operation, Notify::of_argument(args.opt_bool("notify")), context).await
        }
        .boxed()
    }

    fn concurrency_of(&self, arguments: &Arguments, asker: &Asker, approvals: &Approvals) -> Concurrency {
        let Ok(args) = self.spec.parameters.validate(arguments) else { return Concurrency::Exclusive };
        // What the model says, or the words of the command: anything else may be what a later call builds on.
        let is_independent = args.bool("parallel") || only_reads(args.str("command"));
        let operation = self.act(&args).ok().filter(|_| is_independent);
        // One that is asked about runs by itself, so that its question is answered before anything else begins.
        if operation.is_some_and(|operation| approvals.runs_without_question(asker, &operation.into())) {
            Concurrency::Parallel
        } else {
            Concurrency::Exclusive
        }
    }

    fn in_directory(&self, directory: &ToolDirectory) -> Option<Result<Arc<dyn Tool>, String>> {
        let (spawner, outputs) = (Arc::clone(&self.spawner), Arc::clone(&self.outputs));
        let bound = |workspace| Self::new(workspace, spawner, outputs, self.confinement.clone());
        Some(workspace_in(directory).map(|workspace| Arc::new(bound(workspace)) as _))
    }

    fn background_jobs(&self) -> Option<Arc<dyn BackgroundJobs>> {
        Some(Arc::new(Jobs::default()))
    }
}

/// Waits for a command, unless the user sends it to the background meanwhile, or a text that is to be delivered now does.
async fn wait_for(
    operation: &CommandOperation,
    mut command: StartedCommand,
    context: &ToolContext,
    jobs: &Arc<Jobs>,
) -> Result<String, ToolError> {
    let foreground = jobs.foreground(&context.asker.agent, &context.asker.call);
    let stop = async {
        tokio::select! {
            biased;
            () = tokio::time::sleep(operation.timeout) => End::TimedOut,
            () = context.cancellable.cancelled() => End::Cancelled,
        }
    };
    let mut sink = Shown(context);
    let mut by = "the user";
    let left = async {
        // Without room it is waited for as before.
        let has_room = !operation.outside && jobs_of(context).is_ok() && jobs.check_room().is_ok();
        let released = async {
            if has_room {
                context.release.requested(ReleasedBy::UrgentText).await;
            } else {
                pending::<()>().await;
            }
        };
        tokio::select! {
            () = foreground.left() => {}
            () = released => by = "a text from the user",
        }
    };
    let followed = command.run.follow(stop, left, &mut sink).await;
    let Some((end, ended)) = followed else {
        drop(foreground);
        command.run.show_again();
        let id = to_background(operation, command, Notify::AtEnd, context, jobs);
        let end = if context.asker.agent.is_main() { ENDS_WITH_SESSION } else { ENDS_WITH_YOU };
        let result = format!(
            "[{by} sent this command to the background, where it continues as {id}: job_output reads what it prints; \
             {end}]\n"
        );
        return Ok(result);
    };
    drop(foreground);
    let captured = command.run.finish(&mut sink).await;
    let (notes, touched) = command.aftermath.conclude(&ended, &captured.text, &context.cancellable).await;
    context.details(Details::Command(command_end(end, &ended, &captured, touched)));
    let output = with_notes(captured.text, &notes);
    match (end, &ended.failure) {
        (End::Cancelled, _) => Err(Cancelled.into()),
        (_, Some(Failure::NotStarted(sentence))) => Err(ToolError::failed(sentence)),
        (_, Some(failure @ (Failure::TooManyProcesses | Failure::TooMuchMemory(_) | Failure::MachineOutOfMemory)))
        | (End::Itself, Some(failure @ (Failure::GuardLost | Failure::Unwatched))) => {
            Err(broken(&failure_text(failure), &output))
        }
        (End::TimedOut, _) => Err(broken(
            &format!(
                "the command timed out after {} s{}",
                operation.timeout.as_secs(),
                killed(ended.killed, ended.left)
            ),
            &output,
        )),
        (End::Itself, None) => Ok(observation(output, &ended)),
    }
}

/// What the main agent is told of a command in the background: in `exec` the session is over with its answer.
const ENDS_WITH_SESSION: &str = "you are told when it ends; it ends with the session";
/// What a sub-agent is told of a command in the background: nobody looks after that once it has answered.
const ENDS_WITH_YOU: &str = "it is ended when you answer, so wait for what you need of it with job_output first";

/// A command that has just been started.
struct StartedCommand {
    run: CommandRun,
    /// What is written to it; nothing where it is waited for.
    input: Option<JobInput>,
    aftermath: Aftermath,
    since: Instant,
}

/// Makes a job of a command; returns its id.
fn to_background(
    operation: &CommandOperation,
    command: StartedCommand,
    notify: Notify,
    context: &ToolContext,
    jobs: &Arc<Jobs>,
) -> JobId {
    let StartedCommand { run, input, aftermath, since } = command;
    let asker = &context.asker;
    let scope = JobScope { agent: asker.agent.clone(), parent: context.parent.clone(), call: Some(asker.call.clone()) };
    jobs.start(NewJob {
        scope,
        owner: JobOwner::Agent,
        command: operation.command.clone(),
        run,
        input,
        aftermath: Some(aftermath),
        notify,
        began: since,
    })
}

fn start(spawner: &Spawner, job: &Job, is_in_background: bool) -> io::Result<(Running, Option<JobInput>)> {
    if is_in_background {
        return spawner.start_with_input(job).map(|(running, input)| (running, Some(input)));
    }
    Ok((spawner.start(job)?, None))
}

/// Shows the output of a command live.
struct Shown<'a>(&'a ToolContext);

impl OutputSink for Shown<'_> {
    fn took(&mut self, _: &[u8]) {}

    fn shows(&mut self, text: String) {
        self.0.progress(text);
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
