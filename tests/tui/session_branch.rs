//! Stories of branches: a new session from just before a message; and of another try after a failure.

use std::time::Duration;

use steersman_base::error::ProviderError;
use steersman_base::event::{Event, Pending};
use steersman_base::id::AgentId;
use steersman_base::message::{Arguments, Message};
use steersman_base::protocol::{Notice, Request, Undo, UndoneFile};
use steersman_core::listener::{HistoryChange, Listener as _};
use steersman_core::provider::Played;
use steersman_session::host::{self, Keeper as _, LastRun};
use steersman_session::journal::{Journal, Parent, before, read_records, restore_left};
use steersman_session::{Client as _, LocalClient};
use steersman_tui::msg::{Effect, Msg};
use steersman_tui::switch::{BranchFiles, Switch};
use tempfile::TempDir;

use crate::support::doubles::{Rig, lines, within};
use crate::support::journals::{Disk, ended, entry, event, header, journal};
use crate::support::stage::Stage;

const PATIENCE: Duration = Duration::from_mins(1);
/// Milliseconds without a key, behind the drawing, that arm a question.
const QUIET: i64 = 350;

fn user(id: &str, text: &str, mid_loop: bool) -> Event {
    Event::UserTurn {
        content: text.to_owned(),
        mid_loop,
        injection: Some(id.into()),
        step: 0,
        after: None,
        sender: None,
        kind: steersman_base::steering::TextKind::Add,
        met: None,
        images: Vec::new(),
    }
}

/// Two turns: one with a message that entered it, and one behind it; another text waits.
fn recorded() -> Disk {
    let disk = Disk::default();
    let journal = journal(&disk);
    let main = AgentId::main();
    let say = |message: Message| journal.on_history(&main, HistoryChange::Appended(&message));
    let call = steersman_base::message::ToolCall {
        id: "c1".into(),
        name: "echo".to_owned(),
        arguments: Arguments::parse(r#"{"text": "x"}"#),
    };
    journal.accepted(&main, entry("m1", "first"));
    journal.on_event(&event(1, Event::TurnStarted { turn: 1 }));
    journal.on_event(&event(2, user("m1", "first", false)));
    say(Message::system("As it was."));
    say(Message::user("first"));
    journal.on_event(&event(3, Event::RoundStarted { turn: 1, round: 1 }));
    journal.accepted(&main, entry("m2", "mid-loop"));
    journal.on_event(&event(4, Event::Pending { entries: vec![entry("m2", "mid-loop")] }));
    journal.on_event(&event(
        5,
        Event::ToolCall { id: "c1".into(), name: "echo".to_owned(), arguments: call.arguments.clone() },
    ));
    let reply = steersman_base::message::AssistantMessage { tool_calls: vec![call.clone()], ..Default::default() };
    say(Message::Assistant(reply));
    say(Message::tool(&call, "x"));
    let result = Event::ToolResult { id: "c1".into(), content: "x".to_owned(), is_error: false, elapsed_ms: 1 };
    journal.on_event(&event(6, result));
    journal.on_event(&event(7, user("m2", "mid-loop", true)));
    say(Message::user("mid-loop"));
    say(Message::assistant("One."));
    journal.on_event(&event(8, ended(1)));
    journal.accepted(&main, entry("m3", "second"));
    journal.accepted(&main, entry("m4", "waits"));
    journal.on_event(&event(9, Event::TurnStarted { turn: 2 }));
    journal.on_event(&event(10, Event::Pending { entries: vec![entry("m4", "waits")] }));
    journal.on_event(&event(11, user("m3", "second", false)));
    say(Message::user("second"));
    say(Message::assistant("Two."));
    journal.on_event(&event(12, ended(2)));
    journal.close();
    disk
}

#[test]
fn a_branch_has_everything_before_its_message_and_nothing_else() {
    let records = recorded().reading().records;
    let branch = |id: &str| restore_left(before(&records, &id.into()).unwrap());
    let second = branch("m3");
    assert_eq!(lines(&second.messages).last().unwrap(), "assistant: One.");
    assert_eq!((second.messages.len(), second.closing.len(), second.numbers.turns), (6, 0, 1));
    let mid_loop = branch("m2");
    assert_eq!(lines(&mid_loop.messages).last().unwrap(), "tool#c1: x");
    let closed: Vec<&Event> = mid_loop.closing.iter().map(|closing| &closing.event).collect();
    assert!(
        matches!(closed.last(), Some(Event::TurnEnded { message: Some(why), .. }) if why.starts_with("left behind:")),
        "{closed:?}"
    );
    let first = branch("m1");
    assert_eq!((first.messages.len(), first.envelopes.len()), (0, 0), "it begins anew");
    for resumed in [second, mid_loop, first] {
        assert_eq!(resumed.unfinished.sentence(), None, "what waited stays with the session that is left");
    }
    assert_eq!(before(&records, &"m4".into()), None, "it has entered no conversation");
}

#[test]
fn the_journal_of_a_branch_names_its_parent_and_stands_for_itself() {
    let parent = recorded().reading();
    let records = before(&parent.records, &"m3".into()).unwrap();
    let disk = Disk::default();
    let from = Parent { session: parent.header().unwrap().session.clone(), before: Some("m3".into()) };
    let header = steersman_session::journal::Header { parent: Some(from.clone()), ..header() };
    let journal = Journal::branch(header, 0, &records, disk.opening());
    journal.accepted(&AgentId::main(), entry("m5", "another way"));
    journal.close();
    let reading = read_records(disk.bytes().as_slice()).unwrap();
    assert_eq!(reading.header().unwrap().parent, Some(from));
    let restored = steersman_session::journal::restore(reading.records);
    assert_eq!(restored.messages, restore_left(records).messages);
    assert_eq!((restored.unfinished.pending[0].text.as_str(), restored.numbers.texts), ("another way", 5));
}

/// A screen on which three texts were answered, in a session that is saved.
fn answered() -> Stage {
    let mut stage = Stage::new(80, 24);
    stage.app.ui.session = Some("0198c9a2".to_owned());
    for text in ["find the parser", "and the lexer", "now compare them"] {
        stage.keys(text).keys("<enter>");
        let taken: Vec<Pending> = stage.take_turn();
        stage.turn("").deliver(&taken, false).says("", "Done.");
        stage.turn_ended("", steersman_base::event::Outcome::Completed, None);
    }
    stage.effects.clear();
    stage
}

#[test]
fn b_on_a_message_asks_and_leaves_for_a_branch_with_its_text() {
    let mut stage = answered();
    stage.keys("<c-o>[[b").screen();
    stage.wait(QUIET);
    let screen = stage.screen();
    assert!(screen.contains("Branch: a new session from just before this message?"), "{screen}");
    assert!(screen.contains("│ and the lexer") && screen.contains("files stay as they are"), "{screen}");
    stage.keys("<a-y>");
    let (message, text) = ("m2".into(), "and the lexer".to_owned());
    assert_eq!(stage.effects.last(), Some(&Effect::Switch(Switch::Branch { message, text, files: BranchFiles::Stay })));
}

#[test]
fn a_branch_offers_the_files_that_tools_changed_since_and_names_what_stays() {
    let mut stage = answered();
    let files = vec![
        UndoneFile { path: "src/parse.rs".to_owned(), undo: Undo::Restored { bytes: 120 } },
        UndoneFile { path: "notes.md".to_owned(), undo: Undo::ChangedSince },
    ];
    let preview = steersman_base::protocol::Reply::RewindPreview { to: "m3".into(), files };
    stage.tell(Msg::Update(steersman_base::protocol::Update::Reply(preview))).screen();
    stage.wait(QUIET);
    insta::assert_snapshot!("branch_with_files", stage.picture());
    stage.keys("<a-s>");
    let (message, text) = ("m3".into(), "now compare them".to_owned());
    assert_eq!(
        stage.effects.last(),
        Some(&Effect::Switch(Switch::Branch { message, text, files: BranchFiles::GoBack }))
    );
}

#[test]
fn two_escapes_in_an_empty_message_list_the_messages() {
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        let mut stage = answered();
        stage.resize(width, height).keys("<esc>");
        assert!(stage.screen().contains("Esc again"), "{}", stage.screen());
        stage.keys("<esc>");
        insta::assert_snapshot!(format!("messages_{width}x{height}"), stage.picture());
        stage.keys("lexer<enter>").screen();
        assert!(
            matches!(stage.effects.last(), Some(Effect::Request(Request::PreviewRewind { to })) if to.as_str() == "m2")
        );
    }
    let mut stage = answered();
    stage.keys("x<esc><esc>");
    assert!(!stage.screen().contains("Your messages"), "a draft is not left");
}

#[test]
fn nothing_branches_from_a_session_that_is_not_saved_or_from_an_answer() {
    let mut stage = answered();
    stage.keys("<c-o>b");
    assert!(stage.screen().contains("select a message of yours first"), "{}", stage.screen());
    stage.app.ui.session = None;
    stage.keys("[b");
    assert!(stage.screen().contains("this session is not saved"), "{}", stage.screen());
    assert!(stage.effects.is_empty(), "{:?}", stage.effects);
}

#[test]
fn after_a_failure_the_line_above_the_message_names_the_key_that_sends_the_request_again() {
    let mut stage = answered();
    assert!(!stage.screen().contains("Alt+T"));
    stage.turn("").turn_ended("", steersman_base::event::Outcome::Failed, Some("no answer came"));
    assert!(stage.screen().contains("Alt+T sends"), "{}", stage.screen());
    stage.keys("<a-t>");
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::Retry)));
    stage.effects.clear();
    stage.turn("").keys("<a-t>");
    assert!(stage.screen().contains("not sent again: a turn runs") && stage.effects.is_empty(), "{}", stage.screen());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_failed_is_sent_again_as_it_was() {
    let failed = Played::error(ProviderError::Malformed("half a reply".to_owned()));
    let (rig, dir) = (Rig::new([failed, Played::text("Done.")]), TempDir::new().unwrap());
    let mut host = host::start(&tokio::runtime::Handle::current(), crate::support::bench::setup(&rig, &dir));
    let client = LocalClient::new(host.handle().clone());
    host.handle().inject_user_message(&AgentId::main(), "do it").unwrap();
    let last = within(PATIENCE, "it fails", host.settled()).await;
    assert!(matches!(last, Ok(LastRun::Failed(_))), "{last:?}");
    let before = rig.last_request().messages;
    let sent = rig.requests().len();
    client.send(Request::Retry);
    let waiting = async {
        while rig.requests().len() == sent || host.settled().await != Ok(LastRun::Answered) {
            tokio::task::yield_now().await;
        }
    };
    within(PATIENCE, "it answers", waiting).await;
    assert_eq!(rig.last_request().messages, before);
    client.events();
    client.send(Request::Retry);
    let refused = async {
        loop {
            let told = |update: &steersman_base::protocol::Update| matches!(update, steersman_base::protocol::Update::Notice(Notice::Info(words)) if words.starts_with("nothing to send again"));
            if client.events().iter().any(told) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    within(PATIENCE, "it is refused", refused).await;
}
