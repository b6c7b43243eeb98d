//! The program: command line, configuration sources, logging, and the two ways to run (`screen`, `exec`).
//!
//! Only here and in `main.rs`: flags, environment, home directory, exit codes. An error is one sentence on standard
//! error; `println!` is never used, because it panics when the pipe is closed.
//!
//! # Where things are
//!
//! - model servers of this machine at the first start: `first_start.rs`; tests: `first_start.rs`,
//!   `tests/pty/first_start.rs`
//! - a key in the environment and no model named: `key_offer.rs`; tests: `first_start.rs`, `tests/pty/first_start.rs`
//! - flags, usage errors: `args.rs`, `mod.rs`; the command lines of other hosts: `other_hosts.rs`; tests: `cli.rs`
//! - the parts that tools need: spawner, sandbox, web; the two pools of tools: `workbench.rs`, `src/session/host/tools.rs`;
//!   tests: `real_work.rs`
//! - the user's directories, the root of a project: `places.rs`, `src/tools/workspace/project.rs`; tests:
//!   `trust/mod.rs`, `context_files.rs`
//! - questions without a screen, calls that nobody could approve: `questions.rs`; tests: `real_work.rs`
//! - `exec`, `--steer-stdin`, exit codes: `exec/mod.rs`, `exec/start.rs`, `steer_stdin.rs`, `exit.rs`; tests: `exec/mod.rs`,
//!   `exec/startup.rs`, `exec/steering.rs`, `exec_streams.rs`
//! - `exec` for programs: its arguments, prompt, requests, result: `exec/args.rs`, `exec/prompt.rs`, `exec/input.rs`,
//!   `exec/result.rs`; tests: `headless/mod.rs`
//! - MCP servers: `mcp/mod.rs`; tests: `mcp/command.rs`
//! - the journal of a start, `sessions`: `journal.rs`, `sessions.rs`; tests: `sessions/command.rs`
//! - search in saved sessions: `archive/mod.rs`; tests: `sessions/search.rs`
//! - sessions that run, from other terminals: `running/mod.rs`; tests: `sessions/outside_commands.rs`
//! - what a crash leaves: `crash.rs`; tests: `tests/pty/sessions.rs`
//! - `skills`: `skills.rs`; tests: `set_ups.rs`
//! - the log file: `logging.rs`; tests: `secrets.rs`
//! - `steersman help`: the pages of the manual, a search in them, and the page for `man`: `help.rs`
//! - what earlier versions left in the state directory and none reads any more: `left_files.rs`
//! - reads environment, configuration, system prompt and directory at a start: `load.rs`
//! - standard output and standard error of `exec`: `output.rs`
//! - what the command line sets for one run: `run_settings.rs`
//! - the start of the full screen: `screen.rs`

pub mod archive;
pub mod args;
mod crash;
mod doctor;
mod exec;
pub mod exit;
pub mod first_start;
mod help;
pub mod hooks;
mod journal;
pub mod key_offer;
pub mod keys;
mod left_files;
mod load;
pub mod logging;
pub mod mcp;
mod models;
mod other_hosts;
mod output;
pub mod outside;
mod personas;
pub mod places;
pub mod plugins;
pub mod project;
mod questions;
mod run_settings;
mod running;
mod screen;
mod screen_files;
mod sessions;
mod setup;
mod skills;
pub mod sources;
pub mod steer_stdin;
mod workbench;

use std::ffi::OsString;
use std::io::{self, Write as _};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};
use tokio::runtime::{Builder, Runtime};

use crate::program::cli::args::{Command, CommandLine, Flags, SessionFlags};
use crate::program::cli::exit::{Exit, say};
use crate::program::cli::running::Decided;
use steersman_base::text::is_blank;
use steersman_tui::terminal::signals::Signals;

/// Reads the command line. Help and version are printed here.
///
/// # Errors
/// The exit code: done after help or version, usage after a mistake, which was reported.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<CommandLine, Exit> {
    let args = other_hosts::with_exec(run_settings::with_settings(args.into_iter().collect()));
    if let Some(sentence) = other_hosts::meant_below(&args) {
        return Err(exec::report_mistake(&args, &sentence).unwrap_or_else(|| usage(&sentence)));
    }
    let line = CommandLine::try_parse_from(&args).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let _ = error.print();
            Exit::Done
        }
        _ => {
            let is_argument = error.kind() == ErrorKind::UnknownArgument;
            let mistyped = is_argument.then(|| other_hosts::mistyped_command(&args)).flatten();
            let sentence = mistyped.unwrap_or_else(|| sentence(&error));
            exec::report_mistake(&args, &sentence).unwrap_or_else(|| usage(&sentence))
        }
    })?;
    match (&line.command, &line.prompt) {
        (Some(_), Some(prompt)) => {
            Err(usage(&format!("unexpected {prompt:?} before the command; a prompt goes after it, or alone")))
        }
        (None, Some(prompt)) if is_blank(prompt) => Err(usage("the prompt is blank")),
        (None, Some(prompt)) if !args.iter().any(|arg| arg == "--") => match other_hosts::meant_as_command(prompt) {
            Some(sentence) => Err(usage(&sentence)),
            None => Ok(line),
        },
        (Some(_) | None, _) => Ok(line),
    }
}

/// Carries out what the command line says; without a command that is the screen.
pub fn run(line: CommandLine) -> Exit {
    let flags = &line.flags;
    let Some(command) = &line.command else { return screen::run(flags, line.prompt) };
    if let Some(sentence) = chooses_nothing(&flags.session, command) {
        return usage(&sentence);
    }
    match command {
        Command::Exec(args) => exec::run(flags, args),
        Command::Resume(args) => go_on(flags, args.id_and_prompt(), |session, id| match id {
            Some(id) => session.resume = Some(id),
            None if args.last => session.continues = true,
            None => session.resume = Some(String::new()),
        }),
        Command::Continue { prompt } => go_on(flags, (None, prompt.clone()), |session, _| session.continues = true),
        Command::Fork(args) => {
            go_on(flags, args.id_and_prompt(), |session, id| session.fork = Some(id.unwrap_or_default()))
        }
        Command::Mcp(command) => mcp::run(flags, command),
        Command::Personas => personas::run(flags),
        Command::Skills => skills::run(flags),
        Command::Plugin(command) => plugins::run(flags, command),
        Command::Hooks { ask_again: false } => hooks::list(flags),
        Command::Hooks { ask_again: true } => hooks::ask_again(flags),
        Command::Models(args) => models::run(flags, args),
        Command::Doctor => doctor::run(flags),
        Command::Sessions(args) => sessions::run(flags, args),
        Command::Archive(command) => archive::run(flags, command),
        Command::Status(args) => running::status(flags, args),
        Command::Inject(args) => running::inject(flags, args),
        Command::Watch(args) => running::watch(flags, args),
        Command::Cancel(args) => running::cancel(flags, args),
        Command::Approve(args) => running::answer(flags, args, Decided::Yes),
        Command::Decline(args) => running::answer(flags, args, Decided::No),
        Command::Attach(args) => running::attach(flags, args),
        Command::Serve(args) => running::serve(flags, args),
        Command::Keys => screen_files::print_keys(),
        Command::Help { words } => help::run(words),
        Command::Man => help::man(),
        Command::Completions { shell } => completions(*shell),
    }
}

/// Returns what to write instead where a flag says which session the command begins, and it begins none.
fn chooses_nothing(session: &SessionFlags, command: &Command) -> Option<String> {
    let flag = match session {
        SessionFlags { resume: Some(_), .. } => "--resume",
        SessionFlags { continues: true, .. } => "--continue",
        SessionFlags { fork: Some(_), .. } => "--fork",
        SessionFlags { session_id: Some(_), .. } => "--session-id",
        _ => return None,
    };
    match command {
        Command::Exec(_) | Command::Serve(_) | Command::Resume(_) | Command::Continue { .. } | Command::Fork(_) => None,
        Command::Status(_)
        | Command::Inject(_)
        | Command::Watch(_)
        | Command::Cancel(_)
        | Command::Approve(_)
        | Command::Decline(_) => {
            Some(format!("{flag} begins a session or goes on with one; for one that runs it is --session ID"))
        }
        _ => Some(format!("{flag} begins a session or goes on with one, and this command does not")),
    }
}

/// Opens the screen on a session that a command chooses.
fn go_on(
    flags: &Flags,
    (id, prompt): (Option<String>, Option<String>),
    choose: impl FnOnce(&mut SessionFlags, Option<String>),
) -> Exit {
    let session = &flags.session;
    if session.continues || session.resume.is_some() || session.fork.is_some() {
        return usage("the command says already which session it is: leave out --continue, --resume and --fork");
    }
    let mut flags = flags.clone();
    choose(&mut flags.session, id);
    screen::run(&flags, prompt)
}

/// Prints the completion script of a shell.
fn completions(shell: clap_complete::Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "steersman", &mut script);
    if shell == clap_complete::Shell::Fish {
        script.extend_from_slice(fish_arguments().as_bytes());
    }
    let _ = io::stdout().write_all(&script);
    Exit::Done
}

/// Returns the completions of positional values, which the generator for fish leaves out.
fn fish_arguments() -> String {
    let command = CommandLine::command();
    let line = |below: &clap::Command| {
        let values = below.get_positionals().flat_map(clap::Arg::get_possible_values);
        let values: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
        let (name, values) = (below.get_name(), Some(values.join(" ")).filter(|values| !values.is_empty())?);
        Some(format!("complete -c steersman -n \"__fish_steersman_using_subcommand {name}\" -f -a \"{values}\"\n"))
    };
    command.get_subcommands().filter_map(line).collect()
}

/// Makes the runtime of the agent, its tools and the embedded model.
fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(1).enable_all().build()
}

/// Makes that, and a runtime that works on the thread which waits for it.
fn two_runtimes() -> Result<(Runtime, Runtime), String> {
    let own = Builder::new_current_thread().enable_all().build();
    runtime().and_then(|runtime| Ok((runtime, own?))).map_err(|error| no_threads(&error))
}

fn no_threads(error: &io::Error) -> String {
    format!("the program cannot start its threads: {error}")
}

/// Does the work of a command that needs a runtime for it alone.
fn with_runtime<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let runtime = runtime().map_err(|error| no_threads(&error))?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_background();
    outcome
}

fn signals() -> Result<Signals, String> {
    Signals::new().map_err(|error| format!("the program cannot handle signals: {error}"))
}

fn usage(sentence: &str) -> Exit {
    say(sentence);
    Exit::Usage
}

/// Makes one sentence of clap's message: the error, then the tips, without the usage lines.
fn sentence(error: &clap::Error) -> String {
    // What is nearest by its letters may mean the opposite.
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(flag))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
        && let Some(here) = other_hosts::flag_here(flag)
    {
        return format!("unexpected argument '{flag}' found; here it is {here} (see steersman help habits)");
    }
    let text = error.render().to_string();
    let lines =
        text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let parts: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let parts = parts.join(" ").replace(" tip: ", "; ");
    format!("{} (see steersman --help)", parts.strip_prefix("error: ").unwrap_or(&parts))
}
