//! The tool `skill`: the instructions of a skill, and the files that belong to it.
//!
//! Always holds: nothing outside the directory of a skill is read, no link in it is followed out of it, and nothing is run:
//! a script of a skill runs through `bash`, with its approval.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::skill::catalogue::bullet;
use crate::skill::file::Skill;
use steersman_base::front_matter::SKILL_FILE;
use steersman_base::limits;
use steersman_base::regular_file::read_whole;
use steersman_base::text::visible_line;
use steersman_core::tool::{Args, Concurrency, Parameters, Tool, ToolContext, ToolError, ToolSpec, Traits};
use steersman_tools::workspace::Workspace;

pub(super) const NAME: &str = "skill";

/// The tool that returns the instructions of skills.
pub struct SkillTool {
    skills: Arc<[Skill]>,
    spec: ToolSpec,
}

impl SkillTool {
    /// Makes the tool for these skills.
    pub fn new(skills: Arc<[Skill]>) -> Self {
        let parameters = Parameters::build(|p| {
            p.optional_string("name", "The skill. Without it: the list of all.");
            p.optional_string("file", "A file of the skill, relative to its directory. Without it: its instructions.");
            p.optional_integer("offset", "The first line to return, from 1. Default 1.");
        });
        let description = format!(
            "Returns the instructions of a skill, or a text file that belongs to it; at most {} KiB per call. Scripts of a skill \
             are run with bash.",
            limits::SKILL_TEXT_BYTES / 1024
        );
        let spec = ToolSpec::new(NAME, description, parameters)
            .concurrency(Concurrency::Parallel)
            .traits(Traits { private: true, ..Traits::NONE });
        Self { skills, spec }
    }

    /// Returns the skill of a name; that of a plugin has one with the plugin's before it too, as the texts of plugins call it.
    fn named(&self, name: &str) -> Option<&Skill> {
        let by_plugin = |skill: &&Skill| {
            let plugin = skill.source.strip_prefix("plugin ");
            plugin.zip(name.split_once(':')).is_some_and(|(of, (plugin, own))| of == plugin && skill.name == own)
        };
        self.skills.iter().find(|skill| skill.name == name).or_else(|| self.skills.iter().find(by_plugin))
    }

    fn list(&self) -> String {
        let skills = self.skills.iter().filter(|skill| skill.is_for_model());
        let lines: Vec<String> = skills.map(|skill| bullet(skill, limits::SKILL_DESCRIPTION_CHARS)).collect();
        page(&lines.join("\n"), 1)
    }
}

impl Tool for SkillTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(&'a self, args: Args, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        async move {
            let Some(name) = args.opt_str("name").filter(|name| !name.is_empty()) else {
                context.approve_use(NAME, "").await?;
                return Ok(self.list());
            };
            let Some(skill) = self.named(name) else {
                let name = visible_line(name);
                return Err(ToolError::Failed(format!("there is no skill {name}; without a name all are listed")));
            };
            if !skill.is_for_model() {
                return Err(ToolError::Failed(format!("only the person starts this skill, with /skill {name}")));
            }
            let first = usize::try_from(args.opt_int("offset").unwrap_or(1)).unwrap_or(1).max(1);
            let file = args.opt_str("file").filter(|file| !file.is_empty());
            // Under whichever name it was called, a rule is about the one that it is listed with.
            let shown = file.map_or_else(|| skill.name.clone(), |file| format!("{}/{file}", skill.name));
            context.approve_use(NAME, &shown).await?;
            let (skill, file) = (skill.clone(), file.map(str::to_owned));
            let read = move || match file {
                Some(file) => part(&skill.directory, &file).map(|text| page(&text, first)),
                None => Ok(instructions(&skill, first)),
            };
            let read = tokio::task::spawn_blocking(read).await;
            read.map_err(|error| ToolError::Failed(format!("the tool failed inside: {error}")))?
                .map_err(ToolError::Failed)
        }
        .boxed()
    }
}

/// Returns the instructions of a skill, with where it lies and what else is there.
fn instructions(skill: &Skill, first: usize) -> String {
    let mut text = page(&skill.text, first);
    let _ = write!(text, "\n\nThe directory of the skill: {}", skill.directory.display());
    let (files, more) = files(&skill.directory);
    if !files.is_empty() {
        let _ = write!(text, "\nIts files, each to be read with `{NAME}` and `file`:");
        for file in &files {
            let _ = write!(text, "\n- {}", visible_line(file));
        }
        if more {
            text.push_str("\n- and more");
        }
    }
    text
}

/// Lists the other files of a skill; true when there are more than are listed.
fn files(directory: &Path) -> (Vec<String>, bool) {
    let (mut files, mut waiting, mut looked) = (Vec::new(), vec![(directory.to_path_buf(), 0)], 0);
    while let Some((at, depth)) = waiting.pop() {
        let Ok(entries) = at.read_dir() else { continue };
        let room = limits::SKILL_NAMES.saturating_sub(looked);
        let mut entries: Vec<_> = entries.flatten().take(room).collect();
        looked += entries.len();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        let mut below = Vec::new();
        for entry in entries {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && depth < limits::SKILL_DEPTH && !entry.file_name().to_string_lossy().starts_with('.') {
                below.push((path, depth + 1));
            } else if kind.is_file() && path != directory.join(SKILL_FILE) {
                if files.len() >= limits::SKILL_FILES_LISTED {
                    return (files, true);
                }
                files.push(path.strip_prefix(directory).unwrap_or(&path).to_string_lossy().into_owned());
            }
        }
        waiting.extend(below.into_iter().rev());
    }
    (files, false)
}

/// Reads a file of a skill.
fn part(directory: &Path, file: &str) -> Result<String, String> {
    let shown = visible_line(file);
    let failed = |error: std::io::Error| format!("{shown} cannot be read: {error}");
    let workspace = Workspace::new(directory).map_err(failed)?;
    let real = workspace.resolve_read(file).map_err(|_| format!("{shown} is no file of this skill"))?;
    let (file, metadata) = workspace.open(&real).map_err(failed)?;
    let bytes = read_whole(file, metadata.len(), limits::SKILL_PART_BYTES).map_err(failed)?;
    if bytes.contains(&0) {
        return Err(format!("{shown} is no text; its path for a command is {}", real.display()));
    }
    Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n"))
}

/// Returns a text from a line on, as much as one call returns; what is left is said.
fn page(text: &str, first: usize) -> String {
    let mut out = String::new();
    for (line, number) in text.split_inclusive('\n').skip(first - 1).zip(first..) {
        let room = limits::SKILL_TEXT_BYTES.saturating_sub(out.len());
        if line.len() > room {
            if out.is_empty() {
                out.push_str(line.get(..line.floor_char_boundary(room)).unwrap_or_default());
                let _ = write!(out, "\n[line {number} is cut; go on with offset {}]", number + 1);
            } else {
                let _ = write!(out, "[cut here: go on with offset {number}]");
            }
            return out;
        }
        out.push_str(line);
    }
    if out.is_empty() && first > 1 {
        out.push_str("[there is nothing behind that line]");
    }
    out
}
