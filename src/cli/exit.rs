//! How the program ends: its exit codes, and the sentences it says on standard error.
//!
//! Everything said passes the sanitiser. A closed standard error is no reason to fail.

use std::io::Write as _;
use std::process::ExitCode;

use crate::event::Outcome;

/// Is the way a start of the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The turn completed or was synthesized; 0.
    Done,
    /// The turn failed; 1.
    Failed,
    /// The command line or the configuration is wrong; 2.
    Usage,
    /// The turn was cancelled by `/stop` or SIGINT; 130.
    Cancelled,
    /// SIGTERM; 143.
    Terminated,
    /// SIGHUP; 129.
    HungUp,
    /// The screen ended: 0 when the user quit, else what the signal stands for.
    Screen(u8),
}

impl Exit {
    /// Returns the number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::HungUp => 129,
            Self::Cancelled => 130,
            Self::Terminated => 143,
            Self::Screen(code) => code,
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

/// Says one sentence on standard error, with the program's name before it.
pub fn say(sentence: &str) {
    let _ = writeln!(std::io::stderr(), "steersman: {}", visible(sentence));
}

/// Makes a text safe to show on a line of its own: sanitised, and later lines indented, so that none looks like ours.
fn visible(text: &str) -> String {
    crate::text::visible(text.trim_end()).replace('\n', "\n    ")
}
