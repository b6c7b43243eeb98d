//! What a Gemini server answers: every oddity gives the right reply, or an error, never half a call.

use proptest::prelude::*;
use serde_json::{Value, json};
use steersman_base::dialect::Dialect;
use steersman_base::limits;
use steersman_core::provider::{Finish, ProviderError, Reply};
use steersman_provider::HttpProvider;
use steersman_provider::sse::{Decoder, Frame};

use super::{end, parts, play, reply, shown, stop, text};

#[test]
fn thoughts_and_text_come_in_pieces_and_the_last_part_is_empty() {
    let (answer, pieces) = play(&[parts(json!([{"text": "hm", "thought": true}, {"text": "a "}])), text("b"), stop()]);
    let reply = answer.unwrap();
    assert_eq!(pieces, [("hm".to_owned(), "a ".to_owned()), (String::new(), "b".to_owned())]);
    assert_eq!((reply.thinking.as_str(), reply.content.as_str(), reply.finish), ("hm", "a b", Finish::Stop));
    let usage = reply.usage;
    assert_eq!((usage.input, usage.cached, usage.output, usage.thinking), (Some(40), Some(60), Some(30), Some(20)));
    assert_eq!((usage.prompt(), usage.model.as_deref()), (100, Some("m-1")));
}

#[test]
fn usage_in_each_chunk_is_a_sum_so_far() {
    let counted = |prompt: u64, candidates: Option<u64>| {
        let mut chunk = text("x");
        chunk["usageMetadata"] = json!({"promptTokenCount": prompt, "totalTokenCount": prompt});
        if let Some(candidates) = candidates {
            chunk["usageMetadata"]["candidatesTokenCount"] = json!(candidates);
        }
        chunk
    };
    let mut last = end("STOP");
    last["usageMetadata"] = json!({"promptTokenCount": 9, "thoughtsTokenCount": 5, "toolUsePromptTokenCount": 1});
    let usage = reply(&[counted(8, None), counted(8, Some(2)), counted(8, Some(4)), last]).usage;
    assert_eq!((usage.input, usage.output, usage.thinking, usage.cached), (Some(10), Some(9), Some(5), None));
    let mut absurd = stop();
    absurd["usageMetadata"] =
        json!({"promptTokenCount": 3, "cachedContentTokenCount": u64::MAX, "candidatesTokenCount": -1});
    let usage = reply(&[absurd]).usage;
    assert_eq!((usage.input, usage.output), (Some(0), None));
}

#[test]
fn calls_side_by_side_get_ids_where_none_were_given() {
    let reply = reply(&[
        text("I look."),
        parts(
            json!([{"functionCall": {"name": "read", "args": {"path": "ü"}}}, {"functionCall": {"name": "read", "args": {"path": "b"}}}]),
        ),
        parts(
            json!([{"functionCall": {"id": "x", "name": "glob", "args": null}}, {"functionCall": {"id": "x", "name": "glob"}}]),
        ),
        stop(),
    ]);
    let expected = ["call_1 read {\"path\":\"ü\"}", "call_2 read {\"path\":\"b\"}", "x glob {}", "call_4 glob {}"];
    assert_eq!(shown(&reply.tool_calls), expected);
    assert_eq!((reply.finish, reply.content.as_str()), (Finish::Stop, "I look."));
}

#[allow(clippy::needless_pass_by_value)] // Callers write `json!` in place.
fn call_parts(call: Value) -> Value {
    parts(json!([{"functionCall": call}]))
}

/// Vertex writes arguments in pieces where a gateway asks it to.
#[test]
fn arguments_in_pieces_are_put_together() {
    let pieces = |pieces: Value| call_parts(json!({"partialArgs": pieces, "willContinue": true}));
    let answer = reply(&[
        call_parts(json!({"name": "write", "id": "w1", "args": {"mode": "new"}, "willContinue": true})),
        pieces(json!([{"jsonPath": "$.path", "stringValue": "no", "willContinue": true}])),
        pieces(
            json!([{"jsonPath": "$.path", "stringValue": "tes"}, {"jsonPath": "$.lines[0].text", "stringValue": "ü"}]),
        ),
        pieces(
            json!([{"jsonPath": "$.lines[0].count", "numberValue": 2}, {"jsonPath": "$['lines'][1]", "nullValue": "NULL_VALUE"}]),
        ),
        pieces(json!([{"jsonPath": "$.force", "boolValue": true}])),
        call_parts(json!({})),
        call_parts(json!({"name": "read", "partialArgs": [{"jsonPath": "$.path", "stringValue": "b"}]})),
        stop(),
    ]);
    let written = r#"w1 write {"mode":"new","path":"notes","lines":[{"text":"ü","count":2},null],"force":true}"#;
    assert_eq!(shown(&answer.tool_calls), [written, r#"call_2 read {"path":"b"}"#]);
    let marked = json!({"functionCall": {"name": "f", "willContinue": true}, "thoughtSignature": "s"});
    let signed = reply(&[
        parts(json!([marked])),
        call_parts(json!({"partialArgs": [{"jsonPath": "$.a", "numberValue": 1}]})),
        stop(),
    ]);
    assert_eq!(shown(&signed.tool_calls), ["call_1 f {\"a\":1}"]);
    assert!(signed.original.is_some_and(|original| original.parts.len() == 1), "the signature goes back with it");
}

#[test]
fn arguments_in_pieces_that_never_end_or_fit_nowhere_run_nothing() {
    let open = call_parts(json!({"name": "rm", "willContinue": true}));
    let more = call_parts(
        json!({"partialArgs": [{"jsonPath": "$.path", "stringValue": "/tm", "willContinue": true}], "willContinue": true}),
    );
    let next = call_parts(json!({"name": "read", "args": {}}));
    for chunks in [vec![open.clone(), stop()], vec![open.clone(), more, stop()], vec![open.clone(), next, stop()]] {
        assert_eq!(play(&chunks).0, Err(ProviderError::CutOff), "{chunks:?}");
    }
    let limited = reply(&[open.clone(), end("MAX_TOKENS")]);
    assert_eq!((limited.finish, limited.tool_calls.len()), (Finish::Length, 1), "such calls do not run");
    let deep = format!("${}", ".a".repeat(1_000));
    for path in
        ["", "path", "$", "$.", "$..a", "$.a[", "$.a[x]", "$.a[7]", "$.a[99999999999999999999]", "$.*", "$.s.x", &deep]
    {
        let piece = json!([{"jsonPath": "$.s", "stringValue": "x"}, {"jsonPath": path, "stringValue": "y"}]);
        let answer = play(&[open.clone(), call_parts(json!({"partialArgs": piece})), stop()]).0;
        assert!(matches!(answer, Err(ProviderError::Malformed(_))), "{path}: {answer:?}");
    }
    let orphan = call_parts(json!({"partialArgs": [{"jsonPath": "$.path", "stringValue": "x"}]}));
    assert!(matches!(play(&[orphan, stop()]).0, Err(ProviderError::Malformed(_))), "pieces of no call");
}

#[test]
fn a_reply_ends_for_the_reason_that_the_server_says() {
    let ended = |word: &str| reply(&[text("x"), end(word)]).finish;
    assert_eq!(ended("STOP"), Finish::Stop);
    assert_eq!(ended("MAX_TOKENS"), Finish::Length);
    for word in ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"] {
        assert_eq!(ended(word), Finish::ContentFilter);
    }
    for word in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER", "stop"] {
        assert_eq!(ended(word), Finish::Unknown(word.to_owned()));
    }
    assert_eq!(play(&[text("x"), end("FINISH_REASON_UNSPECIFIED")]).0, Err(ProviderError::CutOff));
    let bare = json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed"}]});
    assert_eq!(reply(&[bare]).finish, Finish::Unknown("MALFORMED_FUNCTION_CALL".to_owned()));
}

#[test]
fn a_blocked_prompt_says_why() {
    let error = |feedback: Value| {
        play(&[json!({"promptFeedback": feedback, "usageMetadata": {"promptTokenCount": 3}})]).0.unwrap_err()
    };
    assert_eq!(
        error(json!({"blockReason": "SAFETY", "safetyRatings": []})).to_string(),
        "the server reported an error: the prompt was blocked: SAFETY"
    );
    assert_eq!(
        error(json!({"blockReason": "OTHER", "blockReasonMessage": "Not today."})).to_string(),
        "the server reported an error: the prompt was blocked: OTHER, Not today."
    );
}

#[test]
fn a_stream_without_a_finish_reason_is_cut_off() {
    let call = parts(json!([{"functionCall": {"name": "read", "args": {}}}]));
    for chunks in [vec![], vec![text("x")], vec![text("x"), call], vec![json!({"usageMetadata": {}})]] {
        assert_eq!(play(&chunks).0, Err(ProviderError::CutOff));
    }
    assert_eq!(reply(&[text("ok"), stop(), json!({"usageMetadata": {"promptTokenCount": 1}})]).content, "ok");
}

#[test]
fn failures_within_a_stream_are_the_errors_that_they_are() {
    let error =
        |code: u16, status: &str, words: &str| json!({"error": {"code": code, "message": words, "status": status}});
    let busy =
        ProviderError::Status { status: 503, message: "The model is overloaded.".to_owned(), retry_after_ms: None };
    let overloaded = error(503, "UNAVAILABLE", "The model is overloaded.");
    assert_eq!(play(&[text("x"), overloaded.clone()]).0, Err(busy.clone()));
    assert_eq!(play(&[text("x"), json!([overloaded])]).0, Err(busy.clone()));
    // In mid-stream it comes as plain JSON over several lines, which is no event.
    for pretty in [format!("{overloaded:#}"), format!("{:#}", json!([overloaded]))] {
        let stream = format!("data: {}\r\n\r\n{}\n", text("x"), pretty);
        assert_eq!(run(stream.as_bytes(), 5), Err(busy.clone()), "{pretty}");
    }
    let mut slow = error(429, "RESOURCE_EXHAUSTED", "Slow down.");
    slow["error"]["details"] = json!([
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "PerMinute"}]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"},
    ]);
    let asked = ProviderError::Status { status: 429, message: "Slow down.".to_owned(), retry_after_ms: Some(34_500) };
    assert_eq!(play(&[slow]).0, Err(asked));
    let mut assembler = HttpProvider::assembler(Dialect::Gemini).unwrap();
    let named = assembler.take_frame(Frame::Event { name: "error", id: "", data: r#"{"error":{"message":"dead"}}"# });
    assert_eq!(named, Err(ProviderError::Server("dead".to_owned())));
}

#[test]
fn what_is_no_chunk_is_an_error_and_odd_chunks_are_not() {
    for garbage in ["{oops", "5", "<html>", "[1]", "[{]"] {
        let mut assembler = HttpProvider::assembler(Dialect::Gemini).unwrap();
        let error = assembler.take_frame(Frame::Event { name: "", id: "", data: garbage }).unwrap_err();
        assert!(matches!(error, ProviderError::Malformed(_)), "{garbage}");
    }
    let odd = [
        json!({}),
        json!({"candidates": []}),
        json!({"candidates": [{}]}),
        json!({"candidates": [{"content": {}}]}),
        json!({"candidates": [{"content": {"parts": []}}]}),
        parts(json!([{}, 5, ["x"], {"text": 5}, {"text": null}, {"functionCall": 5}])),
        parts(json!([{"inlineData": {"mimeType": "image/png", "data": ""}}])),
    ];
    assert_eq!(reply(&[&odd[..], &[text("ok"), stop()]].concat()).content, "ok");
    let mut assembler = HttpProvider::assembler(Dialect::Gemini).unwrap();
    for frame in
        [Frame::Comment, Frame::Field { name: "x", value: "y" }, Frame::Event { name: "", id: "", data: "[DONE]" }]
    {
        assert_eq!(assembler.take_frame(frame), Ok(None));
    }
    assert!(!assembler.is_done() && !assembler.is_whole());
}

#[test]
fn a_reply_in_one_body_may_be_one_answer_or_a_list_of_chunks() {
    let chunks = [parts(json!([{"text": "hm", "thought": true}])), text("o"), text("k"), stop()];
    let streamed = reply(&chunks);
    let of = |body: Value| HttpProvider::whole(Dialect::Gemini, &body.to_string());
    assert_eq!(of(json!(chunks)).unwrap(), streamed);
    assert_eq!(HttpProvider::whole(Dialect::Gemini, &format!("\u{FEFF}\n{:#}", json!(chunks))).unwrap(), streamed);
    let mut one = stop();
    one["candidates"][0]["content"]["parts"] = json!([{"text": "hm", "thought": true}, {"text": "ok"}]);
    one["modelVersion"] = json!("m-1");
    assert_eq!(of(one).unwrap(), streamed);
    assert_eq!(of(json!(chunks[..3])), Err(ProviderError::CutOff));
    let cut = json!(chunks).to_string();
    assert_eq!(HttpProvider::whole(Dialect::Gemini, &cut[..cut.len() - 9]), Err(ProviderError::CutOff));
    assert!(matches!(of(json!({"hello": 1})), Err(ProviderError::Malformed(_))));
    assert!(matches!(
        of(json!([{"error": {"code": 400, "message": "no"}}])),
        Err(ProviderError::Status { status: 400, .. })
    ));
}

#[test]
fn a_reply_has_bounds() {
    let calls = |count: usize| vec![parts(vec![json!({"functionCall": {"name": "f"}}); count].into()), stop()];
    assert_eq!(reply(&calls(limits::CALLS_PER_REPLY)).tool_calls.len(), limits::CALLS_PER_REPLY);
    assert!(matches!(play(&calls(limits::CALLS_PER_REPLY + 1)).0, Err(ProviderError::Malformed(_))));
}

fn run(stream: &[u8], size: usize) -> Result<Reply, ProviderError> {
    let mut assembler = HttpProvider::assembler(Dialect::Gemini).unwrap();
    let mut decoder = Decoder::default();
    let mut take = |frame: Frame<'_>| assembler.take_frame(frame).map(|_| ());
    for piece in stream.chunks(size) {
        decoder.push(piece, &mut take)?;
    }
    decoder.finish(&mut take)?;
    assembler.finish()
}

/// Makes chunks out of all the kinds of parts there are.
fn any_chunk() -> impl Strategy<Value = Value> {
    let part = prop::sample::select(vec![
        json!({"text": "a"}),
        json!({"text": "", "thoughtSignature": "s"}),
        json!({"text": "b", "thoughtSignature": "t"}),
        json!({"text": "c", "thought": true}),
        json!({"text": "d", "thought": true, "thoughtSignature": "u"}),
        json!({"functionCall": {"name": "f", "args": {"x": 1}}}),
        json!({"functionCall": {"id": "i", "name": "g", "args": 5}, "thoughtSignature": "v"}),
        json!({"executableCode": {"code": "1"}}),
    ]);
    prop::collection::vec(part, 0..4).prop_map(|list| parts(list.into()))
}

proptest! {
    #[test]
    fn any_chunking_of_the_bytes_gives_the_same_reply(size in 1usize..40, words in prop::collection::vec("[a-zü漢\u{2028} ]{0,6}", 0..8)) {
        let mut chunks: Vec<Value> = words.iter().map(|word| parts(json!([{"text": word, "thought": true}, {"text": word}]))).collect();
        chunks.push(parts(json!([{"functionCall": {"name": "f", "args": {"w": "ü"}}, "thoughtSignature": "s"}])));
        chunks.push(stop());
        let mut stream = String::from(": ping\r\n\r\n");
        for (at, chunk) in chunks.iter().enumerate() {
            let end = ["\r\n\r\n", "\n\n", "\r\r"][at % 3];
            stream.extend(["data: ", &chunk.to_string(), end]);
        }
        let whole = run(stream.as_bytes(), stream.len()).unwrap();
        prop_assert_eq!(&whole.content, &words.concat());
        prop_assert_eq!(&whole.thinking, &words.concat());
        prop_assert_eq!(shown(&whole.tool_calls), ["call_1 f {\"w\":\"ü\"}"]);
        prop_assert_eq!(run(stream.as_bytes(), size).unwrap(), whole);
    }

    #[test]
    fn arbitrary_lines_never_panic(data in r#"[\[{]{0,2}("(candidates|error|promptFeedback|usageMetadata)"|[a-z"]{0,3}): ?([\[{]{0,2}|[0-9]{1,3}|null)("(content|parts|text|functionCall|finishReason)": ?[\[{]?)?.{0,20}[}\]]{0,4}"#) {
        let _ = run(format!("data: {data}\n\n{data}\n").as_bytes(), 7);
        let _ = HttpProvider::whole(Dialect::Gemini, &data);
    }

    #[test]
    fn any_reply_goes_back_as_a_legal_request(chunks in prop::collection::vec(any_chunk(), 0..8)) {
        let reply = reply(&[&chunks[..], &[stop()]].concat());
        let results: Vec<_> = reply.tool_calls.iter().map(|call| steersman_base::message::Message::tool(call, "x")).collect();
        let ids: std::collections::HashSet<_> = reply.tool_calls.iter().map(|call| call.id.as_str()).collect();
        prop_assert_eq!(ids.len(), reply.tool_calls.len());
        for model in ["m", "gemini-3-pro"] {
            let turn = [steersman_base::message::Message::user("hi"), super::kept(reply.clone(), "m")];
            let history: Vec<_> = turn.into_iter().chain(results.clone()).collect();
            let _ = super::body_with(model, None, &history, &[], steersman_core::provider::Answering::default());
        }
    }
}
