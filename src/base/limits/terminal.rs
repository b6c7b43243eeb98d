//! Limits of what a terminal sends: keys that come apart, answers, pastes.

use std::time::Duration;

/// Most that is kept of one bracketed paste, bytes; a message holds far less.
pub const PASTE_READ_BYTES: usize = 8 * 1024 * 1024;
/// Time in which the rest of a key that came apart comes; then it is the Esc key.
pub const ESCAPE_PAUSE: Duration = Duration::from_millis(150);
/// The same over ssh, where a network parts the bytes.
pub const ESCAPE_PAUSE_SSH: Duration = Duration::from_millis(350);
/// Time behind an Esc in which what nobody types is still its rest.
pub const LATE_REST: Duration = Duration::from_millis(500);
/// Time in which a line end with more behind it is one of a paste.
pub const LINE_END_PAUSE: Duration = Duration::from_millis(8);
/// Time in which an answer about the background still changes the theme.
pub const BACKGROUND_TIME: Duration = Duration::from_secs(2);
/// Time in which the rest of an answer comes; then it is forgotten.
pub const ANSWER_REST: Duration = Duration::from_secs(1);
/// Time in which the rest of an answer that was given up still can come.
pub const ANSWER_LATE: Duration = Duration::from_secs(10);
/// Characters at once that count as a paste, also without the terminal's marks.
pub const BURST_CHARS: usize = 1_000;
/// Time in which more of such a paste comes.
pub const BURST_PAUSE: Duration = Duration::from_millis(50);
/// Time in which further input still belongs to such a paste.
pub const BURST_REST: Duration = Duration::from_millis(500);
