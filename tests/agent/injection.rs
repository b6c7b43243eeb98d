//! Stories of what the user types while the agent runs: where it enters, in which order, and that it does so once.

use std::sync::Arc;

use steersman_base::event::{Delivery, Envelope, Event};
use steersman_base::id::MessageId;
use steersman_core::control::{Modes, QueueMode};
use steersman_core::listener::Listener;
use steersman_core::provider::Played;
use steersman_core::tool::Tool;

use crate::support::doubles::{
    FnExtension, Gate, Log, PROMPT, Rig, Spy, acting, calls, gated, gated_beside, gated_stubborn, run, run_queue,
    settle, texts_of, tool,
};

pub fn three() -> Played {
    calls(&[("c1", "one"), ("c2", "two"), ("c3", "three")])
}

fn three_gated(make: fn(&str, &Gate) -> Arc<dyn Tool>) -> ([Gate; 3], Vec<Arc<dyn Tool>>) {
    let gates = [Gate::new(), Gate::new(), Gate::new()];
    let tools = ["one", "two", "three"].iter().zip(&gates).map(|(name, gate)| make(name, gate)).collect();
    (gates, tools)
}

// D1
#[tokio::test(start_paused = true)]
async fn injected_text_follows_all_tool_results() {
    let rig = Rig::new([three(), Played::text("Done.")]);
    let (gates, tools) = three_gated(gated);
    let agent = rig.agent(tools).await;
    let running = run(agent, "Go.");
    for (gate, text) in gates.iter().zip(["first", "second", "third"]) {
        gate.reached().await;
        rig.inject(text);
        gate.open();
    }
    running.answered().await;
    assert_eq!(
        rig.last_request().lines()[1..],
        [
            "user: Go.",
            "assistant:  +one#c1 +two#c2 +three#c3",
            "tool#c1: one done",
            "tool#c2: two done",
            "tool#c3: three done",
            "user: first",
            "user: second",
            "user: third"
        ]
    );
    assert_eq!(
        rig.event_lines()[3..12],
        [
            "call c1 one",
            "result c1: one done",
            "call c2 two",
            "result c2: two done",
            "call c3 three",
            "result c3: three done",
            "user mid m1: first",
            "user mid m2: second",
            "user mid m3: third"
        ]
    );
    assert!(!rig.interloper.pending());
}

// D1, D11
#[tokio::test(start_paused = true)]
async fn texts_injected_among_parallel_calls_follow_the_last_result_once_each_in_order() {
    let rig = Rig::new([three(), Played::text("Done.")]);
    let (gates, tools) = three_gated(gated_beside);
    let agent = rig.agent(tools).await;
    let running = run(agent, "Go.");
    for gate in &gates {
        gate.reached().await;
    }
    // The calls end in another order than they were written.
    for (gate, text) in [&gates[2], &gates[0], &gates[1]].into_iter().zip(["first", "second", "third"]) {
        rig.inject(text);
        gate.open();
        settle().await;
    }
    running.answered().await;
    assert_eq!(rig.requests().len(), 2);
    assert_eq!(
        rig.last_request().lines()[3..],
        ["tool#c1: one done", "tool#c2: two done", "tool#c3: three done", "user: first", "user: second", "user: third"]
    );
}

// D1: whatever the call, and at whatever moment of it.
#[tokio::test(start_paused = true)]
async fn a_text_accepted_while_any_tool_runs_is_in_the_very_next_request() {
    for make in [gated as fn(&str, &Gate) -> Arc<dyn Tool>, gated_beside] {
        for during in 0..3 {
            let rig = Rig::new([three(), calls(&[("c4", "four")]), Played::text("Done.")]);
            let (gates, mut tools) = three_gated(make);
            tools.push(tool("four", "four done"));
            let agent = rig.agent(tools).await;
            let running = run(agent, "Go.");
            for (index, gate) in gates.iter().enumerate() {
                gate.reached().await;
                if index == during {
                    rig.inject("now");
                }
                gate.open();
            }
            running.answered().await;
            assert_eq!(rig.requests()[1].lines().last().unwrap(), "user: now", "during call {during}");
            assert_eq!(rig.requests()[2].lines().iter().filter(|line| *line == "user: now").count(), 1);
        }
    }
}

// D1: the last moments before the boundary.
#[tokio::test(start_paused = true)]
async fn a_text_accepted_in_a_tools_last_step_or_with_its_last_result_is_in_the_next_request() {
    let rig = Rig::new([calls(&[("c1", "last")]), Played::text("Done.")]);
    let queue = Arc::clone(&rig.interloper);
    let last = acting("last", move |_| {
        queue.inject_user_message("in the last step").unwrap();
        "done".to_owned()
    });
    let queue = Arc::clone(&rig.interloper);
    let spy: Arc<dyn Listener> = Arc::new(Spy(move |envelope: &Envelope| {
        if let Event::ToolResult { .. } = envelope.event {
            queue.inject_user_message("with the last result").unwrap();
        }
    }));
    let agent = rig
        .try_build(rig.builder(), |c| {
            c.add_listener(spy);
            c.add_tool(last)
        })
        .await
        .unwrap();
    run(agent, "Go.").answered().await;
    let request = rig.last_request().lines();
    assert_eq!(request[3..], ["tool#c1: done", "user: in the last step", "user: with the last result"]);
}

// D19
#[tokio::test(start_paused = true)]
async fn the_rest_of_a_batch_runs_although_a_text_waits() {
    let rig = Rig::new([three(), Played::text("Done.")]);
    let (gates, tools) = three_gated(gated);
    let agent = rig.agent(tools).await;
    let running = run(agent, "Go.");
    gates[0].reached().await;
    rig.inject("hurry");
    for gate in &gates {
        gate.open();
    }
    running.answered().await;
    assert_eq!(rig.event_lines().iter().filter(|line| line.ends_with("done")).count(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_injection_refreshes_no_budget_and_clears_no_cancel() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "wait")]), calls(&[("c2", "wait"), ("c3", "wait")])]);
    rig.model.route("Evidence gathered", [Played::text("So far.")]);
    let agent = rig.limited(2, [gated("wait", &gate)]).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    rig.inject("and hurry");
    gate.open();
    gate.open();
    let agent = running.answered().await;
    assert!(rig.event_lines().contains(&"call c3 wait".to_owned()));
    assert_eq!(agent.last_assistant_content(), Some("So far."));
    assert_eq!(agent.step_limit().unwrap().step(), 3);

    rig.cancellable.cancel();
    rig.inject("more");
    assert!(rig.cancellable.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn extensions_see_an_injected_text_and_put_their_words_behind_it() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "wait")]), Played::text("Done.")]);
    let extension = FnExtension::new().on_user_message(|_, words| Ok(Some(format!("about {words}"))));
    let agent = rig
        .try_build(rig.builder(), |c| {
            c.add_tool(gated("wait", &gate))?;
            c.add_extension(Arc::new(extension))
        })
        .await
        .unwrap();
    let running = run(agent, "Go.");
    gate.reached().await;
    rig.inject("a");
    rig.inject("b");
    gate.open();
    running.answered().await;
    let lines = rig.last_request().lines();
    assert_eq!(lines[..3], [&format!("system: {PROMPT}"), "user: Go.", "system: about Go."]);
    assert_eq!(lines[4..], ["tool#c1: wait done", "user: a", "system: about a", "user: b", "system: about b"]);
}

// D5
#[tokio::test(start_paused = true)]
async fn an_extension_that_fails_on_one_text_loses_none_of_the_others() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "wait")]), Played::text("Fine.")]);
    let extension = FnExtension::new().on_user_message(|_, words| match words {
        "b" => Err("no".into()),
        _ => Ok(None),
    });
    let agent = rig
        .try_build(rig.builder(), |c| {
            c.add_tool(gated("wait", &gate))?;
            c.add_extension(Arc::new(extension))
        })
        .await
        .unwrap();
    let running = run(agent, "Go.");
    gate.reached().await;
    for text in ["a", "b", "c"] {
        rig.inject(text);
    }
    gate.open();
    let (agent, _) = running.failed().await;
    assert!(!rig.interloper.pending());
    run(agent, "On.").answered().await;
    assert_eq!(rig.last_request().lines()[4..], ["user: a", "user: b", "user: c", "user: On."]);
}

// D17
#[tokio::test(start_paused = true)]
async fn a_listener_that_panics_during_a_delivery_loses_no_text_and_bricks_no_queue() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "wait")]), Played::text("Done.")]);
    let queue = Arc::clone(&rig.interloper);
    let broken: Arc<dyn Listener> = Arc::new(Spy(move |envelope: &Envelope| {
        if let Event::UserTurn { mid_loop: true, .. } = envelope.event {
            // The lock is not held while a listener runs: it may look at the queue.
            assert!(queue.peek().len() > 100, "a bug of the listener");
        }
    }));
    let agent = rig
        .try_build(rig.builder(), |c| {
            c.add_listener(broken);
            c.add_tool(gated("wait", &gate))
        })
        .await
        .unwrap();
    let running = run(agent, "Go.");
    gate.reached().await;
    rig.inject("a");
    rig.inject("b");
    gate.open();
    running.answered().await;
    assert_eq!(rig.last_request().lines()[4..], ["user: a", "user: b"]);
    rig.inject("c");
    assert_eq!(texts_of(&rig.interloper), ["c"]);
}

// D4
#[tokio::test(start_paused = true)]
async fn what_the_user_changes_before_the_boundary_is_what_enters() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "wait")]), Played::text("Done."), Played::text("Later.")]);
    let agent = rig.agent([gated("wait", &gate)]).await;
    rig.inject("Go.");
    let running = run_queue(agent);
    gate.reached().await;
    let queue = &rig.interloper;
    let ids: Vec<MessageId> = ["a", "b", "c", "d"].map(|text| queue.inject_user_message(text).unwrap().id).into();
    assert!(queue.replace(&ids[0], "a, better").unwrap());
    assert!(queue.move_to(&ids[3], 0));
    assert!(queue.set_delivery(&ids[1], Delivery::FollowUp));
    assert_eq!(queue.withdraw(&ids[2]).unwrap().text, "c");
    gate.open();
    running.answered().await;
    assert_eq!(rig.requests()[1].lines()[4..], ["user: d", "user: a, better"]);
    assert_eq!(rig.requests()[2].lines()[7..], ["user: b"]);
    assert!(!queue.replace(&ids[0], "too late").unwrap(), "it says that it was delivered");
}

// D4
#[tokio::test(start_paused = true)]
async fn a_held_entry_is_passed_over_until_it_is_released() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "wait")]), calls(&[("c2", "wait")]), Played::text("Done.")]);
    let agent = rig.agent([gated("wait", &gate)]).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    let held = rig.interloper.inject_user_message("edited").unwrap().id;
    rig.inject("other");
    assert!(rig.interloper.hold(&held));
    gate.open();
    gate.reached().await;
    assert_eq!(rig.last_request().lines()[4..], ["user: other"]);
    assert_eq!(texts_of(&rig.interloper), ["edited"]);
    assert!(rig.interloper.release(&held));
    gate.open();
    running.answered().await;
    assert_eq!(rig.last_request().lines().last().unwrap(), "user: edited");
}

// D19
#[tokio::test(start_paused = true)]
async fn one_at_a_time_steers_enter_one_per_boundary() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "wait")]), calls(&[("c2", "wait")]), Played::text("Done."), Played::text("3.")]);
    rig.interloper.set_modes(Modes { steer: QueueMode::OneAtATime, ..Modes::default() });
    let agent = rig.agent([gated("wait", &gate)]).await;
    rig.inject("Go.");
    let running = run_queue(agent);
    gate.reached().await;
    for text in ["a", "b", "c"] {
        rig.inject(text);
    }
    gate.open();
    gate.open();
    running.answered().await;
    let added: Vec<String> = rig.requests().iter().map(|request| request.lines().pop().unwrap()).collect();
    assert_eq!(added, ["user: Go.", "user: a", "user: b", "user: c"]);
}

// D5: what was typed after the stop belongs to the next turn, whatever the stopped one still does.
#[tokio::test(start_paused = true)]
async fn text_typed_after_the_stop_is_not_swallowed_by_the_turn_that_ends() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "write")]), Played::text("Fresh.")]);
    let agent = rig.agent([gated_stubborn("write", &gate)]).await;
    rig.inject("Go.");
    let running = run_queue(agent);
    gate.reached().await;
    rig.inject("before the stop");
    let back: Vec<String> = rig.interloper.stop(&rig.cancellable).into_iter().map(|entry| entry.message.text).collect();
    assert_eq!(back, ["before the stop"]);
    rig.inject("after the stop");
    gate.open();
    let mut agent = running.cancelled().await;
    assert_eq!(texts_of(&rig.interloper), ["after the stop"]);
    agent.run_queue().await.unwrap();
    assert_eq!(
        rig.last_request().lines()[2..],
        ["assistant:  +write#c1", "tool#c1: write done", "user: after the stop"]
    );
}

// D12: the id that was returned is the id that is delivered.
#[tokio::test]
async fn ids_of_messages_count_up_and_a_turn_of_run_loop_has_none() {
    let rig = Rig::new([Played::text("1"), Played::text("2")]);
    let mut agent = rig.agent([]).await;
    agent.run_loop("typed by the host").await.unwrap();
    let id = rig.interloper.inject_user_message("queued").unwrap().id;
    assert_eq!(id.as_str(), "m1");
    agent.run_queue().await.unwrap();
    let users: Vec<_> = rig.event_lines().into_iter().filter(|line| line.starts_with("user")).collect();
    assert_eq!(users, ["user start: typed by the host", "user start m1: queued"]);
}

#[tokio::test]
async fn without_a_queue_run_queue_does_nothing() {
    let rig = Rig::new([]);
    let builder = steersman_agent::Agent::builder(Rig::transport(), PROMPT, rig.connector());
    let mut agent = rig.build(builder, []).await;
    assert_eq!(agent.run_queue().await.unwrap(), 0);
}

/// Draws numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

// D1, D2, D5: 200 random runs; tools, listeners and the outside inject at random moments.
#[tokio::test(start_paused = true)]
async fn at_random_moments_nothing_is_lost_doubled_or_reordered() {
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let mut script = Vec::new();
        for round in 0..=dice.below(4) {
            let names: Vec<(String, &str)> = (0..=dice.below(4))
                .map(|call| (format!("r{round}c{call}"), ["alone", "beside"][usize::try_from(dice.below(2)).unwrap()]))
                .collect();
            script.push(calls(&names.iter().map(|(id, name)| (id.as_str(), *name)).collect::<Vec<_>>()));
        }
        // Enough answers for as many turns as the texts may start.
        script.extend((0..40).map(|turn| Played::text(format!("answer {turn}"))));
        let rig = Rig::new(script);
        let sent = Log::new();
        let dice = Arc::new(std::sync::Mutex::new(dice));
        let inject = {
            let (queue, sent, dice) = (Arc::clone(&rig.interloper), sent.clone(), Arc::clone(&dice));
            Arc::new(move |odds: u64| {
                if sent.all().len() < 12 && dice.lock().unwrap().below(odds) == 0 {
                    let text = format!("text {}", sent.all().len());
                    sent.say(&text);
                    queue.inject_user_message(text).unwrap();
                }
            })
        };
        let tools = [gated_by(Arc::clone(&inject), "alone"), {
            let inject = Arc::clone(&inject);
            Arc::new(
                steersman_core::tool::FnTool::new(
                    "beside",
                    "Acts.",
                    steersman_core::tool::Parameters::default(),
                    move |_, _| {
                        let inject = Arc::clone(&inject);
                        async move {
                            inject(2);
                            tokio::task::yield_now().await;
                            inject(2);
                            Ok("done".to_owned())
                        }
                    },
                )
                .concurrency(steersman_core::tool::Concurrency::Parallel),
            ) as Arc<dyn Tool>
        }];
        let listener = Arc::clone(&inject);
        let spy: Arc<dyn Listener> = Arc::new(Spy(move |envelope: &Envelope| {
            if matches!(envelope.event, Event::ToolResult { .. } | Event::Assistant { .. } | Event::TurnEnded { .. }) {
                listener(3);
            }
        }));
        let agent = rig
            .try_build(rig.builder(), |c| {
                c.add_listener(spy);
                c.add_tools(tools)
            })
            .await
            .unwrap();
        rig.inject("Go.");
        run_queue(agent).answered().await;
        let delivered: Vec<String> = rig
            .last_request()
            .lines()
            .into_iter()
            .filter_map(|line| Some(line.strip_prefix("user: ")?.to_owned()))
            .collect();
        let expected: Vec<String> = ["Go.".to_owned()].into_iter().chain(sent.all()).collect();
        assert_eq!(delivered, expected, "seed {seed}");
        assert!(!rig.interloper.pending(), "seed {seed}");
    }
}

fn gated_by(inject: Arc<impl Fn(u64) + Send + Sync + 'static>, name: &str) -> Arc<dyn Tool> {
    acting(name, move |_| {
        inject(2);
        "done".to_owned()
    })
}
