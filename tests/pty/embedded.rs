//! With nothing configured: the embedded model works on the real files of the directory and can be steered.

use std::fs;
use std::path::Path;

use crate::support::terminal::{Start, keys};

fn project(dir: &Path) {
    fs::create_dir_all(dir.join("src")).unwrap();
    fs::create_dir_all(dir.join("tests")).unwrap();
    fs::write(dir.join("README.md"), "# Tide tables\n\nShows when the water is high.\n").unwrap();
    fs::write(dir.join("src/main.rs"), "fn main() {\n    println!(\"tide\");\n}\n// TODO: moon phases\n").unwrap();
    fs::write(dir.join("src/moon.rs"), "pub fn phase() -> u8 {\n    7\n}\n").unwrap();
    fs::write(dir.join("tests/tides.rs"), "#[test]\nfn high_water() {}\n").unwrap();
}

#[test]
fn a_request_leads_to_a_report_on_the_real_files_by_parallel_sub_agents() {
    let dir = tempfile::tempdir().unwrap();
    project(dir.path());
    let mut terminal = Start::new(["Please look at this project"]).cwd(dir.path()).run();
    terminal.wait_until("two sub-agents", |screen| screen.contains("file_miner 0") && screen.contains("file_miner 1"));
    let text = "focus on moon";
    terminal.send(&format!("{text}\r"));
    terminal.wait_for(text);
    terminal.wait_for("while it worked");
    terminal.wait_for("src/moon.rs");
    // The agents have answered one by one, and a further one was sent after the new focus: the report ends with this.
    terminal.wait_until("the account of the text", |screen| screen.contains("Steering"));
    terminal.wait_for("idle");
    terminal.send(keys::PAGE_UP);
    terminal.send(keys::CTRL_D);
    assert_eq!(terminal.wait_exit(std::time::Duration::from_secs(30)).exit_code(), 0);
}

#[test]
fn the_status_line_says_that_this_is_the_embedded_model_and_how_to_connect_a_real_one() {
    let terminal = Start::new([""; 0]).run();
    let screen = terminal.wait_for("embedded model");
    assert!(screen.contains("F1 says how to connect a real one"), "{screen}");
}

#[test]
fn the_tour_begins_at_the_first_start_alone() {
    let (begun, later) = ("Tour, 1 of 5", "Ask for work on the files");
    let mut first = Start::new([""; 0]).run();
    let screen = first.wait_for(begun);
    assert!(screen.contains("/tour ends it"), "{screen}");
    first.send("/tour\r");
    first.wait_gone(begun);
    first.send(keys::CTRL_D);
    assert_eq!(first.wait_exit(std::time::Duration::from_secs(30)).exit_code(), 0);
    let second = Start::new([""; 0]).env("HOME", first.home().to_str().unwrap()).run();
    second.wait_for("· idle");
    let screen = second.wait_for(later);
    assert!(!screen.contains(begun), "{screen}");
}

/// Returns the step of the tour that the screen shows, without the breaks of its lines.
fn tour(screen: &str) -> Option<String> {
    let rows = screen.lines().skip_while(|row| !row.contains("Tour, ") && !row.contains("That was the tour."));
    let rows = rows
        .take_while(|row| !row.starts_with("──"))
        .map(|row| row.trim_end().trim_end_matches("/tour ends it").trim());
    let words = rows.collect::<Vec<_>>().join(" ");
    (!words.is_empty()).then_some(words)
}

/// Returns what a step says to type and press, in order.
fn told(step: &str) -> Vec<String> {
    let words = step.split_once(": ").map_or(step, |(_, words)| words);
    if let Some((_, example)) = words.split_once("such as: ") {
        return vec![format!("{}\r", example.split(". ").next().unwrap_or(example))];
    }
    if let Some((_, command)) = words.split_once("Ask for a command: ") {
        return vec![format!("{}\r", command.split(". ").next().unwrap())];
    }
    let names = [("F3", "\x1bOR"), ("Down", "\x1b[B"), ("Home", "\x1b[H"), ("Enter", "\r"), ("Alt+H", "\x1bh")];
    let key =
        |word: &str| names.iter().find(|(name, _)| *name == word.trim_matches([',', '.', ';'])).map(|(_, key)| *key);
    words.split(' ').filter_map(key).map(str::to_owned).collect()
}

#[test]
fn the_tour_is_passed_by_doing_just_what_it_says() {
    let dir = tempfile::tempdir().unwrap();
    project(dir.path());
    let mut terminal = Start::new([""; 0]).cwd(dir.path()).size(80, 24).run();
    terminal.wait_for("Tour, 1 of 5");
    let mut last = String::new();
    for _ in 0..40 {
        let known = last.clone();
        let screen = terminal.wait_until("another step, or a question", move |screen| {
            screen.contains("1 yes") || tour(screen).is_some_and(|step| step != known)
        });
        if screen.contains("1 yes") {
            terminal.wait_for("ready: a number, then Enter");
            terminal.send("1\r");
            terminal.wait_gone("1 yes");
            continue;
        }
        let step = tour(&screen).unwrap();
        if step.contains("That was the tour.") {
            return;
        }
        for keys in told(&step) {
            let before = terminal.screen();
            terminal.send(&keys);
            terminal.wait_until("the key did something", |screen| screen != before);
        }
        last = step;
    }
    panic!("the tour does not end: {}", terminal.screen());
}
