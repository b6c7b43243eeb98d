//! Stories of the files: names, rights, and one writer at a time.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use jiff::tz::TimeZone;
use steersman_base::id::AgentId;
use steersman_session::host::Keeper as _;
use steersman_session::journal::{Journal, SessionFiles, SessionId};
use tempfile::TempDir;

use crate::support::journals::{entry, header};

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
    // A process that another story starts at this moment holds the file until it begins its program.
    while file.is_written() {
        std::thread::yield_now();
    }
    file.remove().unwrap();
    assert_eq!(files.list().unwrap(), []);
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
