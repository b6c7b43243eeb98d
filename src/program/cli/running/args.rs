//! The flags of the commands for sessions that run, as clap parses them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use steersman_base::steering::{Condition, ConditionError, RuleScope, TextKind};

/// The session that a command is for.
#[derive(Debug, Clone, Default, Args)]
pub struct SessionArg {
    /// The session, by its ID or a beginning that no other shares [default: the one that runs in this directory, or the
    /// only one].
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// The arguments of `status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// This session alone, by its ID or a beginning that no other shares [default: all that run].
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Write the list as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `inject`.
#[derive(Debug, Args)]
pub struct InjectArgs {
    /// The session.
    #[command(flatten)]
    pub which: SessionArg,
    /// The agent that it is for, such as `researcher 0` [default: the main agent].
    #[arg(long, value_name = "AGENT")]
    pub to: Option<String>,
    /// Deliver it after the turn, as a turn of its own.
    #[arg(long, conflicts_with = "now")]
    pub follow_up: bool,
    /// Deliver it at once: it interrupts the answer being written, or the calls not yet started.
    #[arg(long)]
    pub now: bool,
    /// What it is to the agent: `add` to the task, `instead` of it, a `note` without a reply, or a `rule` from now on.
    #[arg(long, value_name = "KIND", value_parser = kind, default_value = "add")]
    pub kind: TextKind,
    /// The agents that a rule holds for: `agent` alone, its `tree`, or `new-agents` beneath it [default: tree].
    #[arg(long, value_name = "SCOPE", value_parser = scope)]
    pub scope: Option<RuleScope>,
    /// Let it wait for a condition, such as `bash cargo test* fails`, and send it once.
    #[arg(long, value_name = "CONDITION", value_parser = condition)]
    pub when: Option<Condition>,
    /// As --when, but send it each time.
    #[arg(long, value_name = "CONDITION", value_parser = condition, conflicts_with = "when")]
    pub every: Option<Condition>,
    /// Send this image with it: PNG, JPEG, GIF or WebP; a large one is made smaller. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub image: Vec<PathBuf>,
    /// Wait until the text has come that far, and print its receipt; for `answered` the answer too.
    #[arg(long, value_enum, value_name = "STAGE")]
    pub wait: Option<Stage>,
    /// What to send; `-` reads standard input.
    pub text: String,
}

fn kind(name: &str) -> Result<TextKind, String> {
    TextKind::named(name).ok_or_else(|| "add, instead, note or rule".to_owned())
}

fn scope(name: &str) -> Result<RuleScope, String> {
    RuleScope::named(name).ok_or_else(|| "agent, tree or new-agents".to_owned())
}

fn condition(words: &str) -> Result<Condition, ConditionError> {
    words.parse()
}

/// How far a text has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Stage {
    /// It is in the conversation.
    Delivered,
    /// A reply to it has begun.
    Seen,
    /// The turn that it entered has ended.
    Answered,
}

/// The arguments of `watch`.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// The session.
    #[command(flatten)]
    pub which: SessionArg,
    /// Write every event as one line of JSON, as `exec --json` does.
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `cancel`.
#[derive(Debug, Args)]
pub struct CancelArgs {
    /// The session.
    #[command(flatten)]
    pub which: SessionArg,
    /// Cancel this sub-agent alone; whoever spawned it goes on.
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
}

/// The arguments of `attach`.
#[derive(Debug, Args)]
pub struct AttachArgs {
    /// The session, by its ID or a beginning that no other shares [default: the one that runs in this directory, or the
    /// only one].
    #[arg(value_name = "ID")]
    pub session: Option<String>,
}

/// The arguments of `serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// What to send at once; without it the session waits for a text.
    pub prompt: Option<String>,
}

/// The arguments of `approve` and `decline`.
#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The session.
    #[command(flatten)]
    pub which: SessionArg,
    /// The number of the question; `steersman status` lists them.
    pub id: u64,
    /// With `decline`: words for the model. With `approve`: the answer to what an agent asks, numbers of options or words.
    pub words: Vec<String>,
}
