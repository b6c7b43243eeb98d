//! Telling the user who does not look: when a turn ends or something is asked, and when not.

use serde_json::json;
use steersman_base::event::{Event, Outcome};
use steersman_tui::alerts::AlertWhen;
use steersman_tui::msg::{Attention, Effect, Msg};
use steersman_tui::view::title;

use crate::support::stage::Stage;

/// A stage whose user has gone elsewhere.
fn away() -> Stage {
    let mut stage = Stage::new(80, 24);
    stage.tell(Msg::Attention(Attention::Away));
    stage
}

fn told(stage: &Stage) -> Vec<String> {
    let words = |effect: &Effect| if let Effect::Notify(words) = effect { Some(words.clone()) } else { None };
    stage.effects.iter().filter_map(words).collect()
}

#[test]
fn the_end_of_a_turn_is_told_a_moment_later_to_who_is_away() {
    let mut stage = away();
    stage.turn("").says("", "done").turn_ended("", Outcome::Completed, None);
    assert_eq!(told(&stage), Vec::<String>::new(), "another turn may begin at once");
    let due = stage.app.changes_at().expect("somebody has to wake up for it");
    stage.wait(1_000);
    assert!(due <= stage.app.ui.now);
    assert_eq!(told(&stage), ["Steersman: the answer is ready"]);
    stage.wait(60_000);
    assert_eq!(told(&stage).len(), 1);
}

#[test]
fn a_turn_that_begins_at_once_makes_the_end_of_the_last_no_news() {
    let mut stage = away();
    stage.turn("").turn_ended("", Outcome::Completed, None);
    stage.turn("");
    stage.wait(60_000);
    assert_eq!(told(&stage), Vec::<String>::new());
    // Also when the next is still to come from the queue.
    let mut stage = away();
    stage.turn("").keys("and then<enter>");
    stage.turn_ended("", Outcome::Completed, None).wait(60_000);
    assert_eq!(told(&stage), Vec::<String>::new());
    // After a failure it waits for the user, and that is news.
    let mut stage = away();
    stage.turn("").keys("and then<enter>");
    stage.turn_ended("", Outcome::Failed, Some("no")).wait(60_000);
    assert_eq!(told(&stage), ["Steersman: the turn failed"]);
}

#[test]
fn who_is_here_or_may_be_here_is_told_nothing_unless_always() {
    for (attention, when, count) in [
        (Some(Attention::Here), AlertWhen::Away, 0),
        (None, AlertWhen::Away, 0),
        (None, AlertWhen::Always, 1),
        (Some(Attention::Here), AlertWhen::Always, 1),
        (Some(Attention::Away), AlertWhen::Never, 0),
    ] {
        let mut stage = Stage::new(80, 24);
        stage.app.alerts.attention = attention;
        stage.app.alerts.when = when;
        stage.turn("").turn_ended("", Outcome::Completed, None).wait(60_000);
        assert_eq!(told(&stage).len(), count, "{attention:?} {when:?}");
    }
    // Who comes back in the meantime sees it.
    let mut stage = away();
    stage.turn("").turn_ended("", Outcome::Completed, None).tell(Msg::Attention(Attention::Here)).wait(60_000);
    assert_eq!(told(&stage), Vec::<String>::new());
}

#[test]
fn a_stop_is_the_users_own_and_a_sub_agents_end_is_no_news() {
    let mut stage = away();
    stage.turn("").spawn("", "coder").turn("coder").turn_ended("coder", Outcome::Completed, None).wait(60_000);
    stage.turn_ended("", Outcome::Cancelled, None).wait(60_000);
    assert_eq!(told(&stage), Vec::<String>::new());
}

#[test]
fn an_agent_that_waits_for_the_user_is_told_at_once() {
    let mut stage = away();
    stage.turn("").event("", Event::Paused { call: None });
    assert_eq!(told(&stage), ["Steersman: main waits before the next request"]);
}

#[test]
fn every_state_in_the_title_of_the_terminal_ends() {
    let turn = || json!({"type": "turn_started", "turn": 1});
    let round = || json!({"type": "round_started", "turn": 1, "round": 1});
    let end = |outcome: &str| json!({"type": "turn_ended", "turn": 1, "outcome": outcome, "message": null});
    let ends = || ["completed", "synthesized", "cancelled", "failed"].map(|outcome| vec![end(outcome)]).to_vec();
    let paused = || json!({"type": "parked", "call": null});
    let resumed = || json!({"type": "unparked", "decision": "run"});
    let compacting = || json!({"type": "compacting", "messages": 3});
    let compacted = json!({"type": "compacted", "before": 9, "after": 1, "messages": 3, "summary": "s"});
    let notice = json!({"type": "notice", "text": "no summary"});
    let spawned = json!({"type": "agent_spawned", "child": "file_miner 0", "persona": "file_miner", "task": "t",
        "call": null, "model": null, "max_steps": null, "tools": []});
    let finished =
        |outcome: &str| json!({"type": "agent_finished", "child": "file_miner 0", "outcome": outcome, "message": null});
    let with_resumed: Vec<Vec<serde_json::Value>> =
        ends().into_iter().chain(ends().into_iter().map(|end| [vec![resumed()], end].concat())).collect();
    for (state, begins, ends) in [
        ("● works", vec![turn(), round()], ends()),
        ("● works", vec![compacting()], vec![vec![compacted], vec![notice], vec![end("cancelled")]]),
        ("‖ paused", vec![turn(), round(), paused()], with_resumed),
        ("● works", vec![spawned], vec![vec![finished("completed")], vec![finished("failed")]]),
    ] {
        for end in ends {
            let mut stage = Stage::new(80, 24);
            let tell = |stage: &mut Stage, events: &[serde_json::Value]| {
                for event in events {
                    stage.event("", serde_json::from_value(event.clone()).unwrap());
                }
            };
            assert_eq!(title(&stage.app), "○ ready · steersman");
            tell(&mut stage, &begins);
            assert_eq!(title(&stage.app), format!("{state} · steersman"), "{begins:?}");
            tell(&mut stage, &end);
            assert_eq!(title(&stage.app), "○ ready · steersman", "{begins:?} {end:?}");
        }
    }
}
