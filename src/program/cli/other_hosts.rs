//! The command lines of other hosts: their flag for a run without a screen, their other flags, and the words that are
//! commands there.
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

/// Flags of other hosts that have another name here, with what to write.
const FLAGS: &[(&str, &str)] = &[
    ("-C", "--cwd DIR"),
    ("-a", "--mode MODE"),
    ("-s", "--mode MODE, and --sandbox for what confines commands"),
    ("--allowed-tools", "exec --allow RULE, or --tools NAMES for the only tools that there are"),
    ("--allowedTools", "exec --allow RULE, or --tools NAMES for the only tools that there are"),
    ("--approval-mode", "--mode MODE"),
    ("--ask-for-approval", "--mode MODE"),
    ("--cd", "--cwd DIR"),
    ("--dangerously-bypass-approvals-and-sandbox", "--mode auto-without-sandbox"),
    ("--dangerously-skip-permissions", "--mode auto-without-sandbox, or --mode auto, which does the same in a sandbox"),
    ("--disallowed-tools", "exec --deny RULE"),
    ("--disallowedTools", "exec --deny RULE"),
    ("--fork-session", "--fork ID"),
    ("--full-auto", "--mode auto"),
    ("--last", "--continue"),
    ("--list-models", "steersman models"),
    ("--no-session", "--ephemeral"),
    ("--session", "--resume ID"),
    ("--thinking", "--reasoning-effort HOW"),
    ("--image", "exec --image FILE; on the screen @FILE or Ctrl+V"),
    ("--effort", "--reasoning-effort HOW"),
    ("--fallback-model", "--model NAME; a server that is busy is asked again"),
    ("--input-format", "exec --input json or stream-json"),
    ("--json-schema", "exec --output-schema FILE"),
    ("--max-budget-usd", "--max-cost DOLLARS"),
    ("--max-turns", "exec --max-rounds N"),
    ("--no-session-persistence", "--ephemeral"),
    ("--output-format", "exec --output answer, result, json or stream-json"),
    ("--permission-mode", "--mode ask, auto-edit, auto, read-only or plan"),
    ("--permission-prompt-tool", "exec --permission-command COMMAND"),
    ("--plugin-dir", "steersman plugin add DIR"),
    ("--setting-sources", "--ignore-user-config, which reads no configuration of yours"),
    ("--settings", "--set KEY=VALUE, or --config FILE"),
    ("--strict-mcp-config", "--ignore-user-config with --mcp-config FILE"),
    ("--verbose", "exec --output progress, or --json for all events"),
    ("--yolo", "--mode auto, in a sandbox"),
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

/// Returns what a flag of another host is here; `None` for any other flag.
pub(super) fn flag_here(flag: &str) -> Option<&'static str> {
    let name = flag.split('=').next().unwrap_or(flag);
    FLAGS.iter().find(|(theirs, _)| *theirs == name).map(|(_, here)| *here)
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
