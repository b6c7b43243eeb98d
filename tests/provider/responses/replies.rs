//! What a Responses server answers: every oddity gives the right reply, or an error, never half a call.

use serde_json::{Value, json};
use steersman_base::dialect::Dialect;
use steersman_base::limits;
use steersman_base::message::Message;
use steersman_core::provider::{Finish, ProviderError};
use steersman_provider::HttpProvider;
use steersman_provider::sse::Frame;

use super::{
    added, arguments_delta, body, completed, done, end, function_call, kept, message, play, reasoning, reply, shown,
    text, text_delta, thought_delta,
};

#[test]
fn a_text_comes_in_pieces_and_whole_with_its_usage() {
    let mut events = text("Hello");
    events.insert(5, text_delta(0, "msg_1", " there"));
    events[6]["text"] = json!("Hello there");
    events[8]["item"] = message("msg_1", "Hello there");
    events.push(completed(&json!([message("msg_1", "Hello there")])));
    let (reply, pieces) = play(&events);
    let reply = reply.unwrap();
    assert_eq!(pieces, [(String::new(), "Hello".to_owned()), (String::new(), " there".to_owned())]);
    assert_eq!((reply.content.as_str(), reply.finish, reply.original), ("Hello there", Finish::Stop, None));
    let usage = reply.usage;
    assert_eq!((usage.input, usage.cached, usage.output, usage.thinking), (Some(40), Some(60), Some(30), Some(20)));
    assert_eq!((usage.prompt(), usage.model.as_deref()), (100, Some("m-1")));
}

#[test]
fn thoughts_are_shown_part_by_part() {
    let mut item = reasoning("rs_1", "one");
    item["summary"] = json!([{"type": "summary_text", "text": "one"}, {"type": "summary_text", "text": "two"}]);
    let reply = reply(&[
        added(0, &json!({"type": "reasoning", "id": "rs_1", "summary": []})),
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "item_id": "rs_1", "summary_index": 0, "part": {"type": "summary_text", "text": ""}}),
        thought_delta(0, "rs_1", 0, "o"),
        thought_delta(0, "rs_1", 0, "ne"),
        json!({"type": "response.reasoning_summary_text.done", "output_index": 0, "item_id": "rs_1", "summary_index": 0, "text": "one"}),
        json!({"type": "response.reasoning_summary_part.done", "output_index": 0, "item_id": "rs_1", "summary_index": 0, "part": {"type": "summary_text", "text": "one"}}),
        thought_delta(0, "rs_1", 1, "two"),
        done(0, &item),
        added(1, &json!({"type": "message", "id": "msg_1", "content": []})),
        text_delta(1, "msg_1", "ok"),
        end(),
    ]);
    assert_eq!((reply.thinking.as_str(), reply.content.as_str()), ("one\n\ntwo", "ok"));
}

#[test]
fn a_thought_and_its_summary_are_not_shown_both() {
    let raw = |delta: &str| json!({"type": "response.reasoning_text.delta", "output_index": 0, "item_id": "rs_1", "content_index": 0, "delta": delta});
    let mut item = reasoning("rs_1", "short");
    item["content"] = json!([{"type": "reasoning_text", "text": "the long way"}]);
    let rest = [done(0, &item), done(1, &message("msg_1", "ok")), end()];
    let first_the_thought = [&[raw("the long way"), thought_delta(0, "rs_1", 0, "short")][..], &rest].concat();
    assert_eq!(reply(&first_the_thought).thinking, "the long way");
    let first_the_summary = [&[thought_delta(0, "rs_1", 0, "short"), raw("the long way")][..], &rest].concat();
    assert_eq!(reply(&first_the_summary).thinking, "short");
    assert_eq!(reply(&rest).thinking, "short");
}

#[test]
fn calls_side_by_side_come_whole_and_in_order() {
    let open = |id: &str, call_id: &str| json!({"type": "function_call", "id": id, "call_id": call_id, "name": "read", "arguments": ""});
    let reply = reply(&[
        added(0, &open("fc_1", "call_a")),
        added(1, &open("fc_2", "call_b")),
        arguments_delta(1, "fc_2", "{\"path\":"),
        arguments_delta(0, "fc_1", "{\"path\":\"ü"),
        arguments_delta(1, "fc_2", "\"b\"}"),
        arguments_delta(0, "fc_1", "\"}"),
        json!({"type": "response.function_call_arguments.done", "output_index": 1, "item_id": "fc_2", "arguments": "{\"path\":\"b\"}"}),
        done(1, &function_call("fc_2", "call_b", "read", "{\"path\":\"b\"}")),
        done(0, &function_call("fc_1", "call_a", "read", "{\"path\":\"ü\"}")),
        end(),
    ]);
    assert_eq!(shown(&reply.tool_calls), ["call_a read {\"path\":\"ü\"}", "call_b read {\"path\":\"b\"}"]);
    assert_eq!((reply.finish, reply.original), (Finish::Stop, None));
}

#[test]
fn what_is_said_at_the_end_wins_over_the_deltas() {
    let deltas = [
        text_delta(0, "msg_1", "Helo"),
        added(1, &function_call("fc_1", "call_a", "read", "")),
        arguments_delta(1, "fc_1", "{\"path\":\"a\"}"),
    ];
    let items = [message("msg_1", "Hello"), function_call("fc_1", "call_a", "read", "{\"path\":\"b\"}")];
    let at_done = [&deltas[..], &[done(0, &items[0]), done(1, &items[1]), end()]].concat();
    let at_completed = [&deltas[..], &[completed(&json!(items))]].concat();
    for events in [at_done, at_completed] {
        let reply = play(&events).0.unwrap();
        assert_eq!(
            (reply.content.as_str(), shown(&reply.tool_calls)),
            ("Hello", vec!["call_a read {\"path\":\"b\"}".to_owned()])
        );
    }
    let unsaid = reply(&[&deltas[..], &[end()]].concat());
    assert_eq!((unsaid.content.as_str(), unsaid.tool_calls.len()), ("Helo", 1), "no end was said: the deltas count");
}

/// Bedrock counts the thought in front of a text as its part 0.
#[test]
fn deltas_that_count_their_parts_otherwise_than_the_finished_item_are_said_once() {
    let part = |kind: &str, index: u64, delta: &str| json!({"type": kind, "output_index": 0, "item_id": "m", "content_index": index, "delta": delta});
    let text = |delta: &str| part("response.output_text.delta", 1, delta);
    let item = message("m", "Hello there.");
    let whole = json!({"type": "response.output_text.done", "output_index": 0, "item_id": "m", "content_index": 0, "text": "Hello there."});
    for rest in [
        vec![done(0, &item), completed(&json!([item]))],
        vec![completed(&json!([item]))],
        vec![whole, done(0, &item), end()],
    ] {
        let events = [vec![text("Hello "), text("there.")], rest].concat();
        assert_eq!(reply(&events).content, "Hello there.");
    }
    let mut unfinished = vec![text("Hello "), done(0, &item), end()];
    assert_eq!(reply(&unfinished).content, "Hello there.", "what the deltas left out");
    unfinished[0] = text("Helo ");
    assert_eq!(play(&unfinished).0.unwrap().content, "Hello there.", "the end wins");

    let thought = |delta: &str| part("response.reasoning_text.delta", 1, delta);
    let item = json!({"type": "reasoning", "id": "m", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm, so."}]});
    assert_eq!(reply(&[thought("Hm, "), thought("so."), done(0, &item), end()]).thinking, "Hm, so.");
}

/// xAI names all the thoughts of a reply alike.
#[test]
fn two_thoughts_with_one_id_both_go_back() {
    let thought = |words: &str| json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": words}], "encrypted_content": format!("gAAA-{words}")});
    let open = json!({"type": "reasoning", "id": "rs_1", "summary": []});
    let call = function_call("fc_1", "call_a", "f", "{}");
    let output = json!([thought("one"), thought("two"), call]);
    let streamed = [
        added(0, &open),
        thought_delta(0, "rs_1", 0, "one"),
        done(0, &thought("one")),
        added(1, &open),
        thought_delta(1, "rs_1", 0, "two"),
        done(1, &thought("two")),
        done(2, &call),
        completed(&output),
    ];
    let ends = [done(0, &thought("one")), done(1, &thought("two")), done(2, &call), end()];
    for events in [&streamed[..], &ends, &[completed(&output)]] {
        let reply = reply(events);
        assert_eq!(reply.thinking, "one\n\ntwo");
        let result = Message::tool(&reply.tool_calls[0], "x");
        let sent = body(&[Message::user("hi"), kept(reply, "m"), result]);
        let back = |index: usize| sent["input"][index]["encrypted_content"].as_str().unwrap_or_default().to_owned();
        assert_eq!([back(1), back(2)], ["gAAA-one", "gAAA-two"], "{sent:#}");
    }
}

#[test]
fn the_cost_that_openrouter_and_xai_tell_is_taken() {
    let cost = |member: &str, value: Value| {
        let mut end = end();
        end["response"]["usage"][member] = value;
        reply(&[end]).usage.cost_nanos
    };
    assert_eq!(cost("cost", json!(0.000_142_5)), Some(142_500));
    // Ten thousand million of xAI's ticks are a dollar.
    assert_eq!(cost("cost_in_usd_ticks", json!(37_756_000_u64)), Some(3_775_600));
    assert_eq!((cost("cost_in_usd_ticks", json!(-1)), cost("x", json!(1))), (None, None));
}

#[test]
fn cached_tokens_that_are_counted_beside_the_prompt_are_known_by_the_total() {
    let of = |input: u64, cached: u64, total: u64| {
        let mut end = end();
        end["response"]["usage"] = json!({"input_tokens": input, "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": 30, "total_tokens": total});
        reply(&[end]).usage
    };
    let usage = of(40, 60, 130);
    assert_eq!((usage.input, usage.cached, usage.prompt()), (Some(40), Some(60), 100));
    let usage = of(100, 60, 130);
    assert_eq!((usage.input, usage.cached, usage.prompt()), (Some(40), Some(60), 100));
}

#[test]
fn a_server_that_tells_only_ends_is_shown_too() {
    let items = [reasoning("rs_1", "hm"), message("msg_1", "one"), message("msg_2", "two")];
    let reply_of = |events: &[Value]| {
        let reply = reply(events);
        (reply.thinking, reply.content)
    };
    let expected = ("hm".to_owned(), "one\n\ntwo".to_owned());
    assert_eq!(reply_of(&[done(0, &items[0]), done(1, &items[1]), done(2, &items[2]), end()]), expected);
    assert_eq!(reply_of(&[completed(&json!(items))]), expected);
    let again = completed(&json!(items));
    assert_eq!(reply_of(&[done(0, &items[0]), done(1, &items[1]), done(2, &items[2]), again]), expected);
}

#[test]
fn ids_that_change_and_places_that_lie_break_nothing() {
    // GitHub Copilot: each event of an item has another id.
    let rotating = reply(&[
        added(0, &json!({"type": "message", "id": "a", "content": []})),
        text_delta(0, "b", "on"),
        text_delta(0, "c", "e"),
        done(0, &message("d", "one")),
        added(1, &function_call("e", "call_a", "f", "")),
        arguments_delta(1, "g", "{}"),
        done(1, &function_call("h", "call_a", "f", "{}")),
        completed(&json!([message("i", "one"), function_call("j", "call_a", "f", "{}")])),
    ]);
    assert_eq!((rotating.content.as_str(), shown(&rotating.tool_calls)), ("one", vec!["call_a f {}".to_owned()]));
    // Every item at place 0.
    let lying = reply(&[
        added(0, &json!({"type": "message", "id": "a", "content": []})),
        text_delta(0, "a", "one"),
        done(0, &message("a", "one")),
        added(0, &function_call("b", "call_a", "f", "")),
        added(0, &function_call("c", "call_b", "g", "")),
        arguments_delta(0, "c", "{\"c\":1}"),
        arguments_delta(0, "b", "{\"b\":1}"),
        done(0, &function_call("b", "call_a", "f", "{\"b\":1}")),
        done(0, &function_call("c", "call_b", "g", "{\"c\":1}")),
        end(),
    ]);
    assert_eq!(shown(&lying.tool_calls), ["call_a f {\"b\":1}", "call_b g {\"c\":1}"]);
    assert_eq!(lying.content, "one");
    // Neither ids nor places.
    let delta = |kind: &str, delta: &str| json!({"type": format!("response.{kind}.delta"), "delta": delta});
    let events = [
        delta("reasoning_summary_text", "h"),
        delta("reasoning_summary_text", "m"),
        delta("output_text", "o"),
        delta("output_text", "k"),
        delta("function_call_arguments", "{}"),
    ];
    let bare = reply(&[&events[..], &[json!({"type": "response.completed"})]].concat());
    assert_eq!((bare.thinking.as_str(), bare.content.as_str()), ("hm", "ok"));
    let call = function_call("c", "call_a", "f", "{}");
    let named = reply(&[&events[..], &[completed(&json!([reasoning("a", "hm"), message("b", "ok"), call]))]].concat());
    assert_eq!((named.thinking.as_str(), named.content.as_str()), ("hm", "ok"));
    assert_eq!((shown(&named.tool_calls), named.original.is_some()), (vec!["call_a f {}".to_owned()], true));
}

#[test]
fn ids_of_calls_are_unique_and_never_missing() {
    let reply = reply(&[
        done(0, &function_call("a", "x", "f", "{}")),
        done(1, &function_call("b", "x", "f", "{}")),
        done(2, &function_call("c", "", "f", "")),
        done(3, &function_call("", "", "f", "[1]")),
        end(),
    ]);
    assert_eq!(shown(&reply.tool_calls), ["x f {}", "call_2 f {}", "call_3 f {}", "call_4 f [1]"]);
}

#[test]
fn the_name_of_an_event_stands_for_a_missing_type() {
    let mut assembler = HttpProvider::assembler(Dialect::OpenAiResponses).unwrap();
    for (name, data) in
        [("response.output_text.delta", r#"{"delta":"ok"}"#), ("response.completed", r#"{"response":{}}"#)]
    {
        assembler.take_frame(Frame::Event { name, id: "", data }).unwrap();
    }
    assert_eq!(assembler.finish().unwrap().content, "ok");
}

#[test]
fn a_reply_in_one_body_is_read_like_a_stream() {
    let output = json!([reasoning("rs_1", "hm"), message("msg_1", "ok"), function_call("fc_1", "call_a", "f", "{}")]);
    let body = json!({"object": "response", "status": "completed", "model": "m-1", "output": output, "error": null,
        "incomplete_details": null, "usage": {"input_tokens": 5, "output_tokens": 2}});
    let whole = HttpProvider::whole(Dialect::OpenAiResponses, &body.to_string()).unwrap();
    let mut streamed = reply(&[completed(&output)]);
    streamed.usage = whole.usage.clone();
    assert_eq!(whole, streamed);
    let of = |body: Value| HttpProvider::whole(Dialect::OpenAiResponses, &body.to_string());
    assert_eq!(of(json!({"status": "cancelled", "output": []})), Err(ProviderError::CutOff));
    let error = json!({"code": "server_error", "message": "oops"});
    assert!(matches!(
        of(json!({"status": "failed", "output": [], "error": error})),
        Err(ProviderError::Status { status: 500, .. })
    ));
    assert!(matches!(of(json!({"error": {"message": "no"}})), Err(ProviderError::Server(words)) if words == "no"));
    assert!(matches!(of(json!({"hello": 1})), Err(ProviderError::Malformed(_))));
    assert!(matches!(of(json!([{"output": []}])), Err(ProviderError::Malformed(_))));
}

#[test]
fn a_reply_has_bounds() {
    let calls = |count: usize| -> Vec<Value> {
        let call = |at| done(at, &function_call(&format!("fc_{at}"), &format!("c{at}"), "f", "{}"));
        (0..count as u64).map(call).chain([end()]).collect()
    };
    assert_eq!(reply(&calls(limits::CALLS_PER_REPLY)).tool_calls.len(), limits::CALLS_PER_REPLY);
    assert!(matches!(play(&calls(limits::CALLS_PER_REPLY + 1)).0, Err(ProviderError::Malformed(_))));
    let item = |at| done(at, &json!({"type": "mystery", "id": format!("x{at}")}));
    let items: Vec<Value> = (0..=limits::ITEMS_PER_REPLY as u64).map(item).collect();
    assert!(matches!(play(&items).0, Err(ProviderError::Malformed(_))));
    let mut absurd = end();
    absurd["response"]["usage"] =
        json!({"input_tokens": 3, "input_tokens_details": {"cached_tokens": u64::MAX}, "output_tokens": -1});
    let usage = reply(&[absurd]).usage;
    assert_eq!((usage.input, usage.output), (Some(0), None));
}
