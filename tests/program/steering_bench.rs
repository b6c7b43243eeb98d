//! The benchmark of hosts: its scores find each fault of a host, and of a model, that is bad on purpose, and nothing else.
//!
//! `tests/bench/steering/run self-test` needs neither network nor an emulator; the models that it scripts are asked by the real program.

use std::process::Command;

use crate::support::skip::{Need, skip};

#[test]
fn the_benchmark_of_hosts_finds_each_fault_and_nothing_else() {
    let run = crate::support::root().join("tests/bench/steering/run");
    let mut command = Command::new("python3");
    command.arg(run).arg("self-test").env("STEERSMAN_BIN", env!("CARGO_BIN_EXE_steersman"));
    let Ok(output) = command.output() else { return skip(Need::Program("python3"), "the benchmark of hosts") };

    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{error}");
    assert!(text.contains("as expected: lose at tool") && text.contains("as expected: a model that drops"), "{text}");
}
