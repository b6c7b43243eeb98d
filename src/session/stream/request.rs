//! What a program may send to a run, one JSON object per line (`exec --input json`).
//!
//! Each is one [`Request`] of the protocol in shorter words, with an id that the reply repeats. Members have the names that
//! the events have; the earlier ones (`to`, `words`) are read too.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use steersman_base::event::{Delivery, UserText};
use steersman_base::id::{AgentId, CallId, MessageId};
use steersman_base::message::Arguments;
use steersman_base::plan::PlanEdit;
use steersman_base::price::Money;
use steersman_base::protocol::{
    Answer, ApprovalId, BudgetLimits, Decision, PauseState, QueueOperation, Request, TriggerChange, Withdrawn,
};
use steersman_base::steering::{Condition, RuleChange, RuleScope, TextKind, Trigger};
use steersman_images::attach_file;

/// One line of input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct InputLine {
    /// Any value; the reply repeats it.
    #[serde(default)]
    pub id: Value,
    /// What is asked for.
    #[serde(flatten)]
    pub request: InputRequest,
}

/// What a line asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum InputRequest {
    /// Put a text into the queue of an agent. The reply names the message.
    Send {
        /// The text, of any number of lines.
        text: String,
        /// Where it is to enter.
        #[serde(default)]
        delivery: Delivery,
        /// What it is to the agent.
        #[serde(default)]
        kind: TextKind,
        /// The agents that it holds for, if it is a rule.
        #[serde(default)]
        scope: RuleScope,
        /// The condition that it waits for, in words, and is then sent once.
        #[serde(default)]
        when: Option<Condition>,
        /// The condition that it waits for, in words; it is sent each time.
        #[serde(default)]
        every: Option<Condition>,
        /// The agent; the main agent without one.
        #[serde(default, alias = "to")]
        agent: AgentId,
        /// The paths of images to send with it.
        #[serde(default)]
        images: Vec<PathBuf>,
    },
    /// Answer a question. A yes counts only when the line was sent after the question was written.
    Answer {
        /// Its `number`.
        question: u64,
        /// The answer.
        answer: InputAnswer,
        /// The reason for the model, with a no.
        #[serde(default, alias = "words")]
        reason: Option<String>,
        /// The arguments that the call gets instead of its own, with a yes.
        #[serde(default)]
        arguments: Option<Map<String, Value>>,
    },
    /// Take a text out of the queue.
    Withdraw {
        /// The message.
        message: MessageId,
        /// The agent whose queue it is in.
        #[serde(default, alias = "to")]
        agent: AgentId,
    },
    /// Give a text that waits other words.
    Edit {
        /// The message.
        message: MessageId,
        /// The new text.
        text: String,
        /// Where it is to enter from now on; as before without one.
        #[serde(default)]
        delivery: Option<Delivery>,
        /// What it is from now on; as before without one.
        #[serde(default)]
        kind: Option<TextKind>,
        /// The condition that it waits for from now on, in words, and is then sent once; as before without one.
        #[serde(default)]
        when: Option<Condition>,
        /// The condition that it waits for from now on, in words; it is sent each time.
        #[serde(default)]
        every: Option<Condition>,
        /// The agent whose queue it is in.
        #[serde(default, alias = "to")]
        agent: AgentId,
    },
    /// Change a rule that holds, or withdraw it. The agents tell their models before their next requests.
    Rule {
        /// The message that set it.
        rule: MessageId,
        /// Its new words; as before without them.
        #[serde(default)]
        text: Option<String>,
        /// The agents that it holds for from now on; as before without it.
        #[serde(default)]
        scope: Option<RuleScope>,
        /// True withdraws it.
        #[serde(default)]
        withdraw: bool,
    },
    /// Change the plan of an agent. It tells its model before its next request.
    Plan {
        /// What is to be changed.
        edit: PlanEdit,
        /// The agent; the main agent without one.
        #[serde(default, alias = "to")]
        agent: AgentId,
    },
    /// Pause an agent before its next call or at its next boundary, or let it go on.
    Pause {
        /// The agent; null for all.
        #[serde(default)]
        agent: Option<AgentId>,
        /// False lets it go on.
        #[serde(default = "yes")]
        paused: bool,
    },
    /// Say how a paused agent goes on.
    Decide {
        /// The agent; the main agent without one.
        #[serde(default)]
        agent: AgentId,
        /// The call before which it waits; null at a boundary.
        #[serde(default)]
        call: Option<CallId>,
        /// How it goes on.
        decision: InputDecision,
        /// The new arguments, for `edited`.
        #[serde(default)]
        arguments: Option<Arguments>,
        /// The reason for the model, for `skip`.
        #[serde(default)]
        reason: Option<String>,
    },
    /// Stop the turn, or only a sub-agent. Stopping the turn returns what waits.
    Cancel {
        /// The sub-agent.
        #[serde(default)]
        agent: Option<AgentId>,
    },
    /// Close the task that a stopped or failed turn left open: the next text begins one.
    CloseTask,
    /// Use this model from the next request on.
    Model {
        /// Its name.
        name: String,
    },
    /// Set what the session may spend; without a member, no limit.
    Budget {
        /// US dollars.
        #[serde(default)]
        #[schemars(with = "Option<f64>")]
        max_cost: Option<Money>,
        /// Tokens.
        #[serde(default)]
        max_tokens: Option<u64>,
    },
    /// Nothing more comes: the run ends when what was sent is answered.
    End,
}

/// An answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InputAnswer {
    /// This once.
    Yes,
    /// For the rest of the session, what the question offers.
    Session,
    /// In later sessions of this project too, by the rule that the question offers.
    Always,
    /// The same, in later sessions of every project.
    Everywhere,
    /// No.
    No,
}

/// How a paused agent goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InputDecision {
    /// As it would have.
    Run,
    /// With other arguments.
    Edited,
    /// Without the call.
    Skip,
}

fn yes() -> bool {
    true
}

/// Returns what a text waits for.
fn trigger(when: Option<Condition>, every: Option<Condition>) -> Result<Option<Trigger>, String> {
    match (when, every) {
        (Some(_), Some(_)) => Err("when and every exclude each other".to_owned()),
        (when, every) => Ok(when.map(Trigger::once).or(every.map(Trigger::every))),
    }
}

impl InputAnswer {
    /// Returns the answer with its reason for the model, or with other arguments for the call.
    ///
    /// # Errors
    /// One sentence, when arguments come with anything but a plain yes.
    pub fn with(self, reason: Option<String>, arguments: Option<Map<String, Value>>) -> Result<Answer, String> {
        Ok(match (self, arguments) {
            (Self::Yes, Some(arguments)) => Answer::Filled(arguments),
            (Self::Yes, None) => Answer::Once,
            (Self::No, _) => Answer::No(reason),
            (Self::Session | Self::Always | Self::Everywhere, Some(_)) => {
                return Err("arguments go with the answer yes alone".to_owned());
            }
            (Self::Session, None) => Answer::Session,
            (Self::Always, None) => Answer::Always,
            (Self::Everywhere, None) => Answer::Everywhere,
        })
    }
}

impl InputRequest {
    /// Returns the request of the protocol; `None` for the end of the input.
    ///
    /// # Errors
    /// One sentence, when a member is missing.
    pub fn request(self) -> Result<Option<Request>, String> {
        Ok(Some(match self {
            Self::Send { mut text, delivery, kind, scope, when, every, agent, images: files } => {
                let trigger = trigger(when, every)?;
                let mut images = Vec::new();
                for file in files {
                    attach_file(&mut text, &mut images, &file)?;
                }
                let message = UserText { text, delivery, kind, scope, trigger, sender: None, images };
                Request::Inject { to: agent, message }
            }
            Self::Rule { rule, withdraw: true, .. } => Request::ChangeRule { id: rule, change: RuleChange::Withdraw },
            Self::Rule { text: None, scope: None, .. } => return Err("rule needs text, scope or withdraw".to_owned()),
            Self::Rule { rule, text, scope, withdraw: false } => {
                Request::ChangeRule { id: rule, change: RuleChange::Edit { text, scope } }
            }
            Self::Answer { question, answer, reason, arguments } => {
                Request::Answer { id: ApprovalId(question), answer: answer.with(reason, arguments)? }
            }
            Self::Withdraw { message, agent } => {
                let operation = QueueOperation::Withdraw { to: Withdrawn::Removed, before: Vec::new() };
                Request::Queue { agent, id: message, operation }
            }
            Self::Edit { message, text, delivery, kind, when, every, agent } => {
                let trigger = trigger(when, every)?.map(TriggerChange::Set);
                Request::Queue {
                    agent,
                    id: message,
                    operation: QueueOperation::Commit { text, delivery, kind, trigger, images: None },
                }
            }
            Self::Plan { edit, agent } => Request::EditPlan { agent, edit },
            Self::Pause { agent, paused } => {
                Request::Pause { agent, state: if paused { PauseState::Paused } else { PauseState::Running } }
            }
            Self::Decide { agent, call, decision, arguments, reason } => {
                let decision = match decision {
                    InputDecision::Run => Decision::Run,
                    InputDecision::Edited => Decision::Edited(arguments.ok_or("edited needs arguments")?),
                    InputDecision::Skip => Decision::Skip(reason.unwrap_or_default()),
                };
                Request::Decide { agent, call, decision }
            }
            Self::Cancel { agent: Some(agent) } => Request::Cancel { agents: vec![agent] },
            Self::Cancel { agent: None } => Request::Stop,
            Self::CloseTask => Request::CloseTask,
            Self::Model { name } => Request::SwitchModel { name },
            Self::Budget { max_cost, max_tokens } => {
                Request::SetBudget { limits: BudgetLimits { max_cost, max_tokens } }
            }
            Self::End => return Ok(None),
        }))
    }
}
