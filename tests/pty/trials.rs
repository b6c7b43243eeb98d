//! 200 trials at random moments: nothing typed is lost, doubled or reordered, and every request is valid.
//!
//! The server plays turns of random shape and pace; a typist types at random moments, also at the very end of an
//! answer. What the last request of a session carries is compared with what was typed. Seeds are fixed: a failure
//! names its seed.

use std::sync::Mutex;
use std::time::Duration;

use crate::support::server::{Reply, Server, Step};
use crate::support::terminal::{Start, keys};

const SESSIONS: u64 = 10;
const TRIALS_PER_SESSION: usize = 20;

/// A small generator (Lehmer), so that a seed replays its trial.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0xDA94_2042_E4DD_58B5);
        (self.0 >> 33) % end
    }

    fn pause(&mut self, most_ms: u64) -> Duration {
        Duration::from_micros(self.below(most_ms * 1000))
    }
}

fn model(seed: u64) -> impl Fn(&crate::support::server::Request) -> Reply + Send + Sync {
    let random = Mutex::new(Random::new(seed));
    move |request| {
        let mut random = random.lock().unwrap();
        let mut steps = vec![Step::Pause(random.pause(4))];
        let in_batch = request.roles().iter().rev().take_while(|role| *role != "assistant").any(|role| role == "tool");
        // A turn makes up to four rounds or so; then it answers.
        let calls = random.below(if in_batch { 3 } else { 4 });
        for index in 0..calls {
            let name = format!("call_{index}");
            let arguments = r#"{"expression":"6*7"}"#;
            let call = serde_json::json!({"tool_calls": [{"index": index, "id": name, "type": "function",
                "function": {"name": "calculator", "arguments": arguments}}]});
            steps.extend([Step::delta(call), Step::Pause(random.pause(2))]);
        }
        if calls == 0 {
            for _ in 0..=random.below(6) {
                let delta = Step::delta(serde_json::json!({"content": "word "}));
                steps.extend([delta, Step::Pause(random.pause(3))]);
            }
        }
        steps.extend([Step::finish(if calls == 0 { "stop" } else { "tool_calls" }), Step::done()]);
        Reply::stream(steps)
    }
}

fn session(seed: u64) {
    let server = Server::routed(model(seed));
    let mut terminal = Start::against(&server).size(80, 24).run();
    let mut random = Random::new(seed + 1000);
    let mut typed = Vec::new();
    for trial in 0..TRIALS_PER_SESSION {
        let text = format!("text {seed}-{trial}");
        terminal.send(&format!("{text}{}", keys::ENTER));
        typed.push(text);
        std::thread::park_timeout(random.pause(30));
    }
    terminal.wait_until("the last turn to end", |screen| screen.contains("idle"));
    let delivered = || server.chats().last().map(|chat| chat.texts("user")).unwrap_or_default();
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while delivered().len() < typed.len() && std::time::Instant::now() < deadline {
        std::thread::park_timeout(Duration::from_millis(5));
    }
    assert_eq!(delivered(), typed, "seed {seed}");
    assert!(server.violations().is_empty(), "seed {seed}: {:?}", server.violations());
}

#[test]
fn two_hundred_texts_at_random_moments_arrive_once_and_in_order() {
    for seed in 0..SESSIONS {
        session(seed);
    }
}
