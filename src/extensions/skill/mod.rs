//! Skills and custom commands: instructions that the user, or a project that the user trusts, keeps in files.
//!
//! A skill is a directory with a `SKILL.md` (<https://agentskills.io/specification>): its name and description stand in the
//! system prompt, its instructions come with the tool `skill` or with `/skill NAME`, and its other files are read
//! through the same tool. A custom command is a Markdown file whose text `/NAME` sends
//! (<https://code.claude.com/docs/en/slash-commands>). Nothing of them is a permission: `allowed-tools` grants nothing,
//! scripts run through `bash` and are asked about like every other command.
//!
//! # Where things are
//!
//! - `SKILL.md` and command files: `file.rs`, `src/base/front_matter/mod.rs`; tests: `tests/program/skills.rs`, `tests/base/front_matter.rs`
//! - which files there are, what replaces what: `src/base/front_matter/files.rs`, `library.rs`; tests: `tests/program/skills.rs`
//! - the list in the system prompt, the tool: `catalogue.rs`, `tool.rs`; tests: `tests/program/skills.rs`
//! - the words behind a command: `src/base/protocol/template.rs`; tests: `tests/base/templates.rs`
//! - those of a project: `src/program/cli/project/texts.rs`; tests: `tests/program/trust/mod.rs`

mod catalogue;
mod file;
mod library;
mod tool;

pub use catalogue::{SkillCatalogue, catalogue};
pub use file::{Skill, SkillStarters, command, command_names, note_unused};
pub use library::{NOT_USED, Owner, SkillLibrary, folder_of, source_of, styles};
pub use tool::SkillTool;
