//! Finds programs that this program itself relies on, never by a path that a command could change.
//!
//! A search path often has a directory of the workspace (an activated `.venv/bin`): what lies there is for
//! commands, which the sandbox confines, not for the host.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Most links on the way to one file, as in the kernel.
const LINKS: usize = 40;

/// Finds a program on a search path, ignoring those that are reached through one of `writable`.
pub(crate) fn find(name: impl AsRef<Path>, path: &OsStr, writable: &[PathBuf]) -> Option<PathBuf> {
    let directories = std::env::split_paths(path).filter(|directory| directory.is_absolute());
    let mut programs = directories.map(|directory| directory.join(&name));
    programs.find(|program| is_executable(program) && !passes_through(program, writable))
}

/// Returns a search path without the directories that are reached through one of `writable`.
pub(crate) fn search_path(path: &OsStr, writable: &[PathBuf]) -> OsString {
    let kept = std::env::split_paths(path).filter(|part| part.is_absolute() && !passes_through(part, writable));
    std::env::join_paths(kept).unwrap_or_default()
}

/// Returns whether a path leads through one of `roots`, by its names or by any link on it: a program that can write
/// there decides what is found.
pub fn passes_through(path: &Path, roots: &[PathBuf]) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let roots: Vec<PathBuf> = roots.iter().map(|root| real(root)).collect();
    let mut open = vec![path.to_owned()];
    let mut links = 0;
    while let Some(path) = open.pop() {
        for part in path.ancestors() {
            let end = real(part);
            if roots.iter().any(|root| end.starts_with(root)) {
                return true;
            }
            if let (Ok(target), Some(parent)) = (part.read_link(), part.parent()) {
                links += 1;
                if links > LINKS {
                    return true;
                }
                open.push(real(parent).join(target));
            }
        }
    }
    false
}

fn is_executable(program: &Path) -> bool {
    fs::metadata(program).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_program_is_never_taken_by_a_way_through_a_writable_directory() {
        let dir = tempfile::TempDir::new().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let work = dir.join("work");
        for name in ["work/.venv/bin", "bin", "linked", "hops", "good"] {
            fs::create_dir_all(dir.join(name)).unwrap();
        }
        for name in ["work/.venv/bin/tool", "good/tool"] {
            fs::write(dir.join(name), "#!/bin/sh\n").unwrap();
            fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        // By name, by a link to the directory, by a link to the file, by a link that only passes the workspace.
        symlink(work.join(".venv/bin"), dir.join("alias")).unwrap();
        symlink("../work/.venv/bin/tool", dir.join("linked/tool")).unwrap();
        symlink(dir.join("good/tool"), work.join("hop")).unwrap();
        symlink("../work/hop", dir.join("hops/tool")).unwrap();
        let writable = [work.clone()];
        for hostile in ["work/.venv/bin", "work/../work/.venv/bin", "alias", "linked", "hops"] {
            let path = dir.join(hostile).into_os_string();
            assert_eq!(find("tool", &path, &writable), None, "{hostile}");
            assert!(find("tool", &path, &[]).is_some(), "{hostile}");
        }
        let both = std::env::join_paths([work.join(".venv/bin"), dir.join("bin"), dir.join("good")]).unwrap();
        assert_eq!(find("tool", &both, &writable), Some(dir.join("good/tool")));
        let left = std::env::join_paths([dir.join("bin"), dir.join("good")]).unwrap();
        assert_eq!(search_path(&both, &writable), left);
    }
}
