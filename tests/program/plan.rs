//! Stories of the plan as a part of the session: requests, journal, resume, exports, and runs without a screen.

use std::time::Duration;

use serde_json::{Value, json};
use steersman_base::event::{Delivery, Event};
use steersman_base::id::AgentId;
use steersman_base::plan::{PlanRefused, StepState};
use steersman_base::protocol::{ClientId, Numbered, Reply, Request};
use steersman_base::steering::Framing;
use steersman_core::listener::Listener;
use steersman_core::provider::Played;
use steersman_session::Requests;
use steersman_session::host::{self, LastRun, Setup};
use steersman_session::journal::{read_records, restore};
use steersman_session::model::RunState;
use tempfile::TempDir;

use crate::support::bench::setup;
use crate::support::doubles::{Rig, within};
use crate::support::framed::user_texts;
use crate::support::journals::{Disk, journal};
use crate::support::plans::{add, mark, writes};
use crate::support::program::{Program, stdout};
use crate::support::server::{Reply as HttpReply, Server};

const PATIENCE: Duration = Duration::from_mins(1);

fn main() -> AgentId {
    AgentId::main()
}

/// Runs a turn in which the agent writes a plan of two steps, then the user strikes the second one out.
async fn written(listener: std::sync::Arc<dyn Listener>) {
    let rig = Rig::new([writes("p1", &[("done", "read"), ("pending", "write")]), Played::text("Done.")]);
    let dir = TempDir::new().unwrap();
    let mut setup = Setup { framing: Framing::Framed, ..setup(&rig, &dir) };
    setup.listeners.push(listener);
    let mut host = host::start(&tokio::runtime::Handle::current(), setup);
    host.handle().inject_user_message(&main(), ("Go.", Delivery::Steer)).unwrap();
    assert_eq!(within(PATIENCE, "it settles", host.settled()).await, Ok(LastRun::Answered));
    host.handle().edit_plan(&main(), &mark("s2", StepState::StruckOut), Some(ClientId::new("attach 1"))).unwrap();
    host.shutdown(PATIENCE).await;
}

#[tokio::test]
async fn a_resumed_session_has_the_plan_and_what_was_not_told_yet() {
    let disk = Disk::default();
    let recorded = journal(&disk);
    written(std::sync::Arc::new(recorded.clone())).await;
    recorded.close();
    let resumed = restore(read_records(disk.bytes().as_slice()).unwrap().records);
    // A client that folds the same record knows the same.
    let mut run = RunState::default();
    for envelope in &resumed.envelopes {
        run.apply(envelope);
    }
    let list = "[x] s1 read\n[-] s2 write";
    assert_eq!(run.plans.get(&main()).unwrap().plan.checklist(), list);
    assert_eq!(run.plans.waiting().collect::<Vec<_>>(), [(&main(), "1 step struck out".to_owned())]);

    let (rig, dir) = (Rig::new([Played::text("I see.")]), TempDir::new().unwrap());
    let setup = Setup { framing: Framing::Framed, resumed: Some(Box::new(resumed)), ..setup(&rig, &dir) };
    let mut host = host::start(&tokio::runtime::Handle::current(), setup);
    assert_eq!(within(PATIENCE, "it settles", host.settled()).await, Ok(LastRun::None));
    assert_eq!(host.handle().plans().of(&main()).checklist(), list);
    host.handle().inject_user_message(&main(), ("Go on.", Delivery::Steer)).unwrap();
    assert_eq!(within(PATIENCE, "it settles", host.settled()).await, Ok(LastRun::Answered));
    let told = user_texts(&rig).pop().unwrap();
    assert!(told.contains("s2 is struck out") && told.contains(list), "{told}");
    // The next id is a new one.
    host.handle().edit_plan(&main(), &add("ship", None), None).unwrap();
    assert!(host.handle().plans().of(&main()).checklist().ends_with("[ ] s3 ship"));
    host.shutdown(PATIENCE).await;
}

#[tokio::test]
async fn a_reset_empties_the_plan() {
    let rig = Rig::new([writes("p1", &[("done", "read")]), Played::text("Done.")]);
    let dir = TempDir::new().unwrap();
    let mut host = host::start(&tokio::runtime::Handle::current(), setup(&rig, &dir));
    host.handle().inject_user_message(&main(), ("Go.", Delivery::Steer)).unwrap();
    assert_eq!(within(PATIENCE, "it settles", host.settled()).await, Ok(LastRun::Answered));
    let mut run = RunState::default();
    let fold = |run: &mut RunState| {
        for envelope in rig.recorder.envelopes() {
            run.apply(&envelope);
        }
    };
    fold(&mut run);
    assert!(run.plans.get(&main()).is_some());
    host.handle().request(host::Command::Reset);
    let emptied = async {
        while !host.handle().plans().of(&main()).is_empty() {
            tokio::task::yield_now().await;
        }
    };
    within(PATIENCE, "the plan is emptied", emptied).await;
    let mut run = RunState::default();
    fold(&mut run);
    assert!(run.plans.get(&main()).is_none());
    host.shutdown(PATIENCE).await;
}

#[tokio::test]
async fn a_change_that_is_sent_twice_is_made_once_and_a_plan_that_cannot_be_changed_says_why() {
    let (rig, dir) = (Rig::new([]), TempDir::new().unwrap());
    let mut host = host::start(&tokio::runtime::Handle::current(), setup(&rig, &dir));
    let requests = Requests::new(host.handle().clone());
    let ask = |number, agent: &str| {
        let request = Request::EditPlan { agent: AgentId::new(agent), edit: add("read", None) };
        let reply = requests.carry_out(Numbered { client: ClientId::new("attach 1"), number, request });
        match reply {
            Some(Reply::PlanEdited { outcome, .. }) => outcome,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(within(PATIENCE, "it settles", host.settled()).await, Ok(LastRun::None));
    assert_eq!([ask(1, ""), ask(1, ""), ask(1, "")], [Ok(()), Ok(()), Ok(())]);
    assert_eq!(host.handle().plans().of(&main()).checklist(), "[ ] s1 read");
    assert_eq!(ask(2, "worker 7"), Err(PlanRefused::Ended));
    let told = rig.events().into_iter().filter_map(|event| match event {
        Event::PlanChanged(changed) => Some(changed.sender),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [Some(ClientId::new("attach 1"))]);
    host.shutdown(PATIENCE).await;
}

fn exec(server: &Server, more: &[&str]) -> Program {
    let all = ["exec", "--base-url", &server.url(), "--model", "m", "--sandbox", "off"].map(str::to_owned);
    let program = Program::new();
    program.args(all.iter().map(String::as_str).chain(more.iter().copied()))
}

fn plan_call(id: &str, more: &str) -> HttpReply {
    let arguments = format!(r#"{{"steps": [{{"text": "write a.txt", "state": "running"}}]{more}}}"#);
    HttpReply::calls(&[(id, "plan", arguments.as_str())])
}

#[test]
fn exec_tells_a_line_for_each_change_and_its_json_has_the_plan() {
    let server = Server::start([plan_call("p1", ""), HttpReply::text("Done.")]);
    let output = exec(&server, &["go"]).output();
    let told = crate::support::program::stderr(&output);
    assert!(told.contains("plan: 1 step added; 0 of 1 done"), "{told}");

    let server = Server::start([plan_call("p1", ""), HttpReply::text("Done.")]);
    let output = stdout(&exec(&server, &["--json", "go"]).output());
    let lines: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let changed = lines.iter().find(|line| line["event"]["type"] == "plan_changed").unwrap();
    let steps = json!([{"id": "s1", "text": "write a.txt", "state": "running"}]);
    assert_eq!((&changed["event"]["by"], &changed["event"]["plan"]["steps"]), (&json!("agent"), &steps));
}

#[test]
fn exec_in_plan_mode_ends_with_the_plan_as_its_answer_and_changes_nothing() {
    let bash = HttpReply::calls(&[("b1", "bash", r#"{"command": "touch made"}"#)]);
    let server = Server::start([bash, plan_call("p1", r#", "submit": true"#)]);
    let program = exec(&server, &["--mode", "plan", "--yes", "go"]);
    let made = program.work().join("made");
    let (output, _home) = program.output_with_home();
    assert_eq!(stdout(&output).trim_end(), "The plan, which nobody was there to accept:\n\n- [>] write a.txt");
    assert_eq!(output.status.code(), Some(0));
    assert!(!made.exists());
    assert_eq!(server.chats().len(), 2, "no further request is made");
}

#[test]
fn a_program_changes_the_plan_by_a_request_and_accepts_it_by_an_answer() {
    let server = Server::start([plan_call("p1", r#", "submit": true"#), HttpReply::text("Done.")]);
    let mut run = exec(&server, &["--json", "--input", "json", "--mode", "plan"]).piped().run();
    run.write("{\"id\": 1, \"type\": \"send\", \"text\": \"go\"}\n");
    let mut number = Value::Null;
    run.wait_for_line(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        number = line["event"]["number"].clone();
        line["event"]["type"] == "question" && line["event"]["kind"] == "plan"
    });
    let edit = json!({"id": 2, "type": "plan", "edit": {"type": "add", "text": "test it"}});
    let answer = json!({"id": 3, "type": "answer", "question": number, "answer": "session"});
    run.write(&format!("{edit}\n{answer}\n{}\n", json!({"id": 4, "type": "end"})));
    let end = run.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    let last = server.chats().pop().unwrap();
    let result = &last.texts("tool")[0];
    assert!(result.starts_with("The user accepted the plan. The mode is auto-edit now"), "{result}");
    assert!(
        last.texts("user").iter().any(|text| text.contains("s2 is new, behind s1: test it")),
        "{:?}",
        last.texts("user")
    );
}
