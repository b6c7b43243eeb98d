//! Stories of a session that goes on: its conversation, its transcript, and what waited.

use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use steersman_agent::Agent;
use steersman_base::event::{Event, HookEvent, HookOutcome, HookRun, Outcome, TakenBack, Usage};
use steersman_base::id::AgentId;
use steersman_base::message::{Arguments, Message};
use steersman_base::protocol::DraftText;
use steersman_core::listener::{HistoryChange, Listener};
use steersman_core::provider::Played;
use steersman_session::host::{self, Keeper as _, LastRun, Resumed, Setup, Update};
use steersman_session::journal::{Journal, Record, read_records, restore};
use tempfile::TempDir;

use crate::support::doubles::{Rig, assert_sendable, calls, echo, lines, within};
use crate::support::journals::{Disk, ended, entry, event, journal};
use crate::support::program::{Program, exit_code, stderr};
use crate::support::server::{Gate, Reply, Server};

const PATIENCE: Duration = Duration::from_mins(1);

async fn agent(rig: &Rig, journal: &Journal) -> Agent {
    let listener: Arc<dyn Listener> = Arc::new(journal.clone());
    let block = |c: &mut steersman_agent::Configurator| {
        c.add_listener(listener);
        c.add_tool(echo())
    };
    rig.try_build(rig.builder(), block).await.unwrap()
}

/// Runs two turns with a call in each, and returns the file and the conversation.
async fn two_turns() -> (Vec<u8>, Vec<Message>) {
    let script = [
        calls(&[("c1", r#"{"text": "x"}"#)]),
        Played::text("One."),
        calls(&[("c2", r#"{"text": "y"}"#), ("c3", r#"{"text": "z"}"#)]),
        Played::text("Two."),
    ];
    let (disk, rig) = (Disk::default(), Rig::new(script));
    let journal = journal(&disk);
    let mut agent = agent(&rig, &journal).await;
    agent.run_loop("first").await.unwrap();
    agent.run_loop("second").await.unwrap();
    journal.close();
    (disk.bytes(), agent.history().messages().to_vec())
}

fn restored(bytes: &[u8]) -> Resumed {
    restore(read_records(bytes).unwrap().records)
}

#[tokio::test]
async fn the_next_request_is_the_one_that_would_have_been_sent() {
    let (bytes, messages) = two_turns().await;
    let rig = Rig::new([Played::text("Three.")]);
    let mut agent = agent(&rig, &journal(&Disk::default())).await;
    let resumed = restored(&bytes);
    assert_eq!((resumed.numbers.turns, resumed.closing.as_slice()), (2, [].as_slice()));
    agent.resume(&resumed.messages, resumed.numbers.turns);
    agent.run_loop("third").await.unwrap();
    let request = rig.last_request();
    assert_eq!(request.messages[..messages.len()], messages);
    assert_eq!(request.lines()[messages.len()..], ["user: third"]);
    assert!(rig.events().contains(&Event::TurnStarted { turn: 3 }));
}

#[tokio::test]
async fn a_journal_that_ends_anywhere_gives_a_conversation_that_can_be_sent_and_events_that_are_closed() {
    let (bytes, _) = two_turns().await;
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    for cut in ends.flat_map(|end| [end, end.saturating_sub(7)]) {
        let resumed = restored(&bytes[..cut]);
        let mut open: Vec<String> = Vec::new();
        let closing = resumed.closing.iter().map(|closing| &closing.event);
        for event in resumed.envelopes.iter().map(|envelope| &envelope.event).chain(closing) {
            match event {
                Event::TurnStarted { turn } => open.push(format!("turn {turn}")),
                Event::RoundStarted { round, .. } => open.push(format!("round {round}")),
                Event::ToolCall { id, .. } => open.push(format!("call {id}")),
                Event::TurnEnded { turn, .. } => assert_eq!(open.pop(), Some(format!("turn {turn}"))),
                Event::RoundEnded { round, .. } => {
                    // A call without a result ends with its turn.
                    open.retain(|open| !open.starts_with("call "));
                    assert_eq!(open.pop(), Some(format!("round {round}")));
                }
                Event::ToolResult { id, .. } => open.retain(|open| *open != format!("call {id}")),
                _ => {}
            }
        }
        assert_eq!(open, [] as [String; 0], "cut at {cut}");
        let rig = Rig::new([Played::text("Again.")]);
        let mut agent = agent(&rig, &journal(&Disk::default())).await;
        agent.resume(&resumed.messages, resumed.numbers.turns);
        assert_sendable(&agent);
        agent.run_loop("go on").await.unwrap();
    }
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_an_interrupted_one_and_the_journal_goes_on_with_it() {
    let (bytes, _) = two_turns().await;
    let text = String::from_utf8(bytes).unwrap();
    let cut = text.find(r#""type":"tool_call""#).unwrap();
    let cut = cut + text[cut..].find('\n').unwrap() + 1;
    let (disk, rig) = (Disk::default(), Rig::new([Played::text("Again.")]));
    let journal = journal(&disk);
    let mut agent = agent(&rig, &journal).await;
    let resumed = restored(&text.as_bytes()[..cut]);
    agent.resume(&resumed.messages, 1);
    agent.run_loop("go on").await.unwrap();
    journal.close();
    let told = lines(agent.history().messages());
    assert_eq!(told[3..5], ["tool#c1: Error: cancelled while it ran", "user: go on"]);
    // Together with what stood in the file before, the whole conversation.
    let both = [&text.as_bytes()[..cut], disk.text().replace("{\"record\":", "{\"record\":10").as_bytes()].concat();
    assert_eq!(restored(&both).messages, agent.history().messages());
}

fn user(id: &str, text: &str) -> Event {
    Event::UserTurn {
        content: text.to_owned(),
        mid_loop: false,
        injection: Some(id.into()),
        step: 0,
        after: None,
        sender: None,
        kind: steersman_base::steering::TextKind::Add,
        met: None,
        images: Vec::new(),
    }
}

#[test]
fn a_text_that_was_being_delivered_when_the_program_was_killed_waits_again() {
    let (main, child) = (AgentId::main(), AgentId::new("miner 0"));
    for is_recorded_late in [false, true] {
        let disk = Disk::default();
        let journal = journal(&disk);
        journal.accepted(&main, entry("m1", "in the conversation"));
        journal.on_event(&event(1, user("m1", "in the conversation")));
        journal.on_history(&main, HistoryChange::Appended(&Message::user("in the conversation")));
        journal.accepted(&main, entry("m2", "waits behind it"));
        if !is_recorded_late {
            journal.accepted(&main, entry("m3", "not yet"));
        }
        journal.on_event(&event(2, user("m3", "not yet")));
        if is_recorded_late {
            journal.accepted(&main, entry("m3", "not yet"));
        }
        // Of another agent, or no text of a user: neither is its message.
        journal.on_history(&child, HistoryChange::Appended(&Message::user("task")));
        journal.on_history(&main, HistoryChange::Appended(&Message::assistant("Hello.")));
        journal.close();
        let resumed = restored(&disk.bytes());
        let texts: Vec<&str> = resumed.unfinished.pending.iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(texts, ["not yet", "waits behind it"]);
    }
}

#[test]
fn what_was_accepted_and_not_delivered_waits_and_nothing_else() {
    let disk = Disk::default();
    let journal = journal(&disk);
    let main = AgentId::main();
    journal.accepted(&main, entry("m1", "delivered"));
    journal.on_event(&event(1, user("m1", "delivered")));
    journal.on_history(&main, HistoryChange::Appended(&Message::user("delivered")));
    // The event may be heard before the sender has recorded the text.
    journal.on_event(&event(2, user("m2", "fast")));
    journal.accepted(&main, entry("m2", "fast"));
    journal.on_history(&main, HistoryChange::Appended(&Message::user("fast")));
    journal.accepted(&main, entry("m3", "withdrawn"));
    journal.on_event(&event(3, Event::Pending { entries: vec![entry("m3", "withdrawn")] }));
    journal.on_event(&event(4, Event::Pending { entries: vec![] }));
    journal.taken_back(vec!["m3".into()], TakenBack::Removed);
    journal.accepted(&main, entry("m4", "edited"));
    journal.on_event(&event(5, Event::Pending { entries: vec![entry("m4", "as it was edited")] }));
    // Accepted, and the list that is told next was made before.
    journal.accepted(&main, entry("m5", "the newest"));
    journal.on_event(&event(6, Event::Pending { entries: vec![entry("m4", "as it was edited")] }));
    journal.accepted(&AgentId::new("researcher 0"), entry("m6", "for a child"));
    journal
        .on_event(&event(7, Event::Returned { entries: vec![entry("m7", "given back"), entry("m8", "sent again")] }));
    journal.accepted(&main, entry("m9", "sent again"));
    journal.on_event(&event(8, user("m9", "sent again")));
    journal.on_history(&main, HistoryChange::Appended(&Message::user("sent again")));
    journal.close();
    let resumed = restored(&disk.bytes());
    let texts: Vec<&str> = resumed.unfinished.pending.iter().map(|entry| entry.text.as_str()).collect();
    assert_eq!(texts, ["as it was edited", "the newest", "for a child", "given back"]);
    assert_eq!((resumed.numbers.texts, resumed.numbers.seq), (9, 8));
}

/// The list of an agent is told by its own task, the reason by whoever took a text out: either may be recorded first.
#[test]
fn a_text_that_left_the_list_is_lost_at_no_record() {
    let left = |taken: Option<TakenBack>, is_list_first: bool, more: &dyn Fn(&Journal)| {
        let disk = Disk::default();
        let journal = journal(&disk);
        journal.accepted(&AgentId::main(), entry("m1", "typed"));
        journal.on_event(&event(1, Event::Pending { entries: vec![entry("m1", "typed")] }));
        let list = || journal.on_event(&event(2, Event::Pending { entries: vec![] }));
        if is_list_first {
            list();
        }
        if let Some(why) = taken {
            journal.taken_back(vec!["m1".into()], why);
        }
        if !is_list_first {
            list();
        }
        more(&journal);
        journal.close();
        restored(&disk.bytes()).unfinished.pending.len()
    };
    let nothing = |_: &Journal| {};
    assert_eq!(left(None, true, &nothing), 1, "killed before the reason was recorded");
    for is_list_first in [true, false] {
        assert_eq!(left(Some(TakenBack::Stopped), is_list_first, &nothing), 1);
        assert_eq!(left(Some(TakenBack::ToMessage), is_list_first, &nothing), 1);
        assert_eq!(left(Some(TakenBack::Removed), is_list_first, &nothing), 0);
        let is_merged = Some(TakenBack::Merged("m2".into()));
        assert_eq!(left(is_merged, is_list_first, &nothing), 0);
    }
    // Where it is by now: in the message, sent again, listed again, delivered.
    let draft = |journal: &Journal| {
        let (text, kind) = ("typed, and more".to_owned(), steersman_base::steering::TextKind::Add);
        journal.drafts(vec![DraftText { to: "".into(), text, kind, edits: None, images: Vec::new(), sender: None }]);
    };
    assert_eq!(left(None, true, &draft), 0);
    let sent = |journal: &Journal| journal.accepted(&AgentId::main(), entry("m2", "typed"));
    assert_eq!(left(None, true, &sent), 1);
    let listed =
        |journal: &Journal| journal.on_event(&event(3, Event::Pending { entries: vec![entry("m1", "typed")] }));
    assert_eq!(left(None, true, &listed), 1);
    let delivered = |journal: &Journal| {
        journal.on_event(&event(3, user("m1", "typed")));
        journal.on_history(&AgentId::main(), HistoryChange::Appended(&Message::user("typed")));
    };
    assert_eq!(left(None, true, &delivered), 0);
    // A run that goes on had told who has it.
    let next_turn = |journal: &Journal| journal.on_event(&event(3, Event::TurnStarted { turn: 2 }));
    assert_eq!(left(None, true, &next_turn), 0);
}

#[test]
fn what_was_being_written_comes_back_unless_it_was_sent_since() {
    let disk = Disk::default();
    let journal = journal(&disk);
    let draft = |to: &str, text: &str| DraftText {
        to: to.into(),
        text: text.to_owned(),
        kind: steersman_base::steering::TextKind::Add,
        edits: None,
        images: Vec::new(),
        sender: None,
    };
    let left = |disk: &Disk| {
        let unfinished = restored(&disk.bytes()).unfinished;
        let texts = |all: Vec<String>| all.join(", ");
        (texts(unfinished.drafts.into_iter().map(|draft| draft.text).collect()), unfinished.pending.len())
    };
    journal.accepted(&AgentId::main(), entry("m1", "first"));
    journal.drafts(vec![draft("", "half a"), draft("researcher 0", "for a child")]);
    journal.drafts(vec![draft("", "half a thought"), draft("researcher 0", "for a child")]);
    journal.keep();
    assert_eq!(left(&disk), ("half a thought, for a child".to_owned(), 1));
    // The program was killed before it could say that the message is empty now.
    journal.accepted(&AgentId::main(), entry("m2", "half a thought"));
    journal.keep();
    assert_eq!(left(&disk), ("for a child".to_owned(), 2));
    // What a stop gave back is in the message once the message was kept with it.
    journal.on_event(&event(1, Event::Returned { entries: vec![entry("m1", "first"), entry("m2", "half a thought")] }));
    journal.keep();
    assert_eq!(left(&disk), ("for a child".to_owned(), 2));
    journal.drafts(vec![draft("", "first\n\nhalf a thought")]);
    journal.close();
    assert_eq!(left(&disk), ("first\n\nhalf a thought".to_owned(), 0));
}

#[test]
fn a_text_that_ends_like_a_draft_takes_it_away_only_where_it_was_that_draft() {
    let draft = |sender: Option<&str>, to: &str, text: &str| DraftText {
        to: to.into(),
        text: text.to_owned(),
        kind: steersman_base::steering::TextKind::Add,
        edits: None,
        images: Vec::new(),
        sender: sender.map(Into::into),
    };
    for (kept, to, from, is_left) in [
        (draft(None, "", "please fix the tests"), "", Some("inject"), true),
        (draft(None, "", "fix the tests"), "", Some("attach 2"), true),
        (draft(None, "", "please fix the tests"), "", None, true),
        (draft(None, "", "fix the tests"), "researcher 0", None, true),
        (draft(None, "", "fix the tests "), "", None, false),
        (draft(Some("attach 2"), "", "fix the tests"), "", Some("attach 2"), false),
        (draft(None, "", "@researcher 0 fix the tests"), "researcher 0", None, false),
        (draft(None, "", "/note fix the tests"), "", None, false),
        (draft(None, "researcher 0", "/note fix the tests"), "", None, true),
        (draft(None, "researcher 0", "fix the tests"), "", None, true),
    ] {
        let disk = Disk::default();
        let journal = journal(&disk);
        journal.drafts(vec![kept.clone()]);
        let mut sent = entry("m1", "fix the tests");
        sent.sender = from.map(Into::into);
        journal.accepted(&AgentId::from(to), sent);
        journal.close();
        assert_eq!(!restored(&disk.bytes()).unfinished.drafts.is_empty(), is_left, "{kept:?} {from:?} {to}");
    }
}

#[test]
fn a_session_whose_directory_is_gone_says_so_and_a_fork_goes_on_with_it() {
    let server = Server::start([Reply::text("One."), Reply::text("Two.")]);
    let exec = |home: TempDir, args: &[&str]| {
        let args = args.iter().copied();
        Program::within(home).args(["exec", "--base-url", &server.url(), "--model", "m"]).args(args).output_with_home()
    };
    let home = TempDir::new().unwrap();
    let away = home.path().join("away");
    std::fs::create_dir(&away).unwrap();
    let (_, home) = exec(home, &["--cwd", away.to_str().unwrap(), "first"]);
    std::fs::remove_dir(&away).unwrap();
    let id = files_of(&home)[0].session.clone();
    let (output, home) = exec(home, &["--resume", id.as_str(), "second"]);
    let gone = format!("which is gone: --fork {id} goes on with all of it in a new session here");
    assert!(exit_code(&output) == 2 && stderr(&output).contains(&gone), "{}", stderr(&output));
    let (output, _home) = exec(home, &["--fork", id.as_str(), "second"]);
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert_eq!(server.chats()[1].texts("user"), ["first", "second"]);
}

#[test]
fn a_call_that_ran_when_the_program_ended_has_no_result_and_ends_with_its_turn() {
    let disk = Disk::default();
    let journal = journal(&disk);
    let arguments = Arguments::parse(r#"{"command":"make"}"#);
    journal.on_event(&event(1, Event::TurnStarted { turn: 1 }));
    journal.on_event(&event(2, Event::RoundStarted { turn: 1, round: 1 }));
    journal.on_event(&event(3, Event::ToolCall { id: "c1".into(), name: "bash".to_owned(), arguments }));
    journal.close();
    let closing: Vec<Event> = restored(&disk.bytes()).closing.into_iter().map(|closing| closing.event).collect();
    assert!(
        matches!(closing[..], [Event::RoundEnded { .. }, Event::TurnEnded { outcome: Outcome::Failed, .. }]),
        "{closing:?}"
    );
}

#[test]
fn a_session_goes_on_in_its_directory_that_was_moved_behind_a_link() {
    let server = Server::start([Reply::text("One."), Reply::text("Two.")]);
    let exec = |home: TempDir, args: &[&str]| {
        let args = args.iter().copied();
        Program::within(home).args(["exec", "--base-url", &server.url(), "--model", "m"]).args(args).output_with_home()
    };
    let home = TempDir::new().unwrap();
    let [before, after, other] = ["before", "after", "other"].map(|name| home.path().join(name));
    std::fs::create_dir(&before).unwrap();
    std::fs::create_dir(&other).unwrap();
    let (_, home) = exec(home, &["--cwd", before.to_str().unwrap(), "first"]);
    std::fs::rename(&before, &after).unwrap();
    std::os::unix::fs::symlink(&after, &before).unwrap();
    let id = files_of(&home)[0].session.clone();
    let (output, home) = exec(home, &["--resume", id.as_str(), "--cwd", other.to_str().unwrap(), "second"]);
    let why = format!("go on with it there, as with --cwd {}, or with all of it in a new session", before.display());
    assert!(exit_code(&output) == 2 && stderr(&output).contains(&why), "{}", stderr(&output));
    let (output, _home) = exec(home, &["--resume", id.as_str(), "--cwd", before.to_str().unwrap(), "second"]);
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert_eq!(server.chats()[1].texts("user"), ["first", "second"]);
}

#[test]
fn agents_that_ran_are_interrupted_and_no_number_is_given_again() {
    let disk = Disk::default();
    let journal = journal(&disk);
    let spawned = |child: &str| Event::AgentSpawned {
        child: child.into(),
        persona: "researcher".to_owned(),
        task: "t".to_owned(),
        call: None,
        model: None,
        max_steps: None,
        tools: Vec::new(),
    };
    journal.on_event(&event(1, Event::TurnStarted { turn: 1 }));
    journal.on_event(&event(2, spawned("researcher 0")));
    let done = Event::AgentFinished { child: "researcher 0".into(), outcome: Outcome::Completed, message: None };
    journal.on_event(&event(3, done));
    journal.on_event(&event(4, spawned("researcher 1")));
    // It waited for its turn, and was told of by its name.
    let (outcome, answer) = (Outcome::Cancelled, "cancelled by the user".to_owned());
    journal.on_event(&event(5, Event::AgentAnswered { child: "file_miner 4".into(), outcome, answer }));
    journal.close();
    let resumed = restored(&disk.bytes());
    let why = Some("interrupted when the program ended".to_owned());
    let events: Vec<Event> = resumed.closing.iter().map(|closing| closing.event.clone()).collect();
    let failed = Outcome::Failed;
    assert_eq!(
        events,
        [
            Event::AgentFinished { child: "researcher 1".into(), outcome: failed, message: why.clone() },
            Event::TurnEnded { turn: 1, outcome: failed, message: why },
        ]
    );
    assert_eq!(resumed.numbers.agents["researcher"], 2);
    assert_eq!(resumed.numbers.agents["file_miner"], 5);
    assert_eq!(resumed.unfinished.sentence().as_deref(), Some("1 sub-agent was interrupted"));
}

#[test]
fn a_hook_in_the_background_that_the_program_took_with_it_has_ended() {
    let disk = Disk::default();
    let journal = journal(&disk);
    let run = |command: &str, outcome| {
        let command = command.to_owned();
        Event::HookRan(HookRun {
            hook: HookEvent::SessionStart,
            command,
            call: None,
            outcome,
            words: None,
            elapsed_ms: 0,
        })
    };
    journal.accepted(&AgentId::main(), entry("m1", "hello"));
    journal.on_event(&event(1, run("lint", HookOutcome::Started)));
    journal.on_event(&event(2, run("build", HookOutcome::Started)));
    journal.on_event(&event(3, run("lint", HookOutcome::Done)));
    journal.close();
    let resumed = restored(&disk.bytes());
    let [closing] = resumed.closing.as_slice() else { panic!("{:?}", resumed.closing) };
    let Event::HookRan(ended) = &closing.event else { panic!("{closing:?}") };
    assert_eq!((ended.command.as_str(), ended.outcome), ("build", HookOutcome::Failed));
    assert_eq!(ended.words.as_deref(), Some("interrupted when the program ended"));
}

#[tokio::test(start_paused = true)]
async fn a_resumed_session_shows_what_happened_and_sends_nothing_by_itself() {
    let disk = Disk::default();
    let written = journal(&disk);
    written.on_event(&event(40, Event::TurnStarted { turn: 4 }));
    written.on_history(
        &AgentId::main(),
        steersman_core::listener::HistoryChange::Appended(&Message::system("As it was.")),
    );
    written.on_history(&AgentId::main(), steersman_core::listener::HistoryChange::Appended(&Message::user("before")));
    let spent = Usage { input: Some(90), output: Some(10), cost_nanos: Some(7), ..Usage::default() };
    written.on_event(&event(41, Event::Tokens(spent)));
    written.on_event(&event(42, ended(4)));
    written.accepted(&AgentId::main(), entry("m7", "still waiting"));
    written.close();

    let (rig, dir) = (Rig::new([Played::text("Here."), Played::text("And here.")]), TempDir::new().unwrap());
    let setup = Setup { resumed: Some(Box::new(restored(&disk.bytes()))), ..crate::support::bench::setup(&rig, &dir) };
    let mut host = host::start(&tokio::runtime::Handle::current(), setup);
    assert_eq!(within(PATIENCE, "it settles", host.settled()).await, Ok(LastRun::None));
    let main = AgentId::main();
    let updates = host.handle().mailbox().take_updates();
    let seqs: Vec<u64> =
        updates.iter().filter_map(|update| if let Update::Envelope(e) = update { Some(e.seq) } else { None }).collect();
    assert_eq!(seqs[..4], [40, 41, 42, 43], "{updates:?}");
    // What the session has spent, it has spent.
    let standing = host.handle().budget().standing();
    assert_eq!((standing.tokens, standing.nanos), (100, 7));
    let waiting = host.handle().interloper().peek();
    assert_eq!((waiting.len(), waiting[0].text.as_str(), waiting[0].held), (1, "still waiting", true));
    assert_eq!(rig.requests().len(), 0);

    assert_eq!(host.handle().inject_user_message(&main, "after").unwrap().id.as_str(), "m8");
    assert_eq!(within(PATIENCE, "it settles", host.settled()).await, Ok(LastRun::Answered));
    let lines = rig.last_request().lines();
    assert!(lines[0].starts_with("system: You are Steersman"), "{lines:?}");
    assert_eq!(lines[1..], ["user: before", "user: after"]);
    host.handle().interloper().confirm(&"m7".into());
    assert_eq!(within(PATIENCE, "it settles", host.settled()).await, Ok(LastRun::Answered));
    assert_eq!(rig.last_request().lines().last().unwrap(), "user: still waiting");
    host.shutdown(PATIENCE).await;
}

#[test]
fn a_later_start_goes_on_with_the_session_and_one_that_was_killed_too() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("One."), Reply::text("Two."), Reply::text("Lost.").gated(&gate)]);
    let url = server.url();
    let exec = |home: TempDir, args: &[&str]| {
        let program = Program::within(home).args(["exec", "--base-url", &url, "--model", "m"]);
        program.args(args.iter().copied())
    };
    let (output, home) = exec(TempDir::new().unwrap(), &["first"]).output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let (output, home) = exec(home, &["--json", "--continue", "second"]).output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    // The record of a run is of that run alone.
    assert!(!String::from_utf8(output.stdout).unwrap().contains("One."));
    let (one, two) = (server.chats()[0].messages(), server.chats()[1].messages());
    assert_eq!(two[..one.len()], one);
    assert_eq!(server.chats()[1].texts("user"), ["first", "second"]);
    assert_eq!(server.chats()[1].texts("assistant"), ["One."]);

    let files = steersman_session::journal::SessionFiles::within(&home.path().join(".local/state/steersman"));
    let id = files.list().unwrap()[0].session.clone();
    let run = exec(home, &["--resume", id.as_str(), "third"]).run();
    gate.wait_reached();
    run.signal(Signal::KILL);
    let (_, home) = run.end_with_home();
    gate.open();
    assert_eq!(files_of(&home).len(), 1);
    server.reply_text("Four.");
    let (output, home) = exec(home, &["--continue", "fourth"]).output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let last = server.chats().pop().unwrap();
    assert_eq!(last.texts("user"), ["first", "second", "third", "fourth"]);
    assert_eq!(files_of(&home).len(), 1);
    let read = files_of(&home)[0].read().unwrap();
    assert_eq!(read.damage.sentence(), None);
    let numbers: Vec<u64> = read
        .records
        .iter()
        .filter_map(|record| if let Record::Event(e) = record { Some(e.seq) } else { None })
        .collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
}

#[test]
fn instructions_that_changed_since_hold_in_a_session_that_goes_on() {
    let server = Server::start((1..=4).map(|number| Reply::text(&format!("Answer {number}."))));
    let url = server.url();
    let exec = |home: TempDir, args: &[&str]| {
        let program =
            Program::within(home).args(["exec", "--base-url", &url, "--model", "m"]).args(args.iter().copied());
        let (output, home) = program.output_with_home();
        assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
        (home, stderr(&output))
    };
    let home = TempDir::new().unwrap();
    std::fs::create_dir(home.path().join("work")).unwrap();
    std::fs::write(home.path().join("work/AGENTS.md"), "Indent with tabs.\n").unwrap();
    let (home, _) = exec(home, &["first"]);
    let (home, said) = exec(home, &["--continue", "second"]);
    assert!(!said.contains("instructions changed"), "{said}");

    std::fs::write(home.path().join("work/AGENTS.md"), "Indent with two spaces.\n").unwrap();
    let (home, said) = exec(home, &["--continue", "third"]);
    let sentence = "The instructions changed since this session was saved (AGENTS.md). The new ones apply from now on.";
    assert!(said.contains(sentence), "{said}");
    let (_home, said) = exec(home, &["--continue", "fourth"]);
    assert!(!said.contains("instructions changed"), "{said}");

    let chats = server.chats();
    assert_eq!(chats[1].messages()[0], chats[0].messages()[0]);
    for chat in &chats[2..] {
        let [prompt] = &chat.contents("system")[..] else { panic!("{:?}", chat.roles()) };
        assert!(prompt.contains("Indent with two spaces.") && !prompt.contains("Indent with tabs."), "{prompt}");
    }
    assert_eq!(chats[3].texts("user"), ["first", "second", "third", "fourth"]);
}

fn files_of(home: &TempDir) -> Vec<steersman_session::journal::SessionFile> {
    let state = home.path().join(".local/state/steersman");
    steersman_session::journal::SessionFiles::within(&state).list().unwrap()
}

#[test]
fn what_cannot_be_gone_on_with_is_refused_in_a_sentence() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("One."), Reply::text("Two.").gated(&gate)]);
    let url = server.url();
    let exec = |home: TempDir, args: &[&str]| {
        Program::within(home).args(["exec", "--base-url", &url, "--model", "m"]).args(args.iter().copied())
    };
    let refused = |home: TempDir, args: &[&str], words: &str| {
        let (output, home) = exec(home, args).output_with_home();
        assert_eq!(exit_code(&output), 2, "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
        home
    };
    let home = refused(TempDir::new().unwrap(), &["--continue", "x"], "no session of this directory is saved");
    let home = refused(home, &["--resume", "0198", "x"], "there is no session \"0198\"");
    let (_, home) = exec(home, &["first"]).output_with_home();
    std::fs::create_dir(home.path().join("elsewhere")).unwrap();
    let id = files_of(&home)[0].session.clone();
    let elsewhere = home.path().join("elsewhere").display().to_string();
    let home =
        refused(home, &["--cwd", &elsewhere, "--resume", id.as_str(), "x"], "go on with it there, as with --cwd");
    let state = home.path().join(".local/state/steersman");
    let file = steersman_session::journal::SessionFiles::within(&state).list().unwrap().remove(0);
    let open = file.open().unwrap();
    let home = refused(home, &["--resume", id.as_str(), "x"], "runs in another program");
    drop(open);
    gate.open();
    let (output, _home) = exec(home, &["--resume", id.as_str(), "x"]).output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
}
