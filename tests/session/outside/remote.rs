//! A client in another process: the same answers and events as in the same process.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use steersman_base::event::Event;
use steersman_base::protocol::{Notice, Reply, Update};
use steersman_session::socket::{Caller, RemoteClient, Updates};
use steersman_session::{Client, WakeReason};

use crate::support::listening::{Listening, inject, said};

fn attach(run: &Listening) -> (RemoteClient, Receiver<WakeReason>) {
    let mut caller = Caller::connect(&run.path).unwrap();
    caller.hello("attach", Updates::Past).unwrap();
    let client = RemoteClient::new(caller).unwrap();
    let (wake, woken) = channel();
    client.on_wake(Arc::new(move |waiting| {
        let _ = wake.send(waiting);
    }));
    (client, woken)
}

/// Takes updates until one fits; returns all.
fn until(client: &RemoteClient, woken: &Receiver<WakeReason>, fits: impl Fn(&Update) -> bool) -> Vec<Update> {
    let mut all = Vec::new();
    loop {
        all.extend(client.answers());
        all.extend(client.events());
        if all.iter().any(&fits) {
            return all;
        }
        woken.recv_timeout(Duration::from_secs(30)).unwrap_or_else(|_| panic!("in vain: {all:?}"));
    }
}

#[test]
fn a_client_in_another_process_is_told_the_past_the_snapshots_and_what_comes_of_its_requests() {
    let run = Listening::start();
    run.handle.mailbox().push(said("", 1, Event::TurnStarted { turn: 1 }));
    let (client, woken) = attach(&run);
    let begin = until(&client, &woken, |update| matches!(update, Update::Envelope(_)));
    assert!(begin.iter().any(|update| matches!(update, Update::Queues { .. })), "{begin:?}");
    client.send(inject("text"));
    let answers =
        until(&client, &woken, |update| matches!(update, Update::Reply(Reply::Injected { outcome: Ok(_), .. })));
    let shows_it = |update: &Update| matches!(update, Update::Queues { queues, .. } if !queues.is_empty());
    // Behind the reply there is always a snapshot, taken after it.
    let reply = answers.iter().position(|update| matches!(update, Update::Reply(_))).unwrap();
    if !answers[reply..].iter().any(shows_it) {
        until(&client, &woken, shows_it);
    }
    run.handle.mailbox().push(said("", 2, Event::RoundStarted { turn: 1, round: 1 }));
    until(
        &client,
        &woken,
        |update| matches!(update, Update::Envelope(envelope) if matches!(envelope.event, Event::RoundStarted { .. })),
    );
}

#[test]
fn a_client_hears_of_the_end_of_the_session() {
    let mut run = Listening::start();
    let (client, woken) = attach(&run);
    until(&client, &woken, |update| matches!(update, Update::Queues { .. }));
    run.server = None;
    until(&client, &woken, |update| matches!(update, Update::Notice(Notice::Over(_))));
}
