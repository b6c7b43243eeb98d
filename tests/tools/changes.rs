//! What the tools changed can be taken back, and nothing else is touched (`/undo`).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use steersman_base::limits;
use steersman_base::protocol::UndoScope;
use steersman_tools::workspace::{Undo, Undoable, UndoneFile, Workspace};
use tempfile::TempDir;

struct Site {
    dir: TempDir,
    workspace: Workspace,
}

impl Site {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(dir.path()).unwrap();
        workspace.changes().begin_turn(1);
        Self { dir, workspace }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.workspace.root().join(name)
    }

    /// Writes as a tool does: looks, then writes.
    fn write(&self, name: &str, content: &str) -> Undoable {
        let path = self.at(name);
        let before = self.workspace.look(&path).unwrap();
        self.workspace.write(&path, before.as_ref().map(|held| &*held.bytes), content.as_bytes()).unwrap()
    }

    fn held(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.at(name)).ok()
    }

    fn undo(&self) -> Vec<(String, Undo)> {
        let preview = pairs(self.workspace.changes().preview(&UndoScope::LastTurn));
        let report = pairs(self.workspace.changes().undo(&UndoScope::LastTurn));
        assert_eq!(preview, report, "what was shown is what was done");
        report
    }
}

fn pairs(changes: Vec<UndoneFile>) -> Vec<(String, Undo)> {
    changes.into_iter().map(|change| (change.path, change.undo)).collect()
}

fn restored(bytes: u64) -> Undo {
    Undo::Restored { bytes }
}

#[test]
fn a_changed_file_gets_its_content_back_and_keeps_the_permissions_that_the_user_gave_it_since() {
    let site = Site::new();
    fs::write(site.at("run.sh"), "old").unwrap();
    fs::set_permissions(site.at("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    assert_eq!(site.write("run.sh", "newer"), Undoable::Yes);
    assert_eq!(fs::metadata(site.at("run.sh")).unwrap().permissions().mode() & 0o777, 0o750);
    fs::set_permissions(site.at("run.sh"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(site.undo(), [("run.sh".to_owned(), restored(3))]);
    assert_eq!(site.held("run.sh").unwrap(), "old");
    assert_eq!(fs::metadata(site.at("run.sh")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(site.undo(), [], "once");
}

#[test]
fn a_new_file_goes_away_with_the_directories_made_for_it_that_are_empty() {
    let site = Site::new();
    fs::create_dir(site.at("kept")).unwrap();
    site.write("kept/a/b/c.txt", "c");
    site.write("kept/d/e.txt", "e");
    fs::write(site.at("kept/d/mine.txt"), "mine").unwrap();
    assert_eq!(site.undo(), [("kept/d/e.txt".to_owned(), Undo::Removed), ("kept/a/b/c.txt".to_owned(), Undo::Removed)]);
    assert!(site.at("kept").is_dir() && !site.at("kept/a").exists());
    assert_eq!(fs::read_dir(site.at("kept/d")).unwrap().count(), 1, "a directory in use stays");
}

#[test]
fn two_new_files_of_one_new_directory_leave_nothing() {
    let site = Site::new();
    site.write("new/a.txt", "a");
    site.write("new/b.txt", "b");
    assert!(site.undo().iter().all(|(_, undo)| *undo == Undo::Removed));
    assert_eq!(fs::read_dir(site.dir.path()).unwrap().count(), 0);
}

#[test]
fn many_changes_of_a_file_are_taken_back_as_one() {
    let site = Site::new();
    fs::write(site.at("a"), "0").unwrap();
    for content in ["1", "22", "333"] {
        site.write("a", content);
    }
    assert_eq!(site.undo(), [("a".to_owned(), restored(1))]);
    assert_eq!(site.held("a").unwrap(), "0");
}

#[test]
fn what_somebody_else_changed_since_is_left_alone_and_stays_on_record() {
    let site = Site::new();
    for name in ["a", "b", "c"] {
        fs::write(site.at(name), "old").unwrap();
        site.write(name, "new");
    }
    site.write("d", "new");
    fs::write(site.at("a"), "mine").unwrap();
    fs::remove_file(site.at("b")).unwrap();
    fs::remove_file(site.at("d")).unwrap();
    fs::create_dir(site.at("d")).unwrap();
    let left = |name: &str| (name.to_owned(), Undo::ChangedSince);
    assert_eq!(site.undo(), [left("d"), ("c".to_owned(), restored(3)), left("b"), left("a")]);
    assert_eq!(site.held("a").unwrap(), "mine");
    assert!(!site.at("b").exists() && site.at("d").is_dir());
    fs::write(site.at("a"), "new").unwrap();
    assert_eq!(site.undo(), [left("d"), left("b"), ("a".to_owned(), restored(3))]);
}

#[test]
fn what_somebody_else_wrote_between_two_changes_is_what_comes_back() {
    let site = Site::new();
    fs::write(site.at("a"), "old").unwrap();
    site.write("a", "tool");
    fs::write(site.at("a"), "user").unwrap();
    site.write("a", "tool again");
    assert_eq!(site.undo(), [("a".to_owned(), restored(4))]);
    assert_eq!(site.held("a").unwrap(), "user");
}

#[test]
fn the_last_turn_that_changed_anything_counts() {
    let site = Site::new();
    let changes = site.workspace.changes();
    site.write("first", "1");
    changes.begin_turn(2);
    site.write("second", "2");
    changes.begin_turn(3);
    assert_eq!(
        pairs(changes.preview(&UndoScope::LastTurn)),
        [("second".to_owned(), Undo::Removed)],
        "a turn of words only"
    );
    assert_eq!(site.undo().len(), 1);
    assert!(site.at("first").exists() && !site.at("second").exists());
}

#[test]
fn a_link_in_place_of_the_file_is_not_written_through() {
    let site = Site::new();
    fs::write(site.at("canary"), "new").unwrap();
    fs::write(site.at("a"), "old").unwrap();
    site.write("a", "new");
    fs::remove_file(site.at("a")).unwrap();
    std::os::unix::fs::symlink("canary", site.at("a")).unwrap();
    assert_eq!(site.undo(), [("a".to_owned(), Undo::ChangedSince)]);
    assert_eq!(site.held("canary").unwrap(), "new");
}

#[test]
fn what_is_too_much_to_be_kept_is_said_before_and_not_touched() {
    let site = Site::new();
    let large = "x".repeat(usize::try_from(limits::CHANGED_FILE_BYTES).unwrap());
    let fit = limits::UNDO_BYTES / limits::CHANGED_FILE_BYTES;
    for n in 0..=fit {
        let name = format!("{n}");
        fs::write(site.at(&name), &large).unwrap();
        let expected = if n < fit { Undoable::Yes } else { Undoable::TooMuch };
        assert_eq!(site.workspace.changes().room_for(limits::CHANGED_FILE_BYTES), expected);
        assert_eq!(site.write(&name, "small"), expected);
    }
    let report = site.undo();
    assert_eq!(report[0], (fit.to_string(), Undo::NotKept));
    assert!(report[1..].iter().all(|(_, undo)| *undo == restored(limits::CHANGED_FILE_BYTES)));
    assert_eq!(site.held(&fit.to_string()).unwrap(), "small");
}

#[test]
fn clones_of_a_workspace_share_the_record() {
    let site = Site::new();
    let clone = site.workspace.clone();
    site.write("a", "1");
    assert_eq!(clone.changes().preview(&UndoScope::LastTurn).len(), 1);
}

#[test]
fn what_was_changed_since_a_message_goes_back_over_several_turns_and_nothing_before_it() {
    let site = Site::new();
    let changes = site.workspace.changes();
    changes.mark("m1");
    site.write("a", "a1");
    changes.begin_turn(2);
    changes.mark("m2");
    site.write("a", "a2");
    site.write("new/b", "b1");
    changes.begin_turn(3);
    changes.mark("m3");
    site.write("a", "a3");
    site.write("c", "c1");
    assert_eq!(pairs(changes.since("m3")), [("c".to_owned(), Undo::Removed), ("a".to_owned(), restored(2))]);
    let expected =
        [("c".to_owned(), Undo::Removed), ("a".to_owned(), restored(2)), ("new/b".to_owned(), Undo::Removed)];
    assert_eq!(pairs(changes.since("m2")), expected);
    assert_eq!(pairs(changes.undo_since("m2")), expected);
    assert_eq!((site.held("a").as_deref(), site.held("c"), site.at("new").exists()), (Some("a1"), None, false));
    assert_eq!(pairs(changes.since("m2")), [], "once");
    assert_eq!(pairs(changes.since("m1")), [("a".to_owned(), Undo::Removed)]);
    assert_eq!(pairs(changes.since("of no message")), []);
}

#[test]
fn what_others_changed_since_a_message_is_left_alone_and_named() {
    let site = Site::new();
    let changes = site.workspace.changes();
    site.write("mine", "1");
    site.write("theirs", "1");
    changes.mark("m1");
    site.write("mine", "22");
    site.write("theirs", "22");
    fs::write(site.at("theirs"), "by hand").unwrap();
    assert_eq!(
        pairs(changes.undo_since("m1")),
        [("theirs".to_owned(), Undo::ChangedSince), ("mine".to_owned(), restored(1))]
    );
    assert_eq!((site.held("mine").as_deref(), site.held("theirs").as_deref()), (Some("1"), Some("by hand")));
}

#[test]
fn one_file_goes_back_to_its_start_and_one_turn_to_what_it_found() {
    let site = Site::new();
    fs::write(site.at("a"), "first").unwrap();
    let changes = site.workspace.changes().clone();
    site.write("a", "second");
    site.write("b", "new");
    changes.begin_turn(2);
    site.write("a", "third");
    site.write("c", "new too");
    let of = |scope: &UndoScope| {
        let preview = pairs(changes.preview(scope));
        assert_eq!(preview, pairs(changes.undo(scope)), "what was shown is what was done");
        preview
    };
    assert_eq!(of(&UndoScope::Turn(1)), [("b".to_owned(), Undo::Removed), ("a".to_owned(), Undo::ChangedSince)]);
    assert_eq!(site.held("a").as_deref(), Some("third"), "the second turn has changed it since");
    assert_eq!(of(&UndoScope::File("a".to_owned())), [("a".to_owned(), restored(5))]);
    assert_eq!(site.held("a").as_deref(), Some("first"));
    assert_eq!(of(&UndoScope::LastTurn), [("c".to_owned(), Undo::Removed)], "what went back is not undone again");
    assert_eq!(of(&UndoScope::File("a".to_owned())), []);
}

#[test]
fn what_was_taken_back_is_told_to_the_model_once() {
    let site = Site::new();
    let changes = site.workspace.changes().clone();
    site.write("a", "new");
    assert_eq!(changes.take_note(), None);
    changes.undo(&UndoScope::Turn(1));
    let note = changes.take_note().unwrap();
    assert!(note.contains("The user took back") && note.contains("a is as it was before turn 1"), "{note}");
    assert_eq!(changes.take_note(), None);
}

#[test]
fn a_file_is_compared_with_what_it_was_before_the_first_change() {
    let site = Site::new();
    fs::write(site.at("a"), "one\ntwo\n").unwrap();
    site.write("a", "one\n2\n");
    site.workspace.changes().begin_turn(2);
    site.write("a", "1\n2\n");
    site.write("same", "x");
    fs::remove_file(site.at("same")).unwrap();
    let diffs = site.workspace.changes().compare();
    assert_eq!(diffs.len(), 1, "what is as it was is left out: {diffs:?}");
    assert_eq!((diffs[0].path.as_str(), diffs[0].added, diffs[0].removed), ("a", 2, 2));
    assert!(diffs[0].hunks.contains("-one\n-two\n+1\n+2"), "{}", diffs[0].hunks);
}

#[test]
fn a_file_is_named_by_its_path_as_it_is_shown() {
    let site = Site::new();
    site.write("b\u{202e}.rs", "new");
    let scope = UndoScope::File("b<U+202E>.rs".to_owned());
    assert_eq!(pairs(site.workspace.changes().undo(&scope)), [("b<U+202E>.rs".to_owned(), Undo::Removed)]);
}
