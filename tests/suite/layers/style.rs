//! What the text of each source file keeps to: its length, its header, and the calls that must not stand in it, which are
//! those that panic, those that reach outside from the state of the screen, and clocks that can be set.

use super::{Source, report, sources};

/// Files that may be longer than 500 lines, each with its reason.
const LONG_FILES: &[(&str, &str)] = &[];

/// Lines that may panic, as (file, part of the line, why it cannot happen).
const PANICS: &[(&str, &str, &str)] = &[];

#[test]
fn no_file_is_longer_than_500_lines() {
    let mut faults = Vec::new();
    for source in sources() {
        let lines = source.whole.lines().count();
        let excused = LONG_FILES.iter().any(|(path, _)| *path == source.path);
        if lines > 500 && !excused {
            faults.push(format!("{} has {lines} lines: split it by concept", source.path));
        }
        if lines <= 500 && excused {
            faults.push(format!("{} is short enough: take it off the list", source.path));
        }
    }
    report(&faults);
}

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
    let counts = |source: &Source| ["tui", "approval", "control"].contains(&source.module[0].as_str());
    let dated = ["src/tui/files.rs", "src/tui/run/memory.rs"];
    for source in sources().iter().filter(|source| counts(source) && !dated.contains(&source.path.as_str())) {
        for set in ["Timestamp::now", "SystemTime", "Zoned::now"] {
            assert!(!source.code.contains(set), "{}: {set}; take `clock::now`", source.path);
        }
    }
    let began = jiff::Timestamp::from_second(1_000).unwrap();
    let clock = steersman::clock::SteadyClock::new(began, jiff::SignedDuration::from_secs(50));
    let later = clock.at(jiff::SignedDuration::from_millis(50_349));
    // Whatever the time of day reads by then, a question shown at the beginning takes no key yet.
    let mut questions = steersman::tui::approval::Questions::default();
    questions.note_input(began);
    assert!(!questions.is_quiet(later) && questions.is_quiet(clock.at(jiff::SignedDuration::from_millis(50_351))));
}
