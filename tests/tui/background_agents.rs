//! Sub-agents in the background on the screen: the main agent waits for them, and is not idle.

use steersman_base::event::{Event, Outcome};
use steersman_tui::msg::{Attention, Effect, Msg};
use steersman_tui::view::title;

use crate::support::stage::Stage;

/// A screen on which the turn of the main agent has ended and these sub-agents go on.
fn waiting_for(count: usize) -> Stage {
    let mut stage = Stage::new(100, 30);
    wait_for(&mut stage, count);
    stage
}

fn wait_for(stage: &mut Stage, count: usize) {
    stage.turn("");
    for number in 0..count {
        let (agent, call) = (format!("file_miner {number}"), format!("c{}", number + 1));
        stage.call("", &call, "agent").spawn("", &agent).turn(&agent);
        stage.event("", Event::AgentBackgrounded { child: agent.as_str().into() });
        stage.result("", &call, "[it works in the background]");
    }
    stage.event("", Event::Assistant { text: "I wait for the count.".to_owned(), interrupted: false });
    stage.turn_ended("", Outcome::Completed, None);
}

#[test]
fn a_main_agent_whose_turn_has_ended_waits_for_its_agents_and_is_not_idle() {
    let mut stage = waiting_for(2);
    let screen = stage.screen();
    assert!(screen.contains("○ waiting for 2 agents"), "{screen}");
    assert!(screen.contains("file_miner 0 goes on in the background"), "{screen}");
    assert!(screen.contains("◇ main            waits for 2"), "{screen}");
    assert!(!screen.contains("· idle"), "{screen}");
    insta::assert_snapshot!("waiting_for_agents_in_the_background", screen);
    stage.turn_ended("file_miner 0", Outcome::Completed, None).finished("", "file_miner 0", Outcome::Completed);
    assert!(stage.screen().contains("○ waiting for file_miner 1"), "{}", stage.screen());
    stage.turn_ended("file_miner 1", Outcome::Completed, None).finished("", "file_miner 1", Outcome::Completed);
    assert!(stage.screen().contains("· idle"), "{}", stage.screen());
}

#[test]
fn an_answer_is_told_where_it_enters_and_why_there_is_none() {
    let mut stage = waiting_for(2);
    stage.turn("");
    for (agent, outcome, answer) in
        [("file_miner 0", Outcome::Completed, "Seven."), ("file_miner 1", Outcome::Failed, "HTTP 500")]
    {
        stage.finished("", agent, outcome);
        stage.event("", Event::AgentAnswered { child: agent.into(), outcome, answer: answer.to_owned() });
    }
    let screen = stage.screen();
    assert!(screen.contains("the answer of file_miner 0 is delivered"), "{screen}");
    assert!(screen.contains("file_miner 1 failed: HTTP 500"), "{screen}");
}

#[test]
fn quitting_asks_while_agents_work_in_the_background() {
    let mut stage = waiting_for(1);
    stage.keys("<c-d>");
    let screen = stage.screen();
    assert!(screen.contains("file_miner 0 is running in the background. Quitting stops it"), "{screen}");
}

#[test]
fn who_is_away_is_not_told_of_an_answer_while_agents_work_for_it() {
    let mut stage = Stage::new(100, 30);
    stage.tell(Msg::Attention(Attention::Away));
    wait_for(&mut stage, 1);
    stage.wait(60_000);
    let told = |stage: &Stage| stage.effects.iter().filter(|effect| matches!(effect, Effect::Notify(_))).count();
    assert_eq!(told(&stage), 0, "the next turn has the answer");
    assert!(title(&stage.app).starts_with("◇ waits for agents"), "{}", title(&stage.app));
    stage.turn_ended("file_miner 0", Outcome::Completed, None).finished("", "file_miner 0", Outcome::Completed);
    stage.turn("").turn_ended("", Outcome::Completed, None).wait(60_000);
    assert_eq!(told(&stage), 1);
}

#[test]
fn a_stop_of_agents_that_work_for_no_turn_names_them() {
    for (count, said) in [(1, "file_miner 0 is being stopped"), (2, "2 sub-agents are being stopped")] {
        let mut stage = waiting_for(count);
        stage.wait(1000);
        stage.keys("<esc>");
        stage.wait(1000);
        stage.keys("<esc>");
        assert!(stage.screen().contains(said), "{}", stage.screen());
    }
}
