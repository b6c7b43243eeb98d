//! What the README and the manual promise about the tree: their paths exist, their tables are the program's own, and the
//! commands are the ones that work.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use steersman_base::manual::MANUAL;

fn root() -> &'static Path {
    crate::support::root()
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

/// Returns the README and the pages of the manual, each with the directory that its links start from.
fn documents() -> Vec<(PathBuf, String)> {
    let pages = MANUAL.iter().map(|page| (root().join("assets/manual"), page.text.to_owned()));
    std::iter::once((root().to_owned(), readme())).chain(pages).collect()
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
fn every_path_that_they_link_to_exists() {
    for (directory, text) in documents() {
        let missing: Vec<&str> = links(&text).into_iter().filter(|path| !directory.join(path).exists()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

#[test]
fn the_readme_names_every_page_of_the_manual_and_the_manual_has_every_file() {
    let text = readme();
    let mut files: Vec<String> = fs::read_dir(root().join("assets/manual"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut pages: Vec<String> = MANUAL.iter().map(|page| format!("{}.md", page.topic)).collect();
    for page in &pages {
        assert!(text.contains(&format!("(assets/manual/{page})")), "the README does not name {page}");
    }
    files.sort();
    pages.sort();
    assert_eq!(files, pages);
}

/// Returns the source files below a directory.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn the_paths_that_headers_of_files_name_exist() {
    let mut missing = Vec::new();
    for file in sources(&root().join("src")).into_iter().chain(sources(&root().join("tests"))) {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let header: String = text.lines().take_while(|line| line.starts_with("//!")).collect();
        let paths =
            header.split('`').skip(1).step_by(2).filter(|word| word.starts_with("src/") || word.starts_with("tests/"));
        let is_path = |path: &&str| Path::new(path).extension().is_some_and(|end| end == "rs");
        missing.extend(
            paths
                .filter(is_path)
                .filter(|path| !root().join(path).exists())
                .map(|path| format!("{}: {path}", file.display())),
        );
    }
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_lists_of_where_things_are_name_each_file_and_none_that_does_not_exist() {
    let mut named = BTreeSet::new();
    let is_code = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "rs");
    let files: Vec<PathBuf> = sources(&root().join("src")).into_iter().filter(is_code).collect();
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let Some((_, list)) = text.split_once("//! # Where things are\n") else { continue };
        let list: String = list.lines().take_while(|line| line.starts_with("//!")).collect();
        let folder = match file.file_name().and_then(|name| name.to_str()) {
            Some("mod.rs" | "lib.rs") => file.parent().unwrap().to_owned(),
            _ => file.with_extension(""),
        };
        // Files at the top of `src` are the program's.
        let part = file.strip_prefix(root().join("src")).unwrap().components().next().unwrap();
        let is_crate = root().join("src").join(part).is_dir();
        let tests = root().join("tests").join(if is_crate { part.as_os_str() } else { "program".as_ref() });
        for item in list.split("//! - ") {
            // Behind `tests:` stand the tests, up to the next part of the item.
            let mut parts = item.split("tests:");
            let mut files = vec![(parts.next().unwrap_or_default(), &folder)];
            for part in parts {
                let (of_tests, others) = part.split_once(';').unwrap_or((part, ""));
                files.extend([(of_tests, &tests), (others, &folder)]);
            }
            for (text, place) in files {
                let names = text.split('`').skip(1).step_by(2).filter(|word| !word.contains(' '));
                for path in names.filter(|word| Path::new(word).extension().is_some_and(|end| end == "rs")) {
                    let found = [place.join(path), root().join(path)].iter().find_map(|path| path.canonicalize().ok());
                    named.insert(
                        found.unwrap_or_else(|| panic!("{}: no {path} in {}", file.display(), place.display())),
                    );
                }
            }
        }
    }
    // The folder's own file is found by its folder, and tests by what they test.
    let has_own_name = |file: &&PathBuf| {
        !["mod.rs", "lib.rs", "main.rs", "tests.rs"]
            .iter()
            .any(|name| file.file_name().is_some_and(|file| file == *name))
    };
    let is_named = |file: &PathBuf| named.contains(&file.canonicalize().unwrap());
    let unnamed: Vec<&PathBuf> = files.iter().filter(has_own_name).filter(|file| !is_named(file)).collect();
    assert!(unnamed.is_empty(), "they stand in no list of where things are: {unnamed:?}");
}

#[test]
fn two_commands_run_the_program_and_the_tests() {
    let text = readme();
    let start = section(&text, "## Start").join("\n");
    let commands: Vec<&str> = start.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(commands, ["cargo run --release\n", "cargo test\n"]);
}
