//! A client in another process: the same answers and events as in the same process.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use steersman_base::event::{Event, Outcome};
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

#[test]
fn what_runs_when_the_session_is_gone_has_ended_for_its_client() {
    let mut run = Listening::start();
    let spawned = Event::AgentSpawned {
        child: "file_miner 0".into(),
        persona: "file_miner".to_owned(),
        task: "look".to_owned(),
        call: None,
        model: None,
        max_steps: None,
        tools: Vec::new(),
    };
    let asked = Event::Question {
        id: "1".to_owned(),
        question: "Run it?".to_owned(),
        detail: None,
        call: None,
        offer: None,
        rule: None,
    };
    let events = [
        said("", 1, Event::TurnStarted { turn: 1 }),
        said("", 2, Event::RoundStarted { turn: 1, round: 1 }),
        said("", 3, spawned),
        said("", 4, asked),
    ];
    for event in events {
        run.handle.mailbox().push(event);
    }
    let (client, woken) = attach(&run);
    let is = |update: &Update, is: &dyn Fn(&Event) -> bool| matches!(update, Update::Envelope(envelope) if is(&envelope.event));
    until(&client, &woken, |update| is(update, &|event| matches!(event, Event::Question { .. })));
    run.server = None;
    let mut all = until(&client, &woken, |update| matches!(update, Update::Notice(Notice::Over(_))));
    all.extend(client.events());
    let ends: [&dyn Fn(&Event) -> bool; 4] = [
        &|event| matches!(event, Event::TurnEnded { turn: 1, outcome: Outcome::Failed, message: Some(_) }),
        &|event| matches!(event, Event::RoundEnded { turn: 1, round: 1 }),
        &|event| matches!(event, Event::AgentFinished { outcome: Outcome::Failed, .. }),
        &|event| matches!(event, Event::Answer { .. }),
    ];
    for (place, end) in ends.iter().enumerate() {
        assert!(all.iter().any(|update| is(update, end)), "{place}: {all:?}");
    }
    let numbers: Vec<u64> =
        all.iter().filter_map(|update| if let Update::Envelope(one) = update { Some(one.seq) } else { None }).collect();
    assert!(numbers.iter().all(|number| *number > 4), "{numbers:?}");
}
