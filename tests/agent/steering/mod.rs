//! Stories of what a text of the user means: its kind on the way to the model, the frame around it, and when it enters.

mod obedient;
mod rules;
mod survival;

use crate::support::framed::{framed, user_texts};
use std::sync::{Arc, Mutex};

use steersman_base::assets;
use steersman_base::event::{Delivery, Event};
use steersman_base::message::{Message, UserAbout};
use steersman_base::steering::{Framing, RuleScope, TextKind};
use steersman_core::control::{AgentControls, Controls};
use steersman_core::provider::Played;
use steersman_core::wrapper;
use steersman_core::wrapper::parse;

use crate::support::doubles::{Gate, PROMPT, Pause, PlayedExt, Rig, calls, gated, run, run_queue, tool};
use crate::support::subagents::{child, parent_of, persona, spawns};

#[tokio::test(start_paused = true)]
async fn each_kind_reaches_the_model_in_its_frame_with_the_words_unchanged() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "bash"), ("c2", "grep")]), Played::text("Done.")]);
    let agent = framed(&rig, [gated("bash", &gate), gated("grep", &gate)]).await;
    let running = run(agent, "Migrate the schema.");
    gate.reached().await;
    rig.send("  use v4\n\nand \"quotes\" <b> ", TextKind::Add);
    rig.send("the port is 8080", TextKind::Note);
    gate.open();
    gate.reached().await;
    rig.send("no new files", TextKind::Rule);
    rig.send("Write the docs.", TextKind::Instead);
    gate.open();
    running.answered().await;
    assert_eq!(
        user_texts(&rig),
        [
            "Migrate the schema.",
            "<steer-m1 kind=\"add\" sent=\"while bash ran, 1 call before this\" task=\"goes on: Migrate the schema.\" reply=\"[m1]\">\n  use v4\n\nand \"quotes\" <b> \n</steer-m1>",
            "<steer-m2 kind=\"note\" sent=\"while bash ran, 1 call before this\">\nthe port is 8080\n</steer-m2>",
            "<steer-m3 kind=\"rule\" sent=\"while grep ran\" for=\"you and your sub-agents\">\nno new files\n</steer-m3>",
            "<steer-m4 kind=\"instead\" sent=\"while grep ran\" task=\"dropped: Migrate the schema.\" reply=\"[m4]\">\nWrite the docs.\n</steer-m4>",
        ]
    );
    let told = rig.events().into_iter().filter_map(|event| match event {
        Event::UserTurn { content, kind, .. } => Some((content, kind)),
        _ => None,
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            ("Migrate the schema.".to_owned(), TextKind::Add),
            ("  use v4\n\nand \"quotes\" <b> ".to_owned(), TextKind::Add),
            ("the port is 8080".to_owned(), TextKind::Note),
            ("no new files".to_owned(), TextKind::Rule),
            ("Write the docs.".to_owned(), TextKind::Instead),
        ],
        "events have the plain words"
    );
}

#[tokio::test(start_paused = true)]
async fn a_text_sent_while_the_model_writes_says_so_and_an_instead_names_the_task_for_what_follows() {
    let (pause, gate) = (Pause::new(), Gate::new());
    let rig = Rig::new([calls(&[("c1", "one")]).paused(&pause), calls(&[("c2", "one")]), Played::text("Done.")]);
    let agent = framed(&rig, [gated("one", &gate)]).await;
    let running = run(agent, "First.");
    pause.reached().await;
    rig.send("Second.", TextKind::Instead);
    pause.open();
    gate.reached().await;
    gate.open();
    gate.reached().await;
    rig.send("and third", TextKind::Add);
    gate.open();
    running.answered().await;
    let texts = user_texts(&rig);
    assert!(texts[1].contains("sent=\"while you wrote, 1 call before this\" task=\"dropped: First.\""), "{texts:?}");
    assert!(texts[2].contains("sent=\"while one ran\" task=\"goes on: Second.\""), "{texts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_text_that_cuts_an_answer_is_framed_too() {
    let pause = Pause::new();
    let rig = Rig::new([Played::text("Half").paused(&pause), Played::text("Done.")]);
    let running = run(framed(&rig, []).await, "Go.");
    pause.reached().await;
    rig.interloper.inject_user_message(("now this", Delivery::Now)).unwrap();
    running.answered().await;
    let expected =
        "<steer-m1 kind=\"add\" sent=\"while you wrote\" task=\"goes on: Go.\" reply=\"[m1]\">\nnow this\n</steer-m1>";
    assert_eq!(user_texts(&rig)[1], expected);
}

#[tokio::test(start_paused = true)]
async fn what_starts_a_turn_has_no_frame_but_a_note_and_a_rule_beside_it_do() {
    let rig = Rig::new([Played::text("Done."), Played::text("Again.")]);
    for (text, kind) in
        [("a note", TextKind::Note), ("one", TextKind::Add), ("a rule", TextKind::Rule), ("two", TextKind::Add)]
    {
        rig.send(text, kind);
    }
    let mut agent = run_queue(framed(&rig, []).await).answered().await;
    assert_eq!(
        user_texts(&rig),
        [
            "<steer-m1 kind=\"note\" sent=\"before this turn\">\na note\n</steer-m1>",
            "one",
            "<steer-m3 kind=\"rule\" sent=\"before this turn\" for=\"you and your sub-agents\">\na rule\n</steer-m3>",
            "two",
        ]
    );
    rig.send("three", TextKind::Instead);
    agent.run_queue().await.unwrap();
    assert_eq!(user_texts(&rig).last().unwrap(), "three");
}

#[tokio::test(start_paused = true)]
async fn by_default_the_library_sends_the_words_alone_and_explains_nothing() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "one")]), Played::text("Done.")]);
    let agent = rig.agent([gated("one", &gate)]).await;
    assert_eq!(agent.system_prompt(), PROMPT);
    let running = run(agent, "Go.");
    gate.reached().await;
    rig.inject("added");
    rig.send("noted", TextKind::Note);
    gate.open();
    running.answered().await;
    assert_eq!(user_texts(&rig), ["Go.", "added", "noted"]);
}

#[tokio::test(start_paused = true)]
async fn the_explanation_travels_with_every_agent_that_can_be_steered_and_with_no_other() {
    let rig = Rig::new([spawns(&[("s", "digger", "Dig.")]), Played::text("Done.")]);
    rig.model.route(&child("digger"), [Played::text("Gold.")]);
    let main = Controls {
        interloper: Arc::clone(&rig.interloper),
        cancellable: rig.cancellable.clone(),
        gate: Arc::default(),
    };
    let crew = Arc::new(AgentControls::new(main));
    let builder = rig.builder().framing(Framing::Framed);
    let agent = rig
        .try_build(builder, |c| {
            c.add_tool(tool("one", "done"))?;
            c.add_extension(Arc::new(
                steersman_agent::subagent::SubAgents::new(vec![persona("digger", &["one"])])?.agent_controls(crew),
            ))
        })
        .await
        .unwrap();
    run(agent, "Go.").answered().await;
    let explained = |text: &str| text.ends_with(assets::FRAMES.trim_end());
    assert!(
        rig.requests().iter().all(|request| explained(request.system_prompt())),
        "the main agent and its sub-agent"
    );
    assert_eq!(rig.model.requests_of(&child("digger")).len(), 1);

    // Without a queue nobody can steer it.
    let rig = Rig::new([spawns(&[("s", "digger", "Dig.")]), Played::text("Done.")]);
    rig.model.route(&child("digger"), [Played::text("Gold.")]);
    let builder = rig.builder().framing(Framing::Framed);
    let parent = parent_of(&rig, builder, [tool("one", "done")], vec![persona("digger", &["one"])]).await;
    run(parent, "Go.").answered().await;
    assert!(!explained(rig.model.requests_of(&child("digger"))[0].system_prompt()));
}

#[tokio::test(start_paused = true)]
async fn the_history_keeps_what_was_sent_and_the_plain_words_and_the_request_never_changes() {
    let gate = Gate::new();
    let rounds = (0..4).map(|round| calls(&[(&format!("c{round}"), "one")]));
    let rig = Rig::new(rounds.chain([Played::text("Done."), Played::text("Again.")]));
    let running = run(framed(&rig, [gated("one", &gate)]).await, "Go.");
    for round in 0..4 {
        gate.reached().await;
        rig.send(&format!("text {round}"), TextKind::ALL[round]);
        gate.open();
    }
    let mut agent = running.answered().await;
    agent.run_loop("Again.").await.unwrap();
    let requests = rig.requests();
    for pair in requests.windows(2) {
        assert!(pair[1].messages.starts_with(&pair[0].messages), "a request begins with the one before");
    }
    let kept: Vec<(String, String)> = agent
        .history()
        .messages()
        .iter()
        .filter_map(|message| match message {
            Message::User { content, about: Some(about), .. } => match about.as_ref() {
                UserAbout::Text(text) => Some((content.clone(), text.words.clone()?)),
                UserAbout::Rule(_)
                | UserAbout::Plan(_)
                | UserAbout::Kept(_)
                | UserAbout::Job(_)
                | UserAbout::Images
                | UserAbout::Agent(_) => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(kept.len(), 4);
    for (number, (content, words)) in kept.iter().enumerate() {
        let framed = parse(content).unwrap();
        assert_eq!((framed.words, words.as_str()), (words.as_str(), &*format!("text {number}")));
        assert_eq!(framed.kind, TextKind::ALL[number]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_extension_sees_the_plain_words() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "one")]), Played::text("Done.")]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let extension = crate::support::doubles::FnExtension::new().on_user_message(move |_, words| {
        log.lock().unwrap().push(words.to_owned());
        Ok(None)
    });
    let agent = rig
        .try_build(rig.builder().framing(Framing::Framed), |c| {
            c.add_tool(gated("one", &gate))?;
            c.add_extension(Arc::new(extension))
        })
        .await
        .unwrap();
    let running = run(agent, "Go.");
    gate.reached().await;
    rig.send("added", TextKind::Add);
    gate.open();
    running.answered().await;
    assert_eq!(*seen.lock().unwrap(), ["Go.", "added"]);
}

#[tokio::test(start_paused = true)]
async fn after_an_instead_the_rescue_answers_the_new_task() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "one")]), calls(&[("c2", "one")])]);
    rig.model.route("Evidence gathered", [Played::text("So far.")]);
    let limit = steersman_core::control::StepLimit::new(1).unwrap();
    let builder = rig.builder().framing(Framing::Framed).step_limit(limit);
    let running = run(rig.build(builder, [gated("one", &gate)]).await, "First task.");
    gate.reached().await;
    rig.send("Second task.", TextKind::Instead);
    rig.send("answer in German", TextKind::Rule);
    gate.open();
    running.answered().await;
    let prompt = &rig.model.requests_of("Evidence gathered")[0].lines()[1];
    assert!(prompt.starts_with("user: Question: Second task.\n\n"), "{prompt}");
    assert!(!prompt.contains("<steer-"), "the evidence has plain words: {prompt}");
    assert!(prompt.ends_with("holds for your answer:\nanswer in German"), "{prompt}");
}

#[test]
fn a_scope_is_named_as_its_reader_sees_it() {
    let words = RuleScope::ALL.map(wrapper::holds_for);
    assert_eq!(words, ["you", "you and your sub-agents", "the sub-agents that you start from now on"]);
}
