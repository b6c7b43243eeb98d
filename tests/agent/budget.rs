//! Stories of a budget that is used up: at the next boundary everybody stops, and nothing that was typed is lost.

use std::sync::Arc;

use steersman_base::error::RunError;
use steersman_base::event::{Delivery, Event, Outcome, Usage};
use steersman_base::price::{Price, Prices};
use steersman_core::control::{Budget, Spending};
use steersman_core::provider::Played;

use crate::support::doubles::{Gate, Rig, calls, gated, run, tool};
use crate::support::subagents::{child, parent_of, persona, spawns};

fn used(input: u64, output: u64) -> Usage {
    Usage { input: Some(input), output: Some(output), ..Usage::default() }
}

/// One dollar per thousand tokens.
fn prices() -> Prices {
    [("test-model".to_owned(), Price::new(1_000.0, None, 1_000.0).unwrap())].into_iter().collect()
}

fn budget(dollars: Option<&str>, tokens: Option<u64>) -> Arc<Budget> {
    let max_cost = dollars.map(|dollars| dollars.parse().unwrap());
    Arc::new(Budget::new(Spending { max_cost, max_tokens: tokens, prices: prices() }))
}

fn notices(rig: &Rig) -> Vec<String> {
    let text = |event: Event| match event {
        Event::Notice { text } => Some(text),
        _ => None,
    };
    rig.events().into_iter().filter_map(text).collect()
}

#[tokio::test(start_paused = true)]
async fn a_used_up_budget_ends_the_turn_at_its_boundary_and_pending_texts_stay_pending() {
    let rig = Rig::new([calls(&[("c1", "one")]).with_usage(used(500, 600))]);
    let gate = Gate::new();
    let budget = budget(Some("1"), None);
    let agent = rig.build(rig.builder().budget(Arc::clone(&budget)), [gated("one", &gate)]).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    rig.inject("while it runs");
    gate.open();
    let (mut agent, sentence) = running.failed().await;
    assert_eq!(
        sentence,
        "the budget of $1.00 is used up, $1.10 were spent; raise it with --max-cost (on the screen: /budget)"
    );
    assert_eq!(rig.requests().len(), 1, "no request behind the boundary");
    assert_eq!(notices(&rig), ["stopped before the next request: the budget is used up"]);
    assert_eq!(rig.interloper.peek()[0].text, "while it runs");
    assert!(rig.event_lines().contains(&"result c1: one done".to_owned()), "the call that ran has its result");

    // A new turn is refused before its text is taken.
    rig.interloper.inject_user_message(("another", Delivery::Steer)).unwrap();
    assert!(matches!(agent.run_queue().await, Err(RunError::Budget(_))));
    assert_eq!(rig.interloper.peek().len(), 2);
    assert!(matches!(agent.run_loop("said").await, Err(RunError::Budget(_))));
    assert!(!agent.history().messages().iter().any(|message| format!("{message:?}").contains("said")));

    // With more of it everything goes on.
    budget.set_max_cost(Some("5".parse().unwrap()));
    rig.model.push(Played::text("Done."));
    rig.interloper.resume();
    agent.run_queue().await.unwrap();
    assert_eq!(rig.last_request().lines()[4..], ["user: while it runs", "user: another"]);
}

#[tokio::test(start_paused = true)]
async fn tokens_are_counted_also_where_the_server_counts_none() {
    let budget = budget(None, Some(1_000));
    let rig = Rig::new([calls(&[("c1", "one")]), calls(&[("c2", "one")]), calls(&[("c3", "one")])]);
    let long = tool("one", &"x".repeat(4_000));
    let agent = rig.build(rig.builder().budget(Arc::clone(&budget)), [long]).await;
    let (_, sentence) = run(agent, "Go.").failed().await;
    assert!(sentence.starts_with("the budget of 1000 tokens is used up, "), "{sentence}");
    assert_eq!(rig.requests().len(), 2, "the second carried more than a thousand");
}

// Children are charged to the same budget, and stop as their spawner does.
#[tokio::test(start_paused = true)]
async fn children_are_charged_and_stop_at_their_own_boundary() {
    let rig = Rig::new([spawns(&[("c1", "digger", "Dig.")]).with_usage(used(100, 0))]);
    rig.model.route(&child("digger"), [calls(&[("d1", "one")]).with_usage(used(500, 500))]);
    let budget = budget(Some("1"), None);
    let builder = rig.builder().budget(Arc::clone(&budget));
    let agent = parent_of(&rig, builder, [tool("one", "one done")], vec![persona("digger", &["one"])]).await;
    let (_, sentence) = run(agent, "Go.").failed().await;
    assert!(sentence.starts_with("the budget of $1.00 is used up"), "{sentence}");
    assert_eq!(rig.requests().len(), 2, "one of each");
    assert_eq!(budget.standing().nanos, 1_100_000_000);
    assert!(rig.event_lines().contains(&"finished digger 0 Failed".to_owned()), "{:?}", rig.event_lines());
    assert_eq!(notices(&rig).len(), 2, "each says that it stops");
}

// A rescue costs too.
#[tokio::test(start_paused = true)]
async fn a_rescue_is_charged_and_refused_when_nothing_is_left() {
    let rig = Rig::new([calls(&[("c1", "one")]).with_usage(used(10, 0)), calls(&[("c2", "one")])]);
    rig.model.route("evidence another agent", [Played::text("Rescued.").with_usage(used(90, 0))]);
    let budget = budget(None, Some(1_000_000));
    let limit = steersman_core::control::StepLimit::new(1).unwrap();
    let builder = rig.builder().budget(Arc::clone(&budget)).step_limit(limit);
    run(rig.build(builder, [tool("one", "one done")]).await, "Go.").answered().await;
    assert!(budget.standing().tokens >= 100, "{:?}", budget.standing());
}

#[tokio::test(start_paused = true)]
async fn a_model_without_a_price_is_told_of_once_and_counts_its_tokens() {
    let spending = Spending { max_cost: Some("1".parse().unwrap()), max_tokens: Some(500), ..Spending::default() };
    let rig =
        Rig::new([calls(&[("c1", "one")]).with_usage(used(100, 0)), calls(&[("c2", "one")]).with_usage(used(450, 0))]);
    let builder = rig.builder().budget(Arc::new(Budget::new(spending)));
    let (_, sentence) = run(rig.build(builder, [tool("one", "one done")]).await, "Go.").failed().await;
    assert!(sentence.starts_with("the budget of 500 tokens is used up, 550 were used"), "{sentence}");
    let said = notices(&rig);
    let unpriced = "no price is known for test-model: the budget in money does not count it, only its tokens";
    assert_eq!(said.iter().filter(|text| *text == unpriced).count(), 1, "{said:?}");
}

// What the server says goes before every price.
#[tokio::test(start_paused = true)]
async fn what_a_round_cost_is_told_with_its_tokens() {
    let said = Usage { cost_nanos: Some(7), ..used(10, 10) };
    let rig = Rig::new([calls(&[("c1", "one")]).with_usage(said), Played::text("Done.").with_usage(used(1, 1))]);
    let budget = budget(None, None);
    let agent = rig.build(rig.builder().budget(Arc::clone(&budget)), [tool("one", "one done")]).await;
    run(agent, "Go.").answered().await;
    let costs: Vec<_> = rig
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Tokens(usage) => Some(usage.cost_nanos),
            _ => None,
        })
        .collect();
    assert_eq!(costs, [Some(7), Some(2_000_000)]);
    assert_eq!((budget.standing().nanos, budget.standing().tokens), (2_000_007, 22));
}

#[tokio::test(start_paused = true)]
async fn the_last_answer_is_not_lost_when_it_uses_the_budget_up() {
    let rig = Rig::new([Played::text("Done.").with_usage(used(5_000, 0))]);
    let agent = rig.build(rig.builder().budget(budget(Some("1"), None)), []).await;
    let agent = run(agent, "Go.").answered().await;
    assert_eq!(agent.last_assistant_content(), Some("Done."));
    assert!(rig.events().contains(&Event::TurnEnded { turn: 1, outcome: Outcome::Completed, message: None }));
}

// P18
#[tokio::test(start_paused = true)]
async fn an_absurd_count_uses_no_budget_up() {
    let absurd = calls(&[("c1", "one")]).with_usage(used(u64::MAX, u64::MAX));
    let rig = Rig::new([absurd, Played::text("Done.").with_usage(used(50, 5))]);
    let budget = budget(Some("100"), Some(1_000_000));
    let builder = rig.builder().budget(Arc::clone(&budget));
    run(rig.build(builder, [tool("one", "one done")]).await, "Go.").answered().await;
    assert!(budget.standing().tokens < 1_000, "{:?}", budget.standing());
}

#[test]
fn a_budget_is_used_up_when_exactly_all_of_it_is_spent() {
    let budget = budget(Some("1"), Some(2_000));
    budget.charge("test-model", 1_000, Some(999_999_999));
    assert_eq!(budget.used_up(), None, "a billionth of a dollar is left");
    budget.charge("test-model", 0, Some(1));
    assert!(budget.used_up().is_some_and(|why| why.starts_with("the budget of $1.00 is used up, $1.00 were spent")));
    budget.set_max_cost(None);
    budget.charge("test-model", 999, None);
    assert_eq!(budget.used_up(), None, "a token is left");
    budget.charge("test-model", 1, None);
    assert!(
        budget.used_up().is_some_and(|why| why.starts_with("the budget of 2000 tokens is used up, 2000 were used"))
    );
    budget.set_max_tokens(Some(2_001));
    assert_eq!(budget.used_up(), None);
}
