//! Sessions on a terminal: drafts that come back, a second screen on one session, a branch, a crash.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use rustix::process::Signal;
use steersman_base::event::Event;
use steersman_session::journal::{Outline, Record, SessionFiles};

use crate::support::long_session::{LAST_WORDS, recorded, write};
use crate::support::server::{Reply, Server};
use crate::support::terminal::{Start, Terminal, keys};

const PATIENCE: Duration = Duration::from_secs(30);

/// Starts it on the home and in the directory of another start.
fn beside(first: &Terminal, server: &Server) -> Start {
    let home = first.home().to_str().unwrap().to_owned();
    Start::against(server).env("HOME", &home).cwd(&first.home().join("work"))
}

/// A screen on which one text was answered.
fn answered(server: &Server) -> Terminal {
    server.reply_text("The first answer.");
    let mut terminal = Start::against(server).run();
    terminal.send("find the parser\r");
    terminal.wait_for("The first answer.");
    terminal.wait_for("· idle");
    terminal
}

fn sessions(terminal: &Terminal) -> SessionFiles {
    SessionFiles::within(&terminal.home().join(".local/state/steersman"))
}

#[test]
fn a_draft_is_back_after_a_resume_and_nothing_was_sent() {
    let server = Server::start([]);
    let mut first = answered(&server);
    first.type_text("half a thought");
    first.signal(Signal::TERM);
    assert_eq!(first.wait_exit(PATIENCE).exit_code(), 143);
    let mut second = beside(&first, &server).arg("--continue").run();
    second.wait_for("The first answer.");
    second.wait_typed("half a thought");
    assert_eq!(server.chats().len(), 1);
    server.reply_text("The second answer.");
    second.send(" ended\r");
    second.wait_for("The second answer.");
    assert_eq!(server.chats()[1].texts("user"), ["find the parser", "half a thought ended"]);
    // Texts are numbered on, without a gap.
    second.send("/ledger\r");
    second.wait_for("m2");
}

#[test]
fn what_a_killed_program_left_unfinished_is_offered_at_the_next_start() {
    let server = Server::start([]);
    let mut first = answered(&server);
    let _never = server.reply_gated(Reply::text("Not in this life."));
    first.send("and the lexer\r");
    server.wait_requested(2);
    first.send("only its comments\r");
    first.wait_for("m3 only its comments");
    first.type_text("half a thought");
    let file = sessions(&first).list().unwrap().remove(0);
    first.wait_until("the draft to be saved", |_| file.read().unwrap().records.iter().any(is_draft));
    first.signal(Signal::KILL);
    first.wait_exit(PATIENCE);

    // A program whose first text is being written does not hide it.
    let mut other = beside(&first, &server).run();
    other.type_text("something else");
    other.wait_until("its draft to be saved", |_| sessions(&first).list().unwrap().len() == 2);

    // Nothing is taken up by itself; one line says what there is and how to go on with it.
    let mut second = beside(&first, &server).run();
    let screen = second.wait_for("goes on with it").split_whitespace().collect::<Vec<_>>().join(" ");
    let id = &file.session.as_str()[..13];
    let sentence = format!(
        "The last session here is unfinished: “find the parser” (a turn was cut short, 1 pending, 1 draft). \
         /resume {id} goes on with it"
    );
    assert!(screen.contains(&sentence), "{screen}");
    second.send(&format!("/resume {id}\r"));
    second.wait_for("1 pending: continue, edit or discard?");
    second.wait_typed("half a thought");
    assert_eq!(server.chats().len(), 2, "nothing is sent by itself");
}

#[test]
fn a_first_text_that_was_never_sent_outlives_a_killed_program_and_hides_no_conversation() {
    let server = Server::start([]);
    let mut first = answered(&server);
    first.send(keys::CTRL_D);
    first.wait_exit(PATIENCE);
    let mut second = beside(&first, &server).run();
    second.type_text("half a thought");
    let files = sessions(&first);
    second.wait_until("the draft to be saved", |_| {
        files.list().unwrap().iter().any(|file| file.read().unwrap().records.iter().any(is_draft))
    });
    // While it is written it is in no list; what a killed program left of it is.
    let listed = || {
        let all = files.list().unwrap();
        all.iter().map(|file| Outline::from_file(file).unwrap()).filter(Outline::is_listed).count()
    };
    assert_eq!((listed(), files.list().unwrap().len()), (1, 2));
    second.signal(Signal::KILL);
    second.wait_exit(PATIENCE);
    assert_eq!(listed(), 2);

    let mut third = beside(&first, &server).run();
    third.wait_for("unfinished: “half a thought” (1 draft)");
    third.send(&format!("/resume {}\r", files.list().unwrap()[0].session));
    third.wait_typed("half a thought");
    // The newest conversation is the one before it.
    beside(&first, &server).arg("--continue").run().wait_for("The first answer.");
}

fn is_draft(record: &Record) -> bool {
    matches!(record, Record::Drafts { texts } if texts.iter().any(|draft| draft.text == "half a thought"))
}

#[test]
fn a_session_that_was_left_in_order_is_not_offered() {
    let server = Server::start([]);
    let mut first = answered(&server);
    first.send(keys::CTRL_D);
    first.wait_exit(PATIENCE);
    let mut second = beside(&first, &server).run();
    second.wait_for("› ");
    server.reply_text("The second answer.");
    second.send("and the lexer\r");
    let screen = second.wait_for("The second answer.");
    assert!(!screen.contains("unfinished"), "{screen}");
}

#[test]
fn what_an_agent_did_long_ago_is_never_shown_as_what_it_does() {
    let (server, home) = (Server::start([]), tempfile::tempdir().unwrap());
    let work = home.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let work = work.canonicalize().unwrap();
    // Many more events than are folded between two frames, all of one turn.
    write(&home.path().join(".local/state/steersman"), &work, 20_000, recorded);
    let start = Start::against(&server).env("HOME", home.path().to_str().unwrap()).cwd(&work);
    let terminal = start.arg("--continue").spawn();
    terminal.wait_for(LAST_WORDS);
    // The question about it comes when everything is there.
    terminal.wait_for("1 pending");
    let written = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(written.contains("opening the session"), "{written}");
    for then in ["waiting for the model", "running read", "no token for"] {
        assert!(!written.contains(then), "{then}: {written}");
    }
}

#[test]
fn a_second_screen_on_a_session_reads_it_and_says_who_writes() {
    let server = Server::start([]);
    let first = answered(&server);
    let mut second = beside(&first, &server).arg("--continue").run();
    second.wait_for("The first answer.");
    second.wait_for("runs in another program (process ");
    second.type_text("mine");
    second.send("\r");
    second.wait_for("not sent");
    second.wait_typed("mine");
    assert_eq!(server.chats().len(), 1);
}

#[test]
fn a_branch_goes_on_from_just_before_a_message_in_a_session_of_its_own() {
    let server = Server::start([]);
    let mut terminal = answered(&server);
    server.reply_text("The second answer.");
    terminal.send("and the lexer\r");
    terminal.wait_for("The second answer.");
    terminal.wait_for("· idle");
    terminal.send("\x0f[b");
    terminal.wait_for("Branch: a new session");
    terminal.wait_for("● ready");
    terminal.send("\x1by");
    terminal.wait_gone("The second answer.");
    terminal.wait_typed("and the lexer");
    terminal.wait_for("The first answer.");
    server.reply_text("The other answer.");
    terminal.send(" of the branch\r");
    terminal.wait_for("The other answer.");
    assert_eq!(server.chats()[2].texts("user"), ["find the parser", "and the lexer of the branch"]);
    let files = sessions(&terminal).list().unwrap();
    let parent = files[0].header().unwrap().parent.unwrap();
    assert_eq!((files.len(), &parent.session), (2, &files[1].session));

    // And back to the one that was left.
    terminal.wait_for("· idle");
    terminal.send(&format!("/resume {}\r", files[1].session));
    terminal.wait_for("The second answer.");
    terminal.wait_gone("The other answer.");
    terminal.send(keys::CTRL_D);
    assert_eq!(terminal.wait_exit(PATIENCE).exit_code(), 0);
    assert!(terminal.screen().contains(&format!("To resume: steersman --resume {}", files[1].session)));
}

#[test]
fn a_session_is_chosen_at_the_start() {
    let server = Server::start([]);
    let mut first = answered(&server);
    first.send(keys::CTRL_D);
    first.wait_exit(PATIENCE);
    let mut second = beside(&first, &server).arg("--resume").run();
    second.wait_for("Sessions: go on with one");
    second.wait_for("find the parser");
    second.send("\r");
    second.wait_gone("Sessions: go on with one");
    second.wait_for("The first answer.");
    second.send(keys::CTRL_D);
    assert_eq!(second.wait_exit(PATIENCE).exit_code(), 0);
    assert_eq!(sessions(&first).list().unwrap().len(), 1);
}

#[test]
fn a_session_whose_directory_is_gone_goes_on_in_another_one_after_a_yes() {
    let server = Server::start([]);
    let mut first = answered(&server);
    first.send(keys::CTRL_D);
    first.wait_exit(PATIENCE);
    let id = sessions(&first).list().unwrap()[0].session.clone();
    let other = first.home().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::remove_dir_all(first.home().join("work")).unwrap();
    let again = || beside(&first, &server).cwd(&other).arg("--resume").arg(id.as_str()).spawn();
    let mut refused = again();
    refused.wait_for("which is gone. Go on with it in");
    refused.send("n\r");
    assert_eq!(refused.wait_exit(PATIENCE).exit_code(), 2);
    assert!(refused.screen().contains("--fork"), "{}", refused.screen());
    let mut second = again();
    second.wait_for("[y/N]");
    second.send("y\r");
    second.wait_for("The first answer.");
    second.send(keys::CTRL_D);
    assert_eq!(second.wait_exit(PATIENCE).exit_code(), 0);
    assert_eq!(sessions(&first).list().unwrap().len(), 1);
}

#[test]
fn a_crash_gives_the_terminal_back_and_says_how_to_resume() {
    let server = Server::start([]);
    let mut first = answered(&server);
    first.send(keys::CTRL_D);
    first.wait_exit(PATIENCE);
    let fault = "break at send";
    let mut second = beside(&first, &server).arg("--continue").env("STEERSMAN_TEST_FAULT", fault).run();
    second.wait_for("The first answer.");
    second.type_text("secret words");
    second.send("\r");
    assert_eq!(second.wait_exit(PATIENCE).exit_code(), 101);
    assert!(!second.look(vt100::Screen::alternate_screen));
    let id = sessions(&first).list().unwrap()[0].session.clone();
    assert!(second.screen().contains(&format!("To resume: steersman --resume {id}")), "{}", second.screen());
    let note = first.home().join(".local/state/steersman/crash.txt");
    let text = std::fs::read_to_string(&note).unwrap();
    assert!(text.contains(id.as_str()) && text.contains("crashed at") && !text.contains("secret"), "{text}");
    assert_eq!(std::fs::metadata(&note).unwrap().permissions().mode() & 0o777, 0o600);
    let third = beside(&first, &server).arg("--continue").run();
    third.wait_for("The first answer.");
}

#[test]
fn a_saved_session_is_replayed_with_a_timeline_and_a_running_one_while_it_goes_on() {
    let server = Server::start([]);
    let mut terminal = answered(&server);
    server.reply_text("The second answer.");
    terminal.type_text("a draft");
    terminal.send("\x03/replay\r");
    terminal.wait_for(" replay ");
    terminal.wait_for("The first answer.");
    terminal.send("\x1b[1;5D");
    terminal.wait_gone("The first answer.");
    terminal.send("x");
    terminal.wait_for("this is a replay");
    terminal.send(keys::ESC);
    terminal.wait_gone(" replay ");
    terminal.wait_for("The first answer.");
    terminal.send("and the lexer\r");
    terminal.wait_for("The second answer.");
    terminal.wait_for("· idle");
    assert_eq!(server.chats().len(), 2, "nothing reached the server from the replay");
    terminal.signal(Signal::TERM);
    terminal.wait_exit(PATIENCE);

    let file = &sessions(&terminal).list().unwrap()[0];
    let session = file.header().unwrap().session.to_string();
    let mut replay = beside(&terminal, &server).arg("replay").arg(&session).run();
    replay.wait_for("The second answer.");
    replay.send("\x1b[1;5D");
    replay.wait_gone("The second answer.");
    replay.send(keys::HOME);
    replay.wait_gone("The first answer.");
    replay.send(" ");
    replay.wait_for("▶ 1x");
    replay.send("++++++");
    replay.wait_for("The second answer.");
    replay.send("q");
    assert_eq!(replay.wait_exit(PATIENCE).exit_code(), 0);

    let asked = file.read().unwrap().records.into_iter().find_map(|record| match record {
        Record::Event(envelope) if matches!(envelope.event, Event::UserTurn { .. }) => Some(envelope.seq),
        _ => None,
    });
    let asked = asked.unwrap().to_string();
    let mut there =
        beside(&terminal, &server).arg("replay").arg(&session).arg("--at").arg(&asked).arg("--find=Parser").run();
    there.wait_for(&format!("event {asked} of"));
    there.wait_for("parser: 1 of 1");
    there.send("q");
    assert_eq!(there.wait_exit(PATIENCE).exit_code(), 0);
    assert_eq!(server.chats().len(), 2);
}
