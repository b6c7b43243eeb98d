//! Files that somebody put where the program itself reads: searches, `@` and a start end soon, within bounds of memory.
//!
//! Each test runs in a process of its own under a limit of memory, so that a fault ends the test and not the machine.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use serde_json::json;
use steersman_base::limits;
use steersman_tui::run::path_walk::walk;

use crate::support::files::Files;
use crate::support::program::{Program, exit_code, stderr};
use crate::support::server::{Reply, Server};

/// How long a test may take on a crowded machine before it counts as one that hangs.
const PATIENCE: Duration = Duration::from_mins(3);
/// The most memory that a test may have used at a time, KiB: some 50 MiB of rules and what a test binary needs.
const PEAK: u64 = 400 * 1024;

/// What somebody puts in the place of a file.
const KINDS: [&str; 11] = [
    "sparse",
    "fifo",
    "socket",
    "device",
    "link to a device",
    "link to itself",
    "link that leads nowhere",
    "directory",
    "a million lines",
    "one line",
    "unreadable",
];

/// The files that the program reads by itself in a project.
const NAMES: [&str; 10] = [
    ".gitignore",
    ".ignore",
    ".git/info/exclude",
    ".git/HEAD",
    ".git/config",
    "AGENTS.md",
    "CLAUDE.md",
    ".steersman/config.toml",
    ".steersman/personas/a.md",
    ".steersman/hooks/a",
];

/// Puts something at a path, with its directories; `false` when this user cannot.
fn put(kind: &str, path: &Path) -> bool {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let node = |kind, device| mknodat(CWD, path, kind, Mode::from_raw_mode(0o644), device);
    match kind {
        "sparse" => File::create(path).unwrap().set_len(1 << 40).or_else(|_| File::create(path)?.set_len(1 << 36)),
        "fifo" => node(FileType::Fifo, 0).map_err(Into::into),
        "socket" => UnixListener::bind(path).map(drop),
        "device" => node(FileType::CharacterDevice, makedev(1, 5)).map_err(Into::into),
        "link to a device" => symlink("/dev/zero", path),
        "link to itself" => symlink(path.file_name().unwrap(), path),
        "link that leads nowhere" => symlink("/nonexistent/a/b", path),
        "directory" => fs::create_dir(path),
        "a million lines" => {
            fs::write(path, (0..1_000_000).map(|line| format!("a{line}*b?[cd]\n")).collect::<String>())
        }
        "one line" => fs::write(path, "[".repeat(3_000_000)),
        "unreadable" => {
            fs::write(path, "x\n").and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o000)))
        }
        _ => panic!("{kind}"),
    }
    .is_ok()
}

/// Runs a test of this file in a process of its own and checks its end, its time and its memory.
fn within_bounds(test: &str, kind: &str) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("hostile_files::{test}"), "--nocapture"])
        .env("STORY_KIND", kind)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let (ended, end) = channel();
    std::thread::spawn(move || {
        let mut said = String::new();
        let _ = output.read_to_string(&mut said);
        let _ = ended.send(said);
    });
    let Ok(said) = end.recv_timeout(PATIENCE) else {
        child.kill().unwrap();
        panic!("{test} hangs with: {kind}");
    };
    assert!(child.wait().unwrap().success(), "{test} fails with: {kind}\n{said}");
    let peak = said.split("peak <").nth(1).and_then(|rest| rest.split('>').next()).unwrap_or_else(|| panic!("{said}"));
    assert!(peak.parse::<u64>().unwrap() < PEAK, "{test} took {peak} KiB with: {kind}");
}

/// Limits the memory of this process, so that a fault cannot fill that of the machine.
fn limit_memory() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    setrlimit(Resource::As, Rlimit { current: Some(6 << 30), maximum: Some(6 << 30) }).unwrap();
}

fn say_peak() {
    let status = BufReader::new(File::open("/proc/self/status").unwrap());
    let line = status.lines().map(Result::unwrap).find(|line| line.starts_with("VmHWM")).unwrap();
    println!("peak <{}>", line.split_whitespace().nth(1).unwrap());
}

// --- searches and `@`

#[test]
fn no_file_of_a_tree_stops_a_search_or_the_list_of_paths() {
    for kind in KINDS {
        within_bounds("searches_a_tree_with_hostile_files", kind);
    }
}

/// Puts the kind at each name in turn, in the root and below it, then also in the place of `.git`.
#[tokio::test]
async fn searches_a_tree_with_hostile_files() {
    let Ok(kind) = std::env::var("STORY_KIND") else { return };
    limit_memory();
    for name in NAMES.into_iter().chain([".git", ".git/info", ".git/commondir"]) {
        for below in ["", "sub/"] {
            let files = Files::new();
            files.put("sub/found.txt", "needle\n");
            if !put(&kind, &files.at(&format!("{below}{name}"))) {
                println!("skipped: {kind} at {name}");
                continue;
            }
            let listed = files.call("glob", json!({"pattern": "**/found.txt"})).await.unwrap();
            assert!(listed.starts_with("sub/found.txt\n"), "{name}: {listed}");
            for arguments in [json!({"pattern": "needle"}), json!({"pattern": "needle", "path": "sub"})] {
                let found = files.call("grep", arguments).await.unwrap();
                assert!(found.starts_with("sub/found.txt:1:needle\n"), "{name}: {found}");
            }
            let paths = walk(files.workspace.root());
            assert!(paths.names.iter().any(|name| &**name == "sub/found.txt"), "{name}: {paths:?}");
        }
    }
    say_peak();
}

#[test]
fn a_chain_of_directories_full_of_rules_costs_no_more_than_one() {
    within_bounds("searches_a_deep_tree_of_rules", "a million lines");
}

#[tokio::test]
async fn searches_a_deep_tree_of_rules() {
    if std::env::var("STORY_KIND").is_err() {
        return;
    }
    limit_memory();
    let files = Files::new();
    let rules: String = (0..limits::IGNORE_RULES - 1).map(|rule| format!("a{rule}*b?[cd]\n")).collect();
    let mut path = String::new();
    for level in 0..40 {
        path.push_str(&format!("d{level}/"));
        files.put(&format!("{path}.gitignore"), &rules);
    }
    files.put(&format!("{path}found.txt"), "needle\n");
    let found = files.call("grep", json!({"pattern": "needle"})).await.unwrap();
    assert!(found.starts_with(&format!("{path}found.txt:1:needle\n")), "{found}");
    assert!(found.contains("[ignore rules not used: d0/d1/.gitignore and others"), "{found}");
    say_peak();
}

#[tokio::test]
async fn rules_that_cannot_be_used_are_said() {
    let files = Files::new();
    files.put("sub/a.log", "needle\n").put("sub/.ignore", "*.txt\n").put("sub/a.txt", "needle\n");
    put("fifo", &files.at("sub/.gitignore"));
    let note = "[ignore rules not used: sub/.gitignore, no regular file or too large]\n";
    let found = files.call("grep", json!({"pattern": "needle"})).await.unwrap();
    assert_eq!(found, format!("sub/a.log:1:needle\n{note}"));
    let listed = files.call("glob", json!({"pattern": "**/a.*"})).await.unwrap();
    assert_eq!(listed, format!("sub/a.log\n{note}"));
}

#[tokio::test]
async fn the_nearest_rule_decides_and_that_of_ignore_before_that_of_gitignore() {
    let files = Files::new();
    files.put(".gitignore", "\u{feff}*.log\n/top.txt\ndir/\n\\#x\n# no rule\n\n").put("sub/.gitignore", "!keep.log\n");
    files.put("sub/.ignore", "hidden.txt\n!forced.log\n").put(".git/info/exclude", "*.tmp\n");
    for name in ["a.log", "top.txt", "#x", "dir/in.txt", "x.tmp", "sub/keep.log", "sub/b.log", "sub/hidden.txt"] {
        files.put(name, "");
    }
    for name in ["sub/forced.log", "sub/top.txt", "sub/dir/x.txt", "shown.txt"] {
        files.put(name, "");
    }
    let listed = files.call("glob", json!({"pattern": "**/*"})).await.unwrap();
    let names: Vec<&str> = listed.lines().filter(|line| !line.starts_with('[')).collect();
    assert_eq!(
        names,
        [".gitignore", "shown.txt", "sub/.gitignore", "sub/.ignore", "sub/forced.log", "sub/keep.log", "sub/top.txt"]
    );
    let below = files.call("glob", json!({"pattern": "*", "path": "sub"})).await.unwrap();
    assert_eq!(below, "sub/.gitignore\nsub/.ignore\nsub/forced.log\nsub/keep.log\nsub/top.txt\n");
}

/// Swaps rules for a FIFO and a sparse file, and a directory for a link that leads out, while searches run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn swaps_in_the_middle_of_a_search_lead_nowhere() {
    let files = Files::new();
    let outside = files.dir.path().join("out");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.txt"), "needle\n").unwrap();
    files.put("sub/deep/found.txt", "needle\n").put("sub/.gitignore", "*.log\n");
    let (sub, aside, end) = (files.at("sub"), files.at("aside"), Arc::new(AtomicBool::new(false)));
    let ended = Arc::clone(&end);
    let swapping = std::thread::spawn(move || {
        while !ended.load(Ordering::Relaxed) {
            for kind in ["fifo", "sparse", "link to a device"] {
                let _ = fs::remove_file(sub.join(".gitignore"));
                put(kind, &sub.join(".gitignore"));
            }
            fs::rename(&sub, &aside).unwrap();
            symlink(&outside, &sub).unwrap();
            fs::remove_file(&sub).unwrap();
            fs::rename(&aside, &sub).unwrap();
        }
    });
    for _ in 0..200 {
        for (tool, arguments) in [("glob", json!({"pattern": "**/*.txt"})), ("grep", json!({"pattern": "needle"}))] {
            // A directory that is gone for the moment is a refusal.
            let found = files.call(tool, arguments).await.unwrap_or_default();
            assert!(!found.contains("secret"), "{found}");
        }
        assert!(!walk(files.workspace.root()).names.iter().any(|name| name.contains("secret")));
    }
    end.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
}

// --- a start

/// Runs `exec` with two searches in a project, under a limit of memory; returns standard error.
fn starts(prepare: impl FnOnce(&Path)) -> String {
    let calls = [("c1", "glob", r#"{"pattern":"*"}"#), ("c2", "grep", r#"{"pattern":"needle"}"#)];
    let server = Server::start([Reply::calls(&calls), Reply::text("Done.")]);
    let program = Program::new();
    prepare(&program.work());
    let url = server.url();
    let program = program.within_memory(4 << 20).args(["exec", "--base-url", &url, "--model", "m", "go"]);
    let output = program.output_within(PATIENCE);
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    stderr(&output)
}

#[test]
fn a_start_in_a_project_of_hostile_files_ends_and_says_what_it_left_out() {
    for kind in KINDS {
        let said = starts(|work| {
            for name in NAMES {
                put(kind, &work.join(name));
            }
        });
        if kind == "fifo" {
            assert!(said.contains(".steersman/config.toml: is ignored: not a regular file"), "{said}");
        }
        let said = starts(|work| assert!(put(kind, &work.join(".git")) || kind == "device"));
        assert!(said.lines().all(|line| line.starts_with("· ")), "{kind}: {said}");
        starts(|work| assert!(put(kind, &work.join(".steersman")) || kind == "device"));
    }
}

#[test]
fn no_personas_of_the_user_hold_a_start_up() {
    for kind in KINDS {
        starts(|work| {
            let personas = work.parent().unwrap().join(".config/steersman/personas");
            put(kind, &personas.join("a.md"));
        });
    }
}
