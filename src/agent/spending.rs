//! What the agent says about its own size and cost: each reply is charged to the budget of the tree and told.

use crate::agent::Agent;
use crate::agent::context_size::{self, Size};
use crate::control::ChargeOutcome;
use crate::error::RunError;
use crate::event::{Event, Usage};
use crate::message::Message;
use crate::provider::{ToolSchema, UsageScope};

impl Agent {
    /// Returns an error when the budget is used up: no further request is made.
    pub(super) fn check_budget(&self) -> Result<(), RunError> {
        self.budget.used_up().map_or(Ok(()), |sentence| Err(RunError::Budget(sentence)))
    }

    /// Charges the budget with a reply and tells its tokens. Where the server does not count, a guess at the request and
    /// the text of the reply is charged, so that a limit holds there too.
    pub(super) fn spend(&self, usage: Usage, (messages, tools): (&[Message], &[ToolSchema]), text: &str) {
        let model = self.transport.model_name();
        let usage = if context_size::is_absurd(&usage, self.context_window_cap) {
            // Nonsense uses up no budget and enters no sum.
            Usage { model: usage.model, ..Usage::default() }
        } else {
            usage
        };
        // By the model that answered, else by the one that was asked for. What is known of a model without the user's word
        // the provider has said already: it knows whether the server is one's own.
        let prices = self.budget.prices();
        let asked = || prices.cost_nanos(&Usage { model: self.transport.model.clone(), ..usage.clone() });
        let nanos = prices.cost_nanos(&usage).or_else(asked);
        let tokens = match usage.context() {
            0 => context_size::guess(messages, tools).saturating_add(context_size::guess_text(text)),
            tokens => tokens,
        };
        let charged = self.budget.charge(model, tokens, nanos);
        self.listeners.emit(Event::Tokens(Usage { cost_nanos: nanos, ..usage }));
        if charged == ChargeOutcome::Unpriced {
            self.notice(format!(
                "no price is known for {model}: the budget in money does not count it, only its tokens"
            ));
        }
    }

    /// Says something about the run, for the user alone.
    pub(super) fn notice(&self, text: String) {
        self.listeners.emit(Event::Notice { text });
    }

    /// Returns how large the conversation is.
    pub(super) fn size(&self) -> Size {
        let model = self.transport.model_name();
        self.context_size.of(model, self.history.messages(), self.toolbox.schemas())
    }

    /// Tells how large the conversation is.
    pub(super) fn say_size(&self) {
        let Size { tokens, estimated } = self.size();
        self.listeners.emit(Event::ContextSize { tokens, estimated });
    }

    /// Tells whether a server counted more than the window holds, and is to be believed.
    pub(super) fn is_too_much(&self, usage: &Usage) -> bool {
        let counted = usage.prompt();
        self.context_window_cap.is_some_and(|window| {
            window > 0 && counted > window && counted <= window.saturating_mul(context_size::WINDOWS)
        })
    }

    /// Takes what a server says about a conversation that it refused for its length.
    pub(super) fn learn_overflow(&mut self, tokens: Option<u64>, window: Option<u64>) {
        let window = window.filter(|window| *window > 0);
        if let Some(window) = window.filter(|window| self.context_window_cap.is_none_or(|cap| *window < cap)) {
            self.context_window_cap = Some(window);
            self.listeners.emit(Event::ContextCap { tokens: Some(window) });
        }
        if tokens.is_some() {
            self.learn_size(&Usage { input: tokens, output: Some(0), ..Usage::default() }, 0);
        }
    }

    /// Takes the usage of a reply, unless it is a sum, which tells no size.
    pub(super) fn learn_from(&mut self, usage: &Usage, scope: UsageScope, reply: usize) {
        match scope {
            UsageScope::OneRequest => self.learn_size(usage, reply),
            UsageScope::SeveralRequests => self.say_size(),
        }
    }

    /// Takes what a server says about the conversation behind which `reply` messages of its own stand, and tells the size.
    pub(super) fn learn_size(&mut self, usage: &Usage, reply: usize) {
        let messages = self.history.messages();
        let asked = messages.get(..messages.len().saturating_sub(reply)).unwrap_or_default();
        let (model, window) = (self.transport.model_name(), self.context_window_cap);
        let believed = self.context_size.learn(model, (asked, reply), self.toolbox.schemas(), usage, window);
        if !believed && usage.prompt() > 0 {
            tracing::debug!(prompt = usage.prompt(), "a count of the server is not believed");
        }
        self.say_size();
    }
}
