//! The events of a child: which agents they name, which listeners hear them, and which functions do not.

use std::sync::Arc;

use steersman_agent::EventKind;
use steersman_agent::subagent::SubAgents;
use steersman_base::event::{Envelope, Event};
use steersman_base::id::AgentId;
use steersman_core::listener::{Listener, ListenerList};
use steersman_core::provider::Played;

use super::{child, parent, persona, spawns};
use crate::support::doubles::{Log, Rig, calls, run, tool};

// D12
#[tokio::test]
async fn envelopes_name_the_agent_and_its_spawner_and_one_seq_counts_the_whole_tree() {
    let rig = Rig::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Thanks.")]);
    rig.model.route(&child("miner"), [calls(&[("k1", "read")]), calls(&[("k2", "read")])]);
    rig.model.route("Evidence gathered", [Played::text("Some gold.")]);
    let mut miner = persona("miner", &["read"]);
    miner.max_steps = 1;
    let agent = parent(&rig, [tool("read", "r")], vec![miner]).await;
    run(agent, "Go.").answered().await;
    let envelopes = rig.recorder.envelopes();
    for (index, envelope) in envelopes.iter().enumerate() {
        assert_eq!(envelope.seq, index as u64 + 1);
        let parent = match envelope.agent.as_str() {
            "" => None,
            "miner 0" => Some(AgentId::main()),
            "miner 0_synthesizer" => Some(AgentId::new("miner 0")),
            other => panic!("who is {other:?}?"),
        };
        assert_eq!(envelope.parent, parent);
        match &envelope.event {
            Event::AgentSpawned { child, .. } | Event::AgentFinished { child, .. } => {
                let spawner = if child.as_str() == "miner 0" { "" } else { "miner 0" };
                assert_eq!(envelope.agent.as_str(), spawner);
            }
            _ => {}
        }
    }
    let spawned = envelopes.iter().find_map(|envelope| match &envelope.event {
        Event::AgentSpawned { persona, task, call, model, max_steps, tools, .. } => {
            Some((persona.clone(), task.clone(), call.clone(), model.clone(), *max_steps, tools.clone()))
        }
        _ => None,
    });
    let (persona, task, call, model, max_steps, tools) = spawned.unwrap();
    assert_eq!((persona.as_str(), task.as_str(), call.unwrap().as_str()), ("miner", "Dig.", "c1"));
    assert_eq!((model.as_deref(), max_steps, tools), (Some("test-model"), Some(1), vec!["read".to_owned()]));
}

/// A listener with an instance per agent.
struct Labelled(String, Log);

impl Listener for Labelled {
    fn on_event(&self, envelope: &Envelope) {
        if let Event::TurnStarted { .. } = envelope.event {
            self.1.say(format!("{:?} hears {:?}", self.0, envelope.agent.as_str()));
        }
    }

    fn for_sub_agent(&self, id: &AgentId) -> Option<Arc<dyn Listener>> {
        Some(Arc::new(Self(id.to_string(), self.1.clone())))
    }

    fn label(&self) -> String {
        format!("Labelled({})", self.0)
    }
}

#[tokio::test]
async fn a_child_hears_through_listeners_derived_for_it_and_the_parents_list_stays() {
    let log = Log::new();
    let rig = Rig::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Thanks.")]);
    rig.model.route(&child("miner"), [Played::text("Gold.")]);
    let labelled: Arc<dyn Listener> = Arc::new(Labelled(String::new(), log.clone()));
    let agent = rig
        .try_build(rig.builder(), |c| {
            c.add_listener(labelled);
            c.add_extension(Arc::new(SubAgents::new(vec![persona("miner", &[])])?))
        })
        .await
        .unwrap();
    let agent = run(agent, "Go.").answered().await;
    assert_eq!(log.all(), [r#""" hears """#, r#""miner 0" hears "miner 0""#]);
    assert_eq!(agent.listeners().to_string(), "[InMemoryEventList, Labelled()]");
}

#[test]
fn a_derived_list_is_new_and_keeps_listeners_that_do_not_derive() {
    let log = Log::new();
    let recorder: Arc<dyn Listener> = Arc::new(steersman_core::listener::InMemoryEventList::new());
    let labelled: Arc<dyn Listener> = Arc::new(Labelled("parent".to_owned(), log));
    let list = ListenerList::new(&[Arc::clone(&recorder), Arc::clone(&labelled)]);
    let derived = list.for_sub_agent(&AgentId::new("miner 0"));
    assert!(Arc::ptr_eq(&derived.listeners()[0], &recorder));
    assert!(!Arc::ptr_eq(&derived.listeners()[1], &labelled));
    assert_eq!(derived.to_string(), "[InMemoryEventList, Labelled(miner 0)]");
    assert_eq!(list.to_string(), "[InMemoryEventList, Labelled(parent)]");
    assert_eq!((list.agent().as_str(), derived.agent().as_str()), ("", "miner 0"));
}

// D18: events of children do not reach the functions of the parent.
#[tokio::test]
async fn functions_subscribed_to_the_parent_hear_the_parent_only() {
    let rig = Rig::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Thanks.")]);
    rig.model.route(&child("miner"), [Played::text("Gold.")]);
    let log = Log::new();
    let mut agent = parent(&rig, [], vec![persona("miner", &[])]).await;
    let heard = log.clone();
    agent.on(EventKind::AgentEnd, move |said| heard.say(format!("{:?}", said.envelope.agent.as_str())));
    run(agent, "Go.").answered().await;
    assert_eq!(log.all(), [r#""""#]);
}
