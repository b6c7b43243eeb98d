//! A client of a run: requests go in, replies and snapshots come out; the same request twice is one operation. Every test of the
//! screen runs over the same client, with each request and update written as JSON and read again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use steersman_base::event::Delivery;
use steersman_base::id::AgentId;
use steersman_base::image::Image;
use steersman_base::protocol::{
    Answer, ApprovalId, BudgetLimits, ClientId, CommandOperation, Content, Decision, DraftText, ModeChoice, Numbered,
    Operation, PauseState, QueueOperation, QueueOutcome, Reply, Request, RuleRequest, Shift, UndoScope, Update,
    Withdrawn, WriteOperation,
};
use steersman_core::control::{AgentControls, Cancellable, Controls, Interloper, PauseGate};
use steersman_session::host::{Handle, Mailbox};
use steersman_session::{Client as _, LocalClient, Requests, WakeReason};

use crate::support::json_client::through_json;

fn run() -> Handle {
    let main = Controls {
        interloper: Arc::new(Interloper::new()),
        cancellable: Cancellable::new(),
        gate: Arc::new(PauseGate::new()),
    };
    Handle::new(Arc::new(AgentControls::new(main)), Arc::new(Mailbox::new()))
}

fn inject(text: &str) -> Request {
    Request::inject(AgentId::main(), text, Delivery::Steer)
}

fn texts(handle: &Handle) -> Vec<String> {
    handle.interloper().peek().into_iter().map(|entry| entry.message.text).collect()
}

#[test]
fn a_request_that_comes_twice_is_carried_out_once_and_answered_twice() {
    let handle = run();
    let requests = Requests::new(handle.clone());
    let numbered =
        |client: &str, number, text| Numbered { client: ClientId::new(client), number, request: inject(text) };
    let first = requests.carry_out(numbered("a", 1, "once"));
    assert_eq!(requests.carry_out(numbered("a", 1, "once")), first, "the reply is given again");
    assert!(matches!(first, Some(Reply::Injected { outcome: Ok(_), .. })), "{first:?}");
    requests.carry_out(numbered("b", 1, "of another client"));
    requests.carry_out(numbered("a", 2, "once"));
    assert_eq!(texts(&handle), ["once", "of another client", "once"]);
}

#[test]
fn a_request_from_two_threads_at_once_is_carried_out_once() {
    let handle = run();
    let requests = Requests::new(handle.clone());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for number in 1..=50 {
                    let client = ClientId::new("a");
                    requests.carry_out(Numbered { client, number, request: inject(&format!("text {number}")) });
                }
            });
        }
    });
    let mut texts = texts(&handle);
    texts.sort();
    texts.dedup();
    assert_eq!((texts.len(), handle.interloper().peek().len()), (50, 50));
}

#[test]
fn a_request_that_takes_its_time_holds_up_no_other() {
    let handle = run();
    let requests = Requests::new(handle.clone());
    let (begun, begins) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let gate = Mutex::new(Some((begun, released)));
    handle.watch(move || {
        let first = gate.lock().unwrap().take();
        if let Some((begun, released)) = first {
            begun.send(()).unwrap();
            released.recv().unwrap();
        }
    });
    let numbered = |number, text| Numbered { client: ClientId::new("a"), number, request: inject(text) };
    std::thread::scope(|scope| {
        scope.spawn(|| requests.carry_out(numbered(1, "slow")));
        begins.recv().unwrap();
        assert!(requests.carry_out(numbered(2, "quick")).is_some());
        release.send(()).unwrap();
    });
    assert_eq!(texts(&handle), ["slow", "quick"]);
}

#[test]
fn a_client_hears_of_its_request_first_and_then_of_what_changed() {
    let handle = run();
    let client = LocalClient::new(handle.clone());
    assert!(matches!(client.answers()[..], [Update::Queues { .. }, Update::Approvals { .. }, Update::Budget(_)]));
    assert_eq!(client.answers(), []);
    client.send(inject("text"));
    match &client.answers()[..] {
        [Update::Reply(Reply::Injected { outcome: Ok(id), .. }), Update::Queues { queues, paused: false }] => {
            assert_eq!(queues, &[(AgentId::main(), handle.interloper().peek())]);
            assert_eq!(&queues[0].1[0].id, id);
        }
        other => panic!("{other:?}"),
    }
    handle.interloper().inject_user_message("from elsewhere").unwrap();
    assert!(matches!(&client.answers()[..], [Update::Queues { .. }]), "a change that it did not ask for");
}

#[test]
fn a_client_is_woken_by_other_threads_and_told_of_what_there_was_before() {
    let handle = run();
    let client = LocalClient::new(handle.clone());
    let woken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&woken);
    client.on_wake(Arc::new(move |waiting| {
        assert_eq!(waiting, WakeReason::Answers);
        count.fetch_add(1, Ordering::SeqCst);
    }));
    assert_eq!(woken.load(Ordering::SeqCst), 1, "at once: everything is new to it");
    std::thread::scope(|scope| {
        scope.spawn(|| handle.interloper().inject_user_message("text").unwrap());
    });
    assert_eq!(woken.load(Ordering::SeqCst), 2);
}

#[test]
fn a_budget_is_told_when_it_changes_and_only_then() {
    let handle = run();
    let client = LocalClient::new(handle.clone());
    client.answers();
    handle.budget().charge("m", 1_000, None);
    assert!(matches!(&client.events()[..], [Update::Budget(status)] if status.tokens == 1_000));
    assert_eq!(client.events(), []);
    let limits = BudgetLimits { max_cost: None, max_tokens: Some(5_000) };
    client.send(Request::SetBudget { limits });
    assert!(matches!(
        &client.answers()[..],
        [Update::Reply(Reply::Budget(set)), Update::Budget(status)] if *set == limits && status.limits == limits
    ));
}

#[test]
fn every_request_is_the_same_behind_json() {
    let entry = {
        let handle = run();
        handle.interloper().inject_user_message("pending").unwrap();
        through_json(&handle.interloper().peek().remove(0))
    };
    let queue = |operation| Request::Queue { agent: "a 0".into(), id: "m1".into(), operation };
    let requests = [
        inject("ä\u{2028}\n\t\"text\""),
        Request::Stop,
        Request::Reset,
        queue(QueueOperation::Hold { text: Some("half".to_owned()) }),
        queue(QueueOperation::Release),
        queue(QueueOperation::Commit {
            text: "new".to_owned(),
            delivery: Some(Delivery::FollowUp),
            kind: None,
            trigger: None,
            images: Some(Vec::new()),
        }),
        queue(QueueOperation::Withdraw { to: Withdrawn::Message, before: vec!["m0".into()] }),
        queue(QueueOperation::Restore { entry: Box::new(entry.clone()), before: Vec::new() }),
        queue(QueueOperation::Move { shift: Shift::Earlier }),
        queue(QueueOperation::Deliver { delivery: Delivery::Now }),
        queue(QueueOperation::Merge),
        queue(QueueOperation::Split { first: Box::new(entry.clone()), second: Box::new(entry) }),
        queue(QueueOperation::Confirm),
        Request::NeverAskIfTrue,
        Request::Resume,
        Request::Pause { agent: None, state: PauseState::Paused },
        Request::Decide { agent: AgentId::main(), call: Some("c".into()), decision: Decision::Skip("why".to_owned()) },
        Request::Cancel { agents: vec!["a 0".into()] },
        Request::UserLeft,
        Request::SetMode { choice: ModeChoice::Next },
        Request::PreviewUndo { scope: UndoScope::LastTurn },
        Request::ListChanges,
        Request::Undo { scope: UndoScope::File("a.rs".to_owned()) },
        Request::Rules { request: RuleRequest::Remove(2) },
        Request::SetBudget { limits: BudgetLimits { max_cost: Some("0.1".parse().unwrap()), max_tokens: None } },
        Request::Compact { words: None },
        Request::SwitchModel { name: "m".to_owned() },
        Request::ListModels,
        Request::CheckImages,
        Request::ReadImage { digest: Image::new("p.png", b"\x89PNG\r\n\x1a\n").unwrap().digest() },
        Request::Retry,
        Request::PreviewRewind { to: "m1".into() },
        Request::KeepDrafts {
            drafts: vec![DraftText {
                to: "a 0".into(),
                text: "half".to_owned(),
                kind: steersman_base::steering::TextKind::Add,
                edits: None,
                images: Vec::new(),
                sender: None,
            }],
        },
    ];
    for request in requests {
        assert_eq!(through_json(&request), request);
    }
    insta::assert_snapshot!(
        serde_json::to_string(&Numbered { client: ClientId::new("a"), number: 7, request: inject("text") }).unwrap(),
        @r#"{"client":"a","number":7,"request":{"type":"inject","to":"","text":"text","delivery":"steer","kind":"add"}}"#
    );
}

#[test]
fn an_act_keeps_what_a_question_shows_behind_json_and_not_the_contents_of_a_file() {
    let command = Operation::Command(CommandOperation {
        command: "ls".to_owned(),
        cwd: "/work".into(),
        timeout: std::time::Duration::from_millis(1_500),
        outside: false,
    });
    assert_eq!(through_json(&command), command);
    let write = Operation::Write(WriteOperation {
        tool: "edit".into(),
        path: "/work/a".into(),
        shown: "a".to_owned(),
        before: None,
        after: Content::from(b"secret".to_vec()),
        diff: "+secret".to_owned(),
    });
    let Operation::Write(read) = through_json(&write) else { panic!("{write:?}") };
    assert_eq!((read.after.size(), read.after.bytes(), read.diff.as_str()), (6, &b""[..], "+secret"));
}

#[test]
fn a_change_of_a_text_that_was_delivered_says_so_and_changes_nothing() {
    let handle = run();
    let client = LocalClient::new(handle.clone());
    client.send(inject("text"));
    let id = handle.interloper().peek().remove(0).id;
    handle.stop();
    client.answers();
    client.send(Request::Queue { agent: AgentId::main(), id, operation: QueueOperation::Confirm });
    let [Update::Reply(Reply::Queue { outcome, .. }), Update::Queues { queues, .. }] = &client.answers()[..] else {
        panic!()
    };
    assert_eq!((outcome, queues.len()), (&QueueOutcome::Gone, 0));
}

#[test]
fn a_yes_that_is_not_taken_is_answered_with_what_is_still_open() {
    let handle = run();
    let client = LocalClient::new(handle);
    client.answers();
    client.send(Request::Answer { id: ApprovalId(7), answer: Answer::Once });
    let answers = client.answers();
    let [Update::Reply(Reply::Answered { outcome: Err(why), .. }), Update::Approvals { open, .. }] = &answers[..]
    else {
        panic!("{answers:?}")
    };
    assert_eq!((why.as_str(), open.len()), ("the question is gone", 0));
}
