//! Stories of the index of the sessions: what it says is what the journals say, whatever became of it and of them.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use steersman_base::event::{Event, Outcome, TakenBack};
use steersman_base::id::AgentId;
use steersman_base::message::Message;
use steersman_base::protocol::DraftText;
use steersman_base::steering::TextKind;
use steersman_core::listener::{HistoryChange, Listener as _};
use steersman_session::host::Keeper as _;
use steersman_session::journal::{Digest, Header, Journal, LeftOpen, Outline, SessionFiles, SessionIndex};
use tempfile::TempDir;

use crate::support::journals::{ended, entry, event, header};

fn user_turn(id: &str, content: &str) -> Event {
    Event::UserTurn {
        content: content.to_owned(),
        mid_loop: false,
        injection: Some(id.into()),
        step: 0,
        after: None,
        sender: None,
        kind: TextKind::Add,
        met: None,
        images: Vec::new(),
    }
}

/// Writes a session with a text, what was said of it and what is left, as a journal holds it.
fn write(state: &Path, title: &str) -> PathBuf {
    let (files, header) = (SessionFiles::within(state), Header { directory: format!("/work/{title}"), ..header() });
    let journal = Journal::begin(header.clone(), files.creating(&header, &TimeZone::UTC));
    let main = AgentId::main();
    journal.drafts(vec![DraftText {
        to: main.clone(),
        text: title.to_owned(),
        kind: TextKind::Add,
        edits: None,
        images: Vec::new(),
        sender: None,
    }]);
    journal.accepted(&main, entry("m1", title));
    journal.on_event(&event(1, Event::Pending { entries: vec![entry("m1", title)] }));
    journal.on_event(&event(2, Event::TurnStarted { turn: 1 }));
    journal.on_event(&event(3, user_turn("m1", title)));
    journal.on_history(&main, HistoryChange::Appended(&Message::user(title)));
    let answer = format!("An answer to {title} that is long enough to be named by the message that says it again.");
    journal.on_event(&event(4, Event::Assistant { text: answer.clone(), interrupted: false }));
    journal.on_history(&main, HistoryChange::Appended(&Message::assistant(answer)));
    for id in ["m2", "m3", "m4"] {
        journal.accepted(&main, entry(id, &format!("{id} of {title}")));
    }
    journal.taken_back(vec!["m3".into()], TakenBack::Removed);
    journal.on_event(&event(5, ended(1)));
    assert_eq!(journal.close(), None);
    drop(journal);
    // Its thread ends a moment later.
    while files.find(header.session.as_str()).unwrap().is_written() {
        std::thread::yield_now();
    }
    files.path_of(&header, &TimeZone::UTC)
}

fn outlines(state: &Path) -> Vec<Outline> {
    let mut all = SessionFiles::within(state).outlines().unwrap();
    all.sort_by(|(one, _), (other, _)| one.path.cmp(&other.path));
    all.into_iter().map(|(_, outline)| outline.unwrap()).collect()
}

/// Returns what the journals say without an index.
fn read_anew(state: &Path) -> Vec<Outline> {
    let mut files = SessionFiles::within(state).list().unwrap();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files.iter().map(|file| Outline::from_file(file).unwrap()).collect()
}

fn index(state: &Path) -> PathBuf {
    state.join("sessions.index")
}

#[test]
fn a_list_is_taken_from_the_index_and_only_what_is_new_of_a_journal_is_read() {
    let state = TempDir::new().unwrap();
    let paths = ["one", "two"].map(|title| write(state.path(), title));
    assert_eq!(outlines(state.path()), read_anew(state.path()));
    assert_eq!(fs::metadata(index(state.path())).unwrap().permissions().mode() & 0o777, 0o600);
    // What the index says instead shows what was read again.
    let known = fs::read_to_string(index(state.path())).unwrap();
    fs::write(index(state.path()), known.replace(r#""title":"one""#, r#""title":"eins""#)).unwrap();
    let titles = |state: &Path| {
        let mut titles: Vec<String> = outlines(state).into_iter().map(|outline| outline.title).collect();
        titles.sort();
        titles
    };
    assert_eq!(titles(state.path()), ["eins", "two"]);
    let mut file = OpenOptions::new().append(true).open(&paths[0]).unwrap();
    let more = event(9, Event::TurnStarted { turn: 2 });
    let more = serde_json::json!({"record": 99, "kind": "event", "seq": 9, "at": more.at, "agent": "", "parent": null,
        "event": more.event});
    writeln!(file, "{more}").unwrap();
    let now = outlines(state.path());
    let grown = now.iter().find(|outline| outline.title == "eins").unwrap();
    assert_eq!(grown.turns, 2, "{grown:?}");
    // One that is written anew is read anew.
    fs::remove_file(&paths[0]).unwrap();
    let whole = fs::read(&paths[1]).unwrap();
    fs::write(&paths[0], [&whole[..], b"\n\n\n"].concat()).unwrap();
    assert_eq!(titles(state.path()), ["two", "two"]);
    fs::remove_file(&paths[1]).unwrap();
    assert_eq!(outlines(state.path()), read_anew(state.path()));
    assert_eq!(fs::read_to_string(index(state.path())).unwrap().lines().count(), 2);
}

#[test]
fn a_journal_that_is_read_in_two_parts_says_the_same_wherever_it_was_cut() {
    let state = TempDir::new().unwrap();
    let path = write(state.path(), "a title");
    let whole = fs::read(&path).unwrap();
    let expected = read_anew(state.path());
    for cut in (0..whole.len()).step_by(37) {
        let other = TempDir::new().unwrap();
        fs::create_dir(other.path().join("sessions")).unwrap();
        let copy = other.path().join("sessions").join(path.file_name().unwrap());
        fs::write(&copy, &whole[..cut]).unwrap();
        assert_eq!(outlines(other.path()), read_anew(other.path()), "cut at {cut}");
        OpenOptions::new().append(true).open(&copy).unwrap().write_all(&whole[cut..]).unwrap();
        let joined = outlines(other.path());
        let mut expected = expected.clone();
        expected[0].file = copy;
        assert_eq!(joined, expected, "cut at {cut}");
    }
}

#[test]
fn an_index_that_is_missing_or_damaged_is_made_again() {
    let state = TempDir::new().unwrap();
    for title in ["one", "two", "three"] {
        write(state.path(), title);
    }
    let expected = outlines(state.path());
    let good = fs::read(index(state.path())).unwrap();
    let mut damaged: Vec<Vec<u8>> = (0..good.len()).step_by(97).map(|cut| good[..cut].to_vec()).collect();
    damaged.push(b"{\"session_index\":99}\n".to_vec());
    damaged.push(vec![0xFF; 5_000]);
    damaged.push([&good[..], &good[..]].concat());
    for bytes in damaged {
        fs::write(index(state.path()), &bytes).unwrap();
        assert_eq!(outlines(state.path()), expected);
    }
    fs::remove_file(index(state.path())).unwrap();
    fs::create_dir(index(state.path())).unwrap();
    assert_eq!(outlines(state.path()), expected);
}

#[test]
fn several_programs_that_make_it_at_once_leave_a_whole_one() {
    let state = TempDir::new().unwrap();
    for number in 0..20 {
        write(state.path(), &format!("title {number}"));
    }
    // How a session stands is asked of its lock, which the others ask at the same time.
    let said = |outlines: Vec<Outline>| {
        outlines.into_iter().map(|one| (one.id, one.title, one.turns, one.preview)).collect::<Vec<_>>()
    };
    let expected = said(read_anew(state.path()));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| (0..5).for_each(|_| assert_eq!(said(outlines(state.path())), expected)));
        }
    });
    let text = fs::read_to_string(index(state.path())).unwrap();
    let entries = text.lines().skip(1).map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    assert_eq!(entries.count(), 20);
    // Nothing is left beside it.
    let names: Vec<_> = fs::read_dir(state.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{names:?}");
}

#[test]
fn what_may_be_read_of_journals_is_bounded_and_goes_on_the_next_time() {
    let state = TempDir::new().unwrap();
    write(state.path(), "a title");
    let files = SessionFiles::within(state.path());
    let file = files.list().unwrap().remove(0);
    let size = fs::metadata(&file.path).unwrap().len();
    let mut times = 0;
    loop {
        let mut index = SessionIndex::load(&files).reading_at_most(size / 3);
        let known = index.get(&file).unwrap();
        index.save();
        times += 1;
        assert!(times < 20);
        if known.is_whole {
            assert_eq!(known.digest.outline(&file), Outline::from_file(&file).unwrap());
            break;
        }
    }
    assert!(times > 3, "{times} times");
}

#[test]
fn a_title_has_a_shell_line_in_the_place_of_what_it_printed() {
    let state = TempDir::new().unwrap();
    write(state.path(), "Status: <command-output of=\"git status\">\n M a.rs\n</command-output>");
    let titles: Vec<String> = outlines(state.path()).into_iter().map(|outline| outline.title).collect();
    assert_eq!(titles, ["Status: !`git status`"]);
}

#[test]
fn it_says_what_a_session_left_unfinished() {
    let state = TempDir::new().unwrap();
    let path = write(state.path(), "a title");
    let files = SessionFiles::within(state.path());
    let file = files.list().unwrap().remove(0);
    let left = || SessionIndex::load(&files).get(&file).unwrap().digest.left_open();
    let open = LeftOpen { title: "a title".to_owned(), is_cut: false, pending: 2, drafts: 0 };
    assert_eq!(left(), Some(open.clone()));
    let append = |event: Event| {
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        let line = serde_json::json!({"record": 90, "kind": "event", "seq": 9, "at": "2026-11-22T20:35:09Z", "agent": "",
            "parent": null, "event": event});
        writeln!(file, "{line}").unwrap();
    };
    append(Event::TurnStarted { turn: 2 });
    assert_eq!(left(), Some(LeftOpen { is_cut: true, ..open }));
    append(Event::Returned { entries: Vec::new() });
    append(Event::TurnEnded { turn: 2, outcome: Outcome::Completed, message: None });
    append(user_turn("m2", "m2 of a title"));
    append(Event::Pending { entries: Vec::new() });
    // One was delivered, as far as its event tells, and its message never came; the other was not in a list yet.
    assert_eq!(left().map(|left| left.pending), Some(2));
}

#[test]
fn what_is_unfinished_in_a_journal_that_is_too_long_for_a_start_is_told_by_its_end() {
    let state = TempDir::new().unwrap();
    let path = write(state.path(), "a title");
    let mut long = OpenOptions::new().append(true).open(&path).unwrap();
    let mut append = |number: u32, event: Event| {
        let at = "2026-11-22T20:35:09Z";
        let line = serde_json::json!({"record": number, "kind": "event", "seq": number, "at": at, "agent": "",
            "parent": null, "event": event});
        writeln!(long, "{line}").unwrap();
    };
    for number in 100..2_000 {
        append(number, Event::Notice { text: format!("{number}: {}", "words ".repeat(50)) });
    }
    append(2_000, Event::TurnStarted { turn: 2 });
    let files = SessionFiles::within(state.path());
    let file = files.list().unwrap().remove(0);
    let known = SessionIndex::load(&files).reading_at_most(100_000).get(&file).unwrap();
    assert!(!known.is_whole && known.digest.has_begun);
    let left = known.digest.with_end(Digest::of_tail(&file, 10_000).unwrap()).left_open();
    assert_eq!(left, Some(LeftOpen { title: "a title".to_owned(), is_cut: true, pending: 0, drafts: 0 }));
}
