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

/// Commands of other hosts that begin as one of this program does, with what to write here.
const BELOW: &[(&str, &str, &str)] = &[
    (
        "exec",
        "resume",
        "steersman exec --resume ID PROMPT, or exec --continue PROMPT for the last session of this directory",
    ),
    ("hooks", "list", "steersman hooks"),
    ("mcp", "add", "a section [mcp.NAME] of the configuration file, see steersman help mcp"),
    ("mcp", "add-json", "steersman mcp import FILE --write, with {\"mcpServers\": {NAME: …}} in the file"),
    ("mcp", "add-from-claude-desktop", "steersman mcp import FILE --write, with the file of Claude Desktop"),
    ("mcp", "disable", "to take the section [mcp.NAME] out of the configuration file"),
    ("mcp", "get", "steersman mcp doctor NAME, or mcp list"),
    ("mcp", "ls", "steersman mcp list"),
    ("mcp", "remove", "to take the section [mcp.NAME] out of the configuration file"),
    ("models", "list", "steersman models"),
    ("personas", "list", "steersman personas"),
    ("plugin", "disable", "steersman plugin remove NAME"),
    ("plugin", "enable", "steersman plugin add SOURCE NAME"),
    (
        "plugin",
        "install",
        "steersman plugin add SOURCE NAME, where SOURCE is a directory, OWNER/REPOSITORY or an address of git",
    ),
    ("plugin", "ls", "steersman plugin list"),
    ("plugin", "marketplace", "steersman plugin add SOURCE, which lists what the marketplace has"),
    ("plugin", "uninstall", "steersman plugin remove NAME"),
    ("plugin", "update", "steersman plugin add SOURCE NAME once more, which fetches it anew"),
    ("plugin", "validate", "steersman plugin add DIR, which shows all that is read of it and what is not"),
    ("sessions", "list", "steersman sessions"),
    ("skills", "list", "steersman skills"),
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

/// Returns what to say of a command of another host whose first word is one here too.
pub(super) fn meant_below(args: &[OsString]) -> Option<String> {
    let own: Vec<&str> = args.iter().map_while(|arg| arg.to_str().filter(|arg| *arg != "--")).collect();
    let command = CommandLine::command();
    let words = own.windows(2).enumerate().skip(1).map(|(at, pair)| (own.get(at - 1), pair));
    // What stands behind a flag can be its value.
    let is_first = |before: Option<&&str>, first: &str| {
        before.is_none_or(|before| !before.starts_with('-')) && command.find_subcommand(first).is_some()
    };
    let (first, second) = words.into_iter().find_map(|(before, pair)| match pair {
        [first, second] if is_first(before, first) => Some((*first, *second)),
        _ => None,
    })?;
    let (_, _, here) = BELOW.iter().find(|(above, below, _)| *above == first && *below == second)?;
    Some(format!("\"{first} {second}\" is no command of steersman; here it is {here}"))
}

/// Returns what to say where the first word was meant for a command, and words stand behind it.
pub(super) fn mistyped_command(args: &[OsString]) -> Option<String> {
    let first = args.get(1)?.to_str().filter(|first| !first.starts_with('-'))?;
    let command = CommandLine::command();
    let is_near = |name: &&str| *name != first && distance(first, name) <= 2;
    let near = command.get_subcommands().map(clap::Command::get_name).find(is_near)?;
    Some(format!("{first:?} is no command of steersman; do you mean steersman {near}? (see steersman --help)"))
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
