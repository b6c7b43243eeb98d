//! Size and cost of the agent: each reply is charged to the budget of the tree and emitted.

use crate::Agent;
use crate::context_size::{self, ConversationSize};
use steersman_base::error::RunError;
use steersman_base::event::{Event, Usage};
use steersman_base::message::Message;
use steersman_base::sync::lock;
use steersman_core::control::ChargeOutcome;
use steersman_core::provider::{ToolSchema, UsageScope};

impl Agent {
    /// Returns an error when the budget is used up: no further request is made.
    pub(super) fn check_budget(&self) -> Result<(), RunError> {
        self.tree.budget.used_up().map_or(Ok(()), |sentence| Err(RunError::Budget(sentence)))
    }

    /// Charges the budget with a reply and emits its tokens. Where the server does not count, a guess at the
    /// request and the text of the reply is charged, so that a limit works there too.
    pub(super) fn spend(&self, usage: Usage, (messages, tools): (&[Message], &[ToolSchema]), text: &str) {
        let model = self.tree.transport.model_name();
        let usage = if context_size::is_impossible(&usage, self.context_window_cap) {
            // An impossible count uses up no budget and enters no sum.
            Usage { model: usage.model, ..Usage::default() }
        } else {
            usage
        };
        // By the model that answered, else by the requested one. The provider has already set the cost of models with a
        // known price: it knows whether the server is the user's own.
        let prices = self.tree.budget.prices();
        let asked = || prices.cost_nanos(&Usage { model: self.tree.transport.model.clone(), ..usage.clone() });
        let nanos = prices.cost_nanos(&usage).or_else(asked);
        let tokens = match usage.context() {
            0 => context_size::guess(messages, tools).saturating_add(context_size::guess_text(text)),
            tokens => tokens,
        };
        let charged = self.tree.budget.charge(model, tokens, nanos);
        let usage = Usage { cost_nanos: nanos, ..usage };
        lock(&self.turn_usage).add(&usage);
        self.listeners.emit(Event::Tokens(usage));
        if charged == ChargeOutcome::Unpriced {
            self.notice(format!(
                "no price is known for {model}: the budget in money does not count it, only its tokens"
            ));
        }
    }

    /// Emits a notice about the run, for the user alone.
    pub(super) fn notice(&self, text: String) {
        self.listeners.emit(Event::Notice { text });
    }

    pub(super) fn size(&self) -> ConversationSize {
        let model = self.tree.transport.model_name();
        self.context_size.measure(model, self.history.messages(), self.toolbox.schemas())
    }

    /// Returns how large the conversation is.
    pub(super) fn emit_size(&self) {
        let ConversationSize { tokens, estimated } = self.size();
        self.listeners.emit(Event::ContextSize { tokens, estimated });
    }

    /// Returns whether a server's plausible count is larger than the window.
    pub(super) fn is_too_much(&self, usage: &Usage) -> bool {
        let counted = usage.prompt();
        self.context_window_cap.is_some_and(|window| {
            window > 0 && counted > window && counted <= window.saturating_mul(context_size::MOST_WINDOWS)
        })
    }

    /// Takes the sizes that a server reports when it refuses a conversation for its length.
    pub(super) fn record_overflow(&mut self, tokens: Option<u64>, window: Option<u64>) {
        let window = window.filter(|window| *window > 0);
        if let Some(window) = window.filter(|window| self.context_window_cap.is_none_or(|cap| *window < cap)) {
            self.context_window_cap = Some(window);
            self.listeners.emit(Event::ContextCap { tokens: Some(window) });
        }
        if tokens.is_some() {
            self.record_size(&Usage { input: tokens, output: Some(0), ..Usage::default() }, 0);
        }
    }

    /// Takes the usage of a reply, unless it is a sum over several requests.
    pub(super) fn record_usage(&mut self, usage: &Usage, scope: UsageScope, reply: usize) {
        match scope {
            UsageScope::OneRequest => self.record_size(usage, reply),
            UsageScope::SeveralRequests => self.emit_size(),
        }
    }

    /// Takes a server's usage of the conversation, whose last `reply` messages are its output, and emits the size.
    pub(super) fn record_size(&mut self, usage: &Usage, reply: usize) {
        let messages = self.history.messages();
        let asked = messages.get(..messages.len().saturating_sub(reply)).unwrap_or_default();
        let (model, window) = (self.tree.transport.model_name(), self.context_window_cap);
        let believed = self.context_size.record_usage(model, (asked, reply), self.toolbox.schemas(), usage, window);
        if !believed && usage.prompt() > 0 {
            tracing::debug!(prompt = usage.prompt(), "ignored an impossible count of the server");
        }
        self.emit_size();
    }
}
