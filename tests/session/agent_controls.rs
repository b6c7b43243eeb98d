//! Stories of steered children: with a crew each has a queue, a cancel flag and a gate of its own, from its spawn to its end.

use std::sync::Arc;
use std::time::Duration;

use steersman_agent::Agent;
use steersman_agent::subagent::{Persona, SubAgents};
use steersman_base::error::Refused;
use steersman_base::event::{Delivery, Event, Outcome, UserText};
use steersman_base::id::AgentId;
use steersman_base::steering::TextKind;
use steersman_core::control::{AgentControls, Controls, Decision, PauseGate, PausePlace};
use steersman_core::listener::Listener;
use steersman_core::provider::{Played, ProviderError};
use steersman_core::tool::Tool;
use steersman_session::host::Handle;

use crate::support::doubles::{Gate, Pause, PlayedExt, Rig, acting, calls, gated, gated_beside, run, settle, within};
use crate::support::subagents::{child, persona, spawns};

/// A rig whose children are steered.
struct Crewed {
    rig: Rig,
    crew: Arc<AgentControls>,
    handle: Handle,
}

impl Crewed {
    fn new(script: impl IntoIterator<Item = Played>) -> Self {
        let rig = Rig::new(script);
        let main = Controls {
            interloper: Arc::clone(&rig.interloper),
            cancellable: rig.cancellable.clone(),
            gate: Arc::new(PauseGate::new()),
        };
        let crew = Arc::new(AgentControls::new(main));
        let handle = Handle::new(Arc::clone(&crew), Arc::default());
        Self { rig, crew, handle }
    }

    async fn parent(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>, personas: Vec<Persona>) -> Agent {
        let crew = Arc::clone(&self.crew);
        let built = self.rig.try_build(self.rig.builder().gate(crew.main().gate), |c| {
            c.add_tools(tools)?;
            c.add_extension(Arc::new(SubAgents::new(personas)?.agent_controls(crew)))
        });
        built.await.unwrap()
    }

    fn steer(&self, agent: &str, text: &str) -> Result<String, Refused> {
        self.handle
            .inject_user_message(&AgentId::new(agent), (text, Delivery::Steer))
            .map(|pending| pending.id.to_string())
    }

    /// Returns the conversation of the last request of a persona's only child.
    fn last_of(&self, name: &str) -> Vec<String> {
        self.rig.model.requests_of(&child(name)).last().expect("it has asked").lines()
    }

    /// Returns who runs.
    fn ids(&self) -> Vec<String> {
        self.crew.ids().iter().map(ToString::to_string).collect()
    }

    /// Returns what an agent's events say of its queue and its end, with those of its spawner about it.
    fn queue_lines(&self, agent: &str) -> Vec<String> {
        let texts = |entries: Vec<steersman_base::event::Pending>| -> Vec<String> {
            entries.into_iter().map(|entry| format!("{} {}", entry.id, entry.text)).collect()
        };
        let envelopes = self.rig.recorder.envelopes().into_iter();
        let told = envelopes.filter_map(|envelope| match envelope.event {
            Event::AgentFinished { child, outcome, .. } if child.as_str() == agent => {
                Some(format!("finished {outcome:?}"))
            }
            _ if envelope.agent.as_str() != agent => None,
            Event::Pending { entries } => Some(format!("pending {:?}", texts(entries))),
            Event::Returned { entries } => Some(format!("returned {:?}", texts(entries))),
            Event::UserTurn { content, mid_loop: true, injection: Some(id), .. } => {
                Some(format!("delivered {id} {content}"))
            }
            Event::TurnEnded { outcome, .. } => Some(format!("turn {outcome:?}")),
            _ => None,
        });
        told.collect()
    }
}

// D1, D21
#[tokio::test(start_paused = true)]
async fn a_text_for_a_child_enters_at_its_own_next_boundary_and_nowhere_else() {
    let gate = Gate::new();
    let deck = Crewed::new([spawns(&[("c1", "a", "1"), ("c2", "b", "2")]), Played::text("Done.")]);
    for name in ["a", "b"] {
        deck.rig.model.route(&child(name), [calls(&[("k", "wait")]), Played::text(format!("from {name}"))]);
    }
    let agent = deck.parent([gated("wait", &gate)], ["a", "b"].map(|name| persona(name, &["wait"])).into()).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    gate.reached().await;
    assert_eq!(deck.ids(), ["", "a 0", "b 0"]);
    assert_eq!(deck.steer("a 0", "and the tests").unwrap(), "m1");
    settle().await;
    assert_eq!(deck.queue_lines("a 0"), [r#"pending ["m1 and the tests"]"#], "it is told at once");
    gate.open();
    gate.open();
    running.answered().await;
    assert_eq!(deck.last_of("a")[3..], ["tool#k: wait done", "user: and the tests"]);
    assert_eq!(deck.last_of("b")[3..], ["tool#k: wait done"]);
    assert_eq!(deck.rig.last_request().lines()[3..], ["tool#c1: from a", "tool#c2: from b"]);
    let lines = deck.queue_lines("a 0");
    // The scripted model answers before the child's task looks at its queue again.
    assert_eq!(lines[1..], ["delivered m1 and the tests", "turn Completed", "pending []", "finished Completed"]);
    assert_eq!(deck.ids(), [""]);
}

// D5, D21
#[tokio::test(start_paused = true)]
async fn a_text_for_all_is_one_text_for_each_with_an_id_of_its_own() {
    let gate = Gate::new();
    let deck = Crewed::new([spawns(&[("c1", "a", "1"), ("c2", "b", "2")]), Played::text("Done.")]);
    for name in ["a", "b"] {
        deck.rig.model.route(&child(name), [calls(&[("k", "wait")]), Played::text("ok")]);
    }
    let agent = deck.parent([gated("wait", &gate)], ["a", "b"].map(|name| persona(name, &["wait"])).into()).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    gate.reached().await;
    let sent = deck.handle.inject_all(("hurry", Delivery::Steer));
    let sent: Vec<(String, String)> =
        sent.into_iter().map(|(to, id)| (to.to_string(), id.unwrap().id.to_string())).collect();
    let expected = [("", "m1"), ("a 0", "m2"), ("b 0", "m3")];
    assert_eq!(sent, expected.map(|(to, id)| (to.to_owned(), id.to_owned())));
    gate.open();
    gate.open();
    running.answered().await;
    for (agent, id) in [("", "m1"), ("a 0", "m2"), ("b 0", "m3")] {
        let delivered: Vec<String> =
            deck.queue_lines(agent).into_iter().filter(|line| line.starts_with("delivered")).collect();
        assert_eq!(delivered, [format!("delivered {id} hurry")]);
    }
}

// D3, D5, D21
#[tokio::test(start_paused = true)]
async fn texts_that_come_during_the_last_answer_of_a_child_continue_it_before_its_spawner_goes_on() {
    let pause = Pause::new();
    let deck = Crewed::new([spawns(&[("c1", "a", "1")]), Played::text("Done.")]);
    deck.rig.model.route(&child("a"), [Played::text("Spaces.").paused(&pause), Played::text("Tabs.")]);
    let agent = deck.parent([], vec![persona("a", &[])]).await;
    let running = run(agent, "Go.");
    pause.reached().await;
    deck.steer("a 0", "use tabs").unwrap();
    deck.steer("a 0", "and no BOM").unwrap();
    pause.open();
    running.answered().await;
    assert_eq!(deck.last_of("a")[2..], ["assistant: Spaces.", "user: use tabs", "user: and no BOM"]);
    let lines = deck.queue_lines("a 0");
    assert_eq!(lines[lines.len() - 3..], ["turn Completed", "pending []", "finished Completed"]);
    assert!(!lines.iter().any(|line| line.starts_with("returned")), "{lines:?}");
    let both = "tool#c1: Spaces.\n\n[then the user wrote to the agent, and it answered:]\n\nTabs.";
    assert_eq!(deck.rig.last_request().lines()[3..], [both]);
    assert_eq!(deck.crew.peek(), []);
}

// D5, D21
#[tokio::test(start_paused = true)]
async fn what_starts_no_turn_of_a_child_is_given_back_at_its_end_and_later_texts_are_refused() {
    let pause = Pause::new();
    let deck = Crewed::new([spawns(&[("c1", "a", "1")]), Played::text("Done.")]);
    deck.rig.model.route(&child("a"), [Played::text("The answer.").paused(&pause)]);
    let agent = deck.parent([], vec![persona("a", &[])]).await;
    let running = run(agent, "Go.");
    pause.reached().await;
    let note = |text: &str| UserText { kind: TextKind::Note, ..UserText::from((text, Delivery::Steer)) };
    for text in ["too late", "as well"] {
        deck.handle.inject_user_message(&AgentId::new("a 0"), note(text)).unwrap();
    }
    pause.open();
    running.answered().await;
    let lines = deck.queue_lines("a 0");
    let end = ["turn Completed", r#"returned ["m1 too late", "m2 as well"]"#, "pending []", "finished Completed"];
    assert_eq!(lines[lines.len() - 4..], end);
    assert_eq!(deck.rig.last_request().lines()[3..], ["tool#c1: The answer."], "they enter no conversation");
    assert_eq!(deck.steer("a 0", "much too late"), Err(Refused::Ended));
    assert_eq!(deck.crew.peek(), []);
}

#[tokio::test(start_paused = true)]
async fn a_follow_up_for_a_child_and_a_text_for_nobody_are_refused() {
    let pause = Pause::new();
    let deck = Crewed::new([spawns(&[("c1", "a", "1")]), Played::text("Done.")]);
    deck.rig.model.route(&child("a"), [Played::text("ok").paused(&pause)]);
    let agent = deck.parent([], vec![persona("a", &[])]).await;
    let running = run(agent, "Go.");
    pause.reached().await;
    let follow_up = deck.handle.inject_user_message(&AgentId::new("a 0"), ("and then?", Delivery::FollowUp));
    assert_eq!(follow_up, Err(Refused::OneTurn));
    assert_eq!(deck.steer("a 1", "who?"), Err(Refused::Ended));
    assert_eq!(deck.steer("a 0", " "), Err(Refused::Blank));
    pause.open();
    running.answered().await;
}

// D6, D14
#[tokio::test(start_paused = true)]
async fn one_child_is_cancelled_its_parent_is_told_and_goes_on_and_its_sibling_never_knows() {
    let (gate, pause) = (Gate::new(), Pause::new());
    let deck = Crewed::new([spawns(&[("c1", "a", "1"), ("c2", "b", "2")]), Played::text("Done.")]);
    deck.rig.model.route(&child("a"), [calls(&[("k", "wait")])]);
    deck.rig.model.route(&child("b"), [Played::text("from b").paused(&pause)]);
    let agent = deck.parent([gated("wait", &gate)], ["a", "b"].map(|name| persona(name, &["wait"])).into()).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    pause.reached().await;
    deck.steer("a 0", "never read").unwrap();
    assert!(deck.handle.cancel_agent(&AgentId::new("a 0")));
    settle().await;
    assert_eq!(deck.ids(), ["", "b 0"]);
    assert!(!deck.handle.cancel_agent(&AgentId::new("a 0")), "it is not running any more");
    assert!(!deck.rig.cancellable.is_cancelled());
    pause.open();
    running.answered().await;
    let results = ["tool#c1: Error: cancelled by the user", "tool#c2: from b"];
    assert_eq!(deck.rig.last_request().lines()[3..], results);
    let lines = deck.queue_lines("a 0");
    assert_eq!(lines[1..], ["turn Cancelled", r#"returned ["m1 never read"]"#, "pending []", "finished Cancelled"]);
    assert_eq!(deck.queue_lines("b 0"), ["turn Completed", "finished Completed"]);
    assert_eq!(deck.rig.event_lines().last().unwrap(), "ended 1 completed");
}

// D6
#[tokio::test(start_paused = true)]
async fn a_child_that_streams_is_cancelled_by_itself_too_and_its_request_is_dropped() {
    let pause = Pause::new();
    let deck = Crewed::new([spawns(&[("c1", "a", "1")]), Played::text("Done.")]);
    deck.rig.model.route(&child("a"), [Played::text("never whole").paused(&pause)]);
    let agent = deck.parent([], vec![persona("a", &[])]).await;
    let running = run(agent, "Go.");
    pause.reached().await;
    assert_eq!(deck.handle.cancel_agents(&["a 0", "a 1"].map(AgentId::new)), 1);
    running.answered().await;
    assert_eq!(deck.rig.last_request().lines()[3..], ["tool#c1: Error: cancelled by the user"]);
}

// D6, D9
#[tokio::test(start_paused = true)]
async fn a_stop_still_ends_every_child_and_the_parent_and_the_texts_of_all_come_back() {
    let gate = Gate::new();
    let deck = Crewed::new([spawns(&[("c1", "a", "1"), ("c2", "b", "2")]), Played::text("Next.")]);
    for name in ["a", "b"] {
        deck.rig.model.route(&child(name), [calls(&[("k", "wait")])]);
    }
    let agent = deck.parent([gated("wait", &gate)], ["a", "b"].map(|name| persona(name, &["wait"])).into()).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    gate.reached().await;
    deck.steer("a 0", "for a").unwrap();
    deck.steer("", "for main").unwrap();
    let back: Vec<String> = deck.handle.stop().into_iter().map(|entry| entry.message.text).collect();
    assert_eq!(back, ["for main", "for a"]);
    let agent = running.cancelled().await;
    for id in ["a 0", "b 0"] {
        assert_eq!(deck.queue_lines(id).last().unwrap(), "finished Cancelled");
    }
    assert!(!deck.queue_lines("a 0").iter().any(|line| line.starts_with("returned")), "a text comes back once");
    assert!(!deck.rig.event_lines().iter().any(|line| line.starts_with("result")), "no Error: text was made of it");
    run(agent, "Else.").answered().await;
    assert_eq!(deck.rig.last_request().lines()[3], "tool#c1: Error: cancelled while it ran");
    assert!(!deck.handle.cancel_agent(&AgentId::main()), "the main agent is stopped, not cancelled like a child");
}

#[tokio::test(start_paused = true)]
async fn to_hold_all_parks_each_agent_where_it_comes_by_also_a_child_that_comes_later_and_each_goes_on_by_itself() {
    let (gate, pause) = (Gate::new(), Pause::new());
    let deck = Crewed::new([spawns(&[("c1", "a", "1"), ("c2", "b", "2")]).paused(&pause), Played::text("Done.")]);
    for name in ["a", "b"] {
        deck.rig.model.route(&child(name), [calls(&[("k", "wait")]), Played::text(format!("from {name}"))]);
    }
    let agent = deck.parent([gated("wait", &gate)], ["a", "b"].map(|name| persona(name, &["wait"])).into()).await;
    let running = run(agent, "Go.");
    let main = AgentId::main();
    let [a, b] = ["a 0", "b 0"].map(AgentId::new);
    let paused_at = |agent: &AgentId| deck.crew.get(agent).and_then(|controls| controls.gate.paused_at());
    pause.reached().await;
    deck.handle.pause_all();
    assert!(deck.handle.is_paused(&main));
    assert!(deck.handle.resume(&main), "one agent goes on although the rest is held");
    pause.open();
    settle().await;
    let held = [&main, &a, &b].map(|agent| deck.handle.is_paused(agent));
    assert_eq!(held, [false, true, true], "who came later is held too");
    for child in [&a, &b] {
        assert!(matches!(paused_at(child), Some(PausePlace::Call(call)) if call.id.as_str() == "k"));
    }
    assert!(deck.handle.decide(&a, Some(&"k".into()), Decision::Skip("not now".to_owned())));
    settle().await;
    assert_eq!(paused_at(&a), Some(PausePlace::Boundary), "it waits again where it next comes by");
    deck.handle.resume_all();
    gate.reached().await;
    gate.open();
    running.answered().await;
    assert_eq!(deck.last_of("a")[3..], ["tool#k: Error: skipped by the user: not now"]);
    assert_eq!(deck.rig.last_request().lines()[3..], ["tool#c1: from a", "tool#c2: from b"]);
    assert!(
        !deck.handle.pause(&a) && !deck.handle.resume(&a) && !deck.handle.is_paused(&a),
        "it is not running any more"
    );
}

#[tokio::test(start_paused = true)]
async fn a_child_that_is_held_is_cancelled_at_once() {
    let deck = Crewed::new([spawns(&[("c1", "a", "1")]), Played::text("Done.")]);
    deck.rig.model.route(&child("a"), [calls(&[("k", "look")])]);
    let agent = deck.parent([crate::support::doubles::tool("look", "")], vec![persona("a", &["look"])]).await;
    let a = AgentId::new("a 0");
    let running = {
        let handle = deck.handle.clone();
        handle.pause_all();
        handle.resume(&AgentId::main());
        run(agent, "Go.")
    };
    settle().await;
    assert!(deck.handle.is_paused(&a));
    assert!(deck.handle.cancel_agent(&a));
    running.answered().await;
    assert_eq!(deck.rig.last_request().lines()[3..], ["tool#c1: Error: cancelled by the user"]);
}

// D20, D21
#[tokio::test(start_paused = true)]
async fn a_child_leaves_the_crew_however_it_ends() {
    let ends = [
        Played::text("fine"),
        Played::error(ProviderError::CutOff),
        calls(&[("k1", "panics"), ("k2", "panics")]),
        calls(&[("k1", "cancels")]),
    ];
    for (number, end) in ends.into_iter().enumerate() {
        let deck = Crewed::new([spawns(&[("c1", "a", "1")]), Played::text("Done.")]);
        deck.rig.model.route(&child("a"), [end]);
        deck.rig.model.route("Evidence gathered", [Played::text("rescued")]);
        let handle = deck.handle.clone();
        let cancels = acting("cancels", move |_| {
            assert!(handle.cancel_agent(&AgentId::new("a 0")));
            String::new()
        });
        let panics = acting("panics", |_| panic!("a bug of a tool"));
        let mut limited = persona("a", &["panics", "cancels"]);
        limited.max_steps = 1;
        let agent = deck.parent([panics, cancels], vec![limited]).await;
        run(agent, "Go.").answered().await;
        assert_eq!(deck.ids(), [""], "end {number}");
        assert_eq!(deck.steer("a 0", "late"), Err(Refused::Ended));
    }
}

// D5: whoever drops the run loses no text.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_gives_the_texts_of_its_children_back() {
    let gate = Gate::new();
    let deck = Crewed::new([spawns(&[("c1", "a", "1")])]);
    deck.rig.model.route(&child("a"), [calls(&[("k", "wait")])]);
    let mut agent = deck.parent([gated("wait", &gate)], vec![persona("a", &["wait"])]).await;
    {
        let mut turn = std::pin::pin!(agent.run_loop("Go."));
        tokio::select! {
            _ = &mut turn => panic!("it waits at the gate"),
            () = gate.reached() => {}
        }
        deck.steer("a 0", "first").unwrap();
    }
    assert_eq!(
        deck.queue_lines("a 0"),
        ["turn Cancelled", r#"returned ["m1 first"]"#, "pending []", "finished Cancelled"]
    );
    assert_eq!(deck.ids(), [""]);
}

// D20: numbers and message ids are never used again, whatever has ended.
#[tokio::test(start_paused = true)]
async fn ids_are_unique_over_the_session() {
    let gate = Gate::new();
    let deck = Crewed::new([
        spawns(&[("c1", "a", "1"), ("c2", "a", "2")]),
        spawns(&[("c3", "a", "3")]),
        Played::text("Done."),
    ]);
    deck.rig
        .model
        .route(&child("a"), (0..3).flat_map(|_| [calls(&[("k", "wait")])]).chain((0..3).map(|_| Played::text("ok"))));
    let agent = deck.parent([gated_beside("wait", &gate)], vec![persona("a", &["wait"])]).await;
    let running = run(agent, "Go.");
    let mut sent = Vec::new();
    for children in [&["a 0", "a 1"][..], &["a 2"][..]] {
        for _ in children {
            gate.reached().await;
        }
        sent.extend(children.iter().map(|id| deck.steer(id, "x").unwrap()));
        sent.push(deck.steer("", "y").unwrap());
        for id in children {
            deck.handle.cancel_agent(&AgentId::new(*id));
        }
    }
    running.answered().await;
    assert_eq!(sent, ["m1", "m2", "m3", "m4", "m5"]);
    let spawned: Vec<String> = deck
        .rig
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::AgentFinished { child, outcome: Outcome::Cancelled, .. } => Some(child.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(spawned, ["a 0", "a 1", "a 2"]);
}

// D21: who is told of a child can steer it at once.
#[tokio::test(start_paused = true)]
async fn a_text_sent_on_the_news_of_the_spawn_waits_for_the_childs_first_boundary() {
    let deck = Crewed::new([spawns(&[("c1", "a", "1")]), Played::text("Done.")]);
    deck.rig.model.route(&child("a"), [calls(&[("k", "look")]), Played::text("ok")]);
    let handle = deck.handle.clone();
    let spy: Arc<dyn Listener> =
        Arc::new(crate::support::doubles::Spy(move |envelope: &steersman_base::event::Envelope| {
            if let Event::AgentSpawned { child, .. } = &envelope.event {
                handle.inject_user_message(child, ("at once", Delivery::Steer)).unwrap();
            }
        }));
    let crew = Arc::clone(&deck.crew);
    let built = deck.rig.try_build(deck.rig.builder(), |c| {
        c.add_listener(spy);
        c.add_tool(crate::support::doubles::tool("look", "seen"))?;
        c.add_extension(Arc::new(SubAgents::new(vec![persona("a", &["look"])])?.agent_controls(crew)))
    });
    within(Duration::from_secs(1), "the turn", run(built.await.unwrap(), "Go.").answered()).await;
    assert_eq!(deck.last_of("a")[3..], ["tool#k: seen", "user: at once"]);
}
