//! How a reply ends: the reasons that a server gives, refusals, streams that are cut off, and errors within a stream.

use serde_json::{Value, json};
use steersman_base::dialect::Dialect;
use steersman_core::provider::{Finish, ProviderError};
use steersman_provider::HttpProvider;
use steersman_provider::sse::Frame;

use super::{completed, done, end, function_call, play, reply, text, text_delta};

#[test]
fn a_reply_ends_for_the_reason_that_the_server_says() {
    let ended = |kind: &str, status: &str, reason: Value| {
        let response = json!({"status": status, "incomplete_details": reason, "usage": {"input_tokens": 1}});
        reply(&[text_delta(0, "m", "x"), json!({"type": kind, "response": response})]).finish
    };
    let because = |reason: &str| json!({"reason": reason});
    assert_eq!(ended("response.completed", "completed", Value::Null), Finish::Stop);
    assert_eq!(ended("response.incomplete", "incomplete", because("max_output_tokens")), Finish::Length);
    assert_eq!(ended("response.completed", "incomplete", because("max_output_tokens")), Finish::Length);
    assert_eq!(ended("response.incomplete", "incomplete", because("content_filter")), Finish::ContentFilter);
    assert_eq!(
        ended("response.incomplete", "incomplete", because("max_tool_calls")),
        Finish::Unknown("max_tool_calls".to_owned())
    );
    assert_eq!(ended("response.incomplete", "incomplete", Value::Null), Finish::Unknown("incomplete".to_owned()));
}

#[test]
fn a_refusal_is_shown_and_nothing_of_it_runs() {
    let delta = json!({"type": "response.refusal.delta", "output_index": 0, "item_id": "m", "content_index": 0, "delta": "I can't."});
    let item = json!({"type": "message", "id": "m", "role": "assistant", "content": [{"type": "refusal", "refusal": "I can't."}]});
    for events in [vec![delta, done(0, &item), end()], vec![done(0, &item), end()], vec![completed(&json!([item]))]] {
        let reply = reply(&events);
        assert_eq!((reply.content.as_str(), reply.finish), ("I can't.", Finish::ContentFilter));
    }
}

#[test]
fn a_stream_that_stops_before_its_end_is_cut_off() {
    let mut events = text("Hello");
    events.push(done(1, &function_call("fc_1", "call_a", "read", "{}")));
    assert_eq!(play(&events).0, Err(ProviderError::CutOff));
    assert_eq!(play(&[]).0, Err(ProviderError::CutOff));
    let cancelled = json!({"type": "response.cancelled", "response": {"status": "cancelled"}});
    assert_eq!(play(&[cancelled]).0, Err(ProviderError::CutOff));
    let mut assembler = HttpProvider::assembler(Dialect::OpenAiResponses).unwrap();
    assembler.take_frame(Frame::Event { name: "", id: "", data: "[DONE]" }).unwrap();
    assert!(assembler.is_done() && !assembler.is_whole());
    assert_eq!(assembler.finish(), Err(ProviderError::CutOff), "no answer was begun");
}

#[test]
fn behind_the_end_nothing_counts() {
    let mut assembler = HttpProvider::assembler(Dialect::OpenAiResponses).unwrap();
    let mut take = |data: &str| assembler.take_frame(Frame::Event { name: "", id: "", data });
    take(&text_delta(0, "m", "ok").to_string()).unwrap();
    take(&end().to_string()).unwrap();
    assert_eq!(take(&text_delta(0, "m", "!").to_string()).unwrap(), None);
    assert_eq!(take("[DONE]").unwrap(), None);
    assert_eq!(take("garbage").unwrap(), None);
    assert!(assembler.is_done());
    assert_eq!(assembler.finish().unwrap().content, "ok");
}

#[test]
fn failures_within_a_stream_are_the_errors_that_they_are() {
    let failed = |code: &str, message: &str| json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": code, "message": message}}});
    let event = |code: &str, message: &str| json!({"type": "error", "code": code, "message": message, "param": null, "sequence_number": 3});
    let nested =
        |code: &str, message: &str| json!({"type": "error", "error": {"type": code, "code": code, "message": message}});
    for make in [&failed as &dyn Fn(&str, &str) -> Value, &event, &nested] {
        let error =
            |code: &str, message: &str| play(&[text_delta(0, "m", "x"), make(code, message), end()]).0.unwrap_err();
        let status = |status: u16, message: &str, retry_after_ms: Option<u64>| {
            let message = message.to_owned();
            ProviderError::Status { status, message, retry_after_ms }
        };
        let wait = "Rate limit reached. Please try again in 1m2.5s. Visit x.";
        assert_eq!(error("rate_limit_exceeded", wait), status(429, wait, Some(62_500)));
        assert_eq!(error("rate_limit_exceeded", "try again in 350ms."), status(429, "try again in 350ms.", Some(350)));
        assert_eq!(error("server_error", "oops"), status(500, "oops", None));
        assert_eq!(error("server_is_overloaded", "busy"), status(503, "busy", None));
        assert_eq!(error("insufficient_quota", "pay"), ProviderError::Spent("pay".to_owned()));
        let long = "Your input exceeds the context window of this model.".to_owned();
        assert_eq!(
            error("context_length_exceeded", &long),
            ProviderError::Overflow { message: long.clone(), tokens: None, window: None }
        );
        assert_eq!(error("invalid_prompt", "no"), ProviderError::Server("no".to_owned()));
    }
    let alone = play(&[json!({"error": {"message": "dead", "code": 500}})]).0;
    assert!(
        matches!(&alone, Err(ProviderError::Status { status: 500, message, .. }) if message == "dead"),
        "{alone:?}"
    );
}

#[test]
fn what_is_no_event_is_an_error_and_unknown_events_are_not() {
    for garbage in ["{oops", "[1]", "5", "<html>"] {
        let mut assembler = HttpProvider::assembler(Dialect::OpenAiResponses).unwrap();
        let error = assembler.take_frame(Frame::Event { name: "", id: "", data: garbage }).unwrap_err();
        assert!(matches!(error, ProviderError::Malformed(_)), "{garbage}");
    }
    let odd = [
        json!({}),
        json!({"type": "response.mood.changed", "mood": 3}),
        json!({"type": "response.output_item.added", "output_index": "x", "item": 5}),
        json!({"type": "response.output_item.done", "item": {"type": "message", "content": "plain"}}),
        json!({"type": "response.output_text.delta", "delta": {"text": "x"}}),
        json!({"type": "keepalive", "sequence_number": 2}),
    ];
    assert_eq!(reply(&[&odd[..], &text("ok"), &[end()]].concat()).content, "ok");
}
