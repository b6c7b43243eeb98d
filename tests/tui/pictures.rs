//! The pictures of the README: scenes of the screen, drawn by the program and kept under `assets/pictures`.
//!
//! A change of the screen fails here until the pictures are drawn again: `UPDATE_PICTURES=1 cargo test pictures`.

use steersman_base::event::{Event, Outcome};
use steersman_base::message::{Arguments, ToolCall};
use steersman_base::mode::Mode;
use steersman_base::protocol::{
    ApprovalId, ApprovalRequest, ApprovalSubject, Asker, Operation, Update, WriteOperation,
};
use steersman_core::control::Staleness;
use steersman_tui::msg::Msg;

use crate::support::picture::assert_picture;
use crate::support::stage::Stage;

/// A project being looked at by the main agent and three sub-agents.
fn crew() -> Stage {
    let mut stage = Stage::new(120, 32);
    stage.keys("survey this project and report<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).says("", "I look at what is here first.");
    stage.seen("", &taken, 0).tokens("", 1_800, 60);
    stage.call("", "c0", "glob").wait(40).result("", "c0", "src/lib.rs\nsrc/main.rs\ntests/all.rs");
    stage.event("", Event::RoundStarted { turn: 1, round: 2 });
    stage.says("", "There are 254 files here. I send 3 agents into them at the same time.").tokens("", 3_400, 180);
    // Beside it the agents do not give way: what is typed waits.
    let arguments = Arguments::parse(r#"{"query":"tools like this one"}"#);
    stage.event("", Event::ToolCall { id: "c4".into(), name: "web_search".to_owned(), arguments });
    for (call, child) in [("c1", "file_miner 0"), ("c2", "file_miner 1"), ("c3", "researcher 0")] {
        let arguments = Arguments::parse(&format!(r#"{{"name":"{child}"}}"#));
        stage.event("", Event::ToolCall { id: call.into(), name: "agent".to_owned(), arguments });
        stage.spawn("", child).turn(child);
    }
    for child in ["file_miner 0", "file_miner 1", "researcher 0"] {
        stage.call(child, "k1", "grep").wait(2_000).result(child, "k1", "src/lib.rs:1: fn main() {}");
        stage.tokens(child, 5_200, 140);
    }
    stage.call("file_miner 0", "k2", "read").wait(3_000);
    stage.says("file_miner 1", "The tests are stories, named by behaviour.").wait(1_000);
    stage
}

#[test]
fn a_change_is_asked_about_with_its_diff() {
    let mut stage = crew();
    let operation = Operation::Write(WriteOperation {
        tool: "edit".into(),
        path: "/work/src/parser.rs".into(),
        shown: "src/parser.rs".to_owned(),
        before: Some(vec![0; 4_210].into()),
        after: vec![0; 4_268].into(),
        diff:
            "@@ -12,5 +12,6 @@\n fn parse(text: &str) -> Option<Tree> {\n-    let tokens = lex(text);\n+    let text = \
               text.trim_end();\n+    let tokens = lex(text)?;\n     Tree::of(tokens)\n }\n"
                .to_owned(),
    });
    let approval = ApprovalRequest {
        id: ApprovalId(1),
        asker: Some(Asker { agent: "file_miner 0".into(), call: "k2".into() }),
        subject: ApprovalSubject::Operation { operation },
        why: String::new(),
        session: Some("every edit in this directory".to_owned()),
        rule: None,
    };
    let sandbox = Some("bubblewrap".to_owned());
    stage.event("", Event::Guards { mode: "ask".to_owned(), sandbox, context_files: Vec::new() });
    stage.tell(Msg::Update(Update::Approvals { mode: Mode::Ask, open: vec![approval] }));
    stage.draw();
    stage.wait(400);
    assert_picture("approval", &stage.draw());
}

#[test]
fn what_is_typed_waits_visibly() {
    let mut stage = crew();
    stage.keys("focus on the parser<enter>").keys("leave the generated files out<enter>");
    stage.keys("then write a summary<tab>").wait(4_000).keys("and count the tests");
    assert_picture("pending", &stage.draw());
}

#[test]
fn an_entry_is_edited_in_its_place() {
    let mut stage = crew();
    stage.keys("focus on the parser<enter>").keys("leave the generated files out<enter>");
    stage.keys("<f2>k<enter>").keys(" and its tests");
    assert_picture("edit", &stage.draw());
}

#[test]
fn each_text_carries_its_receipt() {
    let mut stage = crew();
    stage.keys("focus on the parser<enter>").wait(8_000);
    stage.finished("", "file_miner 0", Outcome::Completed).result("", "c1", "The parser is in src/parse.rs.");
    stage.finished("", "file_miner 1", Outcome::Completed).result("", "c2", "There are 77 tests.");
    stage.finished("", "researcher 0", Outcome::Completed).result("", "c3", "Nothing comparable was found.");
    stage.result("", "c4", "Two are alike.");
    let taken = stage.drain();
    stage.deliver_after("", &taken, 5, "agent").event("", Event::RoundStarted { turn: 1, round: 3 });
    stage.says("", "Now the parser: it reads one line at a time").seen("", &taken, 5);
    stage.keys("skip the tests<enter>").wait(1_000);
    assert_picture("receipts", &stage.draw());
}

#[test]
fn a_held_agent_shows_the_call_that_it_is_about_to_make() {
    let mut stage = crew();
    stage.keys("<a-h>");
    let call = ToolCall {
        id: "c9".into(),
        name: "grep".to_owned(),
        arguments: Arguments::parse(r#"{"pattern":"fn parse","path":"src","glob":"*.rs"}"#),
    };
    stage.event("", Event::Paused { call: Some(call) }).wait(3_000);
    assert_picture("pause", &stage.draw());
}

#[test]
fn the_ledger_tells_what_became_of_each_text() {
    let mut stage = crew();
    stage.keys("focus on the parser<enter>").wait(8_000).keys("count the tests too<enter>").wait(3_000);
    let taken = stage.drain();
    stage.deliver_after("", &taken, 5, "agent").seen("", &taken, 5).tokens("", 6_100, 320);
    stage.keys("then write a summary<tab>").wait(2_000).keys("<f4>");
    assert_picture("ledger", &stage.draw());
}

#[test]
fn an_old_text_asks_whether_it_still_holds() {
    let mut stage = crew();
    stage.keys("use the old parser<enter>");
    let queue = stage.handle.interloper().clone();
    queue.set_staleness(Staleness { age: None, steps: Some(0) });
    queue.count_step();
    assert!(stage.drain().is_empty(), "an old text is not delivered");
    stage.draw();
    stage.wait(400).draw();
    stage.wait(400);
    assert_picture("question", &stage.draw());
}
