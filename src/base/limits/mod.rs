//! All limits of the program, in one table.
//!
//! # Where things are
//!
//! - `bash` commands and jobs, hooks, MCP servers, skills and agent files: `tools.rs`
//! - what is read from people and written to them: terminals, lines, images: `input_output.rs`
//! - sessions: their journals, clients from outside, the user's texts and continued agents: `sessions.rs`

mod input_output;
mod sessions;
mod tools;

use std::time::Duration;

pub use input_output::*;
pub use sessions::*;
pub use tools::*;

/// Longest message a user can send, bytes.
pub const MESSAGE_BYTES: usize = 2 * 1024 * 1024;
/// Most messages that can be pending.
pub const PENDING_ENTRIES: usize = 100;
/// Most steps of a plan.
pub const PLAN_STEPS: usize = 64;
/// Longest step of a plan, characters.
pub const PLAN_STEP_CHARS: usize = 500;
/// Removed texts that the screen can bring back.
pub const REMOVED_TEXTS: usize = 100;

/// The screen asks whether a text that waited longer still holds, unless set.
pub const STILL_TRUE_AGE: Duration = Duration::from_mins(10);
/// The screen asks whether a text still holds after more tool calls of its agent than this, unless set.
pub const STILL_TRUE_STEPS: u32 = 20;

/// Tool calls that a turn of the main agent may make, unless set.
pub const MAX_STEPS: u32 = 300;
/// Part of the context window from which on older rounds are summarised, per cent, unless set.
pub const COMPACT_AT: u8 = 85;
/// How full the window may be once results were shortened, in parts of the share at which it is compacted, per cent.
pub const COMPACT_ENOUGH: u64 = 75;
/// Rounds at a conversation's end that no compaction touches.
pub const KEPT_ROUNDS: usize = 2;
/// A compaction cuts longer tool results of older rounds to this, characters.
pub const OLD_RESULT_CHARS: usize = 2_000;
/// Characters of the user's earlier texts that a compaction keeps word for word, beside the task and the rules, which always
/// stay whole; in a small context window fewer.
pub const KEPT_TEXT_CHARS: usize = 24_000;
/// Characters of the results that the user pinned which a compaction keeps, all together; in a small window fewer.
pub const PINNED_CHARS: usize = 48_000;
/// Columns of the name of a part of the context window.
pub const CONTEXT_NAME_COLUMNS: usize = 120;
/// New messages before a failed compaction is tried again.
pub const COMPACT_REST: usize = 8;
/// A longer text of a summary is cut, characters.
pub const SUMMARY_TEXT_CHARS: usize = 40_000;
/// The largest plausible count of tokens, where the window is not known.
pub const CONTEXT_MOST_TOKENS: u64 = 1_000_000_000;
/// Times that a server may pause one reply before it counts as ended.
pub const PAUSES: u32 = 10;
/// Tool calls of one group that run at the same time.
pub const PARALLEL_TOOLS: usize = 8;
/// Sub-agents that work at the same time; more wait for their turn.
pub const AGENTS_AT_ONCE: usize = 8;

/// Longest time for which the screen applies what the agents did before it looks at keys again.
pub const FOLD_TIME: Duration = Duration::from_millis(4);

/// Pieces of text that the screen applies for one frame, bytes: what is new is laid out in that frame.
pub const FOLD_BYTES: usize = 128 * 1024;

/// Longest line of a server-sent event stream, bytes.
pub const SSE_LINE_BYTES: usize = 8 * 1024 * 1024;
/// Longest event of a server-sent event stream (its data lines together), bytes.
pub const SSE_EVENT_BYTES: usize = 16 * 1024 * 1024;
/// Longest body read from a server when it does not stream, bytes.
pub const BODY_BYTES: usize = 32 * 1024 * 1024;
/// Longest part of an error body that is shown, characters.
pub const ERROR_CHARS: usize = 600;
/// Longest error body read from a server, bytes.
pub const ERROR_BODY_BYTES: usize = 64 * 1024;
/// Longest answer to a probe (`/props`, `/v1/models`), bytes.
pub const PROBE_BYTES: usize = 4 * 1024 * 1024;
/// Most tool calls taken from one reply.
pub const CALLS_PER_REPLY: usize = 128;
/// Most items taken from one reply of the Responses dialect: messages, thoughts, calls.
pub const ITEMS_PER_REPLY: usize = 1_024;
/// Longest reply with its calls that is accepted, bytes.
pub const REPLY_BYTES: usize = 32 * 1024 * 1024;
/// Text and thinking that are read of one reply, bytes, several times what any model writes at once; then the reply
/// counts as cut.
pub const ANSWER_BYTES: usize = 1024 * 1024;
/// Pieces of replies and of output that wait for the screen before an agent reads no further in a reply, bytes.
pub const MAILBOX_BYTES: usize = 8 * 1024 * 1024;
/// Events of a session that goes on which wait for the screen before more of it is read.
pub const RESUME_POSTS: usize = 4_096;

/// Longest body of a reply that is read at all, bytes, decompressed.
pub const STREAM_BYTES: usize = 1024 * 1024 * 1024;
/// Part of a compressed body that is opened at once, bytes; it can become a thousand times as much.
pub const COMPRESSED_PIECE_BYTES: usize = 4 * 1024;
/// Longest time in which a server sends nothing but keep-alives.
pub const KEEP_ALIVE_TIME: Duration = Duration::from_hours(2);

/// Connections that are remembered because they have answered.
pub const KEPT_CONNECTIONS: usize = 1_024;
/// Time to open a connection.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest silence of a server within a reply; keep-alives end it.
pub const READ_TIMEOUT: Duration = Duration::from_mins(5);
/// Time for the usage that may follow the end of a reply.
pub const TAIL_TIME: Duration = Duration::from_secs(5);
/// Time for the end of a body after `[DONE]`; then the connection is closed.
pub const DRAIN_TIMEOUT: Duration = Duration::from_millis(20);
/// Requests made for one reply before giving up, the first included.
pub const ATTEMPTS: u32 = 4;
/// First wait between attempts; doubles each time.
pub const RETRY_BASE: Duration = Duration::from_millis(500);
/// Longest wait between attempts that is made without asking.
pub const RETRY_CAP: Duration = Duration::from_mins(1);
/// Time for the requests of llama.cpp's `/props` and of `/v1/models`.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(3);
/// Messages: tokens of one reply for a model whose limit is not known; the dialect requires a number.
pub const MESSAGES_TOKENS: u64 = 16_384;
/// Messages: fewest tokens that a server accepts as a thinking budget.
pub const THINKING_TOKENS: u64 = 1_024;
/// Pages of a list of models that are read.
pub const MODEL_PAGES: usize = 20;

/// `read`: lines of one call.
pub const READ_LINES: usize = 2_000;
/// `read`: bytes of one call.
pub const READ_BYTES: usize = 50 * 1024;
/// `read`: characters shown of one line.
pub const READ_LINE_CHARS: usize = 2_000;
/// `read`: bytes passed over in search of a line or of its end.
pub const READ_SCAN_BYTES: u64 = 1024 * 1024 * 1024;
/// `grep`: hits of one call.
pub const GREP_HITS: usize = 200;
/// `grep`: bytes of one call.
pub const GREP_BYTES: usize = 50 * 1024;
/// `grep`: columns shown of one line.
pub const GREP_COLUMNS: usize = 2_000;
/// `grep`: a file larger than this is passed over, bytes.
pub const GREP_FILE_BYTES: u64 = 64 * 1024 * 1024;
/// `glob`: paths of one call.
pub const GLOB_PATHS: usize = 1_000;
/// `grep`, `glob`: directory entries visited by one call.
pub const WALK_ENTRIES: usize = 500_000;
/// Bytes of a file of the user's own that is read whole: configuration, keys, models, system prompt, authorities.
pub const OWN_FILE_BYTES: u64 = 1024 * 1024;
/// Profiles of the configuration.
pub const PROFILES: usize = 1_000;
/// Bytes of ignore rules (`.gitignore` and the like) that a search holds at a time; what is more is not used.
pub const IGNORE_BYTES: u64 = 256 * 1024;
/// Ignore rules that a search holds at a time: each may cost 10 KiB of memory.
pub const IGNORE_RULES: usize = 5_000;
/// Bytes of a path that a model names, and below which a walk goes no deeper; no system opens a longer one.
pub const WALK_PATH_BYTES: usize = 4_096;
/// Parts of a path that a model names; each is looked at on its way.
pub const PATH_PARTS: usize = 256;
/// `grep`, `glob`: time of one call.
pub const WALK_TIME: Duration = Duration::from_mins(1);
/// `grep`, `glob`: directory entries visited by one call in a home directory or in `/`.
pub const BROAD_WALK_ENTRIES: usize = 50_000;
/// `grep`, `glob`: time of one call in a home directory or in `/`.
pub const BROAD_WALK_TIME: Duration = Duration::from_secs(5);
/// `write`, `edit`: largest file that is changed or made, bytes.
pub const CHANGED_FILE_BYTES: u64 = 8 * 1024 * 1024;
/// Diffs: lines of both sides that are always compared.
pub const DIFF_LINES: usize = 20_000;
/// Diffs: how often each line may repeat, on average, where there are more; beyond, all of them count as changed.
pub const DIFF_REPEATS: usize = 100;
/// Undo: bytes kept of what the files of a turn held.
pub const UNDO_BYTES: u64 = 64 * 1024 * 1024;
/// `edit`: files whose content is remembered as read.
pub const SEEN_FILES: usize = 10_000;
/// Longest diff that is shown with a result, bytes.
pub const DIFF_BYTES: usize = 64 * 1024;
/// `calculator`: longest expression, characters.
pub const EXPRESSION_CHARS: usize = 1_000;
/// Sandbox: time for the probe whether it works.
pub const SANDBOX_PROBE: Duration = Duration::from_secs(5);
/// `git_clone`: time for everything.
pub const CLONE_TIME: Duration = Duration::from_mins(5);
/// `git_clone`: time until the first of the history has come.
pub const CLONE_FIRST: Duration = Duration::from_mins(1);
/// `git_clone`: memory of git, bytes.
pub const CLONE_MEMORY: u64 = 1024 * 1024 * 1024;
/// `git_clone`: bytes of the new directory.
pub const CLONE_BYTES: u64 = 1_000_000_000;
/// `git_clone`: files of the new directory.
pub const CLONE_FILES: u64 = 200_000;
/// `git_clone`: time between two checks of the new directory.
pub const CLONE_WATCH: Duration = Duration::from_millis(500);
/// `git_clone`: the end of git's output that is kept, bytes.
pub const CLONE_OUTPUT_BYTES: usize = 4 * 1024;

/// Longest part of one context file (`AGENTS.md`, …) that enters the system prompt, bytes.
pub const CONTEXT_FILE_BYTES: u64 = 32 * 1024;
/// Longest part of all context files together, bytes.
pub const CONTEXT_FILES_BYTES: u64 = 96 * 1024;
/// Largest file of a project's own configuration, or of a persona, bytes.
pub const PROJECT_FILE_BYTES: u64 = 64 * 1024;
/// Most files of a project's own configuration, or of a directory of personas.
pub const PROJECT_FILES: usize = 100;
/// Names that are read of a directory of such files.
pub const PROJECT_NAMES: usize = 10_000;
/// Largest file of the user's decisions about projects, bytes.
pub const STATE_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Size of the text of a trusted content that is kept to show what has changed.
pub const TRUSTED_TEXT_BYTES: u64 = 1024 * 1024;
/// How many such texts are kept.
pub const TRUSTED_TEXTS: usize = 200;
/// Models or profiles that a sentence about an unknown one names.
pub const MODELS_SHOWN: usize = 20;
/// Most rules that are kept for a project.
pub const KEPT_RULES: usize = 200;
/// Answers that must match a schema: faults that the model is told of.
pub const SCHEMA_FAULTS: usize = 8;

/// Web: longest address, bytes.
pub const WEB_URL_BYTES: usize = 8 * 1024;
/// Web: redirects followed within a site.
pub const WEB_REDIRECTS: u32 = 5;
/// Web: time for one answer, from the look-up of the name to the last byte.
pub const WEB_TIME: Duration = Duration::from_secs(30);
/// Web: longest silence of a server; longer than the time for a connection, whose end says more.
pub const WEB_SILENCE: Duration = Duration::from_secs(15);
/// Web: bytes of a body, decoded; what is beyond is not read.
pub const WEB_BYTES: usize = 8 * 1024 * 1024;
/// Web: header lines of an answer.
pub const WEB_HEADERS: usize = 100;
/// Web: headers of an answer over HTTP/2, bytes.
pub const WEB_HEADER_BYTES: u32 = 64 * 1024;
/// `fetch`, `web_scrape`: characters of one call.
pub const WEB_CHARS: usize = 50_000;
/// `web_scrape`: elements of a page within which its article is looked for; of a larger one the whole is shown.
pub const PAGE_ELEMENTS: usize = 50_000;
/// `web_scrape`: elements and texts of a page; the rest is left out.
pub const PAGE_NODES: usize = 200_000;
/// `web_scrape`: nesting of a page's elements; what is deeper is shown as plain text, and twice as deep is the end.
pub const PAGE_DEPTH: usize = 128;
/// `web_scrape`: time for parsing a page; the rest is left out.
pub const PAGE_TIME: Duration = Duration::from_secs(5);
/// `web_scrape`: work of writing a page's texts as HTML, in bytes read; a page that needs more is shown whole.
pub const PAGE_ESCAPE_BYTES: usize = 100_000_000;
/// `web_scrape`: an article shorter than this and than half of its page is ignored, characters.
pub const PAGE_ARTICLE_CHARS: usize = 500;
/// `web_scrape`: a link that is longer is shown without its address, bytes.
pub const PAGE_LINK_BYTES: usize = 2_000;
/// `web_scrape`: time for the text of a PDF document.
pub const PDF_TIME: Duration = Duration::from_secs(30);
/// `web_search`: results at most.
pub const SEARCH_RESULTS: usize = 20;
/// `web_search`: default number of results.
pub const SEARCH_RESULTS_USUAL: usize = 8;
/// `web_search`: longest query, characters.
pub const SEARCH_QUERY_CHARS: usize = 400;
/// `web_search`: longest title of a result, characters.
pub const SEARCH_TITLE_CHARS: usize = 200;
/// `web_search`: longest words of a result, characters.
pub const SEARCH_SNIPPET_CHARS: usize = 400;
/// `web_search`: time for the answer of one service.
pub const SEARCH_TIME: Duration = Duration::from_secs(12);
/// `web_search`: time between two requests to the `SearXNG` server.
pub const SEARXNG_DISTANCE: Duration = Duration::from_millis(500);
/// `web_search`: time between two requests to Brave.
pub const BRAVE_DISTANCE: Duration = Duration::from_millis(1_100);
/// `web_search`: time between two requests to Exa.
pub const EXA_DISTANCE: Duration = Duration::from_millis(250);
/// `web_search`: time between two requests to `DuckDuckGo`.
pub const DUCKDUCKGO_DISTANCE: Duration = Duration::from_secs(2);
/// `web_search`: pause of a service that reported too many requests, unless it says how long.
pub const SEARCH_REST: Duration = Duration::from_mins(1);
/// `web_search`: longest such pause.
pub const SEARCH_REST_CAP: Duration = Duration::from_mins(10);
/// `web_search`: time for which results are cached.
pub const SEARCH_CACHE_TIME: Duration = Duration::from_hours(6);
/// `web_search`: size of the cache, bytes.
pub const SEARCH_CACHE_BYTES: u64 = 8 * 1024 * 1024;
/// `web_search`: queries in the cache.
pub const SEARCH_CACHE_FILES: usize = 1_000;

/// Combining marks shown on one character; further ones are shown as their code.
pub const MARKS_PER_CHARACTER: usize = 10;

/// Longest tool result put into a rescue's prompt, characters.
pub const EVIDENCE_RESULT_CHARS: usize = 8_000;
/// Longest evidence put into a rescue's prompt, characters.
pub const EVIDENCE_CHARS: usize = 120_000;

/// Deepest nesting of agents that the screen follows.
pub const AGENT_DEPTH: usize = 64;
/// Agents that run at which the screen looks in one second for what only time brings.
pub const AGENTS_LOOKED_AT: usize = 256;

/// Output of a running call that the screen keeps, bytes; its older half goes when there is more.
pub const PROGRESS_BYTES: usize = 64 * 1024;
/// Longest part of a transcript's text laid out at once, bytes; longer blocks are laid out in parts.
pub const LAYOUT_BYTES: usize = 16 * 1024;
/// Laid-out lines that the screen keeps for cells that are out of view.
pub const LAYOUT_LINES: usize = 4_000;

/// Time after its end at which a list of agents may leave a sub-agent out.
pub const FOLD_AFTER: Duration = Duration::from_secs(30);
/// Beginning of a task that the filter of the agents looks through, characters.
pub const FILTER_CHARS: usize = 1_000;
/// Time without a token from the model after which a warning is shown.
pub const WARN_SILENCE: Duration = Duration::from_mins(1);
/// Repetitions of the same call in a row after which a warning is shown.
pub const WARN_REPEATS: u32 = 3;
/// Fill of the context window from which on a warning is shown, per cent.
pub const WARN_CONTEXT_PERCENT: u64 = 80;
/// Used share of a step budget from which on a warning is shown, per cent.
pub const WARN_BUDGET_PERCENT: u64 = 80;
/// Calls of a tool after which its usual time is known.
pub const WARN_SAMPLES: usize = 20;
/// Newest calls of a tool that determine its usual time.
pub const WARN_MOST_SAMPLES: usize = 1_000;
/// Tools whose usual times are kept.
pub const WARN_TOOLS: usize = 256;

/// Longest command that an allow rule can cover, bytes.
pub const RULED_COMMAND_BYTES: usize = 4 * 1024;
/// Paths of one command that are checked as parts of a repository.
pub const PLANNED_PATHS: usize = 64;
/// Links that are followed on the way to a file that settings name, as the kernel does.
pub const LINKS_ON_THE_WAY: usize = 40;
/// Words of a command of which it is looked up where links lead, for rules about reading.
pub const NAMED_PATHS: usize = 256;
/// Files and directories that a sandbox closes because a rule denies reading them.
pub const DENIED_FILES: usize = 256;
/// Names that are looked at to find them.
pub const DENIED_LOOKED_AT: usize = 100_000;
/// Longest line about what of a set-up counts for nothing, bytes, unless a single sentence is longer.
pub const LEFT_OUT_LINE_BYTES: usize = 4_000;
/// What that line shows of a sentence, columns.
pub const LEFT_OUT_SENTENCE_COLUMNS: usize = 600;
/// Longest time that the user's command for the status line takes.
pub const STATUS_COMMAND_TIME: Duration = Duration::from_secs(5);
/// Shortest time between two starts of it.
pub const STATUS_COMMAND_INTERVAL: Duration = Duration::from_millis(500);
/// What is read of what it prints, bytes.
pub const STATUS_COMMAND_OUTPUT: u64 = 16 * 1024;
/// What is kept of its first line, characters.
pub const STATUS_COMMAND_CHARS: usize = 400;
/// Depth up to which scripts within the strings of a command are read.
pub const READ_DEPTH: usize = 4;

/// Widest screen that is drawn, columns; what is beyond stays blank.
pub const SCREEN_COLUMNS: u16 = 1_000;
/// Highest screen that is drawn, rows.
pub const SCREEN_ROWS: u16 = 400;

/// Longest text of an argument in the summary of a call, characters.
pub const SUMMARY_CHARS: usize = 200;
/// Lines of an ended command's end that a collapsed block shows; the fewest of a running call's output.
pub const FOLDED_TAIL: usize = 3;
/// Lines of a running call's output that a collapsed block shows where there is room; on a high screen it shows more.
pub const LIVE_ROWS: usize = 10;
/// Lines of an ended command's beginning that a collapsed block shows.
pub const FOLDED_HEAD: usize = 2;
/// Lines that are shown rather than counted: a line that says that so few are left out takes nearly their room.
pub const FOLDED_LEAST: usize = 3;
/// Lines of a failed call's output that a collapsed block shows besides, because they say why it failed.
pub const FOLDED_REASONS: usize = 3;
/// Lines of a change that a collapsed block shows.
pub const FOLDED_DIFF: usize = 8;

/// Files of one name that an export passes over before it gives up.
pub const EXPORTS_OF_A_NAME: u32 = 1_000;
/// Passes over a text until no picture and no HTML is left in it.
pub const TAMING_ROUNDS: usize = 4;

/// Frames per second while text streams.
pub const STREAM_FPS: u32 = 20;
/// Most frames per second, for keys.
pub const KEY_FPS: u32 = 60;
/// A second Ctrl+C within this time quits.
pub const QUIT_WINDOW: Duration = Duration::from_secs(1);
/// Time that a message stays in the status line.
pub const MESSAGE_TIME: Duration = Duration::from_secs(6);
/// Time without any key, behind the drawing of a question, before a key may answer it.
pub const QUESTION_QUIET: Duration = Duration::from_millis(350);
/// Longest time between two letters that are typed as one text, also where the first alone would be a key.
pub const LETTER_PAUSE: Duration = Duration::from_millis(700);
/// Time in which a key may still have been meant for a question that is gone.
pub const QUESTION_GONE: Duration = Duration::from_secs(2);
/// Longest time between the two presses of a double click.
pub const DOUBLE_CLICK: Duration = Duration::from_millis(400);
/// Time from losing the terminal (or a signal) to the end of the program, and for each step of an orderly end.
pub const EXIT_GRACE: Duration = Duration::from_secs(2);
/// Time for all steps of an orderly end, even if some part hangs.
pub const QUIT_TIME: Duration = Duration::from_secs(6);

/// Embedded model: longest request body, bytes.
pub const DEMO_BODY_BYTES: usize = 64 * 1024 * 1024;
/// Embedded model: connections that are open at the same time.
pub const DEMO_CONNECTIONS: u32 = 64;
/// Embedded model: time for a client to send its next request head; longer than clients keep idle connections.
pub const DEMO_HEADER_TIMEOUT: Duration = Duration::from_mins(3);
/// Embedded model: pause after a connection could not be accepted.
pub const DEMO_ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Embedded model: context window that it reports, tokens.
pub const DEMO_CONTEXT: u64 = 131_072;
/// Themes: longest file of a user's own, bytes.
pub const THEME_BYTES: u64 = 64 * 1024;
/// Themes: files of a user's own that are read.
pub const THEME_FILES: usize = 200;
/// Log files that are kept, one per day, that of today included.
pub const LOG_FILES: usize = 7;
/// Most lines of the log that wait for its writer; more are dropped. The queue is made at its full size: this one takes 256 KiB.
pub const LOG_LINES: usize = 8_192;

/// Keys: longest file or output that holds one, bytes.
pub const KEY_BYTES: u64 = 64 * 1024;
/// Keys: time for reading a file that holds one.
pub const KEY_FILE_TIME: Duration = Duration::from_secs(3);
/// Keys: time for a command that prints one, which may ask the user.
pub const KEY_COMMAND_TIME: Duration = Duration::from_secs(30);
/// First start: time in which a model server of this machine must have answered.
pub const LOOK_TIME: Duration = Duration::from_millis(150);
/// `doctor`: time for one step of the connection to the server.
pub const DOCTOR_STEP: Duration = Duration::from_secs(5);
/// `doctor`: time for a reply, in which a model may have to be loaded.
pub const DOCTOR_REPLY: Duration = Duration::from_mins(1);

/// Terminal: time after the end of a turn in which another may begin before the user is told of the end.
pub const ALERT_PAUSE: Duration = Duration::from_millis(400);
/// Terminal: longest title or notice, columns.
pub const ALERT_COLUMNS: usize = 100;
/// Terminal: longest sequence that waits for a terminal that does not read, bytes.
pub const QUEUED_SEQUENCE_BYTES: usize = 128 * 1024;
/// Terminal: longest text that is copied, bytes.
pub const COPY_BYTES: usize = 16 * 1024 * 1024;
/// Terminal: longest text that is given to a terminal for its clipboard, bytes; several cut or drop what is longer.
pub const COPY_TERMINAL_BYTES: usize = 74_994;
/// Terminal: time for a program that takes a text for the clipboard.
pub const COPY_TIME: Duration = Duration::from_secs(3);
/// Terminal: longest text that comes back from an editor, bytes.
pub const EDITED_BYTES: u64 = MESSAGE_BYTES as u64;
/// Colours of code: longest block, lines; what is behind stays plain.
pub const CODE_LINES: usize = 2_000;
/// Colours of code: longest block, bytes.
pub const CODE_BYTES: usize = 512 * 1024;
/// Colours of code: longest line, bytes; a longer one is plain.
pub const CODE_LINE_BYTES: usize = 2_000;
/// Colours of code: lines that are kept; the oldest go first.
pub const CODE_KNOWN: usize = 16_384;
/// Colours of code: newest states from which highlighting can continue.
pub const CODE_ENDS: usize = 256;
/// Colours of code: languages without a grammar that are remembered.
pub const CODE_PLAIN: usize = 256;
/// Colours of code: lines below the last one in view that are asked for with it.
pub const CODE_AHEAD: usize = 100;
/// Colours of code: time after which a first part of an answer is given.
pub const CODE_TURN: Duration = Duration::from_millis(40);
/// Colours of code: time for one line, loading the grammar included, before the grammar is given up.
pub const CODE_LINE_TIME: Duration = Duration::from_secs(20);
/// Colours of code: time for one block before the grammar is given up.
pub const CODE_BLOCK_TIME: Duration = Duration::from_mins(2);
/// How long the colours of code of an exported page may take together.
pub const EXPORT_CODE_TIME: Duration = Duration::from_secs(10);
/// Colours of code: idle time after which the grammars are freed.
pub const CODE_IDLE: Duration = Duration::from_mins(1);

/// Changes: lines of one place that are compared word by word.
pub const WORD_LINES: usize = 200;
/// Changes: longest line that is compared word by word, bytes.
pub const WORD_BYTES: usize = 1_000;
/// Opened calls: lines of output that are shown; of more, the first and the last half.
pub const OPENED_LINES: usize = 1_000;
/// Opened calls: longest line of output that is shown whole, bytes.
pub const OPENED_LINE_BYTES: usize = 8 * 1024;

/// Search in a transcript: work of one frame, bytes that are laid out; skipping a byte costs a small part of that.
pub const SEARCH_WORK: usize = 64 * 1024;
/// Search in a transcript: longest text that is searched for, bytes.
pub const SEARCH_BYTES: usize = 1_000;
/// Search in a transcript: earlier searches that are kept.
pub const SEARCHES: usize = 100;
/// Longest selection of a transcript that is copied, bytes.
pub const SELECTED_BYTES: usize = 4 * 1024 * 1024;

/// Message: a paste of more characters is shown as a chip.
pub const CHIP_CHARS: usize = 1_000;
/// Message: a paste of more lines is shown as a chip.
pub const CHIP_LINES: usize = 10;
/// Message: most that one command of vim is repeated.
pub const VIM_REPEATS: usize = 1_000;
/// Message: longest text that is laid out, and so edited, in it, bytes; a longer one is a chip.
pub const LAID_OUT_BYTES: usize = 32 * 1024;

/// History of sent texts: entries that are remembered.
pub const HISTORY_ENTRIES: usize = 10_000;
/// History of sent texts: largest file; a larger one loses its older half, bytes.
pub const HISTORY_BYTES: u64 = 4 * 1024 * 1024;
/// History of sent texts: longest text that is written into the file, bytes.
pub const HISTORY_TEXT_BYTES: usize = 64 * 1024;
/// History of sent texts: beginning of a text that the search looks through, characters.
pub const HISTORY_SEARCH_CHARS: usize = 500;

/// Paths after `@`: files and directories that are listed.
pub const PATHS: usize = 100_000;
/// Paths after `@`: time for listing them.
pub const PATHS_TIME: Duration = Duration::from_secs(3);
/// Paths after `@`: age after which a list is made anew when paths are needed again.
pub const PATHS_AGE: Duration = Duration::from_secs(5);
/// Fuzzy matches that are shown.
pub const HITS: usize = 100;
