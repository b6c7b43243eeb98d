//! How jobs end: by a stop, with the session, with the sub-agent that started them, and with `exec`.

use std::time::Instant;

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use steersman_base::event::{Event, JobEnding, JobOwner};
use steersman_base::id::AgentId;
use steersman_base::message::Arguments;
use steersman_core::tool::BackgroundJobs as _;

use super::{PATIENCE, Site, gone};
use crate::support::processes::{alive, unique};
use crate::support::program::{Program, stdout};
use crate::support::server::{Reply, Server};

#[tokio::test]
async fn a_stop_ends_a_whole_tree_that_ignores_every_request_to_end() {
    let site = Site::new();
    let mark = unique();
    site.start(&format!(
        "trap '' TERM INT HUP; (M={mark} setsid sleep 300 &); echo up {mark}; while :; do sleep 1; done"
    ))
    .await;
    site.wait_for("up ").await;
    assert!(!alive(&mark).is_empty());
    let said = site.ok("job_stop", json!({"job": "j1"})).await;
    assert!(said.contains(": stopped]\n"), "{said}");
    gone(&mark).await;
    assert_eq!(site.end().await.ending, JobEnding::Stopped);
}

#[tokio::test]
async fn every_job_ends_with_the_session_and_no_other_starts_any_more() {
    let site = Site::new();
    let mark = unique();
    for _ in 0..3 {
        site.start(&format!("trap '' TERM; M={mark} sleep 300 & wait; M={mark} sleep 300")).await;
    }
    assert_eq!(site.jobs().running(), 3);
    site.jobs().end_all().await;
    assert_eq!(site.jobs().running(), 0);
    gone(&mark).await;
    assert_eq!(site.end().await.ending, JobEnding::Interrupted);
    assert_eq!(site.fail("bash", json!({"command": "true", "background": true})).await, "the session ends");
}

#[tokio::test]
async fn a_job_of_a_sub_agent_ends_with_it_before_its_spawner_hears_the_answer() {
    let site = Site::new();
    let mark = unique();
    let mut context = site.context.clone();
    context.parent = Some(AgentId::main());
    context.asker.agent = "worker 0".into();
    let args = json!({"command": format!("M={mark} sleep 300"), "background": true}).to_string();
    let args = site.tools[0].spec().parameters.validate(&Arguments::parse(&args)).unwrap();
    let told = site.tools[0].execute(args, &context).boxed().await.unwrap();
    assert!(told.contains("; it is ended when you answer, so wait for what you need of it"), "{told}");
    site.start("cat").await;
    let ended = site.jobs().end_of(&"worker 0".into()).await;
    assert_eq!(ended, [format!("j1 (M={mark} sleep 300)")]);
    assert_eq!(site.jobs().running(), 1);
    gone(&mark).await;
    let news = site.jobs().take_news();
    let started = news.iter().find(|news| matches!(news.event, Event::JobStarted(_))).unwrap();
    assert_eq!((started.agent.as_str(), started.parent.clone()), ("worker 0", Some(AgentId::main())));
    assert!(matches!(&started.event, Event::JobStarted(start) if start.owner == JobOwner::Agent));
    assert_eq!(site.jobs().take_notes(&"worker 0".into()), []);
    site.jobs().end_all().await;
}

#[test]
fn the_spawner_of_a_sub_agent_reads_which_of_its_jobs_were_ended() {
    let mark = unique();
    let command = json!({"command": format!("M={mark} sleep 300"), "background": true}).to_string();
    let server = Server::start([
        Reply::calls(&[("c1", "agent", r#"{"name":"worker","task":"Serve."}"#)]),
        Reply::calls(&[("c2", "bash", &command)]),
        Reply::text("The server runs."),
        Reply::text("Done."),
    ]);
    let program = Program::new().args(["exec", "--yes", "--base-url", &server.url(), "--model", "m", "serve"]);
    let output = program.output();
    let chats = server.chats();
    let answer = chats[3].texts("tool").join("\n");
    let ended =
        format!("The server runs.\n\n[ended with the agent, as it ran in the background: j1 (M={mark} sleep 300)]");
    assert!(answer.contains(&ended), "{answer} {}", stdout(&output));
}

#[test]
fn exec_tells_of_jobs_in_its_lines_and_ends_them_before_its_last_one() {
    let mark = unique();
    let command = format!("echo made > made.txt; echo up; M={mark} sleep 300");
    let arguments = json!({"command": command, "background": true}).to_string();
    let server = Server::start([
        Reply::calls(&[("c1", "bash", &arguments)]),
        Reply::calls(&[("c2", "job_output", r#"{"job":"j1","wait_for":"up"}"#)]),
        Reply::text("It runs."),
    ]);
    let program =
        Program::new().args(["exec", "--json", "--yes", "--base-url", &server.url(), "--model", "m", "serve"]);
    let output = program.output();
    let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["event"]["type"].as_str().unwrap()).collect();
    let place =
        |kind: &str| kinds.iter().position(|known| *known == kind).unwrap_or_else(|| panic!("{kind}: {kinds:?}"));
    let started = &lines[place("job_started")]["event"];
    assert_eq!((&started["id"], &started["owner"], &started["call"]), (&json!("j1"), &json!("agent"), &json!("c1")));
    let ended = &lines[place("job_ended")]["event"];
    assert_eq!((&ended["ending"], &ended["output"]), (&json!("interrupted"), &json!("up\n")));
    assert_eq!(ended["end"]["touched"]["partial"], json!(true), "nobody looks for files when the session ends");
    assert_eq!(kinds.last(), Some(&"session_ended"));
    assert!(place("turn_ended") < place("job_ended"), "it goes on behind the turn");
    let began = Instant::now();
    while !alive(&mark).is_empty() {
        assert!(began.elapsed() < PATIENCE, "{:?}", alive(&mark));
        std::thread::yield_now();
    }
}
