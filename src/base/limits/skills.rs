//! Limits of skills, custom commands, agent files and context files.

use std::time::Duration;

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
