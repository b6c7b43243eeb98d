//! Stories of `steersman replay`: the screen as it was at any event, by the folds of the live screen.

use jiff::tz::TimeZone;
use ratatui::layout::Size;
use steersman_base::event::{Event, TakenBack};
use steersman_base::id::AgentId;
use steersman_base::protocol::Update;
use steersman_core::listener::Listener as _;
use steersman_session::host::Keeper as _;
use steersman_session::journal::{read_records, restore};
use steersman_session::replay::moments;
use steersman_tui::replay::{ReplayScreen, Replayed};
use steersman_tui::timeline::RecordedContext;

use crate::support::journals::{Disk, entry, event, journal};
use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::saved::Saved;

fn screen_at(saved: &Saved, at: u64) -> String {
    let file = saved.files().list().unwrap().remove(0);
    let replayed = Replayed {
        size: Size { width: 120, height: 36 },
        zone: TimeZone::UTC,
        started: "2026-11-22T20:35:07Z".parse().unwrap(),
        details: RecordedContext {
            place: "project".to_owned(),
            branch: "main".to_owned(),
            model: "test-model".to_owned(),
        },
    };
    let mut screen = ReplayScreen::new(replayed);
    for moment in moments(file.read().unwrap().records).take_while(|moment| moment.seq <= at) {
        screen.receive(moment.at, moment.update);
    }
    screen.rows().join("\n")
}

#[test]
fn the_screen_stands_as_it_was_at_each_event() {
    let saved = Saved::new();
    saved.usual();
    // A text that was accepted and not delivered is pending.
    let during = screen_at(&saved, 26);
    assert!(during.contains("and the \"tests\" too") && during.contains("1 pending"), "{during}");
    assert!(!during.contains("There are two files"), "{during}");
    insta::assert_snapshot!("while_a_sub_agent_has_ended_120x36", during);
    let end = screen_at(&saved, u64::MAX);
    assert!(end.contains("There are two files") && !end.contains("1 pending"), "{end}");
    insta::assert_snapshot!("at_the_end_120x36", end);
    let before = screen_at(&saved, 0);
    assert!(!before.contains("look first"), "{before}");
}

#[test]
fn a_text_whose_record_comes_behind_its_delivery_is_not_pending() {
    let disk = Disk::default();
    let written = journal(&disk);
    let turn = Event::UserTurn {
        content: "at once".to_owned(),
        mid_loop: false,
        injection: Some("m1".into()),
        step: 0,
        after: None,
        sender: None,
        kind: steersman_base::steering::TextKind::Add,
        met: None,
        images: Vec::new(),
    };
    written.on_event(&event(1, turn));
    written.accepted(&AgentId::main(), entry("m1", "at once"));
    written.close();
    let told: Vec<_> = moments(read_records(disk.bytes().as_slice()).unwrap().records).collect();
    let is_pending = |update: &Update| matches!(update, Update::Queues { queues, .. } if !queues.is_empty());
    assert!(told.len() > 1 && !told.iter().any(|moment| is_pending(&moment.update)), "{told:?}");
}

/// Returns what became of each text, as the screen of a replay has it at the end.
fn ends(disk: &Disk) -> Vec<String> {
    let facts = RecordedContext { place: "project".to_owned(), branch: String::new(), model: "m".to_owned() };
    let started = "2026-11-22T20:35:07Z".parse().unwrap();
    let size = Size { width: 120, height: 36 };
    let mut screen = ReplayScreen::new(Replayed { size, zone: TimeZone::UTC, started, details: facts });
    for moment in moments(read_records(disk.bytes().as_slice()).unwrap().records) {
        screen.receive(moment.at, moment.update);
    }
    let rows = screen.rows().join("\n");
    assert!(!rows.contains("being delivered"), "{rows}");
    let ledger = screen.ledger();
    assert!(!ledger.contains("on its way"), "{ledger}");
    let mut rows: Vec<String> = Vec::new();
    for line in ledger.lines().skip(1) {
        // A text of several lines is one row.
        match rows.last_mut() {
            Some(row) if !line.starts_with('m') => row.push_str(line),
            _ => rows.push(line.to_owned()),
        }
    }
    rows
}

#[test]
fn what_the_user_took_back_is_said_in_a_replay_and_its_ledger() {
    let disk = Disk::default();
    let written = journal(&disk);
    let texts = [("m1", "stopped"), ("m2", "deleted"), ("m3", "taken"), ("m4", "first"), ("m5", "second")];
    let entries: Vec<_> = texts.into_iter().map(|(id, text)| entry(id, text)).collect();
    written.on_event(&event(1, Event::TurnStarted { turn: 1 }));
    for entry in &entries {
        written.accepted(&AgentId::main(), entry.clone());
    }
    written.on_event(&event(2, Event::Pending { entries: entries.clone() }));
    for (ids, why) in [
        (vec!["m2"], TakenBack::Removed),
        (vec!["m3"], TakenBack::ToMessage),
        (vec!["m5"], TakenBack::Merged("m4".into())),
        (vec!["m1", "m4"], TakenBack::Stopped),
    ] {
        written.taken_back(ids.into_iter().map(Into::into).collect(), why);
        // The agent says what still waits, once.
    }
    written.on_event(&event(3, Event::Pending { entries: Vec::new() }));
    written.close();
    let ends = ends(&disk);
    for (id, words) in [("m1", "returned"), ("m2", "withdrawn"), ("m3", "withdrawn"), ("m4", "returned"), ("m5", "m4")]
    {
        let row = ends.iter().find(|row| row.starts_with(id) || row.contains(&format!("{id},"))).unwrap();
        assert!(row.contains(words), "{id}: {row}");
    }
    // Whoever goes on with it has what was in the message, once, and nothing that was deleted.
    let resumed = restore(read_records(disk.bytes().as_slice()).unwrap().records);
    let back: Vec<&str> = resumed.unfinished.pending.iter().map(|entry| entry.text.as_str()).collect();
    assert_eq!(back, ["taken", "stopped", "first\n\nsecond"]);
}

#[test]
fn the_command_prints_one_screen() {
    let saved = Saved::new();
    let id = saved.usual().session.to_string();
    let args = ["replay", id.as_str(), "--print", "--at", "8", "--size", "80x20"];
    let (output, home) = Program::within(saved.home).args(args).output_with_home();
    let text = stdout(&output);
    assert_eq!((exit_code(&output), stderr(&output).as_str(), text.lines().count()), (0, "", 20));
    assert!(text.contains("I look first.") && !text.contains("b.rs"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let (output, home) = Program::within(home).args(["replay", "ffff", "--print"]).output_with_home();
    assert!(exit_code(&output) == 1 && stderr(&output).contains("there is no session \"ffff\""));
    let (output, _home) = Program::within(home).args(["replay", &id, "--print", "--size", "0x9"]).output_with_home();
    assert_eq!(exit_code(&output), 2, "{}", stderr(&output));
}
