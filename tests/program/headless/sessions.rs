//! Sessions of scripts: a name given by the script, a new session with all of an old one.

use steersman_base::details::{Undo, UndoneFile};
use steersman_base::event::{Event, Outcome};
use steersman_session::journal::{SessionFile, SessionFiles};
use tempfile::TempDir;

use super::{exec, lines};
use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::saved::Saved;
use crate::support::server::{Reply, Server};

const NAME: &str = "0198c9a2-6e1b-7abc-8def-0123456789ab";

fn within(home: TempDir, server: &Server) -> Program {
    Program::within(home).args(["exec", "--base-url", &server.url(), "--model", "m", "--sandbox", "off"])
}

pub fn saved(home: &TempDir) -> Vec<SessionFile> {
    SessionFiles::within(&home.path().join(".local/state/steersman")).list().unwrap()
}

#[test]
fn a_session_gets_the_name_that_is_given_once() {
    let server = Server::start([Reply::text("one")]);
    let program = exec(&server).args(["--json", "--session-id", NAME, "hello"]);
    let (output, home) = program.output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert!(lines(&stdout(&output)).iter().all(|line| line["session"] == NAME));
    assert_eq!(saved(&home)[0].session.as_str(), NAME);
    let output = within(home, &server).args(["--session-id", NAME, "hello"]).output();
    assert_eq!(exit_code(&output), 2);
    assert!(stderr(&output).contains("there is a session 0198c9a2"), "{}", stderr(&output));
    let output = exec(&server).args(["--session-id", "../../etc", "hello"]).output();
    assert_eq!((exit_code(&output), server.chats().len()), (2, 1));
    assert!(stderr(&output).contains("it must be a UUID"), "{}", stderr(&output));
}

#[test]
fn a_fork_begins_with_all_of_a_session_that_stays_as_it_is() {
    let server = Server::start([Reply::text("the first answer"), Reply::text("the second answer")]);
    let (output, home) = exec(&server).args(["--session-id", NAME, "the first question"]).output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let before = std::fs::read(&saved(&home)[0].path).unwrap();
    let program = within(home, &server).args(["--fork", "0198c9a2", "--output", "result", "and then?"]);
    let (output, home) = program.output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert_eq!(server.chats()[1].texts("user"), ["the first question", "and then?"]);
    let files = saved(&home);
    assert_eq!(files.len(), 2);
    let (old, new): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.session.as_str() == NAME);
    assert_eq!(std::fs::read(&old[0].path).unwrap(), before);
    let parent = new[0].header().unwrap().parent.unwrap();
    assert_eq!((parent.session.as_str(), parent.before), (NAME, None));
    let output = within(home, &server).args(["--fork", "ffff", "hello"]).output();
    assert_eq!(exit_code(&output), 2);
    let output = exec(&server).args(["--fork", NAME, "--ephemeral", "hello"]).output();
    assert_eq!(exit_code(&output), 2);
}

#[test]
fn an_undo_that_the_model_was_not_told_of_is_told_when_the_session_goes_on() {
    let saved = Saved::new();
    let undone = |path: &str| Event::ChangesUndone {
        turn: Some(1),
        files: vec![UndoneFile { path: path.to_owned(), undo: Undo::Removed }],
    };
    let file = saved.session(|play| {
        play.event("", Event::TurnStarted { turn: 1 });
        play.event("", undone("told.rs"));
        play.user("m1", "write it", None);
        play.answer("", "Written.");
        play.event("", Event::TurnEnded { turn: 1, outcome: Outcome::Completed, message: None });
        play.event("", undone("a.rs"));
    });
    let server = Server::start([Reply::text("I see.")]);
    let program = exec(&server);
    let sessions = program.home().join(".local/state/steersman/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    std::fs::copy(&file.path, sessions.join(file.path.file_name().unwrap())).unwrap();
    let output = program.args(["--fork", file.session.as_str(), "go on"]).output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let told = server.chats()[0].texts("system").join("\n");
    assert!(told.contains("a.rs is as it was before turn 1") && !told.contains("told.rs"), "{told}");
}
