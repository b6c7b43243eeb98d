//! The loop. A turn is: user message → (round: reply → batch → boundary)* → final answer.
//!
//! Everything that decides what happens next is in this file; `reply` asks the model once, `batch` runs the calls of
//! one reply, `history` keeps the order that can be sent, `synthesizer` rescues a turn whose budget is used up.

use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;

use crate::agent::batch::Batch;
use crate::agent::compaction::Room;
use crate::agent::on_drop::OnDrop;
use crate::agent::park::Pass;
use crate::agent::reply::Asked;
use crate::agent::{Agent, AgentContext, EmptyReply, Unrun};
use crate::control::OnExhausted;
use crate::error::{Cancelled, Exceeded, RunError};
use crate::event::{Event, Outcome, Pending};
use crate::id::MessageId;
use crate::limits;
use crate::message::ToolCall;
use crate::provider::{Finish, ProviderError, UsageScope};
use crate::text::is_blank;

/// Is one user message that starts a turn.
struct Input {
    text: String,
    injection: Option<MessageId>,
}

impl From<Pending> for Input {
    fn from(entry: Pending) -> Self {
        Self { text: entry.text, injection: Some(entry.id) }
    }
}

impl Agent {
    /// Runs one turn with one user message (seed: `run_loop`). The answer is in `last_assistant_content`.
    ///
    /// # Errors
    /// [`RunError::Blank`] before anything happened; [`RunError::Cancelled`]; or what failed. After any of them the
    /// history can be sent and the next turn works.
    pub async fn run_loop(&mut self, user_message: &str) -> Result<(), RunError> {
        if is_blank(user_message) {
            return Err(RunError::Blank);
        }
        self.check_turn()?;
        self.synth_answer = None;
        self.reset_step_limit();
        self.begin();
        self.turn(vec![Input { text: user_message.to_owned(), injection: None }]).await
    }

    /// Runs turns with what is pending until nothing deliverable is left (D2, D3). Returns how many turns ran.
    ///
    /// Steers that wait together start one turn; follow-ups start one turn each. Without an interloper it does nothing.
    ///
    /// # Errors
    /// As [`Agent::run_loop`]; what is still pending stays pending, and after a failure waits until the next text.
    pub async fn run_queue(&mut self) -> Result<u32, RunError> {
        let Some(interloper) = self.interloper.clone() else { return Ok(0) };
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

    /// Begins what takes nothing from the queue: clears the cancel flag, under the queue's lock where there is one (D9).
    pub(super) fn begin(&self) {
        match (&self.interloper, self.owned_cancellable()) {
            (Some(interloper), cancellable) => interloper.begin_turn(cancellable),
            (None, Some(cancellable)) => cancellable.reset(),
            (None, None) => {}
        }
    }

    /// Fails a turn that no budget is left for before anything is delivered: what is pending stays pending.
    fn check_turn(&mut self) -> Result<(), RunError> {
        let Err(error) = self.check_budget() else { return Ok(()) };
        self.turns += 1;
        let (turn, outcome, message) = (self.turns, Outcome::Failed, Some(error.to_string()));
        self.listeners.emit(Event::TurnStarted { turn });
        self.fail(&error);
        self.listeners.emit(Event::TurnEnded { turn, outcome, message });
        Err(error)
    }

    /// Leaves everything as a failed turn does: the history can be sent, and what is pending waits for the next text.
    fn fail(&mut self, error: &RunError) {
        self.history.close_open(Unrun::BudgetExhausted);
        if let Some(interloper) = &self.interloper {
            interloper.pause();
        }
        if let RunError::Budget(_) = error {
            self.notice("stopped before the next request: the budget is used up".to_owned());
        }
    }

    /// Runs one turn and says how it ended; always closes what it opened.
    async fn turn(&mut self, inputs: Vec<Input>) -> Result<(), RunError> {
        self.turns += 1;
        let turn = self.turns;
        self.steps = 0;
        self.listeners.emit(Event::TurnStarted { turn });
        let mut open = OnDrop::new(self, move |agent| agent.end_turn(turn, &Err(Cancelled.into())));
        // A bug of a provider must not leave the turn open, nor end the host's worker.
        let result = AssertUnwindSafe(open.answer(inputs, turn)).catch_unwind().await;
        let result = result.unwrap_or(Err(RunError::Broken));
        open.disarm();
        self.end_turn(turn, &result);
        result.map(drop)
    }

    /// Delivers what starts the turn and works until there is an answer; tells where that came from.
    async fn answer(&mut self, inputs: Vec<Input>, turn: u32) -> Result<Outcome, RunError> {
        let question = inputs.iter().map(|input| input.text.as_str()).collect::<Vec<_>>().join("\n\n");
        self.deliver_all(inputs, &Place::TurnStart)?;
        match self.rounds(turn).await {
            Ok(()) => Ok(Outcome::Completed),
            Err(RunError::Exceeded(exceeded)) if self.rescues() => {
                self.rescue(&question, exceeded).await?;
                Ok(Outcome::Synthesized)
            }
            Err(error) => Err(error),
        }
    }

    /// Says how a turn ended, and leaves a history that can be sent.
    fn end_turn(&mut self, turn: u32, result: &Result<Outcome, RunError>) {
        let (outcome, message) = match result {
            Ok(outcome) => (*outcome, None),
            Err(RunError::Cancelled(Cancelled)) => {
                self.history.close_open(Unrun::Cancelled);
                self.wish.take();
                if let Some(interloper) = &self.interloper {
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
        self.tell_history();
        self.listeners.emit(Event::TurnEnded { turn, outcome, message });
    }

    /// Asks, runs the calls, asks again, until a reply has no calls.
    async fn rounds(&mut self, turn: u32) -> Result<(), RunError> {
        let mut round = 0;
        // A request that the user cut brought no reply: it is made again, not counted.
        let mut cut = 0;
        let mut empty_before = false;
        let mut pauses = 0;
        loop {
            if let Some(max_turns) = self.max_turns.filter(|max| round - cut >= *max) {
                return Err(RunError::MaxTurns { max_turns });
            }
            round += 1;
            self.listeners.emit(Event::RoundStarted { turn, round });
            let mut open = OnDrop::new(self, move |agent| agent.end_round(turn, round));
            let next = open.round(empty_before).await;
            drop(open);
            match next? {
                Next::Answered => return Ok(()),
                Next::Round => empty_before = false,
                Next::Cut => {
                    cut += 1;
                    empty_before = false;
                }
                Next::Again => empty_before = true,
                Next::Paused if pauses < limits::PAUSES => pauses += 1,
                Next::Paused => {
                    self.notice(format!("the server paused its reply {} times and was not asked again", pauses + 1));
                    return Ok(());
                }
            }
        }
    }

    /// Says that a round ended. What it was amidst when it was dropped enters the history first.
    fn end_round(&mut self, turn: u32, round: u32) {
        self.keep_partial();
        self.settle_group();
        self.tell_history();
        self.listeners.emit(Event::RoundEnded { turn, round });
    }

    /// One model request with its tool batch and the boundary behind it.
    async fn round(&mut self, empty_before: bool) -> Result<Next, RunError> {
        self.adopt_model()?;
        self.toolbox.take_additions();
        self.check_budget()?;
        self.make_room().await?;
        // A summary may have used it up.
        self.check_budget()?;
        let mut reply = match self.ask_within_window().await? {
            Asked::Reply(reply) => *reply,
            Asked::Cut(messages) => {
                self.deliver_all(inputs(messages), &Place::MidLoop { after: None })?;
                return Ok(Next::Cut);
            }
        };
        self.call_ids.free(&mut reply.tool_calls);
        let calls = reply.tool_calls.clone();
        let finish = reply.finish.clone();
        let explanation = reply.explanation.take();
        let empty = is_blank(&reply.content) && calls.is_empty();
        // A pause of a server that has something to go back is no empty answer.
        let goes_back = finish == Finish::Paused && reply.original.is_some();
        if empty && !goes_back && self.empty_reply == EmptyReply::AskAgain {
            self.pass_over(reply);
            return Self::empty(empty_before, &finish, explanation.as_deref());
        }
        self.accept(reply);
        if calls.is_empty() {
            if let Some(cut) = cut_off(&finish) {
                self.notice(with_explanation(&cut, explanation.as_deref()));
            }
            return Ok(if finish == Finish::Paused { Next::Paused } else { Next::Answered });
        }
        // The boundary: every call of the batch has its result, so messages may enter (D1).
        let Batch { after, mut cut } = self.run_batch(&calls, &finish).await?;
        // A held agent waits here first, so that what is typed meanwhile enters here.
        while cut.is_empty() && matches!(self.park_at_boundary().await?, Pass::Message) {
            // None when it was withdrawn meanwhile.
            cut = self.take_now();
        }
        // Behind a used-up budget nothing is asked any more: what is pending stays pending.
        let left = self.check_budget();
        let taken = if left.is_ok() { self.drain() } else { Vec::new() };
        self.deliver_all(inputs(cut.into_iter().chain(taken)), &Place::MidLoop { after })?;
        left.map(|()| Next::Round)
    }

    /// Asks the model once; when the conversation does not fit, makes room and asks once more.
    async fn ask_within_window(&mut self) -> Result<Asked, RunError> {
        let asked = self.ask().await;
        match asked {
            Err(RunError::Provider(ProviderError::Overflow { tokens, window, .. })) => {
                self.learn_overflow(tokens, window);
                if self.make_room_for_overflow().await? == Room::AsBefore {
                    return asked;
                }
            }
            // Some servers cut the conversation silently and tell it by their count alone.
            Ok(Asked::Reply(reply)) if reply.scope == UsageScope::OneRequest && self.is_too_much(&reply.usage) => {
                let (count, window) = (reply.usage.prompt(), self.context_window_cap.unwrap_or(0));
                self.notice(format!(
                    "the server counts {count} tokens, more than the window of {window}: it has not read all"
                ));
                if self.make_room_for_overflow().await? == Room::AsBefore {
                    return Ok(Asked::Reply(reply));
                }
                self.give_up(*reply);
            }
            asked => return asked,
        }
        self.check_budget()?;
        self.ask().await
    }

    /// Says what follows a reply that says nothing: one more request, then an error.
    fn empty(empty_before: bool, finish: &Finish, explanation: Option<&str>) -> Result<Next, RunError> {
        let why = match finish {
            // Asking again brings the same filter.
            Finish::ContentFilter => Some("the content filter of the server let nothing of the reply through"),
            Finish::TooLong => Some("the reply was too long to be read whole, and said nothing up to there"),
            Finish::Length if empty_before => Some("the replies were cut at the token limit before they said anything"),
            Finish::Stop | Finish::Paused | Finish::Unknown(_) if empty_before => {
                Some("the model gave an empty answer twice")
            }
            Finish::Stop | Finish::Length | Finish::Paused | Finish::Unknown(_) => None,
        };
        why.map_or(Ok(Next::Again), |why| Err(ProviderError::Server(with_explanation(why, explanation)).into()))
    }

    /// Takes what enters at a boundary, unless the turn is stopped: what is sent after a stop starts the next turn.
    /// Resets no control: an injection refreshes nothing.
    fn drain(&self) -> Vec<Pending> {
        match (&self.interloper, &self.cancellable) {
            (Some(interloper), Some(cancellable)) => interloper.drain_unless(cancellable),
            (Some(interloper), None) => interloper.drain(),
            (None, _) => Vec::new(),
        }
    }

    /// Delivers every text, also behind one on which an extension failed: what was taken is delivered (D5).
    fn deliver_all(&mut self, inputs: Vec<Input>, place: &Place) -> Result<(), RunError> {
        let mut result = Ok(());
        for input in inputs {
            let delivered = self.deliver(&input.text, input.injection, place);
            result = result.and(delivered);
        }
        result
    }

    /// Appends one user message, says so, and lets the extensions add their words behind it.
    fn deliver(&mut self, text: &str, injection: Option<MessageId>, place: &Place) -> Result<(), RunError> {
        self.history.push_user(text);
        self.unseen.extend(injection.clone());
        let (mid_loop, after) = match place {
            Place::TurnStart => (false, None),
            Place::MidLoop { after } => (true, after.clone()),
        };
        let typed = text.to_owned();
        self.listeners.emit(Event::UserTurn { content: typed, mid_loop, injection, step: self.steps, after });
        self.tell_history();
        for extension in &self.extensions {
            let context = AgentContext {
                listeners: &self.listeners,
                extension: extension.name(),
                context_window_cap: self.context_window_cap,
            };
            // A bug of an extension must not leave the turn open.
            let outcome = catch_unwind(AssertUnwindSafe(|| extension.on_user_message(&context, text)));
            let outcome =
                outcome.unwrap_or_else(|_| Err(format!("the extension '{}' broke down", extension.name()).into()));
            match outcome {
                Ok(None) => {}
                Ok(Some(words)) => self.history.push_system(words),
                Err(error) if error.is::<Cancelled>() => return Err(Cancelled.into()),
                Err(error) => return Err(RunError::Extension(error)),
            }
        }
        Ok(())
    }

    fn rescues(&self) -> bool {
        self.step_limit.as_ref().is_some_and(|limit| match limit.exhausted_action() {
            OnExhausted::Synthesize | OnExhausted::Ask => true,
            OnExhausted::Fail => false,
        })
    }

    /// Lets a fresh, tools-free conversation answer from the evidence; its answer becomes this turn's.
    async fn rescue(&mut self, question: &str, exceeded: Exceeded) -> Result<(), RunError> {
        self.history.close_open(Unrun::BudgetExhausted);
        let steps = exceeded.max_steps;
        let reason = format!("step limit ({steps}) reached: answering from what was found");
        self.listeners.emit(Event::FallbackNotice { reason });
        let answer = self.synthesize(question).await?;
        if !answer.is_empty() {
            self.history
                .push_assistant(crate::message::AssistantMessage { content: answer.clone(), ..Default::default() });
        }
        self.synth_answer = Some(answer);
        Ok(())
    }

    /// Returns whether a tick and a check let this call run; the event comes before both (spec 2.2.5).
    pub(super) fn prepare(&mut self, call: &ToolCall) -> Result<(), RunError> {
        self.steps = self.steps.saturating_add(1);
        if let Some(interloper) = &self.interloper {
            interloper.count_step();
        }
        self.listeners.emit(Event::ToolCall {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        });
        if let Some(step_limit) = &self.step_limit {
            step_limit.tick()?;
        }
        if let Some(cancellable) = &self.cancellable {
            cancellable.check()?;
        }
        Ok(())
    }
}

/// Says what follows a round.
enum Next {
    /// The final answer is in the history.
    Answered,
    /// The calls ran; ask again.
    Round,
    /// Messages cut the request and are in the history; ask again.
    Cut,
    /// The reply was empty; ask once more.
    Again,
    /// The server paused its reply, which is in the history; it goes on when it is asked.
    Paused,
}

/// Says of a reply without calls that it is not whole.
fn cut_off(finish: &Finish) -> Option<String> {
    match finish {
        Finish::Stop | Finish::Paused => None,
        Finish::Length => Some("the reply was cut at the token limit".to_owned()),
        Finish::TooLong => {
            let most = crate::summary::bytes(limits::ANSWER_BYTES as u64);
            Some(format!("the reply was cut at {most}: the rest of it was not read"))
        }
        Finish::ContentFilter => Some("the reply was cut by the content filter of the server".to_owned()),
        Finish::Unknown(word) => {
            Some(format!("the reply may be cut: it ended with {word:?}, which is no known reason"))
        }
    }
}

/// Adds what the server says of it.
fn with_explanation(said: &str, explanation: Option<&str>) -> String {
    explanation.map_or_else(|| said.to_owned(), |words| format!("{said}: {words}"))
}

/// Says where a user message enters.
enum Place {
    TurnStart,
    /// Behind the result of this tool; behind none where it cut an answer.
    MidLoop {
        after: Option<String>,
    },
}

fn inputs(entries: impl IntoIterator<Item = Pending>) -> Vec<Input> {
    entries.into_iter().map(Input::from).collect()
}
