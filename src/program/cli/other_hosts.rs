//! The command lines of other hosts: their flag for a run without a screen, and the words that are commands there.
//!
//! Used by `parse`. Always holds: a lone word that is a command of another host, or nearly one of this program, is never
//! sent to a model unless two dashes stand before it.

use std::ffi::OsString;

use clap::CommandFactory as _;

use crate::program::cli::args::CommandLine;
use steersman_base::text::distance;

/// The names of the flag for a run without a screen.
const PRINT: [&str; 3] = ["-p", "--print", "--prompt"];

/// Lone words that are commands of other hosts, with what to write here.
const WORDS: &[(&str, &str)] = &[
    ("agents", "steersman personas"),
    ("auth", "steersman doctor, which says what key is missing"),
    ("chat", "steersman"),
    ("config", "steersman help configuration"),
    ("init", "/init on the screen"),
    ("list", "steersman sessions"),
    ("login", "steersman doctor, which says what key is missing"),
    ("logout", "steersman help models, which says where keys are"),
    ("ls", "steersman sessions"),
    ("print", "steersman exec PROMPT"),
    ("run", "steersman exec PROMPT"),
    ("update", "steersman help install"),
    ("upgrade", "steersman help install"),
    ("version", "steersman --version"),
];

/// Letters from which on a word that differs in one from a command is taken for that.
const LETTERS: usize = 4;

/// Returns the arguments with `exec` in place of the flag for a run without a screen.
pub(super) fn with_exec(mut args: Vec<OsString>) -> Vec<OsString> {
    let is_print = |arg: &OsString| PRINT.iter().any(|name| arg == name);
    let own: Vec<&OsString> = args.iter().take_while(|arg| *arg != "--").collect();
    let Some(place) = own.iter().position(|arg| is_print(arg)) else { return args };
    let command = CommandLine::command();
    let is_command = |arg: &&OsString| arg.to_str().is_some_and(|arg| command.find_subcommand(arg).is_some());
    if own.into_iter().take(place).skip(1).any(|arg| is_command(&arg)) {
        return args;
    }
    args.remove(place);
    args.insert(1, "exec".into());
    args
}

/// Returns what to say instead of sending a prompt that was meant for a command; `None` for any other prompt.
pub(super) fn meant_as_command(prompt: &str) -> Option<String> {
    let here = WORDS.iter().find(|(word, _)| *word == prompt).map(|(_, here)| (*here).to_owned());
    let near = || {
        let command = CommandLine::command();
        let mut names = command.get_subcommands().map(clap::Command::get_name);
        let is_long = prompt.chars().count() >= LETTERS;
        names.find(|name| is_long && distance(prompt, name) == 1).map(|name| format!("steersman {name}"))
    };
    let here = here.or_else(near)?;
    Some(format!(
        "{prompt:?} is no command of steersman: write {here}; as a prompt it goes after two dashes: steersman -- {prompt}"
    ))
}
