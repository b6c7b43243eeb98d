//! The output of a running command as it is shown live: all of it while it comes slowly, the newest of it when it does
//! not. An endless producer fills neither the mailbox nor the record, whatever it does.

use std::time::Duration;

use tokio::time::Instant;

use steersman_base::limits;
use steersman_core::tool::capture::{decode, first_character, whole_characters};

/// Less than this is not worth showing while more is left out than shown, bytes.
const WORTH_SHOWING: usize = 1024;

/// Decides how much is shown.
#[derive(Debug)]
pub(super) struct Live {
    /// The newest bytes that were not shown yet.
    waiting: Vec<u8>,
    /// Bytes before them that will never be shown.
    skipped: u64,
    /// Bytes that may be shown now.
    allowance: usize,
    at: Instant,
    in_line: bool,
}

impl Live {
    /// Starts with a full allowance.
    pub(super) fn new(now: Instant) -> Self {
        Self { waiting: Vec::new(), skipped: 0, allowance: limits::LIVE_BURST_BYTES, at: now, in_line: false }
    }

    /// Starts with what was kept of an output, and the number of bytes before that.
    pub(super) fn again(now: Instant, (kept, before): (Vec<u8>, u64)) -> Self {
        let mut live = Self { skipped: before, ..Self::new(now) };
        live.push(&kept);
        live
    }

    pub(super) fn push(&mut self, piece: &[u8]) {
        let most = limits::LIVE_BURST_BYTES;
        let newest = piece.get(piece.len().saturating_sub(most)..).unwrap_or_default();
        self.skipped += (piece.len() - newest.len()) as u64;
        // Room is made rarely, not for every piece.
        if self.waiting.len() + newest.len() > 2 * most {
            let old = self.waiting.len().min(self.waiting.len() + newest.len() - most);
            self.waiting.drain(..old);
            self.skipped += old as u64;
        }
        self.waiting.extend_from_slice(newest);
    }

    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn take_due(&mut self, now: Instant) -> Option<String> {
        let gained = now.duration_since(self.at).as_millis() * u128::from(limits::LIVE_BYTES_PER_SECOND) / 1_000;
        if gained > 0 {
            let gained = usize::try_from(gained).unwrap_or(usize::MAX);
            self.allowance = self.allowance.saturating_add(gained).min(limits::LIVE_BURST_BYTES);
            self.at = now;
        }
        let whole = whole_characters(&self.waiting);
        let fits = whole <= self.allowance && self.skipped == 0;
        if whole == 0 || (!fits && self.allowance < WORTH_SHOWING) {
            return None;
        }
        let from = whole.saturating_sub(self.allowance);
        Some(self.show(from, whole))
    }

    /// Returns the last words, when all has come.
    pub(super) fn finish(mut self, now: Instant) -> Option<String> {
        let rest = self.take_due(now);
        if self.waiting.is_empty() {
            return rest;
        }
        // What ends within a character, or found no allowance any more.
        let from = self.waiting.len().saturating_sub(WORTH_SHOWING.max(self.allowance));
        Some(rest.unwrap_or_default() + &self.show(from, self.waiting.len()))
    }

    fn show(&mut self, from: usize, to: usize) -> String {
        let shown = self.waiting.get(from..to).unwrap_or_default();
        let from = if from > 0 || self.skipped > 0 { from + first_character(shown) } else { from };
        self.skipped += from as u64;
        let text = decode(self.waiting.get(from..to).unwrap_or_default());
        self.allowance = self.allowance.saturating_sub(to - from);
        self.waiting.drain(..to);
        let skipped = std::mem::take(&mut self.skipped);
        let note = match skipped {
            0 => String::new(),
            bytes if self.in_line => format!("\n[{bytes} bytes not shown]\n"),
            bytes => format!("[{bytes} bytes not shown]\n"),
        };
        self.in_line = !text.ends_with('\n');
        note + &text
    }
}

/// Time between two looks at what waits.
pub(super) const LIVE_STEP: Duration = Duration::from_millis(100);
