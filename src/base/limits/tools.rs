//! Limits of tools: `bash` commands and jobs, hooks, MCP servers, skills and agent files.

use std::time::Duration;

// Limits of `bash` commands: their time, their output, the look for the files that they changed, and those in the background.

/// `bash`: default time of a command.
pub const COMMAND_TIME: Duration = Duration::from_mins(2);
/// `bash`: longest time of a command.
pub const COMMAND_MOST_TIME: Duration = Duration::from_mins(10);
/// `bash`: directory entries visited to find the files that a command changed.
pub const TOUCHED_ENTRIES: usize = 50_000;
/// `bash`: time of that.
pub const TOUCHED_TIME: Duration = Duration::from_millis(500);
/// `bash`: files that are listed as changed by one command.
pub const TOUCHED_FILES: usize = 1_000;
/// `bash`: longest command, bytes; what the kernel takes as one argument, less what a sandbox may add.
pub const COMMAND_LENGTH: usize = 96 * 1024;
/// `bash`: output that the model gets, bytes; of longer output the beginning and the end.
pub const COMMAND_BYTES: usize = 30 * 1024;
/// `bash`: output that is kept in the file of one command, bytes.
pub const OUTPUT_FILE_BYTES: u64 = 64 * 1024 * 1024;
/// Age from which a temporary directory that no process uses any more is removed.
pub const ABANDONED_DIRECTORY_AGE: Duration = Duration::from_hours(24);
/// Age from which a file of an earlier version that nothing reads any more is removed.
pub const LEFT_FILE_AGE: Duration = Duration::from_hours(30 * 24);
/// Names that are tried for a temporary directory.
pub const DIRECTORY_NAMES: u32 = 16;
/// `bash`: output that is kept in all files of a session, bytes.
pub const OUTPUT_FILES_BYTES: u64 = 512 * 1024 * 1024;
/// `bash`: time for a write of output to disk, after which no more is kept.
pub const OUTPUT_DISK_TIME: Duration = Duration::from_millis(500);
/// `bash`: output that is shown live at once, bytes.
pub const LIVE_BURST_BYTES: usize = 64 * 1024;
/// `bash`: output that is shown live per second once that is used up, bytes.
pub const LIVE_BYTES_PER_SECOND: u32 = 8 * 1024;
/// List of commands: the newest that are known.
pub const LISTED_COMMANDS: usize = 2_000;
/// List of commands: the end of the output of one, bytes.
pub const LISTED_OUTPUT_BYTES: usize = 8 * 1024;
/// Background jobs: those of one session that run at the same time, the user's shell lines included.
pub const BACKGROUND_JOBS: usize = 16;
/// Background jobs: those that have ended and are still known, each with its newest output.
pub const BACKGROUND_ENDED: usize = 64;
/// Background jobs: longest time of one.
pub const BACKGROUND_MOST_TIME: Duration = Duration::from_hours(24);
/// Background jobs: newest output of one that is kept in memory, bytes.
pub const BACKGROUND_KEPT_BYTES: usize = 256 * 1024;
/// Background jobs: last lines of one that its agent is told at its end.
pub const BACKGROUND_LAST_LINES: usize = 10;
/// Background jobs: bytes of those lines.
pub const BACKGROUND_LAST_BYTES: usize = 2 * 1024;
/// `job_output`: usual time of a wait for a line.
pub const BACKGROUND_WAIT: Duration = Duration::from_secs(30);
/// `job_output`: longest time of a wait for a line.
pub const BACKGROUND_MOST_WAIT: Duration = Duration::from_mins(10);
/// `job_output`: longest text or expression that is waited for, bytes.
pub const BACKGROUND_PATTERN_BYTES: usize = 1024;
/// `job_output`: largest compiled expression, bytes.
pub const BACKGROUND_REGEX_BYTES: usize = 1024 * 1024;
/// `job_input`: text that is written at once, bytes.
pub const BACKGROUND_INPUT_BYTES: usize = 64 * 1024;
/// `job_input`: time in which a job must take it.
pub const BACKGROUND_INPUT_TIME: Duration = Duration::from_secs(5);
/// Background jobs: time in which all of a session must have ended when it does.
pub const BACKGROUND_END_TIME: Duration = Duration::from_secs(3);
/// Files of settings of git that are read, bytes of each.
pub const GIT_SETTINGS_BYTES: u64 = 1024 * 1024;
/// Files of settings of git that include each other.
pub const GIT_INCLUDES: usize = 10;
/// Names among which repositories within a directory that commands write are looked for.
pub const NESTED_NAMES: usize = 200_000;
/// Such repositories of one directory.
pub const NESTED_REPOSITORIES: usize = 256;
/// Longest time of one look for them.
pub const NESTED_TIME: Duration = Duration::from_secs(1);
/// Times its own length for which what a look found holds.
pub const NESTED_REST: u32 = 20;
/// Longest time for which it holds.
pub const NESTED_REST_MOST: Duration = Duration::from_secs(10);
/// Directories whose last look is known.
pub const NESTED_LOOKS: usize = 64;
/// Names in one directory of settings of a home, among which links are looked for.
pub const HOME_LINKS: usize = 2_000;
/// A file that is copied before a command writes in it, since it has other names, or an index of git, bytes.
pub const COPIED_FILE_BYTES: u64 = 1024 * 1024 * 1024;

// The limits of jobs and their guards: the part of the table in `mod.rs` that the spawner and the guard keep to.

/// The variable that marks every process of a job.
pub const JOB_MARK: &str = "COMMAND_MARK";
/// Jobs: processes of one at the same time.
pub const JOB_PROCESSES: usize = 1_024;
/// Jobs: threads of the user beyond those of its start, which the kernel limits for all but root.
pub const JOB_THREADS: usize = 4_096;
/// Jobs: files that one process may have open.
pub const JOB_OPEN_FILES: u64 = 8_192;
/// Jobs: largest file that may be written, bytes.
pub const JOB_FILE_BYTES: u64 = 16 * 1024 * 1024 * 1024;
/// Jobs: memory that all processes of one may have together, per cent of the machine's.
pub const JOB_MEMORY_PERCENT: u64 = 75;
/// Jobs: memory that the machine must have left while one runs that has taken some, per cent.
pub const MACHINE_MEMORY_PERCENT: u64 = 5;
/// Jobs: of so many looks one looks at the memory of each process, whatever the machine has left.
pub const JOB_MEMORY_LOOKS: u32 = 8;
/// Jobs: looks at the processes in a row that may fail before the job is ended.
pub const JOB_UNSEEN: u32 = 8;
/// Jobs: how much sooner than others they go when memory runs out (`oom_score_adj`).
pub const JOB_OOM_SCORE: &str = "500";
/// Jobs: how much a guard goes before its job, where it may.
pub const GUARD_NICENESS: i32 = -20;
/// Jobs: new threads on the machine from which on a job has to stand back.
pub const JOB_CROWD: usize = 256;
/// Jobs: how far it stands back then.
pub const CROWD_NICENESS: i32 = 19;
/// Jobs: time between two looks at the number of processes.
pub const JOB_WATCH: Duration = Duration::from_millis(250);
/// Jobs: time for what is left behind the first process to end by itself.
pub const LEFTOVER_GRACE: Duration = Duration::from_millis(200);
/// Jobs: time between asking to end and killing.
pub const TERM_GRACE: Duration = Duration::from_millis(300);
/// Jobs: time in which what is killed must be gone; only the kernel can hold it longer.
pub const KILL_GRACE: Duration = Duration::from_millis(700);
/// Jobs: time in which too many processes must be gone.
pub const CROWD_GRACE: Duration = Duration::from_secs(5);
/// Jobs: time that a guard has for a kill, before the host does it.
pub const GUARD_PATIENCE: Duration = Duration::from_millis(1_400);
/// Jobs: time that a guard has to be gone after its word.
pub const GUARD_EXIT_TIME: Duration = Duration::from_millis(100);
/// Jobs: longest word of a guard about the end, bytes.
pub const GUARD_WORD_BYTES: u64 = 64 * 1024;
/// Jobs: looks for what a lost guard left.
pub const CLEAR_ROUNDS: usize = 30;
/// Jobs: time in which the output must end once everything is dead.
pub const OUTPUT_GRACE: Duration = Duration::from_millis(200);

// The limits of hooks.

/// How long a hook may take, unless its file says otherwise.
pub const HOOK_TIME: Duration = Duration::from_mins(1);
/// The longest time that its file can give it.
pub const HOOK_MOST_TIME: Duration = Duration::from_mins(10);
/// How long the end of a session waits for its hooks.
pub const HOOK_END_TIME: Duration = Duration::from_millis(1_500);
/// How long the agent waits for the user before hooks are told.
pub const HOOK_IDLE_TIME: Duration = Duration::from_mins(1);
/// Longest output of a hook, bytes; one that prints more is ended, and nothing comes of it.
pub const HOOK_OUTPUT_BYTES: usize = 256 * 1024;
/// Most of its error output that is read, bytes.
pub const HOOK_ERROR_BYTES: usize = 64 * 1024;
/// Longest text of a hook that reaches the model, characters.
pub const HOOK_TEXT_CHARS: usize = 10_000;
/// Columns of a command, and of the words of a hook, in one line.
pub const HOOK_LINE_COLUMNS: usize = 160;
/// Most hooks of one file.
pub const HOOKS_PER_FILE: usize = 100;
/// Largest file of hooks, bytes.
pub const HOOK_FILE_BYTES: u64 = 256 * 1024;
/// Largest script whose content is compared with what was trusted, bytes; a hook that names a larger one is left out.
pub const HOOK_SCRIPT_BYTES: u64 = 16 * 1024 * 1024;
/// Most scripts that one command may name: one with more is left out.
pub const HOOK_SCRIPTS: usize = 16;
/// Most entries of a directory that a copied script finds as links.
pub const BESIDE_SCRIPTS: usize = 10_000;
/// Most files of a directory that is compared whole with what was trusted.
pub const PINNED_FILES: usize = 1_000;
/// Most names in such a directory, directories and what is no file included.
pub const PINNED_NAMES: usize = 4 * PINNED_FILES;
/// Most bytes of such a directory.
pub const PINNED_BYTES: u64 = 32 * 1024 * 1024;
/// Most bytes of all that the servers of a project run, together.
pub const PINNED_BYTES_OF_SERVERS: u64 = 4 * PINNED_BYTES;
/// Times that answers can change the arguments of one call.
pub const ANSWER_CHANGES: u32 = 3;
/// Times in a row that hooks can keep a turn from ending.
pub const HOOK_CONTINUES: u32 = 8;
/// Hooks that run at the same time.
pub const HOOKS_AT_ONCE: usize = 8;
/// Hooks in the background that run, wait to run, or have ended and were not heard of; more are not run.
pub const WAITING_HOOKS: usize = 64;

// Limits of MCP servers.

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

// Limits of skills, custom commands, agent files and context files.

/// Members of the head of a file that are read.
pub const FRONT_MATTER_FIELDS: usize = 100;
/// Lines of one quoted text or list in such a head.
pub const FRONT_MATTER_VALUE_LINES: usize = 200;

/// Largest `SKILL.md`, bytes.
pub const SKILL_FILE_BYTES: u64 = 256 * 1024;
/// Longest name of a skill, of a command or of a sub-agent, characters.
pub const SKILL_NAME_CHARS: usize = 64;
/// Longest description of a skill that the catalogue shows, characters.
pub const SKILL_DESCRIPTION_CHARS: usize = 1_024;
/// Shortest cut of a description before whole skills leave the catalogue, characters.
pub const SKILL_SHORT_DESCRIPTION_CHARS: usize = 80;
/// Part of the context window that the catalogue may take, per cent.
pub const SKILL_CATALOGUE_PERCENT: u64 = 2;
/// Longest catalogue where the context window is not known, characters.
pub const SKILL_CATALOGUE_CHARS: usize = 8_000;
/// Longest catalogue, however large the window is, characters.
pub const SKILL_CATALOGUE_MOST_CHARS: usize = 40_000;
/// Part of a skill's instructions that one call returns, and of a file that belongs to it, bytes.
pub const SKILL_TEXT_BYTES: usize = 64 * 1024;
/// Largest file of a skill that is read at all, bytes.
pub const SKILL_PART_BYTES: u64 = 4 * 1024 * 1024;
/// Files of a skill that its instructions are followed by as a list.
pub const SKILL_FILES_LISTED: usize = 100;
/// Largest custom command, or agent file, bytes.
pub const COMMAND_FILE_BYTES: u64 = 256 * 1024;
/// Skills, custom commands or agent files that are read below one directory.
pub const SKILL_FILES: usize = 1_000;
/// Depth below such a directory up to which files are looked for.
pub const SKILL_DEPTH: usize = 5;
/// Names that are looked at below such a directory.
pub const SKILL_NAMES: usize = 20_000;
/// All skills and custom commands of a session together, bytes; further ones are left out.
pub const SKILL_ALL_BYTES: usize = 16 * 1024 * 1024;
/// Most words of a command that have a place of their own (`$1` to `$9`).
pub const COMMAND_PLACES: usize = 9;
/// Shell lines of one template.
pub const TEMPLATE_COMMANDS: usize = 20;
/// Entries of `allowed-tools` of one template.
pub const TEMPLATE_RULES: usize = 100;
/// Output of a shell line that is shown where the line has failed, characters.
pub const TEMPLATE_FAULT_CHARS: usize = 200;
/// Plugins of one list, and parts that one plugin names.
pub const PLUGINS_LISTED: usize = 1_000;
/// What a line shows of an entry that cannot be read, characters.
pub const PLUGIN_NAMED_CHARS: usize = 80;
/// Longest time of the clone of a plugin.
pub const PLUGIN_CLONE_TIME: Duration = Duration::from_mins(5);
/// What is read of what git prints for it, bytes.
pub const PLUGIN_CLONE_OUTPUT: u64 = 64 * 1024;
/// Tool calls of one task of an agent file that does not say how many.
pub const AGENT_FILE_STEPS: u32 = 60;

/// Depth up to which a context file imports others.
pub const CONTEXT_IMPORT_DEPTH: usize = 5;
/// Imports of one context file.
pub const CONTEXT_IMPORTS: usize = 50;
/// Paths of one batch in whose directories context files are looked for.
pub const CONTEXT_NAMED_PATHS: usize = 100;
/// Patterns of one rule that say for which files it holds.
pub const CONTEXT_RULE_PATTERNS: usize = 50;
