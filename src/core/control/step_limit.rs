//! The step budget: how many tool calls a turn may make.
//!
//! One per agent, never shared. Counts calls, not rounds; reset at the start of a turn only, never by an injection.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use steersman_base::error::{BuildError, Exceeded};

/// Limits the tool calls of a turn: with `max = N`, N calls run and call N+1 trips. Clones share the count, so that whoever
/// keeps one reads the steps of the running turn from any thread.
///
/// ```
/// use steersman_core::control::StepLimit;
///
/// let limit = StepLimit::new(2)?;
/// assert!(limit.tick().is_ok() && limit.tick().is_ok());
/// assert_eq!(limit.tick().unwrap_err().to_string(), "agent exhausted 2 steps");
/// # Ok::<(), steersman_base::error::BuildError>(())
/// ```
#[derive(Debug, Clone)]
pub struct StepLimit {
    max: u32,
    on_exhausted: OnExhausted,
    count: Arc<StepCount>,
}

#[derive(Debug)]
struct StepCount {
    /// Calls that the running turn may make: the maximum, and as many again each time that the user allowed it.
    allowed: AtomicU32,
    step: AtomicU32,
}

/// What happens when the budget is used up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnExhausted {
    /// A rescue without tools answers from the gathered evidence.
    #[default]
    Synthesize,
    /// The user is asked for as many calls again; without a yes it is [`OnExhausted::Synthesize`].
    Ask,
    /// The turn fails with [`Exceeded`].
    Fail,
}

impl StepLimit {
    /// Makes a budget of `max` tool calls.
    ///
    /// # Errors
    /// An argument error when `max` is 0.
    pub fn new(max: u32) -> Result<Self, BuildError> {
        if max == 0 {
            return Err(BuildError::argument("the step limit must be greater than 0"));
        }
        let count = Arc::new(StepCount { allowed: AtomicU32::new(max), step: AtomicU32::new(0) });
        Ok(Self { max, on_exhausted: OnExhausted::default(), count })
    }

    /// Sets what happens when the budget is used up.
    #[must_use]
    pub fn on_exhausted(mut self, action: OnExhausted) -> Self {
        self.on_exhausted = action;
        self
    }

    /// Counts one tool call.
    ///
    /// # Errors
    /// [`Exceeded`] once the count is greater than the maximum.
    pub fn tick(&self) -> Result<(), Exceeded> {
        let step = self.count.step.fetch_add(1, Ordering::SeqCst).saturating_add(1);
        let max_steps = self.allowed();
        if step > max_steps { Err(Exceeded { max_steps }) } else { Ok(()) }
    }

    /// Sets the count back to 0 and the calls that a turn may make to the maximum. At the start of a turn only.
    pub fn reset(&self) {
        self.count.step.store(0, Ordering::SeqCst);
        self.count.allowed.store(self.max, Ordering::SeqCst);
    }

    /// Allows the running turn as many calls again.
    pub fn extend(&self) {
        self.count.allowed.store(self.allowed().saturating_add(self.max), Ordering::SeqCst);
    }

    /// Returns the calls that the running turn may make in all.
    pub fn allowed(&self) -> u32 {
        self.count.allowed.load(Ordering::SeqCst)
    }

    /// Returns the calls that the running turn may still make.
    pub fn left(&self) -> u32 {
        self.allowed().saturating_sub(self.step())
    }

    /// Returns the budget, in tool calls.
    pub fn max(&self) -> u32 {
        self.max
    }

    /// Returns the tool calls counted so far in this turn.
    pub fn step(&self) -> u32 {
        self.count.step.load(Ordering::SeqCst)
    }

    /// Returns what happens when the budget is used up.
    pub fn exhausted_action(&self) -> OnExhausted {
        self.on_exhausted
    }
}
