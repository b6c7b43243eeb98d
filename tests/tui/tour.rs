//! The tour: what each step asks for, what ends it, and that it only looks on.

use jiff::Timestamp;
use steersman_base::event::{Decided, Event, Outcome, Pending};
use steersman_base::protocol::{Notice, Update};
use steersman_tui::msg::Msg;
use steersman_tui::tour::TourStep;

use crate::support::stage::Stage;

fn says(stage: &mut Stage, words: &str) {
    let screen = stage.screen();
    assert!(screen.contains(words), "{words}\n{screen}");
}

#[test]
fn each_step_is_over_when_the_user_has_done_it() {
    let mut stage = Stage::new(120, 36);
    stage.keys("/tour<enter>");
    says(&mut stage, "Tour, 1 of 5: Type a task and press Enter");
    stage.keys("look around<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).says("", "I look.");
    says(&mut stage, "Tour, 2 of 5: While it works, type more");
    stage.call("", "c1", "grep").keys("skip the tests<enter>");
    let entries = stage.handle.interloper().peek();
    stage.event("", Event::Pending { entries: entries.clone() });
    says(&mut stage, "Tour, 3 of 5: Your text waits above");
    stage.event("", Event::Paused { call: None });
    says(&mut stage, "Tour, 3 of 5: The agent is paused. Alt+H lets it go on.");
    stage.event("", Event::Resumed { decision: Decided::Run });
    says(&mut stage, "Tour, 4 of 5: Wait until sub-agents run");
    stage.spawn("", "miner 0").turn("miner 0");
    says(&mut stage, "Tour, 4 of 5: F3, Down and Enter go to a sub-agent.");
    stage.keys("<f3><down>");
    says(&mut stage, "Tour, 4 of 5: Enter leads to the message");
    stage.keys("<enter>");
    says(&mut stage, "Tour, 4 of 5: What you type now is for this sub-agent alone.");
    stage.event("miner 0", Event::Pending { entries });
    says(&mut stage, "Tour, 5 of 5: F3, Home and Enter lead back to the main agent.");
    stage.keys("<f3><home><enter>");
    assert!(stage.app.tree.selected().is_main());
    says(&mut stage, "Tour, 5 of 5: Ask for a command");
    assert_eq!(stage.app.ui.tour.step(), Some(TourStep::Answer));
    stage.event("", Event::Answer { id: "1".to_owned(), answer: "yes".to_owned(), words: None });
    says(&mut stage, "That was the tour.");
    stage.turn_ended("", Outcome::Completed, None).turn("");
    assert_eq!(stage.app.ui.tour.step(), None);
}

#[test]
fn while_agents_work_in_the_background_no_other_task_is_asked_for() {
    let mut stage = Stage::new(120, 36);
    let pending = Pending::new("m90".into(), "skip the tests", Timestamp::UNIX_EPOCH);
    stage.keys("/tour<enter>").turn("").event("", Event::Pending { entries: vec![pending] });
    stage.call("", "c1", "agent").spawn("", "miner 0").turn("miner 0");
    stage.event("", Event::AgentBackgrounded { child: "miner 0".into() });
    stage.result("", "c1", "[it works in the background]").turn_ended("", Outcome::Completed, None);
    says(&mut stage, "Tour, 3 of 5: The agent waits for its sub-agents");
    stage.event("", Event::Resumed { decision: Decided::Run });
    says(&mut stage, "Tour, 4 of 5: F3, Down and Enter go to a sub-agent.");
}

#[test]
fn a_sub_agent_that_has_ended_is_one_that_can_be_written_to() {
    let mut stage = Stage::new(120, 36);
    let text = |text: &str| Pending::new("m90".into(), text, Timestamp::UNIX_EPOCH);
    stage.keys("/tour<enter>").turn("").event("", Event::Pending { entries: vec![text("skip the tests")] });
    stage.event("", Event::Resumed { decision: Decided::Run });
    stage.spawn("", "miner 0").turn("miner 0").turn_ended("miner 0", Outcome::Completed, None);
    stage.finished("", "miner 0", Outcome::Completed);
    stage.tell(Msg::Update(Update::Notice(Notice::Continuable(vec!["miner 0".into()]))));
    stage.turn_ended("", Outcome::Completed, None);
    says(&mut stage, "Tour, 4 of 5: F3, Down and Enter go to a sub-agent. It has ended");
    stage.keys("<f3><down><enter>");
    says(&mut stage, "Tour, 4 of 5: This sub-agent has ended, and goes on with what you type.");
    stage.deliver_after("miner 0", &[text("look at the tests first")], 0, "read");
    says(&mut stage, "Tour, 5 of 5: F3, Home and Enter lead back to the main agent.");
}

#[test]
fn it_goes_on_where_a_turn_needs_no_sub_agents() {
    let mut stage = Stage::new(120, 36);
    stage.keys("/tour<enter>look around<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).keys("skip the tests<enter>");
    let entries = stage.handle.interloper().peek();
    stage.event("", Event::Pending { entries }).event("", Event::Paused { call: None });
    stage.event("", Event::Resumed { decision: Decided::Run });
    says(&mut stage, "Tour, 4 of 5: Wait until sub-agents run");
    stage.turn_ended("", Outcome::Completed, None);
    says(&mut stage, "Tour, 5 of 5: Ask for a command");
}

#[test]
fn a_text_waits_above_only_while_one_does() {
    let mut stage = Stage::new(120, 36);
    stage.keys("/tour<enter>look around<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).keys("skip the tests<enter>");
    let entries = stage.handle.interloper().peek();
    stage.event("", Event::Pending { entries });
    says(&mut stage, "Tour, 3 of 5: Your text waits above");
    let taken = stage.drain();
    stage.deliver(&taken, true);
    says(&mut stage, "Tour, 3 of 5: Alt+H pauses the agent");
}

#[test]
fn whoever_looks_at_a_sub_agent_is_led_back_before_a_text_is_asked_for() {
    let mut stage = Stage::new(80, 24);
    stage.turn("").spawn("", "miner 0").turn("miner 0").keys("<f3><down><enter>/tour<enter>");
    says(&mut stage, "F3, Home and Enter lead back to the main agent.");
    stage.turn_ended("miner 0", Outcome::Completed, None).finished("", "miner 0", Outcome::Completed);
    stage.turn_ended("", Outcome::Completed, None);
    says(&mut stage, "F3, Home and Enter lead back to the main agent.");
    stage.keys("<f3><home><enter>");
    says(&mut stage, "Tour, 1 of 5: Type a task and press Enter");
}

#[test]
fn it_says_when_another_turn_is_needed_and_ends_when_it_is_asked_for_again() {
    let mut stage = Stage::new(120, 36);
    stage.keys("/tour<enter>").turn("").turn_ended("", Outcome::Completed, None);
    says(&mut stage, "Tour, 2 of 5: The turn is over. Start another");
    stage.keys("/tour<enter>");
    assert!(!stage.screen().contains("Tour, "), "{}", stage.screen());
}

#[test]
fn it_stands_above_the_message_at_each_size_and_not_on_a_low_screen() {
    for (width, height) in [(120, 36), (80, 24), (40, 16)] {
        let mut stage = Stage::new(width, height);
        stage.keys("/tour<enter>").turn("");
        insta::assert_snapshot!(format!("tour_{width}x{height}"), stage.picture());
    }
    let mut stage = Stage::new(80, 12);
    stage.keys("/tour<enter>");
    assert!(!stage.screen().contains("Tour, "), "{}", stage.screen());
    says(&mut stage, "the tour needs a screen of 16 rows");
}

#[test]
fn an_open_question_comes_first_whatever_the_step() {
    let mut stage = Stage::new(80, 24);
    stage.keys("/tour<enter>").turn("").turn_ended("", Outcome::Completed, None).keys("/reset<enter>");
    says(&mut stage, "Tour, 2 of 5: First answer the question: its number, then Enter.");
    stage.wait(400).keys("<esc>");
    says(&mut stage, "Tour, 2 of 5: The turn is over.");
}
