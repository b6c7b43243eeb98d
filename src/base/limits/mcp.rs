//! Limits of MCP servers.

use std::time::Duration;

/// Time for a server to start and to answer to the first request, unless set; a package may have to be downloaded.
pub const MCP_START_TIME: Duration = Duration::from_mins(1);
/// Time for the answer to a call, unless set; each progress begins it anew.
pub const MCP_CALL_TIME: Duration = Duration::from_mins(2);
/// Longest time of a call, whatever progress it makes.
pub const MCP_CALL_MOST_TIME: Duration = Duration::from_hours(2);
/// Time for the answer to any other request.
pub const MCP_LIST_TIME: Duration = Duration::from_secs(30);
/// Time for a server to end by itself once its input has ended.
pub const MCP_END_TIME: Duration = Duration::from_millis(500);
/// Longest message of a server, bytes.
pub const MCP_LINE_BYTES: usize = 16 * 1024 * 1024;
/// Longest line of a server that is no message, bytes: more of a line without an end is not read.
pub const MCP_LOG_LINE_BYTES: usize = 4 * MCP_LINE_BYTES;
/// The end of what a server logs that is kept, bytes.
pub const MCP_ERRORS_BYTES: usize = 4 * 1024;
/// Messages that wait to be looked at.
pub const MCP_INBOX: usize = 256;
/// Messages of a server that are looked at in one second; what is more waits, and so does the server.
pub const MCP_MESSAGES_PER_SECOND: u32 = 1_000;
/// Messages for a server that wait until it reads them; one that does not is given up.
pub const MCP_OUTBOX: usize = 1_024;
/// Time between two progresses of a call that are shown and begin its time anew; of those between the newest counts.
pub const MCP_PROGRESS_DISTANCE: Duration = Duration::from_millis(250);
/// Longest text of a progress, characters.
pub const MCP_PROGRESS_CHARS: usize = 1_024;
/// Time between two requests for the lists of a server that says that they have changed.
pub const MCP_LIST_DISTANCE: Duration = Duration::from_secs(1);
/// Questions of one server that are open at a time.
pub const MCP_QUESTIONS: usize = 8;
/// Pages of one list of a server.
pub const MCP_PAGES: usize = 100;
/// Tools, resources or prompts of one server.
pub const MCP_LIST_ENTRIES: usize = 1_000;
/// Longest description of a tool that a model gets, bytes.
pub const MCP_DESCRIPTION_BYTES: usize = 4 * 1024;
/// Longest instructions of a server that are kept, shown and given to a model, bytes.
pub const MCP_INSTRUCTIONS_BYTES: usize = 4 * 1024;
/// Largest schema of a tool's arguments, bytes; a tool with a larger one is left out.
pub const MCP_SCHEMA_BYTES: usize = 64 * 1024;
/// Pause before a server that failed is started again, doubled each time.
pub const MCP_REST: Duration = Duration::from_secs(1);
/// Longest such pause.
pub const MCP_REST_MOST: Duration = Duration::from_mins(1);
/// Largest file of what is known about a server, bytes.
pub const MCP_KNOWN_BYTES: u64 = 16 * 1024 * 1024;
/// Part of the context window that the definitions of servers' tools may take before they are searched for, per cent,
/// unless set.
pub const MCP_WINDOW_PERCENT: u8 = 10;
/// Context window that is assumed for that where none is known, tokens.
pub const MCP_WINDOW: u64 = 32_768;
/// Tools that one search loads at most.
pub const MCP_FOUND: usize = 10;
/// Images and other binary parts of one result that are kept.
pub const MCP_BLOBS: usize = 20;
/// Times that a server may ask for more input during one call.
pub const MCP_ROUND_TRIPS: usize = 10;
/// Longest name of a tool that every dialect takes, characters.
pub const TOOL_NAME_CHARS: usize = 64;
/// Longest name of a tool that any model server takes, bytes.
pub const TOOL_NAME_BYTES: usize = 128;
/// Time for a server at an address to take what is no request.
pub const MCP_NOTE_TIME: Duration = Duration::from_secs(10);
/// Times that a broken stream is taken up again without anything new.
pub const MCP_RESUMES: u32 = 5;
/// Time for one request of a login.
pub const MCP_LOGIN_STEP: Duration = Duration::from_secs(15);
/// Time for the user to log in.
pub const MCP_LOGIN_TIME: Duration = Duration::from_mins(5);
/// Largest document of an authorization server, bytes.
pub const MCP_LOGIN_BYTES: usize = 256 * 1024;
