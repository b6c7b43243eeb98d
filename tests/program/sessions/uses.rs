//! Tests of the order in which sessions were used: what `--continue` takes, and what is removed for its age.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::tz::TimeZone;
use steersman_base::id::AgentId;
use steersman_session::host::Keeper as _;
use steersman_session::journal::{Header, Journal, SessionFiles, SessionId, SessionIndex};
use tempfile::TempDir;

use crate::support::journals::{entry, header};
use crate::support::program::{Program, exit_code, stderr};
use crate::support::server::{Gate, Reply, Server};

const DAY: u64 = 24 * 60 * 60;

fn exec(home: TempDir, server: &Server, args: &[&str]) -> TempDir {
    let program = Program::within(home).args(["exec", "--base-url", &server.url(), "--model", "m"]);
    let (output, home) = program.args(args.iter().copied()).output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    home
}

/// Saves a session that says something, and tells whether nobody watched it.
fn saved(files: &SessionFiles, is_unattended: bool) -> SessionId {
    let header = Header { session: SessionId::new(jiff::Timestamp::now()).unwrap(), ..header() };
    let journal = Journal::begin(header.clone(), files.creating(&header, &TimeZone::UTC));
    if is_unattended {
        journal.unattended();
    }
    journal.accepted(&AgentId::main(), entry("m1", "hello"));
    journal.keep();
    assert_eq!(journal.close(), None);
    header.session
}

fn listed(files: &SessionFiles) -> Vec<SessionId> {
    files.list().unwrap().into_iter().map(|file| file.session).collect()
}

/// Lets the files of all sessions be as old as this.
fn age(files: &SessionFiles, days: u64) {
    for file in files.list().unwrap() {
        let written = SystemTime::now() - Duration::from_secs(days * DAY);
        fs::File::options().append(true).open(&file.path).unwrap().set_modified(written).unwrap();
    }
}

/// Writes the order of uses: how many days had been seen, how many days ago by the clock, and the session.
fn uses(state: &Path, lines: &[(u64, i64, &SessionId)]) {
    let now = jiff::Timestamp::now().as_second();
    let day = i64::try_from(DAY).unwrap();
    let line =
        |(seen, ago, session): &(u64, i64, &SessionId)| format!("{} {} {session}\n", seen * DAY, now - ago * day);
    fs::write(state.join("sessions.uses"), lines.iter().map(line).collect::<String>()).unwrap();
}

#[test]
fn continue_takes_the_session_that_was_used_last_not_the_one_that_began_last() {
    let server = Server::routed(|_| Reply::text("Well."));
    let home = exec(TempDir::new().unwrap(), &server, &["first"]);
    let files = SessionFiles::within(&home.path().join(".local/state/steersman"));
    let first = listed(&files)[0].clone();
    let home = exec(home, &server, &["second"]);
    let home = exec(home, &server, &["--resume", first.as_str(), "third"]);
    let home = exec(home, &server, &["--continue", "fourth"]);
    assert_eq!(server.chats().last().unwrap().texts("user"), ["first", "third", "fourth"]);
    assert_eq!(listed(&files)[0], first);
    drop(home);
}

#[test]
fn the_order_is_that_of_the_uses_whatever_the_clock_said() {
    let state = TempDir::new().unwrap();
    let files = SessionFiles::within(state.path());
    let [one, two, three] = [(); 3].map(|()| saved(&files, false));
    assert_eq!(listed(&files), [three.clone(), two.clone(), one.clone()]);
    // The first was used while the clock was ahead, the third while it was back; then the second.
    uses(state.path(), &[(0, -400, &one), (0, 4_000, &three), (0, 0, &two)]);
    assert_eq!(listed(&files), [two.clone(), three.clone(), one.clone()]);
    // What no line names comes behind those that were used, the newest first; what is no line is passed over.
    fs::write(state.path().join("sessions.uses"), format!("x\n\n1 2\n0 0 {one}\n9 9 ../../x\n0 0 0")).unwrap();
    assert_eq!(listed(&files), [one.clone(), three.clone(), two.clone()]);
    // A line that was cut off does not take the next one with it.
    let four = saved(&files, false);
    assert_eq!(listed(&files), [four, one, three, two]);
}

#[test]
fn a_session_is_removed_when_it_is_old_by_its_file_and_by_the_time_that_was_seen() {
    for (seen, ago, days, is_removed) in [
        // In use day by day for so long.
        (100, 0, 400, true),
        // The clock was set ahead: nobody saw the time pass.
        (0, 400, 400, false),
        // It was set back meanwhile, or the file was touched.
        (100, -400, 400, true),
        (100, 0, 10, false),
        (80, 400, 400, false),
    ] {
        let state = TempDir::new().unwrap();
        let files = SessionFiles::within(state.path());
        let [old, new] = [(); 2].map(|()| saved(&files, false));
        age(&files, days);
        uses(state.path(), &[(0, 500, &old), (seen, ago, &new)]);
        let removed = files.prune_unused(90).unwrap();
        let expected: &[SessionId] = if is_removed { std::slice::from_ref(&old) } else { &[] };
        assert_eq!(removed, expected, "{seen} {ago} {days}");
        let left = if is_removed { vec![new] } else { vec![new, old] };
        assert_eq!(listed(&files), left, "{seen} {ago} {days}");
    }
}

#[test]
fn a_clock_that_is_set_ahead_removes_nothing_however_often_the_program_starts() {
    let state = TempDir::new().unwrap();
    let files = SessionFiles::within(state.path());
    let old = saved(&files, false);
    age(&files, 400);
    uses(state.path(), &[(0, 400, &old)]);
    for _ in 0..20 {
        assert_eq!(files.prune_unused(90).unwrap(), []);
        saved(&files, false);
    }
    assert_eq!(listed(&files).len(), 21);
}

#[test]
fn sessions_of_earlier_versions_have_no_age_until_this_one_has_seen_it() {
    let state = TempDir::new().unwrap();
    let files = SessionFiles::within(state.path());
    let [one, two] = [(); 2].map(|()| saved(&files, false));
    age(&files, 400);
    fs::remove_file(state.path().join("sessions.uses")).unwrap();
    assert_eq!(files.prune_unused(90).unwrap(), []);
    assert_eq!(listed(&files), [two, one]);
    // A line for each was written.
    assert_eq!(fs::read_to_string(state.path().join("sessions.uses")).unwrap().lines().count(), 2);
}

#[test]
fn what_only_scripts_ran_in_is_no_conversation_of_the_user() {
    let state = TempDir::new().unwrap();
    let files = SessionFiles::within(state.path());
    let own = saved(&files, false);
    let script = saved(&files, true);
    let attended = |session: &SessionId| {
        let file = files.find(session.as_str()).unwrap();
        SessionIndex::load(&files).get(&file).unwrap().digest.is_attended()
    };
    assert_eq!((attended(&own), attended(&script)), (true, false));
    // The user goes on with it.
    let file = files.find(script.as_str()).unwrap();
    // A process that another test starts at this moment has the file too, until it has become its program.
    let opened = std::iter::from_fn(|| Some(file.open())).find_map(Result::ok).unwrap();
    let journal = Journal::resume(script.clone(), 9, opened.opening());
    journal.accepted(&AgentId::main(), entry("m2", "and now?"));
    journal.keep();
    assert_eq!(journal.close(), None);
    assert!(attended(&script));
}

#[test]
fn the_start_names_what_it_removed() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("Well."), Reply::text("Done.").gated(&gate)]);
    let home = exec(TempDir::new().unwrap(), &server, &["first"]);
    let state = home.path().join(".local/state/steersman");
    let files = SessionFiles::within(&state);
    let first = listed(&files)[0].clone();
    age(&files, 100);
    let other = SessionId::new(jiff::Timestamp::now()).unwrap();
    uses(&state, &[(0, 100, &first), (100, 0, &other)]);
    let program = Program::within(home).args(["exec", "--base-url", &server.url(), "--model", "m", "second"]);
    let mut run = program.run();
    run.wait_for_error(&format!("Removed 1 session not used for 90 days (sessions.keep_days): {first}"));
    gate.open();
    assert_eq!(run.end().code, Some(0));
}
