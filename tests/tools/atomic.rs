//! A file is wholly old or wholly new: after a kill, on a full disk, on one that takes no writing.
//!
//! The tests that are left out of an ordinary run are the other side of those here: they run in a process or a mount
//! namespace of their own.

use std::env;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use steersman_base::protocol::UndoScope;
use steersman_tools::workspace::{Names, RepositoryPart, Undo, Workspace};

use crate::support::skip::{Need, skip};

/// Names the directory for the other side.
const DIRECTORY: &str = "STEERSMAN_TEST_DIRECTORY";
/// Long enough to be written in many pieces.
const LENGTH: usize = 300_000;

fn directory() -> PathBuf {
    PathBuf::from(env::var_os(DIRECTORY).expect("run by another test"))
}

/// Starts a test of this file in a process of its own.
fn other_side(test: &str, dir: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--test-threads=1", &format!("atomic::{test}")]);
    command.env(DIRECTORY, dir).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

#[test]
#[ignore = "killed by the test below"]
fn writes_until_it_is_killed() {
    let workspace = Workspace::new(&directory()).unwrap();
    let path = workspace.root().join("file");
    for n in 0_usize.. {
        let before = workspace.look(&path).unwrap().unwrap();
        let letter = if n.is_multiple_of(2) { b'a' } else { b'b' };
        workspace.write(&path, Some(&before.bytes), &vec![letter; LENGTH]).unwrap();
    }
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn killed_fifty_times_in_the_middle_the_file_is_old_or_new() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, vec![b'c'; LENGTH]).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let whole = || {
        let held = fs::read(&path).unwrap();
        assert_eq!(held.len(), LENGTH);
        assert!(held.iter().all(|letter| *letter == held[0]), "half of one and half of another");
        held[0]
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_mins(3);
    let mut seen = std::collections::BTreeSet::new();
    for round in 0..50 {
        let (before, inode) = (whole(), fs::metadata(&path).unwrap().ino());
        seen.insert(before);
        let child = Killed(other_side("writes_until_it_is_killed", dir.path()).spawn().unwrap());
        // Each round is killed a little later behind its first writing.
        while fs::metadata(&path).unwrap().ino() == inode {
            assert!(std::time::Instant::now() < deadline, "the other side writes nothing");
            std::thread::yield_now();
        }
        for _ in 0..round {
            whole();
        }
        drop(child);
        whole();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
    }
    assert!(seen.contains(&b'a') && seen.contains(&b'b'), "it was killed at different moments: {seen:?}");
    for entry in fs::read_dir(dir.path()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            name == "file"
                || (name.starts_with(".steersman-")
                    && Path::new(&name).extension().is_some_and(|ending| ending == "tmp")),
            "{name}"
        );
    }
}

/// Runs the other side in a mount namespace of its own, prepared by a script; false when there can be none.
fn mounted(script: &str, test: &str) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let inner = other_side(test, dir.path());
    let mut command = Command::new("unshare");
    command.args(["--mount", "--", "sh", "-c", &format!("{script} || exit 77; exec \"$@\""), "sh"]);
    command.arg(inner.get_program()).args(inner.get_args()).env(DIRECTORY, dir.path()).stdin(Stdio::null());
    let output = command.output();
    match output {
        Ok(output) if output.status.success() => {
            assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
            true
        }
        Ok(output) if output.status.code() == Some(101) => {
            panic!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
        }
        other => {
            skip(Need::of_program("unshare"), &format!("no mount namespace for {test}: {other:?}"));
            false
        }
    }
}

fn names(workspace: &Workspace) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(workspace.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn on_a_full_disk_the_old_content_stays_and_nothing_else() {
    mounted(&format!("mount -t tmpfs -o size=64k tmpfs \"${DIRECTORY}\""), "on_a_full_disk");
}

#[test]
#[ignore = "run by the test above"]
fn on_a_full_disk() {
    let workspace = Workspace::new(&directory()).unwrap();
    let at = |name: &str| workspace.root().join(name);
    let old = vec![b'x'; 40_000];
    workspace.write(&at("file"), None, &old).unwrap();
    workspace.changes().begin_turn(1);
    let error = workspace.write(&at("file"), Some(&old), &vec![b'y'; 50_000]).unwrap_err();
    assert!(error.starts_with("file was not written and is as it was: No space left on device"), "{error}");
    assert_eq!(fs::read(at("file")).unwrap(), old);
    let error = workspace.write(&at("new/dir/file"), None, &old).unwrap_err();
    assert!(error.starts_with("new/dir/file was not created: No space left on device"), "{error}");
    assert_eq!(names(&workspace), ["file"], "neither a temporary file nor a directory is left");
    workspace.write(&at("file"), Some(&old), b"small").unwrap();
    fs::write(at("filler"), vec![b'z'; 50_000]).unwrap();
    let report = workspace.changes().undo(&UndoScope::LastTurn);
    assert!(matches!(&report[0].undo, Undo::Failed(why) if why.contains("No space left")), "{report:?}");
    assert_eq!(fs::read(at("file")).unwrap(), b"small");
    fs::remove_file(at("filler")).unwrap();
    assert_eq!(workspace.changes().undo(&UndoScope::LastTurn)[0].undo, Undo::Restored { bytes: 40_000 });
    assert_eq!(fs::read(at("file")).unwrap(), old);
}

#[test]
fn on_a_disk_that_takes_no_writing_everything_stays() {
    let script = format!(
        "echo old > \"${DIRECTORY}/file\" && mount --bind \"${DIRECTORY}\" \"${DIRECTORY}\" && mount -o remount,ro,bind \"${DIRECTORY}\""
    );
    mounted(&script, "on_a_read_only_disk");
}

#[test]
#[ignore = "run by the test above"]
fn on_a_read_only_disk() {
    let workspace = Workspace::new(&directory()).unwrap();
    let at = |name: &str| workspace.root().join(name);
    let error = workspace.write(&at("file"), Some(b"old\n"), b"new").unwrap_err();
    assert!(error.starts_with("file was not written and is as it was: Read-only file system"), "{error}");
    let error = workspace.write(&at("new/file"), None, b"new").unwrap_err();
    assert!(error.starts_with("new/file was not created: Read-only file system"), "{error}");
    assert_eq!((names(&workspace), fs::read(at("file")).unwrap()), (vec!["file".to_owned()], b"old\n".to_vec()));
}

#[test]
fn what_a_command_has_made_a_repository_meanwhile_is_not_completed_unasked() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(dir.path()).unwrap();
    for part in ["objects", "refs"] {
        fs::create_dir_all(dir.path().join("d").join(part)).unwrap();
    }
    let head = workspace.root().join("d/HEAD");
    workspace.write(&head, None, b"ref: refs/heads/main\n").unwrap_err();
    assert!(!head.exists());
    workspace.write_names(&head, None, b"ref: refs/heads/main\n", Names::Parted, RepositoryPart::Approved).unwrap();
    workspace.write(&workspace.root().join("d/other"), None, b"x").unwrap();
    workspace.write(&workspace.root().join("e/HEAD"), None, b"x").unwrap();
}
