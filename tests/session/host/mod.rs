//! Stories of the host: the worker that takes turns from the queue, the handle that steers it, and the mailbox.

mod commands;

use crate::support::bench::setup;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use steersman_base::error::Refused;
use steersman_base::event::{Delivery, Envelope, Event};
use steersman_base::id::AgentId;
use steersman_core::approval::Mode;
use steersman_core::listener::{Listener, ListenerList};
use steersman_core::provider::{ChatProvider, ChatRequest, FixedProvider, Played, ProviderError, Sink};
use steersman_session::host::{self, Command, Host, LastRun, Mailbox, Notice, Setup, StartError, Update, WorkerState};
use tempfile::TempDir;

use crate::support::doubles::{Pause, PlayedExt, Rig, brief, settle, texts_of, within};

/// Longest time for the worker to do what it is told; on a busy machine it has to share.
const PATIENCE: Duration = Duration::from_mins(1);

struct Ship {
    rig: Rig,
    host: Host,
    dir: TempDir,
}

fn launch(script: impl IntoIterator<Item = Played>) -> Ship {
    let (rig, dir) = (Rig::new(script), TempDir::new().unwrap());
    let host = host::start(&tokio::runtime::Handle::current(), setup(&rig, &dir));
    Ship { rig, host, dir }
}

impl Ship {
    fn send(&self, text: &str) {
        self.host.handle().inject_user_message(&AgentId::main(), (text, Delivery::Steer)).unwrap();
    }

    async fn settled(&mut self) -> LastRun {
        within(PATIENCE, "the host settles", self.host.settled()).await.unwrap()
    }

    /// Returns the main agent's events but the queue's.
    fn event_lines(&self) -> Vec<String> {
        let events = self.rig.events();
        let aside =
            |e: &&Event| matches!(e, Event::Pending { .. } | Event::SessionStarted { .. } | Event::Guards { .. });
        let told = events.iter().filter(|e| !aside(e));
        told.filter_map(brief).collect()
    }

    /// Returns the queue as each `pending` event told it.
    fn queues(&self) -> Vec<Vec<String>> {
        let texts = |event| match event {
            Event::Pending { entries } => Some(entries.into_iter().map(|entry| entry.message.text).collect()),
            _ => None,
        };
        self.rig.events().into_iter().filter_map(texts).collect()
    }
}

// D2
#[tokio::test(start_paused = true)]
async fn a_text_starts_a_turn_when_none_runs() {
    let mut ship = launch([Played::text("One."), Played::text("Two.")]);
    assert_eq!(ship.settled().await, LastRun::None);
    ship.send("a");
    assert_eq!(ship.settled().await, LastRun::Answered);
    ship.send("b");
    assert_eq!(ship.settled().await, LastRun::Answered);
    assert_eq!(
        ship.event_lines(),
        [
            "turn 1",
            "user start m1: a",
            "assistant: One.",
            "tokens",
            "ended 1 completed",
            "turn 2",
            "user start m2: b",
            "assistant: Two.",
            "tokens",
            "ended 2 completed"
        ]
    );
}

// D2
#[tokio::test(start_paused = true)]
async fn texts_typed_before_the_agent_is_built_wait_for_it_and_the_session_record_is_first() {
    let mut ship = launch([Played::text("One.")]);
    ship.send("a");
    ship.send("b");
    assert_eq!(ship.host.state(), WorkerState::Building);
    ship.settled().await;
    assert_eq!(ship.rig.requests().len(), 1);
    assert_eq!(ship.rig.requests()[0].lines()[1..], ["user: a", "user: b"]);
    let first = &ship.rig.recorder.envelopes()[0];
    let Event::SessionStarted { schema, cwd, model, max_steps, tools, .. } = &first.event else {
        panic!("{first:?} is first")
    };
    assert_eq!((first.seq, *schema, *max_steps), (1, 2, Some(9)));
    assert_eq!(model.as_deref(), Some("test-model"));
    assert_eq!(cwd, &ship.dir.path().canonicalize().unwrap().display().to_string());
    assert_eq!(tools, &ship.rig.requests()[0].tool_names());
    assert_eq!(ship.queues().first().unwrap(), &["a", "b"]);
}

// D20
#[tokio::test(start_paused = true)]
async fn the_main_agent_has_its_pool_of_tools_and_the_personas_whose_tools_are_there() {
    let mut ship = launch([Played::text("One.")]);
    ship.send("a");
    ship.settled().await;
    let request = &ship.rig.requests()[0];
    let jobs = ["job_output", "job_input", "job_stop"];
    let tools = ["read", "grep", "glob", "calculator", "plan", "ask_user", "write", "edit", "bash"]
        .into_iter()
        .chain(jobs)
        .chain(["agent"]);
    assert_eq!(request.tool_names(), tools.collect::<Vec<_>>());
    let prompt = request.system_prompt();
    for persona in ["file_miner", "git_repo_researcher", "researcher", "worker"] {
        assert!(prompt.contains(&format!("- `{persona}`")), "{persona} is missing in {prompt}");
    }
    assert!(!prompt.contains("{{"), "every placeholder is filled: {prompt}");
}

// D2
#[tokio::test(start_paused = true)]
async fn a_text_typed_into_the_last_answer_is_the_next_turn() {
    let pause = Pause::new();
    let mut ship = launch([Played::text("One.").paused(&pause), Played::text("Two.")]);
    ship.send("a");
    pause.reached().await;
    assert_eq!(ship.host.state(), WorkerState::Running);
    ship.send("b");
    settle().await;
    assert_eq!(ship.queues().last().unwrap(), &["b"], "it is shown as pending at once");
    pause.open();
    ship.settled().await;
    assert_eq!(ship.event_lines()[5..7], ["turn 2", "user start m2: b"]);
    assert_eq!(ship.queues().last().unwrap(), &[""; 0]);
}

// D2, D5
#[tokio::test(start_paused = true)]
async fn after_a_failed_turn_what_waits_stays_until_it_is_resumed_or_a_text_is_sent() {
    for resumes in [true, false] {
        let pause = Pause::new();
        let failing = Played::default().paused(&pause).failing(ProviderError::CutOff);
        let mut ship = launch([failing, Played::text("Fine.")]);
        ship.send("a");
        pause.reached().await;
        ship.send("b");
        pause.open();
        assert_eq!(ship.settled().await, LastRun::Failed("the reply was cut off before its end".to_owned()));
        assert_eq!(texts_of(ship.host.handle().interloper()), ["b"]);
        let mut expected = vec!["user: a", "user: b"];
        if resumes {
            ship.host.handle().interloper().resume();
        } else {
            ship.send("c");
            expected.push("user: c");
        }
        assert_eq!(ship.settled().await, LastRun::Answered);
        assert_eq!(ship.rig.last_request().lines()[1..], expected);
    }
}

// D5, D6
#[tokio::test(start_paused = true)]
async fn a_stop_cancels_the_turn_gives_the_texts_back_and_the_next_turn_works() {
    let pause = Pause::new();
    let mut ship = launch([Played::text("Never.").paused(&pause), Played::text("Next.")]);
    ship.send("a");
    pause.reached().await;
    ship.send("b");
    ship.host.handle().inject_user_message(&AgentId::main(), ("c", Delivery::FollowUp)).unwrap();
    let back: Vec<String> = ship.host.handle().stop().into_iter().map(|entry| entry.message.text).collect();
    assert_eq!(back, ["b", "c"]);
    assert_eq!(ship.settled().await, LastRun::Cancelled);
    ship.send("d");
    assert_eq!(ship.settled().await, LastRun::Answered);
    assert_eq!(ship.rig.last_request().lines()[1..], ["user: a", "user: d"]);
}

// D5: sent between the stop and the turn's end.
#[tokio::test(start_paused = true)]
async fn a_text_sent_right_after_the_stop_starts_the_next_turn() {
    let pause = Pause::new();
    let mut ship = launch([Played::text("Never.").paused(&pause), Played::text("Next.")]);
    ship.send("a");
    pause.reached().await;
    ship.host.handle().stop();
    ship.send("b");
    assert_eq!(ship.settled().await, LastRun::Answered);
    assert_eq!(ship.rig.last_request().lines()[1..], ["user: a", "user: b"]);
    assert!(!ship.host.handle().cancellable().is_cancelled());
}

// D9: nothing runs, so nothing is poisoned.
#[tokio::test(start_paused = true)]
async fn a_stop_while_nothing_runs_changes_nothing_for_the_next_turn() {
    let mut ship = launch([Played::text("One.")]);
    ship.settled().await;
    assert_eq!(ship.host.handle().stop(), []);
    ship.send("a");
    assert_eq!(ship.settled().await, LastRun::Answered);
}

// Q7 of the wire form: the whole queue after each change.
#[tokio::test(start_paused = true)]
async fn every_change_of_the_queue_is_told_as_the_whole_queue() {
    let pause = Pause::new();
    let mut ship = launch([Played::text("One.").paused(&pause), Played::text("Two.")]);
    ship.send("a");
    pause.reached().await;
    settle().await;
    let queue = Arc::clone(ship.host.handle().interloper());
    let b = queue.inject_user_message("b").unwrap().id;
    settle().await;
    queue.inject_user_message(("c", Delivery::FollowUp)).unwrap();
    settle().await;
    queue.replace(&b, "better b").unwrap();
    settle().await;
    queue.withdraw(&b).unwrap();
    settle().await;
    let queues = ship.queues();
    assert_eq!(queues[queues.len() - 4..], [vec!["b"], vec!["b", "c"], vec!["better b", "c"], vec!["c"]]);
    pause.open();
    ship.settled().await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_cannot_be_built_says_why_and_nothing_runs() {
    let (rig, dir) = (Rig::new([]), TempDir::new().unwrap());
    let setup = Setup { cwd: dir.path().join("missing"), ..setup(&rig, &dir) };
    let mut host = host::start(&tokio::runtime::Handle::current(), setup);
    let reason = host.settled().await.unwrap_err();
    assert!(reason.starts_with("cannot work in ") && reason.contains("missing"), "{reason}");
    assert_eq!(host.state(), WorkerState::Broken(reason.clone()));
    assert_eq!(
        host.handle().mailbox().take_updates(),
        [Update::Notice(Notice::BuildFailed(StartError::Configuration(reason)))]
    );
}

// D5
#[tokio::test(start_paused = true)]
async fn an_agent_that_cannot_be_built_gives_back_what_was_typed_and_refuses_what_comes() {
    let runtime = tokio::runtime::Handle::current();
    let mut host = host::start_with(&runtime, |_| async { Err(StartError::Failed("no model is there".to_owned())) });
    host.handle().inject_user_message(&AgentId::main(), ("typed meanwhile", Delivery::Steer)).unwrap();
    host.settled().await.unwrap_err();
    let updates = host.handle().mailbox().take_updates();
    let [Update::Notice(Notice::Returned(entries)), Update::Notice(Notice::BuildFailed(_))] = updates.as_slice() else {
        panic!("{updates:?}")
    };
    assert_eq!(entries[0].text, "typed meanwhile");
    for to in [AgentId::main(), AgentId::new("file_miner 0")] {
        let refused = host.handle().inject_user_message(&to, ("later", Delivery::Steer)).unwrap_err();
        assert_eq!(refused, if to.is_main() { Refused::NotBuilt } else { Refused::Ended });
    }
    assert_eq!(texts_of(host.handle().interloper()), [""; 0]);
    host.handle().request(Command::ListModels);
    settle().await;
    let answer = Notice::Models(Err("no model is there".to_owned()));
    assert_eq!(host.handle().mailbox().take_updates(), [Update::Notice(answer)]);
    within(PATIENCE, "the worker ends", host.shutdown(Duration::from_secs(5))).await;
}

#[tokio::test(start_paused = true)]
async fn a_setup_that_fails_is_told_and_its_notes_are_shown() {
    let runtime = tokio::runtime::Handle::current();
    let mut host = host::start_with(&runtime, |_| async { Err(StartError::Failed("no model is there".to_owned())) });
    assert_eq!(host.settled().await.unwrap_err(), "no model is there");

    let (rig, dir) = (Rig::new([]), TempDir::new().unwrap());
    let setup = Setup { notes: vec!["took the only model".to_owned()], ..setup(&rig, &dir) };
    let mut host = host::start(&runtime, setup);
    host.settled().await.unwrap();
    let notices: Vec<Update> = host
        .handle()
        .mailbox()
        .take_updates()
        .into_iter()
        .filter(|update| matches!(update, Update::Notice(_)))
        .collect();
    assert_eq!(
        notices,
        [Update::Notice(Notice::Info("took the only model".to_owned())), Update::Notice(Notice::Ready)]
    );
}

// D6
#[tokio::test(start_paused = true)]
async fn a_shutdown_cancels_the_turn_and_ends_the_worker() {
    let pause = Pause::new();
    let ship = launch([Played::text("Never.").paused(&pause)]);
    ship.send("a");
    pause.reached().await;
    let mailbox = Arc::clone(ship.host.handle().mailbox());
    within(PATIENCE, "the worker ends", ship.host.shutdown(Duration::from_secs(5))).await;
    let last = mailbox.take_updates().pop();
    assert!(
        matches!(&last, Some(Update::Envelope(envelope)) if matches!(envelope.event, Event::TurnEnded { .. } | Event::Pending { .. })),
        "{last:?}"
    );
    assert_eq!(ship.rig.event_lines().iter().filter(|line| *line == "ended 1 cancelled").count(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_pending_at_a_shutdown_stays_listed_as_pending() {
    let pause = Pause::new();
    let ship = launch([Played::text("Never.").paused(&pause), Played::text("Never either.")]);
    ship.send("a");
    pause.reached().await;
    ship.host.handle().inject_user_message(&AgentId::main(), ("b", Delivery::FollowUp)).unwrap();
    ship.host.handle().inject_user_message(&AgentId::main(), ("c", Delivery::Steer)).unwrap();
    let Ship { host, rig, dir: _dir } = ship;
    within(PATIENCE, "the worker ends", host.shutdown(Duration::from_secs(5))).await;
    let lists = rig.events().into_iter().filter_map(|event| match event {
        Event::Pending { entries } => Some(entries.into_iter().map(|entry| entry.message.text).collect::<Vec<_>>()),
        _ => None,
    });
    assert_eq!(lists.last().unwrap(), ["c", "b"]);
    assert_eq!(rig.events().iter().filter(|event| matches!(event, Event::UserTurn { .. })).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_while_the_agent_is_built_ends_at_once() {
    let host = host::start_with(&tokio::runtime::Handle::current(), |_| std::future::pending());
    settle().await;
    within(PATIENCE, "the worker ends", host.shutdown(Duration::from_secs(5))).await;
}

/// A model with a bug.
struct Buggy(AtomicUsize);

impl ChatProvider for Buggy {
    fn complete<'a>(
        &'a self,
        _: ChatRequest<'a>,
        _: &'a mut Sink<'a>,
    ) -> BoxFuture<'a, Result<steersman_core::provider::Reply, ProviderError>> {
        Box::pin(async {
            assert_ne!(self.0.fetch_add(1, Ordering::SeqCst), 0, "a bug of the provider");
            Ok(steersman_core::provider::Reply {
                content: "Fine.".to_owned(),
                ..steersman_core::provider::Reply::default()
            })
        })
    }
}

// D13: a panic of the worker's own parts ends the turn, not the worker.
#[tokio::test(start_paused = true)]
async fn a_panic_in_a_turn_fails_it_and_the_worker_goes_on() {
    let (rig, dir) = (Rig::new([]), TempDir::new().unwrap());
    let connector = Arc::new(FixedProvider::new(Arc::new(Buggy(AtomicUsize::new(0)))));
    let setup = Setup { connector, ..setup(&rig, &dir) };
    let host = host::start(&tokio::runtime::Handle::current(), setup);
    let mut ship = Ship { rig, host, dir };
    ship.send("a");
    assert!(matches!(ship.settled().await, LastRun::Failed(_)));
    ship.send("b");
    assert_eq!(ship.settled().await, LastRun::Answered);
}

fn delta(seq: u64, agent: &str, text: &str) -> Envelope {
    Envelope {
        seq,
        at: jiff::Timestamp::from_second(i64::try_from(seq).unwrap()).unwrap(),
        agent: AgentId::new(agent),
        parent: None,
        event: Event::AssistantDelta { text: text.to_owned() },
    }
}

#[test]
fn waiting_deltas_of_one_agent_merge_and_keep_the_last_seq() {
    let mailbox = Mailbox::new();
    for envelope in [delta(1, "", "a"), delta(2, "", "b"), delta(4, "x 0", "c"), delta(5, "", "d")] {
        mailbox.on_event(&envelope);
    }
    let thinking = Envelope { event: Event::ThinkingDelta { text: "e".to_owned() }, ..delta(6, "", "") };
    mailbox.on_event(&thinking);
    let mut first = delta(2, "", "ab");
    first.at = jiff::Timestamp::from_second(2).unwrap();
    let expected = [first, delta(4, "x 0", "c"), delta(5, "", "d"), thinking].map(Update::Envelope);
    assert_eq!(mailbox.take_updates(), expected);
    mailbox.on_event(&delta(7, "", "f"));
    assert_eq!(mailbox.take_updates(), [Update::Envelope(delta(7, "", "f"))], "what was taken is not merged into");
}

#[test]
fn nothing_but_deltas_is_merged_and_nothing_is_dropped() {
    let mailbox = Arc::new(Mailbox::new());
    let listener: Arc<dyn Listener> = mailbox.clone();
    let list = ListenerList::new(std::slice::from_ref(&listener));
    for _ in 0..1_000 {
        list.emit(Event::Cancelled {});
    }
    assert_eq!(mailbox.take_updates().len(), 1_000);
    for id in ["c1", "c1", "c2"] {
        list.emit(Event::ToolProgress { id: id.into(), text: "x".to_owned() });
    }
    let texts: Vec<Event> = mailbox
        .take_updates()
        .into_iter()
        .map(|update| match update {
            Update::Envelope(envelope) => envelope.event,
            other => panic!("{other:?}"),
        })
        .collect();
    let progress = |id: &str, text: &str| Event::ToolProgress { id: id.into(), text: text.to_owned() };
    assert_eq!(texts, [progress("c1", "xx"), progress("c2", "x")]);
}

#[test]
fn the_mailbox_wakes_once_per_emptying() {
    let mailbox = Mailbox::new();
    let wakes = Arc::new(AtomicUsize::new(0));
    mailbox.on_event(&delta(1, "", "before anybody listens"));
    let count = Arc::clone(&wakes);
    mailbox.on_wake(Arc::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
    }));
    assert_eq!(wakes.load(Ordering::SeqCst), 1, "what waited already is told");
    for seq in 2..10 {
        mailbox.on_event(&delta(seq, "", "x"));
    }
    assert_eq!(wakes.load(Ordering::SeqCst), 1);
    mailbox.take_updates();
    mailbox.push(Update::Notice(Notice::Ready));
    mailbox.push(Update::Notice(Notice::Ready));
    assert_eq!(wakes.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn the_guards_are_told_at_the_start_and_again_when_the_mode_changes() {
    let mut ship = launch([Played::text("One.")]);
    ship.send("a");
    ship.settled().await;
    let modes = |ship: &Ship| -> Vec<String> {
        let mode = |event| match event {
            Event::Guards { mode, .. } => Some(mode),
            _ => None,
        };
        ship.rig.events().into_iter().filter_map(mode).collect()
    };
    assert!(matches!(ship.rig.events()[..2], [Event::SessionStarted { .. }, Event::Guards { .. }]));
    assert_eq!(modes(&ship), ["ask"]);
    let approvals = ship.host.handle().approvals().clone();
    approvals.set_mode(Mode::AutoEdit).unwrap();
    settle().await;
    approvals.set_mode(Mode::AutoEdit).unwrap();
    settle().await;
    approvals.set_mode(Mode::ReadOnly).unwrap();
    settle().await;
    assert_eq!(modes(&ship), ["ask", "auto-edit", "read-only"]);
}
