//! `exec` where a program was killed while its command ran: what that changed is decided about before anything runs.

use std::fs;
use std::path::Path;

use crate::support::cut_off::{CHANGED, cut_off};
use crate::support::program::{Program, exit_code, stderr};
use crate::support::server::{Reply, Server};

fn is_kept(home: &Path) -> bool {
    let changed = fs::read_dir(home.join(".local/state/steersman/changed")).into_iter().flatten().flatten();
    let files = changed.flat_map(|directory| fs::read_dir(directory.path()).unwrap().flatten());
    files.map(|file| fs::read_to_string(file.path()).unwrap()).any(|text| text.contains("fsmonitor = evil"))
}

fn is_forgotten(home: &Path) -> bool {
    fs::read_dir(home.join(".local/state/steersman/commands")).unwrap().count() == 0
}

#[test]
fn where_nobody_can_be_asked_it_is_put_back_and_said() {
    let Some(home) = cut_off() else { return };
    let server = Server::start([Reply::text("Done.")]);
    let program = Program::within(home).args(["exec", "--base-url", &server.url(), "--model", "scripted", "hello"]);
    let (output, home) = program.output_with_home();
    let said = stderr(&output);
    assert_eq!(exit_code(&output), 0, "{said}");
    assert!(said.contains(".git/config.worktree, which git or another tool runs"), "{said}");
    assert!(!home.path().join(CHANGED).exists() && is_kept(home.path()) && is_forgotten(home.path()));
}

#[test]
fn where_somebody_steers_it_is_asked_before_the_model_hears_anything() {
    for answer in ["/yes 1\n", "/no 1\n"] {
        let Some(home) = cut_off() else { return };
        let server = Server::start([Reply::text("Done.")]);
        let program = Program::within(home).args(["exec", "--base-url", &server.url(), "--model", "scripted"]);
        let mut run = program.args(["--steer-stdin", "hello"]).piped().run();
        run.wait_for_error("question 1: an earlier start was cut off: keep the change of ");
        run.wait_for_error("fsmonitor = evil");
        run.wait_for_error("answer: /yes 1");
        assert_eq!(server.chats().len(), 0);
        run.write(answer);
        let (end, home) = run.end_with_home();
        assert_eq!((end.code, end.stdout.trim()), (Some(0), "Done."), "{}", end.stderr);
        let is_no = answer.starts_with("/no");
        assert_eq!((home.path().join(CHANGED).exists(), is_kept(home.path())), (!is_no, is_no), "{}", end.stderr);
        assert!(is_forgotten(home.path()));
    }
}

#[test]
fn an_input_that_ended_before_the_question_puts_it_back() {
    let Some(home) = cut_off() else { return };
    let server = Server::start([Reply::text("Done.")]);
    let program = Program::within(home).args(["exec", "--base-url", &server.url(), "--model", "scripted"]);
    let (output, home) = program.args(["--steer-stdin", "hello"]).output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert!(!home.path().join(CHANGED).exists() && is_kept(home.path()), "{}", stderr(&output));
}
