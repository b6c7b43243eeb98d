//! Random lives of a tree of agents with texts of every kind for any of them, texts that wait for conditions, rules that are
//! edited and withdrawn, plans that model and user change, answers of the model to texts, sub-agents that are spawned,
//! cancelled and continued, compactions, cancels, processes that die and are resumed from their records, and texts that
//! come at any moment.
//!
//! Checked on every request of every agent: it is valid; every delivered text stands in it once, whatever was taken out;
//! every rule that holds stands in it in its latest words; the model knows its plan; it begins with the agent's request
//! before it, unless a compaction came between. Checked at the end: each text was delivered once, or is pending, or came
//! back; an answer is one to a text that its agent saw. `STEER_LIVES=500` runs more of them.

mod model;
mod world;

use std::collections::HashMap;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use steersman_agent::Agent;
use steersman_agent::{KEPT_HEAD, SUMMARY_HEAD};
use steersman_base::event::Event;
use steersman_base::id::{AgentId, MessageId};
use steersman_base::message::Message;
use steersman_base::steering::TextKind;
use steersman_core::wrapper::{parse, read_kept};
use steersman_exchange::export::{Item, SessionParts};
use steersman_session::host::{ClosingEvent, Numbers};
use steersman_session::journal::{Reading, Record, restore};

use crate::support::doubles::fault;
use model::{ANSWER, Asked, build};
use world::World;

/// The turns of sub-agents that the user continued.
type Continued = FuturesUnordered<BoxFuture<'static, ()>>;

/// What came about in some lives.
#[derive(Debug, Default)]
struct Tally {
    resumes: u32,
    /// Sub-agents that ran when their process died.
    interrupted: u32,
    compactions: u32,
    conditions: usize,
    /// Turns that began for sub-agents that had ended.
    continued: usize,
    answers: usize,
    /// Changes of a plan by the user that a model was told of.
    plans: usize,
    /// Requests of sub-agents.
    children: usize,
}

/// Returns the words of every text of the user in a request with its id, as a reader of tags sees them; bare ones have none.
fn texts(messages: &[Message]) -> Vec<(Option<String>, String)> {
    let mut texts = Vec::new();
    for message in messages {
        let Message::User { content, .. } = message else { continue };
        if content.starts_with(KEPT_HEAD) {
            texts.extend(read_kept(content).iter().map(|kept| (Some(kept.id.to_owned()), kept.words.to_owned())));
        } else if let Some(framed) = parse(content) {
            texts.push((Some(framed.id.to_owned()), framed.words.to_owned()));
        } else if !content.starts_with(SUMMARY_HEAD) {
            texts.push((None, content.clone()));
        }
    }
    texts
}

/// Runs a turn of the main agent, and beside it those of continued sub-agents.
async fn turn(world: &World, agent: &mut Agent, continued: &mut Continued) {
    let kept = world.kept();
    let mut work = std::pin::pin!(agent.run_queue());
    loop {
        tokio::select! {
            biased;
            _ = &mut work => return,
            Some(()) = continued.next() => {}
            () = kept.woken() => continued.extend(kept.take_begun()),
        }
    }
}

/// Runs continued sub-agents to their ends while the main agent is idle.
async fn beside(world: &World, continued: &mut Continued) {
    let kept = world.kept();
    loop {
        continued.extend(kept.take_begun());
        if continued.next().await.is_none() && !kept.has_begun() {
            return;
        }
    }
}

/// Begins to run continued sub-agents; they need not come to their ends.
async fn partly(world: &World, continued: &mut Continued) {
    continued.extend(world.kept().take_begun());
    for _ in 0..2 + world.roll(8) {
        tokio::select! {
            biased;
            Some(()) = continued.next() => {}
            () = tokio::task::yield_now() => {}
        }
    }
}

/// Lets the process die and another one go on with what was recorded, as a journal keeps it.
async fn resume(world: &std::sync::Arc<World>, agent: Agent, continued: &mut Continued, tally: &mut Tally) -> Agent {
    let rules = agent.rules().list();
    let recorded = world.records();
    world.lose_texts_of_children();
    // Whoever is dropped says so, but not to a process that is dead.
    continued.clear();
    drop(world.kept().take_begun());
    drop(agent);
    let json = serde_json::to_string(&recorded).unwrap();
    let resumed = restore(serde_json::from_str(&json).unwrap());
    world.set_records(recorded);
    let numbers = Numbers { agents: resumed.numbers.agents.clone(), ..Numbers::default() };
    let mut agent = build(world, numbers).await;
    for ClosingEvent { agent: of, parent, event } in resumed.closing {
        tally.interrupted += u32::from(matches!(event, Event::AgentFinished { .. }));
        agent.listeners().emit_as(of, parent, event);
    }
    agent.resume(&resumed.messages, resumed.numbers.turns);
    agent.rules().take_over(rules);
    if let Some(plan) = resumed.plan {
        agent.plans().take_over(&AgentId::main(), plan);
    }
    world.kept().take_over(resumed.agents);
    tally.resumes += 1;
    agent
}

async fn live(seed: u64, tally: &mut Tally) {
    let world = World::new(seed);
    let mut agent = build(&world, Numbers::default()).await;
    let mut continued = Continued::new();
    for _ in 0..6 + world.roll(6) {
        match world.roll(7) {
            0 => {
                if world.roll(2) == 0 {
                    world.continue_one();
                    partly(&world, &mut continued).await;
                }
                agent = resume(&world, agent, &mut continued, tally).await;
            }
            1 => world.happen(),
            2 => {
                world.continue_one();
                beside(&world, &mut continued).await;
            }
            _ => {
                world.send();
                if !world.queue.deliverable() {
                    world.send_plain("go on with it");
                }
                turn(&world, &mut agent, &mut continued).await;
            }
        }
    }
    beside(&world, &mut continued).await;
    drop(agent);
    check_texts(seed, &world);
    let (requests, records) = (world.take_requests(), world.records());
    check_requests(seed, &world, &requests);
    check_beginnings(seed, &requests, &records, tally);
    check_answers(seed, &world, records.clone(), tally);
    for record in records {
        let Record::Event(envelope) = record else { continue };
        match envelope.event {
            Event::UserTurn { met: Some(_), .. } => tally.conditions += 1,
            Event::AgentSpawned { call: None, .. } => tally.continued += 1,
            Event::PlanNotified(_) => tally.plans += 1,
            _ => {}
        }
    }
}

/// Each text was delivered once, or is pending, or came back.
fn check_texts(seed: u64, world: &World) {
    let delivered: Vec<MessageId> = world.delivered().into_iter().map(|(_, id, _)| id).collect();
    let came_back = world.came_back();
    for (to, id, text) in world.sent() {
        let times = delivered.iter().filter(|one| **one == id).count();
        let waits = world.waits(&id);
        let back = came_back.iter().filter(|one| **one == id).count();
        assert_eq!(
            times + waits + back,
            1,
            "seed {seed}: {id} {text:?} for {to:?} was delivered {times}, waits {waits}, is back {back}"
        );
    }
    let mut ids: Vec<&MessageId> = delivered.iter().collect();
    ids.sort_by_key(|id| id.as_str());
    ids.dedup();
    assert_eq!(ids.len(), delivered.len(), "seed {seed}: a text was delivered twice");
}

fn check_requests(seed: u64, world: &World, requests: &[Asked]) {
    let sent = world.sent();
    for (number, asked) in requests.iter().enumerate() {
        let Asked { agent, messages, rules, delivered, knows_plan } = asked;
        let place = format!("seed {seed}, request {number} of {agent:?}");
        assert_eq!(fault(messages), None, "{place}");
        assert!(knows_plan, "{place}: the model does not know its plan");
        let texts = texts(messages);
        for rule in rules {
            let latest = texts.iter().rev().find(|(id, _)| id.as_deref() == Some(rule.id.as_str()));
            let words = latest.map(|(_, words)| words.as_str());
            assert_eq!(words, Some(rule.text.as_str()), "{place}: rule {}", rule.id);
        }
        // Rules are told anew when they change, everything else stands there once, unless the oldest found no room.
        let mut missing = 0;
        for (to, id, text) in &sent {
            let is_one = to == agent && text != "go on with it" && !world.is_repeated(id);
            let known = delivered.iter().find(|(of, known, _)| of == agent && known == id);
            let Some((_, _, kind)) = known.filter(|_| is_one) else { continue };
            let is_it = |(known, words): &&(Option<String>, String)| match known {
                Some(known) => known == id.as_str(),
                None => words == text,
            };
            let found = texts.iter().filter(is_it).count();
            if *kind != TextKind::Rule {
                assert!(found <= 1, "{place}: {id} stands there {found} times");
                missing += usize::from(found == 0);
            }
        }
        assert!(missing <= left_out(messages), "{place}: {missing} texts are not there");
    }
}

/// Each request begins with that agent's request before it, but behind a compaction.
fn check_beginnings(seed: u64, requests: &[Asked], records: &[Record], tally: &mut Tally) {
    let mut compactions: HashMap<&AgentId, u32> = HashMap::new();
    for record in records {
        if let Record::Event(envelope) = record
            && let Event::Compacted { .. } = envelope.event
        {
            *compactions.entry(&envelope.agent).or_default() += 1;
        }
    }
    tally.compactions += compactions.values().sum::<u32>();
    let mut before: HashMap<&AgentId, (&[Message], u32)> = HashMap::new();
    for Asked { agent, messages, .. } in requests {
        tally.children += usize::from(!agent.is_main());
        let (last, changes) = before.entry(agent).or_default();
        *changes += u32::from(!messages.starts_with(last));
        *last = messages;
    }
    for (agent, (_, changes)) in before {
        let compactions = compactions.get(agent).copied().unwrap_or(0);
        assert!(
            changes <= compactions,
            "seed {seed}: the beginning of {agent:?} changed {changes} times in {compactions} compactions"
        );
    }
}

/// What a model says that it did with a text is known of a text that was sent to it and that it saw.
fn check_answers(seed: u64, world: &World, records: Vec<Record>, tally: &mut Tally) {
    let parts = SessionParts::new(Reading { records, ..Reading::default() });
    let sent = world.sent();
    for agent in &parts.agents {
        for item in &agent.items {
            let Item::Text { state, .. } = item else { continue };
            let Some(answer) = &state.answer else { continue };
            tally.answers += 1;
            assert_eq!(answer, ANSWER, "seed {seed}");
            assert!(state.seen.is_some(), "seed {seed}: {:?} was answered and never seen", state.id);
            let is_its = |(to, id, _): &(AgentId, MessageId, String)| Some(id) == state.id.as_ref() && *to == agent.id;
            let is_repeated = state.id.as_ref().is_some_and(|id| !sent.iter().any(|(_, known, _)| known == id));
            assert!(is_repeated || sent.iter().any(is_its), "seed {seed}: {:?} is not {:?}'s", state.id, agent.id);
        }
    }
}

/// Returns the number of older texts that a compaction says it left out.
fn left_out(messages: &[Message]) -> usize {
    let block = messages.iter().find_map(|message| match message {
        Message::User { content, .. } if content.starts_with(KEPT_HEAD) => {
            content.split_once(" older texts found no room")
        }
        _ => None,
    });
    block.and_then(|(before, _)| before.rsplit('(').next()?.parse().ok()).unwrap_or(0)
}

#[tokio::test(start_paused = true)]
async fn in_any_life_every_text_comes_once_every_rule_holds_and_the_request_is_valid_and_stable() {
    let lives: u64 = std::env::var("STEER_LIVES").ok().and_then(|lives| lives.parse().ok()).unwrap_or(25);
    let mut tally = Tally::default();
    for seed in 0..lives {
        live(seed, &mut tally).await;
    }
    println!("{lives} lives: {tally:?}");
    let Tally { resumes, interrupted, compactions, conditions, continued, answers, plans, children } = tally;
    assert!(resumes > 5 && compactions > 20 && conditions > 20, "{resumes}, {compactions}, {conditions}");
    assert!(continued > 5 && interrupted > 0 && children > 50, "{continued}, {interrupted}, {children}");
    assert!(answers > 20 && plans > 10, "{answers}, {plans}");
}
