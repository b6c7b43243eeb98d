//! The `permissions` of a project's settings for Claude Code.
//!
//! What restricts holds at once, trusted or not; what allows is a part of the offer, described and hashed with the rest.

use std::path::{Path, PathBuf};

use super::{ProjectOffer, shown};
use crate::program::cli::places::UserDirectories;
use crate::program::config::{PermissionPlaces, Permissions};
use steersman_base::limits;
use steersman_base::regular_file::read_own_text;
use steersman_base::text::QuestionText;

/// The settings files of Claude Code, in a project and beside its working directory.
const FILES: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];

/// The rules of one file that allow something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPermissions {
    /// The file, relative to the root.
    pub file: String,
    pub allow: Vec<String>,
}

/// Reads what the settings of a project restrict, whether it is trusted or not, and which file says it.
pub fn restrictions(places: &UserDirectories, cwd: &Path) -> Vec<(String, Permissions)> {
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
            Some((shown(path.strip_prefix(root).unwrap_or(&path)), Permissions::parse(&text, at).restrictions()))
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
            let Some(text) = self.read_file(&path, limits::PROJECT_FILE_BYTES).ok().filter(|head| !head.is_cut()) else {
                continue;
            };
            let Ok(text) = String::from_utf8(text.bytes) else { continue };
            let places = PermissionPlaces { home: None, project: &self.root, cwd: at };
            let allow = Permissions::parse(&text, places).rules.allow;
            if !allow.is_empty() {
                let file = self.relative(&path);
                self.hashed(format!("permissions {file}"), allow.join("\n").into_bytes());
                self.permissions.push(ProjectPermissions { file, allow });
            }
        }
    }

    /// Describes exactly what the settings allow.
    pub(super) fn describe_permissions(&self, text: &mut QuestionText) {
        for ProjectPermissions { file, allow } in &self.permissions {
            text.part(file);
            for rule in allow {
                text.field("rule, allow", rule);
            }
        }
    }
}
