//! A diff on the screen reads as in git.

use std::fs;
use std::process::Command;

use steersman::limits;
use steersman::workspace::{diff, file_diff};

/// Runs `git diff` on two contents; the hunks without what stands behind the second `@@`. `None` without git.
fn git(before: &[u8], after: &[u8]) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a"), before).unwrap();
    fs::write(dir.path().join("b"), after).unwrap();
    let output = Command::new("git")
        .args(["diff", "--no-index", "--no-color", "--no-ext-diff", "--unified=3", "--", "a", "b"])
        .current_dir(dir.path())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut hunks = String::new();
    for line in text.split_inclusive('\n').skip_while(|line| !line.starts_with("@@")) {
        match line.strip_prefix("@@ ").and_then(|rest| rest.split_once(" @@")) {
            Some((head, _)) => hunks.extend(["@@ ", head, " @@\n"]),
            None => hunks.push_str(line),
        }
    }
    Some(hunks)
}

/// Compares ours with git's; false when there is no git.
fn same(before: &str, after: &str) -> bool {
    let Some(theirs) = git(before.as_bytes(), after.as_bytes()) else {
        eprintln!("skipped: no git to compare with");
        return false;
    };
    let ours = diff(before.as_bytes(), after.as_bytes());
    assert_eq!(ours.hunks, theirs, "--- before\n{before}\n--- after\n{after}");
    let count = |sign| u32::try_from(theirs.lines().filter(|line| line.starts_with(sign)).count()).unwrap();
    assert_eq!((ours.added, ours.removed), (count('+'), count('-')));
    true
}

#[test]
fn ends_of_files_and_empty_files_are_as_in_git() {
    for (before, after) in [
        ("", "a\n"),
        ("", "a"),
        ("a\n", ""),
        ("a", ""),
        ("a", "a\n"),
        ("a\n", "a"),
        ("a\nb", "a\nc"),
        ("a\nb", "c\nb"),
        ("a\r\nb\r\n", "a\r\nc\r\n"),
        ("\n", "\n\n"),
        ("a\n\n\n\nb\n", "a\n\n\nb\n"),
        ("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\nx\n3\n4\n5\n6\n7\n8\ny\n"),
        ("1\n2\n3\n4\n5\n6\n7\n8\n9\n0\n", "1\nx\n3\n4\n5\n6\n7\n8\n9\ny\n"),
    ] {
        if !same(before, after) {
            return;
        }
    }
    assert_eq!(diff(b"same\n", b"same\n").hunks, "");
}

#[test]
fn a_binary_file_is_named_and_the_new_content_is_shown_whole() {
    assert_eq!(diff(b"a\0b", b"x\ny\n").hunks, "\\ Binary file of 3 bytes, replaced by:\n@@ -0,0 +1,2 @@\n+x\n+y\n");
}

#[test]
fn a_giant_diff_is_cut_at_a_line_and_its_counts_are_whole() {
    let after = (0..100_000).map(|n| n.to_string()).collect::<Vec<_>>().join("\n") + "\n";
    let whole = diff(b"", after.as_bytes());
    let shown = file_diff("a".to_owned(), None, &whole);
    assert_eq!((shown.created, shown.added, shown.removed), (true, 100_000, 0));
    assert!(shown.hunks.len() <= limits::DIFF_BYTES + 100);
    let shown_lines = shown.hunks.lines().count() - 2;
    let note = format!("\\ {} more lines of the diff are not shown", 100_000 - shown_lines);
    assert_eq!(shown.hunks.lines().last().unwrap(), note);
    assert!(whole.hunks.starts_with(shown.hunks.rsplit_once("\\ ").unwrap().0));
}

#[test]
fn two_unlike_files_of_the_largest_size_are_compared_in_seconds() {
    let size = usize::try_from(limits::CHANGED_FILE_BYTES).unwrap();
    let lines =
        |seed: usize| (0..size / 8).map(move |n| format!("{:07}", n * 7919 % 99_991 + seed)).collect::<Vec<_>>();
    let make = |seed: usize| lines(seed).join("\n");
    let started = std::time::Instant::now();
    assert!(diff(make(0).as_bytes(), make(50_000).as_bytes()).added > 0);
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
