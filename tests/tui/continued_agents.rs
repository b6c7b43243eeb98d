//! Stories of finished sub-agents that go on: by the model with `continue`, or by the user's text, of which the parent hears.

use crate::support::kept_agents::Kept;

use serde_json::json;
use steersman_agent::subagent::Persona;
use steersman_base::error::Refused;
use steersman_base::event::{Event, Outcome};
use steersman_base::limits;
use steersman_base::protocol::{Notice, Request, Update};
use steersman_core::provider::Played;
use steersman_session::model::ReceiptState;
use steersman_tui::msg::{Effect, Msg};

use crate::support::doubles::{calls, run};
use crate::support::journals::entry;
use crate::support::stage::Stage;
use crate::support::subagents::{child, persona, spawns};

fn goes_on(call: &str, id: &str, task: &str) -> Played {
    let arguments = json!({"name": "miner", "task": task, "continue": id}).to_string();
    Played::calls(&[(call, "agent", arguments.as_str())])
}

#[tokio::test(start_paused = true)]
async fn the_model_continues_a_finished_agent_with_its_history_and_a_fresh_budget() {
    let script = [spawns(&[("c1", "miner", "Dig.")]), goes_on("c2", "miner 0", "Dig deeper."), Played::text("Done.")];
    let deck = Kept::new(script);
    let looks = |id: &str| calls(&[(id, "look")]);
    deck.rig
        .model
        .route(&child("miner"), [looks("k1"), looks("k2"), Played::text("Gold."), looks("k3"), Played::text("More.")]);
    let miner = Persona { max_steps: 2, ..persona("miner", &["look"]) };
    let agent = deck.parent(vec![miner]).await;
    run(agent, "Go.").answered().await;
    let last = deck.rig.model.requests_of(&child("miner")).last().unwrap().lines();
    for line in ["user: Dig.", "assistant: Gold.", "user: Dig deeper.", "tool#k3: seen"] {
        assert!(last.iter().any(|known| known == line), "{line} is missing: {last:?}");
    }
    assert_eq!(deck.rig.last_request().lines().last().unwrap(), "tool#c2: More.");
    let spawned = deck.rig.events().into_iter().filter_map(|event| match event {
        Event::AgentSpawned { child, .. } => Some(child.to_string()),
        _ => None,
    });
    assert_eq!(spawned.collect::<Vec<_>>(), ["miner 0", "miner 0"]);
    assert_eq!(deck.kept(), ["miner 0"], "it can go on once more");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_cannot_be_continued_is_an_observation_that_names_those_which_can() {
    let script = [
        goes_on("c1", "miner 0", "Dig."),
        spawns(&[("c2", "miner", "Dig.")]),
        goes_on("c3", "miner 7", "Dig."),
        Played::text("Done."),
    ];
    let deck = Kept::new(script);
    deck.rig.model.route(&child("miner"), [Played::text("Gold.")]);
    let agent = deck.parent(vec![persona("miner", &[])]).await;
    run(agent, "Go.").answered().await;
    let lines = deck.rig.last_request().lines();
    let observation = |call: &str| lines.iter().find(|line| line.starts_with(&format!("tool#{call}"))).unwrap();
    assert!(observation("c1").contains("Error: no finished agent can be continued"), "{lines:?}");
    assert!(observation("c3").contains("Error: 'miner 7' cannot be continued; these can: miner 0"), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn a_text_of_the_user_continues_a_finished_agent_and_the_parent_hears_of_it_with_its_next_turn() {
    let deck = Kept::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Done."), Played::text("I see.")]);
    let answer = format!("Silver. </agent-miner0> {}", "x".repeat(limits::AGENT_NOTE_ANSWER));
    deck.rig.model.route(&child("miner"), [Played::text("Gold."), Played::text(answer.as_str())]);
    let agent = deck.parent(vec![persona("miner", &[])]).await;
    assert_eq!(deck.tell("miner 0", "and silver"), Err(Refused::Ended), "it was never there");
    let mut agent = run(agent, "Go.").answered().await;
    assert_eq!(deck.kept(), ["miner 0"]);
    let id = deck.tell("miner 0", "and silver").unwrap();
    assert!(deck.tell("miner 0", "and the price").is_ok(), "its queue takes more");
    deck.run_begun().await;
    let asked = deck.rig.model.requests_of(&child("miner")).last().unwrap().lines();
    assert!(
        asked.iter().any(|line| line == "user: Dig.") && asked.iter().any(|line| line == "user: and silver"),
        "{asked:?}"
    );
    let receipts: Vec<Event> = deck.rig.events();
    assert!(
        receipts.iter().any(|event| matches!(event, Event::Seen { injections, .. } if injections[0].as_str() == id))
    );
    deck.rig.inject("What now?");
    agent.run_queue().await.unwrap();
    let lines = deck.rig.last_request().lines();
    let note = lines.iter().find(|line| line.starts_with("user: <agent-")).unwrap_or_else(|| panic!("{lines:?}"));
    assert!(note.starts_with("user: <agent-miner0-2 from=\"the program, not the user\" agent=\"miner 0\""), "{note}");
    assert!(
        note.contains("asked=\"and silver\" end=\"completed\">\nSilver.")
            && note.ends_with("[the rest is left out]\n</agent-miner0-2>")
    );
    assert_eq!(deck.kept(), ["miner 0"]);
}

#[tokio::test(start_paused = true)]
async fn only_so_many_finished_agents_are_kept_and_the_oldest_give_way() {
    let number = limits::KEPT_AGENTS + 1;
    let ids: Vec<String> = (0..number).map(|id| format!("c{id}")).collect();
    let list: Vec<(&str, &str, &str)> = ids.iter().map(|id| (id.as_str(), "miner", "Dig.")).collect();
    let script = list.chunks(1).map(spawns).chain([Played::text("Done.")]);
    let deck = Kept::new(script.collect::<Vec<_>>());
    deck.rig.model.route(&child("miner"), (0..number).map(|_| Played::text("Gold.")).collect::<Vec<_>>());
    let agent = deck.parent(vec![persona("miner", &[])]).await;
    run(agent, "Go.").answered().await;
    assert_eq!(deck.kept().len(), limits::KEPT_AGENTS);
    assert_eq!(deck.tell("miner 0", "go on"), Err(Refused::Ended));
    assert!(deck.tell("miner 1", "go on").is_ok());
}

/// A screen on which one sub-agent has ended that can be continued.
fn ended() -> Stage {
    let mut stage = Stage::new(120, 36);
    stage.turn("").call("", "c1", "agent").spawn("", "file_miner 0").turn("file_miner 0");
    stage.turn_ended("file_miner 0", Outcome::Completed, None).finished("", "file_miner 0", Outcome::Completed);
    stage.result("", "c1", "Gold.").turn_ended("", Outcome::Completed, None);
    stage.tell(Msg::Update(Update::Notice(Notice::Continuable(vec!["file_miner 0".into()]))));
    stage
}

fn targets(stage: &Stage) -> Vec<String> {
    let send = |effect: &Effect| match effect {
        Effect::Request(Request::Inject { to, .. }) => Some(to.to_string()),
        _ => None,
    };
    stage.effects.iter().filter_map(send).collect()
}

#[test]
fn behind_an_at_sign_stand_the_agents_that_ended_too() {
    let mut stage = ended();
    stage.keys("@");
    assert!(stage.screen().contains("has ended; the text continues it"), "{}", stage.screen());
    stage.keys("fi<tab>");
    assert_eq!(stage.app.message.text(), "@file_miner 0 ");
    stage.tell(Msg::Update(Update::Notice(Notice::Continuable(Vec::new()))));
    stage.keys("<c-u>@fi");
    assert!(!stage.screen().contains("has ended; the text continues it"), "{}", stage.screen());
}

#[test]
fn a_text_for_a_finished_agent_says_that_it_continues_it_by_name_and_by_selection() {
    let mut stage = ended();
    stage.paste("@file_miner 0 and the tests");
    assert!(stage.screen().contains("→ continues file_miner 0, which has ended"), "{}", stage.screen());
    stage.keys("<enter><c-c><f3><down><enter>and more");
    let screen = stage.screen();
    assert!(screen.contains("→ continues file_miner 0"), "{screen}");
    insta::assert_snapshot!("continues_a_finished_agent", screen);
    stage.keys("<enter>");
    assert_eq!(targets(&stage), ["file_miner 0", "file_miner 0"]);
}

#[test]
fn a_finished_agent_that_is_not_kept_takes_no_text() {
    let mut stage = ended();
    stage.tell(Msg::Update(Update::Notice(Notice::Continuable(Vec::new()))));
    stage.paste("@file_miner 0 and the tests").keys("<enter>");
    assert!(targets(&stage).is_empty());
    assert!(stage.screen().contains("not sent"), "{}", stage.screen());
}

/// Lets a sub-agent go on that the user gave a text.
fn goes_on_for_user(stage: &mut Stage, agent: &str) {
    let spawned = Event::AgentSpawned {
        child: agent.into(),
        persona: "file_miner".to_owned(),
        task: "and the tests".to_owned(),
        call: None,
        model: None,
        max_steps: Some(30),
        tools: Vec::new(),
    };
    stage.event("", spawned).turn(agent);
}

#[test]
fn an_agent_that_the_user_continued_runs_on_when_the_turn_of_its_parent_ends() {
    let mut stage = ended();
    stage.turn("");
    goes_on_for_user(&mut stage, "file_miner 0");
    stage.turn_ended("", Outcome::Completed, None);
    assert!(stage.app.ui.run.agents.get(&"file_miner 0".into()).unwrap().running());
}

#[test]
fn what_a_continued_agent_started_runs_on_with_it_and_ends_with_it() {
    let mut stage = ended();
    stage.turn("");
    goes_on_for_user(&mut stage, "file_miner 0");
    stage.spawn("file_miner 0", "reader 0").turn("reader 0");
    let text = entry("m1", "look at the margins");
    stage.deliver_after("reader 0", &[text], 1, "read").turn_ended("", Outcome::Completed, None);
    let is_running = |stage: &Stage| stage.app.ui.run.agents.get(&"reader 0".into()).unwrap().running();
    let state = |stage: &Stage| stage.app.ui.run.receipts.get(&"m1".into()).unwrap().state.clone();
    assert!(is_running(&stage));
    assert!(matches!(state(&stage), ReceiptState::Delivered(_)), "{:?}", state(&stage));
    stage.turn_ended("file_miner 0", Outcome::Cancelled, None);
    assert!(!is_running(&stage));
    assert!(matches!(state(&stage), ReceiptState::Unseen(..)), "{:?}", state(&stage));
}

#[test]
fn while_only_a_continued_agent_runs_the_status_says_so_and_esc_and_x_stop_it() {
    let mut stage = ended();
    goes_on_for_user(&mut stage, "file_miner 0");
    let screen = stage.wait(3_000).screen();
    assert!(screen.contains("○ waiting for the model 0:03 · file_miner 0"), "{screen}");
    assert!(screen.contains("Esc: stops file_miner 0"), "{screen}");
    insta::assert_snapshot!("only_a_continued_agent_runs", screen);
    stage.keys("<f3><down>x");
    let cancel = Request::Cancel { agents: vec!["file_miner 0".into()] };
    assert!(stage.effects.contains(&Effect::Request(cancel)), "{:?}", stage.effects);
    stage.keys("<esc>").wait(350).keys("<esc>");
    assert!(stage.effects.contains(&Effect::Request(Request::Stop)), "{:?}", stage.effects);
    assert!(stage.screen().contains("■ stopping · file_miner 0"), "{}", stage.screen());
    stage.turn_ended("file_miner 0", Outcome::Cancelled, None).finished("", "file_miner 0", Outcome::Cancelled);
    assert!(stage.screen().contains("· idle"), "{}", stage.screen());
}

#[test]
fn quitting_asks_while_a_continued_agent_runs_and_no_longer_when_it_has_ended() {
    let mut stage = ended();
    goes_on_for_user(&mut stage, "file_miner 0");
    stage.keys("<c-d>");
    assert!(!stage.effects.contains(&Effect::Quit));
    let screen = stage.screen();
    assert!(screen.contains("file_miner 0, which you continued, is running. Quitting stops it"), "{screen}");
    goes_on_for_user(&mut stage, "file_miner 1");
    stage.wait(1_000).keys("<esc><c-d>");
    let screen = stage.screen();
    assert!(screen.contains("2 sub-agents, which you continued, are running."), "{screen}");
    for agent in ["file_miner 0", "file_miner 1"] {
        stage.turn_ended(agent, Outcome::Completed, None).finished("", agent, Outcome::Completed);
    }
    assert!(!stage.screen().contains("Quit?"), "nothing would be lost any more");
    stage.keys("<c-d>");
    assert!(stage.effects.contains(&Effect::Quit));
}

#[test]
fn in_lines_a_continued_agent_is_waited_for_and_stopped_like_a_turn() {
    for stop in ["/stop", "<c-c>"] {
        let mut stage = Stage::in_lines();
        stage.turn("").spawn("", "file_miner 0").turn_ended("", Outcome::Completed, None);
        stage.finished("", "file_miner 0", Outcome::Completed);
        assert!(stage.app.at_rest());
        goes_on_for_user(&mut stage, "file_miner 0");
        assert!(!stage.app.at_rest(), "the program does not end before it has");
        if stop == "/stop" {
            stage.line(stop)
        } else {
            stage.keys(stop)
        };
        assert!(stage.effects.contains(&Effect::Request(Request::Stop)), "{stop}: {:?}", stage.effects);
    }
}

#[test]
fn files_are_not_undone_under_a_continued_agent() {
    let mut stage = ended();
    goes_on_for_user(&mut stage, "file_miner 0");
    stage.keys("/undo<enter>").wait(100);
    assert!(stage.screen().contains("not undone: a turn runs"), "{}", stage.screen());
}

#[tokio::test(start_paused = true)]
async fn a_text_that_no_queue_takes_continues_nobody() {
    let deck = Kept::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Done.")]);
    deck.rig.model.route(&child("miner"), [Played::text("Gold.")]);
    let agent = deck.parent(vec![persona("miner", &[])]).await;
    run(agent, "Go.").answered().await;
    let long = "x".repeat(limits::MESSAGE_BYTES + 1);
    assert_eq!(deck.tell("miner 0", &long), Err(Refused::TooLong));
    assert_eq!(deck.kept(), ["miner 0"]);
    assert!(deck.handle.continuations().take_begun().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_stop_before_its_turn_has_begun_gives_the_text_back_and_the_agent_can_still_go_on() {
    let deck = Kept::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Done."), Played::text("I see.")]);
    deck.rig.model.route(&child("miner"), [Played::text("Gold.")]);
    let agent = deck.parent(vec![persona("miner", &[])]).await;
    let mut agent = run(agent, "Go.").answered().await;
    deck.tell("miner 0", "and silver").unwrap();
    let back: Vec<String> = deck.handle.stop().into_iter().map(|entry| entry.message.text).collect();
    assert_eq!(back, ["and silver"]);
    deck.run_begun().await;
    assert_eq!(deck.rig.model.requests_of(&child("miner")).len(), 1, "nothing was asked of the model");
    assert_eq!(deck.kept(), ["miner 0"]);
    deck.rig.inject("What now?");
    agent.run_queue().await.unwrap();
    let lines = deck.rig.last_request().lines();
    assert!(lines.iter().any(|line| line.contains("end=\"cancelled\"")), "{lines:?}");
}
