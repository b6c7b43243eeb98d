//! What a question says of itself in the lines, and how the program of `--permission-command` is asked.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fields::QuestionFields;
use super::request::InputAnswer;
use steersman_base::id::{AgentId, CallId};
use steersman_base::protocol::{ApprovalRequest, ApprovalSubject, Operation};

/// What the program of `--permission-command` gets on standard input, as one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PermissionQuestion {
    /// The session; null where it is not saved.
    pub session: Option<String>,
    /// The agent that asks; empty for the main agent and for the program itself.
    pub agent: AgentId,
    /// The call that waits for the answer; null when the program itself asks.
    pub call: Option<CallId>,
    /// What is asked.
    #[serde(flatten)]
    pub question: QuestionFields,
    /// The exact effect of a yes: the command, the diff, the address.
    pub detail: Option<String>,
    /// What the answer `session` would cover; null when it is not taken.
    pub offer: Option<String>,
    /// The rule that the answer `always` would keep; null when it is not taken.
    pub rule: Option<String>,
}

/// What the program of `--permission-command` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PermissionAnswer {
    /// The answer.
    pub answer: InputAnswer,
    /// The reason for the model, with a no.
    #[serde(default)]
    pub reason: Option<String>,
    /// The arguments that the call gets instead of its own, with a yes.
    #[serde(default, alias = "updatedInput")]
    pub arguments: Option<Map<String, Value>>,
}

impl PermissionQuestion {
    /// Puts a question into words for a program.
    pub fn new(request: &ApprovalRequest, session: Option<String>) -> Self {
        let (question, detail) = request.subject.describe();
        let asker = request.asker.as_ref();
        Self {
            session,
            agent: asker.map_or_else(AgentId::main, |asker| asker.agent.clone()),
            call: asker.map(|asker| asker.call.clone()),
            question: question_fields(request.id.0, &question, Some(request)),
            detail,
            offer: request.session.clone(),
            rule: request.rule.as_ref().map(|rule| rule.text.clone()),
        }
    }
}

/// Returns what the line of a question has beside its event.
pub(super) fn question_fields(number: u64, question: &str, request: Option<&ApprovalRequest>) -> QuestionFields {
    let (kind, directory) = match request.map(|request| &request.subject) {
        Some(ApprovalSubject::Operation { operation }) => match operation {
            Operation::Command(operation) => ("command", Some(operation.cwd.as_path())),
            Operation::Write(operation) => ("write", operation.path.parent()),
            Operation::Fetch(_) => ("fetch", None),
            Operation::Search(_) => ("search", None),
            Operation::Clone(operation) => ("clone", operation.into.parent()),
            Operation::Use(operation) => ("use", operation.path.as_deref().and_then(|path| path.parent())),
            Operation::ServerTool(_) => ("mcp", None),
            Operation::Input(_) => ("input", None),
            Operation::Custom(_) => ("custom", None),
        },
        Some(ApprovalSubject::Form { .. }) => ("form", None),
        Some(ApprovalSubject::Plan { .. }) => ("plan", None),
        Some(ApprovalSubject::MoreCalls { .. }) => ("more_calls", None),
        Some(ApprovalSubject::AgentQuestion { .. }) => ("ask_user", None),
        Some(ApprovalSubject::Plain { .. }) | None => ("program", None),
    };
    QuestionFields {
        number,
        kind: kind.to_owned(),
        directory: directory.map(|directory| directory.display().to_string()),
        reason: request.map(|request| request.why.clone()).filter(|why| !why.is_empty()),
        text: question.to_owned(),
        subject: request.and_then(|request| serde_json::to_value(&request.subject).ok()).unwrap_or_default(),
    }
}
