//! Lists the files and directories of the working directory, as `@` offers them.
//!
//! Called away from the screen. Always holds: nothing outside of the directory is listed, nothing that git ignores, no
//! name that could not be shown and typed as it is; it ends after a number of entries and a time.

use std::path::Path;
use std::sync::Arc;

use crate::message::paths::PathList;
use steersman_base::limits;
use steersman_base::text::is_invisible;
use steersman_session::{Bounds, EntryKind, Walk};

/// Lists what lies below a directory.
pub fn walk(cwd: &Path) -> PathList {
    let mut found = Vec::new();
    let bounds = Bounds { entries: limits::PATHS, time: limits::PATHS_TIME };
    // A directory that is gone has no paths.
    let mut walk = Walk::below(cwd, bounds).ok();
    let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    while let Some(entry) = walk.as_mut().and_then(|walk| walk.next(|| false)) {
        let Some(path) = entry.path.strip_prefix(&real).ok().and_then(Path::to_str) else { continue };
        if path.chars().any(is_invisible) {
            continue;
        }
        let is_hidden = path.split('/').any(|part| part.starts_with('.'));
        let name = if entry.kind == EntryKind::Directory { format!("{path}/") } else { path.to_owned() };
        found.push((is_hidden, entry.depth, name));
    }
    found.sort_unstable();
    let visible = found.iter().take_while(|(is_hidden, ..)| !is_hidden).count();
    let names: Vec<Arc<str>> = found.into_iter().map(|(.., name)| name.into()).collect();
    PathList { names: names.into(), visible }
}
