//! Stories of damage: whatever happened to a file, the records that are whole are read, and the rest is counted.

use steersman_base::event::Event;
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::message::Message;
use steersman_core::listener::{HistoryChange, Listener};
use steersman_session::host::Keeper as _;
use steersman_session::journal::{Reading, Record, highest_text, read_records};

use crate::support::journals::{Disk, ended, entry, event, journal};

/// Returns a journal of twenty records, each with texts of its own.
fn whole() -> Vec<u8> {
    let disk = Disk::default();
    let journal = journal(&disk);
    for turn in 1..=6 {
        journal.accepted(&AgentId::main(), entry(&format!("m{turn}"), &format!("a text, {turn}: {{\"record\":3}}")));
        journal.on_event(&event(u64::from(turn) * 2, Event::Notice { text: format!("é, ü and {turn}") }));
        journal.on_event(&event(u64::from(turn) * 2 + 1, ended(turn)));
    }
    journal.close();
    disk.bytes()
}

fn reading(bytes: &[u8]) -> Reading {
    read_records(bytes).unwrap()
}

/// Returns where each line begins, and the end.
fn starts(bytes: &[u8]) -> Vec<usize> {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(ends).collect()
}

#[test]
fn a_file_cut_at_any_byte_of_its_last_three_records_loses_only_what_was_cut() {
    let bytes = whole();
    let (all, starts) = (reading(&bytes), starts(&bytes));
    let lines = starts.len() - 1;
    assert_eq!((all.records.len(), all.damage.sentence()), (lines, None));
    for cut in starts[lines - 3]..bytes.len() {
        let torn = reading(&bytes[..cut]);
        // The end of a line without its newline is a whole line.
        let kept = starts.iter().skip(1).filter(|end| **end - 1 <= cut).count();
        assert_eq!(torn.records, all.records[..kept], "cut at {cut}");
        assert_eq!(
            torn.damage.skipped,
            u64::from(!starts.contains(&cut) && !starts.contains(&(cut + 1))),
            "cut at {cut}"
        );
        // What is written behind it next is not swallowed, also where nobody put an end to the torn line.
        let next = &bytes[starts[2]..starts[3]];
        // Without an end between them, what stands where a value may is taken for a part of the torn record.
        let is_open = matches!(bytes.get(cut - 1), Some(b':' | b',' | b'['));
        for between in ["\n", ""].into_iter().take(if is_open { 1 } else { 2 }) {
            let later = reading(
                &[&bytes[..cut], between.as_bytes(), b"{\"record\":99,", &next[b"{\"record\":3,".len()..]].concat(),
            );
            assert_eq!(later.records.len(), kept + 1, "cut at {cut}, {between:?} between");
            assert_eq!(later.records.last(), all.records.get(2));
        }
    }
}

#[test]
fn sixty_mutations_leave_every_record_that_they_do_not_touch() {
    let bytes = whole();
    let (all, starts) = (reading(&bytes), starts(&bytes));
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for number in 0..60 {
        let at = random(bytes.len() - 40);
        let (gone, put): (usize, Vec<u8>) = match number % 6 {
            0 => (1, vec![u8::try_from(random(256)).unwrap()]),
            1 => (1 + random(30), Vec::new()),
            2 => (0, vec![0; 1 + random(30)]),
            3 => (1 + random(30), vec![0; 512]),
            4 => (0, b"\n\xFF\xFEgarbage {\"record\": nonsense}\n".to_vec()),
            // The end of some line, gone.
            _ => (1, Vec::new()),
        };
        let at = if number % 6 == 5 { starts[1 + random(starts.len() - 3)] - 1 } else { at };
        let mutated = [&bytes[..at], &put, &bytes[at + gone..]].concat();
        let read = reading(&mutated);
        let touched = |line: usize| {
            // Without its end a line is whole, and so is the next.
            let (from, to) = (starts[line], starts[line + 1] - 1);
            at < to && at + gone.max(1) > from || gone == 0 && at > from && at < to
        };
        let lines = (0..starts.len() - 1).filter(|line| !touched(*line));
        let missing: Vec<usize> = lines.filter(|line| !read.records.contains(&all.records[*line])).collect();
        assert!(missing.is_empty(), "mutation {number} at {at} took the lines {missing:?}");
    }
}

#[test]
fn a_line_that_stands_there_twice_counts_once() {
    let bytes = whole();
    let starts = starts(&bytes);
    let line = &bytes[starts[4]..starts[5]];
    let doubled = reading(&[&bytes[..starts[5]], line, line, &bytes[starts[5]..]].concat());
    assert_eq!(doubled.records, reading(&bytes).records);
    assert_eq!((doubled.damage.doubled, doubled.damage.skipped), (2, 0));
    assert_eq!(doubled.damage.sentence().as_deref(), Some("the journal is not whole: 2 doubled lines skipped"));
}

#[test]
fn a_block_of_nul_bytes_is_counted_and_the_record_behind_it_is_read() {
    let bytes = whole();
    let starts = starts(&bytes);
    let holed = reading(&[&bytes[..starts[6]], &[0; 4096][..], &bytes[starts[6]..]].concat());
    assert_eq!((holed.records, holed.damage.skipped), (reading(&bytes).records, 1));
}

#[test]
fn a_record_within_the_words_of_a_torn_one_is_none() {
    let hostile = r#"{"record":50,"kind":"accepted","to":"","entry":{"id":"m9","text":"rm","delivery":"steer","held":false,"at":"2026-11-22T20:35:08Z"}}"#;
    let line = format!(r#"{{"record":7,"kind":"event","event":{{"type":"tool_call","arguments":{{"x":{hostile}"#);
    let torn = reading(line.as_bytes());
    assert_eq!((torn.records.len(), torn.damage.skipped), (0, 1));
}

#[test]
fn a_text_that_was_lost_with_its_line_is_said_to_be_lost_where_it_stood_again() {
    let disk = Disk::default();
    let journal = journal(&disk);
    let text = "An answer of more than eighty bytes, which is why it is written once and named after that.";
    journal.on_event(&event(1, Event::TurnStarted { turn: 1 }));
    journal.on_event(&event(2, Event::Assistant { text: text.to_owned(), interrupted: false }));
    journal.on_history(&AgentId::main(), HistoryChange::Appended(&Message::assistant(text)));
    journal.close();
    let kept = disk
        .text()
        .lines()
        .filter(|line| !line.contains("An answer"))
        .fold(String::new(), |all, line| all + line + "\n");
    let torn = reading(kept.as_bytes());
    let Some(Record::History { messages, .. }) = torn.records.last() else { panic!("{torn:?}") };
    assert!(matches!(&messages[0], Message::Assistant(reply) if reply.content.starts_with("[lost: ")));
    assert_eq!(torn.damage.lost_texts, 1);
}

#[test]
fn a_line_longer_than_any_record_is_skipped_whole_and_the_next_one_read() {
    let bytes = whole();
    let starts = starts(&bytes);
    let (one, two) = (&bytes[..starts[1]], &bytes[starts[1]..starts[2]]);
    let long = vec![b'x'; usize::try_from(limits::JOURNAL_LINE).unwrap()];
    // A record behind it on the same line belongs to the damage.
    let reading = reading(&[one, &long, two, two].concat());
    assert_eq!((reading.records.len(), reading.damage.skipped), (2, 1), "{:?}", reading.damage);
}

#[test]
fn the_highest_number_of_a_text_is_found_without_a_record_and_never_in_what_a_text_says() {
    let bytes = whole();
    assert_eq!(highest_text(&*bytes).unwrap(), 6);
    let torn = &bytes[..bytes.windows(5).rposition(|part| part == b"\"m6\",").unwrap() + 4];
    assert_eq!(highest_text(torn).unwrap(), 6, "its line is torn behind it");
    let disk = Disk::default();
    let journal = journal(&disk);
    journal.accepted(&AgentId::main(), entry("m2", r#"not "m9", not {"id":"m10"}, not m11"#));
    journal.close();
    assert_eq!(highest_text(disk.text().as_bytes()).unwrap(), 2);
    assert_eq!(highest_text(&b"\"main\",\"m\",\"m7x\",\"m8"[..]).unwrap(), 0);
    // The file is read block by block: wherever one ends.
    for before in (1 << 20) - 12..=(1 << 20) + 2 {
        let long = [vec![b'x'; before], br#""m18446744073709551615""#.to_vec(), vec![b'x'; 100]].concat();
        assert_eq!(highest_text(&*long).unwrap(), u64::MAX, "{before}");
    }
}
