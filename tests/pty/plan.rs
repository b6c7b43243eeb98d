//! The plan in the real program: the user changes it while the agent works, accepts it, and nothing is written before.

use crate::support::server::{Gate, Reply, Server};
use crate::support::terminal::Start;

const ARMED: &str = "● ready";
const ALT_X: &str = "\x1bx";
const ALT_S: &str = "\x1bs";

fn plan(id: &str, more: &str) -> Reply {
    let steps = r#"[{"text": "read a.txt", "state": "running"}, {"text": "write b.txt", "state": "pending"}]"#;
    let arguments = format!(r#"{{"steps": {steps}{more}}}"#);
    Reply::calls(&[(id, "plan", arguments.as_str())])
}

fn project() -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join("a.txt"), "one\n").unwrap();
    project
}

#[test]
fn a_step_that_is_added_while_the_agent_works_reaches_it_at_the_next_boundary() {
    let gate = Gate::new();
    let server = Server::start([]);
    server.reply(plan("c1", ""));
    server.reply(Reply::calls(&[("c2", "read", r#"{"path":"a.txt"}"#)]).gated(&gate));
    server.reply_text("the answer");
    let project = project();
    let mut terminal = Start::against(&server).cwd(project.path()).run();
    terminal.send("go\r");
    gate.wait_reached();
    terminal.send(ALT_X);
    terminal.wait_for("[>] read a.txt");
    terminal.send("\x1b[B");
    terminal.send("x");
    terminal.wait_for("[-] write b.txt");
    terminal.send("a");
    terminal.wait_for("a new step of the plan");
    terminal.send("say what it is for\r");
    let screen = terminal.wait_for("[ ] say what it is for");
    assert!(screen.contains("not sent yet: 1 step added, 1 struck out"), "{screen}");
    terminal.send("\x1b");
    terminal.wait_for("plan: 1 step added, 1 struck out");
    gate.open();
    terminal.wait_for("the answer");
    let chat = server.chats().pop().unwrap();
    let told = chat.texts("user").pop().unwrap();
    assert!(told.contains("s2 is struck out, do not do it: write b.txt"), "{told}");
    assert!(told.contains("s3 is new, behind s2: say what it is for"), "{told}");
}

#[test]
fn in_plan_mode_nothing_is_written_before_the_plan_is_accepted() {
    let server = Server::start([]);
    server.reply(Reply::calls(&[("c1", "write", r#"{"path":"b.txt","content":"x"}"#)]));
    server.reply(plan("c2", r#", "submit": true"#));
    server.reply(Reply::calls(&[("c3", "write", r#"{"path":"b.txt","content":"x"}"#)]));
    server.reply_text("the answer");
    let project = project();
    let mut terminal = Start::against(&server).cwd(project.path()).run();
    terminal.wait_for("asks before changes");
    terminal.send("/mode plan\r");
    terminal.wait_for("plans, reads only");
    terminal.send("go\r");
    let screen = terminal.wait_for("Accept this plan?");
    assert!(screen.contains("[ ] s2 write b.txt"), "{screen}");
    assert!(!project.path().join("b.txt").exists());
    terminal.wait_for(ARMED);
    terminal.send(ALT_S);
    terminal.wait_for("the answer");
    assert_eq!(std::fs::read_to_string(project.path().join("b.txt")).unwrap(), "x");
    terminal.wait_for("edits without asking");
}
