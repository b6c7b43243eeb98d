//! Stories of what the last turn came to: tokens, cost, rounds, calls, how it ended.

use steersman_agent::Agent;
use steersman_base::error::{ProviderError, RunError};
use steersman_base::event::{Outcome, TurnFinish, Usage};
use steersman_core::control::{Budget, Spending, StepLimit};
use steersman_core::provider::{Finish, Played, ScriptedProvider};

use crate::support::doubles::{calls, tool};

fn usage(input: u64, output: u64, cost_nanos: Option<u64>) -> Usage {
    Usage { input: Some(input), output: Some(output), cost_nanos, ..Usage::default() }
}

#[tokio::test]
async fn a_turn_adds_up_its_rounds_and_the_next_one_begins_anew() {
    let model = ScriptedProvider::new([
        calls(&[("c1", "look"), ("c2", "look")]).with_usage(usage(10, 2, Some(3))),
        Played::text("Blue.").with_usage(usage(20, 4, None)).with_finish(Finish::Length),
        Played::text("Yes.").with_usage(usage(30, 1, None)),
    ]);
    let mut agent = Agent::with_provider(model, "Be brief.").tools([tool("look", "seen")]).await.unwrap();
    assert_eq!(agent.last_turn(), None);
    let answer = agent.ask("Which colour?").await.unwrap();
    let turn = agent.last_turn().unwrap().clone();
    assert_eq!((turn.text.clone(), turn.to_string()), (answer.clone(), answer));
    assert_eq!((turn.outcome, turn.finish), (Outcome::Completed, Some(TurnFinish::Length)));
    assert_eq!((turn.rounds, turn.calls), (2, 2));
    assert_eq!((turn.usage.input, turn.usage.output, turn.cost_nanos()), (Some(30), Some(6), Some(3)));
    agent.ask("Sure?").await.unwrap();
    let turn = agent.last_turn().unwrap();
    assert_eq!((turn.text.as_str(), turn.rounds, turn.usage.input, turn.cost()), ("Yes.", 1, Some(30), None));
    agent.reset();
    assert_eq!(agent.last_turn(), None);
}

#[tokio::test]
async fn a_failed_turn_says_what_it_took_and_one_without_budget_that_it_sent_nothing() {
    let model = ScriptedProvider::new([
        calls(&[("c1", "look")]).with_usage(usage(10, 2, None)),
        Played::error(ProviderError::CutOff),
    ]);
    let budget = std::sync::Arc::new(Budget::new(Spending { max_tokens: Some(12), ..Spending::default() }));
    let builder = Agent::with_provider(model, "Be brief.").tools([tool("look", "seen")]).budget(budget);
    let mut agent = builder.await.unwrap();
    agent.ask("Which colour?").await.unwrap_err();
    let turn = agent.last_turn().unwrap();
    assert_eq!((turn.outcome, turn.text.as_str(), turn.usage.input, turn.calls), (Outcome::Failed, "", Some(10), 1));
    assert!(matches!(agent.ask("And now?").await, Err(RunError::Budget(_))));
    let turn = agent.last_turn().unwrap();
    assert_eq!((turn.outcome, turn.rounds, turn.usage.clone()), (Outcome::Failed, 0, Usage::default()));
}

#[tokio::test]
async fn the_tokens_of_a_rescue_count() {
    let model = ScriptedProvider::new([
        calls(&[("c1", "look"), ("c2", "look")]).with_usage(usage(10, 2, None)),
        Played::text("Blue, I think.").with_usage(usage(7, 3, None)),
    ]);
    let builder = Agent::with_provider(model, "Be brief.").tools([tool("look", "seen")]);
    let mut agent = builder.step_limit(StepLimit::new(1).unwrap()).await.unwrap();
    agent.ask("Which colour?").await.unwrap();
    let turn = agent.last_turn().unwrap();
    assert_eq!((turn.outcome, turn.text.as_str()), (Outcome::Synthesized, "Blue, I think."));
    assert_eq!((turn.usage.input, turn.usage.output), (Some(17), Some(5)));
}
