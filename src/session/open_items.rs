//! What has begun in a run and not ended: turns, rounds, calls, sub-agents, questions, pauses, compactions, commands, hooks.
//!
//! Used where a run breaks off without its ends: a journal whose program was killed, a client whose session is gone. Pure.
//! Always holds: what is closed by it has ended everywhere that shows it.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::host::ClosingEvent;
use steersman_base::event::{Decided, Envelope, Event, HookEvent, HookOutcome, HookRun, JobEnd, Outcome};
use steersman_base::id::{AgentId, CallId, JobId};

/// What is open, by what ends it, each with its number in their order.
#[derive(Default)]
pub(crate) struct OpenItems {
    open: HashMap<EndedBy, Vec<(u64, OpenItem)>>,
    opened: u64,
}

impl OpenItems {
    /// Takes an event.
    pub(crate) fn apply(&mut self, Envelope { agent, parent, event, .. }: &Envelope) {
        if let Some(end) = EndedBy::from_event(agent, event)
            && let Some(open) = self.open.get_mut(&end)
        {
            open.retain(|(_, open)| !open.is_closed_by(agent, event));
            if open.is_empty() {
                self.open.remove(&end);
            }
        }
        if let Some(what) = OpenKind::opened_by(event) {
            let open = OpenItem { agent: agent.clone(), parent: parent.clone(), what };
            self.opened += 1;
            self.open.entry(open.ended_by()).or_default().push((self.opened, open));
        }
    }

    /// Returns how many sub-agents are open.
    pub(crate) fn agents(&self) -> usize {
        self.open.values().flatten().filter(|(_, open)| matches!(open.what, OpenKind::Agent(_))).count()
    }

    /// Returns the events that end all of it because of this, what began last first.
    pub(crate) fn closing(&self, why: &str) -> Vec<ClosingEvent> {
        let mut open: Vec<&(u64, OpenItem)> = self.open.values().flatten().collect();
        open.sort_by_key(|(number, _)| Reverse(*number));
        open.iter().filter_map(|(_, open)| open.closing(why)).collect()
    }
}

/// Whose events end something, so that few of all open things are looked at for one.
#[derive(Debug, PartialEq, Eq, Hash)]
enum EndedBy {
    /// Those of the agent that began it.
    Agent(AgentId),
    /// Those about this child, question or job, whoever's they are.
    Child(AgentId),
    Question(String),
    Job(JobId),
    Hook(HookEvent, String),
}

impl EndedBy {
    /// Returns what an event can end; `None` for most.
    fn from_event(agent: &AgentId, event: &Event) -> Option<Self> {
        Some(match event {
            Event::TurnEnded { .. }
            | Event::TurnStarted { .. }
            | Event::RoundEnded { .. }
            | Event::ToolResult { .. }
            | Event::Resumed { .. }
            | Event::Compacted { .. }
            | Event::Notice { .. } => Self::Agent(agent.clone()),
            Event::AgentFinished { child, .. } => Self::Child(child.clone()),
            Event::Answer { id, .. } => Self::Question(id.clone()),
            Event::JobEnded(end) => Self::Job(end.id.clone()),
            Event::HookRan(run) if !run.is_start() => Self::Hook(run.hook, run.command.clone()),
            _ => return None,
        })
    }
}

/// Something that has begun.
struct OpenItem {
    agent: AgentId,
    parent: Option<AgentId>,
    what: OpenKind,
}

enum OpenKind {
    Turn(u32),
    Round(u32, u32),
    Call(CallId),
    Agent(AgentId),
    Question(String),
    Pause,
    Compaction,
    Job(JobId),
    /// One in the background.
    Hook(HookEvent, String),
}

impl OpenKind {
    fn opened_by(event: &Event) -> Option<Self> {
        Some(match event {
            Event::TurnStarted { turn } => Self::Turn(*turn),
            Event::RoundStarted { turn, round } => Self::Round(*turn, *round),
            Event::ToolCall { id, .. } => Self::Call(id.clone()),
            Event::AgentSpawned { child, .. } => Self::Agent(child.clone()),
            Event::Question { id, .. } => Self::Question(id.clone()),
            Event::Paused { .. } => Self::Pause,
            Event::Compacting { .. } => Self::Compaction,
            Event::JobStarted(start) => Self::Job(start.id.clone()),
            Event::HookRan(run) if run.is_start() => Self::Hook(run.hook, run.command.clone()),
            _ => return None,
        })
    }
}

impl OpenItem {
    fn ended_by(&self) -> EndedBy {
        match &self.what {
            OpenKind::Turn(_) | OpenKind::Round(..) | OpenKind::Call(_) | OpenKind::Pause | OpenKind::Compaction => {
                EndedBy::Agent(self.agent.clone())
            }
            OpenKind::Agent(child) => EndedBy::Child(child.clone()),
            OpenKind::Question(id) => EndedBy::Question(id.clone()),
            OpenKind::Job(id) => EndedBy::Job(id.clone()),
            OpenKind::Hook(hook, command) => EndedBy::Hook(*hook, command.clone()),
        }
    }

    fn is_closed_by(&self, agent: &AgentId, event: &Event) -> bool {
        let same = self.agent == *agent;
        match &self.what {
            OpenKind::Turn(_) => same && matches!(event, Event::TurnEnded { .. } | Event::TurnStarted { .. }),
            OpenKind::Round(..) => same && matches!(event, Event::RoundEnded { .. } | Event::TurnEnded { .. }),
            OpenKind::Call(id) => {
                let is_result = matches!(event, Event::ToolResult { id: ended, .. } if ended == id);
                same && (is_result || matches!(event, Event::TurnEnded { .. }))
            }
            OpenKind::Agent(child) => matches!(event, Event::AgentFinished { child: ended, .. } if ended == child),
            OpenKind::Question(id) => matches!(event, Event::Answer { id: answered, .. } if answered == id),
            OpenKind::Pause => same && matches!(event, Event::Resumed { .. }),
            OpenKind::Job(id) => matches!(event, Event::JobEnded(end) if end.id == *id),
            OpenKind::Hook(hook, command) => matches!(
                event,
                Event::HookRan(run) if !run.is_start() && (run.hook, &run.command) == (*hook, command)
            ),
            OpenKind::Compaction => same && matches!(event, Event::Compacted { .. } | Event::Notice { .. }),
        }
    }

    /// Returns the event that ends it; none for a call, which has no result: the end of its turn ends it, as after a stop.
    fn closing(&self, why: &str) -> Option<ClosingEvent> {
        let message = Some(why.to_owned());
        let event = match &self.what {
            OpenKind::Turn(turn) => Event::TurnEnded { turn: *turn, outcome: Outcome::Failed, message },
            OpenKind::Round(turn, round) => Event::RoundEnded { turn: *turn, round: *round },
            OpenKind::Call(_) => return None,
            OpenKind::Agent(child) => Event::AgentFinished { child: child.clone(), outcome: Outcome::Failed, message },
            OpenKind::Question(id) => Event::Answer { id: id.clone(), answer: "withdrawn".to_owned(), words: None },
            OpenKind::Pause => Event::Resumed { decision: Decided::Cancelled },
            OpenKind::Job(id) => Event::JobEnded(Box::new(JobEnd::interrupted(id.clone(), why))),
            OpenKind::Hook(hook, command) => Event::HookRan(HookRun {
                hook: *hook,
                command: command.clone(),
                call: None,
                outcome: HookOutcome::Failed,
                words: message,
                elapsed_ms: 0,
            }),
            OpenKind::Compaction => Event::Notice { text: format!("the compaction was {why}") },
        };
        Some(ClosingEvent { agent: self.agent.clone(), parent: self.parent.clone(), event })
    }
}
