//! The files that changed while a command ran.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use steersman_base::limits;
use steersman_tools::workspace::{ChangeMark, Workspace};
use tempfile::TempDir;

fn write(root: &Path, path: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "x").unwrap();
}

/// Returns what is found below a directory, relative to it.
fn found(mark: ChangeMark, root: &Path) -> (Vec<PathBuf>, bool) {
    let workspace = Workspace::new(root).unwrap();
    let touched = mark.touched(&workspace, || false);
    let relative = |path: &PathBuf| path.strip_prefix(workspace.root()).unwrap().to_owned();
    (touched.paths.iter().map(relative).collect(), touched.is_partial)
}

#[test]
fn what_was_written_before_is_not_found_and_what_was_written_after_is() {
    let dir = TempDir::new().unwrap();
    // Again and again: a change right before the mark has nearly the same time.
    for round in 0..20 {
        let (before, after) = (format!("before-{round}"), format!("a/b/after-{round}"));
        write(dir.path(), &before);
        let mark = ChangeMark::now();
        write(dir.path(), &after);
        assert_eq!(found(mark, dir.path()), (vec![PathBuf::from(after)], false));
    }
}

#[test]
fn a_change_counts_whatever_time_a_program_gives_it() {
    let dir = TempDir::new().unwrap();
    for name in ["old", "moved", "linked", "left"] {
        write(dir.path(), name);
    }
    let mark = ChangeMark::now();
    let script = "touch -d 2001-01-01 old; mv moved renamed; chmod 600 linked; ln -s left link; mkdir empty; cat left";
    assert!(Command::new("sh").args(["-c", script]).current_dir(dir.path()).output().unwrap().status.success());
    let (paths, is_partial) = found(mark, dir.path());
    assert_eq!(paths, ["link", "linked", "old", "renamed"].map(PathBuf::from));
    assert!(!is_partial);
}

#[test]
fn ignored_files_and_those_of_git_are_left_out() {
    let dir = TempDir::new().unwrap();
    fs::create_dir_all(dir.path().join(".git")).unwrap();
    fs::write(dir.path().join(".gitignore"), "target/\n").unwrap();
    let mark = ChangeMark::now();
    for name in [".git/index", "target/debug/x", "src/x"] {
        write(dir.path(), name);
    }
    assert_eq!(found(mark, dir.path()), (vec![PathBuf::from("src/x")], false));
}

#[test]
fn more_files_than_are_listed_are_cut_and_that_is_said() {
    let dir = TempDir::new().unwrap();
    let mark = ChangeMark::now();
    for number in 0..=limits::TOUCHED_FILES {
        write(dir.path(), &format!("{number}"));
    }
    let (paths, is_partial) = found(mark, dir.path());
    // Less only where the machine is so slow that the time was over first.
    assert!(paths.len() <= limits::TOUCHED_FILES && is_partial);
}
