//! Chat-completion chunks: every oddity of real servers gives the right reply, or an error, never half a call.

use proptest::prelude::*;
use serde_json::{Value, json};
use steersman::message::{Arguments, ToolCall};
use steersman::provider::Assemble as _;
use steersman::provider::chat::Assembler;
use steersman::provider::sse::{Decoder, Frame};
use steersman::provider::{Finish, Piece, ProviderError, Reply};

type Outcome = (Result<Reply, ProviderError>, Vec<(String, String)>);

fn feed(frames: &[Frame<'_>]) -> Outcome {
    let mut assembler = Box::new(Assembler::default());
    let mut pieces = Vec::new();
    for frame in frames {
        match assembler.take(*frame) {
            Ok(Some(Piece::Chunk { thinking, text })) => pieces.push((thinking, text)),
            Ok(_) => {}
            Err(error) => return (Err(error), pieces),
        }
    }
    (assembler.finish(), pieces)
}

fn events(data: &[String]) -> Outcome {
    let frames: Vec<Frame<'_>> = data.iter().map(|data| Frame::Event { name: "", id: "", data }).collect();
    feed(&frames)
}

fn chunks(chunks: &[Value]) -> Outcome {
    events(&chunks.iter().map(Value::to_string).collect::<Vec<_>>())
}

#[allow(clippy::needless_pass_by_value)] // Callers write `json!` in place.
fn delta(delta: Value) -> Value {
    json!({"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn stop() -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
}

fn reply(mut list: Vec<Value>) -> Reply {
    list.push(stop());
    chunks(&list).0.unwrap()
}

/// Feeds tool-call fragments and returns `id name arguments` of each call.
fn calls(fragments: &[Value]) -> Vec<String> {
    let list = fragments.iter().map(|fragment| delta(json!({"tool_calls": [fragment]}))).collect();
    reply(list).tool_calls.iter().map(shown).collect()
}

fn shown(call: &ToolCall) -> String {
    format!("{} {} {}", call.id, call.name, call.arguments)
}

#[test]
fn text_arrives_whatever_the_first_chunk_looks_like() {
    for first in [json!({"role": "assistant"}), json!({"role": "assistant", "content": ""}), json!({"content": null})] {
        let word = |word: &str| delta(json!({"role": "assistant", "content": word}));
        let reply = reply(vec![delta(first), word("a "), word("b")]);
        assert_eq!((reply.content.as_str(), reply.finish), ("a b", Finish::Stop));
        assert_eq!(reply.usage.model.as_deref(), Some("m"));
    }
}

#[test]
fn every_chunk_gives_a_piece_also_when_it_only_has_a_fragment_of_a_call() {
    let call = json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}]});
    let (reply, pieces) = chunks(&[delta(json!({"content": "x"})), delta(call), json!({"choices": []}), stop()]);
    assert!(reply.is_ok());
    let empty = (String::new(), String::new());
    assert_eq!(pieces, [(String::new(), "x".to_owned()), empty.clone(), empty.clone(), empty]);
}

#[test]
fn reasoning_is_shown_once_in_every_spelling() {
    let details = json!([{"type": "reasoning.text", "text": "why"}]);
    for fields in [
        json!({"reasoning_content": "why"}),
        json!({"reasoning": "why", "content": ""}),
        json!({"reasoning_details": details}),
        json!({"reasoning": "why", "reasoning_details": details}),
        json!({"reasoning_content": "why", "reasoning": "why"}),
        json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "why"}]}]}),
        json!({"content": [{"type": "thinking", "thinking": "why"}]}),
    ] {
        assert_eq!(reply(vec![delta(fields.clone())]).thinking, "why", "{fields}");
    }
    let later = reply(vec![delta(json!({"reasoning": "why"})), delta(json!({"reasoning_details": details}))]);
    assert_eq!(later.thinking, "why");
}

#[test]
fn content_parts_may_hold_thoughts_and_text_in_one_chunk() {
    let parts =
        json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "ok"}]);
    let (result, pieces) = chunks(&[delta(json!({"content": parts})), stop()]);
    let reply = result.unwrap();
    assert_eq!((reply.thinking.as_str(), reply.content.as_str()), ("hm", "ok"));
    assert_eq!(pieces[0], ("hm".to_owned(), "ok".to_owned()));
}

#[test]
fn cumulative_messages_beside_the_deltas_are_passed_over() {
    let both =
        |part: &str, whole: &str| json!({"choices": [{"delta": {"content": part}, "message": {"content": whole}}]});
    let last = json!({"object": "chat.completion.done", "choices": [{"delta": {}, "message": {"content": "ab"}, "finish_reason": "stop"}]});
    assert_eq!(chunks(&[both("a", "a"), both("b", "ab"), last]).0.unwrap().content, "ab");
}

#[test]
fn usage_counts_wherever_it_stands_and_the_last_wins() {
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
        "completion_tokens_details": {"reasoning_tokens": 3}});
    let early = json!({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}});
    for place in [
        json!({"choices": [], "usage": usage}),
        json!({"choices": [{"delta": {}}], "usage": usage}),
        json!({"choices": [{"delta": {}, "usage": usage}]}),
        json!({"choices": [], "x_groq": {"usage": usage}}),
    ] {
        let usage = reply(vec![early.clone(), place, json!({"choices": [], "usage": null})]).usage;
        assert_eq!((usage.input, usage.output, usage.cached), (Some(30), Some(7), Some(60)));
        assert_eq!((usage.cache_creation, usage.thinking, usage.prompt()), (Some(10), Some(3), 100));
    }
}

#[test]
fn usage_in_other_spellings_and_absurd_usage_break_nothing() {
    let of = |usage: Value| reply(vec![json!({"choices": [], "usage": usage})]).usage;
    assert_eq!(of(json!({"prompt_tokens": 10, "prompt_cache_hit_tokens": 4})).input, Some(6));
    assert_eq!(of(json!({"prompt_tokens": 10, "cached_tokens": 4})).cached, Some(4));
    assert_eq!(of(json!({"prompt_tokens": 3, "prompt_tokens_details": {"cached_tokens": 9}})).input, Some(0));
    assert_eq!(of(json!({"prompt_tokens": -3, "completion_tokens": "x", "cached_tokens": [1]})).input, None);
    assert_eq!(of(json!({"prompt_tokens": 12.0, "completion_tokens": u64::MAX})).context(), u64::MAX);
    assert_eq!(of(json!(null)).input, None);
}

#[test]
fn a_cost_that_the_server_tells_is_taken_and_nonsense_is_not() {
    let cost =
        |cost: Value| reply(vec![json!({"choices": [], "usage": {"prompt_tokens": 1, "cost": cost}})]).usage.cost_nanos;
    assert_eq!(cost(json!(0.000_142_5)), Some(142_500));
    assert_eq!((cost(json!(2)), cost(json!(0)), cost(json!(0.0))), (Some(2_000_000_000), Some(0), Some(0)));
    for nonsense in [json!(-0.1), json!(-1), json!("0.1"), json!(1e30), json!(u64::MAX), json!(null), json!({"a": 1})] {
        assert_eq!(cost(nonsense.clone()), None, "{nonsense}");
    }
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
fn a_stream_is_whole_with_a_finish_reason_or_done_and_cut_off_without_both() {
    let word = delta(json!({"content": "a"})).to_string();
    let done = "[DONE]".to_owned();
    assert_eq!(events(&[word.clone(), stop().to_string()]).0.unwrap().content, "a");
    assert_eq!(events(&[word.clone(), done]).0.unwrap().content, "a");
    assert_eq!(events(&[word]).0, Err(ProviderError::CutOff));
    assert_eq!(events(&[]).0, Err(ProviderError::CutOff));
}

#[test]
fn a_call_that_was_cut_gives_no_reply() {
    let cut = json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "bash", "arguments": "{\"command\":\"rm"}}]});
    assert_eq!(chunks(&[delta(cut)]).0, Err(ProviderError::CutOff));
}

#[test]
fn finish_reasons_are_told_apart() {
    let end = |word: &str| chunks(&[json!({"choices": [{"delta": {}, "finish_reason": word}]})]).0;
    assert_eq!(end("length").unwrap().finish, Finish::Length);
    assert_eq!(end("content_filter").unwrap().finish, Finish::ContentFilter);
    for word in ["stop", "tool_calls", "function_call", "STOP", "end_turn", "eos"] {
        assert_eq!(end(word).unwrap().finish, Finish::Stop, "{word}");
    }
    assert_eq!(end("model_context_window_exceeded").unwrap().finish, Finish::Length);
    assert_eq!(end("something new").unwrap().finish, Finish::Unknown("something new".to_owned()));
    assert_eq!(end(""), Err(ProviderError::CutOff));
    assert_eq!(end("abort"), Err(ProviderError::CutOff));
    assert_eq!(end("error"), Err(ProviderError::Server("the reply ended with \"error\"".to_owned())));
}

#[test]
fn errors_within_a_stream_are_the_servers_own_words() {
    let server = |words: &str| Err(ProviderError::Server(words.to_owned()));
    for error in [
        json!({"error": {"message": "full", "type": "server_error"}}),
        json!({"error": "full"}),
        json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "error": {"message": "full"}}),
        json!({"choices": [{"delta": {}, "error": {"message": "full"}}]}),
        json!({"object": "error", "message": "full", "type": "x"}),
        json!({"detail": "full"}),
    ] {
        assert_eq!(chunks(&[delta(json!({"content": "a"})), error.clone()]).0, server("full"), "{error}");
    }
    let named = Frame::Event { name: "error", id: "", data: "{\"message\":\"full\"}" };
    assert_eq!(feed(&[named]).0, server("full"));
    let field = Frame::Field { name: "error", value: "{\"code\":1,\"message\":\"full\"}" };
    assert_eq!(feed(&[field]).0, server("full"));
    let numbered = chunks(&[json!({"error": {"message": "full", "code": 502}})]).0;
    assert!(matches!(numbered, Err(ProviderError::Status { status: 502, .. })), "{numbered:?}");
    assert!(chunks(&[json!({"error": null, "choices": []}), stop()]).0.is_ok());
}

#[test]
fn what_is_no_chunk_is_an_error_and_never_a_panic() {
    for data in ["oops", "{\"choices\":", "1", "[]", "\"x\"", "{\"choices\": 5}"] {
        let outcome = events(&[data.to_owned()]).0;
        assert!(matches!(outcome, Err(ProviderError::Malformed(_))), "{data}: {outcome:?}");
    }
    assert!(events(&[String::new(), " ".to_owned(), "[DONE]".to_owned()]).0.is_ok());
}

#[test]
fn members_of_a_wrong_type_count_as_absent() {
    let odd = json!({"content": 5, "reasoning": {"x": 1}, "reasoning_content": ["a"], "refusal": false});
    let reply = reply(vec![delta(odd), json!({"model": 3, "choices": [{"delta": null, "finish_reason": 0}]})]);
    assert_eq!((reply.content.as_str(), reply.thinking.as_str()), ("", ""));
}

#[test]
fn a_reply_that_was_cut_does_not_become_whole_by_a_later_word() {
    let end = |word: &str| json!({"choices": [{"delta": {}, "finish_reason": word}]});
    assert_eq!(chunks(&[end("length"), end("stop")]).0.unwrap().finish, Finish::Length);
    assert_eq!(chunks(&[end("stop"), end("length")]).0.unwrap().finish, Finish::Length);
    assert_eq!(chunks(&[end("abort"), end("stop")]).0, Err(ProviderError::CutOff));
}

#[test]
fn done_without_a_finish_reason_still_brings_the_calls() {
    let call = delta(json!({"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}));
    let reply = events(&[call.to_string(), "[DONE]".to_owned()]).0.unwrap();
    assert_eq!((reply.finish, reply.tool_calls.len()), (Finish::Stop, 1));
}

#[test]
fn the_limit_may_cut_before_the_first_word_and_within_a_call() {
    let cut = json!({"choices": [{"delta": {}, "finish_reason": "length"}], "usage": {"completion_tokens": 40}});
    let reply = chunks(&[delta(json!({"reasoning_content": "hm"})), cut.clone()]).0.unwrap();
    assert_eq!((reply.thinking.as_str(), reply.content.as_str(), reply.finish), ("hm", "", Finish::Length));
    let half = json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "bash", "arguments": "{\"command\":\"rm"}}]});
    let reply = chunks(&[delta(half), cut]).0.unwrap();
    assert_eq!(reply.finish, Finish::Length, "such calls do not run");
    assert_eq!(reply.tool_calls[0].arguments, Arguments::Raw("{\"command\":\"rm".to_owned()));
}

#[test]
fn the_first_chunk_may_have_no_choice_and_no_name() {
    let filters = json!({"choices": [], "created": 0, "id": "", "model": "", "object": "",
        "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {"hate": {"filtered": false}}}]});
    let reply = reply(vec![filters, delta(json!({"role": "assistant", "content": "a"}))]);
    assert_eq!((reply.content.as_str(), reply.usage.model.as_deref()), ("a", Some("m")));
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
fn lists_of_a_wrong_type_count_as_absent() {
    for odd in [json!(5), json!("x"), json!({"index": 0}), json!(null), json!([null])] {
        let odd = json!({"content": "a", "tool_calls": odd, "reasoning_details": odd});
        let reply = reply(vec![delta(odd.clone())]);
        assert_eq!((reply.content.as_str(), reply.tool_calls.len()), ("a", 0), "{odd}");
    }
}

#[test]
fn too_many_calls_are_an_error() {
    let call =
        |n: usize| delta(json!({"tool_calls": [{"id": n.to_string(), "function": {"name": "f", "arguments": "{}"}}]}));
    let outcome = chunks(&(0..200).map(call).collect::<Vec<_>>()).0;
    assert_eq!(outcome, Err(ProviderError::Malformed("more than 128 tool calls".to_owned())));
    let one = r#"{"function":{"name":"f","arguments":"{}"}},"#;
    let all = format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{}null]}}}}]}}"#, one.repeat(100_000));
    let started = std::time::Instant::now();
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
        decoder.push(&[start, &megabyte].concat(), |frame| assembler.take(frame).map(|_| ()))
    });
    assert!(matches!(ended, Err(ProviderError::Malformed(_))), "{ended:?}");
    assert!(fed < 10, "refused at its cap, not at its end: {fed} MB");

    let megabyte = delta(json!({"content": "x".repeat(1 << 20)})).to_string();
    let mut assembler = Assembler::default();
    let frame = Frame::Event { name: "", id: "", data: &megabyte };
    let ended = (0..64).position(|_| assembler.take(frame).is_err());
    assert_eq!(ended, Some(32));
}

#[test]
fn a_hundred_thousand_tiny_deltas_cost_no_more_than_they_are() {
    let started = std::time::Instant::now();
    let word = r#"{"choices":[{"delta":{"content":"<"}}]}"#;
    let part =
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}}]}"#;
    let head = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a\":["}}]}}]}"#;
    let mut assembler = Assembler::default();
    let mut take = |data| assembler.take(Frame::Event { name: "", id: "", data }).map(|_| ());
    take(head).unwrap();
    (0..50_000).try_for_each(|_| take(word).and_then(|()| take(part))).unwrap();
    let reply = {
        take("[DONE]").unwrap();
        Box::new(assembler).finish().unwrap()
    };
    assert_eq!((reply.content.len(), reply.tool_calls.len()), (50_000, 1));
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

#[test]
fn a_whole_body_is_read_like_a_stream() {
    let message = json!({"role": "assistant", "content": null, "reasoning_content": "hm",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
    let body = json!({"model": "m", "choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 4}});
    let reply = Assembler::whole(&format!("\u{FEFF}{body:#}")).unwrap();
    assert_eq!((reply.content.as_str(), reply.thinking.as_str(), reply.usage.input), ("", "hm", Some(4)));
    assert_eq!(shown(&reply.tool_calls[0]), "c f {}");
    let failed = Assembler::whole("{\"error\":{\"message\":\"no\"}}");
    assert_eq!(failed, Err(ProviderError::Server("no".to_owned())));
    let page = Assembler::whole("<html><title>Sign in</title></html>");
    assert_eq!(page, Err(ProviderError::Malformed("a web page, \"Sign in\"".to_owned())));
    assert!(matches!(Assembler::whole(""), Err(ProviderError::Malformed(_))));
    assert!(matches!(Assembler::whole("{}"), Err(ProviderError::Malformed(_))));
}

proptest! {
    #[test]
    fn any_chunking_of_the_bytes_gives_the_same_reply(size in 1usize..40, words in prop::collection::vec("[a-zü漢\u{2028} ]{0,6}", 0..8)) {
        let mut stream = String::from(": ping\r\n\r\n");
        let half = |arguments: &str| delta(json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": arguments}}]}));
        let list = words.iter().map(|word| delta(json!({"content": word, "reasoning": word})));
        for (at, chunk) in list.chain([half("{\"w\":"), half("\"ü\"}"), stop()]).enumerate() {
            let end = ["\n\n", "\r\n\r\n", "\r\r"][at % 3];
            stream.extend(["data: ", &chunk.to_string(), end]);
        }
        let run = |size: usize| -> Result<Reply, ProviderError> {
            let mut assembler = Box::new(Assembler::default());
            let mut decoder = Decoder::default();
            let mut take = |frame: Frame<'_>| assembler.take(frame).map(|_| ());
            for piece in stream.as_bytes().chunks(size) {
                decoder.push(piece, &mut take)?;
            }
            decoder.finish(&mut take)?;
            assembler.finish()
        };
        let whole = run(stream.len()).unwrap();
        prop_assert_eq!(&whole.content, &words.concat());
        prop_assert_eq!(shown(&whole.tool_calls[0]), "c f {\"w\":\"ü\"}");
        prop_assert_eq!(run(size).unwrap(), whole);
    }
}
