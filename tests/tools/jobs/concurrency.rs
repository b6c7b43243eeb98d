//! How many commands run at once: those of a batch side by side or one after the other, and no more jobs than allowed.

use std::sync::Arc;

use serde_json::json;
use steersman_base::limits;
use steersman_core::approval::{Answer, Mode};
use steersman_core::provider::Played;
use steersman_core::tool::BackgroundJobs as _;

use super::{PATIENCE, Site, agent_with, gone, played, within_patience};
use crate::support::doubles::{Rig, run};
use crate::support::processes::{alive, unique, wait_until};

#[tokio::test]
async fn no_more_jobs_run_than_allowed_and_one_that_is_stopped_makes_room() {
    let site = Site::new();
    for _ in 0..limits::BACKGROUND_JOBS {
        site.start("cat").await;
    }
    let sentence = site.fail("bash", json!({"command": "cat", "background": true})).await;
    assert!(sentence.starts_with("16 commands run in the background, and no more may"), "{sentence}");
    site.ok("job_stop", json!({"job": "j3"})).await;
    assert!(site.start("cat").await.starts_with("[j17 runs"));
    site.jobs().end_all().await;
}

#[tokio::test]
async fn commands_that_run_unasked_run_beside_each_other_and_their_results_stay_in_order() {
    let site = Site::new();
    let work = site.dir.path().join("work");
    // Each ends only when the other runs too.
    let meets = |own: &str, other: &str| {
        json!({"command": format!("touch {own}; while [ ! -e {other} ]; do sleep 0.02; done; echo {own}"), "timeout": 20, "parallel": true})
            .to_string()
    };
    let call = |id: &str, arguments: String| (id.to_owned(), "bash".to_owned(), arguments);
    let rig = Rig::new([
        played(&[call("c1", meets("left", "right")), call("c2", meets("right", "left"))]),
        Played::text("Done."),
    ]);
    let agent = agent_with(&rig, &site).await;
    within_patience(run(agent, "Go.")).await;
    assert!(work.join("left").exists());
    let lines = rig.last_request().lines();
    assert_eq!(lines[lines.len() - 2..], ["tool#c1: left\n", "tool#c2: right\n"]);
}

#[tokio::test]
async fn a_command_that_may_build_on_another_one_waits_for_it() {
    let site = Site::new();
    let call = |id: &str, command: &str| (id.to_owned(), "bash".to_owned(), json!({"command": command}).to_string());
    let rig = Rig::new([
        played(&[
            call("c1", "sleep 0.3; echo new > made"),
            call("c2", "cat made"),
            call("c3", "cat made; ls"),
            call("c4", "echo more >> made"),
        ]),
        Played::text("Done."),
    ]);
    let agent = agent_with(&rig, &site).await;
    within_patience(run(agent, "Go.")).await;
    let lines = rig.last_request().lines();
    assert_eq!(lines[lines.len() - 3..lines.len() - 1], ["tool#c2: new\n", "tool#c3: new\nmade\n"], "{lines:?}");
    let lines = rig.event_lines();
    let place =
        |line: &str| lines.iter().position(|told| told.starts_with(line)).unwrap_or_else(|| panic!("{lines:?}"));
    assert!(place("result c1") < place("call c2") && place("call c3") < place("result c2"), "{lines:?}");
    assert!(place("result c3") < place("call c4"), "{lines:?}");
}

#[tokio::test]
async fn commands_that_are_asked_about_run_one_after_the_other() {
    let site = Site::in_mode(Mode::Ask);
    let call = |id: &str| (id.to_owned(), "bash".to_owned(), r#"{"command":"echo x","parallel":true}"#.to_owned());
    let rig = Rig::new([played(&[call("c1"), call("c2")]), Played::text("Done.")]);
    let agent = agent_with(&rig, &site).await;
    let approvals = Arc::clone(&site.context.approvals);
    let answers = async {
        for _ in 0..2 {
            wait_until("a question", PATIENCE, || !approvals.open().is_empty()).await;
            assert_eq!(approvals.open().len(), 1);
            assert!(approvals.answer(approvals.open()[0].id, Answer::Once));
        }
    };
    tokio::join!(within_patience(run(agent, "Go.")), answers);
}

#[tokio::test]
async fn a_stop_ends_all_commands_of_a_batch() {
    let site = Site::new();
    let mark = unique();
    let call = |id: &str| {
        let arguments = json!({"command": format!("echo up; M={mark} sleep 300"), "parallel": true}).to_string();
        (id.to_owned(), "bash".to_owned(), arguments)
    };
    let rig = Rig::new([played(&[call("c1"), call("c2"), call("c3")])]);
    let agent = agent_with(&rig, &site).await;
    let running = run(agent, "Go.");
    wait_until("three commands", PATIENCE, || alive(&mark).len() >= 6).await;
    rig.cancellable.cancel();
    let (_, result) = running.end_within(PATIENCE).await;
    assert!(result.is_err());
    gone(&mark).await;
}
