//! Warnings about an agent: reasons to look at it. They never stop anything by themselves.
//!
//! Computed from one agent and the times of the tools; by events, and once a second while something runs.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, VecDeque};
use std::hash::{Hash, Hasher};

use jiff::{SignedDuration, Timestamp};

use super::node::{Activity, AgentNode};
use steersman_base::limits;
use steersman_base::message::Arguments;

/// A reason to look at an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// It waits for an answer of the user.
    Asking,
    /// The same call was made again and again.
    Repeats {
        /// The tool, untrusted.
        tool: String,
        /// How often in a row.
        times: u32,
    },
    /// No token has come from the model.
    Silent {
        /// Since when.
        since: Timestamp,
    },
    /// A tool runs longer than it nearly always does.
    Slow {
        /// The tool, untrusted.
        tool: String,
        /// When the call began.
        since: Timestamp,
        /// How long 95 of 100 of its calls took at most, milliseconds.
        usual_ms: u64,
    },
    /// The conversation fills nearly the whole context window.
    Context {
        /// How much of it, per cent.
        percent: u64,
    },
    /// Its step budget is nearly used up.
    Budget {
        /// Steps that were made.
        steps: u32,
        /// Steps that it may make.
        max: u32,
    },
}

/// Returns the warnings about an agent, the most urgent first.
pub(super) fn warnings_of(node: &AgentNode, now: Timestamp, times: &ToolTimes) -> Vec<Warning> {
    // An agent that has ended needs nobody; a conversation that goes on later still is full.
    let full = node.context_percent().filter(|percent| *percent >= limits::WARN_CONTEXT_PERCENT);
    let full = full.map(|percent| Warning::Context { percent });
    if !node.running() {
        return full.filter(|_| node.id.is_main()).into_iter().collect();
    }
    let asking = node.asking().then_some(Warning::Asking);
    [asking, repeats(node), silent(node, now), slow(node, now, times), full, budget(node)]
        .into_iter()
        .flatten()
        .collect()
}

fn repeats(node: &AgentNode) -> Option<Warning> {
    let often = node.repeats.times >= limits::WARN_REPEATS;
    often.then(|| Warning::Repeats { tool: node.repeats.tool.clone(), times: node.repeats.times })
}

fn silent(node: &AgentNode, now: Timestamp) -> Option<Warning> {
    // The rescue is an agent of its own and is watched there.
    let is_listening = matches!(
        node.activity,
        Activity::Waiting
            | Activity::Retrying { .. }
            | Activity::Compacting(_)
            | Activity::Thinking
            | Activity::Writing
    );
    let since = node.last_activity.filter(|_| is_listening && !node.asking())?;
    let quiet = SignedDuration::try_from(limits::WARN_SILENCE).unwrap_or(SignedDuration::MAX);
    (now.duration_since(since) >= quiet).then_some(Warning::Silent { since })
}

fn slow(node: &AgentNode, now: Timestamp, times: &ToolTimes) -> Option<Warning> {
    // A call that waits for the user, or in which an agent does, is not slow.
    if node.totals.asking > 0 || node.totals.paused > 0 || node.asking() || node.activity != Activity::Tools {
        return None;
    }
    node.open.iter().find_map(|call| {
        let usual_ms = times.usual_ms(&call.name)?;
        let ran = u64::try_from(now.duration_since(call.since).as_millis()).unwrap_or(0);
        (ran > usual_ms).then(|| Warning::Slow { tool: call.name.clone(), since: call.since, usual_ms })
    })
}

fn budget(node: &AgentNode) -> Option<Warning> {
    let max = node.max_steps?;
    let near = u64::from(node.steps) * 100 >= u64::from(max) * limits::WARN_BUDGET_PERCENT;
    near.then(|| Warning::Budget { steps: node.steps.min(max), max })
}

/// How often the same call was made in a row.
#[derive(Debug, Clone, Default)]
pub(super) struct Repeats {
    tool: String,
    call: u64,
    times: u32,
}

impl Repeats {
    /// Takes the next call.
    pub(super) fn count(&mut self, tool: &str, arguments: &Arguments) {
        let mut hasher = DefaultHasher::new();
        (tool, arguments.to_string()).hash(&mut hasher);
        let call = hasher.finish();
        if self.times > 0 && self.call == call {
            self.times = self.times.saturating_add(1);
        } else {
            *self = Self { tool: tool.to_owned(), call, times: 1 };
        }
    }
}

/// How long the calls of each tool took.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolTimes {
    tools: HashMap<String, Samples>,
}

#[derive(Debug, Clone, Default)]
struct Samples {
    newest: VecDeque<u64>,
    sorted: Vec<u64>,
}

impl ToolTimes {
    /// Takes the time of a call that ended, milliseconds.
    pub(super) fn add(&mut self, tool: &str, ms: u64) {
        // The names come from models; they could invent any number of them.
        if !self.tools.contains_key(tool) && self.tools.len() >= limits::WARN_TOOLS {
            return;
        }
        let samples = self.tools.entry(tool.to_owned()).or_default();
        if samples.newest.len() >= limits::WARN_MOST_SAMPLES
            && let Some(oldest) = samples.newest.pop_front()
            && let Ok(place) = samples.sorted.binary_search(&oldest)
        {
            samples.sorted.remove(place);
        }
        samples.newest.push_back(ms);
        let place = samples.sorted.partition_point(|known| *known <= ms);
        samples.sorted.insert(place, ms);
    }

    /// Returns how long 95 of 100 calls of a tool took at most, milliseconds; `None` while there are too few of them.
    pub(super) fn usual_ms(&self, tool: &str) -> Option<u64> {
        let sorted = &self.tools.get(tool)?.sorted;
        if sorted.len() < limits::WARN_SAMPLES {
            return None;
        }
        sorted.get((sorted.len() * 95).div_ceil(100).saturating_sub(1)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_time_is_known_from_twenty_calls_on_and_forgets_the_oldest() {
        let mut times = ToolTimes::default();
        for ms in (1..=19).rev() {
            times.add("bash", ms * 10);
        }
        assert_eq!(times.usual_ms("bash"), None);
        times.add("bash", 200);
        assert_eq!(times.usual_ms("bash"), Some(190));
        for _ in 0..limits::WARN_MOST_SAMPLES {
            times.add("bash", 7);
        }
        assert_eq!((times.usual_ms("bash"), times.usual_ms("grep")), (Some(7), None));
    }
}
