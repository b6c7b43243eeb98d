//! Stories of writing: what is kept, when it is safe, and what happens when the disk fails.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use steersman_base::event::{Envelope, Event};
use steersman_base::id::AgentId;
use steersman_base::message::{Arguments, AssistantMessage, Message, Original, Part, ToolCall};
use steersman_base::protocol::DraftText;
use steersman_base::steering::TextKind;
use steersman_core::listener::{HistoryChange, Listener};
use steersman_core::provider::{ApiKey, Played};
use steersman_session::host::{Keeper as _, Resumed};
use steersman_session::journal::{Reading, Record, restore};

use crate::support::doubles::{Rig, echo};
use crate::support::journals::{Disk, ended, entry, event, header, journal};

fn messages(reading: &Reading) -> Vec<Message> {
    let mut all = Vec::new();
    for record in &reading.records {
        if let Record::History { replaced, messages } = record {
            if *replaced {
                all.clear();
            }
            all.extend(messages.iter().cloned());
        }
    }
    all
}

fn kinds(disk: &Disk) -> Vec<String> {
    let text = disk.text();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| line["event"]["type"].as_str().or(line["kind"].as_str()).unwrap().to_owned()).collect()
}

#[test]
fn the_first_record_says_what_the_session_is_and_each_line_is_one_object() {
    let disk = Disk::default();
    let journal = journal(&disk);
    journal.accepted(&AgentId::main(), entry("m1", "hello"));
    assert_eq!(journal.close(), None);
    let reading = disk.reading();
    let kept = reading.header().unwrap();
    assert_eq!((kept.schema, kept.directory.as_str(), kept.branch.as_deref()), (1, "/work/project", Some("main")));
    assert_eq!(kept.session, *journal.session());
    let writer =
        reading.records.iter().find_map(|record| if let Record::Run { pid, .. } = record { Some(*pid) } else { None });
    assert_eq!(writer, Some(std::process::id()));
    assert_eq!(kinds(&disk), ["session", "run", "accepted"]);
    assert!(disk.text().starts_with(r#"{"record":1,"kind":"session","schema":1,"program":"steersman 0.1.0""#));
}

#[test]
fn a_session_in_which_nobody_said_anything_touches_no_disk() {
    let disk = Disk::default();
    let journal = journal(&disk);
    journal.on_event(&event(1, Event::Reset {}));
    journal.drafts(vec![draft(" ")]);
    journal.keep();
    assert_eq!((journal.has_begun(), journal.close(), disk.calls()), (false, None, 0));
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

#[test]
fn the_first_text_is_on_the_disk_while_it_is_written_and_leaves_nothing_when_it_is_thrown_away() {
    let disk = Disk::default();
    let journal = journal(&disk);
    journal.drafts(vec![draft("half a thought")]);
    journal.keep();
    assert!(journal.has_begun() && String::from_utf8(disk.safe()).unwrap().contains("half a thought"));
    journal.drafts(Vec::new());
    journal.keep();
    assert_eq!((journal.close(), disk.text()), (None, String::new()));
    // Once something was said, what is written counts no more.
    let disk = Disk::default();
    let journal = crate::support::journals::journal(&disk);
    journal.drafts(vec![draft("said")]);
    journal.accepted(&AgentId::main(), entry("m1", "said"));
    journal.drafts(Vec::new());
    assert_eq!((journal.close(), kinds(&disk).pop()), (None, Some("drafts".to_owned())));
}

#[test]
fn a_text_is_safe_from_a_loss_of_power_once_it_is_kept_and_a_turn_once_it_has_ended() {
    let disk = Disk::default();
    let journal = journal(&disk);
    journal.accepted(&AgentId::main(), entry("m1", "do not lose this"));
    journal.keep();
    assert!(String::from_utf8(disk.safe()).unwrap().contains("do not lose this"));
    journal.on_event(&event(1, ended(1)));
    // Behind it nothing asks for a sync; the answer shows that the thread has come by.
    journal.close();
    assert!(String::from_utf8(disk.safe()).unwrap().contains("turn_ended"));
}

/// Writes down when it is told of a text, when it is asked to keep it, and when the model has answered.
#[derive(Default)]
struct Order(Mutex<Vec<&'static str>>);

impl Listener for Order {
    fn on_event(&self, envelope: &Envelope) {
        match envelope.event {
            Event::UserTurn { .. } => self.0.lock().unwrap().push("typed"),
            Event::Assistant { .. } => self.0.lock().unwrap().push("answered"),
            _ => {}
        }
    }

    fn kept(&self) -> Option<BoxFuture<'static, ()>> {
        self.0.lock().unwrap().push("kept");
        None
    }

    fn label(&self) -> String {
        "Order".to_owned()
    }
}

#[tokio::test]
async fn what_was_typed_is_safe_before_a_request_carries_it() {
    let rig = Rig::new([Played::text("Done.")]);
    let order = Arc::new(Order::default());
    let listener: Arc<dyn Listener> = order.clone();
    let mut agent = rig
        .try_build(rig.builder(), |c| {
            c.add_listener(listener);
            Ok(())
        })
        .await
        .unwrap();
    rig.inject("go");
    agent.run_queue().await.unwrap();
    assert_eq!(*order.0.lock().unwrap(), ["typed", "kept", "answered"]);
}

#[tokio::test]
async fn a_call_with_effects_starts_only_when_what_led_to_it_is_safe() {
    let (disk, rig) = (Disk::default(), Rig::new([Played::calls(&[("c1", "change", "{}")]), Played::text("Done.")]));
    let journal = journal(&disk);
    let at_call = disk.clone();
    let tool = steersman_core::tool::FnTool::new(
        "change",
        "Changes.",
        steersman_core::tool::Parameters::build(|_| {}),
        move |_, _| {
            let safe = String::from_utf8(at_call.safe()).unwrap();
            async move {
                assert!(safe.contains(r#""type":"tool_call""#) && safe.contains(r#""kind":"history""#), "{safe}");
                Ok("changed".to_owned())
            }
        },
    );
    let listener: Arc<dyn Listener> = Arc::new(journal.clone());
    let mut agent = rig
        .try_build(rig.builder(), |c| {
            c.add_listener(listener);
            c.add_tool(Arc::new(tool))
        })
        .await
        .unwrap();
    agent.run_loop("go").await.unwrap();
    journal.close();
    assert!(
        agent.history().messages().iter().any(|m| matches!(m, Message::Tool { content, .. } if content == "changed"))
    );
    assert_eq!(messages(&disk.reading()), agent.history().messages());
}

#[tokio::test(start_paused = true)]
async fn the_conversation_is_kept_as_it_will_be_sent_also_behind_a_reset() {
    let script = [Played::calls(&[("c1", "echo", r#"{"text": "x"}"#)]), Played::text("One."), Played::text("Two.")];
    let (disk, rig) = (Disk::default(), Rig::new(script));
    let journal = journal(&disk);
    let listener: Arc<dyn Listener> = Arc::new(journal.clone());
    let block = |c: &mut steersman_agent::Configurator| {
        c.add_listener(listener);
        c.add_tool(echo())
    };
    let mut agent = rig.try_build(rig.builder(), block).await.unwrap();
    agent.run_loop("first").await.unwrap();
    journal.keep();
    assert_eq!(messages(&disk.reading()), agent.history().messages());
    agent.reset();
    agent.run_loop("second").await.unwrap();
    journal.close();
    assert_eq!(messages(&disk.reading()), agent.history().messages());
    assert!(!kinds(&disk).iter().any(|kind| kind.ends_with("delta")));
}

#[test]
fn what_only_its_provider_understands_comes_back_byte_for_byte() {
    let disk = Disk::default();
    let journal = journal(&disk);
    let signed = r#"{"type":"thinking","thinking":"Hm \u0000 \ud83d\ude00","signature":"Eq+/=="}"#;
    let message = Message::Assistant(AssistantMessage {
        content: "An answer that is long enough to be named by its place when it comes again, and once more."
            .to_owned(),
        thinking: "\0begins oddly".to_owned(),
        tool_calls: vec![ToolCall {
            id: "c1".into(),
            name: "t".to_owned(),
            arguments: Arguments::parse(r#"{"b": 1.50, "a": [18446744073709551615, null, "\0"], "record": 7}"#),
        }],
        interrupted: false,
        original: Some(Original {
            parts: vec![
                Part::Opaque(signed.to_owned()),
                Part::Text { text: "An answer".to_owned(), mark: Some("s".repeat(300)) },
                Part::Text { text: "An answer".to_owned(), mark: Some("s".repeat(300)) },
            ],
            ..Original::default()
        }),
    });
    journal.on_event(&event(1, Event::TurnStarted { turn: 1 }));
    journal.on_history(&AgentId::main(), HistoryChange::Appended(&message));
    journal.on_history(&AgentId::new("researcher 0"), HistoryChange::Appended(&Message::user("of a child")));
    journal.close();
    assert_eq!(messages(&disk.reading()), [message]);
    let of_child = Record::AgentHistory {
        agent: AgentId::new("researcher 0"),
        replaced: false,
        messages: vec![Message::user("of a child")],
    };
    assert_eq!(disk.reading().records.last(), Some(&of_child));
}

#[test]
fn a_long_session_costs_at_most_one_and_a_half_times_its_text() {
    let disk = Disk::default();
    let journal = journal(&disk);
    let mut written = 0;
    for turn in 1..=100 {
        let words: Vec<String> = (0..200).map(|word| format!("word{turn}x{word}")).collect();
        let text = words.join(" ");
        written += text.len();
        journal.on_event(&event(turn * 10, Event::TurnStarted { turn: 1 }));
        for piece in text.split_inclusive(' ') {
            journal.on_event(&event(turn * 10 + 1, Event::AssistantDelta { text: piece.to_owned() }));
        }
        journal.on_event(&event(turn * 10 + 2, Event::Assistant { text: text.clone(), interrupted: false }));
        journal.on_history(&AgentId::main(), HistoryChange::Appended(&Message::assistant(text)));
        journal.on_event(&event(turn * 10 + 3, ended(1)));
    }
    journal.close();
    let size = disk.bytes().len();
    assert!(size * 2 <= written * 3, "{size} bytes for {written}");
    assert_eq!(messages(&disk.reading()).len(), 100);
    assert_eq!(disk.reading().damage.sentence(), None);
}

#[test]
fn a_key_is_taken_out_of_every_text_before_it_is_written() {
    let disk = Disk::default();
    let journal = journal(&disk);
    journal.hide(ApiKey::new("sk-canary/\"0123\""));
    journal.accepted(&AgentId::main(), entry("m1", "my key is sk-canary/\"0123\", keep it"));
    let content = "curl -H 'Bearer sk-canary/\"0123\"'".to_owned();
    journal.on_history(&AgentId::main(), HistoryChange::Appended(&Message::user(content)));
    journal.close();
    assert!(!disk.text().contains("canary"), "{}", disk.text());
    assert!(disk.text().contains("my key is [key "));
}

#[test]
fn what_goes_on_has_the_keys_again_that_this_process_has_and_the_others_are_named() {
    let (one, other) = ("sk-canary-0123456789", "ghp_4711abcdef0815");
    let disk = Disk::default();
    let journal = journal(&disk);
    for key in [one, other] {
        journal.hide(ApiKey::new(key));
    }
    let texts = [
        format!("{one} and {other}, {one}"),
        format!("cut: {}…", &one[..10]),
        "as written: [key 0123456789ab], [key x], [key ".to_owned(),
    ];
    for text in &texts {
        journal.on_history(&AgentId::main(), HistoryChange::Appended(&Message::user(text.clone())));
    }
    journal.accepted(&AgentId::main(), entry("m1", &format!("use {one}")));
    journal.close();
    assert!(!disk.text().contains("sk-canary") && !disk.text().contains("4711"), "{}", disk.text());

    let resumed = |keys: &[&str]| {
        let later = self::journal(&Disk::default());
        for key in keys {
            later.hide(ApiKey::new(*key));
        }
        let earlier = restore(disk.reading().records);
        later.revealing(Box::new(earlier)).resumed()
    };
    let contents = |resumed: &Resumed| -> Vec<String> {
        resumed.messages.iter().map(|message| message.content().to_owned()).collect()
    };
    let both = resumed(&[other, one]);
    assert_eq!(contents(&both), texts);
    assert_eq!(both.unfinished.pending[0].text, format!("use {one}"));
    let alone = contents(&resumed(&[one]));
    assert!(alone[0].starts_with(&format!("{one} and [key ")) && alone[0].ends_with(&format!("], {one}")), "{alone:?}");
    assert_eq!(alone[1..], texts[1..]);
    let none = resumed(&["ghp_quite_another_0123"]);
    assert!(!contents(&none)[0].contains("sk-") && none.notes.iter().any(|note| note.contains("not set any more")));
}

/// Writes a small session and returns how many calls the disk got.
fn play(disk: &Disk) -> (usize, Vec<String>, Option<String>) {
    let journal = journal(disk);
    let (tell, told) = channel();
    journal.on_trouble(move |sentence| tell.send(sentence).unwrap());
    for turn in 1..=3 {
        journal.accepted(&AgentId::main(), entry(&format!("m{turn}"), &format!("text {turn}")));
        journal.keep();
        journal.on_event(&event(u64::from(turn), ended(turn)));
        journal.keep();
    }
    let missing = journal.close();
    drop(journal);
    (disk.calls(), told.try_iter().collect(), missing)
}

#[test]
fn a_disk_that_fails_at_any_call_loses_nothing_and_is_told_of_once() {
    let whole = Disk::default();
    let (calls, told, _) = play(&whole);
    assert!(calls > 10 && told.is_empty(), "{calls} {told:?}");
    let expected = whole.reading().records.len();
    for number in 1..=calls {
        let disk = Disk::failing_at([number]);
        let (_, told, missing) = play(&disk);
        let reading = disk.reading();
        assert_eq!((reading.records.len(), missing), (expected, None), "call {number}: {}", disk.text());
        let failures = told.iter().filter(|sentence| sentence.contains("cannot be saved: no space left")).count();
        assert_eq!(failures, 1, "call {number}: {told:?}");
    }
}

#[test]
fn a_disk_that_stays_full_is_told_of_once_and_the_end_says_what_is_missing() {
    let (_, told, missing) = play(&Disk::dead());
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(missing.as_deref(), Some("the last 8 records of the session could not be saved"));
}

#[test]
fn a_disk_that_has_room_again_gets_everything_without_being_asked() {
    let disk = Disk::dead();
    let journal = journal(&disk);
    let (tell, told) = channel();
    journal.on_trouble(move |sentence| tell.send(sentence).unwrap());
    journal.accepted(&AgentId::main(), entry("m1", "typed while it was full"));
    let patience = Duration::from_secs(30);
    let saving = journal.saving();
    assert!(told.recv_timeout(patience).unwrap().starts_with("The session cannot be saved"));
    let unsaved = saving.lock().unwrap().clone().unwrap();
    assert!(unsaved.why.contains("no space left") && !unsaved.has_begun, "{unsaved:?}");
    disk.revive();
    assert_eq!(told.recv_timeout(patience).unwrap(), "The session is saved again");
    assert_eq!(*saving.lock().unwrap(), None);
    assert!(String::from_utf8(disk.safe()).unwrap().contains("typed while it was full"));
}

#[test]
fn a_disk_that_does_not_answer_is_said_once_and_so_is_its_answer() {
    let disk = Disk::default();
    let journal = journal(&disk);
    let (tell, told) = channel();
    journal.on_trouble(move |sentence| tell.send(sentence).unwrap());
    let stalled = disk.stall();
    for id in ["m1", "m2"] {
        journal.accepted(&AgentId::main(), entry(id, "typed while it was slow"));
        journal.keep();
    }
    let said: Vec<String> = told.try_iter().collect();
    assert!(said.len() == 1 && said[0].starts_with("The disk does not answer."), "{said:?}");
    drop(stalled);
    journal.keep();
    assert_eq!(told.try_iter().collect::<Vec<_>>(), ["The disk answers again"]);
    assert_eq!(String::from_utf8(disk.safe()).unwrap().matches("typed while it was slow").count(), 2);
}

#[test]
fn a_resumed_session_goes_on_behind_a_line_that_was_torn() {
    let disk = Disk::default();
    play(&disk);
    let before = disk.reading();
    let torn = br#"{"record":9,"kind":"acc"#;
    disk.tear(torn);
    let session = header().session;
    let journal = steersman_session::journal::Journal::resume(session, before.last, disk.opening());
    journal.accepted(&AgentId::main(), entry("m4", "after it"));
    journal.close();
    let after = disk.reading();
    assert_eq!((after.records.len(), after.damage.skipped), (before.records.len() + 2, 1));
    assert_eq!(after.last, before.last + 2);
}
