//! What the last turn of an agent came to, besides its answer: tokens, cost, rounds, why it ended.

use std::fmt;

use crate::Agent;
use steersman_base::event::{Outcome, TurnFinish, Usage};
use steersman_base::price::dollars;

/// What a turn came to. Returned by [`Agent::last_turn`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LastTurn {
    /// The answer; empty when the turn brought none.
    pub text: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Why the last reply ended; `None` when there was none.
    pub finish: Option<TurnFinish>,
    /// The model requests, repeated ones included.
    pub rounds: u32,
    /// The tool calls.
    pub calls: u32,
    /// The tokens of its own requests together, those of summaries and of a rescue included, those of sub-agents not.
    pub usage: Usage,
}

impl LastTurn {
    /// Makes the report of a turn that has sent nothing.
    pub(crate) fn unsent(outcome: Outcome) -> Self {
        Self { text: String::new(), outcome, finish: None, rounds: 0, calls: 0, usage: Usage::default() }
    }

    /// Returns the cost in billionths of a US dollar, as far as it is known.
    pub fn cost_nanos(&self) -> Option<u64> {
        self.usage.cost_nanos
    }

    /// Returns the cost for people, `$0.0042`, as far as it is known.
    pub fn cost(&self) -> Option<String> {
        self.cost_nanos().map(dollars)
    }
}

/// Writes the answer.
impl fmt::Display for LastTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Agent {
    /// Returns what the last turn came to, also when it failed or was stopped; `None` before the first one has ended.
    ///
    /// ```
    /// use steersman_agent::Agent;
    /// use steersman_base::event::Usage;
    /// use steersman_core::provider::{Played, ScriptedProvider};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let usage = Usage { input: Some(90), output: Some(30), ..Usage::default() };
    /// let model = ScriptedProvider::new([Played::text("Four.").with_usage(usage)]);
    /// let mut agent = Agent::with_provider(model, "You count.").await?;
    /// let answer = agent.ask("How many?").await?;
    /// let turn = agent.last_turn().expect("it has ended");
    /// assert_eq!((turn.text.as_str(), turn.rounds, turn.usage.output), (answer.as_str(), 1, Some(30)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn last_turn(&self) -> Option<&LastTurn> {
        self.last_turn.as_ref()
    }
}
