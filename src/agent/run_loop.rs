//! The loop. A turn is: user message → (round: reply → batch → boundary)* → final answer.
//!
//! Everything that decides what happens next is in this file; `reply` sends one request, `batch` runs the calls of one
//! reply, `deliver` lets texts enter, `history` keeps an order that can be sent, `synthesizer` answers for a turn whose budget is used up.

use std::mem;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use tracing::Instrument;

use crate::batch::Batch;
use crate::compaction::CompactionResult;
use crate::deliver::{DeliveryPoint, TurnInput, inputs};
use crate::on_drop::OnDrop;
use crate::pause::Resume;
use crate::reply::RequestOutcome;
use crate::{Agent, EmptyReply, LastTurn, NotRunReason, UserTexts};
use steersman_base::error::{Cancelled, Exceeded, RunError};
use steersman_base::event::{Event, EventContext, Outcome, Pending, Usage};
use steersman_base::limits;
use steersman_base::message::{AssistantMessage, Message, ToolCall};
use steersman_base::sync::lock;
use steersman_base::text::is_blank;
use steersman_core::control::OnExhausted;
use steersman_core::provider::{AnswerStage, Finish, ProviderError, UsageScope};

impl Agent {
    /// Runs one turn with one user message. The answer is in `last_assistant_content`.
    ///
    /// # Errors
    /// [`RunError::Blank`] before anything happened; [`RunError::Cancelled`]; or the failure. After any of them the
    /// history can be sent and the next turn works.
    pub async fn run_loop(&mut self, user_message: &str) -> Result<(), RunError> {
        if is_blank(user_message) {
            return Err(RunError::Blank);
        }
        self.check_turn()?;
        self.synth_answer = None;
        self.reset_step_limit();
        self.begin();
        self.turn(vec![TurnInput::Given(user_message.into())]).await
    }

    /// Runs one turn with one user message and returns the answer, which is empty when the model had nothing to say.
    ///
    /// Messages that are injected meanwhile enter this turn; one that comes after its last boundary stays pending, until
    /// the next turn or [`Agent::run_queue`]. Dropping the future ends the turn as a cancel does: the request is dropped,
    /// tools are dropped or told to end, what came of the answer is kept, and the next turn works.
    ///
    /// # Errors
    /// As [`Agent::run_loop`].
    pub async fn ask(&mut self, user_message: &str) -> Result<String, RunError> {
        self.run_loop(user_message).await?;
        Ok(self.last_assistant_content().unwrap_or_default().to_owned())
    }

    /// Runs turns with what is pending until nothing deliverable is left (D2, D3). Returns how many turns ran.
    ///
    /// Steering messages that wait together start one turn; follow-ups start one turn each. Without an interloper
    /// it does nothing.
    ///
    /// # Errors
    /// As [`Agent::run_loop`]; what is still pending stays pending, and after a failure waits until the next text.
    pub async fn run_queue(&mut self) -> Result<u32, RunError> {
        let Some(interloper) = self.handles.interloper.clone() else { return Ok(0) };
        let mut turns = 0;
        loop {
            if interloper.deliverable() {
                self.check_turn()?;
            }
            // Clears the cancel flag under the queue's lock: a cancel that comes later always holds (D9).
            let taken = interloper.take_turn(self.owned_cancellable());
            if taken.is_empty() {
                return Ok(turns);
            }
            self.synth_answer = None;
            self.reset_step_limit();
            self.turn(inputs(taken)).await?;
            turns += 1;
        }
    }

    /// Sends the last request again, in a turn without a new message; a part of its answer that had come is left out.
    /// False, and nothing is sent, when the conversation ends with an answer.
    ///
    /// # Errors
    /// As [`Agent::run_loop`].
    pub async fn retry(&mut self) -> Result<bool, RunError> {
        let waits = match self.history.messages() {
            [.., before, Message::Assistant(AssistantMessage { interrupted: true, tool_calls, .. })]
                if tool_calls.is_empty() =>
            {
                waits_for_reply(before)
            }
            [.., last] => waits_for_reply(last),
            [] => false,
        };
        if !waits {
            return Ok(false);
        }
        self.check_turn()?;
        if self.history.drop_partial() {
            self.notify_replaced();
        }
        self.turn_without_text().await?;
        Ok(true)
    }

    /// Runs a turn without a new message for the answers of sub-agents in the background that have come since. False, and
    /// nothing is sent, when there is none.
    ///
    /// # Errors
    /// As [`Agent::run_loop`].
    pub async fn run_answers(&mut self) -> Result<bool, RunError> {
        if !self.has_answers() {
            return Ok(false);
        }
        self.check_turn()?;
        self.turn_without_text().await?;
        Ok(true)
    }

    /// Runs a turn with what is in the conversation, and what the program has to tell.
    async fn turn_without_text(&mut self) -> Result<(), RunError> {
        self.synth_answer = None;
        self.reset_step_limit();
        self.begin();
        self.turn(Vec::new()).await
    }

    /// Starts work that takes nothing from the queue: clears the cancel flag, under the queue's lock where there is
    /// one (D9).
    pub(super) fn begin(&self) {
        match (&self.handles.interloper, self.owned_cancellable()) {
            (Some(interloper), cancellable) => interloper.begin_turn(cancellable),
            (None, Some(cancellable)) => cancellable.reset(),
            (None, None) => {}
        }
    }

    /// Fails a turn when no budget is left, before anything is delivered: pending messages stay pending.
    fn check_turn(&mut self) -> Result<(), RunError> {
        let Err(error) = self.check_budget() else { return Ok(()) };
        self.turns += 1;
        let (turn, outcome, message) = (self.turns, Outcome::Failed, Some(error.to_string()));
        self.listeners.emit(Event::TurnStarted { turn });
        self.fail(&error);
        self.last_turn = Some(LastTurn::unsent(outcome));
        self.listeners.notify_facts(&EventContext::Turn { finish: None, fault: error.fault() });
        self.listeners.emit(Event::TurnEnded { turn, outcome, message });
        Err(error)
    }

    /// Cleans up after a failed turn: the history can be sent, and pending messages wait for the next text.
    fn fail(&mut self, error: &RunError) {
        self.history.close_open(NotRunReason::BudgetExhausted);
        if let Some(interloper) = &self.handles.interloper {
            interloper.pause();
        }
        if let RunError::Budget(_) = error {
            self.notice("stopped before the next request: the budget is used up".to_owned());
        }
    }

    /// Runs one turn and emits how it ended; always closes what it opened.
    async fn turn(&mut self, inputs: Vec<TurnInput>) -> Result<(), RunError> {
        self.turns += 1;
        let turn = self.turns;
        self.steps = 0;
        self.round = 0;
        self.finish = None;
        *lock(&self.turn_usage) = Usage::default();
        self.answer_stage = AnswerStage::Open;
        self.listeners.emit(Event::TurnStarted { turn });
        let mut open = OnDrop::new(self, move |agent| agent.end_turn(turn, &Err(Cancelled.into())));
        // A bug of a provider must not leave the turn open, nor end the host's worker.
        let span = tracing::info_span!("turn", agent = %open.id, turn);
        let result = AssertUnwindSafe(open.answer(inputs, turn)).catch_unwind().instrument(span).await;
        let result = result.unwrap_or(Err(RunError::Broken));
        open.disarm();
        self.end_turn(turn, &result);
        result.map(drop)
    }

    /// Delivers the messages that start the turn and works until there is an answer; returns where that came from.
    async fn answer(&mut self, inputs: Vec<TurnInput>, turn: u32) -> Result<Outcome, RunError> {
        self.deliver_job_notes();
        self.deliver_agent_notes();
        self.deliver_hook_context();
        let goes_on = self.is_task_open();
        self.deliver_all(inputs, &DeliveryPoint::TurnStart { goes_on }).await?;
        match self.rounds(turn).await {
            Ok(()) => Ok(Outcome::Completed),
            Err(RunError::Exceeded(exceeded)) if self.rescues() => {
                self.rescue(exceeded).await?;
                Ok(Outcome::Synthesized)
            }
            Err(error) => Err(error),
        }
    }

    /// Emits how a turn ended, and leaves a history that can be sent.
    fn end_turn(&mut self, turn: u32, result: &Result<Outcome, RunError>) {
        let (outcome, message) = match result {
            Ok(outcome) => {
                // A rescue answers from what was found by then, and a cut answer is none yet: its task goes on with the
                // next text.
                let cut = self.finish.as_ref().filter(|_| *outcome == Outcome::Completed).and_then(unfinished);
                if *outcome == Outcome::Completed && cut.is_none() {
                    self.task_open = Some(false);
                }
                (*outcome, cut)
            }
            Err(RunError::Cancelled(Cancelled)) => {
                self.history.close_open(NotRunReason::Cancelled);
                self.handles.compaction_request.take_request();
                if let Some(interloper) = &self.handles.interloper {
                    interloper.end_cancelled();
                }
                self.listeners.emit(Event::Cancelled {});
                (Outcome::Cancelled, None)
            }
            Err(error) => {
                self.fail(error);
                (Outcome::Failed, Some(error.to_string()))
            }
        };
        if let Some(interloper) = &self.handles.interloper {
            interloper.ended_turn();
        }
        self.notify_history();
        self.publish_context();
        let fault = result.as_ref().err().and_then(RunError::fault);
        let finish = self.finish.take().map(|finish| finish.word());
        let text = result.as_ref().ok().and_then(|_| self.last_assistant_content()).unwrap_or_default().to_owned();
        let (rounds, calls, usage) = (self.round, self.steps, mem::take(&mut *lock(&self.turn_usage)));
        self.last_turn = Some(LastTurn { text, outcome, finish, rounds, calls, usage });
        self.listeners.notify_facts(&EventContext::Turn { finish, fault });
        self.listeners.emit(Event::TurnEnded { turn, outcome, message });
    }

    /// Runs rounds until a reply has no calls.
    async fn rounds(&mut self, turn: u32) -> Result<(), RunError> {
        let mut round = 0;
        // A request that the user cut brought no reply: it is sent again and not counted.
        let mut cut = 0;
        let mut empty_before = false;
        let mut pauses = 0;
        // How often a hook has kept the turn from ending.
        let mut continues = 0;
        loop {
            if let Some(max_turns) = self.max_turns.filter(|max| round - cut >= *max) {
                return Err(RunError::MaxTurns { max_turns });
            }
            round += 1;
            self.round = round;
            self.listeners.emit(Event::RoundStarted { turn, round });
            let mut open = OnDrop::new(self, move |agent| agent.end_round(turn, round));
            let span = tracing::info_span!("round", turn, round);
            let next = open.round(empty_before).instrument(span).await;
            drop(open);
            match next? {
                AfterRound::Answered => {
                    let may_go_on = self.max_turns.is_none_or(|max| round - cut < max) && self.check_budget().is_ok();
                    let input = if let Some(input) = self.second_request().filter(|_| may_go_on) {
                        self.answer_stage = AnswerStage::Due;
                        input
                    } else if let Some(input) = self.ask_about_answer(continues).await?.filter(|_| may_go_on) {
                        continues += 1;
                        input
                    } else {
                        return Ok(());
                    };
                    self.deliver(input, &DeliveryPoint::MidLoop { after: None }).await?;
                    empty_before = false;
                }
                AfterRound::Round => empty_before = false,
                AfterRound::Cut => {
                    cut += 1;
                    empty_before = false;
                }
                AfterRound::Again => empty_before = true,
                AfterRound::Paused if pauses < limits::PAUSES => pauses += 1,
                AfterRound::Paused => {
                    self.notice(format!("the server paused its reply {} times and was not asked again", pauses + 1));
                    return Ok(());
                }
            }
        }
    }

    /// Emits the end of a round. Partial text and results of a dropped round enter the history first.
    fn end_round(&mut self, turn: u32, round: u32) {
        self.keep_partial();
        self.settle_group();
        self.notify_history();
        self.listeners.emit(Event::RoundEnded { turn, round });
    }

    /// Runs one model request, its tool calls and the boundary after them.
    async fn round(&mut self, empty_before: bool) -> Result<AfterRound, RunError> {
        self.adopt_model()?;
        self.toolbox.take_additions();
        self.drop_excluded();
        self.check_budget()?;
        let room = self.make_room().await?;
        // A summary may have used up the budget.
        self.check_budget()?;
        if room.is_some() {
            self.deliver_behind_summary().await?;
        }
        self.ask_about_session().await?;
        self.keep_what_was_typed().await;
        self.publish_context();
        let mut reply = match self.ask_within_window().await? {
            RequestOutcome::Reply(reply) => *reply,
            RequestOutcome::Interrupted(messages) => {
                self.deliver_all(inputs(messages), &DeliveryPoint::MidLoop { after: None }).await?;
                return Ok(AfterRound::Cut);
            }
        };
        self.call_ids.make_unique(&mut reply.tool_calls);
        self.toolbox.settle_names(&mut reply.tool_calls);
        let calls = reply.tool_calls.clone();
        let finish = reply.finish.clone();
        self.finish = Some(finish.clone());
        let explanation = reply.explanation.take();
        let empty = is_blank(&reply.content) && calls.is_empty();
        // A paused reply with parts that go back to the server is not empty.
        let goes_back = finish == Finish::Paused && reply.original.is_some();
        if empty && !goes_back && self.empty_reply == EmptyReply::AskAgain {
            self.skip_empty(reply);
            return Self::empty(empty_before, &finish, explanation.as_deref());
        }
        self.accept(reply);
        if calls.is_empty() {
            if let Some(cut) = truncation_note(&finish) {
                self.notice(with_explanation(&cut, explanation.as_deref()));
            }
            return Ok(if finish == Finish::Paused { AfterRound::Paused } else { AfterRound::Answered });
        }
        // The boundary: every call of the batch has its result, so messages may enter (D1).
        let Batch { after, mut cut } = self.run_batch(&calls, &finish).await?;
        if cut.is_empty() && self.answer_with_plan() {
            return Ok(AfterRound::Answered);
        }
        self.check_stop_request()?;
        // A paused agent waits here first, so that what is typed meanwhile enters here.
        while cut.is_empty() && matches!(self.pause_at_boundary().await?, Resume::Message) {
            // Empty when the message was withdrawn meanwhile.
            cut = self.take_now();
        }
        self.show_result_images();
        self.take_boundary_notes().await;
        self.deliver_job_notes();
        self.deliver_agent_notes();
        self.deliver_hook_context();
        // Without budget no further request is made: pending messages stay pending.
        let left = self.check_budget();
        let taken = if left.is_ok() { self.drain() } else { Vec::new() };
        self.deliver_all(inputs(cut.into_iter().chain(taken)), &DeliveryPoint::MidLoop { after }).await?;
        left.map(|()| AfterRound::Round)
    }

    /// Sends a request; when the conversation does not fit, makes room and sends it once more.
    async fn ask_within_window(&mut self) -> Result<RequestOutcome, RunError> {
        let asked = self.ask_without_refused_images().await;
        match asked {
            Err(RunError::Provider(ProviderError::Overflow { tokens, window, .. })) => {
                self.record_overflow(tokens, window);
                if self.make_room_for_overflow().await? == CompactionResult::Unchanged {
                    return asked;
                }
            }
            // Some servers cut the conversation silently; only their count shows it.
            Ok(RequestOutcome::Reply(reply))
                if reply.scope == UsageScope::OneRequest && self.is_too_much(&reply.usage) =>
            {
                let (count, window) = (reply.usage.prompt(), self.context_window_cap.unwrap_or(0));
                self.notice(format!(
                    "the server counts {count} tokens, more than the window of {window}: it has not read all"
                ));
                if self.make_room_for_overflow().await? == CompactionResult::Unchanged {
                    return Ok(RequestOutcome::Reply(reply));
                }
                self.give_up(*reply);
            }
            asked => return asked,
        }
        self.check_budget()?;
        self.deliver_behind_summary().await?;
        self.keep_what_was_typed().await;
        self.ask_without_refused_images().await
    }

    /// Delivers what was typed while a summary was made: it need not wait for the next boundary. A reply that the
    /// server paused goes on first.
    async fn deliver_behind_summary(&mut self) -> Result<(), RunError> {
        if let Some(Message::Assistant(_)) = self.history.messages().last() {
            return Ok(());
        }
        let taken = self.drain();
        self.deliver_all(inputs(taken), &DeliveryPoint::BehindSummary).await
    }

    /// Returns what follows an empty reply: one more request, then an error.
    fn empty(empty_before: bool, finish: &Finish, explanation: Option<&str>) -> Result<AfterRound, RunError> {
        let why = match finish {
            // A second request would meet the same filter.
            Finish::ContentFilter => Some("the content filter of the server let nothing of the reply through"),
            Finish::TooLong => Some("the reply was too long to be read whole, and had no text up to there"),
            Finish::Length if empty_before => Some("the replies were cut at the token limit before they said anything"),
            Finish::Stop | Finish::Paused | Finish::Unknown(_) if empty_before => {
                Some("the model gave an empty answer twice")
            }
            Finish::Stop | Finish::Length | Finish::Paused | Finish::Unknown(_) => None,
        };
        why.map_or(Ok(AfterRound::Again), |why| Err(ProviderError::Server(with_explanation(why, explanation)).into()))
    }

    /// Takes the messages that enter at a boundary, unless the turn is stopped: a message sent after a stop starts the
    /// next turn. An injection resets no step budget.
    fn drain(&self) -> Vec<Pending> {
        match (&self.handles.interloper, &self.handles.cancellable) {
            (Some(interloper), Some(cancellable)) => interloper.drain_unless(cancellable),
            (Some(interloper), None) => interloper.drain(),
            (None, _) => Vec::new(),
        }
    }

    fn rescues(&self) -> bool {
        self.handles.step_limit.as_ref().is_some_and(|limit| match limit.exhausted_action() {
            OnExhausted::Synthesize | OnExhausted::Ask => true,
            OnExhausted::Fail => false,
        })
    }

    /// Lets a fresh conversation without tools answer from the evidence; its answer becomes this turn's.
    async fn rescue(&mut self, exceeded: Exceeded) -> Result<(), RunError> {
        self.history.close_open(NotRunReason::BudgetExhausted);
        let question = UserTexts::in_messages(self.history.messages()).task_text();
        let steps = exceeded.max_steps;
        let reason = format!("step limit ({steps}) reached: answering from what was found");
        self.listeners.emit(Event::FallbackNotice { reason });
        let answer = self.synthesize(&question).await?;
        if !answer.is_empty() {
            self.history.push_assistant(AssistantMessage { content: answer.clone(), ..Default::default() });
        }
        self.synth_answer = Some(answer);
        Ok(())
    }

    /// Emits a call, counts it against the step budget and checks the cancel flag.
    pub(super) fn prepare(&mut self, call: &ToolCall) -> Result<(), RunError> {
        self.steps = self.steps.saturating_add(1);
        if let Some(interloper) = &self.handles.interloper {
            interloper.count_step();
            interloper.began_call(&call.name);
        }
        self.listeners.emit(Event::ToolCall {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        });
        if let Some(step_limit) = &self.handles.step_limit {
            step_limit.tick()?;
        }
        if let Some(cancellable) = &self.handles.cancellable {
            cancellable.check()?;
        }
        Ok(())
    }
}

/// Tells whether the model is to answer to a message.
fn waits_for_reply(message: &Message) -> bool {
    match message {
        Message::User { .. } | Message::Tool { .. } => true,
        Message::System { .. } | Message::Assistant(_) => false,
    }
}

/// The continuation of a turn after a round.
enum AfterRound {
    /// The final answer is in the history.
    Answered,
    /// The calls ran; a further request follows.
    Round,
    /// Messages cut the request and are in the history; a further request follows.
    Cut,
    /// The reply was empty; the request is sent once more.
    Again,
    /// The server paused its reply, which is in the history; it continues on the next request.
    Paused,
}

/// Returns why the last reply of a turn is no answer to its task yet.
fn unfinished(finish: &Finish) -> Option<String> {
    match finish {
        // What a server means by a word that nobody knows may well be the end.
        Finish::Stop | Finish::Unknown(_) => None,
        Finish::Paused => Some("the server paused its reply".to_owned()),
        Finish::Length | Finish::TooLong | Finish::ContentFilter => truncation_note(finish),
    }
}

/// Returns the notice that a reply without calls is incomplete; `None` when it is whole.
fn truncation_note(finish: &Finish) -> Option<String> {
    match finish {
        Finish::Stop | Finish::Paused => None,
        Finish::Length => Some("the reply was cut at the token limit".to_owned()),
        Finish::TooLong => {
            let most = steersman_base::summary::bytes(limits::ANSWER_BYTES as u64);
            Some(format!("the reply was cut at {most}: the rest of it was not read"))
        }
        Finish::ContentFilter => Some("the reply was cut by the content filter of the server".to_owned()),
        Finish::Unknown(word) => {
            Some(format!("the reply may be cut: it ended with {word:?}, which is no known reason"))
        }
    }
}

/// Appends the server's explanation.
fn with_explanation(said: &str, explanation: Option<&str>) -> String {
    explanation.map_or_else(|| said.to_owned(), |words| format!("{said}: {words}"))
}
