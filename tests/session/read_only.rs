//! Stories of a session that another program writes: it is shown, nothing can be sent, and the text stays.

use steersman_base::event::{Delivery, Event};
use steersman_base::id::AgentId;
use steersman_base::protocol::{Notice, Reply, Request, Update};
use steersman_core::listener::Listener as _;
use steersman_session::host::Keeper as _;
use steersman_session::journal::{read_records, restore};
use steersman_session::{Client as _, RecordedClient};

use crate::support::journals::{Disk, entry, event, journal};

#[test]
fn a_session_that_another_program_writes_is_shown_and_takes_nothing() {
    let disk = Disk::default();
    let written = journal(&disk);
    written.on_event(&event(1, Event::TurnStarted { turn: 1 }));
    written.accepted(&AgentId::main(), entry("m1", "waits there"));
    written.close();
    let recorded = restore(read_records(disk.bytes().as_slice()).unwrap().records);
    let client = RecordedClient::new(Box::new(recorded), "process 7 writes it".to_owned());
    let events = client.events();
    assert!(matches!(&events[0], Update::Envelope(envelope) if envelope.seq == 1), "{events:?}");
    let last = events.last();
    assert!(matches!(last, Some(Update::Notice(Notice::ReadOnly(why))) if why == "process 7 writes it"));
    let queues = client.answers();
    assert!(matches!(&queues[0], Update::Queues { queues, .. } if queues[0].1[0].text == "waits there"), "{queues:?}");
    let inject = |text: &str| Request::inject(AgentId::main(), text, Delivery::Steer);
    client.send(inject("mine"));
    let answers = client.answers();
    assert!(
        matches!(&answers[..], [Update::Reply(Reply::Injected { message, outcome: Err(_), .. })] if message.text == "mine"),
        "{answers:?}"
    );
    client.send(Request::Stop);
    assert_eq!(client.answers(), [Update::Reply(Reply::Stopped(Vec::new()))]);
    client.send(Request::ListModels);
    assert_eq!(client.answers(), [Update::Notice(Notice::Info("process 7 writes it".to_owned()))]);
}
