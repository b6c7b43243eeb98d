//! What guards commands in the tests of one crate, in place of the whole program.

use std::process::ExitCode;

fn main() -> ExitCode {
    steersman_tools::workspace::run_hidden(std::env::args_os()).unwrap_or(ExitCode::FAILURE)
}
