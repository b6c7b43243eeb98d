//! Chat-completion chunks: every oddity of real servers gives the right reply, or an error, never half a call.

use proptest::prelude::*;
use serde_json::{Value, json};
use steersman_base::message::{Arguments, ToolCall};
use steersman_core::provider::{Finish, Piece, ProviderError, Reply};
use steersman_provider::Assemble as _;
use steersman_provider::chat::Assembler;
use steersman_provider::sse::{Decoder, Frame};

type Outcome = (Result<Reply, ProviderError>, Vec<(String, String)>);

fn feed(frames: &[Frame<'_>]) -> Outcome {
    let mut assembler = Box::new(Assembler::default());
    let mut pieces = Vec::new();
    for frame in frames {
        match assembler.take_frame(*frame) {
            Ok(Some(Piece::Chunk { thinking, text })) => pieces.push((thinking, text)),
            Ok(_) => {}
            Err(error) => return (Err(error), pieces),
        }
    }
    (assembler.finish(), pieces)
}

pub fn events(data: &[String]) -> Outcome {
    let frames: Vec<Frame<'_>> = data.iter().map(|data| Frame::Event { name: "", id: "", data }).collect();
    feed(&frames)
}

pub fn chunks(chunks: &[Value]) -> Outcome {
    events(&chunks.iter().map(Value::to_string).collect::<Vec<_>>())
}

#[allow(clippy::needless_pass_by_value)] // Callers write `json!` in place.
pub fn delta(delta: Value) -> Value {
    json!({"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn stop() -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
}

pub fn reply(mut list: Vec<Value>) -> Reply {
    list.push(stop());
    chunks(&list).0.unwrap()
}

pub fn shown(call: &ToolCall) -> String {
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
    let beside = of(json!({"prompt_tokens": 3, "prompt_tokens_details": {"cached_tokens": 9}}));
    assert_eq!((beside.input, beside.prompt()), (Some(3), 12), "more than the prompt cannot be within it");
    let thoughts = json!({"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 94}});
    assert_eq!(of(thoughts).output, Some(103), "nor more than the answer");
    assert_eq!(of(json!({"prompt_tokens": -3, "completion_tokens": "x", "cached_tokens": [1]})).input, None);
    assert_eq!(of(json!({"prompt_tokens": 12.0, "completion_tokens": u64::MAX})).context(), u64::MAX);
    assert_eq!(of(json!(null)).input, None);
}

/// What is counted once and what twice differs; the total tells it.
#[test]
fn the_total_tells_how_cached_tokens_are_counted() {
    let of = |prompt: u64, cached: u64, written: u64, total: u64| {
        let usage = json!({"prompt_tokens": prompt, "completion_tokens": 30, "total_tokens": total,
            "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
            "completion_tokens_details": {"reasoning_tokens": 20}});
        let usage = reply(vec![json!({"choices": [], "usage": usage})]).usage;
        (usage.input.unwrap(), usage.cached.unwrap(), usage.cache_creation.unwrap(), usage.output.unwrap())
    };
    assert_eq!(of(100, 60, 10, 130), (30, 60, 10, 30), "within the prompt, as the dialect has it");
    // Grok on Azure.
    assert_eq!(of(40, 60, 0, 130), (40, 60, 0, 30), "beside the prompt");
    assert_eq!(of(5, 60, 0, 95), (5, 60, 0, 30), "beside the prompt and more than it");
    // Gemini on OpenRouter.
    assert_eq!(of(70, 60, 60, 100), (10, 60, 0, 30), "read and written are the same tokens");
    assert_eq!(of(130, 60, 0, 100), (10, 60, 0, 30), "in the prompt twice");
    // Grok counts its thoughts beside its answer.
    assert_eq!(of(100, 60, 0, 150), (40, 60, 0, 50), "thoughts beside the answer");
    assert_eq!(of(40, 60, 0, 150), (40, 60, 0, 50), "both beside");
    assert_eq!(of(100, 60, 10, 7), (30, 60, 10, 30), "a total that fits nothing tells nothing");
    assert_eq!(of(0, 0, 0, u64::MAX), (0, 0, 0, 30));
}

#[test]
fn a_cost_in_ticks_is_taken() {
    let usage = json!({"prompt_tokens": 1, "cost_in_usd_ticks": 37_756_000_u64});
    assert_eq!(reply(vec![json!({"choices": [], "usage": usage})]).usage.cost_nanos, Some(3_775_600));
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
fn a_stream_is_whole_with_a_finish_reason_or_done_and_cut_off_without_both() {
    let word = delta(json!({"content": "a"})).to_string();
    let done = "[DONE]".to_owned();
    assert_eq!(events(&[word.clone(), stop().to_string()]).0.unwrap().content, "a");
    assert_eq!(events(&[word.clone(), done]).0.unwrap().content, "a");
    assert_eq!(events(&[word]).0, Err(ProviderError::CutOff));
    assert_eq!(events(&[]).0, Err(ProviderError::CutOff));
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
    assert_eq!(end("null"), Err(ProviderError::CutOff));
    assert_eq!(end("abort"), Err(ProviderError::CutOff));
    assert_eq!(end("error"), Err(ProviderError::Server("the reply ended with \"error\"".to_owned())));
}

#[test]
fn errors_within_a_stream_are_the_servers_own_words() {
    let server = |words: &str| Err(ProviderError::Server(words.to_owned()));
    for error in [
        json!({"error": {"message": "full", "type": "odd_error"}}),
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
    let worded = chunks(&[json!({"error": {"message": "full", "type": "server_error"}})]).0;
    assert!(matches!(worded, Err(ProviderError::Status { status: 500, .. })), "{worded:?}");
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
fn lists_of_a_wrong_type_count_as_absent() {
    for odd in [json!(5), json!("x"), json!({"index": 0}), json!(null), json!([null])] {
        let odd = json!({"content": "a", "tool_calls": odd, "reasoning_details": odd});
        let reply = reply(vec![delta(odd.clone())]);
        assert_eq!((reply.content.as_str(), reply.tool_calls.len()), ("a", 0), "{odd}");
    }
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
    fn any_chunking_of_the_bytes_gives_the_same_reply(
        sizes in prop::collection::vec(1usize..60, 1..8),
        words in prop::collection::vec("[a-zü漢<>/\u{2028} ]{0,6}", 0..8),
        inline in any::<bool>(),
        interleaved in any::<bool>(),
    ) {
        let mut stream = String::from(": ping\r\n\r\n");
        let half = |index: usize, arguments: &str| {
            let id = format!("c{index}");
            delta(json!({"tool_calls": [{"index": index, "id": id, "function": {"name": "f", "arguments": arguments}}]}))
        };
        let mut list: Vec<Value> = Vec::new();
        if inline {
            list.extend(["<th", "ink>hm</", "think>\n"].map(|part| delta(json!({"content": part}))));
        }
        let said = |word: &String| if inline { json!({"content": word}) } else { json!({"content": word, "reasoning": word,
            "reasoning_details": [{"type": "reasoning.text", "text": word, "index": 0}]}) };
        list.extend(words.iter().map(|word| delta(said(word))));
        let halves = [half(0, "{\"w\":"), half(0, "\"ü\"}"), half(1, "{\"w\":"), half(1, "2}")];
        let order = if interleaved { [0, 2, 3, 1] } else { [0, 1, 2, 3] };
        list.extend(order.map(|at| halves[at].clone()));
        list.push(stop());
        for (at, chunk) in list.iter().enumerate() {
            let end = ["\n\n", "\r\n\r\n", "\r\r"][at % 3];
            stream.extend(["data: ", &chunk.to_string(), end]);
        }
        let run = |sizes: &[usize]| -> Result<(Reply, Vec<Piece>), ProviderError> {
            let mut assembler = Box::new(Assembler::default());
            let mut decoder = Decoder::default();
            let mut pieces = Vec::new();
            let mut take = |frame: Frame<'_>| assembler.take_frame(frame).map(|piece| pieces.extend(piece));
            let mut rest = stream.as_bytes();
            for size in sizes.iter().cycle() {
                let (piece, after) = rest.split_at((*size).min(rest.len()));
                decoder.push(piece, &mut take)?;
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
            decoder.finish(&mut take)?;
            Ok((assembler.finish()?, pieces))
        };
        let (whole, pieces) = run(&[stream.len()]).unwrap();
        let calls: Vec<_> = whole.tool_calls.iter().map(shown).collect();
        prop_assert_eq!(calls, ["c0 f {\"w\":\"ü\"}", "c1 f {\"w\":2}"]);
        if inline {
            prop_assert_eq!(&whole.thinking, "hm");
            let said = words.concat();
            prop_assert_eq!(&whole.content, said.trim_start());
        } else {
            prop_assert_eq!((&whole.thinking, &whole.content), (&words.concat(), &words.concat()));
        }
        prop_assert_eq!(run(&sizes).unwrap(), (whole, pieces));
    }
}
