//! What earlier versions left in the state directory and none reads any more: records of commands, and what such a command
//! had changed. Removed at a start once it is old.

use std::fs::{self, DirEntry};
use std::path::Path;

use steersman_base::limits;

const DIRECTORIES: [&str; 2] = ["commands", "changed"];

/// Removes what is old in these directories, and those that are empty then. No link is followed.
pub(super) fn remove(state: &Path) {
    let directories = DIRECTORIES.map(|name| state.join(name));
    for directory in directories.iter().filter(|path| path.symlink_metadata().is_ok_and(|found| found.is_dir())) {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten().filter(is_old) {
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let removed = if is_directory { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) };
            if let Err(error) = removed {
                tracing::warn!("{} stays: {error}", entry.path().display());
            }
        }
        // It stays while something new is in it.
        let _ = fs::remove_dir(directory);
    }
}

fn is_old(entry: &DirEntry) -> bool {
    let changed = entry.metadata().and_then(|found| found.modified());
    changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age >= limits::LEFT_FILE_AGE))
}
