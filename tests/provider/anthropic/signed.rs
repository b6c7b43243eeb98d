//! Signed thinking and other parts that only the server understands: kept, and sent back as they came.

use serde_json::{Value, json};
use steersman_base::dialect::Dialect;
use steersman_base::message::{AssistantMessage, Message, Original, Part};
use steersman_core::provider::{Answering, Finish, Reply};
use steersman_provider::HttpProvider;

use super::{SERVER, body, bytes, events, kept};
use crate::support::messages::{block, call, delta, end, start, stop, text, thinking};

/// Thinks, says something, thinks again unseen, and calls.
fn reply() -> Reply {
    let mut list = vec![start()];
    list.extend(thinking(0, "Let me\nsee — ünder \"it\".", ("EqQBCg", "IYAA==")));
    list.extend(text(1, "Looking."));
    list.extend([block(2, json!({"type": "redacted_thinking", "data": "EmwKAhgB/+="})), stop(2)]);
    list.extend(call(3, "toolu_1", "read", r#"{"path": "x"}"#));
    list.extend(end("tool_use"));
    events(list).0.unwrap()
}

fn answered(reply: Reply, server: &str, model: &str) -> Vec<Message> {
    let result = Message::tool(&reply.tool_calls[0], "found");
    vec![Message::user("Go"), kept(reply, server, model), result]
}

#[test]
fn a_signed_reply_goes_back_as_it_came() {
    let sent = bytes(&answered(reply(), SERVER, "m"), &[], Answering::default(), None);
    let back = concat!(
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"Let me\nsee — ünder \"it\".","signature":"EqQBCgIYAA=="},"#,
        r#"{"type":"text","text":"Looking."},{"type":"redacted_thinking","data":"EmwKAhgB/+="},"#,
        r#"{"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"x"}}]}"#
    );
    assert!(sent.contains(back), "{sent}");
}

#[test]
fn it_goes_back_to_nobody_else() {
    for (server, model) in [("https://elsewhere/v1", "m"), (SERVER, "other"), ("", "")] {
        let body = body(&answered(reply(), server, model));
        assert_eq!(
            body["messages"][1]["content"],
            json!([{"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "x"}}])
        );
    }
    let mut foreign = answered(reply(), SERVER, "m");
    if let Message::Assistant(AssistantMessage { original: Some(original), .. }) = &mut foreign[1] {
        original.dialect = Dialect::OpenAiResponses;
    }
    assert!(!body(&foreign).to_string().contains("signature"));
}

#[test]
fn thinking_without_a_signature_is_shown_and_not_kept() {
    let mut list = vec![start(), block(0, json!({"type": "thinking", "thinking": ""}))];
    list.extend([delta(0, json!({"type": "thinking_delta", "thinking": "hm"})), stop(0)]);
    list.extend(text(1, "So."));
    list.extend(end("end_turn"));
    let reply = events(list).0.unwrap();
    assert_eq!((reply.thinking.as_str(), reply.content.as_str(), reply.original), ("hm", "So.", None));
}

#[test]
fn thinking_that_the_server_leaves_out_is_kept_by_its_signature() {
    let mut list = vec![start(), block(0, json!({"type": "thinking", "thinking": "", "signature": ""}))];
    list.extend([delta(0, json!({"type": "signature_delta", "signature": "Ep8C"})), stop(0)]);
    list.extend(text(1, "So."));
    list.extend(end("end_turn"));
    let reply = events(list).0.unwrap();
    let parts = reply.original.as_ref().unwrap().parts.clone();
    assert_eq!(parts[0], Part::Opaque(r#"{"type":"thinking","thinking":"","signature":"Ep8C"}"#.to_owned()));
}

#[test]
fn a_turn_never_ends_with_thinking() {
    let mut list = vec![start()];
    list.extend(call(0, "toolu_1", "read", "{}"));
    list.extend(thinking(1, "And then", ("a", "b")));
    list.extend(end("tool_use"));
    let body = body(&answered(events(list).0.unwrap(), SERVER, "m"));
    assert_eq!(body["messages"][1]["content"].as_array().unwrap().len(), 1);
}

#[test]
fn unknown_blocks_are_kept_with_what_their_deltas_add() {
    let result = json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1",
        "content": [{"type": "web_search_result", "encrypted_content": "Eq==", "big": 12_345_678_901_234_567_890_u64}]});
    let citation = json!({"type": "web_search_result_location", "encrypted_index": "Eo8"});
    let mut list = vec![
        start(),
        block(0, json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}})),
    ];
    list.extend(
        ["", "{\"query\":", " \"x\"}"].map(|json| delta(0, json!({"type": "input_json_delta", "partial_json": json}))),
    );
    list.extend([
        stop(0),
        block(1, result.clone()),
        stop(1),
        block(2, json!({"type": "text", "text": "", "citations": []})),
    ]);
    list.push(delta(2, json!({"type": "citations_delta", "citation": citation})));
    list.extend([delta(2, json!({"type": "text_delta", "text": "Found."})), stop(2)]);
    list.extend([block(3, json!({"type": "compaction", "content": null}))]);
    list.extend(["So ", "far."].map(|more| delta(3, json!({"type": "compaction_delta", "content": more}))));
    list.extend([stop(3), block(4, json!({"type": "fallback"})), stop(4)]);
    list.extend(end("pause_turn"));
    let reply = events(list).0.unwrap();
    assert_eq!((reply.content.as_str(), &reply.finish), ("Found.", &Finish::Paused));
    assert_eq!(reply.tool_calls, []);
    let body = body(&[Message::user("Go"), kept(reply, SERVER, "m"), Message::user("Go on")]);
    assert_eq!(
        body["messages"][1]["content"],
        json!([
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
            result,
            {"type": "text", "text": "Found.", "citations": [citation]},
            {"type": "compaction", "content": "So far."},
            {"type": "fallback"},
        ])
    );
}

#[test]
fn a_paused_reply_goes_back_as_the_last_turn() {
    let mut list = vec![start()];
    list.extend([block(0, json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})), stop(0)]);
    list.extend(end("pause_turn"));
    let reply = events(list).0.unwrap();
    let body = body(&[Message::user("Go"), kept(reply, SERVER, "m")]);
    assert_eq!(body["messages"][1]["content"][0]["type"], "server_tool_use");
    assert!(!body["messages"][0]["content"][0]["cache_control"].is_null());
}

#[test]
fn parts_that_do_not_fit_their_reply_break_nothing() {
    let parts = vec![
        Part::Opaque("{\"type\":\"thinking\"".to_owned()),
        Part::Opaque("[1]".to_owned()),
        Part::Text { text: "Said.".to_owned(), mark: Some("no JSON".to_owned()) },
        Part::Call { index: 7, mark: None },
    ];
    let original = Original { dialect: Dialect::Anthropic, server: SERVER.to_owned(), model: "m".to_owned(), parts };
    let called = super::call("toolu_1", "read", "{}");
    let reply = AssistantMessage {
        content: "Said.".to_owned(),
        tool_calls: vec![called.clone()],
        original: Some(original),
        ..AssistantMessage::default()
    };
    let body = body(&[Message::user("Go"), Message::Assistant(reply), Message::tool(&called, "found")]);
    let kinds: Vec<&Value> =
        body["messages"][1]["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["text", "tool_use"]);
}

#[test]
fn a_whole_body_keeps_its_blobs_byte_for_byte() {
    let redacted = r#"{ "type":"redacted_thinking",  "data":"Em\u00fcw" }"#;
    let whole = format!(
        r#"{{"type":"message","model":"m","content":[{{"type":"thinking","thinking":"hm","signature":"s"}},{redacted},{{"type":"text","text":"So."}}],"stop_reason":"end_turn"}}"#
    );
    let reply = HttpProvider::whole(Dialect::Anthropic, &whole).unwrap();
    assert_eq!(reply.thinking, "hm");
    let sent =
        bytes(&[Message::user("Go"), kept(reply, SERVER, "m"), Message::user("?")], &[], Answering::default(), None);
    assert!(sent.contains(redacted), "{sent}");
}
