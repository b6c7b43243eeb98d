//! What a client that connects later is told first, so that its state is as whole as those of the others.
//!
//! Events and notices are kept in order up to a limit, the older ones packed. Pieces of a text are kept only until the whole
//! text follows them.

use std::collections::VecDeque;
use std::io;

use crate::packed::Packed;
use steersman_base::event::{Envelope, Event};
use steersman_base::limits;
use steersman_base::protocol::{Notice, Update};

/// Updates that are packed together.
const PAGE: usize = 256;

/// The past of a run.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// The older updates.
    pages: VecDeque<Page>,
    /// The updates behind them, in their written form, and how many they are.
    written: Vec<u8>,
    updates: usize,
    /// The bytes of all updates.
    bytes: usize,
    /// Updates that found no room any more.
    dropped: usize,
    /// The pieces of what is not whole yet, merged.
    pieces: Vec<Envelope>,
}

/// Some updates in order.
#[derive(Debug)]
struct Page {
    packed: Packed,
    updates: usize,
    bytes: usize,
}

impl Past {
    /// Takes an update that the run made; returns its size in its written form, bytes.
    pub(super) fn push(&mut self, update: &Update) -> usize {
        if let Update::Envelope(envelope) = update {
            if update.piece_bytes() > 0 {
                self.add_piece(envelope);
                return size(update);
            }
            self.pieces.retain(|piece| !is_replaced(piece, envelope));
        }
        let before = self.written.len();
        if serde_json::to_writer(&mut self.written, update).is_err() {
            // It has no written form.
            self.written.truncate(before);
            self.dropped += 1;
        } else {
            self.updates += 1;
        }
        let size = self.written.len() - before;
        self.bytes += size;
        if self.updates >= PAGE || self.written.len() >= limits::KEPT_PAST / PAGE {
            let (updates, bytes) = (std::mem::take(&mut self.updates), self.written.len());
            self.pages.push_back(Page { packed: Packed::of_written(&self.written), updates, bytes });
            self.written.clear();
            while self.bytes > limits::KEPT_PAST
                && let Some(page) = self.pages.pop_front()
            {
                self.bytes -= page.bytes;
                self.dropped += page.updates;
            }
        }
        size
    }

    fn add_piece(&mut self, envelope: &Envelope) {
        if !self.pieces.iter_mut().any(|piece| piece.merge(envelope)) {
            self.pieces.push(envelope.clone());
        }
    }

    /// Returns everything, in order.
    pub(super) fn all(&self) -> Vec<Update> {
        let note = (self.dropped > 0).then(|| {
            Update::Notice(Notice::Info(format!("the first {} events of this session are not shown", self.dropped)))
        });
        let pages = self.pages.iter().flat_map(|page| page.packed.written_values::<Update>());
        let recent = serde_json::Deserializer::from_slice(&self.written).into_iter::<Update>().map_while(Result::ok);
        let mut updates: Vec<Update> = note.into_iter().chain(pages).chain(recent).collect();
        for piece in &self.pieces {
            // What came behind it says what its agent does.
            let is_later = |update: &Update| matches!(update, Update::Envelope(envelope) if envelope.seq > piece.seq);
            let place = updates.iter().position(is_later).unwrap_or(updates.len());
            updates.insert(place, Update::Envelope(piece.clone()));
        }
        updates
    }
}

/// Tells whether an event says whole, or makes void, what a piece was a part of.
fn is_replaced(piece: &Envelope, by: &Envelope) -> bool {
    if piece.agent != by.agent {
        return false;
    }
    match (&piece.event, &by.event) {
        (Event::JobOutput { .. }, Event::RoundStarted { .. } | Event::TurnEnded { .. } | Event::Reset {}) => false,
        (_, Event::RoundStarted { .. } | Event::TurnEnded { .. } | Event::Reset {})
        | (Event::AssistantDelta { .. }, Event::Assistant { .. })
        | (Event::ThinkingDelta { .. }, Event::Thinking { .. }) => true,
        (Event::ToolProgress { id, .. }, Event::ToolResult { id: ended, .. }) => id == ended,
        (Event::JobOutput { id, .. }, Event::JobEnded(end)) => *id == end.id,
        _ => false,
    }
}

/// Returns the size of an update in its wire form, bytes.
fn size(update: &Update) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    let _ = serde_json::to_writer(&mut count, update);
    count.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use steersman_base::id::AgentId;

    fn update(number: u64, event: Event) -> Update {
        let at = jiff::Timestamp::UNIX_EPOCH;
        Update::Envelope(Envelope { seq: number, at, agent: AgentId::main(), parent: None, event })
    }

    #[test]
    fn what_is_packed_comes_back_in_order_with_what_is_not_whole_at_its_end() {
        let mut past = Past::default();
        let mut said = Vec::new();
        for number in 1..=700 {
            let update = update(number, Event::Notice { text: format!("number {number}") });
            past.push(&update);
            said.push(update);
        }
        let piece = update(701, Event::AssistantDelta { text: "half".to_owned() });
        past.push(&piece);
        assert!(past.pages.len() >= 2);
        assert_eq!(past.all(), [said, vec![piece]].concat());
    }

    #[test]
    fn the_oldest_posts_go_when_there_are_too_many_and_that_is_said() {
        let mut past = Past::default();
        let large = "x".repeat(1 << 20);
        for number in 1..=100 {
            let update = update(number, Event::Notice { text: large.clone() });
            past.push(&update);
        }
        let all = past.all();
        assert!(past.bytes <= limits::KEPT_PAST);
        let first = format!("the first {} events of this session are not shown", 101 - all.len());
        assert_eq!(all.first(), Some(&Update::Notice(Notice::Info(first))));
        assert!(matches!(all.last(), Some(Update::Envelope(envelope)) if envelope.seq == 100));
        assert!(all.len() > 50, "{}", all.len());
    }
}
