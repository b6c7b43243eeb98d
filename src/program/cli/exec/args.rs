//! The command line of `exec`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::program::cli::steer_stdin::LineForm;
use steersman_core::listener::Deltas;
use steersman_session::stream::StreamLines;

/// The arguments of `exec`.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // Each is a flag.
pub struct ExecArgs {
    /// Write every event as one line of JSON; the same as `--output json`.
    #[arg(long, conflicts_with = "output")]
    pub json: bool,
    /// What standard output gets: the final answer alone, the progress and the answer, every event as one line of JSON,
    /// one JSON object at the end, or lines in the shape of Claude Code (`stream-json`) [default: answer; on a terminal progress].
    #[arg(long, value_enum, value_name = "FORM", hide_possible_values = true, help_heading = "Output")]
    pub output: Option<OutputForm>,
    /// As Claude Code calls the form of its output.
    #[arg(long, value_enum, hide = true, conflicts_with_all = ["output", "json"])]
    pub output_format: Option<ClaudeForm>,
    /// Claude Code wants it for its lines; here they are always whole.
    #[arg(long, hide = true)]
    pub verbose: bool,
    /// Write the pieces of the main agent's answers too, with `stream-json`.
    #[arg(long, help_heading = "Output")]
    pub include_partial_messages: bool,
    /// Write the texts that start turns too, with `stream-json`.
    #[arg(long, help_heading = "Output")]
    pub replay_user_messages: bool,
    /// Write the final answer to this file, as one step.
    #[arg(short = 'o', long, value_name = "FILE", help_heading = "Output")]
    pub output_last_message: Option<PathBuf>,
    /// Whether the JSON has the pieces in which texts arrive.
    #[arg(
        long,
        value_enum,
        value_name = "ON|OFF",
        default_value = "on",
        hide_possible_values = true,
        hide_default_value = true,
        help_heading = "Output"
    )]
    pub deltas: DeltasSetting,
    /// The longest event of the JSON; of a longer one the longest texts are cut [default: 1048576].
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub max_event_bytes: Option<NonZeroUsize>,
    /// A JSON Schema that the final answer must match; one that does not is asked for once more, and then the run ends
    /// with 7. Standard output and the file of the answer get the JSON alone, or nothing.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub output_schema: Option<PathBuf>,
    /// Write an answer that does not match the schema too, and end as if it did.
    #[arg(long, requires = "output_schema", conflicts_with = "strict", help_heading = "Output")]
    pub lenient: bool,
    /// Print the JSON Schema of the output, the input and the result, and do nothing else.
    #[arg(long, help_heading = "Output")]
    pub schema: bool,
    /// Tell by the exit code what stands against a completed run: 3 calls were refused, 4 the answer was synthesized or
    /// cut, 5 budget, time or rounds were used up, 6 the server does not accept the key.
    #[arg(long, help_heading = "Ends")]
    pub strict: bool,
    /// Stop after this time: 90s, 10m, 2h.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Ends")]
    pub max_time: Option<Duration>,
    /// End with the turn of the main agent: sub-agents that work in the background then are stopped, and named.
    #[arg(long, help_heading = "Ends")]
    pub no_wait: bool,
    /// Requests to the model that a turn of the main agent may make.
    #[arg(long, value_name = "N", help_heading = "Ends")]
    pub max_rounds: Option<NonZeroU32>,
    /// What becomes of the texts that an earlier run of the session left pending: `keep` leaves them held, `send` sends them
    /// behind the prompt, `drop` removes them [default: keep].
    #[arg(
        long,
        value_enum,
        value_name = "HOW",
        default_value = "keep",
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub pending: LeftTexts,
    /// Inject each line of standard input: `/stop` cancels, `> text` is a follow-up, `@researcher 0 text` and `@all
    /// text` go to sub-agents that run, `//x`, `\>x` and `@main @x` send `/x`, `>x` and `@x`. A question on
    /// standard error is answered by its number: `/yes 1`, `/session 1`, `/always 1`, `/no 1` or `/no 1 words`.
    #[arg(long)]
    pub steer_stdin: bool,
    /// Read requests from standard input, one JSON object per line (`json`), each answered by a `reply` in the JSON; the session
    /// stays open until `end` or the end of the input. Or user messages in the shape of Claude Code (`stream-json`), each a turn.
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "steer_stdin", hide_possible_values = true)]
    pub input: Option<InputForm>,
    /// As Claude Code calls the form of its input.
    #[arg(long, value_enum, hide = true, conflicts_with_all = ["input", "steer_stdin"])]
    pub input_format: Option<ClaudeInput>,
    /// Read the prompt from this file.
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    pub prompt_file: Option<PathBuf>,
    /// Add this text file to the prompt, as a fenced block, or send this image with it; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,
    /// Send this image with the prompt: PNG, JPEG, GIF or WebP; a large one is made smaller. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub image: Vec<PathBuf>,
    /// Add this file to the system prompt.
    #[arg(long, value_name = "FILE")]
    pub append_system_prompt: Option<PathBuf>,
    /// A rule for what runs without a question, as in the configuration; may be repeated.
    #[arg(long, value_name = "RULE", help_heading = "Permissions")]
    pub allow: Vec<String>,
    /// A rule for what is asked about.
    #[arg(long, value_name = "RULE", help_heading = "Permissions")]
    pub ask: Vec<String>,
    /// A rule for what never runs.
    #[arg(long, value_name = "RULE", help_heading = "Permissions")]
    pub deny: Vec<String>,
    /// A program that decides about what would be asked: it gets the question as JSON on standard input and prints
    /// `{"answer": "yes"}`, or `no` with a `reason`. When it fails, that is a no. No shell reads the line.
    #[arg(long, value_name = "CMD", help_heading = "Permissions")]
    pub permission_command: Option<String>,
    /// The only tools that the main agent gets, separated by commas; `agent` spawns sub-agents.
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Permissions")]
    pub tools: Option<Vec<String>>,
    /// Trust the files of this project for this run when they have this hash, which the warning about them names.
    #[arg(long, value_name = "HASH", help_heading = "Permissions")]
    pub trust_project: Option<String>,
    /// What to send; `-`, or none, reads standard input (not together with --steer-stdin). Beside a prompt, standard input
    /// that is a pipe or a file is added as a fenced block.
    pub prompt: Option<String>,
}

/// What standard output gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputForm {
    /// The final answer alone.
    Answer,
    /// Progress and the answer.
    Progress,
    /// Every event as a line of JSON.
    Json,
    /// One JSON object at the end.
    Result,
    /// Lines of JSON in the shape of Claude Code.
    StreamJson,
}

/// What becomes of texts that an earlier run left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LeftTexts {
    /// They stay, held.
    Keep,
    /// They are sent.
    Send,
    /// They are removed.
    Drop,
}

/// What standard input holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InputForm {
    /// One request as JSON per line.
    Json,
    /// One user message as JSON per line, in the shape of Claude Code.
    StreamJson,
}

/// What Claude Code calls the forms of its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClaudeForm {
    /// The final answer alone.
    Text,
    /// The result alone.
    Json,
    /// A line for each part of an answer, and the result.
    StreamJson,
}

/// What Claude Code calls the forms of its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClaudeInput {
    /// A prompt.
    Text,
    /// One user message as JSON per line.
    StreamJson,
}

/// Whether the JSON has pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DeltasSetting {
    /// It has.
    On,
    /// It has not.
    Off,
}

impl ExecArgs {
    /// Returns what standard output gets, where that was said. Replies need the JSON.
    pub fn form(&self) -> Option<OutputForm> {
        let theirs = self.output_format.map(|form| match form {
            ClaudeForm::Text => OutputForm::Answer,
            ClaudeForm::Json | ClaudeForm::StreamJson => OutputForm::StreamJson,
        });
        let of_input = self.input_form().map(|form| match form {
            InputForm::Json => OutputForm::Json,
            InputForm::StreamJson => OutputForm::StreamJson,
        });
        if self.json { Some(OutputForm::Json) } else { self.output.or(theirs).or(of_input) }
    }

    /// Returns which lines `stream-json` has.
    pub fn stream_lines(&self) -> StreamLines {
        StreamLines {
            only_result: self.output_format == Some(ClaudeForm::Json),
            pieces: self.include_partial_messages,
            prompts: self.replay_user_messages,
        }
    }

    /// Returns what standard input holds, where that was said.
    pub fn input_form(&self) -> Option<InputForm> {
        let theirs = (self.input_format == Some(ClaudeInput::StreamJson)).then_some(InputForm::StreamJson);
        self.input.or(theirs)
    }

    /// Returns what standard input holds, where it is read by lines.
    pub fn line_form(&self) -> LineForm {
        if self.has_json_input() { LineForm::Json } else { LineForm::Words }
    }

    /// Returns whether requests come as JSON.
    pub fn has_json_input(&self) -> bool {
        self.input_form().is_some()
    }

    /// Returns whether somebody can answer questions.
    pub fn can_answer(&self) -> bool {
        self.steer_stdin || self.input_form() == Some(InputForm::Json) || self.permission_command.is_some()
    }
}

impl From<DeltasSetting> for Deltas {
    fn from(setting: DeltasSetting) -> Self {
        match setting {
            DeltasSetting::On => Self::On,
            DeltasSetting::Off => Self::Off,
        }
    }
}

/// Reads a time in seconds (`90s`, or a number alone), minutes (`10m`) or hours (`2h`).
fn duration(text: &str) -> Result<Duration, &'static str> {
    let unit = |suffix, seconds| text.strip_suffix(suffix)?.parse::<u64>().ok()?.checked_mul(seconds);
    let seconds = unit('s', 1).or_else(|| unit('m', 60)).or_else(|| unit('h', 3600)).or_else(|| text.parse().ok());
    let seconds = seconds.filter(|seconds| *seconds > 0).ok_or("it must be a time such as 90s, 10m or 2h")?;
    Ok(Duration::from_secs(seconds))
}
