//! Differences of single servers and models, as data: known by host and model, or learned from refusals.
//!
//! Quirks change the request, never the history. A learned quirk holds for that model of that server from then on. The
//! tables are in `known` and `refusals`; each quirk is applied at one place of a dialect's body.
//!
//! # Where things are
//!
//! - the words for efforts that a model knows, and the nearest of them to an effort: `efforts.rs`

mod efforts;
mod known;
mod refusals;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use steersman_base::sync::lock;
use steersman_core::provider::{Effort, ProviderError};

pub(super) use efforts::Efforts;

/// The differences of requests to one model from the plain form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Quirks {
    wants: u16,
    pub effort_form: EffortForm,
    /// The member that limits the tokens of a reply.
    pub limit: TokenLimit,
    efforts: Efforts,
}

impl Quirks {
    /// Returns whether a model needs a difference.
    pub(crate) fn wants(self, want: Want) -> bool {
        self.wants & want.bit() != 0
    }

    /// Returns the model's nearest word for an effort; `None` when none is near.
    pub(crate) fn effort(self, effort: Effort) -> Option<&'static str> {
        self.efforts.word(effort)
    }

    /// Returns the model's nearest word for an effort, in a dialect with words of its own.
    pub(crate) fn effort_of(self, words: Efforts, effort: Effort) -> Option<&'static str> {
        let known = self.efforts != Efforts::default();
        if known { words.and(self.efforts) } else { words }.word(effort)
    }

    fn with(mut self, quirk: Quirk) -> Self {
        match quirk {
            Quirk::Wants(want) => self.wants |= want.bit(),
            Quirk::WantsNot(want) => self.wants &= !want.bit(),
            Quirk::Effort(effort_form) => self.effort_form = effort_form,
            Quirk::Limits(limit) => self.limit = limit,
            Quirk::Knows(efforts) => self.efforts = efforts,
        }
        self
    }
}

/// One difference of a server or model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quirk {
    Wants(Want),
    WantsNot(Want),
    Effort(EffortForm),
    Limits(TokenLimit),
    Knows(Efforts),
}

/// A difference that is either there or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// User and assistant alternate, and system text comes at the start only.
    StrictRoles,
    /// The reasoning of earlier replies is sent back, as `reasoning_content`.
    ReasoningBack,
    /// The `reasoning_details` of earlier replies are not sent back.
    NoDetails,
    /// Usage in a stream is not asked for.
    NoStreamOptions,
    NoTemperature,
    /// System text has the role `developer`.
    Developer,
    /// Ids of calls are nine letters and digits.
    ShortIds,
    /// The first call of a reply has a signature, possibly the placeholder for none.
    SignedCalls,
    /// The encrypted form of thoughts is not asked for.
    NoEncrypted,
    /// Summaries of thoughts are not asked for.
    NoSummary,
    /// A form of the answer and tools do not go together.
    FormatAlone,
    /// No form of the answer.
    NoFormat,
    NoImages,
}

impl Want {
    fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// The member in which a request sets the thinking effort. Later ones say less.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum EffortForm {
    /// `reasoning_effort`, and for the chat template whether to think at all.
    Template,
    /// `reasoning_effort`.
    #[default]
    Word,
    /// `reasoning: {effort}`.
    Nested,
    /// `reasoning: {enabled}`, and `reasoning_effort` when it is.
    Enabled,
    /// `thinking: {type}`, and `reasoning_effort` when it is enabled.
    Switch,
    /// `thinking: {type}` alone.
    SwitchOnly,
    /// `enable_thinking`.
    Flag,
    Nowhere,
}

/// The member that limits the tokens of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum TokenLimit {
    /// `max_tokens`, the old name; most servers know only this one.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
    /// None.
    Nowhere,
}

/// The quirks known and learned while the program runs. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct QuirkBook(Arc<Mutex<HashMap<(String, String), ModelQuirks>>>);

/// The quirks of one model of one server.
#[derive(Debug, Default)]
struct ModelQuirks {
    known: Quirks,
    learned: Vec<Quirk>,
}

impl ModelQuirks {
    fn quirks(&self) -> Quirks {
        self.learned.iter().fold(self.known, |quirks, quirk| quirks.with(*quirk))
    }
}

impl QuirkBook {
    pub(crate) fn for_model(&self, host: &str, server: &str, model: &str) -> Quirks {
        let mut book = lock(&self.0);
        let page = book.entry((server.to_owned(), model.to_owned())).or_insert_with(|| ModelQuirks {
            known: known::quirks(host, model).fold(Quirks::default(), Quirks::with),
            learned: Vec::new(),
        });
        page.quirks()
    }

    /// Learns from a refusal. Returns whether the request can now be sent in another form. No quirk is learned
    /// twice, so a server that refuses everything gets a bounded number of requests.
    pub(crate) fn learn(&self, server: &str, model: &str, used: Quirks, error: &ProviderError) -> bool {
        let ProviderError::Status { status: 400 | 422 | 500, message, .. } = error else { return false };
        let mut book = lock(&self.0);
        let page = book.entry((server.to_owned(), model.to_owned())).or_default();
        let Some(quirk) = refusals::new_quirk(&message.to_lowercase(), used, &page.learned) else { return false };
        if !page.learned.contains(&quirk) {
            tracing::info!(model, ?quirk, "the server needs requests in another form");
            page.learned.push(quirk);
        }
        page.quirks() != used
    }
}
