//! What each event changes in its agent, and in the sums above it.
//!
//! An envelope costs the depth of its agent, whatever the number of agents.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};

use super::Agents;
use super::node::{Activity, AgentNode, OpenCall};
use steersman_base::event::{Envelope, Event, Outcome, Usage};
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::message::Arguments;

impl Agents {
    /// Returns what a round of an agent cost, billionths of a US dollar: what its server said, else what the prices make
    /// of it; `None` when neither is known.
    pub fn cost(&self, agent: &AgentId, usage: &Usage) -> Option<u64> {
        self.get(agent)
            .map_or_else(|| self.prices.cost_nanos(usage), |node| self.prices.cost_nanos(&with_model(usage, node)))
    }

    /// Applies one event.
    pub fn apply(&mut self, envelope: &Envelope) {
        let at = envelope.at;
        self.pass(at);
        let index = self.place_of(&envelope.agent, envelope.parent.as_ref());
        if envelope.agent.is_main() && envelope.event == (Event::Reset {}) {
            self.clear();
        }
        match &envelope.event {
            Event::AgentSpawned { child, persona, task, call, model, max_steps, tools } => {
                let child = self.place_of(child, Some(&envelope.agent));
                let node = &mut self.nodes[child];
                node.start(at);
                node.has_own_turn = call.is_none() && node.has_queue();
                node.is_in_background = false;
                node.persona.clone_from(persona);
                node.task.clone_from(task);
                node.tools.clone_from(tools);
                node.model.clone_from(model);
                node.max_steps = *max_steps;
                node.update_search_text();
                self.revision.words += 1;
                self.settle(child, at);
            }
            Event::AgentFinished { child, outcome, message } => {
                let child = self.place_of(child, Some(&envelope.agent));
                self.end(child, *outcome, message.clone(), at);
                if std::mem::take(&mut self.nodes[child].is_in_background) {
                    self.nodes[index].awaited = self.nodes[index].awaited.saturating_sub(1);
                }
            }
            Event::AgentBackgrounded { child } => {
                let child = self.place_of(child, Some(&envelope.agent));
                self.nodes[child].has_own_turn = true;
                self.nodes[child].is_in_background = true;
                self.nodes[index].awaited += 1;
                self.settle(child, at);
            }
            Event::TurnEnded { outcome, message, .. } => {
                self.end(index, *outcome, message.clone(), at);
                self.end_descendants(index, at);
            }
            Event::ToolResult { id, elapsed_ms, .. } => {
                let open = &self.nodes[index].open;
                if let Some(call) = open.iter().find(|call| call.id == *id) {
                    self.times.add(&call.name, *elapsed_ms);
                }
                apply_to(&mut self.nodes[index], envelope);
            }
            Event::Tokens(usage) => {
                let node = &mut self.nodes[index];
                node.last_activity = Some(at);
                let cost = self.prices.cost_nanos(&with_model(usage, node));
                node.count(usage, cost);
            }
            _ => apply_to(&mut self.nodes[index], envelope),
        }
        self.settle(index, at);
    }

    /// Lets time pass: warnings that only time brings appear, agents that ended a while ago may be left out.
    pub fn tick(&mut self, now: Timestamp) {
        self.pass(now);
    }

    /// Looks for what only time brings: at every moment for agents that ended, once in a second for the rest.
    fn pass(&mut self, now: Timestamp) {
        if now.as_second() > self.second {
            self.second = now.as_second();
            // Where very many run, some of them in each second, by turns.
            let due: Vec<usize> =
                self.running.range(self.looked_at..).take(limits::AGENTS_LOOKED_AT).copied().collect();
            self.looked_at = due.last().filter(|_| due.len() == limits::AGENTS_LOOKED_AT).map_or(0, |last| last + 1);
            for index in due {
                self.settle(index, now);
            }
        }
        while let Some((due, index)) = self.ageing.front().copied().filter(|(due, _)| *due <= now) {
            self.ageing.pop_front();
            let node = &mut self.nodes[index];
            // It may have run again meanwhile.
            if node.ended.and_then(past_at).is_some_and(|past| past <= due) {
                node.aged = true;
                self.revision.rows += 1;
            }
        }
    }

    /// Marks every agent that runs as being stopped, before their tasks have answered.
    pub fn cancelling(&mut self, at: Timestamp) {
        for index in self.running_beneath(0) {
            self.stop(index, at);
        }
    }

    /// Marks these agents as being stopped, as far as they run.
    pub(super) fn stopping(&mut self, agents: &[AgentId], at: Timestamp) {
        for id in agents {
            if let Some(index) = self.places.get(id).copied().filter(|index| self.running.contains(index)) {
                self.stop(index, at);
            }
        }
    }

    fn stop(&mut self, index: usize, at: Timestamp) {
        self.nodes[index].set(Activity::Cancelling, at);
        self.settle(index, at);
    }

    /// Marks the main agent as one that cannot run, for this reason (untrusted).
    pub(super) fn leave_main(&mut self, activity: Activity, at: Timestamp) {
        self.nodes[0].set(activity, at);
        self.settle(0, at);
    }

    fn end(&mut self, index: usize, outcome: Outcome, message: Option<String>, at: Timestamp) {
        self.nodes[index].end(outcome, message, at);
        if self.nodes[index].aged {
            // The row that counts it also says how it ended.
            self.revision.rows += 1;
        }
        if let Some(due) = past_at(at).filter(|_| index != 0) {
            self.ageing.push_back((due, index));
        }
        self.settle(index, at);
    }

    /// No descendant outlives a turn, but for agents that the user continued and what these started: one that ended without
    /// an event was dropped with it.
    fn end_descendants(&mut self, top: usize, at: Timestamp) {
        for index in self.running_beneath(top) {
            let mut below = self.path(index).into_iter().take_while(|ancestor| *ancestor != top);
            if !below.any(|ancestor| self.nodes[ancestor].has_own_turn) {
                self.end(index, Outcome::Cancelled, None, at);
            }
        }
    }

    /// Returns the agents that run at `top` and beneath it.
    pub(super) fn running_beneath(&self, top: usize) -> Vec<usize> {
        if self.nodes[top].totals.running == 0 {
            return Vec::new();
        }
        // Down to those that run alone; in the order in which the agents came.
        let (mut found, mut left) = (Vec::new(), vec![top]);
        while let Some(index) = left.pop() {
            let node = &self.nodes[index];
            if node.totals.running > 0 {
                found.extend(self.running.contains(&index).then_some(index));
                left.extend(&node.children);
            }
        }
        found.sort_unstable();
        found
    }

    /// Brings everything that follows from an agent into step with it: warnings, sums, revision.
    pub(super) fn settle(&mut self, index: usize, now: Timestamp) {
        let warnings = super::warnings::warnings_of(&self.nodes[index], now, &self.times);
        let node = &mut self.nodes[index];
        node.warnings = warnings;
        if node.aged && node.running() {
            node.aged = false;
            self.revision.rows += 1;
        }
        let after = node.share();
        let before = std::mem::replace(&mut node.counted, after);
        let known = (node.status(), node.open.len());
        if std::mem::replace(&mut node.known, known) != known {
            self.revision.words += 1;
        }
        if before == after {
            return;
        }
        if after.running > 0 {
            self.running.insert(index)
        } else {
            self.running.remove(&index)
        };
        if after.warned > 0 {
            self.warned.insert(index)
        } else {
            self.warned.remove(&index)
        };
        let mut at = Some(index);
        let mut came_up = false;
        while let Some(index) = at {
            let node = &mut self.nodes[index];
            let was_quiet = node.totals.quiet();
            node.totals.exchange(&before, &after);
            came_up |= node.aged && node.totals.quiet() != was_quiet;
            at = node.above;
        }
        if came_up {
            self.revision.rows += 1;
        }
    }

    /// Finds an agent, or puts it behind its parent's other children.
    fn place_of(&mut self, id: &AgentId, parent: Option<&AgentId>) -> usize {
        if let Some(index) = self.places.get(id) {
            return *index;
        }
        let mut above = parent.and_then(|parent| self.places.get(parent)).copied().unwrap_or(0);
        // What is nested deeper hangs beside its parent, so that no event costs more than that depth.
        while let Some(higher) = self.nodes[above].above.filter(|_| self.nodes[above].depth >= limits::AGENT_DEPTH) {
            above = higher;
        }
        let index = self.nodes.len();
        let parent = &mut self.nodes[above];
        let mut node = AgentNode::new(id.clone(), Some(parent.id.clone()), parent.depth + 1);
        node.above = Some(above);
        node.order = parent.children.len();
        parent.children.push(index);
        let share = node.counted;
        self.nodes.push(node);
        self.longest_id = self.longest_id.max(id.as_str().len());
        self.places.insert(id.clone(), index);
        let mut at = Some(above);
        while let Some(index) = at {
            self.nodes[index].totals.add(&share);
            at = self.nodes[index].above;
        }
        self.revision.rows += 1;
        index
    }
}

/// Returns from when on a list may leave out an agent that ended at this moment.
fn past_at(ended: Timestamp) -> Option<Timestamp> {
    ended.checked_add(SignedDuration::try_from(limits::FOLD_AFTER).ok()?).ok()
}

/// Changes the agent that an event is about.
#[allow(clippy::too_many_lines)] // One arm for each kind of event.
fn apply_to(node: &mut AgentNode, envelope: &Envelope) {
    let at = envelope.at;
    match &envelope.event {
        Event::SessionStarted { model, max_steps, tools, .. } => {
            node.model.clone_from(model);
            node.chosen_model.clone_from(model);
            node.max_steps = *max_steps;
            node.tools.clone_from(tools);
        }
        Event::TurnStarted { .. } => node.start(at),
        Event::RoundStarted { .. } => node.on_activity(Activity::Waiting, at),
        Event::ThinkingDelta { .. } => node.on_activity(Activity::Thinking, at),
        Event::AssistantDelta { .. } => node.on_activity(Activity::Writing, at),
        Event::Thinking { .. } | Event::Assistant { .. } => node.last_activity = Some(at),
        Event::ToolCall { id, name, arguments } => {
            node.steps = node.steps.saturating_add(1);
            node.repeats.count(name, arguments);
            let is_outside =
                matches!(arguments, Arguments::Object(given) if given.get("outside") == Some(&true.into()));
            node.open.push(OpenCall { id: id.clone(), name: name.clone(), is_outside, since: at, asked: None });
            node.set(Activity::Tools, at);
        }
        Event::ToolResult { id, .. } => {
            node.open.retain(|call| call.id != *id);
            // What stays open behind its call is waited for no longer.
            node.questions.retain(|(_, call)| call.as_ref() != Some(id));
            if node.open.is_empty() && node.running() {
                node.on_activity(Activity::Waiting, at);
            }
        }
        Event::ContextCap { tokens } => node.cap = *tokens,
        Event::FallbackNotice { .. } => {
            node.open.clear();
            node.set(Activity::Rescue, at);
        }
        Event::Retrying { attempt, after_ms, reason } => {
            let wait = SignedDuration::from_millis(i64::try_from(*after_ms).unwrap_or(i64::MAX));
            let until = at.checked_add(wait).unwrap_or(Timestamp::MAX);
            node.set(Activity::Retrying { attempt: *attempt, reason: reason.clone(), until }, at);
        }
        Event::Compacting { messages } => node.compacting(*messages, at),
        Event::Notice { .. } => node.compacted(at),
        Event::Paused { call } => node.set(Activity::Paused(call.as_ref().map(|call| call.name.clone())), at),
        // What still trickles in behind the end of a turn begins none.
        Event::Resumed { .. } | Event::Cancelled {} if !node.running() => {}
        Event::Resumed { .. } => {
            node.on_activity(if node.open.is_empty() { Activity::Waiting } else { Activity::Tools }, at);
        }
        Event::Question { id, call, .. } => {
            node.questions.push((id.clone(), call.clone()));
            if let Some(open) = node.open.iter_mut().find(|open| Some(&open.id) == call.as_ref()) {
                open.ask(id, at);
            }
        }
        Event::Answer { id, .. } => {
            node.questions.retain(|(open, _)| open != id);
            node.open.iter_mut().for_each(|open| open.answer(id, at));
            node.last_activity = Some(at);
        }
        Event::UserTurn { content, kind, .. } => node.take_task(content, *kind),
        Event::Cancelled {} => node.set(Activity::Cancelling, at),
        Event::StepLimit { max } => node.max_steps = Some(*max),
        Event::ModelSwitched { to, .. } => {
            node.model.clone_from(to);
            node.chosen_model.clone_from(to);
        }
        Event::Compacted { after, .. } => {
            node.context = *after;
            node.estimated = true;
            node.compacted(at);
        }
        Event::ContextSize { tokens, estimated } => {
            node.context = Some(*tokens);
            node.estimated = *estimated;
        }
        Event::TaskClosed {} => node.open_task = None,
        Event::Reset {} => {
            node.open_task = None;
            node.context = None;
            node.estimated = false;
        }
        Event::AgentSpawned { .. }
        | Event::AgentFinished { .. }
        | Event::AgentBackgrounded { .. }
        | Event::AgentAnswered { .. }
        | Event::TurnEnded { .. }
        | Event::Tokens(_)
        | Event::RoundEnded { .. }
        | Event::ToolProgress { .. }
        | Event::JobStarted(_)
        | Event::JobOutput { .. }
        | Event::JobEnded(_)
        | Event::ToolDetails { .. }
        | Event::ChangesUndone { .. }
        | Event::HookRan(_)
        | Event::Guards { .. }
        | Event::Pending { .. }
        | Event::Rules { .. }
        | Event::RuleNotified { .. }
        | Event::PlanChanged(_)
        | Event::PlanNotified(_)
        | Event::Seen { .. }
        | Event::Returned { .. }
        | Event::History { .. }
        | Event::SessionEnded { .. }
        | Event::Extension { .. }
        | Event::Unknown => {}
    }
}

/// Names the model of a round after its agent's, where the server did not: few do in each reply.
fn with_model<'a>(usage: &'a Usage, node: &AgentNode) -> Cow<'a, Usage> {
    if usage.model.is_some() {
        Cow::Borrowed(usage)
    } else {
        Cow::Owned(Usage { model: node.model.clone(), ..usage.clone() })
    }
}
