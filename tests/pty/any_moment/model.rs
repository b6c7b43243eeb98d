//! The model server of the trials: replies of random shape and pace, for the main agent and its sub-agents.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::Random;
use crate::support::server::{Reply, Request, Step};

/// Makes the function that answers each request.
pub fn random(seed: u64) -> impl Fn(&Request) -> Reply + Send + Sync {
    let state = Mutex::new((Random::new(seed), 0_u64));
    move |request| {
        let mut state = state.lock().unwrap();
        let (random, calls_so_far) = &mut *state;
        // Sub-agents take longer: they live when somebody writes to them.
        let mut steps = vec![Step::Pause(random.pause(if is_main(request) { 12 } else { 40 }))];
        let roles = request.roles();
        let results = roles.iter().rev().take_while(|role| *role != "user").filter(|role| *role == "tool").count();
        // A turn makes a few rounds; then it answers.
        let tired = results > 6;
        let calls = if tired { 0 } else { random.below(4) };
        for index in 0..calls {
            *calls_so_far += 1;
            let (name, arguments) = call(random, is_main(request), *calls_so_far);
            let call = json!({"tool_calls": [{"index": index, "id": format!("call_{calls_so_far}"), "type": "function",
                "function": {"name": name, "arguments": arguments.to_string()}}]});
            steps.extend([Step::delta(call), Step::Pause(random.pause(4))]);
        }
        if calls == 0 {
            for _ in 0..=random.below(10) {
                steps.extend([Step::delta(json!({"content": "word "})), Step::Pause(random.pause(8))]);
            }
        }
        steps.extend([Step::finish(if calls == 0 { "stop" } else { "tool_calls" }), Step::done()]);
        Reply::stream(steps)
    }
}

/// Tells whether the main agent asks: only it can delegate.
pub fn is_main(request: &Request) -> bool {
    request.tools().iter().any(|tool| tool == "agent")
}

fn call(random: &mut Random, main: bool, number: u64) -> (&'static str, Value) {
    match random.below(if main { 5 } else { 2 }) {
        0 => ("glob", json!({"pattern": format!("*{number}*")})),
        1 => ("grep", json!({"pattern": format!("x{number}")})),
        2 => ("calculator", json!({"expression": format!("{number}*7")})),
        _ => ("agent", json!({"name": "file_miner", "task": format!("task {number}")})),
    }
}
