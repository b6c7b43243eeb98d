//! The command line as clap parses it. Nothing is interpreted here; that is done in `config`.
//!
//! The flags are global: they come before or after `exec`. A prompt that is the name of a sub-command comes after `--`
//! (`steersman -- exec`).

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::program::cli::archive::ArchiveCommand;
use crate::program::cli::exec::args::ExecArgs;
use crate::program::cli::mcp::McpCommand;
use crate::program::cli::plugins::PluginCommand;
use crate::program::cli::run_settings::Setting;
use crate::program::cli::running::args::{
    AnswerArgs, AttachArgs, CancelArgs, InjectArgs, ServeArgs, StatusArgs, WatchArgs,
};
use crate::program::config::{Layer, Provider, SandboxKind, SandboxSection, ScreenSection};
use steersman_base::price::Money;
use steersman_core::approval::Mode;
use steersman_core::provider::Effort;
use steersman_session::journal::SessionId;

/// Watch an agent work, and steer it while it runs.
///
/// Without a configured model the embedded one answers on the screen: no key, no network. What you type while a
/// turn runs is pending, visibly, and enters the conversation at the next tool-result boundary.
#[derive(Debug, Parser)]
#[command(name = "steersman", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    override_usage = "steersman [OPTIONS] [PROMPT]\n       steersman [OPTIONS] exec [--json] [--steer-stdin] [PROMPT]\n       steersman [OPTIONS] -p PROMPT (the same as exec PROMPT)\n       steersman [OPTIONS] resume|fork [ID] [PROMPT]\n       steersman [OPTIONS] continue [PROMPT]\n       steersman [OPTIONS] models [--json]\n       steersman [OPTIONS] doctor\n       steersman [OPTIONS] personas\n       steersman [OPTIONS] skills\n       steersman plugin add SOURCE | list | remove NAME\n       steersman [OPTIONS] hooks [--ask-again]\n       steersman [OPTIONS] mcp list|doctor|import|login|logout\n       steersman sessions [--json]\n       steersman search WORDS\n       steersman export ID [--format FORMAT] [-o FILE]\n       steersman replay ID --print [--at N]\n       steersman status [--session ID] [--json]\n       steersman inject [--wait STAGE] TEXT\n       steersman watch [--json]\n       steersman cancel\n       steersman approve ID\n       steersman decline ID [WORDS]\n       steersman attach [ID]\n       steersman [OPTIONS] serve [PROMPT]\n       steersman keys\n       steersman help [TOPIC]\n       steersman man\n       steersman completions SHELL"
)]
#[command(after_help = "A prompt that is the name of a command goes after two dashes: steersman -- exec")]
pub struct CommandLine {
    /// What to send at once; without it the screen waits for you to type.
    pub prompt: Option<String>,
    /// The flags that every command takes.
    #[command(flatten)]
    pub flags: Flags,
    /// What to do instead of opening the screen.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The sub-commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run one turn without a screen, and the turns that texts sent meanwhile start.
    ///
    /// It needs a configured model; `--provider demo` is the embedded one.
    ///
    /// Exit code: 0 completed, 1 failed, 2 usage or configuration, 7 the answer does not match the schema, 130 cancelled,
    /// 143 SIGTERM, 129 SIGHUP; with --strict also 3 calls were refused, 4 synthesized or cut, 5 budget, time or rounds, 6 authentication.
    Exec(Box<ExecArgs>),
    /// Go on with a session on the screen, by its ID or a beginning that no other shares; without one you choose it from a
    /// list. The same as --resume.
    Resume(SessionArgs),
    /// Go on with the newest session of this directory on the screen. The same as --continue.
    Continue {
        /// What to send at once.
        prompt: Option<String>,
    },
    /// Begin a new session with all of another, which stays as it is; without an ID with the newest of this directory. The
    /// same as --fork.
    Fork(SessionArgs),
    /// Print the configured MCP servers, check them, log in, or take over those of other programs.
    #[command(subcommand)]
    Mcp(McpCommand),
    /// Print which sub-agents there are, their tools and budgets, and what each could leak.
    Personas,
    /// Print the skills and custom commands, and what is left out and why.
    Skills,
    /// Add plugins of Claude Code, print them, or remove one.
    #[command(subcommand)]
    Plugin(PluginCommand),
    /// Print the hooks that there are, what each is for, and whether it runs here.
    Hooks {
        /// Forget what you said of the hooks of other programs: the next start asks again.
        #[arg(long)]
        ask_again: bool,
    },
    /// Print the models that the configured server offers, and those of every other server that can be switched to:
    /// profiles, services whose key is in the environment, model servers of this machine, the embedded model.
    Models(ModelsArgs),
    /// Check terminal, configuration, key, connection and model, one line each, and say what to do.
    ///
    /// Exit code: 0 when all is well, 1 when there is a problem.
    Doctor,
    /// Print the sessions that are saved, the newest first, or remove some.
    Sessions(SessionsArgs),
    /// What is done with saved sessions.
    #[command(flatten)]
    Archive(ArchiveCommand),
    /// Print the sessions that run: what each agent does, and what waits for you.
    Status(StatusArgs),
    /// Send a text to an agent of a session that runs.
    ///
    /// Exit code: 0 accepted, or with --wait as far as asked; 1 not; 2 usage.
    Inject(InjectArgs),
    /// Write what a session does from now on, until it ends.
    Watch(WatchArgs),
    /// Stop the turn of a session that runs, or one of its sub-agents.
    Cancel(CancelArgs),
    /// Show what a question is about, exactly, and approve it this once.
    Approve(AnswerArgs),
    /// Show what a question is about, exactly, and decline it.
    Decline(AnswerArgs),
    /// Open one more screen on a session that runs. Closing it leaves the session as it is.
    Attach(AttachArgs),
    /// Run a session without a screen; `steersman attach` opens one on it.
    ///
    /// It ends by SIGINT or SIGTERM, or by /quit in the last screen that is attached.
    Serve(ServeArgs),
    /// Print the usual keys as a file of keys, with what each action does.
    Keys,
    /// Print a page of the manual; without a topic the list of pages, with other words what a search for them finds.
    Help {
        /// A topic, or words to search for.
        words: Vec<String>,
    },
    /// Print the manual page for `man`: `steersman man | man -l -`.
    Man,
    /// Print the completion script of a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// The arguments of `resume` and `fork`.
#[derive(Debug, Args)]
pub struct SessionArgs {
    /// The newest session of this directory; then the first word is the prompt.
    #[arg(long)]
    pub last: bool,
    /// The session, by its ID or a beginning that no other shares.
    pub id: Option<String>,
    /// What to send at once.
    pub prompt: Option<String>,
}

impl SessionArgs {
    /// Returns the session, where one is named, and the prompt.
    pub fn id_and_prompt(&self) -> (Option<String>, Option<String>) {
        if self.last { (None, self.id.clone()) } else { (self.id.clone(), self.prompt.clone()) }
    }
}

/// The arguments of `models`.
#[derive(Debug, Args)]
pub struct ModelsArgs {
    /// Write the lists as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `sessions`.
#[derive(Debug, Args)]
pub struct SessionsArgs {
    /// Write the list as JSON.
    #[arg(long)]
    pub json: bool,
    /// What to do instead of printing the list.
    #[command(subcommand)]
    pub command: Option<SessionsCommand>,
}

/// What `sessions` does instead of printing the list.
#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// Remove one session.
    Rm {
        /// Its ID, or a beginning that no other shares.
        id: String,
    },
    /// Remove the sessions that nobody went on with for some time, or the oldest above a size; those that run now stay.
    #[command(group(clap::ArgGroup::new("which").required(true).multiple(true).args(["older", "above"])))]
    Prune {
        /// The time, in days or weeks.
        #[arg(long, value_name = "90d", value_parser = days)]
        older: Option<u32>,
        /// The size of all that stay together; those that nobody went on with the longest go first.
        #[arg(long, value_name = "2GB", value_parser = size)]
        above: Option<u64>,
    },
}

/// Reads a size: `500MB`, `2GB`.
fn size(text: &str) -> Result<u64, &'static str> {
    let count = |suffix, bytes| text.strip_suffix(suffix)?.trim().parse::<u64>().ok()?.checked_mul(bytes);
    let size = count("GB", 1_000_000_000).or_else(|| count("MB", 1_000_000)).or_else(|| count("kB", 1_000));
    size.ok_or("it must be a size such as 500MB or 2GB")
}

/// Reads a number of days (`90d`) or weeks (`12w`).
fn days(text: &str) -> Result<u32, &'static str> {
    let count = |suffix, days| text.strip_suffix(suffix)?.parse::<u32>().ok()?.checked_mul(days);
    count('d', 1).or_else(|| count('w', 7)).ok_or("it must be a number of days or weeks, such as 90d or 12w")
}

/// The flags that every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Model and configuration")]
#[allow(clippy::struct_excessive_bools)] // Each is a flag.
pub struct Flags {
    /// How the server is asked: `openai` is any server that speaks chat completions; `demo` is the embedded model and
    /// wins over all else.
    #[arg(long, global = true, value_enum)]
    pub provider: Option<Provider>,
    /// The model server's address, with or without /v1.
    #[arg(long, global = true, value_name = "URL")]
    pub base_url: Option<String>,
    /// The model's name; a base URL without one asks the server and takes its only or first model.
    #[arg(short = 'm', long, global = true, value_name = "NAME")]
    pub model: Option<String>,
    /// The environment variable that holds the key [default: that of the service at the base URL, as `OPENAI_API_KEY`].
    #[arg(long, global = true, value_name = "NAME")]
    pub api_key_env: Option<String>,
    /// The profile of the configuration file to use: a server by a name.
    #[arg(long, global = true, value_name = "NAME")]
    pub profile: Option<String>,
    /// A PEM file of authorities to trust beside those of the system, for a server or a proxy with a certificate of its
    /// own.
    #[arg(long, global = true, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// How much the model thinks before it answers, where it can be told.
    #[arg(long, global = true, value_parser = effort_values(), value_name = "HOW")]
    pub reasoning_effort: Option<Effort>,
    /// How random the model's choice of words is, from 0 to 2.
    #[arg(long, global = true, value_name = "N")]
    pub temperature: Option<f64>,
    /// Tokens that one reply may have, thinking included.
    #[arg(long, global = true, value_name = "N", value_parser = at_least_one::<NonZeroU64>)]
    pub max_tokens: Option<NonZeroU64>,
    /// Tool calls that a turn may make [default: 300].
    #[arg(long, global = true, value_name = "N", value_parser = at_least_one::<NonZeroU32>)]
    pub max_steps: Option<NonZeroU32>,
    /// Ask for whole replies instead of pieces.
    #[arg(long, global = true)]
    pub no_stream: bool,
    /// The model's context window in tokens, where the server does not tell it.
    #[arg(long, global = true, value_name = "N", value_parser = at_least_one::<NonZeroU64>)]
    pub context_window: Option<NonZeroU64>,
    /// US dollars that the session may spend, sub-agents included: 2 or 0.50.
    #[arg(long, global = true, value_name = "DOLLARS")]
    pub max_cost: Option<Money>,
    /// Tokens that the session may use, sub-agents included; each request counts its whole prompt.
    #[arg(long, global = true, value_name = "N", value_parser = at_least_one::<NonZeroU64>)]
    pub max_tokens_total: Option<NonZeroU64>,
    /// How full the context window is, in per cent, when older rounds are summarised; 0 is never beforehand
    /// [default: 85].
    #[arg(long, global = true, value_name = "PERCENT")]
    pub compact_at: Option<u8>,
    /// The directory to work in; tools reach nothing outside it [default: the current one].
    #[arg(long, global = true, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// The configuration file [default: steersman/config.toml in the user's configuration directory].
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Set a key of the configuration for this run: `max_steps=20`, `sandbox.network=true`, `mcp.NAME.enabled=false`; may be
    /// repeated. `-c KEY=VALUE` is the same.
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = Setting::parse)]
    pub set: Vec<Setting>,
    /// Use the MCP servers of this file too, which is like the `.mcp.json` of a project; may be repeated.
    #[arg(long, global = true, value_name = "FILE")]
    pub mcp_config: Vec<PathBuf>,
    /// Add sub-agents for this run: a JSON object of agents by their names, each with `description`, `prompt`, `tools`;
    /// or a file that holds it.
    #[arg(long, global = true, value_name = "JSON|FILE")]
    pub agents: Option<String>,
    /// A directory beside the working directory that tools read and commands may change; may be repeated.
    #[arg(long, global = true, value_name = "DIR")]
    pub add_dir: Vec<PathBuf>,
    /// Read no configuration file of the user.
    #[arg(long, global = true, conflicts_with = "config")]
    pub ignore_user_config: bool,
    /// A file that replaces the default system prompt.
    #[arg(long, global = true, value_name = "FILE")]
    pub system_prompt: Option<PathBuf>,
    /// How much runs without a question: `ask` (reading and new files), `auto-edit` (files of the workspace too),
    /// `auto` (everything, in the sandbox), `auto-without-sandbox`, `read-only`, `plan` (as read-only until you accept the
    /// plan of the agent) [default: ask].
    #[arg(long, global = true, value_parser = mode_values(), hide_possible_values = true)]
    pub mode: Option<Mode>,
    /// What confines commands [default: the best that this machine has].
    #[arg(long, global = true, value_enum)]
    pub sandbox: Option<SandboxKind>,
    /// The theme of the screen: `auto`, `dark`, `light`, `high-contrast`, `plain`, or a file of your own.
    #[arg(long, global = true, value_name = "NAME")]
    pub theme: Option<String>,
    /// Write lines instead of drawing a screen: for a screen reader, a very plain terminal or a pipe.
    #[arg(long, global = true)]
    pub screen_reader: bool,
    /// A file of keys that changes the usual ones; `steersman keys` prints those [default: keys.toml beside the
    /// configuration file].
    #[arg(long, global = true, value_name = "FILE")]
    pub keys: Option<PathBuf>,
    /// Answer yes to every question that no rule denies. Never to one about a protected place (hooks, shell start
    /// files, this program's configuration and the like) or about trusting a project: the screen still asks these, `exec`
    /// refuses.
    #[arg(long, global = true)]
    pub yes: bool,
    /// Run calls even if Steersman cannot read a hook that guards them; without this it blocks them until you fix the file.
    #[arg(long, global = true)]
    pub without_broken_hooks: bool,
    /// Which session it is.
    #[command(flatten)]
    pub session: SessionFlags,
}

/// The flags that say which session it is.
#[derive(Debug, Clone, Args)]
pub struct SessionFlags {
    /// Go on with the newest session of this directory.
    #[arg(short = 'c', long = "continue", global = true, conflicts_with = "resume")]
    pub continues: bool,
    /// Go on with this session, by its ID or a beginning that no other shares; without an ID the screen lets you choose
    /// one.
    #[arg(short = 'r', long, global = true, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,
    /// Let no other terminal see or steer this session.
    #[arg(long, global = true)]
    pub no_socket: bool,
    /// Begin a new session with all of this one, which stays as it is; by its ID or a beginning that no other shares.
    #[arg(long, global = true, value_name = "ID", conflicts_with_all = ["continues", "resume"],
        value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub fork: Option<String>,
    /// Give the new session this name, a UUID that no session has.
    #[arg(long, global = true, value_name = "UUID", conflicts_with_all = ["continues", "resume"])]
    pub session_id: Option<SessionId>,
    /// Save nothing of this session.
    #[arg(long, global = true, conflicts_with_all = ["continues", "resume", "fork", "session_id"])]
    pub ephemeral: bool,
}

/// Parses a number that is not 0.
fn at_least_one<T: FromStr>(text: &str) -> Result<T, &'static str> {
    text.parse().map_err(|_| "it must be a whole number, at least 1")
}

impl Flags {
    /// Returns the flags as the top layer of the configuration.
    pub fn layer(&self) -> Layer {
        // The last one counts.
        self.set.iter().rev().fold(self.named_layer(), |layer, setting| layer.or(setting.layer()))
    }

    fn named_layer(&self) -> Layer {
        Layer {
            provider: self.provider,
            base_url: self.base_url.clone(),
            model: self.model.clone(),
            api_key_env: self.api_key_env.clone(),
            default_profile: self.profile.clone(),
            ca_file: self.ca_file.clone(),
            reasoning_effort: self.reasoning_effort,
            temperature: self.temperature,
            max_tokens: self.max_tokens,
            max_steps: self.max_steps,
            stream: self.no_stream.then_some(false),
            context_window: self.context_window,
            system_prompt: self.system_prompt.clone(),
            max_cost: self.max_cost,
            max_tokens_total: self.max_tokens_total,
            compact_at: self.compact_at,
            mode: self.mode,
            screen: Some(ScreenSection {
                theme: self.theme.clone(),
                screen_reader: self.screen_reader.then_some(true),
                ..ScreenSection::default()
            }),
            sandbox: self.sandbox.map(|kind| SandboxSection { kind: Some(kind), ..SandboxSection::default() }),
            ..Layer::default()
        }
    }
}

// Values of flags that are types of the library, each with a sentence for the manual page and for completions.

const EFFORTS: [(Effort, &str, &str); 6] = [
    (Effort::Off, "off", "None"),
    (Effort::Minimal, "minimal", "As little as possible"),
    (Effort::Low, "low", "A little"),
    (Effort::Medium, "medium", "In between"),
    (Effort::High, "high", "Much"),
    (Effort::Max, "max", "As much as possible"),
];

fn mode_help(mode: Mode) -> &'static str {
    match mode {
        Mode::Ask => "Reading runs; overwriting, editing, commands and the network are asked about",
        Mode::AutoEdit => "Files within the workspace are written without a question",
        Mode::Auto => "Everything runs that the sandbox confines; needs a sandbox",
        Mode::AutoWithoutSandbox => "As auto, also without a sandbox; only chosen by name",
        Mode::ReadOnly => "Nothing is changed or sent, and no command runs",
        Mode::Plan => "As read-only, until you accept the plan of the agent",
    }
}

/// Returns the parser of an approval mode.
fn mode_values() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(|mode| PossibleValue::new(mode.name()).help(mode_help(mode))))
        .try_map(|name| Mode::named(&name).ok_or("no such mode"))
}

/// Returns the parser of an amount of thinking.
fn effort_values() -> impl TypedValueParser<Value = Effort> {
    PossibleValuesParser::new(EFFORTS.map(|(_, name, help)| PossibleValue::new(name).help(help))).try_map(|name| {
        let found = EFFORTS.into_iter().find(|(_, known, _)| *known == name);
        found.map(|(effort, ..)| effort).ok_or("no such amount")
    })
}
