//! The files of programs that a rule denies, so that a sandbox can keep them from being started, however a command spells
//! their name.
//!
//! Found in the directories of the search path and of the system, by name, by link and by hard link. What is a shell of the
//! commands themselves, and a program that many others are names of, cannot be kept away without them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::workspace::programs::passes_through;

/// Directories of the system with programs, on a search path or not.
const SYSTEM: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// The program that runs every command.
const SHELL: &str = "bash";

/// Programs that are any of many others by their first argument.
const MANY: [&str; 3] = ["busybox", "toybox", "coreutils"];

/// Most names besides those that are denied with which a file can still be kept away.
const OTHER_NAMES: usize = 8;

/// Returns the real paths of the files that are denied programs; what commands can write is left out. Blocks.
pub fn find(is_denied: impl Fn(&Path) -> bool, path: &OsStr, writable: &[PathBuf]) -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> = std::env::split_paths(path).filter(|part| part.is_absolute()).collect();
    directories.extend(SYSTEM.map(PathBuf::from));
    let directories: BTreeSet<PathBuf> = directories.into_iter().filter_map(|path| path.canonicalize().ok()).collect();
    let directories = directories.into_iter().filter(|path| !passes_through(path, writable));
    let mut files: HashMap<(u64, u64), File> = HashMap::new();
    for entry in directories.flat_map(|directory| fs::read_dir(directory).into_iter().flatten().flatten()) {
        let path = entry.path();
        let Ok(found) = fs::metadata(&path) else { continue };
        if !found.is_file() {
            continue;
        }
        let file = files.entry((found.dev(), found.ino())).or_default();
        if is_denied(&path) {
            file.is_denied = true;
        } else {
            file.others.insert(entry.file_name());
        }
        file.paths.push(path);
    }
    let is_named =
        |path: &Path, names: &[&str]| path.file_name().is_some_and(|name| names.iter().any(|other| name == *other));
    let is_shell = |file: &File| file.paths.iter().any(|path| is_named(path, &[SHELL]));
    let (denied, others): (Vec<File>, Vec<File>) = files.into_values().partition(|file| file.is_denied);
    let mut kept: Vec<File> =
        denied.into_iter().filter(|file| file.others.len() <= OTHER_NAMES && !is_shell(file)).collect();
    if !kept.is_empty() {
        let is_many =
            |file: &File| file.others.len() <= OTHER_NAMES && file.paths.iter().any(|path| is_named(path, &MANY));
        kept.extend(others.into_iter().filter(is_many));
    }
    let real = kept.iter().flat_map(|file| &file.paths).filter_map(|path| path.canonicalize().ok());
    let mut real: Vec<PathBuf> = real.filter(|path| !passes_through(path, writable)).collect();
    real.sort();
    real.dedup();
    real
}

/// A file with the names that lead to it.
#[derive(Debug, Default)]
struct File {
    is_denied: bool,
    paths: Vec<PathBuf>,
    /// Its names that no rule denies.
    others: HashSet<std::ffi::OsString>,
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_name_of_a_denied_program_is_found_but_those_of_a_program_that_is_many() {
        let dir = tempfile::TempDir::new().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        for name in ["bin", "more", "work"] {
            fs::create_dir(dir.join(name)).unwrap();
        }
        for name in ["bin/zz-curl", "bin/zz-other", "bin/zz-many", "work/zz-curl"] {
            fs::write(dir.join(name), "").unwrap();
        }
        symlink("../bin/zz-curl", dir.join("more/zz-fetch")).unwrap();
        fs::hard_link(dir.join("bin/zz-curl"), dir.join("more/zz-hard")).unwrap();
        for number in 0..20 {
            symlink("zz-many", dir.join(format!("bin/zz-{number}"))).unwrap();
        }
        let path = std::env::join_paths(["bin", "more", "work"].map(|name| dir.join(name))).unwrap();
        let writable = [dir.join("work")];
        let found = |name: &str| {
            let mut found = find(|path| path.file_name().is_some_and(|file| file == name), &path, &writable);
            // Without what the machine has of the kind.
            found.retain(|path| path.starts_with(&dir));
            found
        };
        for name in ["zz-curl", "zz-fetch", "zz-hard"] {
            assert_eq!(found(name), [dir.join("bin/zz-curl"), dir.join("more/zz-hard")], "{name}");
        }
        assert_eq!(found("zz-3"), [] as [PathBuf; 0]);
        assert_eq!(found("bash"), [] as [PathBuf; 0]);
    }
}
