//! What happens in a run, passed to the queue of one agent: a text that waits for it is delivered at the next boundary.
//!
//! A listener, which hears of the agent and of everything beneath it. Calls and the size of the conversation are the agent's
//! own; what is spent, files that change and sub-agents that end also count beneath it. That a call is about to run is asked
//! for by `batch`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use steersman_base::details::Details;
use steersman_base::event::{CallFailure, Envelope, Event, EventContext, Outcome};
use steersman_base::id::{AgentId, CallId};
use steersman_base::message::Arguments;
use steersman_base::steering::{AgentEnd, CallMoment, Happening};
use steersman_base::sync::lock;
use steersman_core::control::{Budget, BudgetStanding, Interloper};
use steersman_core::listener::Listener;

/// Tells the queue of one agent what happens.
pub(super) struct ConditionWatch {
    agent: AgentId,
    queue: Arc<Interloper>,
    budget: Arc<Budget>,
    known: Mutex<ConditionContext>,
}

/// What is known of the agent besides the event at hand.
#[derive(Default)]
struct ConditionContext {
    calls: HashMap<CallId, OwnCall>,
    /// The tokens that its model can hold.
    window: Option<u64>,
}

/// A call of the agent that has no result yet.
struct OwnCall {
    tool: String,
    arguments: Arguments,
    end: Option<CallMoment>,
}

impl ConditionWatch {
    pub(super) fn new(agent: AgentId, queue: Arc<Interloper>, budget: Arc<Budget>) -> Self {
        Self { agent, queue, budget, known: Mutex::default() }
    }

    fn context(&self) -> MutexGuard<'_, ConditionContext> {
        lock(&self.known)
    }

    /// Tells of what only the agent itself does.
    fn own(&self, event: &Event) {
        match event {
            Event::ToolCall { id, name, arguments } => {
                let call = OwnCall { tool: name.clone(), arguments: arguments.clone(), end: Some(CallMoment::After) };
                self.context().calls.insert(id.clone(), call);
            }
            Event::ToolDetails { id, details: Details::Command(end) } if end.code != Some(0) => {
                if let Some(call) = self.context().calls.get_mut(id) {
                    call.end = Some(CallMoment::Failed);
                }
            }
            Event::ToolResult { id, .. } => {
                let ended = self.context().calls.remove(id);
                if let Some(OwnCall { tool, arguments, end: Some(moment) }) = ended {
                    self.queue.happened(&Happening::Call { tool: &tool, arguments: &arguments, moment });
                }
            }
            // Calls without a result were dropped.
            Event::TurnEnded { .. } => self.context().calls.clear(),
            Event::ContextCap { tokens } => self.context().window = *tokens,
            Event::ContextSize { tokens, .. } => {
                let window = self.context().window;
                if let Some(window) = window.filter(|window| *window > 0) {
                    let percent = tokens.saturating_mul(100).div_ceil(window);
                    self.queue.happened(&Happening::Context { percent });
                }
            }
            _ => {}
        }
    }
}

impl Listener for ConditionWatch {
    fn on_event(&self, envelope: &Envelope) {
        if envelope.agent == self.agent {
            self.own(&envelope.event);
        }
        match &envelope.event {
            Event::AgentFinished { child, outcome, .. } => {
                let end = match outcome {
                    Outcome::Completed | Outcome::Synthesized | Outcome::Cancelled => AgentEnd::Ends,
                    Outcome::Failed => AgentEnd::Fails,
                };
                self.queue.happened(&Happening::AgentEnded { agent: child, end });
            }
            Event::ToolDetails { details: Details::Diff(diff), .. } => {
                self.queue.happened(&Happening::Changed { path: &diff.path });
            }
            Event::ToolDetails { details: Details::Command(end), .. } => {
                for path in &end.touched.paths {
                    self.queue.happened(&Happening::Changed { path });
                }
            }
            Event::JobEnded(end) => {
                for path in &end.end.touched.paths {
                    self.queue.happened(&Happening::Changed { path });
                }
            }
            Event::Tokens(_) => {
                let BudgetStanding { nanos, tokens, .. } = self.budget.standing();
                self.queue.happened(&Happening::Spent { nanos, tokens });
            }
            _ => {}
        }
    }

    fn on_facts(&self, agent: &AgentId, facts: &EventContext) {
        let EventContext::Call { id, fault } = facts else { return };
        if *agent != self.agent {
            return;
        }
        if let Some(call) = self.context().calls.get_mut(id) {
            call.end = match fault {
                CallFailure::Failed | CallFailure::Invalid => Some(CallMoment::Failed),
                // It did not run.
                CallFailure::Refused | CallFailure::Declined | CallFailure::Cancelled => None,
            };
        }
    }

    fn label(&self) -> String {
        // It is no consumer that anybody added.
        String::new()
    }
}
