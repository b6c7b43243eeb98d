//! How long a search over a gigabyte of sessions takes, `cargo bench --bench search`: words that are nowhere, seldom,
//! and in every text. `MEGABYTES` sets another size.
//!
//! The sessions are written by a journal, then copied under other names; they are read once before, as what was used
//! lately is.

use steersman_test_support::figures;
use steersman_test_support::prose;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use steersman_base::event::{Envelope, Event};
use steersman_base::id::AgentId;
use steersman_base::message::Message;
use steersman_core::listener::{HistoryChange, Listener as _};
use steersman_session::journal::{Header, Journal, SCHEMA, SessionFile, SessionFiles, SessionId};
use steersman_session::search::{SearchQuery, search};

/// Matches that are looked for, as the command does.
const MOST: usize = 101;
/// Bytes of one session.
const SESSION: u64 = 64 << 20;

fn main() {
    let megabytes = std::env::var("MEGABYTES").ok().and_then(|text| text.parse().ok()).unwrap_or(1_024_u64);
    let home = tempfile::tempdir().unwrap();
    let files = write(home.path(), megabytes << 20);
    let size: u64 = files.iter().map(|file| fs::metadata(&file.path).unwrap().len()).sum();
    println!("{} sessions, {} MiB", files.len(), size >> 20);
    for (what, words) in [
        ("a word that is nowhere", "nowhere_at_all"),
        ("one text in each session", "Reykjavik"),
        ("two words of one text in each", "weather reykjavik"),
        ("one of a thousand texts", "_3e7"),
        ("every second text", "unwrap"),
        ("nearly every text", "e"),
    ] {
        let words = SearchQuery::new(&[words.to_owned()]).unwrap();
        let mut hits = 0;
        let mut once = || {
            let began = Instant::now();
            hits = search(&files, &words, MOST).hits.len();
            began.elapsed()
        };
        once();
        let times: Vec<Duration> = (0..5).map(|_| once()).collect();
        figures::print(&format!("{what}, {hits} matches"), times);
    }
}

/// Writes sessions of so many bytes together.
fn write(state: &Path, bytes: u64) -> Vec<SessionFile> {
    let files = SessionFiles::within(state);
    let started: Timestamp = "2026-11-01T09:00:00Z".parse().unwrap();
    let id = || SessionId::new(started).unwrap();
    let header = Header {
        schema: SCHEMA,
        program: "steersman".to_owned(),
        session: id(),
        started,
        directory: "/work".to_owned(),
        branch: None,
        model: None,
        parent: None,
        imported: None,
    };
    let journal = Journal::begin(header.clone(), files.creating(&header, &TimeZone::UTC));
    let (mut seq, mut written) = (0, 0);
    let mut event = |event: Event| {
        seq += 1;
        journal.on_event(&Envelope { seq, at: started, agent: AgentId::main(), parent: None, event });
    };
    event(Event::TurnStarted { turn: 1 });
    event(Event::Assistant { text: "The weather in Reykjavik is fine.".to_owned(), interrupted: false });
    for number in 0_u64.. {
        let text = prose::prose(number, 4 + number % 30, 9);
        written += text.len() as u64;
        event(Event::Assistant { text: text.clone(), interrupted: false });
        // In the conversation it stands again, by its number.
        journal.on_history(&AgentId::main(), HistoryChange::Appended(&Message::assistant(text)));
        if written >= SESSION.min(bytes) {
            break;
        }
    }
    while journal.close().is_some() {}
    let first = files.list().unwrap().remove(0);
    for _ in 1..bytes.div_ceil(SESSION) {
        let name = first.path.file_name().unwrap().to_str().unwrap().replace(first.session.as_str(), id().as_str());
        fs::copy(&first.path, first.path.with_file_name(name)).unwrap();
    }
    files.list().unwrap()
}
