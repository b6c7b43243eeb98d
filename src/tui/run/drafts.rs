//! When what is being written is kept in the session's journal: a moment after a key, and at once when texts came back.
//!
//! Held by the loop. Nothing is asked for while nothing changes.

use std::time::{Duration, Instant};

use crate::msg::Msg;
use steersman_base::event::Event;
use steersman_base::protocol::{DraftText, Notice, Reply, Request, Update};

/// Longest time that a text is typed without being kept.
const PAUSE: Duration = Duration::from_secs(1);

/// What was kept last, and when the next look is due.
#[derive(Debug, Default)]
pub struct KeptDrafts {
    kept: Vec<DraftText>,
    due: Option<Instant>,
}

impl KeptDrafts {
    /// Notes a message that may change what is being written.
    pub fn on_msg(&mut self, msg: &Msg, now: Instant) {
        let wait = match msg {
            Msg::Key(..) | Msg::Typed(..) | Msg::Paste(..) | Msg::Mouse(..) | Msg::Edited { .. } | Msg::Line(..) => {
                PAUSE
            }
            // A text that was safe in a queue is only in the message now, or only in a queue.
            Msg::Update(
                Update::Reply(Reply::Queue { .. } | Reply::Stopped(_) | Reply::Injected { .. })
                | Update::Notice(Notice::Returned(_) | Notice::Unfinished(_)),
            ) => Duration::ZERO,
            Msg::Update(Update::Envelope(envelope)) if matches!(envelope.event, Event::Returned { .. }) => {
                Duration::ZERO
            }
            _ => return,
        };
        let at = now + wait;
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }

    /// Returns when the texts are to be looked at.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Returns what is to be asked for, once that is due and something has changed.
    pub fn keep(&mut self, now: Instant, unsent: impl FnOnce() -> Vec<DraftText>) -> Option<Request> {
        self.due.take_if(|due| *due <= now)?;
        self.last(unsent())
    }

    /// Returns what is to be asked for at the end.
    pub fn last(&mut self, unsent: Vec<DraftText>) -> Option<Request> {
        if unsent == self.kept {
            return None;
        }
        self.kept.clone_from(&unsent);
        Some(Request::KeepDrafts { drafts: unsent })
    }
}
