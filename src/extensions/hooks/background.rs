//! Hooks that nobody waits for: they run beside the agent, and what they said is taken at one of its next boundaries.
//!
//! As codex documents it ("Run hooks in the background", developers.openai.com/codex/hooks) and Claude Code (the same title
//! in code.claude.com/docs/en/hooks): so many at once, each run on its own, no decision, and what was not delivered when the
//! session ends is dropped. Always holds: with the value every run ends, with all that it has started.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::hooks::HookReply;
use steersman_agent::EndedHook;
use steersman_base::event::{HookOutcome, HookRun};
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::sync::lock;

/// The runs in the background of a session.
#[derive(Debug)]
pub(super) struct BackgroundHooks {
    running: Mutex<JoinSet<()>>,
    places: Arc<Semaphore>,
    ended: Arc<Mutex<HashMap<AgentId, Vec<EndedHook>>>>,
}

impl Default for BackgroundHooks {
    fn default() -> Self {
        let places = Arc::new(Semaphore::new(limits::HOOKS_AT_ONCE));
        Self { running: Mutex::default(), places, ended: Arc::default() }
    }
}

impl BackgroundHooks {
    /// Starts a run for an agent; more than a few at once wait for each other.
    ///
    /// # Errors
    /// A sentence when as many wait as can wait.
    pub(super) fn start(
        &self,
        agent: AgentId,
        run: impl Future<Output = (HookRun, HookReply)> + Send + 'static,
    ) -> Result<(), String> {
        let (places, ended) = (Arc::clone(&self.places), Arc::clone(&self.ended));
        let mut running = lock(&self.running);
        while running.try_join_next().is_some() {}
        if running.len() >= limits::WAITING_HOOKS {
            return Err(format!("not run: {} hooks run in the background already", limits::WAITING_HOOKS));
        }
        running.spawn(async move {
            let _place = places.acquire_owned().await;
            let (mut run, reply) = run.await;
            (run.outcome, run.words) = without_decision(&reply);
            let mut ended = lock(&ended);
            let its = ended.entry(agent).or_default();
            if its.len() < limits::WAITING_HOOKS {
                its.push(EndedHook { run, context: reply.context });
            }
        });
        Ok(())
    }

    /// Takes what has ended since, in the order of its ends.
    pub(super) fn take_ended(&self, agent: &AgentId) -> Vec<EndedHook> {
        lock(&self.ended).remove(agent).unwrap_or_default()
    }
}

/// Returns what came of a run: what it decides has happened already.
fn without_decision(reply: &HookReply) -> (HookOutcome, Option<String>) {
    match reply.outcome {
        HookOutcome::Done if reply.stop.is_none() => (HookOutcome::Done, reply.words.clone()),
        HookOutcome::Started | HookOutcome::Done | HookOutcome::Allowed | HookOutcome::Asked | HookOutcome::Blocked => {
            let words = reply.words.as_deref().unwrap_or_default();
            (HookOutcome::Failed, Some(format!("it runs in the background and decides nothing: {words}")))
        }
        failed @ (HookOutcome::Failed | HookOutcome::TimedOut | HookOutcome::Changed) => (failed, reply.words.clone()),
    }
}
