//! What the run's state means to somebody who asks how it stands.
//!
//! The agents are those of every other client ([`Agents`]); here they get the words of `steersman status`. Reduced while the
//! run goes on, so that an answer needs no look at the past. Pure: updates in, a status out.

use jiff::Timestamp;

use crate::model::RuleList;
use crate::model::agents::{Activity, AgentNode, Agents};
use steersman_base::event::{Event, Pending, UserText};
use steersman_base::id::{AgentId, ClientId};
use steersman_base::protocol::{
    AgentState, AgentStatus, ApprovalRequest, BudgetStatus, Notice, PendingStatus, SessionActivity, SessionStatus,
    Update, WaitingFor, WaitingStatus,
};
use steersman_base::text::shell_output::without_outputs;

/// A run as it stands.
#[derive(Debug, Default)]
pub struct StatusReducer {
    title: String,
    directory: String,
    is_built: bool,
    is_broken: bool,
    agents: Agents,
    rules: RuleList,
    /// When the newest event happened.
    at: Timestamp,
}

impl StatusReducer {
    /// Takes an update.
    pub fn apply(&mut self, update: &Update) {
        self.agents.apply_update(update, self.at);
        match update {
            Update::Envelope(envelope) => {
                self.at = envelope.at;
                self.agents.apply(envelope);
                self.rules.apply(&envelope.event);
                match &envelope.event {
                    Event::SessionStarted { cwd, .. } => self.directory.clone_from(cwd),
                    Event::UserTurn { content, kind, .. }
                        if envelope.agent.is_main() && self.title.is_empty() && kind.asks_for_work() =>
                    {
                        self.title = without_outputs(content).into_owned();
                    }
                    _ => {}
                }
            }
            Update::Notice(Notice::Ready) => self.is_built = true,
            Update::Notice(Notice::BuildFailed(_)) => self.is_broken = true,
            Update::Notice(_)
            | Update::Reply(_)
            | Update::Queues { .. }
            | Update::Approvals { .. }
            | Update::Budget(_) => {}
        }
    }

    /// Returns the status, with what is known elsewhere; the caller puts in the session's name.
    pub fn status(
        &self,
        queues: Vec<(AgentId, Vec<Pending>)>,
        paused: bool,
        open: &[ApprovalRequest],
        budget: BudgetStatus,
        clients: Vec<ClientId>,
    ) -> SessionStatus {
        let nodes = self.agents.nodes().iter().filter(|node| node.id.is_main() || node.running());
        let mut agents: Vec<AgentStatus> = nodes.map(agent_status).collect();
        let mut waiting: Vec<WaitingStatus> = open.iter().map(question).collect();
        for agent in &mut agents {
            if open.iter().any(|open| open.asker.as_ref().is_some_and(|asker| asker.agent == agent.id)) {
                agent.state = AgentState::Waiting;
            } else if agent.state == AgentState::Waiting {
                waiting.push(WaitingStatus {
                    agent: agent.id.clone(),
                    kind: WaitingFor::Pause,
                    id: None,
                    question: "It is paused.".to_owned(),
                    detail: agent.doing.clone(),
                });
            }
        }
        let pending: Vec<PendingStatus> = queues.into_iter().flat_map(|(to, queue)| entries(to, queue)).collect();
        let works = agents.iter().any(|agent| agent.state == AgentState::Working);
        let is_ready = |message: &UserText| message.kind.asks_for_work() && message.trigger.is_none();
        let asks = |entry: &&PendingStatus| entry.held || paused && !works && is_ready(&entry.message);
        for entry in pending.iter().filter(asks) {
            waiting.push(WaitingStatus {
                agent: entry.to.clone(),
                kind: WaitingFor::Confirmation,
                id: None,
                question: "Is this text still to be sent?".to_owned(),
                detail: entry.message.text.clone(),
            });
        }
        let state = match (self.is_broken, works, waiting.is_empty()) {
            (true, _, _) => SessionActivity::Broken,
            (false, true, _) => SessionActivity::Working,
            (false, false, false) => SessionActivity::Waiting,
            (false, false, true) if self.is_built => SessionActivity::Idle,
            (false, false, true) => SessionActivity::Starting,
        };
        SessionStatus {
            session: String::new(),
            pid: std::process::id(),
            directory: self.directory.clone(),
            model: self.agents.main().chosen_model.clone(),
            title: self.title.clone(),
            state,
            agents,
            waiting,
            pending,
            rules: self.rules.all().to_vec(),
            budget,
            clients,
        }
    }
}

/// Puts what an agent does into the words of the status.
fn agent_status(node: &AgentNode) -> AgentStatus {
    let (state, doing) = match &node.activity {
        Activity::Idle | Activity::Ended(..) => (AgentState::Idle, String::new()),
        Activity::Waiting => (AgentState::Working, "waits for its model".to_owned()),
        Activity::Retrying { reason, .. } => (AgentState::Working, format!("tries again: {reason}")),
        Activity::Compacting(_) => (AgentState::Working, "summarises older rounds".to_owned()),
        Activity::Thinking => (AgentState::Working, "thinks".to_owned()),
        Activity::Writing => (AgentState::Working, "writes".to_owned()),
        Activity::Tools => (AgentState::Working, node.open.last().map_or_else(String::new, |call| call.name.clone())),
        Activity::Paused(call) => {
            (AgentState::Waiting, call.as_ref().map_or_else(String::new, |call| format!("before {call}")))
        }
        Activity::Rescue => (AgentState::Working, "writes its answer, out of steps".to_owned()),
        Activity::Cancelling => (AgentState::Working, "is being stopped".to_owned()),
    };
    AgentStatus {
        id: node.id.clone(),
        parent: node.parent.clone(),
        state,
        doing,
        context_tokens: node.context,
        context_window: node.cap,
        tokens: node.spent,
        cost_nanos: node.known_cost(),
    }
}

fn question(open: &ApprovalRequest) -> WaitingStatus {
    let (question, detail) = open.subject.describe();
    WaitingStatus {
        agent: open.asker.as_ref().map(|asker| asker.agent.clone()).unwrap_or_default(),
        kind: WaitingFor::Approval,
        id: Some(open.id.0),
        question,
        detail: detail.unwrap_or_default(),
    }
}

fn entries(to: AgentId, queue: Vec<Pending>) -> impl Iterator<Item = PendingStatus> {
    queue.into_iter().map(move |Pending { id, message, held, .. }| {
        let message = message.without_images();
        PendingStatus { to: to.clone(), id, message, held }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use steersman_base::event::{Envelope, Outcome};

    /// Returns how the main agent stands after these events.
    fn main_after(events: impl IntoIterator<Item = Event>) -> (AgentState, String) {
        let mut reducer = StatusReducer::default();
        for (seq, event) in (1..).zip(events) {
            let at = jiff::Timestamp::UNIX_EPOCH;
            reducer.apply(&Update::Envelope(Envelope { seq, at, agent: AgentId::main(), parent: None, event }));
        }
        let status = reducer.status(Vec::new(), false, &[], BudgetStatus::default(), Vec::new());
        let main = status.agents.into_iter().next().expect("the main agent");
        (main.state, main.doing)
    }

    #[test]
    fn a_summary_ends_with_what_was_done_before_it() {
        let compacting = || Event::Compacting { messages: 3 };
        let compacted = || Event::Compacted { before: Some(9), after: Some(1), messages: 3, summary: "s".to_owned() };
        let failed = || Event::Notice { text: "no summary".to_owned() };
        let ended = || Event::TurnEnded { turn: 1, outcome: Outcome::Completed, message: None };
        let idle = (AgentState::Idle, String::new());
        for end in [compacted(), failed()] {
            assert_eq!(main_after([Event::TurnStarted { turn: 1 }, ended(), compacting(), end.clone()]), idle);
            assert_eq!(main_after([compacting(), end.clone()]), idle);
            let round = Event::RoundStarted { turn: 1, round: 1 };
            let waits = (AgentState::Working, "waits for its model".to_owned());
            assert_eq!(main_after([round, compacting(), end]), waits);
        }
        assert_eq!(main_after([compacting()]).0, AgentState::Working);
        // A stop ends it too, without a word about the summary.
        assert_eq!(main_after([compacting(), ended()]), idle);
    }
}
