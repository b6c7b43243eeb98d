//! Lists the files and directories of the working directory, as `@` offers them.
//!
//! Called away from the screen. Always holds: nothing outside of the directory is listed, nothing that git ignores, no
//! name that could not be shown and typed as it is; it ends after a number of entries and a time.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use ignore::WalkBuilder;

use crate::limits;
use crate::text::is_invisible;
use crate::tui::state::paths::PathList;

/// Lists what lies below a directory.
pub fn walk(cwd: &Path) -> PathList {
    let until = Instant::now() + limits::PATHS_TIME;
    let mut found = Vec::new();
    let walker = WalkBuilder::new(cwd)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    for entry in walker.filter_map(Result::ok).filter(|entry| entry.depth() > 0) {
        if found.len() >= limits::PATHS || Instant::now() >= until {
            break;
        }
        let Some(path) = entry.path().strip_prefix(cwd).ok().and_then(Path::to_str) else { continue };
        if path.chars().any(is_invisible) {
            continue;
        }
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        let is_hidden = path.split('/').any(|part| part.starts_with('.'));
        found.push((is_hidden, entry.depth(), if is_dir { format!("{path}/") } else { path.to_owned() }));
    }
    found.sort_unstable();
    let visible = found.iter().take_while(|(is_hidden, ..)| !is_hidden).count();
    let names: Vec<Arc<str>> = found.into_iter().map(|(.., name)| name.into()).collect();
    PathList { names: names.into(), visible }
}
