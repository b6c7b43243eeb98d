//! The program: what comes before and behind a command; `cli` carries it out.

use std::process::ExitCode;

use steersman::program::cli::args::Command;
use steersman::program::cli::exit::say;
use steersman::program::cli::{self, logging};
use steersman_agent::finalizers;
use steersman_tools::workspace::run_hidden;
use steersman_tui::terminal::signals;

fn main() -> ExitCode {
    if let Some(exit) = run_hidden(std::env::args_os()) {
        return exit;
    }
    signals::keep_ends_of_children();
    let line = match cli::parse(std::env::args_os()) {
        Ok(line) => line,
        Err(exit) => return exit.into(),
    };
    let log = logging::start();
    // Completion scripts, which a shell reads at each start, log nothing.
    if let (Err(error), false) = (&log, matches!(line.command, Some(Command::Completions { .. }))) {
        say(&format!("nothing is logged: {error}"));
    }
    let exit = cli::run(line);
    finalizers::run();
    // Writes what is left of the log.
    drop(log);
    exit.into()
}
