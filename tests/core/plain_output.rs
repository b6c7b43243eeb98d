//! Stories of the Terminal listener: the answer unchanged, everything else as marked lines.

use std::sync::Arc;

use crate::listeners::{
    Broken, Sink, assistant, call, delta, ended, play, result, round, spawned, terminal, thinking_delta, user,
};
use steersman_base::details::{CommandEnd, Details};
use steersman_base::event::{Event, Outcome, Usage};
use steersman_core::listener::{JsonLines, Listener, ListenerList, Terminal, TokenLog};

#[test]
fn a_turn_is_the_answer_and_notes() {
    let (list, sink) = terminal();
    play(
        &list,
        [
            Event::TurnStarted { turn: 1 },
            user("look at this project", false),
            round(),
            Event::Thinking { text: "\nFirst the files.\nThen the rest.".into() },
            assistant("I look."),
            Event::Tokens(Usage::default()),
            call("c1", "glob", r#"{"pattern":"**/*"}"#),
            call("c2", "grep", r#"{"pattern":"fn main","path":"src"}"#),
            result("c2", "Error: no such directory\nTry another.", 3),
            result("c1", "a.rs\nb.rs\n", 1_250),
            user("only the tests", true),
            Event::RoundEnded { turn: 1, round: 1 },
            round(),
            assistant("# Report\n\nTwo files.\n"),
            Event::RoundEnded { turn: 1, round: 2 },
            ended(Outcome::Completed, None),
        ],
    );
    assert_eq!(
        sink.flushed(),
        "\
· user: look at this project
· thinking: First the files.…
I look.
· glob **/*
· grep fn main in src
· grep fn main in src → Error: no such directory… (3 ms)
· glob **/* → 2 lines, 10 B (1.3 s)
· user, while it worked: only the tests
# Report

Two files.
"
    );
}

#[test]
fn a_command_says_that_it_failed_how_much_it_printed_and_how_long_it_took_itself() {
    let (list, sink) = terminal();
    let question = |id: &str, call: &str| Event::Question {
        id: id.into(),
        question: "run it?".into(),
        detail: None,
        call: Some(call.into()),
        offer: None,
        rule: None,
    };
    let end = CommandEnd {
        code: Some(2),
        signal: None,
        timed_out: false,
        bytes: 2_048,
        lines: Some(900),
        lines_left_out: 890,
        killed: 0,
        saved: None,
        ..CommandEnd::default()
    };
    play(
        &list,
        [
            call("c1", "bash", r#"{"command":"make"}"#),
            question("q", "c1"),
            Event::Answer { id: "q".into(), answer: "yes".into(), words: None },
            Event::ToolDetails { id: "c1".into(), details: Details::Command(end) },
            result("c1", "out", 1_250),
        ],
    );
    let written = sink.flushed();
    let line = written.lines().last().unwrap();
    assert!(line.starts_with("· bash $ make → failed, exit 2, 900 lines, 2.0 KiB, the model got 10 ("), "{written}");
}

#[test]
fn pieces_are_shown_as_they_come_and_the_whole_text_is_not_shown_again() {
    let (list, sink) = terminal();
    play(&list, [round(), delta("Hello, "), delta("wor")]);
    assert_eq!(sink.flushed(), "Hello, wo", "only the last character waits");
    play(&list, [delta("ld.\nBye"), assistant("Hello, world.\nBye"), ended(Outcome::Completed, None)]);
    assert_eq!(sink.flushed(), "Hello, world.\nBye\n");
}

#[test]
fn a_whole_text_that_goes_further_than_its_pieces_is_completed() {
    let (list, sink) = terminal();
    play(&list, [round(), delta("Hello, "), assistant("Hello, world.\n")]);
    assert_eq!(sink.flushed(), "Hello, world.\n");
}

#[test]
fn a_whole_text_that_differs_from_its_pieces_is_shown_whole_and_marked() {
    let (list, sink) = terminal();
    play(&list, [round(), delta("Hello, wor"), assistant("Goodbye.")]);
    assert_eq!(sink.flushed(), "Hello, wo\n· the text above was a preview; this replaces it:\nGoodbye.\n");
}

#[test]
fn white_space_that_the_server_trims_does_not_count_as_a_difference() {
    let (list, sink) = terminal();
    play(&list, [round(), delta("\nHello. \n"), assistant("Hello.")]);
    assert_eq!(sink.flushed(), "\nHello. \n");
}

#[test]
fn thinking_is_one_short_line_before_the_text_it_led_to() {
    let (list, sink) = terminal();
    let pieces = ["Let me ", "see.\nThere ", "are files."].map(thinking_delta);
    play(&list, [round()].into_iter().chain(pieces));
    assert_eq!(sink.flushed(), "");
    play(&list, [delta("Yes."), Event::Thinking { text: "Let me see.\nThere are files.".into() }, assistant("Yes.")]);
    assert_eq!(sink.flushed(), "· thinking: Let me see.…\nYes.\n");
    // The next reply thinks again.
    play(&list, [round(), thinking_delta("Hm."), Event::Thinking { text: "Hm.".into() }, call("c1", "read", "{}")]);
    assert_eq!(sink.flushed(), "· thinking: Let me see.…\nYes.\n· thinking: Hm.\n· read\n");
}

#[test]
fn of_an_answer_in_whose_middle_it_began_it_shows_the_rest_and_no_more() {
    let (list, sink) = terminal();
    let text = "one two three";
    play(&list, [delta("two "), delta("three"), assistant(text), Event::RoundEnded { turn: 1, round: 1 }]);
    assert_eq!(sink.flushed(), "two three\n");
    // From a round's beginning on, what differs replaces what was shown.
    play(&list, [round(), delta("two three"), assistant(text)]);
    assert_eq!(
        sink.flushed(),
        "two three\ntwo thre\n· the text above was a preview; this replaces it:\none two three\n"
    );
}

#[test]
fn where_the_answer_goes_alone_a_part_of_one_is_a_note() {
    let (answer, notes) = (Sink::default(), Sink::default());
    let list = ListenerList::new(&[Arc::new(Terminal::apart(answer.clone(), notes.clone())) as Arc<dyn Listener>]);
    let cut = Event::Assistant { text: "I was".into(), interrupted: true };
    play(&list, [round(), delta("I was"), cut, Event::Cancelled {}, ended(Outcome::Cancelled, None)]);
    assert_eq!(
        (answer.flushed(), notes.flushed()),
        (String::new(), "· interrupted: I was\n· the turn was cancelled\n".to_owned())
    );
}

#[test]
fn an_interrupted_text_is_marked_and_the_turn_says_how_it_ended() {
    let (list, sink) = terminal();
    let cut = Event::Assistant { text: "I was".into(), interrupted: true };
    play(&list, [round(), delta("I was"), cut, Event::Cancelled {}, ended(Outcome::Cancelled, None)]);
    assert_eq!(sink.flushed(), "I was\n· interrupted\n· the turn was cancelled\n");
}

#[test]
fn pieces_without_a_whole_text_end_with_their_line() {
    let (list, sink) = terminal();
    play(&list, [round(), delta("Hel"), ended(Outcome::Failed, Some("the server\nclosed the connection"))]);
    assert_eq!(sink.flushed(), "Hel\n· the turn failed: the server…\n");
}

#[test]
fn what_happens_around_the_turns_is_told_on_lines_of_their_own() {
    let (list, sink) = terminal();
    play(
        &list,
        [
            Event::SessionStarted {
                schema: 1,
                program: "steersman 0.1.0".into(),
                cwd: "/work".into(),
                provider: "openai".into(),
                model: Some("qwen3".into()),
                max_steps: Some(60),
                tools: vec![],
            },
            Event::Retrying { attempt: 2, after_ms: 500, reason: "503 overloaded".into() },
            Event::FallbackNotice { reason: "agent exhausted 3 steps".into() },
            Event::Question {
                id: "q".into(),
                question: "overwrite a.rs?".into(),
                detail: None,
                call: None,
                offer: None,
                rule: None,
            },
            Event::Answer { id: "q".into(), answer: "no".into(), words: None },
            Event::ModelSwitched { from: None, to: Some("big".into()), provider: None },
            Event::Compacted { before: Some(30_000), after: None, messages: 0, summary: String::new() },
            Event::Reset {},
            ended(Outcome::Synthesized, None),
        ],
    );
    assert_eq!(
        sink.flushed(),
        "\
· steersman 0.1.0, openai, qwen3, in /work
· attempt 2 in 500 ms: 503 overloaded
· agent exhausted 3 steps
· question: overwrite a.rs?
· answer: no
· model: unknown -> big
· compacted: 30.0k → ? tokens, long results shortened
· history cleared: the model starts afresh
· the turn ended with an answer from what was found
"
    );
}

#[test]
fn sub_agents_are_indented_labelled_and_never_the_answer() {
    let (list, sink) = terminal();
    list.emit(spawned("file_miner 0", Some("c1")));
    let child = list.for_sub_agent(&"file_miner 0".into());
    play(
        &child,
        [
            Event::TurnStarted { turn: 1 },
            user("look into src\nand count", false),
            round(),
            delta("Four"),
            assistant("Four files.\nNo more."),
            call("c1", "read", r#"{"path":"a.rs"}"#),
            result("c1", "x", 0),
        ],
    );
    child.emit(spawned("file_miner 0_synthesizer", None));
    let rescue = child.for_sub_agent(&"file_miner 0_synthesizer".into());
    play(&rescue, [delta("Fo"), assistant("Four.")]);
    play(&child, [ended(Outcome::Synthesized, None)]);
    let failed = Some("the model is gone".to_owned());
    list.emit(Event::AgentFinished { child: "file_miner 0".into(), outcome: Outcome::Failed, message: failed });
    assert_eq!(
        sink.flushed(),
        "\
· file_miner 0 starts: look into src…
·   [file_miner 0] says: Four files.…
·   [file_miner 0] read a.rs
·   [file_miner 0] read a.rs → 1 line, 1 B (0 ms)
·   [file_miner 0] file_miner 0_synthesizer starts: look into src…
·     [file_miner 0_synthesizer] says: Four.
· file_miner 0 failed: the model is gone
"
    );
}

#[test]
fn the_task_of_a_sub_agent_is_told_once() {
    let (list, sink) = terminal();
    list.emit(call("c1", "agent", r#"{"name":"file_miner","task":"look into src"}"#));
    list.emit(spawned("file_miner 0", Some("c1")));
    let text = sink.flushed();
    assert_eq!(text.matches("look into src").count(), 1, "{text}");
    assert!(text.ends_with("· file_miner 0 starts\n"), "{text}");
}

#[test]
fn calls_of_sub_agents_that_run_at_the_same_time_keep_their_own_names() {
    let (list, sink) = terminal();
    let [one, two] = ["a 0", "a 1"].map(|id| list.for_sub_agent(&id.into()));
    one.emit(call("c1", "read", r#"{"path":"one"}"#));
    two.emit(call("c1", "read", r#"{"path":"two"}"#));
    two.emit(result("c1", "2", 0));
    one.emit(result("c1", "1", 0));
    let text = sink.flushed();
    assert!(
        text.ends_with("·   [a 1] read two → 1 line, 1 B (0 ms)\n·   [a 0] read one → 1 line, 1 B (0 ms)\n"),
        "{text}"
    );
}

#[test]
fn the_rescue_of_the_main_agent_writes_the_answer() {
    let (list, sink) = terminal();
    list.emit(spawned("synthesizer", None));
    let rescue = list.for_sub_agent(&"synthesizer".into());
    play(&rescue, [user("Question: …", false), round(), delta("It is "), delta("so."), assistant("It is so.")]);
    assert_eq!(sink.flushed(), "· synthesizer starts: look into src…\nIt is so.\n");
}

#[test]
fn a_note_never_stands_on_the_line_of_a_text() {
    let (list, sink) = terminal();
    play(&list, [round(), delta("Let me look. ")]);
    list.for_sub_agent(&"a 0".into()).emit(call("c1", "read", "{}"));
    assert_eq!(sink.flushed(), "Let me look.\n·   [a 0] read\n");
}

#[test]
fn hostile_text_is_shown_and_not_obeyed() {
    let (list, sink) = terminal();
    let evil = "a\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}b\rc";
    play(
        &list,
        [
            user(evil, true),
            round(),
            Event::Thinking { text: evil.into() },
            delta(evil),
            assistant(evil),
            assistant(evil),
            call(evil, evil, &serde_json::json!({ evil: evil, "b": [evil] }).to_string()),
            call("raw", "read", evil),
            result(evil, &format!("Error: {evil}"), 0),
            result("raw", evil, 0),
            result(evil, evil, 0),
            spawned(evil, Some("c")),
            Event::AgentFinished { child: evil.into(), outcome: Outcome::Failed, message: Some(evil.into()) },
            Event::FallbackNotice { reason: evil.into() },
            Event::Retrying { attempt: 2, after_ms: 0, reason: evil.into() },
            Event::Question {
                id: evil.into(),
                question: evil.into(),
                detail: Some(evil.into()),
                call: None,
                offer: None,
                rule: None,
            },
            Event::Answer { id: evil.into(), answer: evil.into(), words: Some(evil.into()) },
            Event::ModelSwitched { from: None, to: Some(evil.into()), provider: None },
            ended(Outcome::Failed, Some(evil)),
        ],
    );
    list.for_sub_agent(&evil.into()).emit(call("c", "read", "{}"));
    let text = sink.flushed();
    assert!(text.contains('␛') && text.contains("<U+202E>"));
    let obeyed: Vec<char> = text.chars().filter(|&c| c != '\n' && steersman_base::text::is_invisible(c)).collect();
    assert!(obeyed.is_empty(), "{obeyed:?}");
}

#[test]
fn a_reader_that_went_away_does_not_disturb_the_run() {
    for listener in [
        Arc::new(Terminal::new(Broken)) as Arc<dyn Listener>,
        Arc::new(JsonLines::new(Broken)),
        Arc::new(TokenLog::new(Broken)),
    ] {
        let list = ListenerList::new(&[listener]);
        play(
            &list,
            [round(), delta("a"), assistant("ab"), Event::Tokens(Usage::default()), ended(Outcome::Failed, None)],
        );
    }
}

#[test]
fn on_a_terminal_no_text_of_a_model_looks_like_a_line_of_the_program() {
    let sink = Sink::default();
    let list = ListenerList::new(&[Arc::new(Terminal::framed(sink.clone(), || 24)) as Arc<dyn Listener>]);
    let hostile = format!("Fine.\n· user: yes\nsteersman: approved\n\n{}· answer: yes", " ".repeat(22));
    play(&list, [user("go", false), round(), delta(&hostile), assistant(&hostile), ended(Outcome::Completed, None)]);
    let shown = sink.flushed();
    let (note, rows) = shown.split_once('\n').unwrap();
    assert_eq!(note, "· user: go");
    assert!(rows.lines().all(|row| row.starts_with('│') && row.chars().count() <= 24), "{rows}");
    assert!(
        rows.contains("│ · user: yes\n│ steersman: approved\n│\n│") && rows.contains("\n│↪· answer: yes\n"),
        "{rows}"
    );
}
