//! What the README promises about the tree: its paths exist, and its commands are the ones that work.

use std::fs;
use std::path::Path;

fn readme() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

/// Returns the lines of a section, from its heading to the next one of the same level.
fn section<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    let lines: Vec<&str> = text.lines().skip_while(|line| *line != heading).skip(1).collect();
    assert!(!lines.is_empty(), "no section {heading}");
    lines.into_iter().take_while(|line| !line.starts_with("## ")).collect()
}

/// Returns the targets of the links in a text that lead into the tree.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://") && !target.starts_with('#')).collect()
}

#[test]
fn every_path_that_it_links_to_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = readme();
    let missing: Vec<&str> = links(&text).into_iter().filter(|path| !root.join(path).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_table_of_places_names_for_each_behaviour_a_source_and_a_test() {
    let text = readme();
    let rows: Vec<&str> = section(&text, "## Where is…?").into_iter().filter(|line| line.starts_with("| ")).collect();
    // The first row is the head of the table.
    assert!(rows.len() > 10, "{rows:?}");
    for row in &rows[1..] {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [_, source, story] = cells[..] else { panic!("not three cells: {row}") };
        assert!(links(source).iter().any(|path| path.starts_with("src/")), "no source: {row}");
        assert!(story.is_empty() || links(story).iter().all(|path| path.starts_with("tests/")), "no test: {row}");
        // What is shown is what is linked.
        for link in links(row) {
            assert!(row.contains(&format!("[`{link}`]({link})")), "{row}");
        }
    }
}

#[test]
fn two_commands_run_the_program_and_the_tests() {
    let text = readme();
    let start = section(&text, "## Start").join("\n");
    let commands: Vec<&str> = start.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(commands, ["cargo run --release\n", "cargo test\n"]);
}
