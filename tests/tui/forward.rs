//! A text for an agent that waits for its sub-agents goes to them instead, or as well, with one key.

use steersman_base::event::Outcome;
use steersman_base::protocol::Request;
use steersman_tui::msg::Effect;

use crate::support::stage::Stage;

/// The main agent waits for two sub-agents.
fn waiting() -> Stage {
    let mut stage = Stage::new(160, 40);
    stage.turn("").call("", "c1", "agent").call("", "c2", "agent");
    for child in ["file_miner 0", "file_miner 1"] {
        stage.spawn("", child).turn(child);
        stage.handle.agent_controls().enroll(&child.into(), &stage.handle.cancellable().child());
    }
    stage
}

fn sends(stage: &Stage) -> Vec<(String, String)> {
    let send = |effect: &Effect| match effect {
        Effect::Request(Request::Inject { to, message }) => Some((to.to_string(), message.text.clone())),
        _ => None,
    };
    stage.effects.iter().filter_map(send).collect()
}

#[test]
fn the_forecast_offers_it_once_the_agent_has_waited_long() {
    let mut stage = waiting();
    stage.keys("skip the tests");
    assert!(!stage.screen().contains("Alt+Down"), "{}", stage.screen());
    let screen = stage.wait(40_000).screen();
    assert!(screen.contains("; Alt+Down: to its 2 sub-agents instead"), "{screen}");
    insta::assert_snapshot!("forward_is_offered", screen);
}

#[test]
fn the_key_sends_it_to_the_sub_agents_instead_then_as_well_then_not() {
    let mut stage = waiting();
    stage.keys("skip the tests<a-down>");
    assert!(stage.screen().contains("→ its 2 sub-agents that run"), "{}", stage.screen());
    stage.keys("!<enter>");
    let both =
        |text: &str| [("file_miner 0".to_owned(), text.to_owned()), ("file_miner 1".to_owned(), text.to_owned())];
    assert_eq!(sends(&stage), both("skip the tests!"));
    stage.keys("and stop<a-down><a-down>");
    assert!(stage.screen().contains("→ main and its 2 sub-agents"), "{}", stage.screen());
    stage.keys("<enter>");
    assert_eq!(sends(&stage)[2..], [&[(String::new(), "and stop".to_owned())], &both("and stop")[..]].concat());
    stage.keys("x<a-down><a-down><a-down>");
    assert_eq!(stage.app.message.text(), "x");
}

#[test]
fn without_a_running_sub_agent_nothing_is_sent_and_the_text_stays() {
    let mut stage = waiting();
    for child in ["file_miner 0", "file_miner 1"] {
        stage.handle.agent_controls().dismiss(&child.into());
        stage.finished("", child, Outcome::Completed);
    }
    stage.keys("skip the tests<a-down><enter>");
    assert!(sends(&stage).is_empty());
    assert!(stage.screen().contains("no sub-agent of main runs"), "{}", stage.screen());
    assert_eq!(stage.app.message.text(), "@subtree skip the tests");
}
