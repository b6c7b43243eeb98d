//! The program: command line, configuration sources, logging, and the two ways to run (`screen`, `exec`).
//!
//! Only here and in `main.rs`: flags, environment, home directory, exit codes. An error is one sentence on standard
//! error; `println!` is never used, because it panics when the pipe is closed.
//!
//! # Where things are
//!
//! - model servers of this machine at the first start: `first_start.rs`; stories: `first_start.rs`,
//!   `tests/pty/first_start.rs`
//! - flags, usage errors: `args.rs`, `mod.rs`; stories: `cli.rs`
//! - the parts that tools need: spawner, sandbox, web; the two pools of tools: `workbench.rs`, `src/host/tools.rs`;
//!   stories: `real_work.rs`
//! - the user's directories, the root of a project: `places.rs`, `src/workspace/project.rs`; stories:
//!   `trust.rs`, `context_files.rs`
//! - questions without a screen, calls that nobody could approve: `questions.rs`; stories: `real_work.rs`
//! - `exec`, `--steer-stdin`, exit codes: `exec.rs`, `exec/start.rs`, `steer_stdin.rs`, `exit.rs`; stories: `exec.rs`,
//!   `exec/startup.rs`, `exec/steering.rs`, `exec_streams.rs`
//! - `exec` for programs: its arguments, prompt, requests, result: `exec/args.rs`, `exec/prompt.rs`, `exec/input.rs`,
//!   `exec/result.rs`; stories: `headless/mod.rs`
//! - MCP servers: `mcp/mod.rs`; stories: `mcp/command.rs`
//! - the journal of a start, `sessions`: `journal.rs`, `sessions.rs`; stories: `session/command.rs`
//! - search in saved sessions: `archive/mod.rs`; stories: `session/search.rs`
//! - sessions that run, from other terminals: `running/mod.rs`; stories: `session/outside/commands.rs`
//! - what a crash leaves: `crash.rs`; stories: `tests/pty/sessions.rs`
//! - `skills`: `skills.rs`; stories: `set_ups.rs`
//! - the log file: `logging.rs`; stories: `secrets.rs`

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
pub mod keymap;
pub mod keys;
mod load;
pub mod logging;
pub mod mcp;
mod models;
mod output;
pub mod outside;
mod personas;
pub mod places;
pub mod project;
mod questions;
mod recovery;
mod running;
mod screen;
mod sessions;
mod setup;
mod skills;
pub mod sources;
pub mod steer_stdin;
mod themes;
mod workbench;

use std::ffi::OsString;
use std::io::{self, Write as _};

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};

use crate::cli::archive::ArchiveCommand;
use crate::cli::args::{Command, CommandLine, Flags, ModelsArgs, SessionsArgs};
use crate::cli::exec::args::ExecArgs;
use crate::cli::exit::{Exit, say};
use crate::cli::mcp::McpCommand;
use crate::cli::running::args::{AnswerArgs, AttachArgs, CancelArgs, InjectArgs, ServeArgs, StatusArgs, WatchArgs};
use crate::text::is_blank;

pub use archive::run as run_archive;
pub use doctor::run as run_doctor;
pub use exec::run as run_exec;
pub use help::{man as run_man, run as run_help};
pub use hooks::{HooksAct, run as run_hooks};
pub use keymap::run as run_keys;
pub use mcp::run as run_mcp;
pub use models::run as run_models;
pub use personas::run as run_personas;
pub use running::{Decided, run_answer, run_attach, run_cancel, run_inject, run_serve, run_status, run_watch};
pub use screen::run as run_screen;
pub use sessions::run as run_sessions;
pub use skills::run as run_skills;

/// The task that the command line names.
#[derive(Debug)]
pub enum Task {
    /// Open the screen, and send the prompt at once if there is one.
    Screen { flags: Flags, prompt: Option<String> },
    /// Run without a screen.
    Exec { flags: Flags, args: Box<ExecArgs> },
    /// Print the sub-agents.
    Personas { flags: Flags },
    /// Print the skills and custom commands.
    Skills { flags: Flags },
    /// Print the hooks.
    Hooks { flags: Flags, act: HooksAct },
    /// Print the models.
    Models { flags: Flags, args: ModelsArgs },
    /// Check everything that a conversation needs.
    Doctor { flags: Flags },
    /// Print, check or take over MCP servers.
    Mcp { flags: Flags, command: McpCommand },
    /// Print or remove sessions.
    Sessions { flags: Flags, args: SessionsArgs },
    /// Search saved sessions.
    Archive { flags: Flags, command: ArchiveCommand },
    /// Print the sessions that run.
    Status { flags: Flags, args: StatusArgs },
    /// Send a text to a session that runs.
    Inject { flags: Flags, args: InjectArgs },
    /// Write what a session does.
    Watch { flags: Flags, args: WatchArgs },
    /// Stop the turn of a session.
    Cancel { flags: Flags, args: CancelArgs },
    /// Answer a question of a session.
    Answer { flags: Flags, args: AnswerArgs, decided: Decided },
    /// Open one more screen on a session.
    Attach { flags: Flags, args: AttachArgs },
    /// Run a session without a screen.
    Serve { flags: Flags, args: ServeArgs },
    /// Print the default keys as a keymap file.
    Keys,
    /// Print a page of the manual.
    Help(Vec<String>),
    /// Print the page for `man`.
    Man,
    /// Print a completion script.
    Completions(clap_complete::Shell),
}

/// Reads the command line. Help and version are printed here.
///
/// # Errors
/// The exit code: done after help or version, usage after a mistake, which was reported.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Task, Exit> {
    let args: Vec<OsString> = args.into_iter().collect();
    let line = CommandLine::try_parse_from(&args).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let _ = error.print();
            Exit::Done
        }
        _ => exec::report_mistake(&args, &sentence(&error)).unwrap_or_else(|| usage(&sentence(&error))),
    })?;
    let flags = line.flags;
    match (line.command, line.prompt) {
        (Some(_), Some(prompt)) => {
            Err(usage(&format!("unexpected {prompt:?} before the command; a prompt goes after it, or alone")))
        }
        (None, Some(prompt)) if is_blank(&prompt) => Err(usage("the prompt is blank")),
        (None, prompt) => Ok(Task::Screen { flags, prompt }),
        (Some(Command::Exec(args)), None) => Ok(Task::Exec { flags, args }),
        (Some(Command::Personas), None) => Ok(Task::Personas { flags }),
        (Some(Command::Skills), None) => Ok(Task::Skills { flags }),
        (Some(Command::Hooks { ask_again }), None) => {
            Ok(Task::Hooks { flags, act: if ask_again { HooksAct::AskAgain } else { HooksAct::List } })
        }
        (Some(Command::Models(args)), None) => Ok(Task::Models { flags, args }),
        (Some(Command::Doctor), None) => Ok(Task::Doctor { flags }),
        (Some(Command::Mcp(command)), None) => Ok(Task::Mcp { flags, command }),
        (Some(Command::Sessions(args)), None) => Ok(Task::Sessions { flags, args }),
        (Some(Command::Archive(command)), None) => Ok(Task::Archive { flags, command }),
        (Some(Command::Status(args)), None) => Ok(Task::Status { flags, args }),
        (Some(Command::Inject(args)), None) => Ok(Task::Inject { flags, args }),
        (Some(Command::Watch(args)), None) => Ok(Task::Watch { flags, args }),
        (Some(Command::Cancel(args)), None) => Ok(Task::Cancel { flags, args }),
        (Some(Command::Approve(args)), None) => Ok(Task::Answer { flags, args, decided: Decided::Yes }),
        (Some(Command::Decline(args)), None) => Ok(Task::Answer { flags, args, decided: Decided::No }),
        (Some(Command::Attach(args)), None) => Ok(Task::Attach { flags, args }),
        (Some(Command::Serve(args)), None) => Ok(Task::Serve { flags, args }),
        (Some(Command::Keys), None) => Ok(Task::Keys),
        (Some(Command::Help { words }), None) => Ok(Task::Help(words)),
        (Some(Command::Man), None) => Ok(Task::Man),
        (Some(Command::Completions { shell }), None) => Ok(Task::Completions(shell)),
    }
}

/// Prints the completion script of a shell.
pub fn completions(shell: clap_complete::Shell) -> Exit {
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
fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()
}

fn usage(sentence: &str) -> Exit {
    say(sentence);
    Exit::Usage
}

/// Makes one sentence of clap's message: the error, then the tips, without the usage lines.
fn sentence(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines =
        text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let said: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let said = said.join(" ").replace(" tip: ", "; ");
    format!("{} (see steersman --help)", said.strip_prefix("error: ").unwrap_or(&said))
}
