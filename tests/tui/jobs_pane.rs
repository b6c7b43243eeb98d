//! The list of the commands in the background: `/jobs`, the key that sends one there, and the user's shell lines on the screen.

use steersman_base::details::CommandEnd;
use steersman_base::event::{Event, JobEnd, JobEnding, JobOwner, JobStart, Outcome};
use steersman_base::message::Arguments;
use steersman_base::protocol::{Reply, Request, ShellOutput, Update};
use steersman_tui::jobs::JobsPane;
use steersman_tui::msg::{Effect, Msg};

use crate::support::stage::Stage;

fn starts(stage: &mut Stage, agent: &str, id: &str, command: &str, owner: JobOwner) {
    let start = JobStart { id: id.into(), command: command.to_owned(), owner, call: None, elapsed_ms: None };
    stage.event(agent, Event::JobStarted(start));
}

fn prints(stage: &mut Stage, id: &str, text: &str) {
    stage.event("", Event::JobOutput { id: id.into(), text: text.to_owned() });
}

fn ends(stage: &mut Stage, id: &str, code: i32, output: &str) {
    let end = CommandEnd { code: Some(code), ..CommandEnd::default() };
    let end = JobEnd {
        ending: JobEnding::Itself,
        message: None,
        end,
        output: output.to_owned(),
        elapsed_ms: 65_000,
        ..JobEnd::interrupted(id.into(), "")
    };
    stage.event("", Event::JobEnded(Box::new(end)));
}

/// A server that runs, a build that has failed, and a line of the user's own.
fn three(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.turn("");
    starts(&mut stage, "", "j1", "npm run dev", JobOwner::Agent);
    prints(&mut stage, "j1", "> vite\nready in 312 ms\n\x1b[32mLocal\x1b[0m: http://localhost:5173/\n");
    starts(&mut stage, "", "j2", "cargo build --release", JobOwner::Agent);
    prints(&mut stage, "j2", "error[E0425]: cannot find value `x`\n");
    ends(&mut stage, "j2", 101, "error[E0425]: cannot find value `x`\n");
    starts(&mut stage, "", "j3", "git log --oneline", JobOwner::User);
    prints(&mut stage, "j3", "1a2b3c4d Faster parser\n5e6f7a8b Release\n");
    stage.turn_ended("", Outcome::Completed, None);
    stage.wait(5_000);
    stage
}

#[test]
fn every_job_stands_there_with_its_state_its_time_and_its_last_line() {
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        let mut stage = three(width, height);
        stage.keys("/jobs<enter>");
        insta::assert_snapshot!(format!("jobs_{width}x{height}"), stage.picture());
    }
}

#[test]
fn a_command_that_was_sent_to_the_background_has_run_since_its_call_began() {
    let mut stage = Stage::new(100, 24);
    let (id, command, owner) = ("j1".into(), "make".to_owned(), JobOwner::Agent);
    stage.event("", Event::JobStarted(JobStart { id, command, owner, call: None, elapsed_ms: Some(60_000) }));
    let screen = stage.wait(5_000).keys("/jobs<enter>").screen();
    assert!(screen.contains("1 min 5 s") || screen.contains("1:05") || screen.contains("65.0 s"), "{screen}");
}

#[test]
fn quitting_asks_while_commands_run_in_the_background_and_no_longer_when_they_have_ended() {
    let mut stage = Stage::new(100, 24);
    starts(&mut stage, "", "j1", "npm run dev", JobOwner::Agent);
    stage.keys("<c-d>");
    assert!(!stage.effects.contains(&Effect::Quit));
    assert!(stage.screen().contains("1 command runs in the background. Quitting ends it."), "{}", stage.screen());
    starts(&mut stage, "", "j2", "npm run dev", JobOwner::Agent);
    ends(&mut stage, "j1", 0, "");
    assert!(stage.screen().contains("Quit?"), "the other still runs");
    ends(&mut stage, "j2", 0, "");
    assert!(!stage.screen().contains("Quit?"), "nothing would be lost any more");
    stage.keys("<c-d>");
    assert!(stage.effects.contains(&Effect::Quit));
}

#[test]
fn enter_shows_the_output_alone_while_it_comes_and_it_can_be_scrolled() {
    let mut stage = three(80, 24);
    let lines: String = (0..100).map(|number| format!("line {number}\n")).collect();
    prints(&mut stage, "j1", &lines);
    stage.keys("<a-j><down><down><enter>");
    let screen = stage.screen();
    assert!(
        screen.contains("j1: npm run dev") && screen.contains("line 99") && !screen.contains("line 50"),
        "{screen}"
    );
    prints(&mut stage, "j1", "line 100\n");
    assert!(stage.screen().contains("line 100"), "it follows the end");
    let screen = stage.keys("<pgup><pgup>").screen();
    assert!(!screen.contains("line 100") && screen.contains("line 7"), "{screen}");
    stage.keys("<home>");
    assert!(stage.screen().contains("ready in 312 ms"), "{}", stage.screen());
    stage.keys("<end>");
    assert!(stage.screen().contains("line 100"), "{}", stage.screen());
    let screen = stage.keys("<esc>").screen();
    assert!(screen.contains("3 background commands, 2 running"), "{screen}");
    stage.keys("<esc>");
    assert!(!stage.app.focus.overlays.is_on::<JobsPane>());
}

#[test]
fn a_job_is_stopped_after_a_question_and_one_that_has_ended_is_not() {
    let mut stage = three(80, 24);
    stage.keys("<a-j>");
    assert!(stage.screen().contains("x stops it"), "{}", stage.screen());
    stage.keys("<down>");
    assert!(!stage.screen().contains("x stops it"), "nothing runs there: {}", stage.screen());
    stage.keys("x");
    assert!(stage.screen().contains("it has ended already"), "{}", stage.screen());
    stage.keys("<down>x");
    assert!(stage.screen().contains("Stop j1?") && stage.screen().contains("npm run dev"), "{}", stage.screen());
    stage.wait(350).keys("<a-n>");
    let stop = Effect::Request(Request::StopJob { job: "j1".into() });
    assert!(!stage.effects.contains(&stop));
    stage.keys("/jobs stop j1<enter>");
    assert!(stage.screen().contains("Stop j1?"), "{}", stage.screen());
    stage.wait(350).keys("<a-y>");
    assert!(stage.effects.contains(&stop));
}

#[test]
fn a_key_sends_the_command_that_the_agent_waits_for_to_the_background() {
    let mut stage = Stage::new(80, 24);
    stage.keys("<a-q>");
    assert!(stage.screen().contains("the shown agent waits for no command"), "{}", stage.screen());
    stage.turn("");
    let arguments = Arguments::parse(r#"{"command":"cargo test"}"#);
    stage.event("", Event::ToolCall { id: "c7".into(), name: "bash".to_owned(), arguments });
    stage.keys("<a-q>");
    let asked = Request::ToBackground { agent: "".into(), call: "c7".into() };
    assert!(stage.effects.contains(&Effect::Request(asked)));
    stage.result("", "c7", "[the user sent this command to the background]\n").keys("<a-q>");
    assert!(stage.screen().contains("the shown agent waits for no command"), "{}", stage.screen());
}

#[test]
fn ctrl_b_sends_a_running_command_to_the_background_and_else_moves_the_cursor() {
    let mut stage = Stage::new(80, 24);
    let call = Event::ToolCall {
        id: "c7".into(),
        name: "bash".to_owned(),
        arguments: Arguments::parse(r#"{"command":"cargo test"}"#),
    };
    stage.turn("").keys("ac<c-b>b");
    assert_eq!(stage.app.message.text(), "abc");
    stage.event("", call).keys("<c-b>");
    let asked = Effect::Request(Request::ToBackground { agent: "".into(), call: "c7".into() });
    assert_eq!(stage.effects.iter().filter(|effect| **effect == asked).count(), 1);
    stage.keys("X");
    assert_eq!(stage.app.message.text(), "abXc", "the cursor stayed");
    stage.keys("<f3><c-b>");
    assert_eq!(stage.effects.iter().filter(|effect| **effect == asked).count(), 2, "outside the message too");
    stage.result("", "c7", "[the user sent this command to the background]\n").keys("<enter><c-b>Y");
    assert_eq!(stage.app.message.text(), "abYXc");
}

#[test]
fn a_shell_line_is_run_by_enter_alone_and_never_by_a_paste_a_recall_or_a_folded_text() {
    let mut stage = Stage::new(80, 24);
    let ran = |stage: &Stage| {
        let lines = stage.effects.iter().filter_map(|effect| match effect {
            Effect::Request(Request::RunLine { line, output, .. }) => Some((line.clone(), *output)),
            _ => None,
        });
        lines.collect::<Vec<_>>()
    };
    stage.paste("!rm -rf build");
    assert_eq!(ran(&stage), []);
    stage.keys("<enter>");
    assert_eq!(ran(&stage), [("rm -rf build".to_owned(), ShellOutput::Deliver)]);
    stage.keys("<up>");
    assert_eq!(ran(&stage).len(), 1);
    stage.keys("<c-c>").keys("!!git log<enter>");
    assert_eq!(ran(&stage)[1], ("git log".to_owned(), ShellOutput::Show));
    stage.keys("!").paste(&"echo folded\n".repeat(50)).keys("<enter>");
    assert_eq!(ran(&stage).len(), 2);
    assert!(stage.screen().contains("not run: a part of it is folded"), "{}", stage.screen());
    stage.keys("<c-c>");
    for text in ["! <enter>", " !not<enter>", "wow!<enter>"] {
        stage.keys(text);
        assert_eq!(ran(&stage).len(), 2, "{text} is a text: {:?}", ran(&stage));
    }
    assert!(stage.handle.peek().iter().any(|(_, entries)| entries.iter().any(|entry| entry.text == " !not")));
}

#[test]
fn a_shell_line_is_shown_as_the_users_own_with_its_output_while_it_comes() {
    let mut stage = three(80, 24);
    insta::assert_snapshot!("shell_line_running", stage.picture());
    ends(&mut stage, "j3", 1, "1a2b3c4d Faster parser\nfatal: no\n");
    insta::assert_snapshot!("shell_line_ended", stage.picture());
}

#[test]
fn esc_stops_the_shell_line_before_it_stops_the_agent() {
    let mut stage = three(80, 24);
    stage.turn("").keys("<esc>").wait(400);
    assert!(stage.screen().contains("Esc: stops your command j3"), "{}", stage.screen());
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::StopJob { job: "j3".into() })));
    assert!(!stage.effects.contains(&Effect::Request(Request::Stop)));
    ends(&mut stage, "j3", 130, "");
    stage.keys("<esc>");
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::Stop)));
}

#[test]
fn a_line_that_could_not_be_run_is_said_with_its_words() {
    let mut stage = Stage::new(80, 24);
    let outcome = Err("the session has not started yet".to_owned());
    stage.tell(Msg::Update(Update::Reply(Reply::ShellLine { line: "ls\u{202e}".to_owned(), outcome })));
    assert!(stage.screen().contains("not run: the session has not started yet: !ls<U+202E>"), "{}", stage.screen());
}

#[test]
fn without_a_job_it_says_what_it_is_for_and_in_lines_every_job_is_told() {
    let mut stage = Stage::new(80, 24);
    stage.keys("/jobs<enter>");
    assert!(stage.screen().contains("There are no background commands."), "{}", stage.screen());
    assert!(!stage.screen().contains("x stops it") && stage.screen().contains("Esc closes"), "{}", stage.screen());
    let mut stage = Stage::in_lines();
    starts(&mut stage, "", "j1", "npm run dev", JobOwner::Agent);
    prints(&mut stage, "j1", "one\nready\n");
    stage.written();
    stage.line("/jobs");
    assert!(stage.written().contains("j1: npm run dev: running"), "a row");
    stage.line("/jobs j1");
    let written = stage.written();
    assert!(written.contains("one") && written.contains("ready"), "{written}");
    stage.line("/jobs stop j1");
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::StopJob { job: "j1".into() })));
    starts(&mut stage, "", "j2", "git log", JobOwner::User);
    prints(&mut stage, "j2", "1a2b3c4d Faster parser\n");
    ends(&mut stage, "j2", 1, "1a2b3c4d Faster parser\n");
    let written = stage.written();
    assert!(written.contains("your command: git log") && written.contains("exit code 1"), "{written}");
    stage.line("!make");
    let line = Request::RunLine { to: "".into(), line: "make".to_owned(), output: ShellOutput::Deliver };
    assert_eq!(stage.effects.last(), Some(&Effect::Request(line)));
}
