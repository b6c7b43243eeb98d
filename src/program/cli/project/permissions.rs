//! The `permissions` and the `env` of a project's settings for Claude Code.
//!
//! What restricts holds at once, trusted or not; what allows is a part of the offer, described and hashed with the rest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{ProjectOffer, shown};
use crate::program::cli::places::UserDirectories;
use crate::program::config::{ClaudeSettings, PermissionPlaces};
use steersman_base::limits;
use steersman_base::regular_file::{read_own_text, text_of};
use steersman_base::text::QuestionText;

/// The settings files of Claude Code, in a project and beside its working directory.
pub const FILES: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];

/// What one file wants trust for: rules that allow something, and variables for commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPermissions {
    /// The file, relative to the root.
    pub file: String,
    pub allow: Vec<String>,
    pub variables: BTreeMap<String, String>,
}

/// Reads what the settings of a project restrict, whether it is trusted or not, and which file says it.
pub fn restrictions(places: &UserDirectories, cwd: &Path) -> Vec<(String, ClaudeSettings)> {
    let Some(root) = places.project.as_deref() else { return Vec::new() };
    let directories = std::iter::once(root).chain(places.below.iter().map(PathBuf::as_path));
    let files = directories.flat_map(|directory| FILES.map(|file| directory.join(file)));
    files
        .filter_map(|path| {
            let text = match read_own_text(&path, limits::HOOK_FILE_BYTES) {
                Ok(text) => text,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
                // As with a text that is no JSON, nobody knows what it denies.
                Err(error) => format!("\"deny\": {error}"),
            };
            let at = PermissionPlaces { home: places.home.as_deref(), project: root, cwd };
            Some((shown(path.strip_prefix(root).unwrap_or(&path)), ClaudeSettings::parse(&text, at).restrictions()))
        })
        .collect()
}

impl ProjectOffer {
    /// Reads what the settings of a directory allow.
    pub(super) fn read_permissions(&mut self, at: &Path) {
        for path in FILES.map(|name| at.join(name)) {
            if path.symlink_metadata().is_err() {
                continue;
            }
            // What is wrong with the file is said where its hooks are read.
            let Some(text) = self.read_file(&path, limits::PROJECT_FILE_BYTES).ok().filter(|head| !head.is_truncated())
            else {
                continue;
            };
            let Ok(text) = text_of(text.bytes) else { continue };
            let places = PermissionPlaces { home: None, project: &self.root, cwd: at };
            let ClaudeSettings { rules, variables, .. } = ClaudeSettings::parse(&text, places);
            let allow = rules.allow;
            if !allow.is_empty() {
                self.hashed(format!("permissions {}", self.relative(&path)), allow.join("\n").into_bytes());
            }
            for (name, value) in &variables {
                self.hashed(format!("variable {name} {}", self.relative(&path)), value.clone().into_bytes());
            }
            if !allow.is_empty() || !variables.is_empty() {
                self.permissions.push(ProjectPermissions { file: self.relative(&path), allow, variables });
            }
        }
    }

    /// Describes exactly what the settings allow.
    pub(super) fn describe_permissions(&self, text: &mut QuestionText) {
        for ProjectPermissions { file, allow, variables } in &self.permissions {
            text.part(file);
            for (name, value) in variables {
                text.field("variable for commands", &format!("{name} = {value:?}"));
            }
            for rule in allow {
                text.field("rule, allow", rule);
            }
        }
    }
}
