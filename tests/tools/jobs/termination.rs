//! How jobs end: by a stop, with the session, with the sub-agent that started them, and with `exec`.

use futures_util::FutureExt as _;
use serde_json::json;
use steersman_base::event::{Event, JobEnding, JobOwner};
use steersman_base::id::AgentId;
use steersman_base::message::Arguments;
use steersman_core::tool::BackgroundJobs as _;

use super::{Site, gone};
use crate::support::processes::{alive, unique};

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
