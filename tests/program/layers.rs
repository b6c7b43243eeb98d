//! What the sources keep to beyond what the compiler checks: the crates and what each uses are those of the architecture page,
//! a client sees a run through the protocol alone, and some calls stand in few files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One source file, without its tests and comments.
struct Source {
    /// As in `src/tui/view/tree.rs`.
    path: String,
    whole: String,
    code: String,
}

fn sources() -> Vec<Source> {
    let root = crate::support::root();
    let mut files = Vec::new();
    collect(&root.join("src"), &mut files);
    assert!(files.len() > 50, "the sources are not where this test looks");
    let read = |file: PathBuf| {
        let path = file.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let whole = fs::read_to_string(&file).unwrap();
        Source { code: code_of(&whole), path, whole }
    };
    files.into_iter().map(read).collect()
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Leaves out comments and every item under a `cfg` of tests, which by our format ends with a `}` or `;` at its own indent.
fn code_of(whole: &str) -> String {
    let mut code = String::new();
    let mut lines = whole.lines();
    while let Some(line) = lines.next() {
        let text = line.trim_start();
        if text == "#[cfg(test)]" || text.starts_with("#[cfg(all(test, ") {
            let indent = &line[..line.len() - text.len()];
            let ends = [format!("{indent}}}"), format!("{indent}}};")];
            for skipped in lines.by_ref() {
                let one_line =
                    skipped.starts_with(indent) && skipped.ends_with(';') && !skipped[indent.len()..].starts_with(' ');
                if ends.contains(&skipped.to_owned()) || one_line {
                    break;
                }
            }
        } else if !text.starts_with("//") {
            code.push_str(line);
            code.push('\n');
        }
    }
    code
}

fn report(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// Returns the crates of the workspace, each with those of them that it uses, as cargo knows them.
fn crates() -> BTreeMap<String, BTreeSet<String>> {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(crate::support::root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&cargo.stdout).unwrap();
    let short = |name: &serde_json::Value| name.as_str().unwrap().trim_start_matches("steersman-").to_owned();
    // What is not published belongs to the tests.
    let packages = metadata["packages"].as_array().unwrap().iter().filter(|package| package["publish"].is_null());
    packages
        .map(|package| {
            let uses = package["dependencies"].as_array().unwrap().iter();
            let own = uses.filter(|used| used["kind"].is_null() && used["path"].is_string());
            (short(&package["name"]), own.map(|used| short(&used["name"])).collect())
        })
        .collect()
}

#[test]
fn the_architecture_page_names_every_crate_and_what_it_uses() {
    let page = include_str!("../../assets/manual/architecture.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")).filter_map(|line| line.split_once("` |"));
    let named: BTreeMap<String, BTreeSet<String>> = rows
        .filter_map(|(name, rest)| {
            let cells: Vec<&str> = rest.split('|').map(str::trim).collect();
            let [_, uses, ""] = cells[..] else { return None };
            let uses = uses.split(", ").map(str::to_owned).filter(|used| used != "-").collect();
            Some((name.to_owned(), uses))
        })
        .collect();
    assert_eq!(named, crates());
}

#[test]
fn only_the_loop_of_the_screen_holds_a_client_of_the_run() {
    let is_model =
        |rest: &str| rest.starts_with("model") || rest.starts_with("packed") || rest.starts_with("named_file");
    let faults: Vec<String> = sources()
        .iter()
        .filter(|source| source.path.starts_with("src/tui/") && !source.path.starts_with("src/tui/run"))
        .filter(|source| source.code.split("steersman_session::").skip(1).any(|rest| !is_model(rest)))
        .map(|source| format!("{} names the session", source.path))
        .collect();
    report(&faults);
}

#[test]
fn nothing_is_read_whole_without_a_bound() {
    const WHOLE: [&str; 6] =
        [".read_to_string(", ".read_to_end(", ".read_until(", ".read_line(", "fs::read(", "fs::read_to_string("];
    // What the kernel writes itself has an end.
    let is_bounded = |statement: &str| statement.contains(".take(") || statement.contains("\"/proc/");
    let mut faults = Vec::new();
    for source in sources() {
        let statements = source.code.split(';').filter(|statement| WHOLE.iter().any(|read| statement.contains(read)));
        let endless = statements.filter(|statement| !is_bounded(statement));
        faults.extend(endless.map(|statement| format!("{}: {}", source.path, statement.trim())));
    }
    report(&faults);
}

#[test]
fn what_a_client_knows_of_a_run_is_modeled_from_words_alone() {
    const FOREIGN: [&str; 5] = [
        "steersman_core::",
        "steersman_provider::",
        "steersman_tools::",
        "steersman_agent::",
        "steersman_extensions::",
    ];
    let models = sources().into_iter().filter(|source| source.path.starts_with("src/session/model/"));
    let faults: Vec<String> = models
        .flat_map(|source| {
            let uses = FOREIGN.into_iter().filter(|used| source.code.contains(used)).collect::<Vec<_>>();
            uses.into_iter().map(move |used| format!("{} uses {used}", source.path))
        })
        .collect();
    report(&faults);
}

#[test]
fn a_run_without_a_screen_is_steered_through_its_client_alone() {
    const FOREIGN: [&str; 4] =
        ["steersman_session::host", "steersman_core::control", "steersman_core::approval", "steersman_agent"];
    let faults: Vec<String> = sources()
        .iter()
        .filter(|source| {
            ["steering.rs", "progress.rs"].iter().any(|file| source.path == format!("src/program/cli/exec/{file}"))
        })
        .flat_map(|source| {
            FOREIGN
                .iter()
                .filter(|used| source.code.contains(**used))
                .map(|used| format!("{} uses {used}", source.path))
        })
        .collect();
    report(&faults);
}

/// The root of the screen: what knows every pane. Everything else is a pane or stands below them.
const ROOT: &[&str] = &[
    "src/tui/app/letters.rs", // what keys of the list changed goes back in several panes
    "src/tui/app/mod.rs",
    "src/tui/effect.rs", // the type of a deferred call
    "src/tui/update/mod.rs",
    "src/tui/update/command.rs",
    "src/tui/update/escape.rs",
    "src/tui/update/keys.rs",
    "src/tui/update/line.rs",
    "src/tui/update/mouse.rs",
    "src/tui/update/apply_update.rs",
    "src/tui/update/replay.rs",
    "src/tui/update/transcript.rs",
];

#[test]
fn outside_the_root_of_the_screen_no_function_takes_the_whole_app_to_change_it() {
    let faults: Vec<String> = sources()
        .iter()
        .filter(|source| source.path.starts_with("src/tui/") && source.code.contains("&mut App"))
        .filter(|source| !ROOT.contains(&source.path.as_str()))
        .map(|source| format!("{} takes `&mut App`: let it take its own state and the facts", source.path))
        .collect();
    report(&faults);
}

/// Lines that may panic, as (file, part of the line, why it cannot happen).
const PANICS: &[(&str, &str, &str)] = &[];

#[test]
fn every_file_opens_with_what_it_is_for() {
    let mut faults = Vec::new();
    for source in sources() {
        let header = source.whole.lines().take_while(|line| line.starts_with("//!")).count();
        if header == 0 || source.whole.lines().next().is_some_and(|line| line.trim() == "//!") {
            faults.push(format!("{} has no header", source.path));
        }
    }
    report(&faults);
}

#[test]
fn nothing_outside_tests_panics_on_a_missing_value() {
    let mut faults = Vec::new();
    for source in sources() {
        for line in source.code.lines() {
            let panics = [".unwrap()", ".expect(", ".unwrap_err()", ".expect_err(", "todo!(", "unimplemented!("];
            let excused = PANICS.iter().any(|(path, part, _)| *path == source.path && line.contains(part));
            if panics.iter().any(|call| line.contains(call)) && !excused {
                faults.push(format!("{}: {}", source.path, line.trim()));
            }
        }
    }
    report(&faults);
}

#[test]
fn state_and_update_use_no_outside_thing_and_no_clock() {
    const OUTSIDE: [&str; 13] = [
        "std::fs",
        "std::net",
        "std::io",
        "std::env",
        "std::process",
        "std::thread",
        "tokio",
        // The names of keys are values; reading or writing a terminal is not.
        "crossterm::terminal",
        "crossterm::event::read",
        "crossterm::execute",
        "Instant::now",
        "SystemTime",
        "Timestamp::now",
    ];
    let mut faults = Vec::new();
    for source in sources() {
        if [
            "src/tui/message/",
            "src/tui/state.rs",
            "src/tui/update/",
            "src/tui/help/",
            "src/tui/transcript/",
            "src/tui/pending/",
            "src/tui/pause/",
            "src/tui/ledger.rs",
            "src/tui/approval/",
        ]
        .iter()
        .any(|folder| source.path.starts_with(folder))
        {
            for outside in OUTSIDE.iter().filter(|outside| source.code.contains(**outside)) {
                faults.push(format!("{} uses {outside}", source.path));
            }
        }
    }
    report(&faults);
}

// A time of day that jumps would let a key answer a question that nobody can have read.
#[test]
fn waits_and_rules_count_with_a_clock_that_nobody_can_set() {
    let counts = |source: &Source| {
        ["src/tui/", "src/core/approval/", "src/core/control/"].iter().any(|folder| source.path.starts_with(folder))
    };
    let dated = ["src/tui/files.rs", "src/tui/run/memory.rs"];
    for source in sources().iter().filter(|source| counts(source) && !dated.contains(&source.path.as_str())) {
        for set in ["Timestamp::now", "SystemTime", "Zoned::now"] {
            assert!(!source.code.contains(set), "{}: {set}; take `clock::now`", source.path);
        }
    }
    let began = jiff::Timestamp::from_second(1_000).unwrap();
    let clock = steersman_base::clock::SteadyClock::new(began, jiff::SignedDuration::from_secs(50));
    let later = clock.at(jiff::SignedDuration::from_millis(50_349));
    // Whatever the time of day reads by then, a question shown at the beginning takes no key yet.
    let mut questions = steersman_tui::approval::Questions::default();
    questions.note_input(began);
    assert!(!questions.is_quiet(later) && questions.is_quiet(clock.at(jiff::SignedDuration::from_millis(50_351))));
}

/// What starts a process: everything that starts one outside of the sandbox takes an `OutsideCommand`, which is checked.
#[test]
fn nothing_starts_a_process_outside_of_the_sandbox_unchecked() {
    // The check itself; the guard, which starts what it was given; the sandbox, which starts what it confines; the starter
    // of the guard.
    let makers = ["outside.rs", "guard.rs", "spawner.rs", "sandbox/inner.rs", "sandbox/namespaces.rs"];
    let makers = makers.map(|file| format!("src/tools/workspace/{file}"));
    let mut checked = 0;
    for source in sources() {
        let is_whole = |at: usize| !source.code[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        let makes = source.code.match_indices("Command::new(").filter(|(at, _)| is_whole(*at)).count();
        assert!(makes <= usize::from(makers.contains(&source.path)), "{}: {makes} commands", source.path);
        for (at, _) in source.code.match_indices("Command::from(") {
            let rest = &source.code[at..source.code[at..].find('\n').map_or(source.code.len(), |end| at + end)];
            assert!(rest.contains("utside") && rest.contains(".command()"), "{}: {rest}", source.path);
            checked += 1;
        }
        let unconfined = source.code.matches("start_unconfined(").count();
        let may = ["src/tools/workspace/spawner.rs", "src/session/host/shell.rs"].contains(&source.path.as_str());
        assert!(unconfined == usize::from(may), "{}: only what the user types", source.path);
        assert!(!source.code.contains("posix_spawn"), "{}", source.path);
    }
    assert!(checked >= 3, "the sources are not where this test looks");
}
