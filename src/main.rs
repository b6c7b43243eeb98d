//! The program, as a table of contents; each task is done in its own file.

use std::process::ExitCode;

use steersman::agent::finalizers;
use steersman::cli::exit::say;
use steersman::cli::{self, Task, logging};
use steersman::temporary;
use steersman::tui::terminal::signals;
use steersman::workspace::run_hidden;

fn main() -> ExitCode {
    if let Some(exit) = run_hidden(std::env::args_os()) {
        return exit;
    }
    signals::keep_ends_of_children();
    let task = match cli::parse(std::env::args_os()) {
        Ok(task) => task,
        Err(exit) => return exit.into(),
    };
    let log = logging::start();
    // Completion scripts, which a shell reads at each start, log nothing.
    if let (Err(error), false) = (&log, matches!(task, Task::Completions(_))) {
        say(&format!("nothing is logged: {error}"));
    }
    let exit = match task {
        Task::Completions(shell) => cli::completions(shell),
        Task::Keys => cli::run_keys(),
        Task::Help(words) => cli::run_help(&words),
        Task::Man => cli::run_man(),
        Task::Exec { flags, args } => cli::run_exec(&flags, &args),
        Task::Models { flags, args } => cli::run_models(&flags, &args),
        Task::Doctor { flags } => cli::run_doctor(&flags),
        Task::Personas { flags } => cli::run_personas(&flags),
        Task::Skills { flags } => cli::run_skills(&flags),
        Task::Hooks { flags, act } => cli::run_hooks(&flags, act),
        Task::Mcp { flags, command } => cli::run_mcp(&flags, &command),
        Task::Sessions { flags, args } => cli::run_sessions(&flags, &args),
        Task::Archive { flags, command } => cli::run_archive(&flags, &command),
        Task::Status { flags, args } => cli::run_status(&flags, &args),
        Task::Inject { flags, args } => cli::run_inject(&flags, &args),
        Task::Watch { flags, args } => cli::run_watch(&flags, &args),
        Task::Cancel { flags, args } => cli::run_cancel(&flags, &args),
        Task::Answer { flags, args, decided } => cli::run_answer(&flags, &args, decided),
        Task::Attach { flags, args } => cli::run_attach(&flags, &args),
        Task::Serve { flags, args } => cli::run_serve(&flags, &args),
        Task::Screen { flags, prompt } => cli::run_screen(&flags, prompt),
    };
    finalizers::run();
    temporary::remove_all();
    // Writes what is left of the log.
    drop(log);
    exit.into()
}
