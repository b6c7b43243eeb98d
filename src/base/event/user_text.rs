//! What a user sends to an agent: the fields of the text, declared once.
//!
//! Requests, replies, queues, events and journals embed it; each adds what it knows besides.

use serde::{Deserialize, Serialize};

use super::Delivery;
use crate::id::ClientId;
use crate::image::Image;
use crate::steering::{RuleScope, TextKind, Trigger};

/// A message of the user to an agent: its text, what it is, and where it enters the conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UserText {
    /// The text, exactly as typed.
    pub text: String,
    /// The point at which it enters.
    #[serde(default)]
    pub delivery: Delivery,
    /// What it is to the agent.
    #[serde(default)]
    pub kind: TextKind,
    /// The agents that it holds for, if it is a rule; absent for the whole tree.
    #[serde(default, skip_serializing_if = "RuleScope::is_usual")]
    pub scope: RuleScope,
    /// What it waits for before it may be delivered; absent where that is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// The client that sent it, as the host knows it; absent for the one that the run was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<ClientId>,
    /// What the user sends beside the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::image::ImageInfo>"))]
    pub images: Vec<Image>,
}

impl UserText {
    /// Makes a text for the next boundary that adds to the task.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Returns whether it starts a turn when none runs: a note or a rule does not, unless it is to be delivered now, and
    /// nothing that waits for a condition.
    pub fn starts_turn(&self) -> bool {
        self.trigger.is_none() && (self.kind.asks_for_work() || self.delivery == Delivery::Now)
    }

    /// Returns the message without its images.
    #[must_use]
    pub fn without_images(self) -> Self {
        Self { images: Vec::new(), ..self }
    }
}

impl<T: Into<String>> From<(T, Delivery)> for UserText {
    fn from((text, delivery): (T, Delivery)) -> Self {
        Self { delivery, ..Self::new(text) }
    }
}

impl<T: Into<String>> From<(T, TextKind)> for UserText {
    fn from((text, kind): (T, TextKind)) -> Self {
        Self { kind, ..Self::new(text) }
    }
}

impl From<String> for UserText {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for UserText {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}
