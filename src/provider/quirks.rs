//! What single servers and models want differently, as data: known by host and model, or learned from what they refuse.
//!
//! The history is never changed for it; only the request is. What was learned holds for that model of that server
//! from then on. The tables are in `known` and `refusals`; each quirk is carried out at one place of a dialect's body.

mod efforts;
mod known;
mod refusals;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::provider::{Effort, ProviderError};

pub(super) use efforts::Efforts;

/// Says how requests to one model differ from the plain form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Quirks {
    wants: u16,
    /// How it is told how much to think.
    pub spelling: Spelling,
    /// The member that limits the tokens of a reply.
    pub limit: Limit,
    efforts: Efforts,
}

impl Quirks {
    /// Tells whether a model wants something.
    pub fn wants(self, want: Want) -> bool {
        self.wants & want.bit() != 0
    }

    /// Returns the word for an effort, the nearest that the model knows; `None` when it knows none that is near.
    pub fn effort(self, effort: Effort) -> Option<&'static str> {
        self.efforts.word(effort)
    }

    /// Returns the word for an effort in a dialect that has words of its own, the nearest that the model knows.
    pub fn effort_of(self, words: Efforts, effort: Effort) -> Option<&'static str> {
        let told = self.efforts != Efforts::default();
        if told { words.and(self.efforts) } else { words }.word(effort)
    }

    fn with(mut self, quirk: Quirk) -> Self {
        match quirk {
            Quirk::Wants(want) => self.wants |= want.bit(),
            Quirk::WantsNot(want) => self.wants &= !want.bit(),
            Quirk::Spells(spelling) => self.spelling = spelling,
            Quirk::Limits(limit) => self.limit = limit,
            Quirk::Knows(efforts) => self.efforts = efforts,
        }
        self
    }
}

/// Is one difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quirk {
    Wants(Want),
    WantsNot(Want),
    Spells(Spelling),
    Limits(Limit),
    Knows(Efforts),
}

/// Names what a model may want.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// User and assistant alternate, and system text stands at the start only.
    StrictRoles,
    /// The reasoning of earlier replies is sent back, as `reasoning_content`.
    ReasoningBack,
    /// The `reasoning_details` of earlier replies are not sent back.
    NoDetails,
    /// Usage in a stream is not asked for.
    NoStreamOptions,
    /// No temperature.
    NoTemperature,
    /// System text comes from the `developer`.
    Developer,
    /// Ids of calls are nine letters and digits.
    ShortIds,
    /// The first call of a reply has a signature, be it the one that says that there is none.
    SignedCalls,
    /// The encrypted form of thoughts is not asked for.
    NoEncrypted,
    /// Summaries of thoughts are not asked for.
    NoSummary,
}

impl Want {
    fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// Says where a request tells how much to think. The later ones tell less.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Spelling {
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
    /// Nowhere.
    Nowhere,
}

/// Names the member that limits the tokens of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Limit {
    /// `max_tokens`, the old name; most servers know only this one.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
    /// It takes none.
    Nowhere,
}

/// Remembers the quirks of a program's run. Clones are the same memory.
#[derive(Debug, Clone, Default)]
pub(super) struct QuirkBook(Arc<Mutex<HashMap<(String, String), Page>>>);

/// Is what is known of one model of one server.
#[derive(Debug, Default)]
struct Page {
    known: Quirks,
    learned: Vec<Quirk>,
}

impl Page {
    fn quirks(&self) -> Quirks {
        self.learned.iter().fold(self.known, |quirks, quirk| quirks.with(*quirk))
    }
}

impl QuirkBook {
    /// Returns the quirks of a model.
    pub fn of(&self, host: &str, server: &str, model: &str) -> Quirks {
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let page = book.entry((server.to_owned(), model.to_owned())).or_insert_with(|| Page {
            known: known::quirks(host, model).fold(Quirks::default(), Quirks::with),
            learned: Vec::new(),
        });
        page.quirks()
    }

    /// Learns from a refusal. Returns whether the request can be made in another form now. No quirk is learned twice, so
    /// a server that refuses everything is asked a bounded number of times.
    pub fn learn(&self, server: &str, model: &str, used: Quirks, error: &ProviderError) -> bool {
        let ProviderError::Status { status: 400 | 422 | 500, message, .. } = error else { return false };
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let page = book.entry((server.to_owned(), model.to_owned())).or_default();
        let Some(quirk) = refusals::told(&message.to_lowercase(), used, &page.learned) else { return false };
        if !page.learned.contains(&quirk) {
            tracing::info!(model, ?quirk, "the server wants requests in another form");
            page.learned.push(quirk);
        }
        page.quirks() != used
    }
}
