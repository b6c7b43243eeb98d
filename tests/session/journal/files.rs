//! Stories of the files: names, rights, and one writer at a time.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use jiff::tz::TimeZone;
use serde_json::json;
use steersman_base::id::AgentId;
use steersman_core::listener::Listener as _;
use steersman_session::host::Keeper as _;
use steersman_session::journal::{Journal, Outline, SessionFiles, SessionId, SessionState};
use tempfile::TempDir;

use crate::support::journals::{entry, event, header};

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_journal_has_a_name_by_date_and_belongs_to_its_user_alone() {
    let state = TempDir::new().unwrap();
    let (files, header) = (SessionFiles::within(state.path()), header());
    assert_eq!(files.list().unwrap(), []);
    let journal = Journal::begin(header.clone(), files.creating(&header, &TimeZone::UTC));
    journal.accepted(&AgentId::main(), entry("m1", "hello"));
    journal.keep();
    let listed = files.list().unwrap();
    let [file] = listed.as_slice() else { panic!("{listed:?}") };
    let name = file.path.file_name().unwrap().to_str().unwrap();
    assert_eq!(name, format!("2026-11-22T20-35-07-{}.jsonl", header.session));
    assert_eq!((mode(&file.path), mode(file.path.parent().unwrap())), (0o600, 0o700));
    // One writes, everybody reads.
    assert!(file.is_written());
    assert_eq!(file.open().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert_eq!(file.remove().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert_eq!(file.read().unwrap().header(), Some(&header));
    journal.close();
    drop(journal);
    // A process that another test starts at this moment holds the file until it begins its program.
    while file.is_written() {
        std::thread::yield_now();
    }
    file.remove().unwrap();
    assert_eq!(files.list().unwrap(), []);
}

#[test]
fn who_asks_whether_a_session_is_written_is_no_writer_to_others_that_ask_or_write() {
    let state = TempDir::new().unwrap();
    let (files, header) = (SessionFiles::within(state.path()), header());
    let journal = Journal::begin(header.clone(), files.creating(&header, &TimeZone::UTC));
    journal.accepted(&AgentId::main(), entry("m1", "hello"));
    journal.keep();
    journal.close();
    drop(journal);
    let file = files.list().unwrap().remove(0);
    while file.is_written() {
        std::thread::yield_now();
    }
    // Another list that asks at this moment.
    let other = fs::File::open(&file.path).unwrap();
    other.lock_shared().unwrap();
    assert!(!file.is_written());
    std::thread::scope(|scope| {
        let opening = scope.spawn(|| file.open());
        other.unlock().unwrap();
        let opened = opening.join().unwrap().unwrap();
        assert!(file.is_written());
        drop(opened);
    });
}

#[test]
fn a_session_in_the_list_is_what_its_turns_and_its_program_say() {
    use SessionState::{Answered, Cancelled, Failed, Interrupted, Open, Running};
    let state = TempDir::new().unwrap();
    let files = SessionFiles::within(state.path());
    let turn = |turn: u32| json!({"type": "turn_started", "turn": turn});
    let end = |outcome: &str| json!({"type": "turn_ended", "turn": 1, "outcome": outcome, "message": null});
    let round = json!({"type": "round_started", "turn": 1, "round": 1});
    let compacting = json!({"type": "compacting", "messages": 3});
    let compacted = json!({"type": "compacted", "before": 9, "after": 1, "messages": 3, "summary": "s"});
    let continued = json!({"type": "agent_spawned", "child": "file_miner 0", "persona": "file_miner", "task": "t",
        "call": null, "model": null, "max_steps": null, "tools": []});
    let called = json!({"type": "agent_spawned", "child": "file_miner 0", "persona": "file_miner", "task": "t",
        "call": "c1", "model": null, "max_steps": null, "tools": []});
    let finished = json!({"type": "agent_finished", "child": "file_miner 0", "outcome": "completed", "message": null});
    let done = || vec![turn(1), end("completed")];
    for (events, written, left) in [
        (vec![], Open, Interrupted),
        (vec![turn(1)], Running, Interrupted),
        (vec![turn(1), round], Running, Interrupted),
        (done(), Open, Answered),
        (vec![turn(1), end("synthesized")], Open, Answered),
        (vec![turn(1), end("cancelled")], Open, Cancelled),
        (vec![turn(1), end("failed")], Open, Failed),
        (vec![turn(1), end("failed"), turn(2)], Running, Interrupted),
        ([done(), vec![compacting.clone()]].concat(), Open, Answered),
        ([done(), vec![compacting, compacted]].concat(), Open, Answered),
        // One that the user continues works beside the turns of the main agent.
        ([done(), vec![continued.clone()]].concat(), Running, Answered),
        ([done(), vec![continued, finished]].concat(), Open, Answered),
        (vec![turn(1), called, end("cancelled")], Open, Cancelled),
    ] {
        let header = header();
        let journal = Journal::begin(header.clone(), files.creating(&header, &TimeZone::UTC));
        journal.accepted(&AgentId::main(), entry("m1", "hello"));
        for (seq, value) in (1..).zip(&events) {
            journal.on_event(&event(seq, serde_json::from_value(value.clone()).unwrap()));
        }
        journal.keep();
        let file = files.list().unwrap().remove(0);
        let listed = || files.outlines().unwrap().remove(0).1.unwrap().state;
        assert_eq!((Outline::from_file(&file).unwrap().state, listed()), (written, written), "open: {events:?}");
        journal.close();
        drop(journal);
        while file.is_written() {
            std::thread::yield_now();
        }
        assert_eq!((Outline::from_file(&file).unwrap().state, listed()), (left, left), "left: {events:?}");
        file.remove().unwrap();
    }
}

#[test]
fn names_are_uuids_of_version_seven_and_sort_by_time() {
    let at = |text: &str| SessionId::new(text.parse().unwrap()).unwrap();
    let (early, late) = (at("2026-11-22T20:35:07.001Z"), at("2026-11-22T20:35:07.002Z"));
    assert!(early < late && early != at("2026-11-22T20:35:07.001Z"));
    let name = late.as_str();
    assert_eq!((name.len(), name.as_bytes()[14]), (36, b'7'), "{name}");
    assert!(matches!(name.as_bytes()[19], b'8' | b'9' | b'a' | b'b'), "{name}");
}

#[test]
fn a_link_in_the_place_of_a_journal_is_not_followed() {
    let state = TempDir::new().unwrap();
    let (files, header) = (SessionFiles::within(state.path()), header());
    fs::create_dir(state.path().join("sessions")).unwrap();
    fs::write(state.path().join("victim"), "untouched").unwrap();
    let name = format!("2026-11-22T20-35-07-{}.jsonl", header.session);
    symlink(state.path().join("victim"), state.path().join("sessions").join(name)).unwrap();
    let journal = Journal::begin(header.clone(), files.creating(&header, &TimeZone::UTC));
    journal.accepted(&AgentId::main(), entry("m1", "hello"));
    assert!(journal.close().is_some());
    assert_eq!(fs::read_to_string(state.path().join("victim")).unwrap(), "untouched");
    assert!(files.list().unwrap()[0].read().is_err());
}

#[test]
fn a_file_larger_than_any_journal_is_not_read() {
    let state = TempDir::new().unwrap();
    let (files, header) = (SessionFiles::within(state.path()), header());
    let journal = Journal::begin(header.clone(), files.creating(&header, &TimeZone::UTC));
    journal.accepted(&AgentId::main(), entry("m1", "hello"));
    journal.close();
    let file = files.list().unwrap().remove(0);
    // Sparse: it takes no room on the disk.
    fs::OpenOptions::new().write(true).open(&file.path).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(file.read().unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    assert_eq!(file.header(), Some(header), "what it is can still be told");
}
