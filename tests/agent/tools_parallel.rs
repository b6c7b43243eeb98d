//! Stories of a batch: groups of calls, their order, budget and cancel, and tools that break.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use steersman_base::event::Event;
use steersman_core::provider::Played;
use steersman_core::tool::{Concurrency, FnTool, OnCancel, Parameters, Tool, ToolError};

use crate::support::doubles::{
    Gate, Log, PlayedExt, Rig, acting, assert_sendable, calls, gated, gated_beside, gated_fn, gated_stubborn, run,
    settle, tool,
};

fn batch(names: &[&str]) -> Played {
    let ids: Vec<String> = (1..=names.len()).map(|number| format!("c{number}")).collect();
    calls(&ids.iter().map(String::as_str).zip(names.iter().copied()).collect::<Vec<_>>())
}

fn beside(name: &str, answer: &'static str) -> Arc<dyn Tool> {
    let answers = move |_, _| async move { Ok(answer.to_owned()) };
    Arc::new(FnTool::new(name, "Answers.", Parameters::default(), answers).concurrency(Concurrency::Parallel))
}

#[tokio::test(start_paused = true)]
async fn a_name_in_another_case_or_behind_a_prefix_is_the_only_tool_that_it_fits() {
    let names = ["Read", "functions.read", "read ", "default_api:READ", "tools.Look", "LOOK"];
    let rig = Rig::new([batch(&names), Played::text("Done.")]);
    let agent = rig.agent([tool("read", "text"), tool("look", "one"), tool("Look", "other")]).await;
    run(agent, "Go.").answered().await;
    let lines = rig.last_request().lines();
    let results: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.split_once(": ").filter(|(to, _)| to.starts_with("tool#")))
        .map(|(_, result)| result)
        .collect();
    assert_eq!(results[..5], ["text", "text", "text", "text", "other"]);
    assert!(results[5].starts_with("Error: unknown tool 'LOOK'"), "two fit: {}", results[5]);
    let called = rig.events().into_iter().filter_map(|event| match event {
        Event::ToolCall { name, .. } => Some(name),
        _ => None,
    });
    assert_eq!(called.collect::<Vec<_>>(), ["read", "read", "read", "read", "Look", "LOOK"]);
}

#[tokio::test(start_paused = true)]
async fn a_name_in_the_spelling_of_other_programs_is_the_only_tool_that_it_fits() {
    let names = [
        "functions.read:0",
        "`read`",
        "read()",
        "read<|channel|>commentary",
        "functions__read",
        "WebSearch",
        "web-search",
        "look_up",
        "one.look_up",
        "one__look_up",
        "mcp__two__read",
        "write",
    ];
    let rig = Rig::new([batch(&names), Played::text("Done.")]);
    let agent = rig.agent([tool("read", ""), tool("web_search", ""), tool("mcp__one__look_up", "")]).await;
    run(agent, "Go.").answered().await;
    let called = rig.events().into_iter().filter_map(|event| match event {
        Event::ToolCall { name, .. } => Some(name),
        _ => None,
    });
    assert_eq!(
        called.collect::<Vec<_>>(),
        [
            "read",
            "read",
            "read",
            "read",
            "read",
            "web_search",
            "web_search",
            "mcp__one__look_up",
            "mcp__one__look_up",
            "mcp__one__look_up",
            "mcp__two__read",
            "write"
        ]
    );
}

// D11
#[tokio::test(start_paused = true)]
async fn neighbouring_safe_calls_run_at_the_same_time_and_results_enter_in_call_order() {
    let rig = Rig::new([batch(&["a", "b", "c"]), Played::text("Done.")]);
    let gates = [Gate::new(), Gate::new(), Gate::new()];
    let tools = ["a", "b", "c"].iter().zip(&gates).map(|(name, gate)| gated_beside(name, gate)).collect::<Vec<_>>();
    let agent = rig.agent(tools).await;
    let running = run(agent, "Go.");
    for gate in &gates {
        gate.reached().await;
    }
    for index in [2, 0, 1] {
        gates[index].open();
        settle().await;
    }
    running.answered().await;
    assert_eq!(
        rig.event_lines()[3..9],
        ["call c1 a", "call c2 b", "call c3 c", "result c3: c done", "result c1: a done", "result c2: b done"],
        "events come when they happen"
    );
    assert_eq!(rig.last_request().lines()[3..], ["tool#c1: a done", "tool#c2: b done", "tool#c3: c done"]);
}

// D11: groups are prepared just before they run.
#[tokio::test(start_paused = true)]
async fn a_call_that_runs_alone_splits_the_batch_into_groups() {
    let rig = Rig::new([batch(&["read", "read", "write", "read", "write", "write"]), Played::text("Done.")]);
    let agent = rig.agent([beside("read", "r"), tool("write", "w")]).await;
    run(agent, "Go.").answered().await;
    assert_eq!(
        rig.event_lines()[3..15],
        [
            "call c1 read",
            "call c2 read",
            "result c1: r",
            "result c2: r",
            "call c3 write",
            "result c3: w",
            "call c4 read",
            "result c4: r",
            "call c5 write",
            "result c5: w",
            "call c6 write",
            "result c6: w"
        ]
    );
}

// D11
#[tokio::test(start_paused = true)]
async fn calls_that_are_not_declared_safe_never_overlap() {
    let rig = Rig::new([batch(&["one", "two"]), Played::text("Done.")]);
    let (one, two) = (Gate::new(), Gate::new());
    let agent = rig.agent([gated("one", &one), gated("two", &two)]).await;
    let running = run(agent, "Go.");
    one.reached().await;
    settle().await;
    assert_eq!(two.waiting(), 0);
    one.open();
    two.reached().await;
    two.open();
    running.answered().await;
}

// D11
#[tokio::test(start_paused = true)]
async fn at_most_eight_run_at_once_and_a_slow_first_one_keeps_nobody_waiting() {
    let names = vec!["slow"; 1].into_iter().chain(vec!["quick"; 19]).collect::<Vec<_>>();
    let rig = Rig::new([batch(&names), Played::text("Done.")]);
    let (slow, quick) = (Gate::new(), Gate::new());
    let now = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let tool = {
        let (quick, now, most) = (quick.clone(), Arc::clone(&now), Arc::clone(&most));
        FnTool::new("quick", "Waits.", Parameters::default(), move |_, _| {
            let (quick, now, most) = (quick.clone(), Arc::clone(&now), Arc::clone(&most));
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                quick.pass().await;
                now.fetch_sub(1, Ordering::SeqCst);
                Ok("q".to_owned())
            }
        })
        .concurrency(Concurrency::Parallel)
    };
    let agent = rig.agent([gated_beside("slow", &slow), Arc::new(tool) as Arc<dyn Tool>]).await;
    let running = run(agent, "Go.");
    slow.reached().await;
    settle().await;
    assert_eq!(quick.waiting(), 7, "with the slow one that makes eight");
    for _ in 0..19 {
        quick.open();
    }
    settle().await;
    assert_eq!(rig.event_lines().iter().filter(|line| line.ends_with(": q")).count(), 19, "the slow one still runs");
    slow.open();
    running.answered().await;
    assert_eq!(most.load(Ordering::SeqCst), 7);
    let lines = rig.last_request().lines();
    let results: Vec<&String> = lines.iter().filter(|line| line.starts_with("tool#")).collect();
    assert_eq!(results[0], "tool#c1: slow done");
    assert_eq!(results[19], "tool#c20: q");
}

// D11
#[tokio::test(start_paused = true)]
async fn a_batch_of_three_with_two_steps_left_runs_two() {
    for make in [tool as fn(&str, &str) -> Arc<dyn Tool>, |name, _| beside(name, "seen")] {
        let rig = Rig::new([batch(&["look", "look", "look", "look"])]);
        rig.model.route("Evidence gathered", [Played::text("So far.")]);
        let agent = rig.limited(2, [make("look", "seen")]).await;
        let agent = run(agent, "Look.").answered().await;
        let calls: Vec<String> =
            rig.event_lines().into_iter().filter(|l| l.starts_with("call") || l.starts_with("res")).collect();
        assert_eq!(calls.iter().filter(|line| line.starts_with("result")).count(), 2);
        assert_eq!(calls.iter().filter(|line| line.starts_with("call")).count(), 3, "the tripping call is shown");
        assert_eq!(
            crate::support::doubles::lines(agent.history().messages())[3..],
            [
                "tool#c1: seen",
                "tool#c2: seen",
                "tool#c3: Error: step budget exhausted",
                "tool#c4: Error: step budget exhausted",
                "assistant: So far."
            ]
        );
    }
}

// Over rounds as well; the count is of calls.
#[tokio::test]
async fn exactly_n_calls_run_over_rounds() {
    for max in 1..4 {
        let rig = Rig::new((0..5).map(|round| calls(&[(format!("c{round}").as_str(), "look")])));
        rig.model.route("Evidence gathered", [Played::text("So far.")]);
        let log = Log::new();
        let said = log.clone();
        let look = acting("look", move |_| {
            said.say("ran");
            "seen".to_owned()
        });
        let agent = rig.limited(max, [look]).await;
        run(agent, "Look.").answered().await;
        assert_eq!(log.all().len(), usize::try_from(max).unwrap());
    }
}

#[tokio::test]
async fn the_event_comes_before_the_tick_and_the_tick_before_the_check() {
    let rig = Rig::new([batch(&["stop", "look"])]);
    rig.model.route("Evidence gathered", [Played::text("Never asked.")]);
    let flag = rig.cancellable.clone();
    let stop = FnTool::new("stop", "Cancels.", Parameters::default(), move |_, _| {
        flag.cancel();
        async { Ok("stopped".to_owned()) }
    })
    .on_cancel(OnCancel::Wait);
    let agent = rig.limited(1, [Arc::new(stop) as Arc<dyn Tool>, tool("look", "seen")]).await;
    run(agent, "Go.").cancelled().await;
    let lines = rig.event_lines();
    assert_eq!(lines[4..6], ["result c1: stopped", "call c2 look"]);
    assert!(lines[6].starts_with("fallback: "), "the budget wins: {lines:?}");
    assert_eq!(lines[lines.len() - 2..], ["cancelled", "ended 1 cancelled"]);
}

// D7, D11
#[tokio::test]
async fn a_cancel_between_calls_shows_the_next_call_and_does_not_run_it() {
    let rig = Rig::new([batch(&["stop", "look", "look"]), Played::text("Next.")]);
    let flag = rig.cancellable.clone();
    let stop = FnTool::new("stop", "Cancels.", Parameters::default(), move |_, _| {
        flag.cancel();
        async { Ok("stopped".to_owned()) }
    })
    .on_cancel(OnCancel::Wait);
    let look = acting("look", |_| unreachable!("it must not run"));
    let agent = rig.agent([Arc::new(stop) as Arc<dyn Tool>, look]).await;
    let agent = run(agent, "Go.").cancelled().await;
    assert_eq!(
        rig.event_lines()[3..],
        ["call c1 stop", "result c1: stopped", "call c2 look", "cancelled", "ended 1 cancelled"]
    );
    run(agent, "Again.").answered().await;
    assert_eq!(
        rig.last_request().lines()[3..],
        [
            "tool#c1: stopped",
            "tool#c2: Error: cancelled before it ran",
            "tool#c3: Error: cancelled before it ran",
            "user: Again."
        ]
    );
}

// D11: if a check fails, none of the group runs.
#[tokio::test]
async fn a_cancel_while_a_group_is_prepared_runs_none_of_it() {
    let rig = Rig::new([batch(&["read", "read", "read"])]);
    let flag = rig.cancellable.clone();
    let spy: Arc<dyn steersman_core::listener::Listener> =
        Arc::new(crate::support::doubles::Spy(move |envelope: &steersman_base::event::Envelope| {
            if matches!(&envelope.event, Event::ToolCall { id, .. } if id.as_str() == "c2") {
                flag.cancel();
            }
        }));
    let read = FnTool::new::<_, _, String>("read", "Reads.", Parameters::default(), |_, _| async {
        panic!("it must not run")
    })
    .concurrency(Concurrency::Parallel);
    let agent = rig
        .try_build(rig.builder(), |c| {
            c.add_listener(spy);
            c.add_tool(Arc::new(read))
        })
        .await
        .unwrap();
    run(agent, "Go.").cancelled().await;
    assert_eq!(rig.event_lines()[3..], ["call c1 read", "call c2 read", "cancelled", "ended 1 cancelled"]);
}

// D14
#[tokio::test]
async fn whatever_goes_wrong_in_a_tool_is_an_observation() {
    let rig = Rig::new([batch(&["nothing", "fails", "late", "early", "fine"]), Played::text("I see.")]);
    let make = |name: &str, f: fn() -> Result<String, ToolError>| -> Arc<dyn Tool> {
        Arc::new(FnTool::new(name, "Breaks.", Parameters::default(), move |_, _| async move { f() }))
    };
    let early = FnTool::new("early", "Breaks.", Parameters::default(), |_, _| {
        assert!(std::hint::black_box(false), "a bug before the first await");
        async { Ok(String::new()) }
    });
    let agent = rig
        .agent([
            make("fails", || Err(ToolError::Failed("no such file".to_owned()))),
            make("late", || panic!("a bug of the tool")),
            Arc::new(early),
            tool("fine", "fine"),
        ])
        .await;
    run(agent, "Go.").answered().await;
    assert_eq!(
        rig.last_request().lines()[3..],
        [
            "tool#c1: Error: unknown tool 'nothing'; the tools are: fails, late, early, fine",
            "tool#c2: Error: no such file",
            "tool#c3: Error: the tool 'late' broke down",
            "tool#c4: Error: the tool 'early' broke down",
            "tool#c5: fine"
        ]
    );
    let errors = rig.events().iter().filter(|event| matches!(event, Event::ToolResult { is_error: true, .. })).count();
    assert_eq!(errors, 4);
}

// D14: in a group the others go on.
#[tokio::test(start_paused = true)]
async fn a_panicking_tool_takes_no_neighbour_down() {
    let rig = Rig::new([batch(&["a", "breaks", "b"]), Played::text("I see.")]);
    let breaks =
        FnTool::new::<_, _, String>("breaks", "Breaks.", Parameters::default(), |_, _| async { panic!("a bug") })
            .concurrency(Concurrency::Parallel);
    let agent = rig.agent([beside("a", "a"), Arc::new(breaks), beside("b", "b")]).await;
    run(agent, "Go.").answered().await;
    assert_eq!(
        rig.last_request().lines()[3..],
        ["tool#c1: a", "tool#c2: Error: the tool 'breaks' broke down", "tool#c3: b"]
    );
}

// D14
#[tokio::test]
async fn a_tool_that_returns_cancelled_ends_the_turn_and_no_error_text_is_made_of_it() {
    let rig = Rig::new([batch(&["gives_up", "look"])]);
    let gives_up = FnTool::new("gives_up", "Gives up.", Parameters::default(), |_, _| async {
        Err::<String, _>(ToolError::Cancelled(steersman_base::error::Cancelled))
    });
    let agent = rig.agent([Arc::new(gives_up) as Arc<dyn Tool>, tool("look", "seen")]).await;
    let agent = run(agent, "Go.").cancelled().await;
    assert_sendable(&agent);
    assert!(!rig.event_lines().iter().any(|line| line.starts_with("result")), "{:?}", rig.event_lines());
}

#[tokio::test(start_paused = true)]
async fn progress_of_a_running_call_is_shown_before_its_result() {
    let gate = Gate::new();
    let rig = Rig::new([batch(&["builds"]), Played::text("Built.").piece("", "")]);
    let held = gate.clone();
    let builds = FnTool::new("builds", "Builds.", Parameters::default(), move |_, context| {
        let held = held.clone();
        async move {
            context.progress("1 of 2");
            held.pass().await;
            context.progress("2 of 2");
            Ok("built".to_owned())
        }
    });
    let agent = rig.agent([Arc::new(builds) as Arc<dyn Tool>]).await;
    let running = run(agent, "Build.");
    gate.reached().await;
    settle().await;
    assert_eq!(rig.event_lines().last().unwrap(), "progress c1: 1 of 2");
    gate.open();
    running.answered().await;
    assert_eq!(rig.event_lines()[4..7], ["progress c1: 1 of 2", "progress c1: 2 of 2", "result c1: built"]);
}

// D6: one that can stop is dropped, one that must finish finishes; each call has its result.
#[tokio::test(start_paused = true)]
async fn a_cancel_in_a_group_drops_what_can_stop_and_waits_for_what_must_finish() {
    let rig = Rig::new([batch(&["done", "stops", "finishes"]), Played::text("Next.")]);
    let (stops, finishes) = (Gate::new(), Gate::new());
    let finishing = gated_fn("finishes", &finishes).on_cancel(OnCancel::Wait).concurrency(Concurrency::Parallel);
    let agent = rig.agent([beside("done", "d"), gated_beside("stops", &stops), Arc::new(finishing)]).await;
    let running = run(agent, "Go.");
    stops.reached().await;
    finishes.reached().await;
    rig.cancellable.cancel();
    settle().await;
    finishes.open();
    let agent = running.cancelled().await;
    assert_eq!(
        rig.event_lines()[3..],
        [
            "call c1 done",
            "call c2 stops",
            "call c3 finishes",
            "result c1: d",
            "result c3: finishes done",
            "cancelled",
            "ended 1 cancelled"
        ]
    );
    run(agent, "Again.").answered().await;
    assert_eq!(
        rig.last_request().lines()[3..6],
        ["tool#c1: d", "tool#c2: Error: cancelled while it ran", "tool#c3: finishes done"]
    );
}

// D6
#[tokio::test(start_paused = true)]
async fn an_atomic_tool_finishes_although_the_turn_is_cancelled() {
    let gate = Gate::new();
    let rig = Rig::new([batch(&["write"])]);
    let agent = rig.agent([gated_stubborn("write", &gate)]).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    rig.cancellable.cancel();
    gate.open();
    running.cancelled().await;
    assert_eq!(rig.event_lines()[4..], ["result c1: write done", "cancelled", "ended 1 cancelled"]);
    assert_eq!(rig.requests().len(), 1, "nothing is asked once stopped");
}
