//! Makes room in a long conversation: shortens old tool results, and lets the model summarise older rounds.
//!
//! Called before a request, behind an overflow, and by hand. Always holds: the history changes only when a summary is
//! whole and shorter than what it stands for; a failure says so and is not repeated at once; a cancel leaves all as it was.

mod prompt;
mod wish;

use crate::agent::on_drop::OnDrop;
use crate::agent::reply::stopped;
use crate::agent::{Agent, History};
use crate::error::{Cancelled, RunError};
use crate::event::Event;
use crate::limits;
use crate::message::Message;
use crate::provider::{ChatRequest, Finish, Piece, ProviderError, Reply};
use crate::text::is_blank;

pub use wish::CompactWish;

/// Says why room is made.
enum Why<'a> {
    /// The window is filled to the share at which it is due.
    Share {
        /// The size from which on it is, tokens.
        due: u64,
    },
    /// A request did not fit.
    Overflow,
    /// The user asks for it, with what the summary is to keep in mind.
    Asked(Option<&'a str>),
}

/// Says whether there is more room now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    Made,
    AsBefore,
}

impl Agent {
    /// Compacts the conversation now, as the wish asks that the agent was built with; for a host, while no turn runs.
    /// Without a wish it does nothing.
    ///
    /// # Errors
    /// [`RunError::Cancelled`] and [`RunError::Budget`]; the conversation is as it was. Any other failure is a
    /// [`Event::Notice`].
    pub async fn compact(&mut self) -> Result<(), RunError> {
        if !self.wish.is_asked() {
            return Ok(());
        }
        self.begin();
        let mut open = OnDrop::new(self, |agent| agent.end_compaction(&Err(Cancelled.into())));
        let made = match open.check_budget() {
            Ok(()) => open.make_room().await,
            Err(error) => {
                open.wish.take();
                Err(error)
            }
        };
        open.disarm();
        self.end_compaction(&made);
        made
    }

    fn end_compaction(&self, made: &Result<(), RunError>) {
        if let Err(error) = made {
            let sentence = match error {
                RunError::Cancelled(Cancelled) => {
                    "the compaction was stopped; the conversation is as it was".to_owned()
                }
                other => other.to_string(),
            };
            self.notice(sentence);
            if let Some(interloper) = &self.interloper {
                interloper.end_cancelled();
            }
        }
    }

    /// Makes room where it is due before a request, or asked for.
    pub(super) async fn make_room(&mut self) -> Result<(), RunError> {
        if let Some(wish) = self.wish.take() {
            self.make(Why::Asked(wish.words.as_deref())).await?;
        } else if let Some(due) = self.due()
            && self.size().tokens >= due
            && self.history.messages().len() >= self.compact_from
        {
            self.make(Why::Share { due }).await?;
        }
        Ok(())
    }

    /// Makes room behind a request that did not fit.
    pub(super) async fn make_room_for_overflow(&mut self) -> Result<Room, RunError> {
        self.make(Why::Overflow).await
    }

    /// Returns the size from which on the conversation is compacted, tokens; `None` when it never is.
    fn due(&self) -> Option<u64> {
        let window = self.context_window_cap.filter(|window| *window > 0)?;
        let share = Some(u64::from(self.compact_at)).filter(|share| *share > 0)?;
        Some((window.saturating_mul(share) / 100).max(1))
    }

    async fn make(&mut self, why: Why<'_>) -> Result<Room, RunError> {
        let before = self.size().tokens;
        if let Why::Share { due } = why
            && let Some(shorter) = self.history.shortened()
            && self.size_of(&shorter) <= due.saturating_mul(limits::COMPACT_ENOUGH) / 100
        {
            self.replace(shorter, before, 0, String::new());
            return Ok(Room::Made);
        }
        let older = self.history.older();
        if older.is_empty() {
            if let Why::Asked(_) = why {
                self.notice("there is nothing to compact yet: the last rounds always stay".to_owned());
            }
            return Ok(Room::AsBefore);
        }
        let messages = older.len();
        let room = self.context_window_cap.unwrap_or(before) / 2;
        let room = self.context_size.room(self.transport.model_name(), room);
        let words = if let Why::Asked(words) = why { words } else { None };
        let request = [Message::system(prompt::SYSTEM), Message::user(prompt::build(&older, words, room))];
        self.listeners.emit(Event::Compacting { messages });
        let failed = match self.summary(&request).await {
            Ok(summary) => match self.history.compacted(&summary) {
                Some(history) if self.size_of(&history) < self.size_of(&self.history) => {
                    self.replace(history, before, messages, summary);
                    return Ok(Room::Made);
                }
                Some(_) | None => "the summary was not shorter than what it stands for".to_owned(),
            },
            Err(ProviderError::Cancelled(cancelled)) => return Err(cancelled.into()),
            Err(error) => error.to_string(),
        };
        self.compact_from = self.history.messages().len().saturating_add(limits::COMPACT_REST);
        self.notice(format!("the conversation could not be compacted and stays as it was: {failed}"));
        self.say_size();
        Ok(Room::AsBefore)
    }

    fn replace(&mut self, history: History, before: u64, messages: usize, summary: String) {
        self.history = history;
        self.context_size.forget();
        self.compact_from = 0;
        let after = Some(self.size().tokens);
        self.listeners.emit(Event::Compacted { before: Some(before), after, messages, summary });
        self.tell_replaced();
        self.say_size();
    }

    /// Asks the model for a summary, without tools; costs and waits are told as those of any request.
    async fn summary(&self, messages: &[Message]) -> Result<String, ProviderError> {
        let request = ChatRequest::new(self.transport.model_name(), messages, &[], self.streaming)?;
        let request = request.answering(self.transport.answering);
        let check = || self.cancellable.as_ref().map_or(Ok(()), crate::control::Cancellable::check);
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
            () = stopped(self.cancellable.as_ref()) => return Err(Cancelled.into()),
            reply = self.provider.complete(request, &mut sink) => reply?,
        };
        self.spend(usage, (messages, &[]), &content);
        let refused = |why: &str| Err(ProviderError::Server(why.to_owned()));
        match finish {
            _ if is_blank(&content) => refused("the model gave an empty summary"),
            _ if !tool_calls.is_empty() => refused("the model gave a call in place of a summary"),
            Finish::ContentFilter => refused("the content filter cut the summary"),
            Finish::Stop | Finish::Length | Finish::TooLong | Finish::Paused | Finish::Unknown(_) => {
                Ok(clipped(content))
            }
        }
    }

    /// Returns the size that the conversation would have, tokens.
    fn size_of(&self, history: &History) -> u64 {
        let mut sizes = self.context_size.clone();
        sizes.forget();
        sizes.of(self.transport.model_name(), history.messages(), self.toolbox.schemas()).tokens
    }
}

fn clipped(summary: String) -> String {
    match summary.char_indices().nth(limits::SUMMARY_TEXT_CHARS) {
        Some((end, _)) => format!("{}…", summary.get(..end).unwrap_or_default()),
        None => summary,
    }
}
