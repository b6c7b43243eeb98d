//! What a tool says about itself: to the model, and to the agent that runs its calls.
//!
//! Each tool makes its own once and returns it from [`Tool::spec`](crate::tool::Tool::spec); all else is asked of it.

use std::borrow::Cow;

use crate::tool::{Concurrency, OnCancel, Parameters, Traits};

/// The name, description and parameters of a tool, and how its calls run.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// The name that the model calls it by.
    pub name: Cow<'static, str>,
    /// What it does, for the model.
    pub description: Cow<'static, str>,
    /// The arguments it takes.
    pub parameters: Parameters,
    /// Whether it may run at the same time as its neighbours of a batch (D11).
    pub concurrency: Concurrency,
    /// What a cancel does to a call that runs (D6).
    pub on_cancel: OnCancel,
    /// What its calls bring to the agent that makes them, and whether they send.
    pub traits: Traits,
}

impl ToolSpec {
    /// Describes a tool that runs alone, is dropped on cancel, and neither brings nor sends anything; see the setters.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        parameters: Parameters,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters,
            concurrency: Concurrency::Exclusive,
            on_cancel: OnCancel::Drop,
            traits: Traits::NONE,
        }
    }

    /// Sets whether it may run beside others.
    #[must_use]
    pub fn concurrency(self, concurrency: Concurrency) -> Self {
        Self { concurrency, ..self }
    }

    /// Sets what a cancel does to a running call.
    #[must_use]
    pub fn on_cancel(self, on_cancel: OnCancel) -> Self {
        Self { on_cancel, ..self }
    }

    /// Sets what its calls bring and send.
    #[must_use]
    pub fn traits(self, traits: Traits) -> Self {
        Self { traits, ..self }
    }
}
