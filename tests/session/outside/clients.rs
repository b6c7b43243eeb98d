//! Several clients of one run: whose a text is, what a client that connects later is told, and 200 texts at once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use steersman_base::event::{Event, Pending, TakenBack};
use steersman_base::id::{AgentId, ClientId, MessageId};
use steersman_base::protocol::{DraftText, Notice, QueueOperation, Reply, Request, Unfinished, Update, Withdrawn};
use steersman_base::steering::TextKind;
use steersman_session::host::Keeper;
use steersman_session::journal::{Record, restore};
use steersman_session::socket::{Caller, RemoteClient, Updates};
use steersman_session::{Beginning, Client, Hub, LocalClient, SCREEN};

use crate::support::listening::{Listening, Raw, handle, inject, said};

fn texts(entries: &[Pending]) -> Vec<&str> {
    entries.iter().map(|entry| entry.text.as_str()).collect()
}

fn join(hub: &Arc<Hub>) -> LocalClient {
    hub.join(hub.name_for("attach", None), Beginning::Now)
}

#[test]
fn a_text_is_marked_with_its_sender_and_that_of_the_first_client_is_not() {
    let handle = handle();
    let hub = Hub::new(handle.clone());
    let (first, second) = (hub.first(), join(&hub));
    first.send(inject("from the first"));
    second.send(inject("from the second"));
    let senders: Vec<Option<ClientId>> =
        handle.interloper().peek().into_iter().map(|entry| entry.message.sender).collect();
    assert_eq!(senders, [None, Some(ClientId::new("attach 1"))]);
    assert_eq!(second.name().map(ClientId::as_str), Some("attach 1"));
    let sees_both = |client: &LocalClient| matches!(&client.answers()[..], [.., Update::Queues { queues, .. }, Update::Approvals { .. }, Update::Budget(_)] if queues[0].1.len() == 2);
    assert!(sees_both(&first) && sees_both(&second));
}

/// Sends texts while the updates are taken as fast as they come; behind each reply comes a snapshot with the text.
fn each_reply_has_its_snapshot_behind_it(client: &impl Client) {
    for number in 1..=90 {
        thread::scope(|scope| {
            scope.spawn(|| client.send(inject("text")));
            let (mut is_replied, start) = (false, Instant::now());
            loop {
                for update in client.answers() {
                    match update {
                        Update::Reply(Reply::Injected { .. }) => is_replied = true,
                        Update::Queues { queues, .. } if is_replied && queues[0].1.len() == number => return,
                        _ => {}
                    }
                }
                assert!(start.elapsed() < Duration::from_secs(30), "text {number}: is replied: {is_replied}");
            }
        });
    }
}

#[test]
fn behind_each_reply_comes_a_snapshot_however_often_the_updates_are_taken() {
    each_reply_has_its_snapshot_behind_it(&join(&Hub::new(handle())));
    let run = Listening::start();
    let mut caller = Caller::connect(&run.path).unwrap();
    caller.hello("attach", Updates::Now).unwrap();
    each_reply_has_its_snapshot_behind_it(&RemoteClient::new(caller).unwrap());
}

#[test]
fn a_stop_gives_each_text_back_to_its_sender_and_one_without_waits_again_held() {
    let handle = handle();
    let hub = Hub::new(handle.clone());
    let (first, second, third) = (hub.first(), join(&hub), join(&hub));
    first.send(inject("of the first"));
    second.send(inject("of the second"));
    third.send(inject("of one that is gone"));
    drop(third);
    for client in [&first, &second] {
        client.answers();
    }
    second.send(Request::Stop);
    let answers = second.answers();
    let Some(Update::Reply(Reply::Stopped(own))) = answers.iter().find(|update| matches!(update, Update::Reply(_)))
    else {
        panic!("{answers:?}")
    };
    assert_eq!(texts(own), ["of the second"]);
    assert!(answers.iter().any(
        |update| matches!(update, Update::Notice(Notice::Withdrawn { entries, .. }) if texts(entries) == ["of the first"])
    ));
    let answers = first.answers();
    let told = |wanted: &dyn Fn(&Notice) -> bool| {
        answers.iter().any(|update| matches!(update, Update::Notice(notice) if wanted(notice)))
    };
    assert!(told(&|notice| matches!(notice, Notice::Returned(entries) if texts(entries) == ["of the first"])));
    assert!(told(&|notice| {
        matches!(notice, Notice::Withdrawn { by, entries } if *by == second.name().cloned() && texts(entries) == ["of the second"])
    }));
    let left = handle.interloper().peek();
    assert_eq!(texts(&left), ["of one that is gone"]);
    assert!(left[0].held && !handle.interloper().deliverable(), "nothing is sent by itself: {left:?}");
}

/// Keeps what a journal is told of queues.
#[derive(Default)]
struct QueueRecords(Mutex<Vec<Record>>);

impl QueueRecords {
    fn push(&self, record: Record) {
        self.0.lock().unwrap().push(record);
    }

    /// Returns the texts that a later run would ask about.
    fn left(&self) -> Vec<String> {
        let records = self.0.lock().unwrap().clone();
        let mut left: Vec<String> =
            restore(records).unfinished.pending.into_iter().map(|entry| entry.message.text).collect();
        left.sort();
        left
    }
}

impl Keeper for QueueRecords {
    fn accepted(&self, to: &AgentId, entry: Pending) {
        self.push(Record::Accepted { to: to.clone(), entry });
    }

    fn taken_back(&self, texts: Vec<MessageId>, why: TakenBack) {
        self.push(Record::TakenBack { texts, why, at: jiff::Timestamp::UNIX_EPOCH });
    }

    fn restored(&self, to: &AgentId, entry: Pending) {
        self.push(Record::Restored { to: to.clone(), entry });
    }

    fn keep(&self) {}

    fn drafts(&self, texts: Vec<DraftText>) {
        self.push(Record::Drafts { texts });
    }
}

#[test]
fn a_text_that_waits_again_is_recorded_so_and_what_becomes_of_it_then_too() {
    let handle = handle();
    let kept = Arc::new(QueueRecords::default());
    handle.set_keeper(kept.clone());
    let hub = Hub::new(handle.clone());
    let (first, second) = (hub.first(), join(&hub));
    second.send(inject("of one that is gone"));
    drop(second);
    first.send(Request::Stop);
    assert_eq!(kept.left(), ["of one that is gone"]);
    let entry = handle.interloper().peek().remove(0);
    let change = |operation: QueueOperation| Request::Queue { agent: AgentId::main(), id: entry.id.clone(), operation };
    first.send(change(QueueOperation::Withdraw { to: Withdrawn::Removed, before: Vec::new() }));
    assert_eq!(kept.left(), Vec::<String>::new(), "it was removed");
    first.send(change(QueueOperation::Restore { entry: Box::new(entry.clone()), before: Vec::new() }));
    assert_eq!(kept.left(), ["of one that is gone"], "the user brought it back");
    first.send(change(QueueOperation::Withdraw { to: Withdrawn::Message, before: Vec::new() }));
    first.send(Request::KeepDrafts { drafts: vec![draft("of one that is gone")] });
    assert_eq!(kept.left(), Vec::<String>::new(), "it is in the message");
}

#[test]
fn a_text_of_an_agent_that_ended_waits_held_for_the_main_agent_when_its_sender_is_gone() {
    let handle = handle();
    let hub = Hub::new(handle.clone());
    hub.open();
    let (first, second) = (hub.first(), join(&hub));
    second.send(inject("orphan"));
    let entries = handle.stop();
    drop(second);
    handle.mailbox().push(said("researcher 0", 1, Event::Returned { entries }));
    let (changed, changes) = std::sync::mpsc::channel();
    first.on_wake(Arc::new(move |_| {
        let _ = changed.send(());
    }));
    while handle.interloper().peek().is_empty() {
        changes.recv_timeout(std::time::Duration::from_secs(30)).expect("it waits again");
    }
    let left = handle.interloper().peek();
    assert_eq!((texts(&left), left[0].held), (vec!["orphan"], true));
}

#[test]
fn a_text_that_one_client_takes_out_is_no_longer_shown_to_the_others() {
    let handle = handle();
    let hub = Hub::new(handle.clone());
    let (first, second) = (hub.first(), join(&hub));
    first.send(inject("text"));
    let id = handle.interloper().peek().remove(0).id;
    first.answers();
    second.answers();
    let operation = QueueOperation::Withdraw { to: Withdrawn::Message, before: Vec::new() };
    second.send(Request::Queue { agent: AgentId::main(), id, operation });
    let answers = first.answers();
    assert!(
        matches!(&answers[..], [Update::Notice(Notice::Withdrawn { entries, .. }), Update::Queues { queues, .. }] if texts(entries) == ["text"] && queues.is_empty()),
        "{answers:?}"
    );
}

#[test]
fn a_client_that_comes_later_is_told_the_past_once_and_then_what_happens() {
    let handle = handle();
    let hub = Hub::new(handle.clone());
    hub.open();
    let first = hub.first();
    let delta = |text: &str| Event::AssistantDelta { text: text.to_owned() };
    let whole = Event::Assistant { text: "whole".to_owned(), interrupted: false };
    for (seq, event) in
        (1..).zip([Event::TurnStarted { turn: 1 }, delta("who"), delta("le"), whole, delta("be"), delta("gun")])
    {
        handle.mailbox().push(said("", seq, event));
    }
    let late = hub.join(hub.name_for("attach", None), Beginning::Past);
    handle.mailbox().push(said("", 7, delta(" now")));
    let events = |client: &LocalClient| -> Vec<Event> {
        let updates = client.events().into_iter();
        updates
            .filter_map(|update| if let Update::Envelope(envelope) = update { Some(envelope.event) } else { None })
            .collect()
    };
    let expected = [
        Event::TurnStarted { turn: 1 },
        Event::Assistant { text: "whole".to_owned(), interrupted: false },
        delta("begun now"),
    ];
    assert_eq!(events(&late), expected);
    assert_eq!(events(&first).len(), 4, "the first client has its own place");
}

/// Keeps the drafts that were recorded last.
#[derive(Default)]
struct NewestDrafts(Mutex<Vec<String>>);

impl Keeper for NewestDrafts {
    fn accepted(&self, _: &AgentId, _: Pending) {}

    fn taken_back(&self, _: Vec<MessageId>, _: TakenBack) {}

    fn restored(&self, _: &AgentId, _: Pending) {}

    fn keep(&self) {}

    fn drafts(&self, drafts: Vec<DraftText>) {
        *self.0.lock().unwrap() = drafts.into_iter().map(|draft| draft.text).collect();
    }
}

fn draft(text: &str) -> DraftText {
    DraftText {
        to: AgentId::main(),
        text: text.to_owned(),
        kind: TextKind::Add,
        edits: None,
        images: Vec::new(),
        sender: None,
    }
}

fn attach(hub: &Arc<Hub>) -> LocalClient {
    hub.join(hub.name_for(SCREEN, None), Beginning::Past)
}

/// The drafts that a client was given.
fn given(client: &LocalClient) -> Vec<String> {
    let updates = client.events().into_iter();
    let drafts = updates.filter_map(|update| match update {
        Update::Notice(Notice::Unfinished(left)) => Some(left.drafts),
        _ => None,
    });
    drafts.flatten().map(|draft| draft.text).collect()
}

#[test]
fn what_one_screen_writes_does_not_replace_what_another_writes() {
    let handle = handle();
    let newest = Arc::new(NewestDrafts::default());
    handle.set_keeper(newest.clone());
    let hub = Hub::new(handle);
    let (first, second) = (hub.first(), join(&hub));
    first.send(Request::KeepDrafts { drafts: vec![draft("of the first")] });
    second.send(Request::KeepDrafts { drafts: vec![draft("of the second")] });
    assert_eq!(*newest.0.lock().unwrap(), ["of the first", "of the second"]);
    second.send(Request::KeepDrafts { drafts: Vec::new() });
    assert_eq!(*newest.0.lock().unwrap(), ["of the first"]);
}

/// Makes the client that a run is started with.
type StartClient = fn(&Arc<Hub>) -> Option<LocalClient>;

#[test]
fn what_an_earlier_process_left_is_for_one_screen_alone() {
    let left = Unfinished { drafts: vec![draft("half a thought")], ..Unfinished::default() };
    let starts: [(StartClient, [&[&str]; 3]); 3] = [
        (|hub| Some(hub.first()), [&["half a thought"], &[], &[]]),
        // Its journal has the draft, and the next screen shows it.
        (|hub| Some(hub.first_without_screen()), [&["half a thought"], &["half a thought"], &[]]),
        (|_| None, [&[], &["half a thought"], &[]]),
    ];
    for (start, expected) in starts {
        let handle = handle();
        let hub = Hub::new(handle.clone());
        hub.open();
        handle.mailbox().push(Update::Notice(Notice::Unfinished(left.clone())));
        let first = start(&hub);
        let (second, third) = (attach(&hub), attach(&hub));
        let all = [first.as_ref().map(given).unwrap_or_default(), given(&second), given(&third)];
        assert_eq!(all, expected);
    }
}

#[test]
fn what_an_earlier_process_left_stays_on_record_until_its_screen_says_what_it_has() {
    let left = Update::Notice(Notice::Unfinished(Unfinished { drafts: vec![draft("left")], ..Unfinished::default() }));
    // It comes to a screen that is there, or before the first one.
    for comes_first in [false, true] {
        for is_started_with_screen in [false, true] {
            let handle = handle();
            let newest = Arc::new(NewestDrafts::default());
            handle.set_keeper(newest.clone());
            let hub = Hub::new(handle.clone());
            hub.open();
            let start = || if is_started_with_screen { hub.first() } else { attach(&hub) };
            let push = || handle.mailbox().push(left.clone());
            let its = if comes_first {
                push();
                start()
            } else {
                let its = start();
                push();
                its
            };
            let other = attach(&hub);
            other.send(Request::KeepDrafts { drafts: vec![draft("of the other")] });
            assert_eq!(*newest.0.lock().unwrap(), ["left", "of the other"]);
            its.send(Request::KeepDrafts { drafts: Vec::new() });
            assert_eq!(*newest.0.lock().unwrap(), ["of the other"]);
        }
    }
}

#[test]
fn what_somebody_wrote_on_a_screen_that_is_gone_is_on_the_next_one() {
    let handle = handle();
    let hub = Hub::new(handle.clone());
    hub.open();
    let newest = Arc::new(NewestDrafts::default());
    handle.set_keeper(newest.clone());
    let (first, second) = (hub.first(), attach(&hub));
    second.send(Request::KeepDrafts { drafts: vec![draft("over a connection that broke")] });
    drop(second);
    let third = attach(&hub);
    assert_eq!(given(&third), ["over a connection that broke"]);
    // It has said nothing of its drafts yet.
    first.send(Request::KeepDrafts { drafts: vec![draft("of the first")] });
    assert_eq!(*newest.0.lock().unwrap(), ["of the first", "over a connection that broke"]);
    assert_eq!(given(&attach(&hub)), Vec::<String>::new(), "the third one has it");
    drop(first);
    assert_eq!(given(&attach(&hub)), ["of the first"]);
}

#[test]
fn a_request_that_comes_again_on_a_new_connection_is_carried_out_once() {
    let run = Listening::start();
    let text = json!({"type": "inject", "to": "", "text": "once", "delivery": "steer"});
    let mut first = run.client("none", Some("the same"));
    let answer = first.call(1, "request", &text);
    drop(first);
    let mut again = run.client("none", Some("the same"));
    assert_eq!(again.call(1, "request", &text), answer);
    assert_eq!(run.handle.interloper().peek().len(), 1);
    again.call(2, "request", &text);
    assert_eq!(run.handle.interloper().peek().len(), 2);
}

/// Sends numbered texts on one connection; whenever that is cut, on a new one everything that has no answer yet.
fn send_all(
    run: &Listening,
    name: &str,
    count: u64,
    current: &std::sync::Mutex<Option<std::os::unix::net::UnixStream>>,
) {
    let request =
        |number: u64| json!({"type": "inject", "to": "", "text": format!("{name} {number:03}"), "delivery": "steer"});
    // A full queue refuses a text; it is sent again under a new number, before anything behind it.
    let (mut next_text, mut number) = (1, 1);
    'connections: while next_text <= count {
        let mut raw: Raw = run.client("past", Some(name));
        *current.lock().unwrap() = Some(raw.stream.try_clone().unwrap());
        while next_text <= count {
            if !raw.send(number, "request", &request(next_text)) {
                continue 'connections;
            }
            let Some(answer) = raw.answer() else { continue 'connections };
            number += 1;
            if answer["result"]["reply"]["injected"]["outcome"]["Ok"].is_string() {
                next_text += 1;
            } else {
                assert_eq!(answer["result"]["reply"]["injected"]["outcome"]["Err"], "too_many", "{answer}");
            }
        }
    }
}

#[test]
fn texts_of_many_clients_at_once_come_each_once_and_in_order_while_clients_are_killed() {
    let run = Listening::start();
    let _first = run.hub.first();
    let is_over = AtomicBool::new(false);
    let kills = AtomicU64::new(0);
    let current: Vec<std::sync::Mutex<Option<std::os::unix::net::UnixStream>>> =
        (0..3).map(|_| std::sync::Mutex::default()).collect();
    let mut delivered: Vec<Pending> = Vec::new();
    thread::scope(|scope| {
        let (run, current, is_over, kills) = (&run, &current, &is_over, &kills);
        let mut senders = Vec::new();
        for (index, current) in current.iter().enumerate() {
            senders.push(scope.spawn(move || send_all(run, &format!("screen{index}"), 40, current)));
        }
        for name in ["one", "two", "three", "four"] {
            // As the command: a connection for each text.
            senders.push(scope.spawn(move || {
                for number in 1..=50 {
                    loop {
                        let mut raw = run.client("none", None);
                        let text = format!("{name} {number:03}");
                        let params = json!({"type": "inject", "to": "", "text": text, "delivery": "steer"});
                        let answer = raw.call(1, "request", &params);
                        if answer["result"]["reply"]["injected"]["outcome"]["Ok"].is_string() {
                            break;
                        }
                        assert_eq!(answer["result"]["reply"]["injected"]["outcome"]["Err"], "too_many", "{answer}");
                    }
                }
            }));
        }
        let killer = scope.spawn(move || {
            let mut turn = 0_usize;
            while !is_over.load(Ordering::SeqCst) {
                turn = turn.wrapping_mul(25).wrapping_add(7);
                if let Some(stream) = current[turn % 3].lock().unwrap().take() {
                    let _ = stream.shutdown(std::net::Shutdown::Both);
                    kills.fetch_add(1, Ordering::SeqCst);
                }
                thread::yield_now();
            }
        });
        let agent = scope.spawn(move || {
            let mut delivered = Vec::new();
            loop {
                let is_last = is_over.load(Ordering::SeqCst);
                let taken = run.handle.interloper().take_turn(None);
                if taken.is_empty() && is_last {
                    return delivered;
                }
                delivered.extend(taken);
                thread::yield_now();
            }
        });
        let ended: Vec<_> = senders.into_iter().map(thread::ScopedJoinHandle::join).collect();
        is_over.store(true, Ordering::SeqCst);
        killer.join().unwrap();
        delivered = agent.join().unwrap();
        for ended in ended {
            ended.unwrap();
        }
    });
    assert!(kills.load(Ordering::SeqCst) >= 3, "no connection was cut");
    let mut by_sender: HashMap<&str, Vec<&str>> = HashMap::new();
    for entry in &delivered {
        let (name, number) = entry.text.split_once(' ').unwrap();
        by_sender.entry(name).or_default().push(number);
    }
    for (name, numbers) in &by_sender {
        let count = if name.starts_with("screen") { 40 } else { 50 };
        let expected: Vec<String> = (1..=count).map(|number| format!("{number:03}")).collect();
        assert_eq!(numbers, &expected, "{name}");
    }
    assert_eq!((by_sender.len(), delivered.len()), (7, 3 * 40 + 200));
}

#[test]
fn a_client_that_reads_nothing_is_let_go_and_the_run_and_the_others_go_on() {
    let run = Listening::start();
    let first = run.hub.first();
    let mut stuck = run.client("now", None);
    let mut reader = run.client("now", None);
    let result = |seq| {
        let content = "x".repeat(1 << 20);
        said("", seq, Event::ToolResult { id: "c".into(), content, is_error: false, elapsed_ms: 1 })
    };
    for seq in 1..=48 {
        run.handle.mailbox().push(result(seq));
        reader.wait_for(|update| update["envelope"]["seq"] == seq);
    }
    assert_eq!(first.events().iter().filter(|update| matches!(update, Update::Envelope(_))).count(), 48);
    let mut lines = 0;
    while stuck.line().is_some() {
        lines += 1;
    }
    assert!(lines < 48, "it was let go");
    reader.call(1, "request", &json!({"type": "inject", "to": "", "text": "still here", "delivery": "steer"}));
    assert_eq!(run.handle.interloper().peek().len(), 1);
}
