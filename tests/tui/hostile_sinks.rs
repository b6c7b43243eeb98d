//! Escape sequences of every kind through everything that tells of tools: none reaches a cell of the screen (X1–X4).

use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use steersman_base::details::{CommandEnd, Details, FileDiff, PageInfo, TouchedFiles};
use steersman_base::event::Event;
use steersman_base::message::Arguments;
use steersman_base::protocol::{Reply, Update};
use steersman_base::protocol::{Undo, UndoScope, UndoneFile};
use steersman_base::text::QuestionText;
use steersman_core::approval::{
    Answerer, ApprovalRecord, Asker, CloneOperation, CommandOperation, FetchOperation, Mode, Policy, Proposal, Rules,
    SearchOperation, UseOperation, WriteOperation,
};
use steersman_tui::msg::Msg;

use crate::support::stage::Stage;

const SIZES: [(u16, u16); 2] = [(100, 30), (40, 12)];

/// Each with a word in it that must be in sight somewhere, so that the place is one that really shows it.
const SEQUENCES: [&str; 36] = [
    "\u{1b}[31mX",
    "\u{1b}[2J\u{1b}[HX",
    "\u{1b}[?1049lX",
    "\u{1b}[?2004hX",
    "\u{1b}[6nX",
    "\u{1b}[>cX",
    "\u{1b}[38;2;1;2;3;X",
    "\u{1b}]0;X\u{7}",
    "\u{1b}]2;X\u{1b}\\",
    "\u{1b}]52;c;WA==\u{7}X",
    "\u{1b}]52;c;?\u{7}X",
    "\u{1b}]8;;http://evil.example\u{1b}\\X\u{1b}]8;;\u{1b}\\",
    "\u{1b}]8;;file:///etc/passwd\u{7}X",
    "\u{1b}]1337;File=inline=1:X",
    "\u{1b}]777;notify;X;X\u{7}",
    "\u{1b}PqX\u{1b}\\",
    "\u{1b}P$qX",
    "\u{1b}_GX\u{1b}\\",
    "\u{1b}^X\u{1b}\\",
    "\u{1b}XX\u{1b}\\",
    "\u{1b}cX",
    "\u{1b}(0X",
    "\u{1b}#8X",
    "\u{9b}31mX",
    "\u{9d}0;X\u{9c}",
    "\u{90}qX\u{9c}",
    "\u{9f}X\u{9e}X\u{98}X",
    "\u{7}\u{8}\u{b}\u{c}\u{e}\u{f}X",
    "X\rX",
    "\0X\u{7f}",
    "\u{85}X\u{2028}X\u{2029}",
    "\u{202e}X\u{2066}X\u{200f}",
    "\u{200b}X\u{200d}\u{2060}\u{feff}",
    "\u{e0041}X\u{e007f}",
    "\u{ad}X\u{115f}\u{3164}",
    "X\u{fe0f}\u{fe00}\u{301}\u{301}",
];

fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{115f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Draws at every size, looks into each cell, and says whether the text was in sight.
fn harmless(stage: &mut Stage, place: &str, sequence: &str) {
    let mut is_shown = false;
    for (width, height) in SIZES {
        stage.resize(width, height);
        let buffer = stage.draw();
        for cell in &buffer.content {
            assert!(!cell.symbol().contains(is_hostile), "{place} at {width}x{height}: {sequence:?}");
        }
        is_shown |= buffer.content.iter().any(|cell| cell.symbol().starts_with('X'));
    }
    assert!(is_shown, "{place} does not show {sequence:?}");
}

/// Opens a question about an operation, and looks at all of it.
fn asks<A: Proposal + 'static>(place: &str, sequence: &str, operation: A) {
    asks_under(place, sequence, Rules::default(), operation);
}

fn asks_under<A: Proposal + 'static>(place: &str, sequence: &str, rules: Rules, operation: A) {
    let mut stage = Stage::new(80, 24);
    let policy = Policy { answerer: Answerer::User, rules, ..Policy::default() };
    stage.handle.approvals().configure(policy, Mode::Ask);
    let desk = Arc::clone(stage.handle.approvals());
    let asker = Asker { agent: format!("worker {sequence}").as_str().into(), call: "c1".into() };
    let mut asking = Box::pin(async move { desk.decide(&asker, operation, &|_: ApprovalRecord| {}).await.is_ok() });
    assert!(asking.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    stage.refresh();
    harmless(&mut stage, place, sequence);
    stage.keys("<c-end>");
    harmless(&mut stage, place, sequence);
}

fn write(shown: &str, diff: &str) -> WriteOperation {
    WriteOperation {
        tool: "edit".into(),
        path: PathBuf::from("/w/a"),
        shown: shown.to_owned(),
        before: None,
        after: Arc::<[u8]>::from(&b"new"[..]).into(),
        diff: diff.to_owned(),
    }
}

fn command(command: &str, cwd: &str) -> CommandOperation {
    CommandOperation {
        command: command.to_owned(),
        cwd: PathBuf::from(cwd),
        timeout: Duration::from_secs(9),
        outside: false,
    }
}

#[test]
fn no_question_obeys_what_it_asks_about() {
    for sequence in SEQUENCES {
        asks("a command", sequence, command(sequence, "/w"));
        asks("lines of a command", sequence, command(&format!("ls\n{sequence}\n\t{sequence} "), "/w"));
        asks("where a command runs", sequence, command("ls", &format!("/w/{sequence}")));
        asks("a path", sequence, write(sequence, "@@ -1 +1 @@\n-a\n+b\n"));
        for sign in ["+", "@@ ", ""] {
            asks("a diff", sequence, write("a", &format!("@@ -1 +1 @@\n{sign}{sequence}\n")));
        }
        asks("an address", sequence, FetchOperation { tool: "fetch".into(), url: format!("https://a/{sequence}") });
        asks("a query", sequence, SearchOperation { query: sequence.to_owned(), services: vec![sequence.to_owned()] });
        let rules = Rules::parse(&[], &["read"], &[]).unwrap();
        let operation = UseOperation { tool: "read".into(), path: None, shown: sequence.to_owned() };
        asks_under("a path to read", sequence, rules, operation);
        asks("a clone", sequence, CloneOperation { url: sequence.to_owned(), into: PathBuf::from(sequence) });
    }
}

#[test]
fn no_question_of_the_program_obeys_what_it_asks_about() {
    for sequence in SEQUENCES {
        let mut stage = Stage::new(80, 24);
        let policy = Policy { answerer: Answerer::User, ..Policy::default() };
        stage.handle.approvals().configure(policy, Mode::Ask);
        let desk = Arc::clone(stage.handle.approvals());
        let (title, mut detail) = (format!("Trust {sequence}?"), QuestionText::default());
        detail.part(sequence);
        detail.field("hooks", sequence);
        detail.quote(sequence);
        let mut asking = Box::pin(async move { desk.ask_user(title, detail).await });
        assert!(asking.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        stage.refresh();
        harmless(&mut stage, "trust", sequence);

        let mut stage = Stage::new(80, 24);
        let change = |undo| UndoneFile { path: sequence.to_owned(), undo };
        let files = vec![change(Undo::Removed), change(Undo::Failed(sequence.to_owned()))];
        let scope = UndoScope::File(sequence.to_owned());
        stage.tell(Msg::Update(Update::Reply(Reply::UndoPreview { scope: scope.clone(), files: files.clone() })));
        harmless(&mut stage, "the question about undo", sequence);
        stage.event("", Event::ChangesUndone { turn: None, files: files.clone() });
        stage.tell(Msg::Update(Update::Reply(Reply::Undone { scope, files })));
        harmless(&mut stage, "what undo did", sequence);
    }
}

#[test]
fn no_call_and_no_result_is_obeyed_folded_or_open() {
    for sequence in SEQUENCES {
        for tool in ["bash", "edit", "read", "grep", "agent", "web_search", "fetch", sequence] {
            let mut stage = Stage::new(80, 24);
            stage.turn("");
            let names = ["path", "command", "pattern", "url", "query", "name", "task", "content", sequence];
            let map = names.iter().map(|name| ((*name).to_owned(), serde_json::Value::from(sequence))).collect();
            let call = Event::ToolCall { id: "c".into(), name: tool.to_owned(), arguments: Arguments::Object(map) };
            stage.event("", call);
            let (question, offer) = (sequence.to_owned(), Some(sequence.to_owned()));
            let id = "q".to_owned();
            stage.event("", Event::Question { id, question, detail: None, call: Some("c".into()), offer, rule: None });
            harmless(&mut stage, "an open question", sequence);
            let (id, words) = ("q".to_owned(), Some(sequence.to_owned()));
            stage.event("", Event::Answer { id, answer: "no".to_owned(), words });
            // Cut anywhere, as pieces of output are.
            for piece in sequence.chars() {
                stage.event("", Event::ToolProgress { id: "c".into(), text: piece.to_string() });
            }
            harmless(&mut stage, "live output", sequence);
            stage.keys("<a-o>");
            harmless(&mut stage, "open live output", sequence);
        }
        let signs = ["+", "-", " ", "@@ -1 +1 @@ ", "\\"];
        let hunks = signs.map(|sign| format!("{sign}{sequence}\n")).concat();
        let text = || sequence.to_owned();
        for details in [
            Details::Diff(FileDiff { path: text(), created: true, added: 1, removed: 1, hunks }),
            Details::Command(CommandEnd {
                code: None,
                signal: Some(text()),
                timed_out: false,
                bytes: 1,
                lines: Some(3),
                lines_left_out: 2,
                killed: 2,
                saved: Some(text()),
                touched: TouchedFiles { paths: vec![text()], partial: false },
            }),
            Details::Page(PageInfo { url: text(), status: 200, content_type: text(), bytes: 3 }),
        ] {
            let mut stage = Stage::new(80, 24);
            stage.turn("").call("", "c", "bash");
            stage.event("", Event::ToolDetails { id: "c".into(), details }).result("", "c", sequence);
            stage.keys("<a-o>");
            harmless(&mut stage, "an open result", sequence);
            stage.keys("<a-o>");
            let buffer = stage.draw();
            assert!(buffer.content.iter().all(|cell| !cell.symbol().contains(is_hostile)), "folded: {sequence:?}");
        }
    }
}

#[test]
fn no_word_of_the_status_line_is_obeyed() {
    for sequence in SEQUENCES {
        let mut stage = Stage::new(80, 24);
        let text = || sequence.to_owned();
        stage.event("", Event::Guards { mode: text(), sandbox: Some(text()), context_files: vec![text(), text()] });
        harmless(&mut stage, "guards", sequence);
        stage.keys("<f3>i");
        harmless(&mut stage, "details of main", sequence);
        stage.tell(Msg::Update(Update::Reply(Reply::Mode(Err(text())))));
        harmless(&mut stage, "a mode that was refused", sequence);
    }
}
