//! Thinking and answers in a transcript: previews grow with each delta until the authoritative text replaces them.
//!
//! Used by the fold of the transcript alone. Always holds: at most one of each is open.

use super::Transcript;
use crate::text;
use crate::tui::transcript::cell::{Body, Cell, Stage};
use crate::tui::transcript::fold::pieces::Live;

impl Transcript {
    pub(super) fn think_more(&mut self, delta: &str) -> bool {
        if delta.is_empty() {
            return false;
        }
        self.retried();
        let mut live = self.thinking.take().unwrap_or_else(|| {
            let body = Body::Thinking { text: String::new(), stage: Stage::Live };
            Live::new(self.push(body))
        });
        if let Some(Body::Thinking { text, .. }) = self.cells.get_mut(live.cell.index()).map(Cell::change) {
            live.append(text, delta);
        }
        self.thinking = Some(live);
        true
    }

    pub(super) fn answer_more(&mut self, delta: &str) -> bool {
        if delta.is_empty() {
            return false;
        }
        self.retried();
        let mut live = self.answer.take().unwrap_or_else(|| {
            let body = Body::Assistant { text: String::new(), stage: Stage::Live };
            Live::new(self.push(body))
        });
        if let Some(Body::Assistant { text, .. }) = self.cells.get_mut(live.cell.index()).map(Cell::change) {
            live.append(text, delta);
        }
        self.answer = Some(live);
        true
    }

    pub(super) fn thought(&mut self, whole: &str) -> bool {
        let live = self.thinking.take();
        if live.is_none() && text::is_blank(whole) {
            return false;
        }
        self.end_text(live, whole, Stage::Done, |text, stage| Body::Thinking { text, stage });
        true
    }

    pub(super) fn answered(&mut self, whole: &str, stage: Stage) -> bool {
        self.retried();
        let live = self.answer.take();
        if live.is_none() && text::is_blank(whole) {
            return false;
        }
        self.end_text(live, whole, stage, |text, stage| Body::Assistant { text, stage });
        true
    }

    pub(super) fn end_text(&mut self, live: Option<Live>, whole: &str, stage: Stage, make: fn(String, Stage) -> Body) {
        let whole = text::visible(whole);
        let now = self.now;
        match live.and_then(|live| self.cells.get_mut(live.cell.index())) {
            Some(cell) => {
                cell.end_text(&whole, stage);
                cell.ended(now);
            }
            None => {
                self.push(make(whole.into_owned(), stage));
            }
        }
    }

    /// Ends live texts whose authoritative event did not come (a reply without text sends none).
    pub(super) fn settle_texts(&mut self) -> bool {
        self.end_texts(Stage::Done)
    }

    pub(super) fn end_texts(&mut self, end: Stage) -> bool {
        let lives = [self.thinking.take(), self.answer.take()];
        for live in lives.iter().flatten() {
            if let Some(cell) = self.cells.get_mut(live.cell.index()) {
                cell.ended(self.now);
                match cell.change() {
                    Body::Thinking { stage, .. } | Body::Assistant { stage, .. } => *stage = end,
                    Body::User { .. }
                    | Body::Call(_)
                    | Body::Child(_)
                    | Body::Compaction { .. }
                    | Body::Notice { .. } => {}
                }
            }
        }
        lives.iter().any(Option::is_some)
    }
}
