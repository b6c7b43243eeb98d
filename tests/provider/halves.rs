//! Characters that a server cuts in two: halves are joined over pieces, one that stays alone is U+FFFD, and no reply is refused
//! for it, in every dialect.

use serde_json::json;
use steersman_base::dialect::Dialect;
use steersman_base::message::Arguments;
use steersman_core::provider::{Piece, Reply};
use steersman_provider::HttpProvider;
use steersman_provider::sse::Frame;

/// Reads a stream; returns what was shown of it as it came, thoughts and text, and the reply.
fn stream(dialect: Dialect, events: &[&str]) -> ([String; 2], Reply) {
    let mut assembler = HttpProvider::assembler(dialect).unwrap();
    let mut shown = [String::new(), String::new()];
    for data in events {
        let piece = assembler
            .take_frame(Frame::Event { name: "", id: "", data })
            .unwrap_or_else(|error| panic!("{data}: {error}"));
        if let Some(Piece::Chunk { thinking, text }) = piece {
            shown[0].push_str(&thinking);
            shown[1].push_str(&text);
        }
    }
    (shown, assembler.finish().unwrap())
}

fn argument(reply: &Reply) -> String {
    match &reply.tool_calls[0].arguments {
        Arguments::Object(members) => members["text"].as_str().unwrap().to_owned(),
        Arguments::Raw(text) => panic!("no object: {text}"),
    }
}

fn assert_whole(dialect: Dialect, events: &[&str]) {
    let ([thinking, text], reply) = stream(dialect, events);
    assert_eq!((reply.thinking.as_str(), reply.content.as_str()), ("t😀.", "a😀b\u{FFFD}c\u{FFFD}"), "{dialect:?}");
    assert_eq!(
        (thinking.as_str(), text.as_str()),
        ("t😀.", "a😀b\u{FFFD}c"),
        "{dialect:?}: a half at the end is not shown yet"
    );
    assert_eq!(argument(&reply), "x😀y\u{FFFD}", "{dialect:?}");
    assert!(!format!("{reply:?}").chars().any(|c| ('\u{10F000}'..='\u{10F7FF}').contains(&c)), "{dialect:?}");
}

#[test]
fn halves_are_joined_over_the_pieces_of_text_thoughts_and_arguments_in_chat_completions() {
    assert_whole(
        Dialect::OpenAi,
        &[
            r#"{"choices":[{"delta":{"reasoning_content":"t\ud83d"}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_content":"\ude00."}}]}"#,
            r#"{"choices":[{"delta":{"content":"a\ud83d"}}]}"#,
            r#"{"choices":[{"delta":{}}]}"#,
            r#"{"choices":[{"delta":{"content":"\ude00b\ud83d"}}]}"#,
            r#"{"choices":[{"delta":{"content":"c\ud83d"}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"text\":\"x\ud83d"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\ude00y\\ud83d\"}"}}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
            "[DONE]",
        ],
    );
}

#[test]
fn halves_are_joined_over_the_events_of_a_response_and_its_whole_texts() {
    assert_whole(
        Dialect::OpenAiResponses,
        &[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"r1","summary":[]}}"#,
            r#"{"type":"response.reasoning_summary_text.delta","item_id":"r1","output_index":0,"summary_index":0,"delta":"t\ud83d"}"#,
            r#"{"type":"response.reasoning_summary_text.delta","item_id":"r1","output_index":0,"summary_index":0,"delta":"\ude00."}"#,
            r#"{"type":"response.reasoning_summary_text.done","item_id":"r1","output_index":0,"summary_index":0,"text":"t\ud83d\ude00."}"#,
            r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"message","id":"m1","content":[]}}"#,
            r#"{"type":"response.output_text.delta","item_id":"m1","output_index":1,"content_index":0,"delta":"a\ud83d"}"#,
            r#"{"type":"response.output_text.delta","item_id":"m1","output_index":1,"content_index":0,"delta":"\ude00b\ud83d"}"#,
            r#"{"type":"response.output_text.delta","item_id":"m1","output_index":1,"content_index":0,"delta":"c\ud83d"}"#,
            r#"{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","id":"f1","call_id":"c1","name":"f","arguments":""}}"#,
            r#"{"type":"response.function_call_arguments.delta","item_id":"f1","output_index":2,"delta":"{\"text\":\"x\ud83d"}"#,
            r#"{"type":"response.function_call_arguments.delta","item_id":"f1","output_index":2,"delta":"\ude00y\\ud83d\"}"}"#,
            r#"{"type":"response.completed","response":{"status":"completed"}}"#,
        ],
    );
}

#[test]
fn halves_are_joined_over_the_deltas_of_blocks() {
    assert_whole(
        Dialect::Anthropic,
        &[
            r#"{"type":"message_start","message":{"model":"m","usage":{}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"t\ud83d"}}"#,
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"\ude00."}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a\ud83d"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"\ude00b\ud83d"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"c\ud83d"}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c1","name":"f","input":{}}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"text\":\"x\ud83d"}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\ude00y\\ud83d\"}"}}"#,
            r#"{"type":"content_block_stop","index":2}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{}}"#,
            r#"{"type":"message_stop"}"#,
        ],
    );
}

#[test]
fn halves_are_joined_over_the_chunks_of_gemini_and_their_pieces_of_arguments() {
    assert_whole(
        Dialect::Gemini,
        &[
            r#"{"candidates":[{"content":{"parts":[{"text":"t\ud83d","thought":true}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"\ude00.","thought":true,"thoughtSignature":"s"}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"a\ud83d"}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"\ude00b\ud83d"}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"c\ud83d"}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","willContinue":true,"partialArgs":[{"jsonPath":"$.text","stringValue":"x\ud83d"}]}}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"willContinue":false,"partialArgs":[{"jsonPath":"$.text","stringValue":"\ude00y\ud83d"}]}}]},"finishReason":"STOP"}]}"#,
        ],
    );
}

#[test]
fn a_half_in_a_whole_reply_is_one_sign_and_the_rest_stays() {
    let bodies = [
        (
            Dialect::OpenAi,
            r#"{"choices":[{"message":{"content":"a\ud83d \ud83d\ude00","tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{\"text\":\"\\ude00\"}"}}]},"finish_reason":"stop"}]}"#,
        ),
        (
            Dialect::OpenAiResponses,
            r#"{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a\ud83d \ud83d\ude00"}]},{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"text\":\"\\ude00\"}"}]}"#,
        ),
        (
            Dialect::Anthropic,
            r#"{"type":"message","content":[{"type":"text","text":"a\ud83d \ud83d\ude00"},{"type":"tool_use","id":"c1","name":"f","input":{"text":"\ude00"}}],"stop_reason":"tool_use"}"#,
        ),
        (
            Dialect::Gemini,
            r#"{"candidates":[{"content":{"parts":[{"text":"a\ud83d \ud83d\ude00"},{"functionCall":{"name":"f","args":{"text":"\ude00"}}}]},"finishReason":"STOP"}]}"#,
        ),
    ];
    for (dialect, body) in bodies {
        let reply = HttpProvider::whole(dialect, body).unwrap_or_else(|error| panic!("{dialect:?}: {error}"));
        assert_eq!((reply.content.as_str(), argument(&reply).as_str()), ("a\u{FFFD} 😀", "\u{FFFD}"), "{dialect:?}");
    }
}

#[test]
fn characters_that_look_like_a_mark_stay_where_no_half_came() {
    let body = json!({"choices": [{"message": {"content": "a\u{10F03D}"}, "finish_reason": "stop"}]}).to_string();
    assert_eq!(HttpProvider::whole(Dialect::OpenAi, &body).unwrap().content, "a\u{10F03D}");
}

#[test]
fn a_half_in_the_words_of_a_failure_is_one_sign_in_every_dialect() {
    let failures = [
        (Dialect::OpenAi, r#"{"error":{"message":"no \ud83d \ud83d\ude00","code":400}}"#),
        (
            Dialect::OpenAiResponses,
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"no \ud83d \ud83d\ude00"}}}"#,
        ),
        (Dialect::OpenAiResponses, r#"{"type":"error","code":"server_error","message":"no \ud83d \ud83d\ude00"}"#),
        (
            Dialect::Anthropic,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"no \ud83d \ud83d\ude00"}}"#,
        ),
        (Dialect::Gemini, r#"{"error":{"code":400,"message":"no \ud83d \ud83d\ude00","status":"INVALID_ARGUMENT"}}"#),
    ];
    for (dialect, data) in failures {
        let mut assembler = HttpProvider::assembler(dialect).unwrap();
        let taken = assembler.take_frame(Frame::Event { name: "", id: "", data });
        let error = taken.err().or_else(|| assembler.finish().err()).unwrap().to_string();
        assert!(error.contains("no \u{FFFD} \u{1F600}"), "{dialect:?}: {error}");
        if dialect != Dialect::OpenAiResponses {
            let whole = HttpProvider::whole(dialect, data).unwrap_err().to_string();
            assert!(whole.contains("no \u{FFFD} \u{1F600}"), "{dialect:?}: {whole}");
        }
    }
}

#[test]
fn halves_in_the_names_of_members_and_over_many_pieces_are_joined() {
    let piece = |arguments: &str| {
        format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"c1","function":{{"name":"f","arguments":{arguments}}}}}]}}}}]}}"#
        )
    };
    let events = [
        piece(r#""{\"k\ud83d""#),
        piece(r#""\ude00\": [\"\ud83d""#),
        piece(r#""\ude00\", {\"\ud83d\": \"\ud83d""#),
        piece(r#""\ud83d""#),
        piece(r#""\ude00\"}]}""#),
        r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#.to_owned(),
    ];
    let (_, reply) = stream(Dialect::OpenAi, &events.each_ref().map(String::as_str));
    let Arguments::Object(members) = &reply.tool_calls[0].arguments else { panic!("{reply:?}") };
    assert_eq!(
        serde_json::Value::Object(members.clone()),
        json!({"k\u{1F600}": ["\u{1F600}", {"\u{FFFD}": "\u{FFFD}\u{1F600}"}]})
    );
}
