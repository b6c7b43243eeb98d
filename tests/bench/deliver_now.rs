//! Deliver now, from the queue to the wire: `cargo bench --bench deliver_now`.
//!
//! The time from the injection of a message until the new request with it has arrived at a server on loopback: while
//! an answer is written, and while a first token is waited for. `tests/bench/screen.rs` measures the same from a key.

use steersman_test_support as support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use steersman_agent::Agent;
use steersman_base::event::{Delivery, Envelope, Event};
use steersman_core::control::{Cancellable, Interloper};
use steersman_core::provider::{ChatTransport, Streaming};
use steersman_provider::{Http, HttpConnector};
use tokio::sync::mpsc;

use support::doubles::Spy;
use support::paced::Paced;

const TRIALS: usize = 100;

fn main() {
    println!(
        "{:<46} {:>26}   best comparable program",
        "deliver now: until the new request arrives", "median / p99 / max"
    );
    measure("while 500 words/s stream", "stream 20000 words at 500 words/s", true);
    measure("while the model writes nothing more", "hang", true);
    measure("before the first token", "silence", false);
}

/// Runs one turn and cuts its answer again and again, each time with a message that asks for the same.
fn measure(what: &str, ask: &str, written: bool) {
    let server = Paced::start();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (queue, cancel) = (Arc::new(Interloper::new()), Cancellable::new());
    let (said, mut pieces) = mpsc::unbounded_channel();
    let telling = Arc::new(Spy(move |envelope: &Envelope| {
        if let Event::AssistantDelta { .. } | Event::UserTurn { .. } = envelope.event {
            let _ = said.send(matches!(envelope.event, Event::AssistantDelta { .. }));
        }
    }));
    let transport = ChatTransport {
        model: Some("paced".to_owned()),
        api_base: Some(server.url().to_owned()),
        ..ChatTransport::default()
    };
    let builder = Agent::builder(transport, "You are measured.", Arc::new(HttpConnector::new(Http::default())))
        .interloper(Arc::clone(&queue))
        .cancellable(cancel.clone())
        .streaming(Streaming::On);
    queue.inject_user_message(ask).unwrap();
    let turn = runtime.spawn(async move {
        let mut agent = builder
            .build(|configurator| {
                configurator.add_listener(telling);
                Ok(())
            })
            .await
            .unwrap();
        let _ = agent.run_queue().await;
    });

    let mut times = Vec::with_capacity(TRIALS);
    for trial in 1..=TRIALS {
        server.wait_asked(trial);
        // The newest message, and the first piece behind it.
        while pieces.blocking_recv().unwrap() {}
        if written {
            assert!(pieces.blocking_recv().unwrap(), "another message came");
        }
        let sent = Instant::now();
        queue.inject_user_message((ask, Delivery::Now)).unwrap();
        times.push(server.wait_asked(trial + 1).duration_since(sent));
    }
    queue.stop(&cancel);
    runtime.block_on(turn).unwrap();
    times.sort_unstable();
    let at = |share: usize| ms(times[(times.len() - 1) * share / 100]);
    println!("{what:<46} {:>26}   31 ms", format!("{} / {} / {} ms", at(50), at(99), at(100)));
}

fn ms(time: Duration) -> String {
    let micros = time.as_micros();
    format!("{}.{:02}", micros / 1000, micros % 1000 / 10)
}
