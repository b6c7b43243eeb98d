//! Thinking and answers in a transcript: previews grow with each delta until the authoritative text replaces them.
//!
//! Used by the reducer of the transcript alone. Always holds: at most one of each is open.

use super::Transcript;
use crate::transcript::cell::{Body, Cell, CellId, Stage};
use crate::transcript::reduce::pieces::Live;
use steersman_base::steering::text_answers;
use steersman_base::text;

impl Transcript {
    pub(super) fn think_more(&mut self, delta: &str) -> bool {
        let live = self.thinking.take();
        self.thinking = self.more(live, delta, |text, stage| Body::Thinking { text, stage });
        !delta.is_empty()
    }

    pub(super) fn answer_more(&mut self, delta: &str) -> bool {
        let live = self.answer.take();
        self.answer = self.more(live, delta, |text, stage| Body::Assistant { text, stage });
        !delta.is_empty()
    }

    /// Adds a piece to a text; the first one begins it.
    fn more(&mut self, live: Option<Live>, delta: &str, make: fn(String, Stage) -> Body) -> Option<Live> {
        if delta.is_empty() {
            return live;
        }
        self.retried();
        let mut live = live.unwrap_or_else(|| Live::new(self.push(make(String::new(), Stage::Live))));
        if let Some(Body::Thinking { text, .. } | Body::Assistant { text, .. }) =
            self.cells.get_mut(live.cell.index()).map(Cell::change)
        {
            live.append(text, delta);
        }
        Some(live)
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
        let cell = live.as_ref().map_or_else(|| CellId::new(self.cells.len()), |live| live.cell);
        self.end_text(live, whole, stage, |text, stage| Body::Assistant { text, stage });
        if stage == Stage::Done {
            for answer in text_answers(whole).into_iter().filter(|answer| self.user_cells.contains_key(&answer.id)) {
                self.answers.entry(answer.id).or_insert(cell);
            }
        }
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
                if let Body::Thinking { stage, .. } | Body::Assistant { stage, .. } = cell.change() {
                    *stage = end;
                }
            }
        }
        lives.iter().any(Option::is_some)
    }
}
