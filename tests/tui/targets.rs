//! Whom a message goes to: the agent that it names, the agent that is shown, or the main agent; never one by surprise.

use steersman_base::event::{Delivery, Outcome};
use steersman_base::protocol::Request;
use steersman_tui::msg::Effect;

use crate::support::stage::Stage;

/// The main agent and two children run, each with a queue.
fn scene() -> Stage {
    let mut stage = Stage::new(120, 36);
    stage.turn("").call("", "c1", "agent").call("", "c2", "agent");
    for child in ["file_miner 0", "file_miner 1"] {
        stage.spawn("", child).turn(child);
        stage.handle.agent_controls().enroll(&child.into(), &stage.handle.cancellable().child());
    }
    stage
}

fn end(stage: &mut Stage, child: &str) {
    stage.handle.agent_controls().dismiss(&child.into());
    stage.finished("", child, Outcome::Completed);
}

fn sends(stage: &Stage) -> Vec<(String, String)> {
    let send = |effect: &Effect| match effect {
        Effect::Request(Request::Inject { to, message }) => Some((to.to_string(), message.text.clone())),
        _ => None,
    };
    stage.effects.iter().filter_map(send).collect()
}

fn to(agent: &str, text: &str) -> (String, String) {
    (agent.to_owned(), text.to_owned())
}

#[test]
fn a_name_at_the_start_sends_to_that_agent_without_the_name() {
    let mut stage = scene();
    stage.paste("@file_miner 1 look at src").keys("<enter>");
    assert_eq!(sends(&stage), [to("file_miner 1", "look at src")]);
    assert!(stage.app.message.is_empty());
    stage.paste("@main go on").keys("<enter>");
    assert_eq!(sends(&stage)[1], to("", "go on"));
}

#[test]
fn an_at_sign_that_names_nobody_is_text() {
    let mut stage = scene();
    for text in
        ["@src/main.rs is long", "@Makefile is short", "@file_miner hello", "mail me @file_miner 0 now", "@a 1b"]
    {
        stage.paste(text).keys("<enter>");
        assert_eq!(sends(&stage).last().unwrap(), &to("", text));
    }
}

#[test]
fn a_text_for_an_agent_that_there_is_not_is_not_sent_and_stays() {
    for (text, name) in [
        ("@file_miner 7 hello", "file_miner 7"),
        ("@file_miner 10 hello", "file_miner 10"),
        ("@researcher 0 text", "researcher 0"),
        ("@researcher 0", "researcher 0"),
    ] {
        let mut stage = scene();
        stage.paste(text);
        assert!(stage.screen().contains(&format!("nobody, no {name} runs")), "{}", stage.screen());
        stage.keys("<enter>");
        assert_eq!(sends(&stage), []);
        assert_eq!(stage.app.message.text(), text);
        let screen = stage.screen();
        assert!(
            screen.contains(&format!("not sent: no agent {name} runs; @main before it sends it as text")),
            "{screen}"
        );
        stage.keys("<home>").paste("@main ").keys("<enter>");
        assert_eq!(sends(&stage), [to("", text)]);
    }
}

#[test]
fn all_sends_one_text_to_each_agent_that_runs() {
    let mut stage = scene();
    end(&mut stage, "file_miner 0");
    stage.paste("@all stop at ten").keys("<enter>");
    assert_eq!(sends(&stage), [to("", "stop at ten"), to("file_miner 1", "stop at ten")]);
    assert!(stage.app.message.is_empty());
    end(&mut stage, "file_miner 1");
    stage.paste("@all and now").keys("<enter>");
    assert_eq!(sends(&stage)[2..], [to("", "and now")]);
}

#[test]
fn typing_while_an_agent_is_shown_sends_to_it_and_the_border_names_it() {
    let mut stage = scene();
    stage.keys("<f3><down><enter>look");
    assert!(stage.screen().contains("→ file_miner 0"), "{}", stage.screen());
    stage.keys("<enter>");
    assert_eq!(sends(&stage), [to("file_miner 0", "look")]);
}

#[test]
fn a_draft_stays_with_the_agent_that_it_was_begun_for() {
    let mut stage = scene();
    stage.keys("for main<f3><down><enter>for the child");
    assert_eq!(stage.app.message.text(), "for the child");
    assert!(stage.screen().contains("→ file_miner 0"));
    stage.keys("<f3><up><enter> still<enter>");
    assert_eq!(sends(&stage), [to("", "for main still")]);
    stage.keys("<f3><down><enter><enter>");
    assert_eq!(sends(&stage)[1], to("file_miner 0", "for the child"));
}

#[test]
fn a_draft_whose_agent_ended_is_not_sent_until_enter_is_pressed_again() {
    let mut stage = scene();
    stage.keys("<f3><down><enter>").paste("look at src");
    stage.wait(10);
    end(&mut stage, "file_miner 0");
    stage.keys("<enter>");
    assert_eq!(sends(&stage), []);
    assert_eq!(stage.app.message.text(), "look at src");
    assert!(
        stage.screen().contains("not sent: file_miner 0 has ended and cannot be continued; Enter sends it to main")
    );
    stage.wait(10).keys("<enter>");
    assert_eq!(sends(&stage), [to("", "look at src")]);
}

#[test]
fn an_agent_that_ended_unheard_of_returns_the_text() {
    let mut stage = scene();
    stage.handle.agent_controls().dismiss(&"file_miner 0".into());
    stage.paste("@file_miner 0 look").keys("<enter>");
    assert_eq!(stage.app.message.text(), "@file_miner 0 look");
    assert!(
        stage
            .screen()
            .contains("not sent: file_miner 0 has ended and cannot be continued; @main before it sends it as text")
    );
}

#[test]
fn an_agent_that_ended_before_the_draft_was_begun_gets_nothing_and_the_text_stays() {
    let mut stage = scene();
    end(&mut stage, "file_miner 0");
    stage.wait(10).paste("@file_miner 0 was good").keys("<enter>");
    assert_eq!(sends(&stage), []);
    assert_eq!(stage.app.message.text(), "@file_miner 0 was good");
}

#[test]
fn agents_that_run_are_offered_behind_the_at_sign() {
    let mut stage = scene();
    end(&mut stage, "file_miner 0");
    let screen = stage.keys("@").screen();
    assert!(screen.contains("▸ @file_miner 1") && screen.contains("@all"), "{screen}");
    assert!(!screen.contains("@file_miner 0") && screen.contains("otherwise @ is text"), "{screen}");
    stage.keys("f<tab>look<enter>");
    assert_eq!(sends(&stage), [to("file_miner 1", "look")]);
}

#[test]
fn a_lone_agent_offers_nobody() {
    let mut stage = Stage::new(80, 24);
    stage.turn("").keys("@");
    assert!(!stage.app.palette.is_open());
    stage.keys("all stop<enter>");
    assert_eq!(stage.sent(), [("stop".to_owned(), Delivery::Steer)]);
}
