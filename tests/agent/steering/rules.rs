//! Stories of rules: which agents are told of them, when, and that an edit and a withdrawal reach every model that knew them.

use std::sync::Arc;

use steersman_agent::Agent;
use steersman_agent::subagent::SubAgents;
use steersman_base::event::{Event, UserText};
use steersman_base::id::AgentId;
use steersman_base::steering::{Framing, RuleChange, RuleNews, RuleScope, TextKind};
use steersman_core::control::{AgentControls, Controls, Rules};
use steersman_core::provider::Played;
use steersman_core::tool::Tool;
use steersman_core::wrapper::parse;

use crate::support::doubles::{Gate, Rig, calls, gated, gated_beside, run, run_queue};
use crate::support::framed::{framed, user_texts};
use crate::support::subagents::{child, persona, spawns};

fn words(text: &str) -> RuleChange {
    RuleChange::Edit { text: Some(text.to_owned()), scope: None }
}

/// Returns what the model was told of rules beyond the text that set one, in the last request.
fn news(rig: &Rig) -> Vec<(String, RuleNews, String)> {
    let texts = user_texts(rig);
    texts
        .iter()
        .filter_map(|text| {
            let framed = parse(text)?;
            Some((framed.id.to_owned(), framed.news?, framed.words.to_owned()))
        })
        .collect()
}

/// Builds a parent whose children can be steered, with frames, and returns its crew.
async fn family(rig: &Rig, tools: Vec<Arc<dyn Tool>>) -> (Agent, Arc<AgentControls>) {
    let main = Controls {
        interloper: Arc::clone(&rig.interloper),
        cancellable: rig.cancellable.clone(),
        gate: Arc::default(),
    };
    let crew = Arc::new(AgentControls::new(main));
    let personas = vec![persona("digger", &["slow", "quick"])];
    let agent = rig
        .try_build(rig.builder().framing(Framing::Framed), |c| {
            c.add_tools(tools)?;
            c.add_extension(Arc::new(SubAgents::new(personas)?.agent_controls(Arc::clone(&crew))))
        })
        .await
        .unwrap();
    (agent, crew)
}

#[tokio::test(start_paused = true)]
async fn a_rule_holds_from_its_delivery_and_an_edit_and_a_withdrawal_are_told_at_the_next_boundary() {
    let gate = Gate::new();
    let rounds = (0..3).map(|round| calls(&[(&format!("c{round}"), "one")]));
    let rig = Rig::new(rounds.chain([Played::text("Done.")]));
    let agent = framed(&rig, [gated("one", &gate)]).await;
    let rules = Arc::clone(agent.rules());
    let running = run(agent, "Go.");
    gate.reached().await;
    let id = rig.send("no new files", TextKind::Rule);
    assert!(rules.list().is_empty(), "it is not delivered yet");
    gate.open();
    gate.reached().await;
    assert_eq!(rules.list()[0].text, "no new files");
    assert_eq!(news(&rig), []);
    assert!(rules.change(&id, words("no new files but tests")));
    gate.open();
    gate.reached().await;
    assert_eq!(news(&rig), [("m1".to_owned(), RuleNews::Changed, "no new files but tests".to_owned())]);
    assert!(rules.change(&id, RuleChange::Withdraw));
    gate.open();
    running.answered().await;
    assert_eq!(news(&rig)[1..], [("m1".to_owned(), RuleNews::Withdrawn, String::new())]);
    let told: Vec<_> = rig
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::RuleNotified { id, news, text } => Some((id.to_string(), news, text)),
            _ => None,
        })
        .collect();
    assert_eq!(
        told,
        [
            ("m1".to_owned(), RuleNews::Changed, Some("no new files but tests".to_owned())),
            ("m1".to_owned(), RuleNews::Withdrawn, None),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_rule_of_the_tree_reaches_the_sub_agents_that_run_and_those_that_start_later() {
    let (gate, quick) = (Gate::new(), Gate::new());
    let rig = Rig::new([
        spawns(&[("s0", "digger", "Dig.")]),
        calls(&[("c", "quick")]),
        spawns(&[("s1", "digger", "Dig more.")]),
        Played::text("Done."),
    ]);
    rig.model.route("Dig more.", [Played::text("Silver.")]);
    rig.model.route(&child("digger"), [calls(&[("d", "slow")]), Played::text("Gold.")]);
    let (agent, crew) = family(&rig, vec![gated_beside("slow", &gate), gated("quick", &quick)]).await;
    let rules = Arc::clone(agent.rules());
    let running = run(agent, "Go.");
    gate.reached().await;
    // The main agent waits for its sub-agent: its own boundary comes later.
    rig.send("dig by hand", TextKind::Rule);
    let to = crew.get(&AgentId::new("digger 0")).unwrap().interloper;
    let own = UserText { kind: TextKind::Rule, ..UserText::from("only for you") };
    to.inject_user_message(own).unwrap();
    gate.open();
    quick.reached().await;
    let own: Vec<String> = rules.list().into_iter().map(|rule| rule.text).collect();
    assert_eq!(own, ["dig by hand"], "a rule of an agent that has ended is gone");
    quick.open();
    running.answered().await;
    let later = rig.model.requests_of("Dig more.").pop().unwrap().lines();
    assert_eq!(later[2], "user: <steer-m1 kind=\"rule\" for=\"you\">\ndig by hand\n</steer-m1>", "{later:?}");
    let first = rig.model.requests_of(&child("digger"));
    let first = first.iter().rfind(|request| request.lines()[1] == "user: Dig.").unwrap().lines();
    assert!(first.iter().any(|line| line.contains("only for you")), "{first:?}");
}

#[tokio::test(start_paused = true)]
async fn a_running_sub_agent_is_told_a_rule_of_the_tree_at_its_next_boundary() {
    let (gate, quick) = (Gate::new(), Gate::new());
    // Both run at the same time: the main agent's own text is delivered while its sub-agent works.
    let rig = Rig::new([spawns(&[("s0", "digger", "Dig.")]), Played::text("Done.")]);
    rig.model.route(&child("digger"), [calls(&[("d", "slow")]), calls(&[("e", "quick")]), Played::text("Gold.")]);
    let (agent, _crew) = family(&rig, vec![gated_beside("slow", &gate), gated("quick", &quick)]).await;
    let rules = Arc::clone(agent.rules());
    let running = run(agent, "Go.");
    gate.reached().await;
    let set = |id: &str, scope| steersman_base::steering::Rule {
        id: id.into(),
        agent: AgentId::main(),
        scope,
        text: format!("rule {id}"),
        version: 0,
    };
    rules.set(set("m1", RuleScope::Tree));
    rules.set(set("m2", RuleScope::Agent));
    rules.set(set("m3", RuleScope::NewAgents));
    gate.open();
    quick.reached().await;
    let lines = rig.model.requests_of(&child("digger")).pop().unwrap().lines();
    let told: Vec<&String> = lines.iter().filter(|line| line.contains("kind=\"rule\"")).collect();
    assert_eq!(told, ["user: <steer-m1 kind=\"rule\" for=\"you\">\nrule m1\n</steer-m1>"]);
    rules.change(&"m1".into(), RuleChange::Withdraw);
    quick.open();
    running.answered().await;
    let lines = rig.model.requests_of(&child("digger")).pop().unwrap().lines();
    assert!(lines.last().unwrap().contains("change=\"withdrawn"), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn a_rule_survives_a_reset_and_is_told_anew() {
    let rig = Rig::new([Played::text("One."), Played::text("Two.")]);
    rig.send("be brief", TextKind::Rule);
    rig.send("Go.", TextKind::Add);
    let mut agent = run_queue(framed(&rig, []).await).answered().await;
    agent.reset();
    agent.run_loop("Again.").await.unwrap();
    assert_eq!(
        user_texts(&rig),
        ["Again.", "<steer-m1 kind=\"rule\" for=\"you and your sub-agents\">\nbe brief\n</steer-m1>"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_is_gone_on_with_has_its_rules() {
    let rig = Rig::new([Played::text("One.")]);
    rig.send("be brief", TextKind::Rule);
    rig.send("Go.", TextKind::Add);
    let agent = run_queue(framed(&rig, []).await).answered().await;
    let recorded = agent.history().messages().to_vec();

    let again = Rig::new([Played::text("Two."), Played::text("Three.")]);
    let mut agent = framed(&again, []).await;
    agent.resume(&recorded, 1);
    assert_eq!(agent.rules().list()[0].text, "be brief");
    agent.run_loop("Again.").await.unwrap();
    assert_eq!(news(&again), [], "the model knows it");
    // A host that knows that it was withdrawn says so.
    agent.rules().take_over(Vec::new());
    agent.run_loop("Once more.").await.unwrap();
    assert_eq!(news(&again), [("m1".to_owned(), RuleNews::Withdrawn, String::new())]);
}

#[tokio::test(start_paused = true)]
async fn without_frames_the_news_of_a_rule_is_plain_words() {
    let gate = Gate::new();
    let rounds = (0..2).map(|round| calls(&[(&format!("c{round}"), "one")]));
    let rig = Rig::new(rounds.chain([Played::text("Done.")]));
    let rules = Arc::new(Rules::default());
    let agent = rig.build(rig.builder().rules(Arc::clone(&rules)), [gated("one", &gate)]).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    let id = rig.send("be brief", TextKind::Rule);
    gate.open();
    gate.reached().await;
    rules.change(&id, words("be very brief"));
    gate.open();
    running.answered().await;
    assert_eq!(user_texts(&rig), ["Go.", "be brief", "A rule has other words from now on:\nbe very brief"]);
}
