//! Makes room in a long conversation: shortens old tool results, and lets the model summarise older rounds.
//!
//! Called before a request, after an overflow, and when the user asks. Always holds: the history changes only when a
//! summary is whole and shorter than the messages it replaces, and when the task, the rules and the texts without an
//! answer are in the new one word for word, with the plan; a failure is reported and not repeated at once; a cancel changes nothing.
//!
//! # Where things are
//!
//! - the request in which the model is to summarise older rounds: `prompt.rs`
//! - what the user asks of the agent beside the turns: `request.rs`

mod prompt;
mod request;

use crate::history::{Keep, Pins, lost};
use crate::on_drop::OnDrop;
use crate::reply::stopped;
use crate::{Agent, CompactionCause, History, SessionStart};
use steersman_base::error::{Cancelled, RunError};
use steersman_base::event::Event;
use steersman_base::limits;
use steersman_base::message::Message;
use steersman_base::text::is_blank;
use steersman_core::provider::{ChatRequest, Finish, Piece, ProviderError, Reply};
use steersman_core::wrapper::without_tags;

pub use request::CompactionRequest;

/// The reason for a compaction.
enum CompactionReason<'a> {
    /// The conversation fills the configured share of the window.
    Share {
        /// The size at which that share begins, tokens.
        due: u64,
    },
    /// A request did not fit.
    Overflow,
    /// The user asks for it, with words on what the summary must keep.
    Asked(Option<&'a str>),
}

/// The result of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompactionResult {
    MadeRoom,
    Unchanged,
}

impl Agent {
    /// Compacts the conversation now if the request that the agent was built with asks for it; for a host, while no
    /// turn runs.
    ///
    /// # Errors
    /// [`RunError::Cancelled`] and [`RunError::Budget`]; the conversation is as it was. Any other failure is a
    /// [`Event::Notice`].
    pub async fn compact(&mut self) -> Result<(), RunError> {
        if !self.handles.compaction_request.is_requested() {
            return Ok(());
        }
        self.begin();
        let mut open = OnDrop::new(self, |agent| agent.end_compaction(&Err(Cancelled.into())));
        let made = match open.check_budget() {
            Ok(()) => open.make_room().await.map(drop),
            Err(error) => {
                open.handles.compaction_request.take_request();
                Err(error)
            }
        };
        open.disarm();
        self.end_compaction(&made);
        made
    }

    fn end_compaction(&self, made: &Result<(), RunError>) {
        if let Err(error) = made {
            let sentence = if let RunError::Cancelled(Cancelled) = error {
                "the compaction was stopped; the conversation is as it was".to_owned()
            } else {
                error.to_string()
            };
            self.notice(sentence);
            if let Some(interloper) = &self.handles.interloper {
                interloper.end_cancelled();
            }
        }
    }

    /// Makes room before a request when it is due or asked for; `None` when it is neither.
    pub(super) async fn make_room(&mut self) -> Result<Option<CompactionResult>, RunError> {
        if let Some(compaction_request) = self.handles.compaction_request.take_request() {
            self.make(CompactionReason::Asked(compaction_request.words.as_deref())).await.map(Some)
        } else if let Some(due) = self.due()
            && self.size().tokens >= due
            && self.history.messages().len() >= self.compact_from
        {
            self.make(CompactionReason::Share { due }).await.map(Some)
        } else {
            Ok(None)
        }
    }

    /// Makes room after a request that did not fit.
    pub(super) async fn make_room_for_overflow(&mut self) -> Result<CompactionResult, RunError> {
        self.make(CompactionReason::Overflow).await
    }

    /// Returns the size at which the conversation is compacted, tokens; `None` when it never is.
    fn due(&self) -> Option<u64> {
        let window = self.context_window_cap.filter(|window| *window > 0)?;
        let share = Some(u64::from(self.tree.compact_at)).filter(|share| *share > 0)?;
        Some((window.saturating_mul(share) / 100).max(1))
    }

    async fn make(&mut self, why: CompactionReason<'_>) -> Result<CompactionResult, RunError> {
        let cause = match why {
            CompactionReason::Asked(words) => CompactionCause::Asked(words),
            CompactionReason::Share { .. } | CompactionReason::Overflow => CompactionCause::Auto,
        };
        if let Some(why) = self.ask_about_compaction(cause).await? {
            self.compact_from = self.history.messages().len().saturating_add(limits::COMPACT_REST);
            self.notice(format!("the conversation is not compacted, a hook forbids it: {why}"));
            return Ok(CompactionResult::Unchanged);
        }
        let before = self.size().tokens;
        let calls = self.tree.context.pins(&self.id);
        let pins = Pins { calls: &calls, room: self.room_for_pins() };
        if let CompactionReason::Share { due } = why
            && let Some(shorter) = self.history.shortened(&pins)
            && self.size_of(&shorter) <= due.saturating_mul(limits::COMPACT_ENOUGH) / 100
        {
            self.replace(shorter, before, 0, String::new());
            return Ok(CompactionResult::MadeRoom);
        }
        let older = self.history.older();
        if older.is_empty() {
            if let CompactionReason::Asked(_) = why {
                self.notice("there is nothing to compact yet: the last rounds always stay".to_owned());
            }
            return Ok(CompactionResult::Unchanged);
        }
        let messages = older.len();
        let room = self.context_window_cap.unwrap_or(before) / 2;
        let room = self.context_size.room(self.tree.transport.model_name(), room);
        let words = if let CompactionReason::Asked(words) = why { words } else { None };
        let request = [Message::system(prompt::SYSTEM), Message::user(prompt::build(&older, words, room))];
        self.listeners.emit(Event::Compacting { messages });
        let failed = match self.summary(&request).await {
            Ok(summary) => match self.compacted(&summary, &pins) {
                Ok(history) => {
                    self.replace(history, before, messages, summary);
                    return Ok(CompactionResult::MadeRoom);
                }
                Err(why) => why,
            },
            Err(ProviderError::Cancelled(cancelled)) => return Err(cancelled.into()),
            Err(error) => error.to_string(),
        };
        self.compact_from = self.history.messages().len().saturating_add(limits::COMPACT_REST);
        self.notice(format!("the conversation could not be compacted and stays as it was: {failed}"));
        self.emit_size();
        Ok(CompactionResult::Unchanged)
    }

    /// Returns the conversation with a summary in the place of its older rounds, checked: it is shorter, and what the user
    /// wrote is in it as far as it must be.
    fn compacted(&self, summary: &str, pins: &Pins<'_>) -> Result<History, String> {
        let rules = self.tree.rules.for_agent(&self.id);
        let plan = self.tree.plans.plan_or_default(&self.id);
        let keep = Keep { agent: &self.id, rules: &rules, plan: &plan, room: self.room_for_texts() };
        let shorter = self.history.compacted(summary, &keep, pins);
        let shorter = shorter.filter(|shorter| self.size_of(shorter) < self.size_of(&self.history));
        let shorter = shorter.ok_or("the summary was not shorter than the messages it was to replace")?;
        match lost(self.history.messages(), shorter.messages(), &rules) {
            None => Ok(shorter),
            Some(what) => Err(format!("{what} would not be in it word for word")),
        }
    }

    /// Returns the characters that earlier texts of the user may have beside the task and the rules: an eighth of the
    /// window, guessed.
    fn room_for_texts(&self) -> usize {
        let share = self.context_window_cap.map_or(u64::MAX, |window| window / 2);
        limits::KEPT_TEXT_CHARS.min(usize::try_from(share).unwrap_or(usize::MAX))
    }

    /// Returns the characters that pinned results may have together: a quarter of the window, guessed.
    fn room_for_pins(&self) -> usize {
        let share = self.context_window_cap.unwrap_or(u64::MAX);
        limits::PINNED_CHARS.min(usize::try_from(share).unwrap_or(usize::MAX))
    }

    fn replace(&mut self, history: History, before: u64, messages: usize, summary: String) {
        self.history = history;
        self.context_size.forget();
        self.compact_from = 0;
        self.session_start.get_or_insert(SessionStart::Compact);
        let after = Some(self.size().tokens);
        self.listeners.emit(Event::Compacted { before: Some(before), after, messages, summary });
        self.notify_replaced();
        self.emit_size();
    }

    /// Asks the model for a summary, without tools; costs and retries are reported as those of any request.
    async fn summary(&self, messages: &[Message]) -> Result<String, ProviderError> {
        let request = ChatRequest::new(self.tree.transport.model_name(), messages, &[], self.tree.streaming)?;
        let request = request.answering(self.tree.transport.answering);
        let check = || self.handles.cancellable.as_ref().map_or(Ok(()), steersman_core::control::Cancellable::check);
        let mut sink = |piece: Piece| -> Result<(), Cancelled> {
            check()?;
            match piece {
                Piece::Chunk { .. } => {}
                Piece::Retrying { attempt, after_ms, reason } => {
                    self.listeners.emit(Event::Retrying { attempt, after_ms, reason });
                }
            }
            Ok(())
        };
        check()?;
        let Reply { content, tool_calls, usage, finish, .. } = tokio::select! {
            biased;
            () = stopped(self.handles.cancellable.as_ref()) => return Err(Cancelled.into()),
            reply = self.provider.complete(request, &mut sink) => reply?,
        };
        self.spend(usage, (messages, &[]), &content);
        let refused = |why: &str| Err(ProviderError::Server(why.to_owned()));
        match finish {
            _ if is_blank(&content) => refused("the model wrote an empty summary"),
            _ if !tool_calls.is_empty() => refused("the model called a tool instead of writing a summary"),
            Finish::ContentFilter => refused("the content filter cut the summary"),
            Finish::Stop | Finish::Length | Finish::TooLong | Finish::Paused | Finish::Unknown(_) => {
                // Nothing in it may look like a text of the user.
                Ok(without_tags(&clipped(content)))
            }
        }
    }

    /// Returns the size that the conversation would have, tokens.
    fn size_of(&self, history: &History) -> u64 {
        let mut sizes = self.context_size.clone();
        sizes.forget();
        sizes.measure(self.tree.transport.model_name(), history.messages(), self.toolbox.schemas()).tokens
    }
}

fn clipped(summary: String) -> String {
    match summary.char_indices().nth(limits::SUMMARY_TEXT_CHARS) {
        Some((end, _)) => format!("{}…", summary.get(..end).unwrap_or_default()),
        None => summary,
    }
}
