//! Reading along in the transcript of the selected agent: what was written of each entry, and what comes next.
//!
//! Entries are written when they end, in the order in which they end; answers while they come. Only what is open is looked
//! at again. Another agent is read from its end on.

use jiff::Timestamp;

use super::page::Page;
use super::speech::Speech;
use super::{entries, entry, state_text};
use crate::state::App;
use crate::status::later;
use crate::transcript::cell::{Body, CallState, Cell, CellId, Level, Stage};
use crate::transcript::reduce::Transcript;
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::target::name_of;
use steersman_session::model::ReceiptMark;

/// Entries that are named when another agent is read.
const BEFORE: usize = 3;

/// The place of the reader.
#[derive(Debug, Default)]
pub(super) struct Reading {
    agent: AgentId,
    /// Entries that were looked at.
    next: usize,
    open: Vec<(CellId, EntryProgress)>,
    /// The user's texts of this turn of which the end is not known yet.
    unfinished: Vec<CellId>,
    due: Option<Timestamp>,
}

/// Whether an entry is the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Yes,
    No,
}

/// What was written of an entry that is open.
#[derive(Debug)]
enum EntryProgress {
    /// Nothing; it is written at its end.
    Nothing,
    /// That the call runs.
    Begin,
    Part(Speech),
}

impl Reading {
    pub(super) fn look(&mut self, app: &App, page: &mut Page) {
        if *app.tree.selected() != self.agent {
            self.change(app, page);
        }
        let Some(transcript) = app.reader().map(|reader| &reader.transcript) else { return };
        if transcript.cells().len() < self.next {
            page.say("notice", "a new conversation begins");
            *self = Self { agent: self.agent.clone(), ..Self::default() };
        }
        self.due = None;
        let count = transcript.cells().len();
        let last = |cell: &Cell| if entry::number(cell) == count { Last::Yes } else { Last::No };
        let mut open = std::mem::take(&mut self.open);
        open.retain_mut(|(id, written)| {
            let Some(cell) = transcript.get(*id) else { return false };
            let goes_on = more(cell, last(cell), written, app.ui.now, page);
            if goes_on {
                self.wait_for(cell, written);
            }
            goes_on
        });
        self.open = open;
        for cell in transcript.cells().iter().skip(self.next) {
            self.next += 1;
            let mut written = EntryProgress::Nothing;
            if matches!(cell.body(), Body::User { .. }) {
                self.unfinished.push(cell.id());
            }
            if more(cell, last(cell), &mut written, app.ui.now, page) {
                self.wait_for(cell, &written);
                self.open.push((cell.id(), written));
            }
        }
        self.unseen(transcript, page);
    }

    /// Returns when a tool that runs has run long enough to be written.
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.due
    }

    /// Notes when a call that was not written yet is to be written.
    fn wait_for(&mut self, cell: &Cell, written: &EntryProgress) {
        if let (Body::Call(call), EntryProgress::Nothing) = (cell.body(), written)
            && call.child.is_none()
            && !call.asked.iter().any(|asked| asked.answer.is_none())
        {
            let due = later(call.started, limits::LINE_SLOW_TOOL);
            self.due = Some(self.due.map_or(due, |other| other.min(due)));
        }
    }

    /// Says of texts that no reply was given to.
    fn unseen(&mut self, transcript: &Transcript, page: &mut Page) {
        self.unfinished.retain(|id| {
            let Some(Body::User { receipt: Some(receipt), .. }) = transcript.get(*id).map(Cell::body) else {
                return true;
            };
            match receipt.mark {
                ReceiptMark::Waiting | ReceiptMark::Delivered => true,
                ReceiptMark::Seen | ReceiptMark::Back => false,
                ReceiptMark::Unseen => {
                    page.say("warning", &format!("entry {}, your text: {}", id.index() + 1, receipt.parts.join(", ")));
                    false
                }
            }
        });
    }

    /// Goes to another agent.
    fn change(&mut self, app: &App, page: &mut Page) {
        let agent = app.tree.selected().clone();
        let cells = app.reader().map(|reader| reader.transcript.cells()).unwrap_or_default();
        let state = state_text(app.selected_agent(), app.ui.now);
        page.say(
            "reading",
            &format!("agent {}, {state}, {}; what you send goes there", name_of(&agent), entries(cells.len())),
        );
        let open = cells.iter().rposition(Cell::is_settled).map_or(0, |last| last + 1);
        for cell in cells.iter().take(open).skip(open.saturating_sub(BEFORE)) {
            page.add(&entry::head(cell));
        }
        *self = Self { agent, next: open, ..Self::default() };
    }
}

/// Writes what has come of an entry; true while more may come.
fn more(cell: &Cell, is_last: Last, written: &mut EntryProgress, now: Timestamp, page: &mut Page) -> bool {
    match cell.body() {
        Body::Assistant { text, stage } => {
            if cell.rewrites() > 0 && matches!(written, EntryProgress::Part(speech) if speech.bytes_read() > 0) {
                page.say("answer", "its end was changed; it is read again");
                *written = EntryProgress::Nothing;
            }
            let mut speech = match std::mem::replace(written, EntryProgress::Nothing) {
                EntryProgress::Part(speech) => speech,
                EntryProgress::Nothing | EntryProgress::Begin => Speech::default(),
            };
            let lines = if *stage == Stage::Live { speech.more(text) } else { speech.end(text) };
            for line in lines {
                page.write("answer", &line);
            }
            if *stage == Stage::Interrupted {
                page.say("answer", "interrupted here");
            }
            *written = EntryProgress::Part(speech);
            *stage == Stage::Live
        }
        // Its own end is written only behind the answer that follows it.
        Body::Thinking { stage, .. } if *stage == Stage::Live && is_last == Last::Yes => true,
        Body::Call(call) if matches!(call.state, CallState::Running { .. }) => {
            let waits = call.asked.iter().any(|asked| asked.answer.is_none());
            let is_slow = later(call.started, limits::LINE_SLOW_TOOL) <= now;
            // What is asked about is written by the question, an agent by its start.
            if is_slow && !waits && call.child.is_none() && matches!(written, EntryProgress::Nothing) {
                page.say(&entry::tool(call), &format!("{}, running", entry::arguments_of(call)));
                *written = EntryProgress::Begin;
            }
            true
        }
        // The question writes it, and its answer.
        Body::Notice { level: Level::Warning, text } if text.starts_with("asks: ") => false,
        Body::User { .. }
        | Body::Thinking { .. }
        | Body::Call(_)
        | Body::Child(_)
        | Body::Compaction { .. }
        | Body::Notice { .. } => {
            entry::write(cell, page);
            false
        }
    }
}
