//! The root of a project: the nearest directory upwards that is under version control.
//!
//! Never the home directory, never a directory that belongs to the system: what lies there belongs to no project.

use std::path::{Path, PathBuf};

/// The names that mark the root of a project.
const MARKS: [&str; 3] = [".git", ".hg", ".svn"];

/// Directories that are shared by many; nothing at or above them is a project.
const SYSTEM: &str = "\
    / /bin /boot /dev /etc /home /lib /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /tmp /usr /usr/local \
    /usr/src /var /var/tmp /Users /System /Library /Applications /private /private/tmp";

/// Returns the root of the project that contains a directory.
pub fn project_root(directory: &Path, home: Option<&Path>) -> Option<PathBuf> {
    directory
        .ancestors()
        .take_while(|ancestor| !is_shared(ancestor, home))
        .find(|ancestor| MARKS.iter().any(|mark| ancestor.join(mark).symlink_metadata().is_ok()))
        .map(Path::to_path_buf)
}

/// Returns a directory of a project and those above it, up to the project's root: the nearest first.
pub fn directories_up_to<'a>(root: &'a Path, directory: &'a Path) -> impl Iterator<Item = &'a Path> {
    directory.ancestors().take_while(move |ancestor| ancestor.starts_with(root))
}

/// Returns whether a directory is the home or belongs to the system, so that nothing in it is a project's.
pub fn is_shared(directory: &Path, home: Option<&Path>) -> bool {
    home == Some(directory) || SYSTEM.split_ascii_whitespace().any(|system| Path::new(system) == directory)
}
