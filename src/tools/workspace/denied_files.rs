//! The files that a rule keeps from being read, so that a sandbox can keep commands from them too.
//!
//! What a rule names without wildcards, and what matches a pattern, is closed to a command when it is there as that starts. What
//! comes while it runs stays open to it.

use std::fs;
use std::path::PathBuf;

use crate::workspace::Confinement;
use steersman_base::limits;
use steersman_core::approval::HiddenFiles;

/// The files and directories that commands cannot read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DeniedFiles {
    /// Where they are, or would be.
    pub paths: Vec<PathBuf>,
    /// Whether there may be others, because there are too many files to look at.
    pub is_cut: bool,
}

/// Adds to what a job may not read what patterns name and is there now. Blocks.
pub fn close(job: &mut Confinement) {
    if job.hidden.is_empty() {
        return;
    }
    let seen: Vec<PathBuf> = job.writable.iter().chain(&job.readable).cloned().collect();
    let DeniedFiles { paths, is_cut: _ } = find(&job.hidden, &seen);
    job.denied.extend(paths);
    job.denied.sort();
    job.denied.dedup();
}

/// Finds what rules keep from being read in directories that commands see. Blocks.
pub fn find(denied: &HiddenFiles, directories: &[PathBuf]) -> DeniedFiles {
    let (paths, has_patterns) = denied.places();
    let mut found = DeniedFiles { paths, is_cut: false };
    let mut open = if has_patterns { directories.to_vec() } else { Vec::new() };
    let mut looked_at = 0;
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            looked_at += 1;
            if looked_at > limits::DENIED_LOOKED_AT || found.paths.len() >= limits::DENIED_FILES {
                found.is_cut = true;
                return found;
            }
            let path = entry.path();
            if denied.hides(&path) {
                found.paths.push(path);
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(path);
            }
        }
    }
    found.paths.sort();
    found.paths.dedup();
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use steersman_core::approval::Rules;

    use super::*;

    #[test]
    fn what_rules_name_is_found_and_what_lies_within_once() {
        let dir = tempfile::TempDir::new().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b/keys")).unwrap();
        for name in [".env", "a/.env", "a/b/keys/one.pem", "a/plain"] {
            fs::write(root.join(name), "").unwrap();
        }
        let rules = |deny: &[&str]| Rules::parse(&[], &[], deny).unwrap().unreadable(Some(Path::new(&root)));
        let found = |deny: &[&str]| find(&rules(deny), std::slice::from_ref(&root)).paths;
        let at = |names: &[&str]| names.iter().map(|name| root.join(name)).collect::<Vec<_>>();
        assert_eq!(found(&["read: **/.env"]), at(&[".env", "a/.env"]));
        assert_eq!(found(&["read: a/b/**", "read: later.txt"]), at(&["a/b", "later.txt"]));
        assert_eq!(found(&["read: **/*.pem", "grep: a/b"]), at(&["a/b"]));
        assert_eq!(found(&["edit: a/plain", "bash: cat"]), at(&[]));
    }
}
