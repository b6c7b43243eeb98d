//! The form of the lines: other programs are written against it, so it stays.

use serde_json::json;
use steersman_base::event::Event;

use crate::support::listening::{Listening, said};

#[test]
fn the_lines_of_a_conversation_are_these() {
    let run = Listening::start();
    let mut raw = run.connect();
    let hello =
        raw.call(1, "hello", &json!({"version": steersman_base::protocol::VERSION, "name": "story", "posts": "now"}));
    insta::assert_snapshot!(
        hello.to_string().replace(env!("CARGO_PKG_VERSION"), "VERSION"),
        @r#"{"jsonrpc":"2.0","id":1,"result":{"version":5,"program":"steersman VERSION","client":"story 1","session":"the-session","directory":"","label":"","is_served":false}}"#
    );
    let answer = raw.call(2, "request", &json!({"type": "inject", "to": "", "text": "text", "delivery": "steer"}));
    insta::assert_snapshot!(
        answer,
        @r#"{"jsonrpc":"2.0","id":2,"result":{"reply":{"injected":{"to":"","text":"text","delivery":"steer","kind":"add","sender":"story 1","outcome":{"Ok":"m1"}}}}}"#
    );
    let queues = raw.wait_for(|update| update["queues"]["queues"][0][1][0]["id"] == "m1");
    assert_eq!(queues["queues"]["queues"][0][1][0]["sender"], "story 1", "{queues}");
    run.handle.mailbox().push(said("", 1, Event::TurnStarted { turn: 1 }));
    let update = raw.wait_for(|update| update.get("envelope").is_some());
    assert_eq!(update["envelope"]["event"], json!({"type": "turn_started", "turn": 1}));
    let no_reply = raw.call(3, "request", &json!({"type": "resume"}));
    assert_eq!(no_reply, json!({"jsonrpc": "2.0", "id": 3, "result": {"reply": null}}));
    let error = raw.call(4, "request", &json!({"type": "no such request"}));
    assert_eq!((&error["id"], &error["error"]["code"]), (&json!(null), &json!(-32_600)), "{error}");
}

#[test]
fn the_status_of_a_session_has_these_members() {
    let run = Listening::start();
    run.handle.interloper().inject_user_message("pending").unwrap();
    let events = [
        Event::UserTurn {
            content: "the first text".to_owned(),
            mid_loop: false,
            injection: None,
            step: 0,
            after: None,
            sender: None,
            kind: steersman_base::steering::TextKind::Add,
            met: None,
            images: Vec::new(),
        },
        Event::ContextCap { tokens: Some(8_000) },
        Event::ToolCall {
            id: "c".into(),
            name: "bash".to_owned(),
            arguments: steersman_base::message::Arguments::parse(""),
        },
    ];
    for (seq, event) in (1..).zip(events) {
        run.handle.mailbox().push(said("", seq, event));
    }
    let mut status = run.connect().call(1, "status", &json!(null))["result"].clone();
    status["pid"] = json!(0);
    insta::assert_snapshot!(serde_json::to_string_pretty(&status).unwrap());
}
