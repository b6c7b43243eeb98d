//! Sub-agents that no call waits for: calls that give way to a text, calls that ask for the background, and answers that come
//! as messages.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use steersman_base::event::{Delivery, Event, Outcome, UserText};
use steersman_base::id::AgentId;
use steersman_base::message::{AgentReport, Message, UserAbout};
use steersman_base::steering::{AgentsGiveWay, TextKind};
use steersman_core::provider::Played;
use steersman_session::host::{self, Host, LastRun, Resumed, Setup};
use steersman_session::journal::{Record, read_records, restore};
use tempfile::TempDir;

use crate::support::bench::setup;
use crate::support::doubles::{Pause, PlayedExt, Rig, settle, within};
use crate::support::journals::{Disk, event as event_of, journal};
use crate::support::subagents::spawns;

/// Longest time for the worker to do what it is told; on a busy machine it has to share.
const PATIENCE: Duration = Duration::from_mins(1);

struct Tree {
    rig: Rig,
    host: Host,
    _dir: TempDir,
}

/// Starts a host whose main agent plays this script; the children, by their tasks, play theirs.
fn launch(script: impl IntoIterator<Item = Played>, children: Vec<(&str, Vec<Played>)>) -> Tree {
    launch_with(script, children, |setup| setup)
}

fn launch_with(
    script: impl IntoIterator<Item = Played>,
    children: Vec<(&str, Vec<Played>)>,
    change: impl FnOnce(Setup) -> Setup,
) -> Tree {
    let (rig, dir) = (Rig::new(script), TempDir::new().unwrap());
    for (task, script) in children {
        rig.model.route(task, script);
    }
    let host = host::start(&tokio::runtime::Handle::current(), change(setup(&rig, &dir)));
    Tree { rig, host, _dir: dir }
}

impl Tree {
    fn send(&self, text: &str, delivery: Delivery) {
        self.host.handle().inject_user_message(&AgentId::main(), (text, delivery)).unwrap();
    }

    async fn settled(&mut self) -> LastRun {
        within(PATIENCE, "the host settles", self.host.settled()).await.unwrap()
    }

    /// Returns the messages of a request of the main agent behind its system prompt.
    fn asked(&self, request: usize) -> Vec<String> {
        let all = self.rig.requests();
        let main: Vec<_> = all.iter().filter(|request| request.lines()[1] == "user: Go.").collect();
        main[request].lines()[2..].to_vec()
    }

    /// Returns what the events say of sub-agents and of texts of the main agent.
    fn lines(&self) -> Vec<String> {
        let line = |event| match event {
            Event::AgentSpawned { child, .. } => Some(format!("spawned {child}")),
            Event::AgentBackgrounded { child } => Some(format!("in background {child}")),
            Event::AgentFinished { child, outcome, .. } => Some(format!("finished {child} {outcome:?}")),
            Event::AgentAnswered { child, outcome, answer } => Some(format!("answered {child} {outcome:?}: {answer}")),
            Event::UserTurn { content, .. } => Some(format!("text {content}")),
            Event::TurnEnded { turn, outcome, .. } => Some(format!("turn {turn} {outcome:?}")),
            _ => None,
        };
        self.rig.recorder.envelopes().into_iter().filter(|e| e.agent.is_main()).filter_map(|e| line(e.event)).collect()
    }
}

/// Plays a call of the `agent` tool that does not wait.
fn spawns_in_background(task: &str) -> Played {
    let arguments = json!({"name": "file_miner", "task": task, "background": true}).to_string();
    Played::calls(&[("c1", "agent", arguments.as_str())])
}

// D28
#[tokio::test(start_paused = true)]
async fn a_text_ends_the_wait_for_sub_agents_and_their_answers_come_as_messages() {
    let (first, second) = (Pause::new(), Pause::new());
    let script = [
        spawns(&[("c1", "file_miner", "Count birds."), ("c2", "file_miner", "Count trees.")]),
        Played::text("Noted."),
        Played::text("One is there."),
        Played::text("Both are there."),
    ];
    let children = vec![
        ("Count birds.", vec![Played::text("Seven birds.").paused(&first)]),
        ("Count trees.", vec![Played::text("Nine trees.").paused(&second)]),
    ];
    let mut tree = launch(script, children);
    tree.send("Go.", Delivery::Steer);
    first.reached().await;
    second.reached().await;
    tree.send("only large ones", Delivery::Steer);
    settle().await;
    let asked = tree.asked(1);
    assert!(
        asked[1].starts_with("tool#c1: [a text for you came first. file_miner 0 works in the background (after "),
        "{asked:?}"
    );
    assert!(
        asked[2].starts_with("tool#c2: [a text for you came first. file_miner 1 works in the background (after "),
        "{asked:?}"
    );
    assert_eq!(asked[3..], ["user: only large ones"]);
    first.open();
    settle().await;
    second.open();
    assert_eq!(tree.settled().await, LastRun::Answered);
    let last = tree.asked(3);
    assert!(last[5].contains("agent=\"file_miner 0\" started-by=\"you\" task=\"Count birds.\""), "{last:?}");
    assert!(last[5].contains("\nSeven birds.\n"), "{last:?}");
    assert!(last[7].contains("\nNine trees.\n"), "{last:?}");
    assert_eq!(
        tree.lines(),
        [
            "text Go.",
            "spawned file_miner 0",
            "spawned file_miner 1",
            "in background file_miner 0",
            "in background file_miner 1",
            "text only large ones",
            "turn 1 Completed",
            "finished file_miner 0 Completed",
            "answered file_miner 0 Completed: Seven birds.",
            "turn 2 Completed",
            "finished file_miner 1 Completed",
            "answered file_miner 1 Completed: Nine trees.",
            "turn 3 Completed",
        ]
    );
}

// D28
#[tokio::test(start_paused = true)]
async fn calls_behind_agents_that_gave_way_are_left_out() {
    let pause = Pause::new();
    let task = json!({"name": "file_miner", "task": "Count birds."}).to_string();
    let plan = json!({"steps": [{"text": "count", "state": "running"}]}).to_string();
    let script = [
        Played::calls(&[("c1", "agent", task.as_str()), ("c2", "plan", plan.as_str())]),
        Played::text("Noted."),
        Played::text("Seven."),
    ];
    let mut tree = launch(script, vec![("Count birds.", vec![Played::text("Seven birds.").paused(&pause)])]);
    tree.send("Go.", Delivery::Steer);
    pause.reached().await;
    tree.send("only large ones", Delivery::Steer);
    settle().await;
    let asked = tree.asked(1);
    assert!(asked[1].starts_with("tool#c1: [a text for you came first. file_miner 0 "), "{asked:?}");
    assert!(asked[2].starts_with("tool#c2: ") && asked[2].contains("not run"), "{asked:?}");
    assert_eq!(asked[3], "user: only large ones");
    let is_told = |event: &Event| matches!(event, Event::Notice { text } if text.contains("text came first: plan"));
    assert!(tree.rig.recorder.envelopes().iter().any(|envelope| is_told(&envelope.event)), "the user sees it");
    pause.open();
    tree.settled().await;
}

// D28
#[tokio::test(start_paused = true)]
async fn calls_that_are_not_disturbed_return_the_answers_and_nothing_goes_to_the_background() {
    let script = [spawns(&[("c1", "file_miner", "Count birds.")]), Played::text("Seven.")];
    let mut tree = launch(script, vec![("Count birds.", vec![Played::text("Seven birds.")])]);
    tree.send("Go.", Delivery::Steer);
    tree.settled().await;
    assert_eq!(tree.asked(1)[1..], ["tool#c1: Seven birds."]);
    assert!(!tree.lines().iter().any(|line| line.starts_with("in background")));
}

// D28
#[tokio::test(start_paused = true)]
async fn what_ends_the_wait_is_set_by_the_user() {
    for (setting, delivery, gives_way) in [
        (AgentsGiveWay::Always, Delivery::Steer, true),
        (AgentsGiveWay::Always, Delivery::Now, true),
        (AgentsGiveWay::Always, Delivery::FollowUp, false),
        (AgentsGiveWay::Now, Delivery::Steer, false),
        (AgentsGiveWay::Now, Delivery::Now, true),
        (AgentsGiveWay::Never, Delivery::Steer, false),
        (AgentsGiveWay::Never, Delivery::Now, false),
    ] {
        let pause = Pause::new();
        let script = [spawns(&[("c1", "file_miner", "Count birds.")])];
        let children = vec![("Count birds.", vec![Played::text("Seven birds.").paused(&pause)])];
        let mut tree = launch_with(script, children, |setup| Setup { agents_give_way: setting, ..setup });
        for _ in 0..3 {
            tree.rig.model.push(Played::text("Noted."));
        }
        tree.send("Go.", Delivery::Steer);
        pause.reached().await;
        tree.send("only large ones", delivery);
        settle().await;
        let waits = tree.lines().iter().all(|line| line != "in background file_miner 0");
        assert_eq!(waits, !gives_way, "{setting:?} {delivery:?}: {:?}", tree.lines());
        pause.open();
        tree.settled().await;
        let texts = tree.lines().iter().filter(|line| *line == "text only large ones").count();
        assert_eq!(texts, 1, "{setting:?} {delivery:?}: {:?}", tree.lines());
    }
}

// D29
#[tokio::test(start_paused = true)]
async fn an_agent_in_the_background_returns_at_once_and_its_answer_enters_at_the_next_boundary_or_starts_a_turn() {
    let (child, reply) = (Pause::new(), Pause::new());
    let script = [
        spawns_in_background("Count birds."),
        Played::calls(&[("c2", "glob", r#"{"pattern": "*"}"#)]).paused(&reply),
        Played::text("Seven."),
    ];
    let children = vec![("Count birds.", vec![Played::text("Seven birds.").paused(&child)])];
    let mut tree = launch(script, children);
    tree.send("Go.", Delivery::Steer);
    child.reached().await;
    reply.reached().await;
    assert_eq!(
        tree.asked(1)[1..],
        [
            "tool#c1: [file_miner 0 works in the background. Its answer will come to you as a message: go on with what does \
          not need it, or end your turn.]"
        ]
    );
    child.open();
    settle().await;
    reply.open();
    tree.settled().await;
    let last = tree.asked(2);
    assert!(last[3].starts_with("tool#c2: "), "{last:?}");
    assert!(last[4].starts_with("user: <agent-file_miner0") && last[4].contains("\nSeven birds.\n"), "{last:?}");
    assert_eq!(tree.lines().last().unwrap(), "turn 1 Completed", "no turn of its own: {:?}", tree.lines());
}

// D29, D5
#[tokio::test(start_paused = true)]
async fn a_stop_reaches_agents_in_the_background_and_what_they_say_then_starts_no_turn() {
    let child = Pause::new();
    let script = [spawns_in_background("Count birds."), Played::text("I wait."), Played::text("Fine.")];
    let children = vec![("Count birds.", vec![Played::text("Seven birds.").paused(&child)])];
    let mut tree = launch(script, children);
    tree.send("Go.", Delivery::Steer);
    child.reached().await;
    settle().await;
    tree.host.handle().agent_controls().stop();
    tree.settled().await;
    assert_eq!(tree.lines().last().unwrap(), "finished file_miner 0 Cancelled");
    tree.send("and now?", Delivery::Steer);
    tree.settled().await;
    let last = tree.asked(2);
    assert!(last[3].contains("end=\"cancelled\"") && last[3].contains("cancelled by the user"), "{last:?}");
    assert_eq!(last[4], "user: and now?");
}

// D29
#[tokio::test(start_paused = true)]
async fn the_main_agent_goes_on_when_the_user_stops_one_agent_in_the_background() {
    let script = [spawns_in_background("Count birds."), Played::text("I wait."), Played::text("A pity.")];
    let child = Pause::new();
    let children = vec![("Count birds.", vec![Played::text("x").paused(&child)])];
    let mut tree = launch(script, children);
    tree.send("Go.", Delivery::Steer);
    child.reached().await;
    settle().await;
    let id = AgentId::new("file_miner 0");
    let controls = tree.host.handle().agent_controls().get(&id).unwrap();
    controls.cancellable.cancel();
    tree.settled().await;
    let answers = tree.lines().into_iter().filter(|line| line.starts_with("answered")).collect::<Vec<_>>();
    assert_eq!(answers, ["answered file_miner 0 Cancelled: cancelled by the user"]);
    assert_eq!(tree.lines().last().unwrap(), "turn 2 Completed", "the main agent goes on: {:?}", tree.lines());
}

#[tokio::test(start_paused = true)]
async fn no_more_agents_work_at_the_same_time_than_may_and_those_that_wait_give_way_too() {
    let pauses: Vec<Pause> = (0..3).map(|_| Pause::new()).collect();
    let tasks = ["Count birds.", "Count trees.", "Count stones."];
    let script = [
        spawns(&[("c1", "file_miner", tasks[0]), ("c2", "file_miner", tasks[1]), ("c3", "file_miner", tasks[2])]),
        Played::text("Noted."),
        Played::text("One."),
        Played::text("Two."),
        Played::text("Three."),
    ];
    let children =
        tasks.iter().zip(&pauses).map(|(task, pause)| (*task, vec![Played::text("counted").paused(pause)])).collect();
    let mut tree = launch_with(script, children, |setup| Setup { agents_at_once: 1, ..setup });
    tree.send("Go.", Delivery::Steer);
    pauses[0].reached().await;
    settle().await;
    assert_eq!(tree.lines(), ["text Go.", "spawned file_miner 0"]);
    tree.send("only large ones", Delivery::Steer);
    settle().await;
    let asked = tree.asked(1);
    for (place, id) in [(2, "file_miner 1"), (3, "file_miner 2")] {
        let says = format!(
            "[a text for you came first. {id} works in the background: it starts when one of the agents at work has ended."
        );
        assert!(asked[place].contains(&says), "{asked:?}");
    }
    for pause in &pauses {
        pause.open();
        settle().await;
    }
    tree.settled().await;
    let lines = tree.lines();
    let place = |what: &str| lines.iter().position(|line| line == what).unwrap_or_else(|| panic!("{what}: {lines:?}"));
    assert!(place("finished file_miner 0 Completed") < place("spawned file_miner 1"), "{lines:?}");
    assert!(place("finished file_miner 1 Completed") < place("spawned file_miner 2"), "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("answered")).count(), 3, "{lines:?}");
}

// D29, D5
#[tokio::test(start_paused = true)]
async fn a_stop_reaches_agents_that_wait_for_their_turn_too() {
    let first = Pause::new();
    let task = |number: usize| json!({"name": "file_miner", "task": format!("Count {number}."), "background": true});
    let tasks = [task(1).to_string(), task(2).to_string()];
    let script = [
        Played::calls(&[("c1", "agent", tasks[0].as_str()), ("c2", "agent", tasks[1].as_str())]),
        Played::text("I wait."),
        Played::text("Fine."),
    ];
    let children = vec![("Count 1.", vec![Played::text("one").paused(&first)])];
    let mut tree = launch_with(script, children, |setup| Setup { agents_at_once: 1, ..setup });
    tree.send("Go.", Delivery::Steer);
    first.reached().await;
    settle().await;
    let asked = tree.asked(1);
    assert!(asked[1].starts_with("tool#c1: [file_miner 0 works in the background. "), "{asked:?}");
    let queued = "tool#c2: [file_miner 1 works in the background: it starts when one of the agents at work has ended. ";
    assert!(asked[2].starts_with(queued), "{asked:?}");
    // At once, so that the flag of the main agent is clear again before anything else runs.
    tree.host.handle().agent_controls().stop();
    tree.send("and now?", Delivery::Steer);
    tree.settled().await;
    let lines = tree.lines();
    assert!(!lines.contains(&"spawned file_miner 1".to_owned()), "{lines:?}");
    let ends = lines.iter().filter(|line| line.contains("Cancelled: cancelled by the user")).count();
    assert_eq!(ends, 2, "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn any_number_of_agents_may_work_at_once() {
    let script = [spawns(&[("c1", "file_miner", "Count birds.")]), Played::text("Seven.")];
    let children = vec![("Count birds.", vec![Played::text("Seven birds.")])];
    let mut tree = launch_with(script, children, |setup| Setup { agents_at_once: usize::MAX, ..setup });
    tree.send("Go.", Delivery::Steer);
    assert_eq!(tree.settled().await, LastRun::Answered);
}

/// Returns what a journal says of the sub-agent: answers in the conversation, answers that wait, and whether it was in the
/// background by then.
fn answers(resumed: &Resumed, bytes: &[u8]) -> (usize, usize, bool) {
    let told = resumed.messages.iter().filter(|message| is_answer(message)).count();
    (told, resumed.answers.len(), String::from_utf8_lossy(bytes).contains("agent_backgrounded"))
}

fn is_answer(message: &Message) -> bool {
    matches!(message, Message::User { about: Some(about), .. } if matches!(**about, UserAbout::Agent(_)))
}

fn restored(bytes: &[u8]) -> Resumed {
    restore(read_records(bytes).unwrap().records)
}

// D29: killed behind any record.
#[tokio::test(start_paused = true)]
async fn after_a_kill_at_any_record_an_answer_of_the_background_is_told_once() {
    let (child, disk) = (Pause::new(), Disk::default());
    let journal = journal(&disk);
    let script = [spawns_in_background("Count birds."), Played::text("I wait."), Played::text("Seven.")];
    let children = vec![("Count birds.", vec![Played::text("Seven birds.").paused(&child)])];
    let listener = journal.clone();
    let mut tree = launch_with(script, children, |mut setup| {
        setup.listeners.push(Arc::new(listener));
        setup
    });
    tree.send("Go.", Delivery::Steer);
    child.reached().await;
    settle().await;
    child.open();
    tree.settled().await;
    journal.close();
    let whole = disk.bytes();
    let ends: Vec<usize> = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    let mut seen = [false; 3];
    for end in ends {
        let resumed = restored(&whole[..end]);
        let (told, waiting, in_background) = answers(&resumed, &whole[..end]);
        assert_eq!(told + waiting, usize::from(in_background), "behind {end} bytes");
        for note in &resumed.answers {
            seen[usize::from(note.answer == "Seven birds.")] = true;
            let interrupted = note.answer == "interrupted when the program ended";
            assert!(interrupted || note.answer == "Seven birds.", "{note:?}");
        }
        seen[2] |= told == 1;
    }
    assert_eq!(seen, [true; 3], "interrupted, waiting and delivered answers were all met");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_a_kill_kept_back_goes_with_the_next_text_of_the_resumed_session_and_starts_no_turn() {
    let (child, reply, disk) = (Pause::new(), Pause::new(), Disk::default());
    let journal = journal(&disk);
    let children = || vec![("Count birds.", vec![Played::text("Seven birds.").paused(&child)])];
    let listener = journal.clone();
    let mut tree = launch_with(
        [spawns_in_background("Count birds."), Played::text("I wait.").paused(&reply)],
        children(),
        |mut setup| {
            setup.listeners.push(Arc::new(listener));
            setup
        },
    );
    tree.send("Go.", Delivery::Steer);
    child.reached().await;
    reply.reached().await;
    journal.close();
    let killed = disk.bytes();
    reply.open();
    child.open();
    tree.rig.model.push(Played::text("Seven."));
    tree.settled().await;

    assert_eq!(restored(&killed).answers.len(), 1);
    let mut tree = launch_with([Played::text("Again, then.")], Vec::new(), |setup| Setup {
        resumed: Some(Box::new(restored(&killed))),
        listeners: Vec::new(),
        ..setup
    });
    assert_eq!(tree.settled().await, LastRun::None, "nothing is asked before the user says something");
    assert_eq!(tree.rig.requests().len(), 0);
    tree.send("and now?", Delivery::Steer);
    tree.settled().await;
    let asked = tree.asked(0);
    let [.., answer, text] = asked.as_slice() else { panic!("{asked:?}") };
    assert!(answer.contains("end=\"failed\"") && answer.contains("interrupted when the program ended"), "{asked:?}");
    assert_eq!(text, "user: and now?");
    assert_eq!(asked.iter().filter(|line| line.contains("<agent-file_miner0")).count(), 1, "{asked:?}");
}

#[test]
fn an_old_answer_in_a_conversation_that_is_written_anew_is_not_taken_for_the_one_that_waits() {
    let child = || AgentId::new("file_miner 0");
    let at = |seq, event| Record::Event(event_of(seq, event));
    let spawned = || Event::AgentSpawned {
        child: child(),
        persona: "file_miner".to_owned(),
        task: "Count birds.".to_owned(),
        call: Some("c1".into()),
        model: None,
        max_steps: None,
        tools: Vec::new(),
    };
    let finished = || Event::AgentFinished { child: child(), outcome: Outcome::Completed, message: None };
    let said = |text: &str| Record::AgentHistory {
        agent: child(),
        replaced: false,
        messages: vec![Message::user("Count birds."), Message::assistant(text)],
    };
    let answer = || Message::user_about("old", Vec::new(), UserAbout::Agent(AgentReport { agent: child() }));
    let records = vec![
        at(1, spawned()),
        at(2, Event::AgentBackgrounded { child: child() }),
        said("Seven birds."),
        at(3, finished()),
        Record::History { replaced: false, messages: vec![answer()] },
        at(4, spawned()),
        at(5, Event::AgentBackgrounded { child: child() }),
        said("Nine birds."),
        at(6, finished()),
        Record::History { replaced: true, messages: vec![Message::user("Go."), answer()] },
    ];
    let answers: Vec<String> = restore(records).answers.into_iter().map(|note| note.answer).collect();
    assert_eq!(answers, ["Nine birds."]);
}

#[tokio::test(start_paused = true)]
async fn a_note_or_a_rule_waits_for_the_sub_agents_unless_it_is_sent_now() {
    for kind in [TextKind::Note, TextKind::Rule] {
        let child = Pause::new();
        let script = [spawns(&[("c1", "file_miner", "Count birds.")]), Played::text("Counted.")];
        let mut tree = launch(script, vec![("Count birds.", vec![Played::text("Seven.").paused(&child)])]);
        tree.send("Go.", Delivery::Steer);
        child.reached().await;
        tree.host.handle().inject_user_message(&AgentId::main(), ("the port is 1", kind)).unwrap();
        settle().await;
        assert_eq!(tree.host.handle().interloper().peek().len(), 1, "{kind:?} waits");
        child.open();
        tree.settled().await;
        let asked = tree.asked(1);
        assert_eq!((asked[1].as_str(), asked.len()), ("tool#c1: Seven.", 3), "{asked:?}");

        let child = Pause::new();
        let script =
            [spawns(&[("c1", "file_miner", "Count birds.")]), Played::text("Noted."), Played::text("Counted.")];
        let mut tree = launch(script, vec![("Count birds.", vec![Played::text("Seven.").paused(&child)])]);
        tree.send("Go.", Delivery::Steer);
        child.reached().await;
        let text = UserText { kind, delivery: Delivery::Now, ..UserText::new("the port is 1") };
        tree.host.handle().inject_user_message(&AgentId::main(), text).unwrap();
        settle().await;
        assert!(tree.asked(1)[1].contains("works in the background"), "{:?}", tree.asked(1));
        child.open();
        tree.settled().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_text_for_a_paused_agent_ends_its_wait_when_it_goes_on() {
    let child = Pause::new();
    let script = [spawns(&[("c1", "file_miner", "Count birds.")]), Played::text("Noted."), Played::text("Counted.")];
    let mut tree = launch(script, vec![("Count birds.", vec![Played::text("Seven.").paused(&child)])]);
    tree.send("Go.", Delivery::Steer);
    child.reached().await;
    let gate = tree.host.handle().agent_controls().main().gate;
    gate.pause();
    tree.send("only large ones", Delivery::Steer);
    settle().await;
    assert!(!tree.lines().contains(&"in background file_miner 0".to_owned()), "the wait goes on");
    gate.resume();
    settle().await;
    assert!(tree.lines().contains(&"in background file_miner 0".to_owned()), "{:?}", tree.lines());
    child.open();
    tree.settled().await;
}
