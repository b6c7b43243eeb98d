//! What the posts of a run mean to somebody who asks how it stands.
//!
//! Folded while the run goes on, so that an answer needs no look at the past. Pure: posts in, a status out.

use std::collections::HashMap;

use steersman_base::event::{Event, Pending, UserText, add_known};
use steersman_base::id::{AgentId, CallId, ClientId};
use steersman_base::protocol::{
    AgentState, AgentStatus, ApprovalRequest, BudgetStatus, Notice, PendingStatus, Post, SessionActivity,
    SessionStatus, WaitingFor, WaitingStatus,
};
use steersman_base::steering::Rule;

/// A run as it stands.
#[derive(Debug, Default)]
pub struct StatusFold {
    title: String,
    directory: String,
    model: Option<String>,
    is_built: bool,
    is_broken: bool,
    agents: Vec<AgentStatus>,
    /// The place of each among them.
    places: HashMap<AgentId, usize>,
    /// What agents did before their older rounds were summarised.
    before: Vec<(AgentId, AgentState, String)>,
    /// The calls that run, in order.
    calls: Vec<(AgentId, CallId, String)>,
    rules: Vec<Rule>,
}

impl StatusFold {
    /// Folds a post in.
    pub fn apply(&mut self, post: &Post) {
        match post {
            Post::Envelope(envelope) => {
                let is_main = envelope.agent.is_main();
                match &envelope.event {
                    Event::SessionStarted { cwd, model, .. } => {
                        self.directory.clone_from(cwd);
                        self.model.clone_from(model);
                    }
                    Event::UserTurn { content, .. } if is_main && self.title.is_empty() => {
                        self.title.clone_from(content);
                    }
                    Event::Rules { rules } => self.rules.clone_from(rules),
                    Event::AgentFinished { child, .. } => {
                        self.calls.retain(|(agent, ..)| agent != child);
                        return self.forget(child);
                    }
                    Event::ToolCall { id, name, .. } => {
                        self.calls.push((envelope.agent.clone(), id.clone(), name.clone()));
                    }
                    Event::ToolResult { id, .. } => self.calls.retain(|(_, call, _)| call != id),
                    Event::TurnEnded { .. } => self.calls.retain(|(agent, ..)| *agent != envelope.agent),
                    Event::ModelSwitched { to, .. } if is_main => self.model.clone_from(to),
                    Event::AgentSpawned { child, .. } => {
                        self.agent(child, Some(&envelope.agent)).state = AgentState::Working;
                    }
                    _ => {}
                }
                let place = self.place(&envelope.agent, envelope.parent.as_ref());
                let agent = &mut self.agents[place];
                match &envelope.event {
                    Event::Compacting { .. } => self.before.push((agent.id.clone(), agent.state, agent.doing.clone())),
                    // The summary is made, or is not.
                    Event::Compacted { .. } | Event::Notice { .. } => {
                        if let Some(place) = self.before.iter().position(|(id, ..)| *id == agent.id) {
                            (_, agent.state, agent.doing) = self.before.swap_remove(place);
                        }
                    }
                    Event::TurnEnded { .. } | Event::Reset {} => self.before.retain(|(id, ..)| *id != agent.id),
                    _ => {}
                }
                let call = self.calls.iter().rev().find(|(caller, ..)| *caller == agent.id);
                happen(agent, &envelope.event, call.map(|(.., name)| name.as_str()));
            }
            Post::Notice(Notice::Ready) => self.is_built = true,
            Post::Notice(Notice::BuildFailed(_)) => self.is_broken = true,
            Post::Notice(_) | Post::Reply(_) | Post::Queues { .. } | Post::Approvals { .. } | Post::Budget(_) => {}
        }
    }

    fn agent(&mut self, id: &AgentId, parent: Option<&AgentId>) -> &mut AgentStatus {
        let place = self.place(id, parent);
        &mut self.agents[place]
    }

    /// Returns the place of an agent, which is made where there is none.
    fn place(&mut self, id: &AgentId, parent: Option<&AgentId>) -> usize {
        if let Some(place) = self.places.get(id) {
            return *place;
        }
        self.agents.push(AgentStatus { id: id.clone(), parent: parent.cloned(), ..AgentStatus::default() });
        self.places.insert(id.clone(), self.agents.len() - 1);
        self.agents.len() - 1
    }

    /// Forgets an agent that has ended.
    fn forget(&mut self, id: &AgentId) {
        let Some(place) = self.places.remove(id) else { return };
        self.agents.remove(place);
        self.places.values_mut().filter(|other| **other > place).for_each(|other| *other -= 1);
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
        let mut agents = self.agents.clone();
        if !self.places.contains_key(&AgentId::main()) {
            agents.push(AgentStatus::default());
        }
        agents.sort_by_key(|agent| !agent.id.is_main());
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
            let question = if entry.held { "Does this text still hold?" } else { "Is this text still to be sent?" };
            waiting.push(WaitingStatus {
                agent: entry.to.clone(),
                kind: WaitingFor::Confirmation,
                id: None,
                question: question.to_owned(),
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
            model: self.model.clone(),
            title: self.title.clone(),
            state,
            agents,
            waiting,
            pending,
            rules: self.rules.clone(),
            budget,
            clients,
        }
    }
}

/// Folds what an agent did; `call` is the tool whose call runs now.
fn happen(agent: &mut AgentStatus, event: &Event, call: Option<&str>) {
    let in_call = || call.unwrap_or("waits for its model").to_owned();
    let (state, doing) = match event {
        Event::RoundStarted { .. } => (AgentState::Working, "waits for its model".to_owned()),
        Event::ThinkingDelta { .. } => (AgentState::Working, "thinks".to_owned()),
        Event::AssistantDelta { .. } => (AgentState::Working, "writes".to_owned()),
        Event::ToolCall { name, .. } => (AgentState::Working, name.clone()),
        Event::Retrying { reason, .. } => (AgentState::Working, format!("tries again: {reason}")),
        Event::Compacting { .. } => (AgentState::Working, "summarises older rounds".to_owned()),
        Event::Paused { call } => {
            (AgentState::Waiting, call.as_ref().map_or_else(String::new, |call| format!("before {}", call.name)))
        }
        // What still trickles in behind the end of a turn begins none.
        Event::Resumed { .. } | Event::ToolResult { .. } if agent.state == AgentState::Idle => return,
        Event::Resumed { .. } | Event::ToolResult { .. } => (AgentState::Working, in_call()),
        Event::TurnEnded { .. } => (AgentState::Idle, String::new()),
        Event::ContextCap { tokens } => {
            agent.context_window = *tokens;
            return;
        }
        Event::ContextSize { tokens, .. } => {
            agent.context_tokens = Some(*tokens);
            return;
        }
        Event::Tokens(usage) => {
            agent.context_tokens = Some(usage.context());
            agent.tokens = agent.tokens.saturating_add(usage.context());
            add_known(&mut agent.cost_nanos, usage.cost_nanos);
            return;
        }
        _ => return,
    };
    agent.state = state;
    agent.doing = doing;
}

fn question(open: &ApprovalRequest) -> WaitingStatus {
    let (question, detail) = open.subject.words();
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
        let mut fold = StatusFold::default();
        for (seq, event) in (1..).zip(events) {
            let at = jiff::Timestamp::UNIX_EPOCH;
            fold.apply(&Post::Envelope(Envelope { seq, at, agent: AgentId::main(), parent: None, event }));
        }
        let status = fold.status(Vec::new(), false, &[], BudgetStatus::default(), Vec::new());
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
