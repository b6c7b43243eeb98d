//! Stories of tasks without an answer: a turn that was cancelled, failed or lost its process leaves its task open, and the next
//! text adds to it, behind a compaction and in another process too.

use std::sync::Arc;

use std::time::Duration;

use steersman_agent::{Agent, CompactionRequest, KEPT_HEAD};
use steersman_base::event::{Event, Outcome};
use steersman_base::id::AgentId;
use steersman_base::message::{DeliveredText, Message, UserAbout};
use steersman_base::protocol::Request;
use steersman_base::steering::{Framing, TextKind};
use steersman_core::control::StepLimit;
use steersman_core::listener::{HistoryChange, Listener as _};
use steersman_core::provider::{Finish, Played, ProviderError};
use steersman_core::tool::Tool;
use steersman_session::host::{self, LastRun, Setup};
use steersman_session::journal::{read_records, restore};
use steersman_session::{Client as _, LocalClient};
use steersman_tui::msg::Effect;
use tempfile::TempDir;

use crate::support::doubles::{Gate, Pause, PlayedExt, Rig, calls, gated, run, run_queue, tool, within};
use crate::support::framed::user_texts;
use crate::support::journals::{Disk, event, journal};
use crate::support::stage::Stage;

const PATIENCE: Duration = Duration::from_mins(1);

const TASK: &str = "Migrate every table to the third schema.";
/// What the requests for a summary are routed by.
const SUMMARY: &str = "the earlier part of a conversation";

/// How a turn on the task ends without an answer.
#[derive(Debug, Clone, Copy)]
enum Stop {
    Cancelled,
    Interrupted,
    Failed,
    /// A rescue answers from what was found by then.
    OutOfSteps,
    /// The server cuts the answer at the token limit.
    CutShort,
    /// The content filter of the server cuts it.
    Filtered,
}

const STOPS: [Stop; 6] =
    [Stop::Cancelled, Stop::Interrupted, Stop::Failed, Stop::OutOfSteps, Stop::CutShort, Stop::Filtered];
/// The calls that a turn may make.
const STEPS: u32 = 5;

fn refused() -> ProviderError {
    ProviderError::Status { status: 400, message: "invalid".to_owned(), retry_after_ms: None }
}

/// A tool whose result is some 400 tokens.
fn wordy() -> Arc<dyn Tool> {
    tool("two", &"word ".repeat(320))
}

/// Returns what the model plays behind the task until its turn ends without an answer.
fn played(stop: Stop, pause: &Pause) -> Vec<Played> {
    let first = calls(&[("c1", "one")]);
    match stop {
        Stop::Cancelled => vec![first],
        Stop::Interrupted => vec![first, Played::text("Half an ").paused(pause)],
        Stop::Failed => vec![first, Played::error(refused())],
        Stop::CutShort => vec![first, Played::text("Half an").with_finish(Finish::Length)],
        Stop::Filtered => vec![first, Played::text("Half an").with_finish(Finish::ContentFilter)],
        Stop::OutOfSteps => [first].into_iter().chain((0..STEPS).map(|_| calls(&[("c2", "two")]))).collect(),
    }
}

/// Runs a turn on the task, which ends without an answer.
async fn stopped(
    stop: Stop,
    rig: &Rig,
    (gate, pause): (&Gate, &Pause),
    framing: Framing,
    wish: &Arc<CompactionRequest>,
) -> Agent {
    for reply in played(stop, pause) {
        rig.model.push(reply);
    }
    rig.model.route("Evidence gathered", [Played::text("So far.")]);
    let builder = rig.builder().framing(framing).compaction_request(Arc::clone(wish));
    let builder = builder.step_limit(StepLimit::new(STEPS).unwrap());
    let agent = rig.build(builder, [gated("one", gate), wordy()]).await;
    let running = run(agent, TASK);
    gate.reached().await;
    match stop {
        Stop::Cancelled => {
            rig.cancellable.cancel();
            running.cancelled().await
        }
        Stop::Interrupted => {
            gate.open();
            pause.reached().await;
            rig.cancellable.cancel();
            running.cancelled().await
        }
        Stop::Failed => {
            gate.open();
            running.failed().await.0
        }
        Stop::OutOfSteps | Stop::CutShort | Stop::Filtered => {
            gate.open();
            running.answered().await
        }
    }
}

/// Works on, until all of that is taken out of the conversation; returns what is kept of the texts.
async fn compacted(rig: &Rig, wish: &CompactionRequest, agent: Agent, text: &str) -> (Agent, String) {
    rig.model.route(SUMMARY, (0..2).map(|_| Played::text("What was done.")));
    for call in ["k1", "k2", "k3", "k4"] {
        rig.model.push(calls(&[(call, "two")]));
    }
    rig.model.push(Played::text("Done."));
    let mut agent = run(agent, text).answered().await;
    wish.ask(None);
    agent.compact().await.unwrap();
    let kept = agent.history().messages().iter().find(|message| message.content().starts_with(KEPT_HEAD));
    let kept = kept.expect("the texts of the user are kept").content().to_owned();
    (agent, kept)
}

/// Tells whether a kept text stands as the task.
fn is_task(kept: &str, words: &str) -> bool {
    let (_, task) = kept.split_once("The task at this point:").expect("there is a task");
    task.split("Texts to this task").next().unwrap_or_default().contains(words)
}

#[tokio::test(start_paused = true)]
async fn a_text_behind_a_turn_without_an_answer_adds_to_its_task_however_that_ended() {
    for stop in STOPS {
        for framing in [Framing::Plain, Framing::Framed] {
            let (rig, gate, pause) = (Rig::new([]), Gate::new(), Pause::new());
            let wish: Arc<CompactionRequest> = Arc::default();
            let agent = stopped(stop, &rig, (&gate, &pause), framing, &wish).await;
            assert!(agent.is_task_open(), "{stop:?}");
            let (agent, kept) = compacted(&rig, &wish, agent, "continue").await;
            assert!(is_task(&kept, TASK), "{stop:?}: {kept}");
            assert!(!is_task(&kept, "continue") && kept.contains("continue"), "{stop:?}: {kept}");
            assert!(!kept.contains("which is over"), "{stop:?}: {kept}");
            assert!(!agent.is_task_open(), "the answer closes it");
            // The next one is a task of its own.
            let (_, kept) = compacted(&rig, &wish, agent, "Now the views.").await;
            assert!(is_task(&kept, "Now the views.") && !is_task(&kept, TASK), "{stop:?}: {kept}");
            assert!(kept.contains("of turn 1, which is over"), "{stop:?}: {kept}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_instead_replaces_the_open_task_and_a_closed_one_is_gone_on_with_by_nothing() {
    let (rig, gate, pause) = (Rig::new([]), Gate::new(), Pause::new());
    let wish: Arc<CompactionRequest> = Arc::default();
    let agent = stopped(Stop::Failed, &rig, (&gate, &pause), Framing::Framed, &wish).await;
    rig.send("Write the docs.", TextKind::Instead);
    rig.model.push(Played::error(refused()));
    let mut agent = run_queue(agent).failed().await.0;
    assert!(user_texts(&rig)[1].contains("task=\"dropped: Migrate every table to the third schema.\""));
    rig.send("and the index", TextKind::Add);
    rig.model.push(Played::error(refused()));
    agent.run_queue().await.unwrap_err();
    assert!(user_texts(&rig)[2].contains("task=\"goes on: Write the docs.\""), "{:?}", user_texts(&rig));
    assert!(agent.close_task() && !agent.is_task_open() && !agent.close_task());
    assert_eq!(rig.events().last(), Some(&Event::TaskClosed {}));
    let (_, kept) = compacted(&rig, &wish, agent, "Now the views.").await;
    assert!(is_task(&kept, "Now the views.") && !is_task(&kept, "docs"), "{kept}");
    assert!(kept.contains("state=\"replaced by m1\""), "{kept}");
    assert!(kept.contains("state=\"of turn 2, which is over\""), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn a_note_a_rule_and_a_turn_that_delivered_nothing_leave_a_closed_task_closed() {
    let rig = Rig::new([Played::text("Done."), Played::error(refused())]);
    let mut agent = run(rig.agent([]).await, TASK).answered().await;
    assert!(!agent.is_task_open());
    rig.send("the port is 80", TextKind::Note);
    rig.send("Next.", TextKind::Add);
    agent.run_queue().await.unwrap_err();
    assert!(agent.is_task_open());
    agent.reset();
    assert!(!agent.is_task_open());
}

#[tokio::test(start_paused = true)]
async fn a_process_that_is_lost_leaves_its_task_open_for_what_was_pending_too() {
    let (rig, gate, disk) = (Rig::new([calls(&[("c1", "one")])]), Gate::new(), Disk::default());
    let written = journal(&disk);
    let agent = rig
        .try_build(rig.builder(), |c| {
            c.add_tool(gated("one", &gate))?;
            c.add_listener(Arc::new(written.clone()));
            Ok(())
        })
        .await
        .unwrap();
    let running = run(agent, TASK);
    gate.reached().await;
    written.close();
    let resumed = restore(read_records(disk.bytes().as_slice()).unwrap().records);
    assert_eq!(resumed.task_open, Some(true));
    rig.cancellable.cancel();
    running.cancelled().await;

    let (rig, wish) = (Rig::new([]), Arc::<CompactionRequest>::default());
    let builder = rig.builder().compaction_request(Arc::clone(&wish));
    let mut agent = rig.build(builder, [wordy()]).await;
    agent.resume(&resumed.messages, resumed.numbers.turns);
    assert!(agent.is_task_open());
    rig.send("leave the views out", TextKind::Add);
    rig.model.push(Played::error(refused()));
    agent = run_queue(agent).failed().await.0;
    let (_, kept) = compacted(&rig, &wish, agent, "go on").await;
    assert!(is_task(&kept, TASK) && !is_task(&kept, "views"), "{kept}");
    assert!(kept.contains("leave the views out") && !kept.contains("which is over"), "{kept}");
}

/// Returns the journal of a session whose task has no answer; perhaps the user has closed it.
fn without_answer((outcome, message): (Outcome, &str), closed: bool) -> Vec<u8> {
    let disk = Disk::default();
    let written = journal(&disk);
    let turn = |content: &str| Event::UserTurn {
        content: content.to_owned(),
        mid_loop: false,
        injection: None,
        step: 0,
        after: None,
        sender: None,
        kind: TextKind::Add,
        met: None,
        images: Vec::new(),
    };
    let about = UserAbout::Text(DeliveredText { turn: 1, round: 1, begins_turn: true, ..DeliveredText::default() });
    let messages = [Message::system("As it was."), Message::user_about(TASK, Vec::new(), about)];
    written.on_event(&event(1, Event::TurnStarted { turn: 1 }));
    written.on_event(&event(2, turn(TASK)));
    for message in &messages {
        written.on_history(&AgentId::main(), HistoryChange::Appended(message));
    }
    let message = Some(message.to_owned());
    written.on_event(&event(3, Event::TurnEnded { turn: 1, outcome, message }));
    if closed {
        written.on_event(&event(4, Event::TaskClosed {}));
    }
    written.close();
    disk.bytes()
}

#[tokio::test(start_paused = true)]
async fn a_session_that_goes_on_knows_whether_its_task_is_open_and_done_closes_it() {
    let failed = (Outcome::Failed, "the server answered 400: invalid");
    let cut = (Outcome::Completed, "the reply was cut at the token limit");
    for (end, closed_before, closes) in
        [(failed, false, false), (failed, true, false), (failed, false, true), (cut, false, false), (cut, true, false)]
    {
        let (rig, dir) = (Rig::new([Played::text("Done.")]), TempDir::new().unwrap());
        let resumed = restore(read_records(without_answer(end, closed_before).as_slice()).unwrap().records);
        let setup = Setup {
            resumed: Some(Box::new(resumed)),
            framing: Framing::Framed,
            ..crate::support::bench::setup(&rig, &dir)
        };
        let mut host = host::start(&tokio::runtime::Handle::current(), setup);
        within(PATIENCE, "it is ready", host.settled()).await.unwrap();
        if closes {
            LocalClient::new(host.handle().clone()).send(Request::CloseTask);
        }
        host.handle().inject_user_message(&AgentId::main(), "go on").unwrap();
        assert_eq!(within(PATIENCE, "it answers", host.settled()).await, Ok(LastRun::Answered));
        let text = user_texts(&rig).pop().unwrap();
        if closed_before || closes {
            assert_eq!(text, "go on", "it is a task of its own");
        } else {
            assert!(text.contains("task=\"goes on: Migrate every table to the third schema.\""), "{text}");
        }
        host.shutdown(PATIENCE).await;
    }
}

fn user_turn(stage: &mut Stage, text: &str, kind: TextKind) {
    stage.event(
        "",
        Event::UserTurn {
            content: text.to_owned(),
            mid_loop: false,
            injection: None,
            step: 0,
            after: None,
            sender: None,
            kind,
            met: None,
            images: Vec::new(),
        },
    );
}

#[test]
fn the_line_above_the_message_says_which_task_a_text_adds_to_before_enter() {
    let mut stage = Stage::new(160, 30);
    stage.turn("");
    user_turn(&mut stage, TASK, TextKind::Add);
    stage.turn_ended("", Outcome::Cancelled, None);
    stage.keys("continue");
    let adds = "→ adds to the open task: \"Migrate every table to the third schema.\"";
    assert!(
        stage.screen().contains(&format!("{adds} · Alt+T: in place of it · /done closes it")),
        "{}",
        stage.screen()
    );
    stage.keys("<a-t>");
    let instead = "→ in place of the open task: \"Migrate every table to the third schema.\" · Alt+T: adds to it";
    assert!(stage.screen().contains(instead), "{}", stage.screen());
    let retries = |stage: &Stage| stage.effects.contains(&Effect::Request(Request::Retry));
    stage.keys("<a-t>");
    assert!(stage.screen().contains(adds) && !retries(&stage), "{}", stage.screen());
    stage.keys("<a-v>");
    assert!(stage.screen().contains(instead), "{}", stage.screen());
    stage.keys("<c-c>");
    // Without a text it sends the request again.
    stage.keys("<a-t>");
    assert!(retries(&stage));
    stage.event("", Event::TaskClosed {});
    stage.keys("continue");
    assert!(!stage.screen().contains("open task") && stage.screen().contains("→ starts a turn"), "{}", stage.screen());
    assert!(stage.screen().contains("the task is closed: your next text begins one"), "{}", stage.screen());
    // An answer closes it too, but not that of a rescue.
    stage.turn("");
    user_turn(&mut stage, "continue", TextKind::Add);
    stage.turn_ended("", Outcome::Failed, Some("the server answered 400"));
    assert!(stage.screen().contains("→ adds to the open task: \"continue\""), "{}", stage.screen());
    stage.turn("");
    stage.turn_ended("", Outcome::Synthesized, None);
    assert!(stage.screen().contains("→ adds to the open task: \"continue\""), "{}", stage.screen());
    stage.turn("");
    stage.turn_ended("", Outcome::Completed, Some("the reply was cut at the token limit"));
    assert!(stage.screen().contains("→ adds to the open task: \"continue\""), "{}", stage.screen());
    stage.turn("");
    stage.turn_ended("", Outcome::Completed, None);
    assert!(!stage.screen().contains("open task"), "{}", stage.screen());
}

#[test]
fn done_is_a_command_and_says_so_while_a_turn_works_on_the_task() {
    let mut stage = Stage::new(120, 30);
    stage.turn("");
    stage.keys("/done<enter>");
    assert!(stage.screen().contains("not closed: the agent works on the task"), "{}", stage.screen());
    stage.turn_ended("", Outcome::Cancelled, None);
    stage.effects.clear();
    stage.keys("/done<enter>");
    assert!(stage.effects.contains(&Effect::Request(Request::CloseTask)), "{:?}", stage.effects);
}
