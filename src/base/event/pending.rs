//! A text of the user between the moment in which a queue accepts it and the one in which its agent takes it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{ClientId, MessageId};
use crate::image::Image;
use crate::steering::{Condition, RuleScope, SentDuring, TextKind, Trigger};

/// A message that waits for delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pending {
    /// The id that the injection returned.
    pub id: MessageId,
    /// The text, exactly as typed.
    pub text: String,
    /// The point at which it will enter.
    pub delivery: Delivery,
    /// What it is to the agent.
    #[serde(default)]
    pub kind: TextKind,
    /// The agents that it holds for, if it is a rule; absent for the whole tree.
    #[serde(default, skip_serializing_if = "RuleScope::is_usual")]
    pub scope: RuleScope,
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
    /// The client that sent it; absent for the one that the run was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<ClientId>,
    /// What it still waits for before it may be delivered; absent where that is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// Since when it waits for that; absent without a trigger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_since: Option<Timestamp>,
    /// What it has waited for; absent for a text that waited for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met: Option<Trigger>,
    /// What the user sent beside the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::image::ImageFacts>"))]
    pub images: Vec<Image>,
}

impl Pending {
    /// Makes a text for the next boundary that adds to the task.
    pub fn new(id: MessageId, text: impl Into<String>, at: Timestamp) -> Self {
        Self {
            id,
            text: text.into(),
            delivery: Delivery::default(),
            kind: TextKind::default(),
            scope: RuleScope::default(),
            held: false,
            stale: false,
            at,
            during: None,
            sender: None,
            trigger: None,
            waits_since: None,
            met: None,
            images: Vec::new(),
        }
    }

    /// Returns whether it starts a turn when none runs: a note or a rule does not, unless it is to be delivered now, and
    /// nothing that waits for a condition.
    pub fn starts_turn(&self) -> bool {
        self.trigger.is_none() && (self.kind.asks_for_work() || self.delivery == Delivery::Now)
    }

    /// Returns when a condition of minutes is met.
    pub fn due(&self) -> Option<Timestamp> {
        let Some(Condition::Minutes(minutes)) = self.trigger.as_ref().map(|trigger| &*trigger.condition) else {
            return None;
        };
        self.waits_since?.checked_add(jiff::SignedDuration::from_mins(i64::from(*minutes))).ok()
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
