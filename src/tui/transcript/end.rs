//! The end of a session that is still being read: shown at once, until the whole of it takes its place.
//!
//! It is folded from the last events alone. Whoever reads there stays where he is: the cells are counted from the end.

use std::mem;

use crate::event::Envelope;
use crate::tui::transcript::cell::CellId;
use crate::tui::transcript::pane::{Reader, TranscriptPane, main_alone};
use crate::tui::transcript::scroll::{Point, Position, ScrollRequest};

impl TranscriptPane {
    /// Shows the last events of a session while the whole of it is being read; none show nothing of it yet.
    pub fn show_end(&mut self, events: &[Envelope]) {
        if events.is_empty() {
            return;
        }
        for envelope in events {
            self.envelope(envelope);
        }
        self.readers.values_mut().for_each(|reader| reader.transcript.mark_as_end());
        self.arriving = Some(main_alone());
    }

    /// Tells whether the session is still being read.
    pub fn is_arriving(&self) -> bool {
        self.arriving.is_some()
    }

    /// Shows the whole session: all of it is read.
    pub fn end_arriving(&mut self) {
        if let Some(whole) = self.arriving.take() {
            for (agent, reader) in mem::replace(&mut self.readers, whole) {
                self.reader_mut(&agent).replace_end(reader);
            }
        }
    }
}

impl Reader {
    fn replace_end(&mut self, end: Self) {
        let earlier = self.transcript.cells().len().saturating_sub(end.transcript.cells().len());
        let cell = |cell: CellId| CellId::new(cell.index() + earlier);
        self.selected = end.selected.map(cell);
        if let Some(mut search) = end.search {
            search.begin_behind(earlier);
            self.search = Some(search);
        }
        if let (false, Some(top)) = (end.scroll.is_following(), end.scroll.top()) {
            // Above the first cell of the end there was no blank row.
            let gap = usize::from(top.cell.index() == 0 && earlier > 0);
            let place = Point { cell: cell(top.cell), line: top.line + gap, byte: top.byte };
            self.scroll.ask(ScrollRequest::Return(Position::Anchor(place)));
        }
    }
}
