//! A diff on the screen leads from the old text to the new one, and reads as in git or nearly so.

use std::cell::Cell;
use std::fs;
use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use steersman_base::limits;
use steersman_tools::workspace::{diff, file_diff};

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

/// Compares ours with git's; `None` when there is no git.
fn same(before: &str, after: &str) -> Option<bool> {
    let Some(theirs) = git(before.as_bytes(), after.as_bytes()) else {
        skip(Need::Program("git"), "diffs are compared with its own");
        return None;
    };
    let ours = diff(before.as_bytes(), after.as_bytes());
    let count = |sign| u32::try_from(theirs.lines().filter(|line| line.starts_with(sign)).count()).unwrap();
    let (added, removed) = (count('+'), count('-'));
    assert!(ours.added <= added + 5 && ours.removed <= removed + 5, "ours\n{}\ngit\n{theirs}", ours.hunks);
    Some(ours.hunks == theirs)
}

/// Applies the hunks to the old text by their line numbers, where every line must be the one that is named.
fn applied(before: &str, hunks: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let (mut at, mut text, mut due) = (0, Vec::new(), (0, 0));
    let mut lines = hunks.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if let Some(head) = line.strip_prefix("@@ -") {
            assert_eq!(due, (0, 0), "the hunk before is short");
            let (left, right) = head.trim_end_matches(" @@\n").split_once(" +").unwrap();
            let span = |side: &str| {
                let (first, count) = side.split_once(',').unwrap_or((side, "1"));
                let (first, count) = (first.parse::<usize>().unwrap(), count.parse::<usize>().unwrap());
                (first - usize::from(count > 0), count)
            };
            let ((start, removed), (new_start, added)) = (span(left), span(right));
            text.extend(old[at..start].iter().map(|line| (*line).to_owned()));
            assert_eq!(text.len(), new_start);
            (at, due) = (start, (removed, added));
            continue;
        }
        let (sign, line) = line.split_at(1);
        let is_ended = lines.next_if(|next| next.starts_with("\\ No newline")).is_none();
        let line = if is_ended { line } else { line.trim_end_matches('\n') };
        if sign != "+" {
            assert_eq!(old[at], line);
            at += 1;
            due.0 -= 1;
        }
        if sign != "-" {
            text.push(line.to_owned());
            due.1 -= 1;
        }
    }
    text.concat() + &old[at..].concat()
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
        assert_eq!(applied(before, &diff(before.as_bytes(), after.as_bytes()).hunks), after);
        match same(before, after) {
            Some(is_same) => assert!(is_same, "{before:?} and {after:?}"),
            None => return,
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
    let root = crate::support::root();
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap().lines().map(str::to_owned).collect();
    vec![
        read("src/core/tool/params.rs"),
        read("src/base/text/mod.rs"),
        read("tests/program/layers.rs"),
        read("Cargo.toml"),
        read("README.md"),
    ]
}

#[test]
fn four_hundred_random_edits_give_hunks_that_apply_and_are_mostly_those_of_git() {
    let bases = bases();
    let made = prop::collection::vec(line(), 0..60);
    let base = prop_oneof![(0..bases.len()).prop_map(move |at| bases[at].clone()), made];
    let case = (base, prop::collection::vec(edit(), 1..12), any::<bool>(), any::<bool>());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let others = Cell::new(0);
    let mut runner =
        TestRunner::new_with_rng(Config { cases: 400, failure_persistence: None, ..Config::default() }, rng);
    runner
        .run(&case, |(lines, edits, ended_before, ended_after)| {
            let before = text(&lines, ended_before);
            let mut lines = lines;
            for edit in &edits {
                apply(&mut lines, edit);
            }
            let after = text(&lines, ended_after);
            assert_eq!(applied(&before, &diff(before.as_bytes(), after.as_bytes()).hunks), after);
            if same(&before, &after) == Some(false) {
                others.set(others.get() + 1);
            }
            Ok(())
        })
        .unwrap();
    assert!(others.get() <= 25, "{} of 400 are not those of git", others.get());
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

#[test]
fn a_long_text_of_few_lines_counts_as_changed_from_the_first_to_the_last_difference() {
    let make = |step: usize| (0..1_000_000).map(|n| if n % step < 2 { "a\n" } else { "b\n" }).collect::<String>();
    let (before, after) = (make(5), make(7));
    let started = crate::support::cpu_time::CpuTime::now();
    let whole = diff(before.as_bytes(), after.as_bytes());
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
    assert!(whole.added > 999_000 && whole.added == whole.removed, "{} {}", whole.added, whole.removed);
    assert_eq!(applied(&before, &whole.hunks), after);
    // A single edit of such a text is shown alone.
    let edited = before.replacen("b\na\n", "b\nc\n", 1);
    assert_eq!(diff(before.as_bytes(), edited.as_bytes()).added, 1);
}
