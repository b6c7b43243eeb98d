//! Stories of `steersman replay`: the screen as it was at any event, by the folds of the live screen.

use jiff::tz::TimeZone;
use ratatui::layout::Size;
use steersman::event::Event;
use steersman::host::Keeper as _;
use steersman::id::AgentId;
use steersman::listener::Listener as _;
use steersman::protocol::Post;
use steersman::session::journal::read;
use steersman::session::replay::moments;
use steersman::tui::replay::{ReplayScreen, Replayed};

use super::journal::{Disk, entry, event, journal};
use super::saved::Saved;
use crate::support::program::{Program, exit_code, stderr, stdout};

fn screen_at(saved: &Saved, at: u64) -> String {
    let file = saved.files().list().unwrap().remove(0);
    let replayed = Replayed {
        size: Size { width: 120, height: 36 },
        zone: TimeZone::UTC,
        started: "2026-11-22T20:35:07Z".parse().unwrap(),
        place: "project".to_owned(),
        branch: "main".to_owned(),
        model: "test-model".to_owned(),
    };
    let mut screen = ReplayScreen::new(replayed);
    for moment in moments(file.read().unwrap().records).take_while(|moment| moment.seq <= at) {
        screen.take(moment.at, moment.post);
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
        kind: steersman::steering::TextKind::Add,
    };
    written.on_event(&event(1, turn));
    written.accepted(&AgentId::main(), entry("m1", "at once"));
    written.close();
    let told: Vec<_> = moments(read(disk.bytes().as_slice()).unwrap().records).collect();
    let is_pending = |post: &Post| matches!(post, Post::Queues { queues, .. } if !queues.is_empty());
    assert!(told.len() > 1 && !told.iter().any(|moment| is_pending(&moment.post)), "{told:?}");
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
