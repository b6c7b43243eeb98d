//! The marks of the server's cache: where they stand, and that what stands before them never changes.

use serde_json::json;
use steersman_base::message::Message;
use steersman_core::provider::{Answering, ToolSchema};

use super::{body, bytes, call, says};

const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// Rounds of two calls, with things injected, answered and cut in between.
fn history() -> Vec<Message> {
    let mut history = vec![Message::system("You are a ship."), Message::user("Ahoy")];
    for round in 0..4 {
        let calls =
            vec![call(&format!("c:{round}"), "read", r#"{"path":"a"}"#), call(&format!("d:{round}"), "read", "{}")];
        history.push(says("Looking.", calls.clone()));
        history.extend(calls.iter().map(|call| Message::tool(call, format!("found {round}"))));
        if round == 1 {
            history.extend([Message::user("Faster"), Message::system("Short of room.")]);
        }
    }
    history.extend([says("Done.", Vec::new()), Message::user("And now?"), says("Nothing.", Vec::new())]);
    history.push(Message::user("Thanks"));
    history
}

/// Returns the places at which a request is made: where the model is to speak next.
fn requests(history: &[Message]) -> Vec<&[Message]> {
    let speaks = |at: &usize| matches!(history.get(*at), Some(Message::Assistant(_)) | None);
    (2..=history.len()).filter(speaks).map(|at| &history[..at]).collect()
}

#[test]
fn what_one_request_ends_with_is_a_beginning_of_the_next() {
    let history = history();
    let schema = |name: &str| ToolSchema { name: name.to_owned(), description: String::new(), parameters: json!({}) };
    let tools = [schema("read"), schema("write")];
    let bodies: Vec<String> =
        requests(&history).into_iter().map(|messages| bytes(messages, &tools, Answering::default(), None)).collect();
    assert_eq!(bodies.len(), 7);
    for (before, after) in bodies.iter().zip(&bodies[1..]) {
        let plain = before.replace(MARK, "");
        let prefix = plain.strip_suffix("]}]}").unwrap();
        assert!(after.replace(MARK, "").starts_with(prefix), "{before}\n{after}");
        // What the first request has marked last, the second one has marked too, so that the server finds it.
        let marked = |body: &str| -> Vec<String> {
            let places = body.match_indices(MARK).map(|(at, _)| body[..at].replace(MARK, ""));
            places.collect()
        };
        let newest = marked(before).pop().unwrap();
        assert!(marked(after).contains(&newest), "{before}\n{after}");
        assert_eq!(newest, prefix[..prefix.len() - 1]);
    }
}

#[test]
fn four_places_are_marked_and_no_more() {
    let history = history();
    let body = body(&history);
    let marked = |block: &serde_json::Value| !block["cache_control"].is_null();
    let turns = body["messages"].as_array().unwrap();
    let of_turns: Vec<(usize, usize)> = turns
        .iter()
        .enumerate()
        .flat_map(|(turn, said)| {
            let blocks = said["content"].as_array().unwrap().iter().enumerate();
            blocks.filter(|(_, block)| marked(block)).map(move |(at, _)| (turn, at)).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(of_turns, [(turns.len() - 3, 0), (turns.len() - 1, 0)]);
    assert!(marked(&body["system"][0]));
}

#[test]
fn a_growing_turn_of_the_user_keeps_its_beginning() {
    let one = [Message::user("Go")];
    let two = [Message::user("Go"), Message::user("Now")];
    let before = bytes(&one, &[], Answering::default(), None).replace(MARK, "");
    let after = bytes(&two, &[], Answering::default(), None).replace(MARK, "");
    assert!(after.starts_with(before.strip_suffix("]}]}").unwrap()), "{before}\n{after}");
}
