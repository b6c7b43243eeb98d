//! The sums of a subtree: agents, those that run or need the user, tokens, cost.
//!
//! Kept in step by exchanging what one agent adds, from it up to the root; never recounted.

/// Sums over an agent and everything beneath it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// All agents.
    pub agents: usize,
    /// Those that run.
    pub running: usize,
    /// Those that broke.
    pub failed: usize,
    /// Those that wait for an answer of the user.
    pub asking: usize,
    /// Those that the user paused.
    pub paused: usize,
    /// Those with a warning.
    pub warned: usize,
    /// Tokens of all rounds. Wide enough for any number of agents, so that what was added can be taken out again.
    pub tokens: u128,
    /// What the rounds cost as far as known, billionths of a US dollar.
    pub cost_nanos: u128,
    /// Rounds whose cost is not known.
    pub unpriced: u128,
}

impl Totals {
    /// Adds what an agent brings.
    pub(super) fn add(&mut self, share: &Self) {
        self.agents += share.agents;
        self.running += share.running;
        self.failed += share.failed;
        self.asking += share.asking;
        self.paused += share.paused;
        self.warned += share.warned;
        self.tokens += share.tokens;
        self.cost_nanos += share.cost_nanos;
        self.unpriced += share.unpriced;
    }

    /// Puts what an agent adds now in the place of what it added before.
    pub(super) fn exchange(&mut self, before: &Self, after: &Self) {
        self.add(after);
        self.agents -= before.agents;
        self.running -= before.running;
        self.failed -= before.failed;
        self.asking -= before.asking;
        self.paused -= before.paused;
        self.warned -= before.warned;
        self.tokens -= before.tokens;
        self.cost_nanos -= before.cost_nanos;
        self.unpriced -= before.unpriced;
    }

    /// Returns the sums of usage alone.
    pub(super) fn used(&self) -> Self {
        let Self { tokens, cost_nanos, unpriced, .. } = *self;
        Self { tokens, cost_nanos, unpriced, ..Self::default() }
    }

    /// Returns these sums of usage without a part of them.
    pub(super) fn without(&self, part: &Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(part.tokens),
            cost_nanos: self.cost_nanos.saturating_sub(part.cost_nanos),
            unpriced: self.unpriced.saturating_sub(part.unpriced),
            ..Self::default()
        }
    }

    /// Returns whether nothing here runs, failed, or needs the user: such a subtree may be left out of a list.
    pub fn quiet(&self) -> bool {
        self.running == 0 && self.failed == 0 && self.asking == 0 && self.warned == 0
    }

    /// Returns the tokens as far as they can be shown.
    pub fn tokens(&self) -> u64 {
        u64::try_from(self.tokens).unwrap_or(u64::MAX)
    }
}
