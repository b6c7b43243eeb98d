//! What a request says, and what it never says.

use proptest::prelude::*;
use serde_json::{Value, json};
use steersman_base::message::Message;
use steersman_core::provider::{Answering, Card, Effort, Thinking, ToolSchema};

use super::{body, body_with, call, says};

fn schema(name: &str) -> ToolSchema {
    ToolSchema {
        name: name.to_owned(),
        description: "Does it.".to_owned(),
        parameters: json!({"type": "object", "properties": {}}),
    }
}

/// Returns the turns, without the marks of the cache.
fn turns(messages: &[Message]) -> Value {
    let mut turns = body(messages)["messages"].clone();
    for block in turns.as_array_mut().unwrap().iter_mut().flat_map(|turn| turn["content"].as_array_mut().unwrap()) {
        block.as_object_mut().unwrap().remove("cache_control");
    }
    turns
}

#[test]
fn a_request_has_its_instructions_its_tools_and_its_turns() {
    let marked = json!({"type": "ephemeral"});
    let messages = [Message::system("You are a ship."), Message::user("Ahoy")];
    let tools = [schema("read"), schema("write")];
    let body = body_with(&messages, &tools, Answering::default(), None);
    let tool = |name: &str| json!({"name": name, "description": "Does it.", "input_schema": {"type": "object", "properties": {}}});
    let mut last = tool("write");
    last["cache_control"] = marked.clone();
    assert_eq!(
        body,
        json!({"model": "m", "max_tokens": 16384, "stream": true, "tools": [tool("read"), last],
            "system": [{"type": "text", "text": "You are a ship.", "cache_control": marked}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Ahoy", "cache_control": marked}]}]})
    );
}

#[test]
fn the_results_of_a_batch_and_what_was_injected_behind_them_are_one_turn() {
    let calls = vec![call("a", "read", r#"{"path":"x"}"#), call("b", "read", "")];
    let history = [
        Message::user("Go"),
        says("Looking.", calls.clone()),
        Message::tool(&calls[0], "found"),
        Message::tool(&calls[1], "Error: no such file"),
        Message::user("Faster"),
    ];
    assert_eq!(
        turns(&history),
        json!([
            {"role": "user", "content": [{"type": "text", "text": "Go"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}},
                {"type": "tool_use", "id": "b", "name": "read", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "found"},
                {"type": "tool_result", "tool_use_id": "b", "content": "Error: no such file", "is_error": true},
                {"type": "text", "text": "Faster"}]},
        ])
    );
}

#[test]
fn system_text_of_later_times_is_text_of_the_users_turn() {
    let read = call("a", "read", "{}");
    let history = [
        Message::system("One."),
        Message::system("Two."),
        Message::user("Go"),
        Message::system("Mind the gap."),
        says("", vec![read.clone()]),
        Message::tool(&read, "found"),
        Message::system("Context is short."),
        says("Done.", Vec::new()),
        Message::system("Behind an answer."),
        Message::user("More"),
    ];
    let text = |text: &str| json!({"type": "text", "text": text});
    let turns = turns(&history);
    assert_eq!(turns[0]["content"], json!([text("Go"), text("Mind the gap.")]));
    assert_eq!(turns[2]["content"][1], text("Context is short."));
    assert_eq!(turns[4]["content"], json!([text("Behind an answer."), text("More")]));
    assert_eq!(body(&history)["system"].as_array().unwrap().len(), 2);
}

#[test]
fn nothing_blank_is_ever_sent() {
    let read = call("a", "read", "{}");
    let history = [
        Message::system(" "),
        Message::user("Go"),
        Message::user("\n"),
        says("\n\n", vec![read.clone()]),
        Message::tool(&read, ""),
        Message::user(""),
        says("", Vec::new()),
        Message::user("More"),
        says("Said", Vec::new()),
        says(" twice", Vec::new()),
        Message::user("?"),
    ];
    let body = body(&history);
    assert_eq!(body["system"], Value::Null);
    assert_eq!(
        turns(&history),
        json!([
            {"role": "user", "content": [{"type": "text", "text": "Go"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}, {"type": "text", "text": "More"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Said"}, {"type": "text", "text": " twice"}]},
            {"role": "user", "content": [{"type": "text", "text": "?"}]},
        ])
    );
}

#[test]
fn ids_and_names_that_are_refused_are_translated_for_calls_and_results_alike() {
    let given = ["functions.add:0", "functions_add_0", "functions.add:0", "", "toolu_01-X"];
    let calls: Vec<_> = given.iter().map(|id| call(id, "functions.add", "{}")).collect();
    let mut history = vec![Message::user("Go")];
    for call in &calls {
        history.extend([says("", vec![call.clone()]), Message::tool(call, "3")]);
    }
    let turns = turns(&history);
    let ids: Vec<_> = (0..5).map(|at| turns[at * 2 + 1]["content"][0]["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids, ["functions_add_0", "functions_add_0_2", "functions_add_0_3", "_", "toolu_01-X"]);
    assert_eq!(turns[1]["content"][0]["name"], "functions_add");
    assert_eq!(turns[4]["content"][0]["tool_use_id"], "functions_add_0_2");
}

#[test]
fn arguments_that_are_no_object_are_sent_as_one() {
    let broken = call("a", "read", "{\"path\":");
    let history = [Message::user("Go"), says("", vec![broken.clone()]), Message::tool(&broken, "Error: not JSON")];
    assert_eq!(turns(&history)[1]["content"][0]["input"], json!({"malformed": "{\"path\":"}));
}

#[test]
fn a_conversation_whose_beginning_is_gone_still_begins_with_the_user() {
    let turns = turns(&[Message::system("s"), says("As I said.", Vec::new()), Message::user("Go on")]);
    assert_eq!((turns[0]["role"].as_str(), turns[1]["role"].as_str()), (Some("user"), Some("assistant")));
}

fn card(thinking: Thinking, output_limit: u64) -> Card {
    Card { thinking, output_limit: Some(output_limit), ..Card::default() }
}

#[test]
fn the_limit_of_a_reply_is_the_users_else_the_models_else_a_sane_one() {
    let limit = |max_tokens, card| {
        let answering = Answering { max_tokens, ..Answering::default() };
        body_with(&[Message::user("Go")], &[], answering, card)["max_tokens"].clone()
    };
    assert_eq!(limit(Some(5), Some(card(Thinking::Budget, 64_000))), 5);
    assert_eq!(limit(None, Some(card(Thinking::Budget, 64_000))), 64_000);
    assert_eq!(limit(None, None), 16_384);
}

#[test]
fn a_model_is_told_to_think_as_its_card_says() {
    let told = |thinking, effort, max_tokens| {
        let answering = Answering { effort, max_tokens, temperature: Some(0.5) };
        let body = body_with(&[Message::user("Go")], &[], answering, Some(card(thinking, 64_000)));
        (body["thinking"].clone(), body["output_config"].clone(), body["temperature"].clone())
    };
    let enabled = |tokens: u64| json!({"type": "enabled", "budget_tokens": tokens});
    let disabled = json!({"type": "disabled"});
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    let (none, half) = (Value::Null, json!(0.5));
    let effort = |word: &str| json!({"effort": word});
    for (thinking, asked, limit, expected) in [
        (Thinking::Budget, None, None, (&none, none.clone(), &half)),
        (Thinking::Budget, Some(Effort::Minimal), None, (&enabled(1_024), none.clone(), &none)),
        (Thinking::Budget, Some(Effort::High), None, (&enabled(16_384), none.clone(), &none)),
        (Thinking::Budget, Some(Effort::Max), Some(10_000), (&enabled(5_000), none.clone(), &none)),
        (Thinking::Budget, Some(Effort::Max), Some(2_000), (&disabled, none.clone(), &half)),
        (Thinking::Budget, Some(Effort::Off), None, (&disabled, none.clone(), &half)),
        (Thinking::Unknown, Some(Effort::Low), None, (&enabled(4_096), none.clone(), &none)),
        (Thinking::Adaptive, None, None, (&none, none.clone(), &half)),
        (Thinking::Adaptive, Some(Effort::Minimal), None, (&adaptive, effort("low"), &none)),
        (Thinking::Adaptive, Some(Effort::Max), None, (&adaptive, effort("max"), &none)),
        (Thinking::Adaptive, Some(Effort::Off), None, (&disabled, none.clone(), &half)),
        (Thinking::Effort, Some(Effort::Medium), None, (&none, effort("medium"), &half)),
        (Thinking::Never, Some(Effort::High), None, (&none, none.clone(), &half)),
    ] {
        let expected = (expected.0.clone(), expected.1, expected.2.clone());
        assert_eq!(told(thinking, asked, limit), expected, "{thinking:?} {asked:?} {limit:?}");
    }
}

#[test]
fn thinking_is_not_turned_on_in_the_middle_of_calls() {
    let read = call("a", "read", "{}");
    let history = [Message::user("Go"), says("", vec![read.clone()]), Message::tool(&read, "found")];
    let answering = Answering { effort: Some(Effort::High), ..Answering::default() };
    let budget = body_with(&history, &[], answering, Some(card(Thinking::Budget, 64_000)));
    assert_eq!(budget["thinking"]["type"], "disabled");
    let adaptive = body_with(&history, &[], answering, Some(card(Thinking::Adaptive, 64_000)));
    assert_eq!(adaptive["thinking"]["type"], "adaptive");
}

/// Makes one round, or a message between rounds, out of texts and ids of all kinds.
fn stretch() -> impl Strategy<Value = Vec<Message>> {
    let text = prop_oneof![Just(String::new()), Just(" \n".to_owned()), "[a-zä]{1,6}", Just("Error: no".to_owned())];
    let id = prop_oneof!["[a-c.:]{0,2}", Just("toolu_1".to_owned())];
    (0..4_u8, text.clone(), text, prop::collection::vec(id, 0..3)).prop_map(|(kind, one, two, ids)| match kind {
        0 => vec![Message::user(one)],
        1 => vec![Message::system(one), Message::system(two)],
        _ => {
            let calls: Vec<_> = ids.iter().map(|id| call(id, &one, &two)).collect();
            let results: Vec<_> = calls.iter().map(|call| Message::tool(call, two.clone())).collect();
            std::iter::once(says(&one, calls)).chain(results).collect()
        }
    })
}

proptest! {
    #[test]
    fn every_history_becomes_a_request_that_the_server_takes(stretches in prop::collection::vec(stretch(), 0..8)) {
        let mut messages = vec![Message::user("Go")];
        messages.extend(stretches.into_iter().flatten());
        body(&messages);
    }
}
