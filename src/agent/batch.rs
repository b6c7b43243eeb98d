//! The tool calls of one reply, in groups (D11).
//!
//! A group is a run of neighbouring calls that may run beside each other, or one other call. Each group is prepared
//! call by call (event, tick, check), then runs; results enter the history in call order, events come as they happen.
//! Whatever goes wrong in a tool is an observation; only a cancel passes through (D14). Calls that have not started
//! give way to a message that is to be delivered now; those that run go on to their end, unless all of them can return before
//! it (D28). A call whose arguments were cut is never run (D26). One call is in `call.rs`.

use std::convert::Infallible;
use std::future::pending;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{mem, slice};

use futures_util::stream::{self, StreamExt};
use futures_util::{FutureExt, future::BoxFuture};
use tracing::Instrument;

use crate::call::with_context;
use crate::hooks::CheckedCall;
use crate::pause::{self, Resume};
use crate::reply::stopped;
use crate::{Agent, NotRunReason, questions};
use steersman_base::error::{Cancelled, Exceeded, RunError};
use steersman_base::event::{CallFailure, Delivery, Event, Pending};
use steersman_base::limits;
use steersman_base::message::ToolCall;
use steersman_base::sync::lock;
use steersman_base::text::visible_line;
use steersman_core::approval::{Asker, PlainAnswer};
use steersman_core::control::{Interloper, OnExhausted, StepLimit};
use steersman_core::provider::Finish;
use steersman_core::tool::{CallRelease, CallStage, Concurrency, FoundTool, ReleasedBy};

/// The outcome of the tool calls of one reply.
#[derive(Default)]
pub(super) struct Batch {
    /// The tool of the last call that was started.
    pub after: Option<String>,
    /// Messages for which the calls after that one were not started; the caller delivers them.
    pub cut: Vec<Pending>,
}

/// The outcome of one call of a group.
#[derive(Debug, Clone)]
pub(super) enum CallOutcome {
    /// The call ended with this observation.
    Ended(String),
    /// The call was not started, or did not end.
    NotRun(NotRunReason),
}

/// What came of a group of calls.
struct RanGroup {
    /// The tool of its last call that was started.
    last: Option<String>,
    /// Whether a text ended the wait for it.
    is_released: bool,
}

impl Agent {
    /// Runs the calls of a reply whose message is in the history already; afterwards each call has a result.
    pub(super) async fn run_batch(&mut self, calls: &[ToolCall], finish: &Finish) -> Result<Batch, RunError> {
        let mut batch = Batch::default();
        if let Some(refusal) = refusal(finish) {
            // A call that the server cut must not run; the model is told to write it again (D15).
            for call in calls {
                self.refuse(call, refusal, CallFailure::Cancelled)?;
                batch.after = Some(call.name.clone());
            }
            return Ok(batch);
        }
        let mut rest = calls;
        while let Some((call, behind)) = rest.split_first() {
            batch.cut = self.take_before(call);
            if !batch.cut.is_empty() {
                self.history.close_open(NotRunReason::UserMessage);
                break;
            }
            self.ask_for_calls().await?;
            // The user decides about each call of a paused agent by itself.
            let ran = match self.pause_before_call(call).await? {
                Resume::Open => {
                    let (group, behind) = rest.split_at(self.group_length(rest));
                    rest = behind;
                    self.run_group(group, "").await?
                }
                Resume::Run => {
                    rest = behind;
                    self.run_group(slice::from_ref(call), "").await?
                }
                Resume::Edited(arguments) => {
                    rest = behind;
                    let note = pause::note(&arguments);
                    self.run_group(&[ToolCall { arguments, ..call.clone() }], &note).await?
                }
                Resume::Skip(why) => {
                    rest = behind;
                    self.refuse(call, &why, CallFailure::Declined)?;
                    RanGroup { last: Some(call.name.clone()), is_released: false }
                }
                // Taken above, unless it was withdrawn meanwhile.
                Resume::Message => continue,
            };
            batch.after = ran.last.or(batch.after);
            if ran.is_released && !rest.is_empty() {
                // They may build on what goes on in the background; the model decides again when it has read the text.
                let names: Vec<_> = rest.iter().map(|call| visible_line(&call.name)).collect();
                let text = format!("not run, as your text came first: {}; the model decides again", names.join(", "));
                self.listeners.emit(Event::Notice { text });
                self.history.close_open(NotRunReason::UserMessage);
                break;
            }
        }
        Ok(batch)
    }

    /// Gives a call an error as its result, without running it; it counts as a step.
    fn refuse(&mut self, call: &ToolCall, why: &str, fault: CallFailure) -> Result<(), RunError> {
        self.prepare(call)?;
        self.emit_result(call, why, why, Some(fault), Duration::ZERO);
        self.history.push_result(why);
        Ok(())
    }

    /// Takes the messages that are to be delivered now; none once the turn is stopped.
    pub(super) fn take_now(&self) -> Vec<Pending> {
        self.handles
            .interloper
            .as_ref()
            .map_or_else(Vec::new, |queue| queue.take_now(self.handles.cancellable.as_ref()))
    }

    /// Takes the messages before which this call gives way: those to be delivered now, and those that waited for it.
    fn take_before(&self, call: &ToolCall) -> Vec<Pending> {
        self.handles.interloper.as_ref().map_or_else(Vec::new, |queue| {
            queue.take_before(&call.name, &call.arguments, self.handles.cancellable.as_ref())
        })
    }

    /// Returns whether a message waits for this call to be about to run.
    fn is_waited_for(&self, call: &ToolCall) -> bool {
        self.handles.interloper.as_ref().is_some_and(|queue| queue.waits_before(&call.name, &call.arguments))
    }

    /// Returns whether a message is to be delivered before further calls start.
    fn gives_way(&self) -> bool {
        self.handles.interloper.as_ref().is_some_and(|interloper| interloper.urgent())
    }

    /// Counts the calls at the front that form one group.
    fn group_length(&self, calls: &[ToolCall]) -> usize {
        // Where calls of one tool alone may run beside each other, no other tool may see what they have half done.
        let own = calls.first().filter(|call| !self.is_parallel(call) && self.is_parallel_with_its_kind(call));
        let beside = |call: &ToolCall| match own {
            Some(first) => call.name == first.name && self.is_parallel_with_its_kind(call),
            None => self.is_parallel(call),
        };
        // Where the user can be asked for more calls, the calls that are still allowed run first.
        let allowed = self.asks_at_limit().map_or(usize::MAX, |limit| limit.left().try_into().unwrap_or(usize::MAX));
        // The calls before one that a message waits for run without it.
        let goes = |(place, call): &(usize, &ToolCall)| beside(call) && (*place == 0 || !self.is_waited_for(call));
        calls.iter().take(allowed).enumerate().take_while(goes).count().max(1)
    }

    /// Returns whether a call may run at the same time as those of any other tool.
    fn is_parallel(&self, call: &ToolCall) -> bool {
        self.toolbox.find(&call.name).is_some_and(|found| found.concurrency() == Concurrency::Parallel)
    }

    /// Returns whether a call may run at the same time as those of its tool: the mode and the rules let it run unasked.
    fn is_parallel_with_its_kind(&self, call: &ToolCall) -> bool {
        let asker = Asker { agent: self.id.clone(), call: call.id.clone() };
        match self.toolbox.find(&call.name) {
            Some(FoundTool::Tool(tool)) => {
                tool.concurrency_of(&call.arguments, &asker, &self.tree.approvals) == Concurrency::Parallel
            }
            Some(FoundTool::Raw(_)) | None => false,
        }
    }

    fn asks_at_limit(&self) -> Option<&StepLimit> {
        self.handles.step_limit.as_ref().filter(|limit| limit.exhausted_action() == OnExhausted::Ask)
    }

    /// Asks the user for more calls when the turn has none left. Without a yes the next call exceeds the limit.
    async fn ask_for_calls(&self) -> Result<(), Cancelled> {
        let Some(limit) = self.asks_at_limit().filter(|limit| limit.left() == 0) else { return Ok(()) };
        let report = |report| self.listeners.emit(questions::event(report));
        let asking = self.tree.approvals.ask_for_calls(limit.step(), limit.max(), &report);
        let answer = match &self.handles.cancellable {
            Some(cancellable) => cancellable.unless_cancelled(asking).await?,
            None => asking.await,
        };
        if answer == PlainAnswer::Yes {
            limit.extend();
            self.listeners.emit(Event::StepLimit { max: limit.allowed() });
        }
        Ok(())
    }

    /// Runs one group. The note is put before each observation.
    async fn run_group(&mut self, group: &[ToolCall], note: &str) -> Result<RanGroup, RunError> {
        let group = self.check_calls(group).await?;
        let mut prepared = Vec::with_capacity(group.len());
        let mut exceeded: Option<Exceeded> = None;
        for checked in &group {
            match self.prepare(&checked.call) {
                Ok(()) => prepared.push(checked),
                Err(RunError::Exceeded(error)) => {
                    exceeded = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            }
        }

        self.keep_before(&prepared).await;
        self.group = Mutex::new(vec![CallOutcome::NotRun(NotRunReason::Interrupted); prepared.len()]);
        let releases = CallRelease::for_calls(prepared.len());
        let runs: Vec<BoxFuture<'_, _>> = prepared
            .iter()
            .enumerate()
            .zip(&releases)
            .map(|((place, checked), release)| self.run_in_place(place, checked, note, release).boxed())
            .collect();
        // Not in call order while they run: a slow first call must not keep the others waiting.
        let ends = stream::iter(runs).buffer_unordered(limits::PARALLEL_TOOLS).collect::<Vec<Result<(), Cancelled>>>();
        let released = self.release_calls(&prepared, &releases);
        let ends = tokio::select! {
            biased;
            ends = ends => ends,
            never = released => match never {},
        };
        let cancelled = ends.iter().any(Result::is_err);
        let started = self.settle_group();
        let last = started.and_then(|place| prepared.get(place)).map(|checked| checked.call.name.clone());
        match exceeded {
            _ if cancelled => Err(Cancelled.into()),
            Some(exceeded) => Err(exceeded.into()),
            None => Ok(RanGroup { last, is_released: releases.iter().any(CallRelease::is_requested) }),
        }
    }

    /// Waits until the record of what led here is kept, when one of these calls has effects.
    async fn keep_before(&self, calls: &[&CheckedCall]) {
        let has_effects = |checked: &&CheckedCall| {
            let found = self.toolbox.find(&checked.call.name);
            found.is_some_and(|found| found.concurrency() == Concurrency::Exclusive || found.traits().egress)
        };
        if calls.iter().any(has_effects) {
            self.keep().await;
        }
    }

    /// Waits until what a person typed is kept, before a request carries it.
    pub(super) async fn keep_what_was_typed(&self) {
        if !self.unseen.is_empty() {
            self.keep().await;
        }
    }

    /// Waits until every event so far is kept; a stop ends the wait.
    async fn keep(&self) {
        tokio::select! {
            biased;
            () = stopped(self.handles.cancellable.as_ref()) => {}
            () = self.listeners.kept() => {}
        }
    }

    /// Releases the calls of a group, as long as they run, whenever a text is due that would wait for nothing but calls that
    /// can be released for it.
    async fn release_calls(&self, group: &[&CheckedCall], releases: &[CallRelease]) -> Infallible {
        let (Some(queue), Some(any)) = (&self.handles.interloper, releases.first()) else { return pending().await };
        loop {
            let needed = any.until(|| needed_for_release(group, releases)).await;
            let is_enough = |due| due == Delivery::Now || needed == ReleasedBy::AnyText;
            tokio::select! {
                biased;
                () = any.until(|| (needed_for_release(group, releases) != Some(needed)).then_some(())) => {}
                () = self.until_due(queue, is_enough) => {
                    for release in releases {
                        release.request();
                    }
                    any.until(|| (needed_for_release(group, releases) != Some(needed)).then_some(())).await;
                }
            }
        }
    }

    /// Waits until such a text would enter at a boundary now: not while the agent is paused.
    async fn until_due(&self, queue: &Interloper, is_enough: impl Fn(Delivery) -> bool) {
        loop {
            queue.awaits_delivery(&is_enough).await;
            match &self.handles.gate {
                Some(gate) if gate.is_paused() => gate.opened().await,
                _ => return,
            }
        }
    }

    /// Runs a call of a group and stores its outcome.
    async fn run_in_place(
        &self,
        place: usize,
        checked: &CheckedCall,
        note: &str,
        release: &CallRelease,
    ) -> Result<(), Cancelled> {
        release.set_stage(CallStage::Running);
        let ran = self.run_unless_interrupted(checked, note, release).await?;
        release.set_stage(CallStage::Ended);
        if let Some(slot) = lock(&self.group).get_mut(place) {
            *slot = ran;
        }
        Ok(())
    }

    /// Puts the results of the calls that ran into the history, also when they were interrupted; returns the
    /// index of the last one that was started. Without such calls it does nothing.
    pub(super) fn settle_group(&mut self) -> Option<usize> {
        let group = mem::take(self.group.get_mut().unwrap_or_else(PoisonError::into_inner));
        let started = group.iter().rposition(|ran| matches!(ran, CallOutcome::Ended(_)));
        for ran in group {
            match ran {
                CallOutcome::Ended(observation) => self.history.push_result(observation),
                CallOutcome::NotRun(why) => self.history.push_result(why.observation()),
            }
        }
        self.notify_history();
        started
    }

    /// Runs a call of a group, unless a message is to be delivered before it, or a hook forbids it. The call was
    /// announced with its group, so its result is emitted too.
    async fn run_unless_interrupted(
        &self,
        checked: &CheckedCall,
        note: &str,
        release: &CallRelease,
    ) -> Result<CallOutcome, Cancelled> {
        if self.gives_way() {
            let why = NotRunReason::UserMessage;
            let fault = Some(CallFailure::Cancelled);
            self.emit_result(&checked.call, why.observation(), why.observation(), fault, Duration::ZERO);
            return Ok(CallOutcome::NotRun(why));
        }
        if let Some(why) = &checked.refusal {
            let observation = with_context(why.clone(), &checked.context);
            self.emit_result(&checked.call, &observation, &observation, Some(CallFailure::Refused), Duration::ZERO);
            return Ok(CallOutcome::Ended(observation));
        }
        let span = tracing::info_span!("tool_call", tool = %checked.call.name, call = %checked.call.id);
        self.run_call(checked, note, release).instrument(span).await.map(CallOutcome::Ended)
    }
}

/// Returns which texts release all calls of a group that have no result; `None` while one of them cannot be released. One that
/// waits for its turn can when another of its tool can.
fn needed_for_release(group: &[&CheckedCall], releases: &[CallRelease]) -> Option<ReleasedBy> {
    let stages: Vec<_> = releases.iter().map(CallRelease::stage).collect();
    let offered = |tool: &str| {
        let mut same = group.iter().zip(&stages).filter(|(checked, _)| checked.call.name == tool);
        same.find_map(|(_, (_, offer))| *offer)
    };
    let mut needed = None;
    for (checked, (stage, offer)) in group.iter().zip(&stages) {
        let by = match stage {
            CallStage::Ended => continue,
            CallStage::Running => (*offer)?,
            CallStage::Waiting => offered(&checked.call.name)?,
        };
        needed = needed.max(Some(by));
    }
    needed
}

fn refusal(finish: &Finish) -> Option<&'static str> {
    match finish {
        Finish::Stop | Finish::Paused => None,
        Finish::Length => {
            Some("Error: not run, the reply was cut at the token limit; write the call again, with shorter arguments")
        }
        Finish::TooLong => {
            Some("Error: not run, the reply was too long to be read whole; write the call again, shorter")
        }
        Finish::ContentFilter => Some("Error: not run, the server's content filter cut the reply"),
        Finish::Unknown(_) => Some("Error: not run, the reply ended for an unknown reason; write the call again"),
    }
}
