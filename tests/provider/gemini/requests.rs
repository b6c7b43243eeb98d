//! What a Gemini server is asked.

use serde_json::{Value, json};
use steersman_base::dialect::Dialect;
use steersman_base::message::{Message, Original, Part};
use steersman_core::provider::{Answering, ChatRequest, Effort, Streaming, Thinking, ToolSchema};
use steersman_provider::HttpProvider;
use steersman_provider::sse::Frame;

use super::{asked, body, body_with, kept, made, parts, provider, reply, stop, text};
use crate::support::contents;

#[test]
fn a_conversation_becomes_turns_of_user_and_model() {
    let calls = [made("c1", "read", r#"{"path":"a"}"#), made("c2", "read", "half")];
    let messages = [
        Message::system("prompt"),
        Message::system("project"),
        Message::user("look"),
        Message::system("memory"),
        Message::Assistant(asked("I look.", &calls)),
        Message::tool(&calls[0], "one"),
        Message::tool(&calls[1], "Error: no such file"),
        Message::user("focus"),
        Message::user("and y"),
    ];
    let schema = json!({"type": "object", "properties": {"path": {"type": "string", "description": "Where."}}, "required": ["path"], "additionalProperties": false});
    let tools = [ToolSchema { name: "read".to_owned(), description: "Reads.".to_owned(), parameters: schema }];
    let answering = Answering { effort: None, temperature: Some(0.5), max_tokens: Some(900) };
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "prompt"}, {"text": "project"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "look"}, {"text": "memory"}]},
            {"role": "model", "parts": [
                {"text": "I look."},
                {"functionCall": {"name": "read", "args": {"path": "a"}}},
                {"functionCall": {"name": "read", "args": {"malformed": "half"}}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "read", "response": {"output": "one"}}},
                {"functionResponse": {"name": "read", "response": {"error": "no such file"}}},
                {"text": "focus"},
                {"text": "and y"},
            ]},
        ],
        "tools": [{"functionDeclarations": [{"name": "read", "description": "Reads.", "parameters": {
            "type": "object", "properties": {"path": {"type": "string", "description": "Where."}}, "required": ["path"]}}]}],
        "generationConfig": {"temperature": 0.5, "maxOutputTokens": 900},
    });
    assert_eq!(body_with("m", None, &messages, &tools, answering), expected);
}

#[test]
fn the_first_turn_is_always_the_users() {
    let only = body(&[Message::system("be brief")]);
    assert_eq!(only, json!({"contents": [{"role": "user", "parts": [{"text": "be brief"}]}]}));
    let begun =
        body(&[Message::system("p"), Message::assistant("Hello."), Message::assistant("You?"), Message::user("hi")]);
    assert_eq!(begun["contents"].as_array().unwrap().len(), 3);
    assert_eq!(begun["contents"][1], json!({"role": "model", "parts": [{"text": "Hello."}, {"text": "You?"}]}));
}

#[test]
fn how_to_think_follows_the_card_or_the_name() {
    let ask = |model: &str, card: Option<Thinking>, effort: Option<Effort>| {
        let answering = Answering { effort, ..Answering::default() };
        body_with(model, card, &[Message::user("hi")], &[], answering)["generationConfig"]["thinkingConfig"].clone()
    };
    let nothing = Value::Null;
    let thoughts = json!({"includeThoughts": true});
    assert_eq!(ask("m", None, None), nothing);
    assert_eq!(ask("m", Some(Thinking::Never), Some(Effort::High)), nothing);
    assert_eq!(ask("gemini-2.0-flash", None, Some(Effort::High)), nothing);
    for (model, card) in [("m", Some(Thinking::Effort)), ("gemini-3-pro-preview", None), ("gemini-2.5-flash", None)] {
        assert_eq!(ask(model, card, None), thoughts, "{model}");
    }
    let budget = |tokens: u32| json!({"includeThoughts": true, "thinkingBudget": tokens});
    let level = |word: &str| json!({"includeThoughts": true, "thinkingLevel": word});
    for (effort, flash, pro, word, small) in [
        (Effort::Minimal, 512, 512, "low", "minimal"),
        (Effort::Low, 1_024, 1_024, "low", "low"),
        (Effort::Medium, 8_192, 8_192, "medium", "medium"),
        (Effort::High, 24_576, 24_576, "high", "high"),
        (Effort::Max, 24_576, 32_768, "high", "high"),
    ] {
        assert_eq!(ask("gemini-2.5-flash", None, Some(effort)), budget(flash));
        assert_eq!(ask("models/gemini-2.5-pro", Some(Thinking::Unknown), Some(effort)), budget(pro));
        assert_eq!(ask("m", Some(Thinking::Budget), Some(effort)), budget(flash));
        assert_eq!(ask("gemini-3-pro-preview", None, Some(effort)), level(word));
        assert_eq!(ask("gemini-3-flash", Some(Thinking::Effort), Some(effort)), level(small));
        assert_eq!(ask("somebodys", None, Some(effort)), level(word));
    }
    assert_eq!(
        ask("gemini-2.5-flash", None, Some(Effort::Off)),
        json!({"includeThoughts": false, "thinkingBudget": 0})
    );
    assert_eq!(
        ask("gemini-2.5-pro", None, Some(Effort::Off)),
        json!({"includeThoughts": false, "thinkingBudget": 128})
    );
    assert_eq!(
        ask("gemini-3-flash", None, Some(Effort::Off)),
        json!({"includeThoughts": false, "thinkingLevel": "minimal"})
    );
}

#[test]
fn signatures_go_back_on_the_parts_that_had_them() {
    let first = reply(&[
        parts(json!([{"text": "hm", "thought": true}])),
        text("I "),
        text("look."),
        parts(json!([{"text": "Here.", "thoughtSignature": "sig/T+1="}])),
        parts(
            json!([{"functionCall": {"id": "g1", "name": "read", "args": {"path": "a"}}, "thoughtSignature": "sigA"}]),
        ),
        parts(json!([{"functionCall": {"id": "g2", "name": "read", "args": {}}}, {"functionCall": {"name": "glob"}}])),
        parts(json!([{"text": "", "thoughtSignature": "sigE"}])),
        stop(),
    ]);
    assert_eq!(shown(&first), ["g1 read {\"path\":\"a\"}", "g2 read {}", "call_3 glob {}"]);
    let results: Vec<_> = first.tool_calls.iter().map(|call| Message::tool(call, "x")).collect();
    let history = |model: &str| -> Vec<Message> {
        [Message::user("hi"), kept(first.clone(), model)].into_iter().chain(results.clone()).collect()
    };
    let sent = body(&history("m"));
    let expected = json!([
        {"text": "I look."},
        {"text": "Here.", "thoughtSignature": "sig/T+1="},
        {"functionCall": {"id": "g1", "name": "read", "args": {"path": "a"}}, "thoughtSignature": "sigA"},
        {"functionCall": {"id": "g2", "name": "read", "args": {}}},
        {"functionCall": {"name": "glob", "args": {}}},
        {"text": "", "thoughtSignature": "sigE"},
    ]);
    assert_eq!(sent["contents"][1]["parts"], expected);
    let answer = |id: Option<&str>, name: &str| match id {
        Some(id) => json!({"functionResponse": {"id": id, "name": name, "response": {"output": "x"}}}),
        None => json!({"functionResponse": {"name": name, "response": {"output": "x"}}}),
    };
    let answers = json!([answer(Some("g1"), "read"), answer(Some("g2"), "read"), answer(None, "glob")]);
    assert_eq!(sent["contents"][2]["parts"], answers);

    // Another model: no signature of the first, no id that it never gave.
    let translated = body(&history("other"));
    assert_eq!(translated["contents"][1]["parts"][0], json!({"text": "I look.Here."}));
    assert!(!translated.to_string().contains("sig") && !translated.to_string().contains("\"id\""), "{translated:#}");
}

fn shown(reply: &steersman_core::provider::Reply) -> Vec<String> {
    super::shown(&reply.tool_calls)
}

#[test]
fn parts_of_other_kinds_go_back_byte_for_byte() {
    let code = r#"{"executableCode": {"language":"PYTHON" ,"code":"1+1", "n": 1.0e0}}"#;
    let thought = r#"{"text":"so", "thought":true,"thoughtSignature":"s\u0041"}"#;
    let mut assembler = HttpProvider::assembler(Dialect::Gemini).unwrap();
    let data = format!(
        r#"{{"candidates":[{{"content":{{"parts":[{thought},{code},{{"text":"2"}}]}},"finishReason":"STOP"}}]}}"#
    );
    assembler.take_frame(Frame::Event { name: "", id: "", data: &data }).unwrap();
    let reply = assembler.finish().unwrap();
    assert_eq!((reply.thinking.as_str(), reply.content.as_str()), ("so", "2"));
    let history = [Message::user("hi"), kept(reply, "m"), Message::user("and?")];
    let request = ChatRequest::new("m", &history, &[], Streaming::On).unwrap();
    let written = String::from_utf8(provider("m", None).body(&request).unwrap()).unwrap();
    assert!(written.contains(&format!(r#"[{thought},{code},{{"text":"2"}}]"#)), "{written}");
    assert_eq!(contents::violation(&serde_json::from_str(&written).unwrap()), None);
}

#[test]
fn a_reply_without_marks_keeps_nothing() {
    let plain = reply(&[
        parts(json!([{"text": "hm", "thought": true}])),
        text("a"),
        parts(json!([{"functionCall": {"name": "f"}}])),
        stop(),
    ]);
    assert_eq!(plain.original, None);
}

#[test]
fn a_history_of_another_dialect_is_a_legal_request() {
    let calls = [made("toolu_1", "read", "{}"), made("toolu_2", "no such tool!", "{}"), made("x", "", "[1]")];
    let mut made_elsewhere = asked("I look.", &calls);
    made_elsewhere.thinking = "hm".to_owned();
    let parts = vec![
        Part::Opaque(r#"{"type":"thinking","thinking":"hm","signature":"s"}"#.to_owned()),
        Part::Text { text: "I look.".to_owned(), mark: None },
    ];
    let (server, model) = (format!("{}/v1beta", super::SERVER), "gemini-3-pro".to_owned());
    made_elsewhere.original = Some(Original { dialect: Dialect::Anthropic, server, model, parts });
    let results = calls.iter().map(|call| Message::tool(call, "x"));
    let history: Vec<_> = [Message::system("p"), Message::user("hi"), Message::Assistant(made_elsewhere)]
        .into_iter()
        .chain(results)
        .chain([Message::user("and now?")])
        .collect();
    let model_turn = |model: &str| {
        let body = body_with(model, None, &history, &[], Answering::default());
        assert!(!body.to_string().contains("hm") && !body.to_string().contains("toolu"), "{body:#}");
        body["contents"][1]["parts"].clone()
    };
    // From the third generation on, the first call of a turn is refused without a signature; Google names this one.
    let newer = model_turn("gemini-3-pro");
    let signature = "skip_thought_signature_validator";
    assert_eq!(newer[1], json!({"functionCall": {"name": "read", "args": {}}, "thoughtSignature": signature}));
    assert_eq!(newer[2], json!({"functionCall": {"name": "no_such_tool_", "args": {}}}));
    assert_eq!(newer[3], json!({"functionCall": {"name": "_", "args": {"malformed": "[1]"}}}));
    assert_eq!(model_turn("gemini-2.5-pro")[1], json!({"functionCall": {"name": "read", "args": {}}}));
}

#[test]
fn what_was_kept_wrongly_is_translated() {
    let with = |parts: Vec<Part>| {
        let server = format!("{}/v1beta", super::SERVER);
        let calls = [made("a", "f", "{}")];
        let mut reply = asked("", &calls);
        reply.original = Some(Original { dialect: Dialect::Gemini, server, model: "m".to_owned(), parts });
        body(&[Message::user("hi"), Message::Assistant(reply), Message::tool(&calls[0], "x")])["contents"][1]["parts"]
            .clone()
    };
    let plain = json!([{"functionCall": {"name": "f", "args": {}}}]);
    let call = |index, mark: &str| Part::Call { index, mark: Some(mark.to_owned()) };
    for parts in [
        vec![],
        vec![call(1, "{}")],
        vec![call(0, "{}"), call(0, "{}")],
        vec![Part::Opaque("{no".to_owned()), call(0, "{}")],
        vec![call(0, "sig")],
    ] {
        assert_eq!(with(parts), plain);
    }
}

#[test]
fn an_interrupted_and_an_empty_reply_make_no_empty_part() {
    let mut cut = asked("I was", &[]);
    cut.interrupted = true;
    let messages =
        [Message::user("a"), Message::Assistant(cut), Message::user("b"), Message::assistant(""), Message::user("c")];
    assert_eq!(body(&messages)["contents"][2]["parts"], json!([{"text": "b"}, {"text": "c"}]));
}
