//! What single servers and models want differently, as data: known by host, or learned from what they say.
//!
//! The history is never changed for it; only the request is. What was learned holds for that model of that server
//! from then on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::provider::ProviderError;

/// Says how requests to one model differ from the plain form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Quirks {
    /// User and assistant must alternate, and system text stands at the start only.
    pub strict_roles: bool,
    /// The reasoning of earlier replies is sent back.
    pub reasoning_back: bool,
    /// Usage in a stream cannot be asked for.
    pub no_stream_options: bool,
}

impl Quirks {
    fn with(mut self, want: Want) -> Self {
        match want {
            Want::StrictRoles => self.strict_roles = true,
            Want::ReasoningBack => self.reasoning_back = true,
            Want::NoStreamOptions => self.no_stream_options = true,
        }
        self
    }
}

#[derive(Debug, Clone, Copy)]
enum Want {
    StrictRoles,
    ReasoningBack,
    NoStreamOptions,
}

/// Servers whose wants are known, by the end of the host name.
const HOSTS: [(&str, Want); 3] = [
    ("api.deepseek.com", Want::ReasoningBack),
    ("api.moonshot.ai", Want::ReasoningBack),
    ("api.moonshot.cn", Want::ReasoningBack),
];

/// Refusals (status 400, 422 or 500) that tell a want: all of the words must be in the message, in small letters.
const REFUSALS: [(&[&str], Want); 6] = [
    (&["roles", "must", "alternate"], Want::StrictRoles),
    (&["unexpected role", "after role"], Want::StrictRoles),
    (&["system message must be at the beginning"], Want::StrictRoles),
    (&["missing", "reasoning_content"], Want::ReasoningBack),
    (&["reasoning_content", "must be passed"], Want::ReasoningBack),
    (&["stream_options"], Want::NoStreamOptions),
];

/// Remembers the quirks of a program's run. Clones are the same memory.
#[derive(Debug, Clone, Default)]
pub(super) struct QuirkBook(Arc<Mutex<HashMap<(String, String), Quirks>>>);

impl QuirkBook {
    /// Returns the quirks of a model.
    pub fn of(&self, host: &str, server: &str, model: &str) -> Quirks {
        let learned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let learned = learned.get(&(server.to_owned(), model.to_owned())).copied().unwrap_or_default();
        let known = HOSTS.iter().filter(|(suffix, _)| host.ends_with(suffix));
        known.fold(learned, |quirks, (_, want)| quirks.with(*want))
    }

    /// Learns from a refusal. Returns whether the request can be made in another form now.
    pub fn learn(&self, server: &str, model: &str, used: Quirks, error: &ProviderError) -> bool {
        let ProviderError::Status { status: 400 | 422 | 500, message, .. } = error else { return false };
        let message = message.to_lowercase();
        let told = REFUSALS.iter().find(|(words, _)| words.iter().all(|word| message.contains(word)));
        let Some(want) = told.map(|(_, want)| *want).filter(|want| used.with(*want) != used) else { return false };
        tracing::info!(model, ?want, "the server wants requests in another form");
        let mut learned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = learned.entry((server.to_owned(), model.to_owned())).or_default();
        *known = known.with(want);
        true
    }
}
