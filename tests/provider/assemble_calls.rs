//! Calls out of fragments, and how much of a reply is too much: the right calls or an error, never half a call.

use serde_json::{Value, json};
use steersman_base::message::Arguments;
use steersman_core::provider::{Finish, ProviderError};
use steersman_provider::Assemble as _;
use steersman_provider::chat::Assembler;
use steersman_provider::sse::{Decoder, Frame};

use super::assemble::{chunks, delta, events, reply, shown};

/// Feeds tool-call fragments and returns `id name arguments` of each call.
fn calls(fragments: &[Value]) -> Vec<String> {
    let list = fragments.iter().map(|fragment| delta(json!({"tool_calls": [fragment]}))).collect();
    reply(list).tool_calls.iter().map(shown).collect()
}

#[test]
fn a_call_in_fragments_is_one_call() {
    let late = |arguments: &str| json!({"index": 0, "function": {"arguments": arguments}});
    let first = json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "read", "arguments": ""}});
    let whole = ["c1 read {\"path\":\"a\"}"];
    assert_eq!(calls(&[first.clone(), late("{\"path\""), late(":\"a\"}")]), whole);

    let with = |id: Value, name: Value, arguments: &str| json!({"index": 0, "id": id, "function": {"name": name, "arguments": arguments}});
    let (null, empty) = (json!(null), json!(""));
    for rest in [
        [with(empty.clone(), empty.clone(), "{\"path\""), with(empty.clone(), null.clone(), ":\"a\"}")],
        [with(json!("c1"), json!("read"), "{\"path\""), with(json!("c1"), json!("read"), ":\"a\"}")],
        [with(json!("other"), null.clone(), "{\"path\""), with(json!("third"), empty.clone(), ":\"a\"}")],
    ] {
        let [second, third] = rest;
        assert_eq!(calls(&[first.clone(), second, third]), whole);
    }
    let end = with(json!("c1"), json!("read"), "");
    assert_eq!(calls(&[first, late("{\"path\":\"a\"}"), end]), whole, "a repeated head is no second call");
}

#[test]
fn an_index_may_be_missing_start_at_one_or_lie() {
    let call = |index: Value, id: &str, name: &str, arguments: &str| json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}});
    let two = ["a read {\"n\":1}", "b grep {\"n\":2}"];
    for (first, second) in
        [(json!(null), json!(null)), (json!(0), json!(0)), (json!(1), json!(2)), (json!("x"), json!(-4))]
    {
        let list = [call(first.clone(), "a", "read", "{\"n\":1}"), call(second.clone(), "b", "grep", "{\"n\":2}")];
        assert_eq!(calls(&list), two, "{first} {second}");
        let bare = |index: &Value, arguments: &str| json!({"index": index, "function": {"arguments": arguments}});
        let list = [
            call(first.clone(), "a", "read", "{\"n\""),
            bare(&first, ":1}"),
            call(second.clone(), "b", "grep", ""),
            bare(&second, "{\"n\":2}"),
        ];
        assert_eq!(calls(&list), two, "{first} {second}");
    }
    let rising = [call(json!(0), "a", "read", "{\"n\""), json!({"index": 1, "function": {"arguments": ":1}"}})];
    assert_eq!(calls(&rising), two[..1]);
}

#[test]
fn calls_may_be_interleaved_and_come_in_one_chunk() {
    let part = |index: u32, arguments: &str| json!({"index": index, "function": {"arguments": arguments}});
    let head = |index: u32, id: &str| json!({"index": index, "id": id, "function": {"name": "f"}});
    let list = [head(0, "a"), head(1, "b"), part(1, "{\"n\""), part(0, "{}"), part(1, ":2}")];
    assert_eq!(calls(&list), ["a f {}", "b f {\"n\":2}"]);
    let both = json!({"tool_calls": [head(0, "a"), head(1, "b")]});
    let at_once = json!({"choices": [{"delta": both, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 1}});
    let reply = chunks(&[at_once]).0.unwrap();
    assert_eq!(reply.tool_calls.iter().map(shown).collect::<Vec<_>>(), ["a f {}", "b f {}"]);
    assert_eq!(reply.usage.input, Some(1));
}

#[test]
fn the_id_may_come_late_and_the_name_in_two_parts() {
    let list = [
        json!({"index": 0, "function": {"name": "re"}}),
        json!({"index": 0, "function": {"name": "ad", "arguments": ""}}),
        json!({"index": 0, "id": "late", "function": {"arguments": "{}"}}),
    ];
    assert_eq!(calls(&list), ["late read {}"]);
}

#[test]
fn arguments_may_be_null_absent_or_an_object() {
    let call = |function: Value| calls(&[json!({"index": 0, "id": "c", "function": function})]);
    assert_eq!(call(json!({"name": "f", "arguments": null})), ["c f {}"]);
    assert_eq!(call(json!({"name": "f"})), ["c f {}"]);
    assert_eq!(call(json!({"name": "f", "arguments": {"b": 1, "a": [2]}})), ["c f {\"b\":1,\"a\":[2]}"]);
}

#[test]
fn arguments_that_are_no_object_stay_raw() {
    let list = vec![delta(json!({"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}{}"}}]}))];
    assert_eq!(reply(list).tool_calls[0].arguments, Arguments::Raw("{}{}".to_owned()));
}

#[test]
fn missing_and_doubled_ids_are_made_unique_and_others_kept() {
    let call = |id: Value, name: &str| json!({"id": id, "function": {"name": name, "arguments": "{}"}});
    let list = [call(json!("call_2"), "a"), call(json!(null), "b"), call(json!(""), "c"), call(json!("call_2"), "d")];
    assert_eq!(calls(&list), ["call_2 a {}", "call_3 b {}", "call_4 c {}", "call_5 d {}"]);
    assert_eq!(calls(&[call(json!("functions.add:0"), "add")]), ["functions.add:0 add {}"]);
}

#[test]
fn two_identical_calls_without_ids_are_two_calls() {
    let call = json!({"function": {"name": "f", "arguments": "{\"n\":1}"}});
    assert_eq!(calls(&[call.clone(), call]), ["call_1 f {\"n\":1}", "call_2 f {\"n\":1}"]);
}

#[test]
fn a_call_that_was_cut_gives_no_reply() {
    let cut = json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "bash", "arguments": "{\"command\":\"rm"}}]});
    assert_eq!(chunks(&[delta(cut)]).0, Err(ProviderError::CutOff));
}

#[test]
fn done_without_a_finish_reason_still_brings_the_calls() {
    let call = delta(json!({"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}));
    let reply = events(&[call.to_string(), "[DONE]".to_owned()]).0.unwrap();
    assert_eq!((reply.finish, reply.tool_calls.len()), (Finish::Stop, 1));
}

#[test]
fn text_may_stand_before_between_and_after_the_calls() {
    let call = |id: &str| delta(json!({"tool_calls": [{"id": id, "function": {"name": "f", "arguments": "{}"}}]}));
    let text = |text: &str| delta(json!({"content": text}));
    let reply = reply(vec![text("a"), call("toolu_1"), text("b"), call("0"), text("c")]);
    assert_eq!((reply.content.as_str(), reply.original), ("abc", None));
    assert_eq!(reply.tool_calls.iter().map(shown).collect::<Vec<_>>(), ["toolu_1 f {}", "0 f {}"]);
    let blank = self::reply(vec![text("\n\n"), call("c")]);
    assert_eq!((blank.content.as_str(), blank.tool_calls.len()), ("\n\n", 1));
}

#[test]
fn a_call_whose_head_is_repeated_with_each_fragment_is_one_call_until_its_object_is_closed() {
    let part = |arguments: &str| json!({"index": 0, "id": "c", "function": {"name": "f", "arguments": arguments}});
    let whole = [part("{\"a\": {}"), part(", \"b\": \"}\\\""), part("}\""), part("}")];
    assert_eq!(calls(&whole), [r#"c f {"a":{},"b":"}\"}"}"#]);
    let two =
        [json!({"function": {"name": "f", "arguments": "{}"}}), json!({"function": {"name": "f", "arguments": "{}"}})];
    assert_eq!(calls(&two), ["call_1 f {}", "call_2 f {}"]);
}

#[test]
fn an_empty_object_before_the_real_one_is_not_repaired() {
    let list = [
        json!({"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}),
        json!({"index": 0, "function": {"arguments": "{\"path\":\"a\"}"}}),
    ];
    let list = list.iter().map(|call| delta(json!({"tool_calls": [call]}))).collect();
    let raw = Arguments::Raw("{}{\"path\":\"a\"}".to_owned());
    assert_eq!(reply(list).tool_calls[0].arguments, raw, "the model is told; nobody guesses which one it meant");
}

#[test]
fn two_calls_with_one_id_and_different_indexes_are_two_calls() {
    let head = |index: u64| json!({"index": index, "id": "x", "function": {"name": "f", "arguments": ""}});
    let part = |index: u64, arguments: &str| json!({"index": index, "function": {"arguments": arguments}});
    let two = ["x f {\"n\":1}", "call_2 f {\"n\":2}"];
    let side_by_side = [head(0), head(1), part(0, "{\"n\""), part(1, "{\"n\""), part(1, ":2}"), part(0, ":1}")];
    assert_eq!(calls(&side_by_side), two);
    let in_turn = [head(0), part(0, "{\"n\":1}"), head(1), part(1, "{\"n\":2}")];
    assert_eq!(calls(&in_turn), two);
    let repeated = |index: u64, arguments: &str| json!({"index": index, "id": "x", "function": {"name": "f", "arguments": arguments}});
    let heads = [repeated(0, "{\"n\""), repeated(1, "{\"n\""), repeated(0, ":1}"), repeated(1, ":2}")];
    assert_eq!(calls(&heads), two);
    let nameless = [head(0), json!({"index": 1, "id": "x", "function": {"arguments": "{\"n\":1}"}})];
    assert_eq!(calls(&nameless), two[..1], "a fragment without a name goes on with its call");
}

#[test]
fn too_many_calls_are_an_error() {
    let call =
        |n: usize| delta(json!({"tool_calls": [{"id": n.to_string(), "function": {"name": "f", "arguments": "{}"}}]}));
    let outcome = chunks(&(0..200).map(call).collect::<Vec<_>>()).0;
    assert_eq!(outcome, Err(ProviderError::Malformed("more than 128 tool calls".to_owned())));
    let one = r#"{"function":{"name":"f","arguments":"{}"}},"#;
    let all = format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{}null]}}}}]}}"#, one.repeat(100_000));
    let started = crate::support::cpu_time::CpuTime::now();
    assert_eq!(events(&[all]).0, Err(ProviderError::Malformed("more than 128 tool calls".to_owned())));
    assert!(started.elapsed().as_secs() < 20, "a chunk of 100,000 calls is refused at the first too many");
}

#[test]
fn a_line_without_end_and_a_text_without_end_are_errors() {
    let mut decoder = Decoder::default();
    let mut fed = 0;
    let mut assembler = Assembler::default();
    let megabyte = vec![b'x'; 1 << 20];
    let ended = (0..64).try_for_each(|_| {
        fed += 1;
        let start: &[u8] = if fed == 1 { b"data: " } else { b"" };
        decoder.push(&[start, &megabyte].concat(), |frame| assembler.take_frame(frame).map(|_| ()))
    });
    assert!(matches!(ended, Err(ProviderError::Malformed(_))), "{ended:?}");
    assert!(fed < 10, "refused at its cap, not at its end: {fed} MB");

    let large = "x".repeat(1 << 20);
    for (what, delta, most) in [
        ("text", json!({"content": large}), 33),
        ("arguments", json!({"tool_calls": [{"index": 0, "function": {"arguments": large}}]}), 33),
        ("marks", json!({"tool_calls": [{"index": 0, "id": "c", "extra_content": {"google": large}}]}), 33),
        ("details", json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": large}]}), 33),
        ("details that are shown", json!({"reasoning_details": [{"type": "reasoning.text", "text": large}]}), 17),
    ] {
        let chunk = json!({"choices": [{"delta": delta}]}).to_string();
        let mut assembler = Assembler::default();
        let frame = Frame::Event { name: "", id: "", data: &chunk };
        let taken = (0..64).position(|_| assembler.take_frame(frame).is_err());
        assert!(taken.is_some_and(|taken| taken < most), "{what}: {taken:?}");
    }
}

#[test]
fn tiny_deltas_without_end_cost_no_more_than_they_are() {
    let started = crate::support::cpu_time::CpuTime::now();
    let word = r#"{"choices":[{"delta":{"content":"<"}}]}"#;
    let part =
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}}]}"#;
    let head = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a\":["}}]}}]}"#;
    let mut assembler = Assembler::default();
    let mut take = |data| assembler.take_frame(Frame::Event { name: "", id: "", data }).map(|_| ());
    take(head).unwrap();
    (0..20_000).try_for_each(|_| take(word).and_then(|()| take(part))).unwrap();
    let reply = {
        take("[DONE]").unwrap();
        Box::new(assembler).finish().unwrap()
    };
    assert_eq!((reply.content.len(), reply.tool_calls.len()), (20_000, 1));
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}
