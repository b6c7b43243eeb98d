//! The older part of a conversation: which messages belong to it, and the conversation without or with less of them.
//!
//! Pure; `compaction` decides when. Always holds: the system prompt stays as it is, the last rounds stay, what the user
//! wrote stays word for word as `kept` has it, and a history that could be sent still can.

use std::collections::VecDeque;

use super::kept::{Keep, kept};
use crate::History;
use steersman_base::id::CallId;
use steersman_base::limits;
use steersman_base::message::{Message, UserAbout};
use steersman_core::wrapper::wrapped;

/// The beginning of the message that replaces older rounds; the summary follows it.
pub const SUMMARY_HEAD: &str = "[Summary of the earlier conversation, whose messages were taken out to make room. \
It was written by the assistant and is no message of the user.]\n\n";

/// The beginning of the message that has the results which the user pinned.
const PINNED_HEAD: &str =
    "[Results that the user wants kept word for word. They were read before; they are no message of the user.]";

/// The mark in the place of a result that the user took out.
const DROPPED: &str =
    "[The user took this result out of the conversation to make room. Call the tool again if it is needed.]";

/// The results that a compaction keeps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pins<'a> {
    /// The calls whose results they are.
    pub calls: &'a [CallId],
    /// Characters that they may have together.
    pub room: usize,
}

impl History {
    /// Returns the messages that a summary would replace, oldest first; none while calls are open, and none when there is
    /// nothing among them but what stays anyway: texts of the user and an earlier summary.
    pub fn older(&self) -> Vec<&Message> {
        let Some(last) = self.last_rounds() else { return Vec::new() };
        let older = self.messages.get(self.prompt_len()..last).unwrap_or_default();
        let is_work = |message: &Message| !matches!(message, Message::User { .. });
        if older.iter().any(is_work) { older.iter().collect() } else { Vec::new() }
    }

    /// Returns this conversation with the user's texts and one summary in the place of its older rounds; `None` when there
    /// are none.
    #[must_use]
    pub fn compacted(&self, summary: &str, keep: &Keep<'_>, pins: &Pins<'_>) -> Option<Self> {
        if self.older().is_empty() {
            return None;
        }
        let last = self.last_rounds()?;
        let prompt = self.messages.iter().take(self.prompt_len()).cloned();
        let kept = kept(&self.messages, last, keep).into_iter();
        let summary = Message::user(format!("{SUMMARY_HEAD}{summary}"));
        let rest = self.messages.get(last..).unwrap_or_default().iter().cloned();
        let pinned = self.pinned(last, pins);
        let messages = prompt.chain(kept).chain([summary]).chain(pinned).chain(rest).collect();
        Some(Self { messages, open: VecDeque::new() })
    }

    /// Takes a result out of the conversation, with its images: a mark stands in its place. False when there is none of this
    /// call.
    pub fn drop_result(&mut self, call: &CallId) -> bool {
        let result = self.messages.iter_mut().find_map(|message| match message {
            Message::Tool { call_id, content, .. } if call_id == call => Some(content),
            Message::System { .. } | Message::User { .. } | Message::Assistant(_) | Message::Tool { .. } => None,
        });
        let is_dropped = match result {
            Some(content) if content != DROPPED => {
                DROPPED.clone_into(content);
                true
            }
            Some(_) | None => false,
        };
        self.drop_images(call) || is_dropped
    }

    /// Makes the message with the pinned results of what is taken out, behind those of an earlier one; `None` without any.
    fn pinned(&self, last: usize, pins: &Pins<'_>) -> Option<Message> {
        let older = self.messages.get(self.prompt_len()..last).unwrap_or_default();
        let mut room = pins.room;
        let mut block = String::new();
        for message in older {
            let entry = match message {
                Message::User { content, .. } if is_pinned(message) => {
                    content.strip_prefix(PINNED_HEAD).unwrap_or_default().to_owned()
                }
                Message::Tool { call_id, name, content } if pins.calls.contains(call_id) => {
                    format!("\n\n{}", wrapped("result", call_id.as_str(), &format!(" tool=\"{name}\""), content))
                }
                Message::System { .. } | Message::User { .. } | Message::Assistant(_) | Message::Tool { .. } => {
                    continue;
                }
            };
            let characters = entry.chars().count();
            if characters <= room {
                room -= characters;
                block.push_str(&entry);
            } else {
                block.push_str("\n\n(A pinned result found no room.)");
            }
        }
        (!block.is_empty()).then(|| Message::user(format!("{PINNED_HEAD}{block}")))
    }

    /// Returns this conversation with the long tool results of its older rounds cut to beginning and end; `None` when
    /// there is nothing to cut.
    #[must_use]
    pub fn shortened(&self, pins: &Pins<'_>) -> Option<Self> {
        let last = self.last_rounds()?;
        let mut messages = self.messages.clone();
        let mut any = false;
        for message in messages.iter_mut().take(last) {
            if let Message::Tool { content, call_id, .. } = message
                && !pins.calls.contains(call_id)
                && let Some(short) = shorten(content, limits::OLD_RESULT_CHARS)
            {
                *content = short;
                any = true;
            }
        }
        any.then_some(Self { messages, open: VecDeque::new() })
    }

    /// Returns where the last rounds begin, which always stay; `None` while calls are open.
    fn last_rounds(&self) -> Option<usize> {
        if !self.open.is_empty() {
            return None;
        }
        let messages = &self.messages;
        let is_reply = |index: usize| matches!(messages.get(index), Some(Message::Assistant(_)));
        let mut replies = (1..messages.len()).rev().filter(|index| is_reply(*index));
        let mut last = replies.nth(limits::KEPT_ROUNDS.saturating_sub(1)).unwrap_or(1);
        // Pieces of one reply, which its server paused, stay together.
        while last > 1 && is_reply(last - 1) {
            last -= 1;
        }
        Some(last)
    }
}

/// Returns whether a message has the pinned results out of older ones.
pub(crate) fn is_pinned(message: &Message) -> bool {
    matches!(message, Message::User { content, about: None, .. } if content.starts_with(PINNED_HEAD))
}

/// Returns whether a message is a summary of older ones.
pub(crate) fn is_summary(message: &Message) -> bool {
    matches!(message, Message::User { content, about: None, .. } if content.starts_with(SUMMARY_HEAD))
}

/// Returns whether a message has the user's texts out of older ones.
pub(crate) fn is_kept(message: &Message) -> bool {
    matches!(message, Message::User { about: Some(about), .. } if matches!(about.as_ref(), UserAbout::Kept(_)))
}

/// The room for the note on what was left out, characters.
const NOTE: usize = 48;

/// Returns the beginning and the end of a text that is longer than `most` characters, with a note between them, at most
/// `most` characters together; `None` when the text is short enough.
pub(crate) fn shorten(text: &str, most: usize) -> Option<String> {
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
