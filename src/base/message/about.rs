//! What the program knows of a message of the user beyond the text that is sent: whose words stand in it and what they are.
//!
//! Kept with the message, in the journal too, so that a task, its later texts and the rules can be told from the
//! conversation alone: after a compaction, a resume or a branch. No model ever sees it.

use serde::{Deserialize, Serialize};

use crate::id::{AgentId, JobId, MessageId};
use crate::plan::PlanNews;
use crate::steering::{RuleNews, TextKind};

/// What is known of a message of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum UserAbout {
    /// It is a text that the user sent, or the task of a sub-agent.
    Text(DeliveredText),
    /// It tells of a rule that was sent to another agent, or that has changed.
    Rule(RuleNotice),
    /// It tells of the plan: what the user changed, or that a plan is to be accepted first.
    Plan(PlanNotice),
    /// It has the texts of messages that a compaction took out.
    Kept(KeptTexts),
    /// The program tells something of a command in the background; no word of it is the user's.
    Job(JobReport),
    /// It has the images of tool results; no word of it is the user's.
    Images,
    /// The program tells how a sub-agent ended that the user continued; no word of it is the user's but what was asked.
    Agent(AgentReport),
}

/// What a message tells of a sub-agent that the user continued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentReport {
    /// The sub-agent.
    pub agent: AgentId,
}

/// What a message tells of a command in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobReport {
    /// The command that has ended; `None` in older sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
}

/// A text of the user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeliveredText {
    /// The id that the injection returned; `None` for one that came without a queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<MessageId>,
    /// What it is to the agent.
    pub kind: TextKind,
    /// Exactly what the user wrote, where the message has more than that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// The turn that it entered; 0 where that is not known.
    pub turn: u32,
    /// The first round of that turn whose request has it; 0 where that is not known.
    pub round: u32,
    /// Whether a turn and its task began with it: a text that came while a task was open began none.
    pub begins_turn: bool,
}

/// What a message tells of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleNotice {
    /// The text that set the rule.
    pub rule: MessageId,
    /// What it tells.
    pub news: RuleNews,
    /// The words of the rule; `None` once it is withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// How often the rule had been changed.
    #[serde(default)]
    pub version: u32,
}

/// What a message tells of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanNotice {
    /// What it is about.
    pub news: PlanNews,
}

/// The texts of messages that a compaction took out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptTexts {
    /// In the order in which they were delivered, each with its words.
    pub texts: Vec<DeliveredText>,
    /// The number of older ones that found no room.
    pub left_out: usize,
    /// The rules that the message tells, each with the number of its changes.
    pub rules: Vec<(MessageId, u32)>,
    /// Whether an answer to the last of them that asks for work was taken out with them.
    pub is_answered: bool,
}
