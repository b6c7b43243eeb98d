//! The line output of the real program: on a terminal, on a very plain one, and over a pipe.

use std::time::Duration;

use super::steering::{main_chats, one_child_behind};
use crate::support::program::Program;
use crate::support::server::{Gate, Reply, Server};
use crate::support::terminal::{Start, Terminal, keys};

/// What the line editor asks a terminal for, and takes back.
const PASTES: [&str; 2] = ["\u{1b}[?2004h", "\u{1b}[?2004l"];

fn start(server: &Server) -> Terminal {
    let terminal = Start::against(server).waits_for_agents().arg("--screen-reader").spawn();
    terminal.wait_for("/help reads the commands");
    terminal
}

/// Types a line as a person does: it is on the terminal before Enter follows.
fn say(terminal: &mut Terminal, line: &str) {
    terminal.type_text(line);
    terminal.send(keys::ENTER);
}

fn written(terminal: &Terminal) -> String {
    String::from_utf8(terminal.raw()).unwrap()
}

/// Ends the program, and checks every byte that it wrote: lines that were only ever added.
fn leave(mut terminal: Terminal) -> String {
    // While a turn runs it would be asked about.
    terminal.wait_for("turn ended: ");
    terminal.send(keys::CTRL_D);
    assert_eq!(terminal.wait_exit(Duration::from_secs(30)).exit_code(), 0);
    let written = written(&terminal);
    let mut plain = written.clone();
    for sequence in PASTES {
        assert_eq!(written.matches(sequence).count(), 1, "{written:?}");
        plain = plain.replace(sequence, "");
    }
    let odd = plain.chars().find(|c| c.is_control() && !['\r', '\n', '\u{8}', '\u{7}'].contains(c));
    assert_eq!(odd, None, "{plain:?}");
    plain
}

#[test]
fn a_text_is_steered_into_a_running_turn_after_it_was_edited_by_its_number() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = start(&server);
    say(&mut terminal, "start");
    gate.wait_reached();
    terminal.wait_for("agent file_miner 0: started: look");
    say(&mut terminal, "look at the texts");
    terminal.wait_for("pending 2: look at the texts (goes in after agent");
    say(&mut terminal, "/edit 2");
    // The text is in the line now, and the end of it is changed there.
    terminal.wait_until("the text to be in the line", |screen| screen.trim_end().ends_with("look at the texts"));
    terminal.send("\u{17}tests\r");
    terminal.wait_for("pending 2: look at the tests");
    gate.open();
    terminal.wait_for("you, delivered after agent at step 1: look at the tests");
    terminal.wait_for("answer: the main agent is done");
    terminal.wait_for("turn ended: 1 tool call");
    assert_eq!(main_chats(&server)[1].texts("user"), ["start", "look at the tests"]);
    leave(terminal);
}

#[test]
fn nothing_is_written_into_a_line_that_is_being_typed() {
    let gate = Gate::new();
    let server = Server::start([]);
    server.reply(Reply::calls(&[("c1", "bash", r#"{"command":"touch made"}"#)]).gated(&gate));
    server.reply_text("one answer");
    let mut terminal = start(&server);
    say(&mut terminal, "one");
    gate.wait_reached();
    terminal.type_text("half a li");
    let before = terminal.written();
    gate.open();
    // A question is there: the bell says so, and nothing else.
    terminal.wait_written(before, b"\x07");
    let screen = terminal.wait_typed("half a li");
    assert!(!screen.contains("question 1") && !screen.contains("touch made"), "{screen}");
    terminal.send("ne\r");
    terminal.wait_for("answers: /yes yes");
    terminal.wait_for("pending 2: half a line");
    say(&mut terminal, "/yes 1");
    terminal.wait_for("you, delivered after bash at step 1: half a line");
    terminal.wait_for("answer: one answer");
    let plain = leave(terminal);
    assert!(plain.contains("\r\nhalf a li\u{7}ne\r\n"), "{plain:?}");
}

#[test]
fn a_question_is_answered_by_its_command_and_by_nothing_else() {
    let server = Server::start([]);
    server.reply(Reply::calls(&[("c1", "bash", r#"{"command":"touch made"}"#)]));
    server.reply_text("it is made");
    let mut terminal = start(&server);
    say(&mut terminal, "make it");
    terminal.wait_for("answers: /yes yes");
    assert!(written(&terminal).contains("question 1: main asks: Run this command?"));
    // A lone answer is none before its question was there for a moment, and never a message.
    say(&mut terminal, "yes");
    terminal.wait_for("the question was not answered, as you may still have typed: answer again");
    assert!(!terminal.home().join("work/made").exists());
    // It is still in the line, as nothing typed is lost.
    terminal.send("\u{15}");
    say(&mut terminal, "/yes 1");
    terminal.wait_for("answered: approved once");
    terminal.wait_for("answer: it is made");
    assert!(terminal.home().join("work/made").exists());
    leave(terminal);
}

#[test]
fn ctrl_c_stops_the_turn_gives_the_texts_back_and_a_second_one_quits() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = start(&server);
    say(&mut terminal, "start");
    gate.wait_reached();
    say(&mut terminal, "never lost");
    terminal.wait_for("pending 2: never lost");
    terminal.send(keys::CTRL_C);
    terminal.wait_for("yours again: never lost");
    terminal.wait_for("cancelled");
    say(&mut terminal, "/back");
    terminal.wait_until("the text to be in the line", |screen| screen.trim_end().ends_with("\nnever lost"));
    terminal.send(keys::CTRL_C);
    terminal.wait_for("/back brings it back");
    terminal.send("\u{3}\u{3}");
    assert_eq!(terminal.wait_exit(Duration::from_secs(30)).exit_code(), 0);
}

#[test]
fn a_paste_of_many_lines_is_one_message_and_never_sent_by_itself() {
    let server = Server::start([Reply::text("thanks")]);
    let mut terminal = start(&server);
    terminal.send("\u{1b}[200~pasted one\rpasted two\r\u{1b}[201~");
    terminal.wait_for("pasted one⏎pasted two");
    assert!(server.chats().is_empty());
    terminal.send(keys::ENTER);
    terminal.wait_for("answer: thanks");
    assert_eq!(server.chats()[0].texts("user"), ["pasted one\npasted two\n"]);
    leave(terminal);
}

#[test]
fn a_terminal_that_edits_lines_by_itself_gets_no_escape_byte_at_all() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).waits_for_agents().arg("--screen-reader").env("TERM", "dumb").spawn();
    terminal.wait_for("/help reads the commands");
    terminal.send("start\n");
    gate.wait_reached();
    terminal.send("and the tests\n");
    terminal.wait_for("pending 2: and the tests");
    terminal.send("/edit 2 and the examples\n");
    terminal.wait_for("pending 2: and the examples");
    gate.open();
    terminal.wait_for("answer: the main agent is done");
    terminal.wait_for("turn ended: ");
    terminal.send(keys::CTRL_D);
    assert_eq!(terminal.wait_exit(Duration::from_secs(30)).exit_code(), 0);
    assert!(!terminal.raw().contains(&0x1b), "{}", written(&terminal));
    assert_eq!(main_chats(&server)[1].texts("user"), ["start", "and the examples"]);
}

#[test]
fn over_a_pipe_lines_are_messages_and_the_end_of_input_finishes_the_turn() {
    let server = Server::start([Reply::text("the first answer"), Reply::text("the second answer")]);
    let mut running =
        Program::new().args(["--screen-reader", "--base-url", &server.url(), "--model", "scripted"]).piped().run();
    running.write("one\n");
    running.wait_for_line(|line| line == "answer: the first answer");
    running.write("/paste\ntwo\nlines\n.\n");
    running.close_stdin();
    let end = running.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(end.stdout.contains("answer: the second answer\nturn ended: "), "{}", end.stdout);
    assert!(!end.stdout.contains(|c: char| c.is_control() && c != '\n'), "{:?}", end.stdout);
    assert_eq!(server.chats()[1].texts("user"), ["one", "two\nlines"]);
}

#[test]
fn over_a_pipe_a_line_that_ends_with_a_backslash_goes_on_in_the_next() {
    let server = Server::start(["first", "second", "third"].map(Reply::text));
    let mut running =
        Program::new().args(["--screen-reader", "--base-url", &server.url(), "--model", "scripted"]).piped().run();
    running.write("one \\\nand \\\ntwo\n");
    running.wait_for_line(|line| line == "answer: first");
    running.write("/paste\nkept \\\nas it is\n.\n");
    running.wait_for_line(|line| line == "answer: second");
    running.write("the end \\\n");
    running.close_stdin();
    let end = running.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert_eq!(server.chats()[2].texts("user"), ["one \nand \ntwo", "kept \\\nas it is", "the end "]);
}

#[test]
fn when_nobody_is_left_to_answer_a_question_is_declined_and_the_turn_goes_on() {
    let server = Server::start([]);
    server.reply(Reply::calls(&[("c1", "bash", r#"{"command":"touch made"}"#)]));
    server.reply_text("then not");
    let program =
        Program::new().args(["--screen-reader", "--base-url", &server.url(), "--model", "scripted", "make it"]);
    let made = program.work().join("made");
    let (output, _home) = program.output_with_home();
    let stdout = crate::support::program::stdout(&output);
    assert!(stdout.contains("answer: then not"), "{stdout}");
    assert!(!made.exists());
}

#[test]
fn a_suspension_that_nobody_would_end_is_none_and_the_line_is_still_there() {
    let server = Server::start([Reply::text("thanks")]);
    let mut terminal = start(&server);
    terminal.send("half a line");
    terminal.wait_for("half a line");
    terminal.send("\u{1a}");
    terminal.wait_until("the line below the sentence", |screen| {
        let behind = screen.split("not suspended").nth(1).unwrap_or_default();
        behind.trim_end().ends_with("half a line")
    });
    terminal.send(" and its end\r");
    terminal.wait_for("answer: thanks");
    assert_eq!(server.chats()[0].texts("user"), ["half a line and its end"]);
}

#[test]
fn the_configuration_asks_for_lines_too() {
    let program = Program::new().config("provider = \"demo\"\n[screen]\nscreen_reader = true\n").args(["say hello"]);
    let output = program.output();
    assert!(crate::support::program::stdout(&output).starts_with("steersman: line output: "));
    assert_eq!(crate::support::program::exit_code(&output), 0);
}

#[test]
fn what_was_sent_goes_into_the_history_and_an_export_has_local_times() {
    let server = Server::start([Reply::text("the answer")]);
    let arguments = ["--screen-reader", "--base-url", &server.url(), "--model", "scripted"];
    let mut running = Program::new().args(arguments).env("TZ", "JST-9").piped().run();
    running.write("remember me\n");
    running.wait_for_line(|line| line == "answer: the answer");
    running.write("/export out.md\n");
    running.wait_for_line(|line| line.contains("transcript written to"));
    running.close_stdin();
    let (end, home) = running.end_with_home();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    let history = std::fs::read_to_string(home.path().join(".local/state/steersman/history.jsonl")).unwrap();
    assert!(history.contains("remember me"), "{history}");
    let page = std::fs::read_to_string(home.path().join("work/out.md")).unwrap();
    assert!(page.lines().any(|line| line.starts_with("From ") && line.ends_with("+09:00.")), "{page}");
}

#[test]
fn what_was_said_before_a_question_is_written_before_it_and_a_declined_call_says_so() {
    let server = Server::start([]);
    server.reply(Reply::calls(&[("c1", "bash", r#"{"command":"touch made"}"#)]).saying("First I make it."));
    server.reply_text("then not");
    let mut terminal = start(&server);
    say(&mut terminal, "make it");
    terminal.wait_for("question 1");
    let screen = terminal.screen();
    let place = |text: &str| screen.find(text).unwrap_or_else(|| panic!("{text}:\n{screen}"));
    assert!(place("answer: First I make it.") < place("question 1"), "{screen}");
    terminal.wait_for("answers: ");
    say(&mut terminal, "/no 1");
    terminal.wait_for("tool bash: touch made, declined");
}
