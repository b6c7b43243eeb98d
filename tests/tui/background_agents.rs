//! Sub-agents in the background on the screen: the main agent waits for them, and is not idle.

use steersman_base::event::{Event, Outcome};

use crate::support::stage::Stage;

/// A screen on which the turn of the main agent has ended and these sub-agents go on.
fn waiting_for(count: usize) -> Stage {
    let mut stage = Stage::new(100, 30);
    stage.turn("");
    for number in 0..count {
        let (agent, call) = (format!("file_miner {number}"), format!("c{}", number + 1));
        stage.call("", &call, "agent").spawn("", &agent).turn(&agent);
        stage.event("", Event::AgentBackgrounded { child: agent.as_str().into() });
        stage.result("", &call, "[it works in the background]");
    }
    stage.event("", Event::Assistant { text: "I wait for the count.".to_owned(), interrupted: false });
    stage.turn_ended("", Outcome::Completed, None);
    stage
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
    assert!(screen.contains("file_miner 0, in the background, is running. Quitting stops it"), "{screen}");
}
