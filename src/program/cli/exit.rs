//! The end of the program: its exit codes, and the messages on standard error.
//!
//! Every message is sanitised. A closed standard error is ignored.

use std::io::Write as _;
use std::process::ExitCode;

use serde::Serialize;

use steersman_base::event::Outcome;
use steersman_base::text::escaped_json;
use steersman_tui::terminal::signals::INTERRUPTED;

/// The outcome of a run of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The turn completed or was synthesized; 0.
    Done,
    /// The turn failed; 1.
    Failed,
    /// The command line or the configuration is wrong; 2.
    Usage,
    /// The turn was cancelled by `/stop`; 130, as after SIGINT.
    Cancelled,
    /// The turn completed, and something stands against that: an answer that matches no schema, or what `--strict` tells.
    Strict(StrictEnd),
    /// A signal ended the program: 128 and its number.
    Signal(u8),
    /// The screen ended: 0 when the user quit, else 128 and the number of the signal.
    Screen(u8),
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Cancelled => INTERRUPTED,
            Self::Strict(end) => end.code(),
            Self::Signal(code) | Self::Screen(code) => code,
        }
    }

    /// Returns how a command ended; says why, where it failed.
    pub fn from_result(ended: Result<Self, String>, failure: Self) -> Self {
        ended.unwrap_or_else(|sentence| {
            say(&sentence);
            failure
        })
    }

    /// Returns the outcome for a signal with this exit code: SIGINT stops the turn, as `/stop` does.
    pub fn of_signal(code: u8) -> Self {
        if code == INTERRUPTED { Self::Cancelled } else { Self::Signal(code) }
    }

    /// Returns the outcome when a later reason to end follows: the first one, unless the later one is a signal that
    /// ends programs.
    #[must_use]
    pub fn unless_ended_by(self, later: Self) -> Self {
        match later {
            Self::Signal(_) => later,
            Self::Done | Self::Failed | Self::Usage | Self::Cancelled | Self::Strict(_) | Self::Screen(_) => self,
        }
    }
}

/// What stands against a run that completed; all but the schema only by `--strict`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StrictEnd {
    Refused,
    /// A rescue wrote the answer, or it was cut.
    NotWhole,
    /// The budget, the time or the rounds are used up.
    UsedUp,
    /// The server does not accept the key.
    Authentication,
    /// The answer does not match the schema that it was to match.
    NoMatch,
}

impl StrictEnd {
    fn code(self) -> u8 {
        match self {
            Self::Refused => 3,
            Self::NotWhole => 4,
            Self::UsedUp => 5,
            Self::Authentication => 6,
            Self::NoMatch => 7,
        }
    }
}

impl From<Outcome> for Exit {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Completed | Outcome::Synthesized => Self::Done,
            Outcome::Cancelled => Self::Cancelled,
            Outcome::Failed => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Writes to standard output; a closed one is ignored.
pub fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Prints what came of a command, or says why it failed.
pub fn print_outcome(outcome: Result<String, String>, failure: Exit) -> Exit {
    Exit::from_result(outcome.map(|text| print(&text)).map(|()| Exit::Done), failure)
}

/// Writes what a command found as JSON that is safe to print.
///
/// # Errors
/// One sentence, for what cannot be JSON.
pub fn json(found: &impl Serialize) -> Result<String, String> {
    serde_json::to_string_pretty(found).map(|json| escaped_json(json) + "\n").map_err(|error| error.to_string())
}

/// Writes a message to standard error, with the program's name before it.
pub fn say(sentence: &str) {
    let _ = std::io::stderr().write_all(line(sentence).as_bytes());
}

/// Returns a message as a line of standard error.
pub fn line(sentence: &str) -> String {
    format!("steersman: {}\n", visible(sentence))
}

/// Sanitises a text and indents its later lines, so that none looks like a message of the program.
fn visible(text: &str) -> String {
    steersman_base::text::visible(text.trim_end()).replace('\n', "\n    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_signal_decides_the_exit_code_unless_it_is_an_interrupt() {
        let table = [
            (Exit::Cancelled, Exit::Signal(143), 143),
            (Exit::Cancelled, Exit::Signal(129), 129),
            (Exit::Failed, Exit::Signal(143), 143),
            (Exit::Signal(143), Exit::Cancelled, 143),
            (Exit::Signal(129), Exit::Cancelled, 129),
            (Exit::Failed, Exit::Cancelled, 1),
            (Exit::Cancelled, Exit::Failed, 130),
        ];
        for (first, later, code) in table {
            assert_eq!(first.unless_ended_by(later).code(), code, "{first:?}, then {later:?}");
        }
    }
}
