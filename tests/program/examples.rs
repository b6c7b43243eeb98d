//! The examples: each is run as a program, and says what it says.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::skip::{Need, skip};

const EXAMPLES: [&str; 10] =
    ["typed_tool", "injection", "crew", "provider", "extension", "truffle", "json_lines", "host", "resume", "mcp"];

/// The most lines of an example.
const LINES: usize = 60;

/// Returns the program of an example, where the build has made it: `cargo test` without a target does.
fn program(name: &str) -> Option<PathBuf> {
    let suite = std::env::current_exe().unwrap();
    let program = suite.parent()?.parent()?.join("examples").join(name);
    program.exists().then_some(program)
}

/// Runs an example; of lines of JSON only what is the same each time.
fn said_by(program: &PathBuf) -> String {
    let output = Command::new(program).output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {errors}", program.display());
    let told = said.lines().map(|line| match serde_json::from_str::<Value>(line) {
        Ok(Value::Object(event)) => format!("{{ {} {} }}", event["seq"], event["event"]["type"]),
        Ok(_) | Err(_) => line.to_owned(),
    });
    told.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_example_is_in_the_package() {
    let cargo = Command::new(env!("CARGO"))
        .args(["package", "--list", "-p", "steersman", "--allow-dirty", "--offline"])
        .current_dir(crate::support::root())
        .output()
        .unwrap();
    let listed = String::from_utf8(cargo.stdout).unwrap();
    for name in EXAMPLES {
        let file = format!("tests/examples/{name}.rs");
        assert!(listed.lines().any(|line| line == file), "{file} is not in the package:\n{listed}");
    }
}

#[test]
fn each_example_is_short_and_does_what_it_is_about() {
    let mut said = Vec::new();
    for name in EXAMPLES {
        let Some(program) = program(name) else {
            return skip(Need::Program(name), "the examples are not built");
        };
        said.push(format!("== {name}\n{}", said_by(&program)));
        let path = crate::support::root().join(format!("tests/examples/{name}.rs"));
        let lines = std::fs::read_to_string(path).unwrap().lines().count();
        assert!(lines <= LINES, "{name} has {lines} lines");
    }
    insta::assert_snapshot!(said.join("\n\n"));
}
