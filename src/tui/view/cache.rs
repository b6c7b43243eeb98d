//! What the drawing of a transcript remembers between frames.

/// Remembers the laid-out lines of one transcript.
#[derive(Debug, Default)]
pub struct TranscriptCache {}

impl TranscriptCache {
    /// Makes an empty cache.
    pub fn new() -> Self {
        Self::default()
    }
}
