//! What a Responses server is asked.

use serde_json::json;
use steersman_base::dialect::Dialect;
use steersman_base::message::{AssistantMessage, Message, Original, Part};
use steersman_core::provider::{Answering, ChatRequest, Effort, Streaming, Thinking, ToolSchema};

use super::{
    added, body, body_with, done, end, function_call, kept, made, message, provider, provider_at, reasoning, reply,
    text_delta,
};
use crate::support::items;

#[test]
fn a_conversation_becomes_instructions_and_items() {
    let calls = vec![made("c1", "read", r#"{"path":"a"}"#), made("c2", "read", "half")];
    let asked = AssistantMessage {
        content: "I look.".to_owned(),
        thinking: "hm".to_owned(),
        tool_calls: calls.clone(),
        ..AssistantMessage::default()
    };
    let messages = [
        Message::system("prompt"),
        Message::system("project"),
        Message::user("look"),
        Message::system("memory"),
        Message::Assistant(asked),
        Message::tool(&calls[0], "one"),
        Message::tool(&calls[1], ""),
        Message::user("focus"),
    ];
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": false});
    let tools = [ToolSchema { name: "read".to_owned(), description: "Reads.".to_owned(), parameters: schema.clone() }];
    let answering = Answering { effort: None, temperature: Some(0.5), max_tokens: Some(900) };
    let body = body_with(&provider(Thinking::Never), &messages, &tools, answering);
    let expected = json!({
        "model": "m",
        "instructions": "prompt\n\nproject",
        "input": [
            {"type": "message", "role": "user", "content": "look"},
            {"type": "message", "role": "system", "content": "memory"},
            {"type": "message", "role": "assistant", "content": "I look."},
            {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{\"path\":\"a\"}"},
            {"type": "function_call", "call_id": "c2", "name": "read", "arguments": "{\"malformed\":\"half\"}"},
            {"type": "function_call_output", "call_id": "c1", "output": "one"},
            {"type": "function_call_output", "call_id": "c2", "output": ""},
            {"type": "message", "role": "user", "content": "focus"},
        ],
        "tools": [{"type": "function", "name": "read", "description": "Reads.", "parameters": schema, "strict": false}],
        "parallel_tool_calls": true,
        "temperature": 0.5,
        "max_output_tokens": 900,
        "store": false,
        "stream": true,
    });
    assert_eq!(body, expected);
}

#[test]
fn a_conversation_of_system_texts_alone_still_has_input() {
    assert_eq!(
        body(&[Message::system("be brief")])["input"],
        json!([{"type": "message", "role": "system", "content": "be brief"}])
    );
}

#[test]
fn how_to_think_is_said_where_the_model_thinks_or_the_user_asks() {
    let ask = |thinking: Thinking, effort: Option<Effort>| {
        let answering = Answering { effort, ..Answering::default() };
        let provider = provider_at("https://api.openai.com/v1", thinking);
        let body = body_with(&provider, &[Message::user("hi")], &[], answering);
        (body["reasoning"].clone(), body["include"].clone())
    };
    let include = json!(["reasoning.encrypted_content"]);
    assert_eq!(ask(Thinking::Never, Some(Effort::High)), (json!(null), json!(null)));
    assert_eq!(ask(Thinking::Unknown, None), (json!(null), include.clone()));
    assert_eq!(ask(Thinking::Effort, None), (json!({"summary": "auto"}), include.clone()));
    for (effort, word) in [
        (Effort::Minimal, "minimal"),
        (Effort::Low, "low"),
        (Effort::Medium, "medium"),
        (Effort::High, "high"),
        (Effort::Max, "xhigh"),
    ] {
        for thinking in [Thinking::Unknown, Thinking::Effort, Thinking::Adaptive, Thinking::Budget] {
            let expected = json!({"effort": word, "summary": "auto"});
            assert_eq!(ask(thinking, Some(effort)), (expected, include.clone()));
        }
    }
    assert_eq!(ask(Thinking::Effort, Some(Effort::Off)).0, json!({"effort": "none"}));
}

#[test]
fn thoughts_go_back_byte_for_byte_and_in_their_order() {
    let raw = r#"{"id" : "rs_1","type":"reasoning", "summary":[ ],"encrypted_content":"gA\u0041A+/=","n":1.0e2}"#;
    let second = reasoning("rs_2", "then");
    let call = function_call("fc_1", "call_a", "read", r#"{"path": "ü"}"#);
    let item = format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{raw}}}"#);
    let mut assembler = steersman_provider::HttpProvider::assembler(Dialect::OpenAiResponses).unwrap();
    let later = [done(1, &message("msg_1", "I look.")), done(2, &second), done(3, &call), end()];
    for data in std::iter::once(item).chain(later.iter().map(ToString::to_string)) {
        assembler.take_frame(steersman_provider::sse::Frame::Event { name: "", id: "", data: &data }).unwrap();
    }
    let first = assembler.finish().unwrap();
    let result = Message::tool(&first.tool_calls[0], "text");
    let history = [Message::user("hi"), kept(first, "m"), result];
    let request = ChatRequest::new("m", &history, &[], Streaming::On).unwrap();
    let written = String::from_utf8(provider(Thinking::Effort).body(&request).unwrap()).unwrap();
    assert!(written.contains(raw), "{written}");
    let body: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(items::violation(&body), None);
    let sent = json!({"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "read", "arguments": "{\"path\":\"ü\"}"});
    assert_eq!(body["input"][2], message("msg_1", "I look."));
    assert_eq!((&body["input"][3], &body["input"][4]), (&second, &sent));
    assert_eq!(body["input"][5], json!({"type": "function_call_output", "call_id": "call_a", "output": "text"}));
}

#[test]
fn another_model_gets_the_reply_translated_without_thoughts() {
    let made = || {
        let call = function_call("fc_1", "call_a", "read", "{}");
        reply(&[done(0, &reasoning("rs_1", "secret")), done(1, &message("msg_1", "I look.")), done(2, &call), end()])
    };
    let result = Message::tool(&made().tool_calls[0], "text");
    let expected = json!([
        {"type": "message", "role": "user", "content": "hi"},
        {"type": "message", "role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "call_a", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_a", "output": "text"},
    ]);
    assert_eq!(body(&[Message::user("hi"), kept(made(), "other"), result])["input"], expected);
}

#[test]
fn a_history_of_another_dialect_is_a_legal_request() {
    let long = "toolu_".to_owned() + &"x".repeat(90);
    let calls = vec![made(&long, "read", "{}"), made("functions.add:0", "no such tool!", "{}"), made("c", "", "[1]")];
    let parts = vec![
        Part::Opaque(r#"{"type":"thinking","thinking":"hm","signature":"s"}"#.to_owned()),
        Part::Text { text: "I look.".to_owned(), mark: None },
        Part::Call { index: 0, mark: None },
        Part::Call { index: 1, mark: None },
        Part::Call { index: 2, mark: None },
    ];
    let original = Original { dialect: Dialect::Anthropic, server: "s".to_owned(), model: "m".to_owned(), parts };
    let asked = AssistantMessage {
        content: "I look.".to_owned(),
        thinking: "hm".to_owned(),
        tool_calls: calls.clone(),
        original: Some(original),
        ..AssistantMessage::default()
    };
    let results = calls.iter().map(|call| Message::tool(call, "x"));
    let history: Vec<_> = [Message::system("p"), Message::user("hi"), Message::Assistant(asked)]
        .into_iter()
        .chain(results)
        .chain([Message::user("and now?")])
        .collect();
    let first = body(&history);
    assert!(!first.to_string().contains("hm"), "{first:#}");
    let id = first["input"][2]["call_id"].as_str().unwrap();
    assert!(id.len() <= 64 && first["input"][5]["call_id"] == id, "{id}");
    assert_eq!((&first["input"][3]["name"], &first["input"][4]["name"]), (&json!("no_such_tool_"), &json!("unknown")));
    assert_eq!(body(&history), first, "the same each time");
}

#[test]
fn what_an_earlier_version_kept_wrongly_is_translated() {
    let with = |parts: Vec<Part>| {
        let original = Original {
            dialect: Dialect::OpenAiResponses,
            server: format!("{}/v1", super::SERVER),
            model: "m".to_owned(),
            parts,
        };
        let calls = vec![made("a", "f", "{}")];
        let result = Message::tool(&calls[0], "x");
        let asked = AssistantMessage { tool_calls: calls, original: Some(original), ..AssistantMessage::default() };
        body(&[Message::user("hi"), Message::Assistant(asked), result])["input"][1].clone()
    };
    let plain = json!({"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"});
    let call = |index| Part::Call { index, mark: None };
    for parts in [vec![], vec![call(1)], vec![call(0), call(0)], vec![Part::Opaque("{no".to_owned()), call(0)]] {
        assert_eq!(with(parts), plain);
    }
}

#[test]
fn a_thought_that_the_server_could_not_find_is_not_sent() {
    let empty = json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "content": null});
    let kept_none = reply(&[done(0, &empty), done(1, &message("msg_1", "ok")), end()]);
    assert_eq!((kept_none.thinking.as_str(), kept_none.original.is_none()), ("hm", true));
    // llama.cpp, vLLM: the thought itself instead of its encrypted form.
    let open = json!({"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}], "encrypted_content": ""});
    let kept_open = reply(&[done(0, &open), done(1, &message("msg_1", "ok")), end()]);
    assert_eq!(kept_open.thinking, "hm");
    assert_eq!(body(&[Message::user("hi"), kept(kept_open, "m")])["input"][1], open);
    // Cut behind its thought.
    let cut = reply(&[done(0, &message("msg_1", "ok")), done(1, &reasoning("rs_1", "so")), end()]);
    assert_eq!((cut.content.as_str(), cut.original), ("ok", None));
}

#[test]
fn a_plain_reply_keeps_nothing_and_one_with_a_phase_does() {
    let plain = reply(&[
        added(0, &message("msg_1", "")),
        text_delta(0, "msg_1", "ok"),
        done(0, &message("msg_1", "ok")),
        end(),
    ]);
    assert_eq!(plain.original, None);
    let mut phased = message("msg_1", "ok");
    phased["phase"] = json!("final_answer");
    let reply = reply(&[done(0, &phased), end()]);
    assert_eq!(body(&[Message::user("hi"), kept(reply, "m")])["input"][1], phased);
}

#[test]
fn items_of_an_unknown_kind_go_back_unless_they_want_an_answer() {
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}});
    let custom = json!({"type": "custom_tool_call", "id": "ct_1", "call_id": "c", "name": "n", "input": "x"});
    let reply = reply(&[
        added(0, &search),
        json!({"type": "response.web_search_call.searching", "output_index": 0, "item_id": "ws_1"}),
        done(0, &search),
        done(1, &custom),
        done(2, &message("msg_1", "ok")),
        end(),
    ]);
    let sent = body(&[Message::user("hi"), kept(reply, "m")]);
    assert_eq!(sent["input"].as_array().unwrap()[1..], [search, message("msg_1", "ok")]);
}
