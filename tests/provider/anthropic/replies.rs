//! What a stream brings: every event, block and ending that was seen, and lies about them.

use proptest::prelude::*;
use serde_json::{Value, json};
use steersman_base::dialect::Dialect;
use steersman_base::message::Arguments;
use steersman_core::provider::{Finish, ProviderError, Reply};
use steersman_provider::HttpProvider;
use steersman_provider::sse::Frame;

use super::{events, feed, shown};
use crate::support::messages::{block, call, delta, end, start, stop, text, thinking};

fn reply(blocks: Vec<Value>) -> Reply {
    reply_ending(blocks, "end_turn")
}

fn reply_ending(blocks: Vec<Value>, reason: &str) -> Reply {
    let list = std::iter::once(start()).chain(blocks).chain(end(reason));
    events(list).0.unwrap()
}

fn piece(index: u64, json: &str) -> Value {
    delta(index, json!({"type": "input_json_delta", "partial_json": json}))
}

fn said(index: u64, text: &str) -> Value {
    delta(index, json!({"type": "text_delta", "text": text}))
}

#[test]
fn a_reply_has_its_thoughts_its_text_its_calls_and_its_usage() {
    let mut blocks = thinking(0, "hm", ("a", "b"));
    blocks.extend(text(1, "Let me look."));
    blocks.extend(call(2, "toolu_1", "read", r#"{"path": "ä"}"#));
    blocks.extend(call(3, "toolu_2", "list", ""));
    blocks.insert(2, json!({"type": "ping"}));
    let list = std::iter::once(start()).chain(blocks).chain(end("tool_use"));
    let (reply, pieces) = events(list);
    let reply = reply.unwrap();
    assert_eq!((reply.thinking.as_str(), reply.content.as_str()), ("hm", "Let me look."));
    assert_eq!(shown(&reply), [r#"toolu_1 read {"path":"ä"}"#, "toolu_2 list {}"]);
    assert_eq!(reply.finish, Finish::Stop);
    let usage = &reply.usage;
    assert_eq!(
        (usage.input, usage.cached, usage.cache_creation, usage.output),
        (Some(25), Some(100), Some(7), Some(15))
    );
    assert_eq!((usage.prompt(), usage.model.as_deref()), (132, Some("claude-1")));
    let joined: (String, String) = pieces.into_iter().unzip();
    assert_eq!(joined, ("hm".to_owned(), "Let me look.".to_owned()));
}

#[test]
fn the_later_usage_wins_and_a_zero_does_not() {
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
        "usage": {"input_tokens": 30, "cache_read_input_tokens": 0, "output_tokens": 9,
            "output_tokens_details": {"thinking_tokens": 4}}});
    let usage = events([start(), end]).0.unwrap().usage;
    assert_eq!((usage.input, usage.cached, usage.output, usage.thinking), (Some(30), Some(100), Some(9), Some(4)));
    let nonsense = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
        "usage": {"input_tokens": -1, "output_tokens": "x", "server_tool_use": {}}});
    assert_eq!(events([nonsense]).0.unwrap().usage.input, None);
}

#[test]
fn every_stop_reason_has_its_meaning() {
    for (reason, finish) in [
        ("end_turn", Finish::Stop),
        ("stop_sequence", Finish::Stop),
        ("tool_use", Finish::Stop),
        ("max_tokens", Finish::Length),
        ("model_context_window_exceeded", Finish::Length),
        ("refusal", Finish::ContentFilter),
        ("pause_turn", Finish::Paused),
        ("sunset", Finish::Unknown("sunset".to_owned())),
    ] {
        assert_eq!(reply_ending(text(0, "x"), reason).finish, finish);
    }
    assert_eq!(events([start(), said(0, "x"), json!({"type": "message_stop"})]).0.unwrap().finish, Finish::Stop);
}

#[test]
fn a_stream_that_nothing_ended_is_cut_off_and_has_no_calls() {
    let whole: Vec<Value> = std::iter::once(start()).chain(call(0, "toolu_1", "rm", r#"{"path": "x"}"#)).collect();
    for length in 0..=whole.len() {
        assert_eq!(events(whole[..length].to_vec()).0, Err(ProviderError::CutOff), "{length}");
    }
    let done = Frame::Event { name: "", id: "", data: "[DONE]" };
    assert_eq!(feed(&[done]).0, Err(ProviderError::CutOff));
    let reason = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}});
    assert_eq!(shown(&events(whole.into_iter().chain([reason])).0.unwrap()), [r#"toolu_1 rm {"path":"x"}"#]);
}

#[test]
fn a_block_that_max_tokens_never_stopped_is_no_fault() {
    let begun = block(0, json!({"type": "tool_use", "id": "t", "name": "write", "input": {}}));
    let reply = reply_ending(vec![begun, piece(0, "{\"path\": \"x")], "max_tokens");
    assert_eq!(reply.finish, Finish::Length);
    assert_eq!(reply.tool_calls[0].arguments, Arguments::Raw("{\"path\": \"x".to_owned()));
}

#[test]
fn a_call_may_bring_its_arguments_at_once() {
    let whole = |input: Value| block(0, json!({"type": "tool_use", "id": "t", "name": "f", "input": input}));
    assert_eq!(shown(&reply(vec![whole(json!({"a": 1})), stop(0)])), ["t f {\"a\":1}"]);
    assert_eq!(shown(&reply(vec![whole(json!({})), piece(0, "{\"a\": 2}  "), stop(0)])), ["t f {\"a\":2}"]);
    assert_eq!(shown(&reply(vec![whole(Value::Null)])), ["t f {}"]);
}

#[test]
fn ids_that_are_missing_or_doubled_are_made_unique() {
    let one =
        |index, id| vec![block(index, json!({"type": "tool_use", "id": id, "name": "f", "input": {}})), stop(index)];
    let reply = reply([one(0, "t"), one(1, "t"), one(2, "")].concat());
    let ids: std::collections::HashSet<_> = reply.tool_calls.iter().map(|call| call.id.clone()).collect();
    assert_eq!((ids.len(), reply.tool_calls[0].id.as_str()), (3, "t"));
    assert!(ids.iter().all(|id| !id.as_str().is_empty()));
}

#[test]
fn indices_that_lie_mix_nothing_up() {
    let tool = |index, id: &str| block(index, json!({"type": "tool_use", "id": id, "name": "f", "input": {}}));
    let words = |index| block(index, json!({"type": "text", "text": ""}));
    let expected = ["a f {\"n\":1}", "b f {\"n\":2}"];
    for list in [
        // Every block is block 0.
        vec![tool(0, "a"), piece(0, "{\"n\":1}"), stop(0), tool(0, "b"), piece(0, "{\"n\":2}"), stop(0)],
        // The blocks are counted, the deltas are not.
        vec![
            words(0),
            stop(0),
            tool(1, "a"),
            piece(0, "{\"n\":1}"),
            stop(1),
            tool(2, "b"),
            piece(0, "{\"n\":2}"),
            stop(2),
        ],
        // Interleaved.
        vec![tool(5, "a"), tool(9, "b"), piece(9, "{\"n\""), piece(5, "{\"n\":1"), piece(9, ":2}"), piece(5, "}")],
        // Counted anew behind a second start.
        vec![tool(0, "a"), piece(0, "{\"n\":1}"), stop(0), start(), tool(0, "b"), piece(0, "{\"n\":2}"), stop(0)],
    ] {
        assert_eq!(shown(&reply(list)), expected);
    }
    let without: Vec<Value> = ["a", "b"]
        .into_iter()
        .zip(1..)
        .flat_map(|(id, n)| {
            let list = vec![tool(0, id), piece(0, &format!("{{\"n\":{n}}}")), stop(0)];
            list.into_iter().map(|mut event| {
                event.as_object_mut().unwrap().remove("index");
                event
            })
        })
        .collect();
    assert_eq!(shown(&reply(without)), expected);
}

#[test]
fn a_message_that_begins_within_an_open_call_is_a_broken_stream_and_runs_nothing() {
    let tool = |id: &str| block(0, json!({"type": "tool_use", "id": id, "name": "rm", "input": {}}));
    let whole = call(0, "b", "rm", "{\"path\": \"b\"}");
    for half in
        [vec![tool("a")], vec![tool("a"), piece(0, "{\"path\": \"a")], vec![tool("a"), piece(0, "{\"path\": \"a\"}")]]
    {
        let list = [vec![start()], half, vec![start()], whole.clone(), end("tool_use").to_vec()].concat();
        let (answer, _) = events(list);
        assert!(matches!(answer, Err(ProviderError::Malformed(_))), "{answer:?}");
    }
    let list = [vec![start()], whole, vec![start()], text(0, "Well."), end("end_turn").to_vec()].concat();
    assert_eq!(shown(&events(list).0.unwrap()), ["b rm {\"path\":\"b\"}"], "behind a whole call it may");
}

#[test]
fn text_that_no_block_began_still_counts() {
    assert_eq!(reply(vec![said(0, "a"), said(0, "b")]).content, "ab");
    let thought = delta(0, json!({"type": "thinking_delta", "thinking": "hm"}));
    let reply = reply(vec![thought, said(1, "so"), piece(4, "{}")]);
    assert_eq!((reply.thinking.as_str(), reply.content.as_str()), ("hm", "so"));
}

#[test]
fn a_text_block_may_begin_with_its_text() {
    assert_eq!(reply(vec![block(0, json!({"type": "text", "text": "He"})), said(0, "y")]).content, "Hey");
}

#[test]
fn text_behind_other_blocks_stands_apart() {
    let mut blocks = text(0, "One.");
    blocks.extend(call(1, "t", "f", "{}"));
    blocks.extend(text(2, "Two."));
    blocks.extend(text(3, " Three."));
    let list = std::iter::once(start()).chain(blocks).chain(end("end_turn"));
    let (reply, pieces) = events(list);
    assert_eq!(reply.unwrap().content, "One.\n\nTwo. Three.");
    assert_eq!(pieces.into_iter().map(|(_, text)| text).collect::<String>(), "One.\n\nTwo. Three.");
}

#[test]
fn what_nobody_knows_is_passed_over() {
    let mut blocks = vec![json!({"type": "aurora", "index": 0}), json!({"type": "ping"})];
    blocks
        .extend([block(0, json!({"type": "text", "text": ""})), delta(0, json!({"type": "shimmer_delta", "glow": 1}))]);
    blocks.extend([
        said(0, "x"),
        json!({"type": "content_block_delta", "index": 0}),
        json!({"type": "content_block_start"}),
    ]);
    let reply = reply(blocks);
    assert_eq!((reply.content.as_str(), reply.original), ("x", None));
    let frames =
        [Frame::Comment, Frame::Field { name: "odd", value: "x" }, Frame::Event { name: "ping", id: "", data: " " }];
    assert_eq!(feed(&frames).1, []);
}

#[test]
fn names_of_events_may_be_missing_and_types_too() {
    let list = [start(), said(0, "x"), end("end_turn")[0].clone()];
    let unnamed: Vec<String> = list.iter().map(Value::to_string).collect();
    let frames: Vec<Frame<'_>> = unnamed.iter().map(|data| Frame::Event { name: "", id: "", data }).collect();
    assert_eq!(feed(&frames).0.unwrap().content, "x");
    let untyped: Vec<(String, String)> = list
        .iter()
        .map(|event| {
            let mut event = event.clone();
            let name = event.as_object_mut().unwrap().remove("type").unwrap();
            (name.as_str().unwrap().to_owned(), event.to_string())
        })
        .collect();
    let frames: Vec<Frame<'_>> = untyped.iter().map(|(name, data)| Frame::Event { name, id: "", data }).collect();
    assert_eq!(feed(&frames).0.unwrap().content, "x");
}

#[test]
fn an_error_within_the_stream_has_its_status_and_its_words() {
    let error = |kind: &str| json!({"type": "error", "error": {"type": kind, "message": "Not now"}});
    for (kind, expected) in
        [("overloaded_error", 529), ("api_error", 500), ("rate_limit_error", 429), ("authentication_error", 401)]
    {
        let (answer, _) = events([start(), error(kind)]);
        let Err(ProviderError::Status { status, message, .. }) = answer else { panic!("{answer:?}") };
        assert_eq!((status, message.as_str()), (expected, "Not now"));
    }
    assert_eq!(events([start(), error("new_error")]).0, Err(ProviderError::Server("Not now".to_owned())));
    let unnamed = error("overloaded_error").to_string();
    let answer = feed(&[Frame::Event { name: "", id: "", data: &unnamed }]).0;
    assert!(matches!(answer, Err(ProviderError::Status { status: 529, .. })), "{answer:?}");
    let plain = feed(&[Frame::Event { name: "error", id: "", data: "upstream gone" }]).0;
    assert_eq!(plain, Err(ProviderError::Server("upstream gone".to_owned())));
    let behind = events(std::iter::once(start()).chain(end("end_turn")[..1].to_vec()).chain([error("api_error")])).0;
    assert!(behind.is_err());
}

#[test]
fn what_is_no_json_is_an_error_and_never_a_shorter_answer() {
    for data in ["{\"type\": \"content_block", "nonsense", "[]", "{\"delta\": 3}", "<html><title>Login</title></html>"]
    {
        let answer = feed(&[Frame::Event { name: "", id: "", data }]).0;
        assert!(matches!(answer, Err(ProviderError::Malformed(_))), "{data}: {answer:?}");
    }
}

#[test]
fn a_flood_is_refused() {
    let many =
        (0..=128).map(|at| block(at, json!({"type": "tool_use", "id": at.to_string(), "name": "f", "input": {}})));
    assert!(matches!(events(many).0, Err(ProviderError::Malformed(_))));
    let mebibyte = "x".repeat(1024 * 1024);
    let long = (0..33).map(|_| said(0, &mebibyte));
    assert!(matches!(events(long).0, Err(ProviderError::Malformed(_))));
}

#[test]
fn a_whole_body_is_read_as_a_stream_is() {
    let whole = |body: Value| HttpProvider::whole(Dialect::Anthropic, &body.to_string());
    let reply = whole(json!({"type": "message", "model": "claude-1", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "ab"}, {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "ä"}}],
        "stop_reason": "tool_use", "usage": {"input_tokens": 25, "output_tokens": 15,
            "cache_read_input_tokens": 100, "cache_creation_input_tokens": 7}}))
    .unwrap();
    let mut blocks = thinking(0, "hm", ("a", "b"));
    blocks.extend(text(1, "Let me look."));
    blocks.extend(call(2, "toolu_1", "read", r#"{"path": "ä"}"#));
    assert_eq!(reply, reply_ending(blocks, "tool_use"));
    let error = whole(json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}));
    assert!(matches!(error, Err(ProviderError::Status { status: 529, .. })), "{error:?}");
    for body in [json!({}), json!({"choices": []}), json!([1]), json!({"content": "x"})] {
        assert!(matches!(whole(body.clone()), Err(ProviderError::Malformed(_))), "{body}");
    }
    assert!(HttpProvider::whole(Dialect::Anthropic, "\u{FEFF}\n{\"content\": []}").is_ok());
}

proptest! {
    /// No order of events, no index and no kind breaks anything; what is shown is what the reply holds.
    #[test]
    fn no_order_of_events_breaks_anything(
        list in prop::collection::vec((0..12_u8, 0..4_u64, "[a-z{}\":1 ]{0,6}"), 0..40)
    ) {
        let begins_again = list.iter().skip_while(|(kind, ..)| *kind != 3).any(|(kind, ..)| *kind == 0);
        let list = list.into_iter().map(|(kind, index, words)| match kind {
            0 => start(),
            1 => block(index, json!({"type": "text", "text": words})),
            2 => block(index, json!({"type": "thinking", "thinking": words, "signature": words})),
            3 => block(index, json!({"type": "tool_use", "id": words, "name": words, "input": {}})),
            4 => block(index, json!({"type": words, "text": words})),
            5 => delta(index, json!({"type": "thinking_delta", "thinking": words})),
            6 => delta(index, json!({"type": "signature_delta", "signature": words})),
            7 => piece(index, &words),
            8 => delta(index, json!({"type": words, "odd": words})),
            9 => stop(index),
            10 => delta(index, json!({"type": "citations_delta", "citation": {"n": words}})),
            _ => said(index, &words),
        });
        let (reply, pieces) = events(list.chain(end("end_turn")));
        // A message that begins within an open call is broken.
        let Ok(reply) = reply else {
            prop_assert!(matches!(reply, Err(ProviderError::Malformed(_))) && begins_again);
            return Ok(());
        };
        let (thinking, text): (String, String) = pieces.into_iter().unzip();
        prop_assert_eq!((&reply.thinking, &reply.content), (&thinking, &text));
        let history = [
            vec![steersman_base::message::Message::user("Go")],
            reply.tool_calls.iter().map(|call| steersman_base::message::Message::tool(call, "x")).collect(),
        ];
        let kept = super::kept(reply, super::SERVER, "m");
        super::body(&[history[0].clone(), vec![kept], history[1].clone()].concat());
    }
}
