//! Limits of clients that are connected to a session from outside.

use std::time::Duration;

/// Longest line that a client may send before it has said who it is, bytes.
pub const GREETING_LINE: usize = 64 * 1024;
/// Longest line that a client may send, bytes: a message of the greatest length with every character escaped once.
pub const CLIENT_LINE: usize = 2 * super::MESSAGE_BYTES + GREETING_LINE;
/// Longest line that a client takes from a session, bytes.
pub const SERVED_LINE: usize = 256 << 20;
/// Clients that are connected at a time.
pub const CLIENTS: usize = 64;
/// Connections that have not said who they are; of more the oldest is closed.
pub const STRANGERS: usize = 64;
/// Time in which a connection must say who it is.
pub const GREETING_TIME: Duration = Duration::from_secs(10);
/// What waits for a client that does not read before it is disconnected, bytes.
pub const CLIENT_BACKLOG: usize = 32 << 20;
/// What is kept of a session for clients that connect later, bytes.
pub const KEPT_PAST: usize = 64 << 20;
/// Clients whose newest requests are remembered, in case one comes again.
pub const REMEMBERED_CLIENTS: usize = 256;
/// Time for a session to answer a command from outside.
pub const OUTSIDE_PATIENCE: Duration = Duration::from_secs(10);
/// Time for the clients to take the last before a session ends.
pub const CLIENT_FAREWELL: Duration = Duration::from_millis(500);
/// `approve`: longest line that is read as a yes or a no, bytes.
pub const ANSWER_WORD_BYTES: u64 = 1_024;
