//! How a turn or an agent ended, and how a paused agent continued.
//!
//! Their words are part of the wire form.

use serde::{Deserialize, Serialize};

/// The outcome of a turn or an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The model gave its final answer.
    Completed,
    /// The step budget was used up and the rescue answered.
    Synthesized,
    /// The user stopped it.
    Cancelled,
    /// Something broke; a message says what.
    Failed,
}

/// The way in which a paused agent continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Decided {
    /// It continued; the call runs as the model wrote it.
    Run,
    /// The call runs with other arguments.
    Edited,
    /// The call does not run; the model gets the reason.
    Skipped,
    /// A message that is to be delivered now ended the pause.
    Message,
    /// The run was stopped.
    Cancelled,
}
