//! Approvals by keys in the real program: a command, a no with words, a change and its undo, the modes.

use std::path::Path;

use crate::support::server::{Reply, Server};
use crate::support::terminal::{Start, Terminal, keys};

const ARMED: &str = "● ready";
const ALT_Y: &str = "\x1by";
const ALT_W: &str = "\x1bw";
const SHIFT_TAB: &str = "\x1b[Z";

/// The program in a project of its own, with a first text sent.
fn start(server: &Server, project: &Path) -> Terminal {
    let mut terminal = Start::against(server).cwd(project).run();
    terminal.send("go\r");
    terminal
}

fn project() -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join("a.txt"), "one\ntwo\nthree\n").unwrap();
    project
}

#[test]
fn a_command_waits_for_alt_y_and_the_model_gets_what_it_printed() {
    let server = Server::start([]);
    server.reply(Reply::calls(&[("c1", "bash", r#"{"command":"echo $((40 + 2)) > made && cat made"}"#)]));
    server.reply_text("the answer");
    let project = project();
    let mut terminal = start(&server, project.path());
    let screen = terminal.wait_for("Run this command?");
    assert!(screen.contains("│ echo $((40 + 2)) > made && cat made"), "{screen}");
    // Neither an early key nor a plain one runs it.
    terminal.send("y");
    terminal.wait_for(ARMED);
    assert!(!project.path().join("made").exists());
    terminal.send(ALT_Y);
    let screen = terminal.wait_for("the answer");
    assert!(screen.contains("approved once") && screen.contains("exit 0"), "{screen}");
    assert_eq!(std::fs::read_to_string(project.path().join("made")).unwrap(), "42\n");
    assert!(server.chats().last().unwrap().texts("tool")[0].contains("42"));
}

#[test]
fn a_no_with_words_reaches_the_model_and_nothing_runs() {
    let server = Server::start([]);
    server.reply(Reply::calls(&[("c1", "bash", r#"{"command":"rm a.txt"}"#)]));
    server.reply_text("the answer");
    let project = project();
    let mut terminal = start(&server, project.path());
    terminal.wait_for(ARMED);
    terminal.send(ALT_W);
    terminal.wait_for("Enter sends your words as a no");
    terminal.send("keep it, I need it\r");
    terminal.wait_for("the answer");
    assert!(project.path().join("a.txt").exists());
    let told = server.chats().last().unwrap().texts("tool");
    assert_eq!(told, ["Error: the user declined this and says: keep it, I need it"]);
    assert!(terminal.screen().contains("declined: keep it, I need it"), "{}", terminal.screen());
}

#[test]
fn a_change_is_shown_as_a_diff_made_on_a_yes_and_taken_back_by_undo() {
    let server = Server::start([]);
    server.reply(Reply::calls(&[("c1", "read", r#"{"path":"a.txt"}"#)]));
    server.reply(Reply::calls(&[("c2", "edit", r#"{"path":"a.txt","old_string":"two","new_string":"2"}"#)]));
    server.reply_text("the answer");
    let project = project();
    let file = project.path().join("a.txt");
    let mut terminal = start(&server, project.path());
    terminal.wait_for("Change this file?");
    let screen = terminal.wait_for(ARMED);
    assert!(screen.contains("│ -two") && screen.contains("│ +2"), "{screen}");
    terminal.send(ALT_Y);
    let screen = terminal.wait_for("the answer");
    assert!(screen.contains("+1 −1") && screen.contains("2 +2"), "{screen}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n2\nthree\n");

    terminal.wait_for("idle");
    terminal.send("/diff\r");
    terminal.wait_for("since the start of the session: +1 −1");
    terminal.send("u");
    terminal.wait_for("Take back all changes of a.txt?");
    let screen = terminal.wait_for(ARMED);
    assert!(screen.contains("a.txt: back to its 14 bytes"), "{screen}");
    terminal.send(ALT_Y);
    terminal.wait_for("undone: 1 file as before");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\nthree\n");
    terminal.send("/undo\r");
    terminal.wait_for("nothing to undo");

    server.reply_text("I see.");
    terminal.send("go on\r");
    terminal.wait_for("I see.");
    let told = server.chats().last().unwrap().texts("system").join("\n");
    assert!(told.contains("a.txt is as it was before its first change"), "{told}");
}

#[test]
fn esc_right_behind_a_letter_stops_nothing_and_a_later_one_is_a_no() {
    let server = Server::start([]);
    server.reply(Reply::calls(&[("c1", "bash", r#"{"command":"touch made"}"#)]));
    let project = project();
    let mut terminal = start(&server, project.path());
    terminal.wait_for(ARMED);
    // A plain key disarms it: this Esc is not for the question, and stops no turn either.
    terminal.send("x");
    terminal.wait_for("○ wait");
    terminal.send(keys::ESC);
    terminal.wait_for("the question has just appeared");
    terminal.wait_for(ARMED);
    server.reply_text("the answer");
    terminal.send(keys::ESC);
    terminal.wait_for("the answer");
    assert!(!project.path().join("made").exists());
}

#[test]
fn shift_tab_switches_the_mode_and_auto_edit_asks_no_more_about_files() {
    let server = Server::start([]);
    let project = project();
    let mut terminal = Start::against(&server).cwd(project.path()).run();
    terminal.wait_for("asks before changes · ");
    terminal.send(SHIFT_TAB);
    terminal.wait_for("mode: auto-edit");
    server.reply(Reply::calls(&[("c1", "read", r#"{"path":"a.txt"}"#)]));
    server.reply(Reply::calls(&[("c2", "edit", r#"{"path":"a.txt","old_string":"two","new_string":"2"}"#)]));
    server.reply_text("the answer");
    terminal.send("go\r");
    terminal.wait_for("the answer");
    assert_eq!(std::fs::read_to_string(project.path().join("a.txt")).unwrap(), "one\n2\nthree\n");
    terminal.send("/mode read-only\r");
    terminal.wait_for("mode: read-only");
}

#[test]
fn forty_brackets_bring_a_question_and_esc_answers_it() {
    let server = Server::start([]);
    let hostile = format!(r#"{{"command":"{}ls"}}"#, "(".repeat(40));
    server.reply(Reply::calls(&[("c1", "bash", &hostile)]));
    server.reply_text("the answer");
    let project = project();
    let mut terminal = start(&server, project.path());
    terminal.wait_for("Run this command?");
    terminal.wait_for(ARMED);
    terminal.send(keys::ESC);
    terminal.wait_for("the answer");
    let told = server.chats().last().unwrap().texts("tool");
    assert_eq!(told, ["Error: the user declined this"]);
}

// On the way to `read-only` the key passes `auto`.
#[test]
fn shift_tab_past_auto_runs_no_open_command_and_read_only_takes_no_yes() {
    let server = Server::start([]);
    server.reply(Reply::calls(&[("c1", "bash", r#"{"command":"touch made"}"#)]));
    server.reply_text("the answer");
    let project = project();
    let mut terminal = start(&server, project.path());
    terminal.wait_for(ARMED);
    while !terminal.screen().contains("mode: read-only") {
        let before = terminal.screen().lines().last().unwrap_or_default().to_owned();
        terminal.send(SHIFT_TAB);
        terminal.wait_gone(&before);
    }
    terminal.wait_for(ARMED);
    assert!(!project.path().join("made").exists());
    terminal.send(ALT_Y);
    terminal.wait_for("the mode is read-only");
    terminal.wait_for("Run this command?");
    assert!(!project.path().join("made").exists());
}

#[test]
fn with_a_standing_yes_commands_run_unasked_and_a_protected_place_is_still_asked_about() {
    let server = Server::start([]);
    server.reply(Reply::calls(&[("c1", "bash", r#"{"command":"touch made"}"#)]));
    server.reply(Reply::calls(&[("c2", "write", r#"{"path":"AGENTS.md","content":"Obey.\n"}"#)]));
    server.reply_text("the answer");
    let project = project();
    let mut terminal = Start::against(&server).arg("--yes").cwd(project.path()).run();
    terminal.send("go\r");
    let screen = terminal.wait_for("Create this file?");
    assert!(screen.contains("AGENTS.md") && project.path().join("made").exists(), "{screen}");
    terminal.wait_for(ARMED);
    assert!(!project.path().join("AGENTS.md").exists());
    terminal.send(ALT_Y);
    terminal.wait_for("the answer");
    assert_eq!(std::fs::read_to_string(project.path().join("AGENTS.md")).unwrap(), "Obey.\n");
}

#[test]
fn what_is_always_allowed_runs_unasked_in_the_next_session_until_its_rule_is_removed() {
    let server = Server::start([]);
    let call = || Reply::calls(&[("c1", "bash", r#"{"command":"seq 3"}"#)]);
    for reply in [call(), Reply::text("first answer"), call(), Reply::text("second answer"), call()] {
        server.reply(reply);
    }
    let (project, state) = (project(), tempfile::tempdir().unwrap());
    let start = || {
        let state = state.path().to_str().unwrap();
        let mut terminal = Start::against(&server).cwd(project.path()).env("XDG_STATE_HOME", state).run();
        terminal.send("go\r");
        terminal
    };
    let mut first = start();
    let screen = first.wait_for(ARMED);
    assert!(screen.contains("3 yes, always for \"seq *\""), "{screen}");
    first.send("3");
    first.wait_for("▸ 3 yes, always");
    first.send("\r");
    let screen = first.wait_for("first answer");
    assert!(screen.contains("kept for this project: bash: seq *"), "{screen}");
    drop(first);

    let mut second = start();
    let screen = second.wait_for("second answer");
    assert!(!screen.contains("Run this command?"), "{screen}");
    second.send("/rules remove 1\r");
    second.wait_for("removed the rule bash: seq *");
    drop(second);
    start().wait_for("Run this command?");
}

#[test]
fn at_the_limit_of_calls_the_screen_asks_and_one_goes_on() {
    let server = Server::start([]);
    server.reply(Reply::calls(&[("c1", "read", r#"{"path":"a.txt"}"#), ("c2", "read", r#"{"path":"a.txt"}"#)]));
    server.reply_text("the answer");
    let project = project();
    let mut terminal = Start::against(&server).arg("--max-steps").arg("1").cwd(project.path()).run();
    terminal.send("go\r");
    let screen = terminal.wait_for(ARMED);
    assert!(screen.contains("1 call made: go on for 1 more, or answer from what was found?"), "{screen}");
    terminal.send("1");
    terminal.wait_for("▸ 1 go on");
    terminal.send("\r");
    terminal.wait_for("the answer");
    assert_eq!(server.chats().last().unwrap().texts("tool").len(), 2);
}
