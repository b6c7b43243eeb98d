//! A text of the user between the moment in which a queue accepts it and the one in which its agent takes it.

use std::ops::{Deref, DerefMut};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::UserText;
use crate::id::MessageId;
use crate::steering::{Condition, SentDuring, Trigger};

/// A message that waits for delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pending {
    /// The id that the injection returned.
    pub id: MessageId,
    /// What the user sent.
    #[serde(flatten)]
    pub message: UserText,
    /// Whether it is held back: while the user edits it, and while it is `stale`.
    pub held: bool,
    /// Whether it waited so long that the user must confirm it before it is delivered.
    #[serde(default)]
    pub stale: bool,
    /// When it was accepted.
    #[serde(serialize_with = "super::envelope::micros")]
    pub at: Timestamp,
    /// What the agent did then; absent while no turn ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub during: Option<SentDuring>,
    /// Since when it waits for that; absent without a trigger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_since: Option<Timestamp>,
    /// What it has waited for; absent for a text that waited for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met: Option<Trigger>,
}

impl Pending {
    /// Makes the entry of a message that waits from now on.
    pub fn new(id: MessageId, message: impl Into<UserText>, at: Timestamp) -> Self {
        let message = message.into();
        let (during, met) = (None, None);
        let waits_since = message.trigger.as_ref().map(|_| at);
        Self { id, message, held: false, stale: false, at, during, waits_since, met }
    }

    /// Returns when a condition of minutes is met.
    pub fn due(&self) -> Option<Timestamp> {
        let Some(Condition::Minutes(minutes)) = self.trigger.as_ref().map(|trigger| &*trigger.condition) else {
            return None;
        };
        self.waits_since?.checked_add(jiff::SignedDuration::from_mins(i64::from(*minutes))).ok()
    }
}

/// The fields of what the user sent can be read from it directly.
impl Deref for Pending {
    type Target = UserText;

    fn deref(&self) -> &UserText {
        &self.message
    }
}

impl DerefMut for Pending {
    fn deref_mut(&mut self) -> &mut UserText {
        &mut self.message
    }
}

/// Why a text left its queue without being delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TakenBack {
    /// Its agent was stopped: it is in the message again.
    Stopped,
    /// The user took it into the message.
    ToMessage,
    /// The user deleted it.
    Removed,
    /// The user joined it to this one, which carries its words.
    Merged(MessageId),
}

/// The point at which a pending message enters the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// At the next tool-result boundary, or as the next turn.
    #[default]
    Steer,
    /// Only after the turn has ended, as a turn of its own.
    FollowUp,
    /// At once: it cuts the answer being written, or the calls not yet started. As the next turn when none runs.
    Now,
}
