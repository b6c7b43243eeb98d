//! A diff on the screen reads as in git.

use std::fs;
use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use steersman::limits;
use steersman::workspace::{diff, file_diff};

use crate::support::skip::{Need, skip};

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
        skip(Need::Program("git"), "diffs are compared with its own");
        return false;
    };
    let ours = diff(before.as_bytes(), after.as_bytes());
    assert!(ours.hunks == theirs, "ours\n{}\ngit\n{theirs}", ours.hunks);
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

/// One random edit of a text made of lines.
#[derive(Debug, Clone)]
enum Edit {
    Insert(usize, String),
    Delete(usize, usize),
    Change(usize, String),
    Copy(usize, usize, usize),
    Indent(usize, usize),
}

fn line() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        "",
        "}",
        "    }",
        "        }",
        "{",
        "    return x;",
        "    return y;",
        "fn a() {",
        "fn b() {",
        "    if x {",
        "        x += 1;",
        "    for i in 0..n {",
        "// a comment",
        "use std::fs;",
        "",
        "end",
        "  - item",
        "\tcase 1:",
    ])
    .prop_map(str::to_owned)
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (0..400_usize, line()).prop_map(|(at, line)| Edit::Insert(at, line)),
        (0..400_usize, 1..6_usize).prop_map(|(at, count)| Edit::Delete(at, count)),
        (0..400_usize, line()).prop_map(|(at, line)| Edit::Change(at, line)),
        (0..400_usize, 1..12_usize, 0..400_usize).prop_map(|(from, count, to)| Edit::Copy(from, count, to)),
        (0..400_usize, 1..8_usize).prop_map(|(at, count)| Edit::Indent(at, count)),
    ]
}

fn apply(lines: &mut Vec<String>, edit: &Edit) {
    let length = lines.len();
    let within = |at: usize| at % length.max(1);
    match edit {
        Edit::Insert(at, line) => lines.insert(within(*at), line.clone()),
        _ if length == 0 => {}
        Edit::Delete(at, count) => drop(lines.drain(within(*at)..(within(*at) + count).min(length))),
        Edit::Change(at, line) => lines[within(*at)].clone_from(line),
        Edit::Copy(from, count, to) => {
            let copied = lines[within(*from)..(within(*from) + count).min(length)].to_vec();
            let to = within(*to);
            lines.splice(to..to, copied);
        }
        Edit::Indent(at, count) => {
            for line in lines.iter_mut().skip(within(*at)).take(*count) {
                line.insert_str(0, "    ");
            }
        }
    }
}

fn text(lines: &[String], ended: bool) -> String {
    let mut text = lines.join("\n");
    if ended && !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Texts to edit: real ones. Others are made, where the same lines come again and again.
fn bases() -> Vec<Vec<String>> {
    let root = env!("CARGO_MANIFEST_DIR");
    let read = |path: &str| fs::read_to_string(format!("{root}/{path}")).unwrap().lines().map(str::to_owned).collect();
    vec![
        read("src/tool/params.rs"),
        read("src/text.rs"),
        read("tests/suite/layers.rs"),
        read("Cargo.toml"),
        read("README.md"),
    ]
}

#[test]
fn four_hundred_random_edits_give_the_hunks_of_git() {
    let bases = bases();
    let made = prop::collection::vec(line(), 0..60);
    let base = prop_oneof![(0..bases.len()).prop_map(move |at| bases[at].clone()), made];
    let case = (base, prop::collection::vec(edit(), 1..12), any::<bool>(), any::<bool>());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner =
        TestRunner::new_with_rng(Config { cases: 400, failure_persistence: None, ..Config::default() }, rng);
    runner
        .run(&case, |(lines, edits, ended_before, ended_after)| {
            let before = text(&lines, ended_before);
            let mut lines = lines;
            for edit in &edits {
                apply(&mut lines, edit);
            }
            same(&before, &text(&lines, ended_after));
            Ok(())
        })
        .unwrap();
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
    let started = crate::support::cpu_time::CpuTime::now();
    assert!(diff(make(0).as_bytes(), make(50_000).as_bytes()).added > 0);
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
