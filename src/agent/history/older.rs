//! The older part of a conversation: which messages belong to it, and the conversation without or with less of them.
//!
//! Pure; `compaction` decides when. Always holds: the system prompt stays as it is, the last rounds and the newest
//! message of the user stay, and a history that could be sent still can.

use std::collections::VecDeque;
use std::ops::Range;

use crate::agent::History;
use crate::limits;
use crate::message::Message;

/// The beginning of the message that replaces older rounds; the summary follows it.
pub const SUMMARY_HEAD: &str = "[Summary of the earlier conversation, whose messages were taken out to make room. \
It was written by the assistant and is no message of the user.]\n\n";

impl History {
    /// Returns the messages that a summary would replace, oldest first; none while calls are open.
    pub fn older(&self) -> Vec<&Message> {
        let Some(parts) = self.parts() else { return Vec::new() };
        let older: Vec<&Message> = self.at(parts.before).iter().chain(self.at(parts.between)).collect();
        // A summary is not summarised alone.
        if older.iter().all(|message| is_summary(message)) { Vec::new() } else { older }
    }

    /// Returns this conversation with one message in the place of its older rounds; `None` when there are none.
    #[must_use]
    pub fn compacted(&self, summary: &str) -> Option<Self> {
        if self.older().is_empty() {
            return None;
        }
        let parts = self.parts()?;
        let summary = Message::user(format!("{SUMMARY_HEAD}{summary}"));
        let prompt = self.messages.first().into_iter();
        let messages = prompt.cloned().chain([summary]);
        let messages = messages.chain(self.at(parts.newest).iter().cloned()).chain(self.at(parts.last).iter().cloned());
        Some(Self { messages: messages.collect(), open: VecDeque::new() })
    }

    /// Returns this conversation with the long tool results of its older rounds cut to beginning and end; `None` when
    /// there is nothing to cut.
    #[must_use]
    pub fn shortened(&self) -> Option<Self> {
        let last = self.parts()?.last.start;
        let mut messages = self.messages.clone();
        let mut any = false;
        for message in messages.iter_mut().take(last) {
            if let Message::Tool { content, .. } = message
                && let Some(short) = shorten(content, limits::OLD_RESULT_CHARS)
            {
                *content = short;
                any = true;
            }
        }
        any.then_some(Self { messages, open: VecDeque::new() })
    }

    fn at(&self, range: Range<usize>) -> &[Message] {
        self.messages.get(range).unwrap_or_default()
    }

    /// Divides the conversation; `None` while calls are open.
    fn parts(&self) -> Option<HistoryParts> {
        if !self.open.is_empty() {
            return None;
        }
        let messages = &self.messages;
        let is_reply = |index: usize| matches!(messages.get(index), Some(Message::Assistant(_)));
        let replies = (1..messages.len()).rev().filter(|index| is_reply(*index));
        let mut last = replies.clone().nth(limits::KEPT_ROUNDS.saturating_sub(1)).unwrap_or(1);
        // Pieces of one reply, which its server paused, stay together.
        while last > 1 && is_reply(last - 1) {
            last -= 1;
        }
        let is_note_or_user = |index: &usize| match messages.get(*index) {
            Some(message @ (Message::User { .. } | Message::System { .. })) => !is_summary(message),
            Some(Message::Assistant(_) | Message::Tool { .. }) | None => false,
        };
        let is_user =
            |index: &usize| matches!(messages.get(*index), Some(Message::User { .. })) && is_note_or_user(index);
        let newest = match (1..messages.len()).rev().find(is_user) {
            Some(user) if user < last => {
                let first = (1..=user).rev().take_while(is_note_or_user).last().unwrap_or(user);
                let end = (user..last).take_while(is_note_or_user).last().map_or(user + 1, |word| word + 1);
                first..end
            }
            Some(_) | None => last..last,
        };
        Some(HistoryParts { before: 1..newest.start, between: newest.end..last, last: last..messages.len(), newest })
    }
}

/// The parts of a conversation after its system prompt, as ranges of messages.
struct HistoryParts {
    /// Messages that are older than the newest message of the user.
    before: Range<usize>,
    /// The newest message of the user, with what extensions appended to it; empty when it is among the last rounds.
    newest: Range<usize>,
    /// The rounds between that message and the last rounds.
    between: Range<usize>,
    /// The last rounds and what follows them.
    last: Range<usize>,
}

/// Returns whether a message is a summary of older ones.
pub(in crate::agent) fn is_summary(message: &Message) -> bool {
    matches!(message, Message::User { content } if content.starts_with(SUMMARY_HEAD))
}

/// The room for the note on what was left out, characters.
const NOTE: usize = 48;

/// Returns the beginning and the end of a text that is longer than `most` characters, with a note between them, at most
/// `most` characters together; `None` when the text is short enough.
pub(in crate::agent) fn shorten(text: &str, most: usize) -> Option<String> {
    // A text has at least as many bytes as characters.
    if text.len() <= most {
        return None;
    }
    let characters = text.chars().count();
    if characters <= most {
        return None;
    }
    let kept = most.saturating_sub(NOTE);
    let left_out = characters - kept;
    let head = kept / 3 * 2;
    let at = |character: usize| text.char_indices().nth(character).map_or(text.len(), |(at, _)| at);
    let (head, tail) = (text.get(..at(head))?, text.get(at(head + left_out)..)?);
    Some(format!("{head}\n… {left_out} characters left out …\n{tail}"))
}
