//! `--output-schema`: an answer that must match a JSON Schema.

use std::fs;

use serde_json::{Value, json};

use super::{exec, lines, of};
use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};
use crate::support::stream_schema::check;

const SCHEMA: &str = r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}"#;

fn sum() -> Reply {
    Reply::calls(&[("c1", "calculator", r#"{"expression":"1+1"}"#)])
}

fn structured(server: &Server) -> Program {
    exec(server).file("work/schema.json", SCHEMA).args(["--output-schema", "schema.json"])
}

#[test]
fn an_answer_that_matches_is_in_the_result_as_json() {
    let server = Server::start([sum(), Reply::text("```json\n{\"n\": 2}\n```")]);
    let output = structured(&server).args(["--json", "--strict", "how many?"]).output();
    assert_eq!((exit_code(&output), stderr(&output).as_str()), (0, ""));
    let lines = lines(&stdout(&output));
    let end = &lines.last().unwrap()["event"];
    assert_eq!((&end["structured"], &end["exit_code"]), (&json!({"n": 2}), &json!(0)));
    assert_eq!(of(&lines, "turn_ended")[0]["event"]["structured"], json!({"n": 2}));
    assert_eq!(end["answer"], "```json\n{\"n\": 2}\n```");
    let chats = server.chats();
    let told = |at: usize| chats[at].texts("system").iter().filter(|text| text.contains("JSON Schema")).count();
    assert_eq!((told(0), told(1)), (1, 1));
    // A server of one's own is not asked for it while tools are on offer.
    assert!(chats.iter().all(|chat| chat.body.get("response_format").is_none() && !chat.tools().is_empty()));
}

#[test]
fn one_that_does_not_match_is_asked_for_once_more_with_what_is_wrong() {
    let server = Server::start([sum(), Reply::text("It is two."), Reply::text("{\"n\": 2}")]);
    let program = structured(&server).args(["-o", "last.json", "--strict", "how many?"]);
    let (output, home) = program.output_with_home();
    // Standard output and the file get the JSON alone, and nothing of the first try.
    assert_eq!((exit_code(&output), stdout(&output).as_str()), (0, "{\"n\": 2}\n"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(home.path().join("work/last.json")).unwrap(), "{\"n\": 2}");
    let last = &server.chats()[2];
    assert!(last.texts("user")[1].contains("it is not JSON"), "{:?}", last.texts("user"));
    assert_eq!(last.body["response_format"]["json_schema"]["schema"], serde_json::from_str::<Value>(SCHEMA).unwrap());
    assert!(last.tools().is_empty());
}

#[test]
fn one_that_never_matches_ends_with_7_unless_that_is_taken_for_an_answer() {
    for (args, code) in [(&["--strict"][..], 7), (&[], 7), (&["--lenient"], 0)] {
        let server = Server::start([Reply::text("{}"), Reply::text("{\"n\": \"two\"}")]);
        let output = structured(&server).args(args.iter().copied()).args(["--output", "result", "hello"]).output();
        let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
        check("result", &result);
        assert_eq!((exit_code(&output), &result["exit_code"]), (code, &json!(code)));
        assert_eq!((&result["structured"], &result["answer"]), (&Value::Null, &json!("{\"n\": \"two\"}")));
        let reason = result["reason"].as_str().unwrap();
        assert!(reason.starts_with("the answer does not match the schema") && reason.contains("at '/n'"), "{reason}");
        assert!(stderr(&output).contains(reason));
        assert_eq!(server.chats().len(), 2);
    }
}

#[test]
fn an_answer_that_never_matches_goes_nowhere() {
    for (args, code, text) in [(&[][..], 7, None), (&["--lenient"], 0, Some("no JSON"))] {
        let server = Server::start([Reply::text("none"), Reply::text("no JSON")]);
        let program = structured(&server).args(args.iter().copied()).args(["-o", "last.json", "hello"]);
        let (output, home) = program.output_with_home();
        let line = text.map(|text| format!("{text}\n")).unwrap_or_default();
        assert_eq!((exit_code(&output), stdout(&output)), (code, line), "{}", stderr(&output));
        assert_eq!(fs::read_to_string(home.path().join("work/last.json")).ok().as_deref(), text);
    }
}

#[test]
fn the_rescue_is_held_to_it_too_and_no_round_is_made_that_nobody_allows() {
    let server = Server::start([sum(), sum(), Reply::text("{\"n\": 3}")]);
    let output = structured(&server).args(["--max-steps", "1", "--output", "result", "hello"]).output();
    let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&result["outcome"], &result["structured"]), (&json!("synthesized"), &json!({"n": 3})));
    let server = Server::start([Reply::text("no JSON")]);
    let output = structured(&server).args(["--max-rounds", "1", "--output", "result", "hello"]).output();
    let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        (&result["outcome"], &result["answer"], server.chats().len()),
        (&json!("completed"), &json!("no JSON"), 1)
    );
}

#[test]
fn every_answer_of_a_session_is_held_to_it_and_the_last_one_counts() {
    let server = Server::start([Reply::text("{\"n\": 1}"), Reply::text("{\"n\": 2}")]);
    let mut run = structured(&server).args(["--input", "json"]).piped().run();
    for (id, text) in [(1, "first"), (2, "second")] {
        run.write(&format!("{}\n", json!({"id": id, "type": "send", "text": text})));
        run.wait_for_line(|line| line.contains("\"type\":\"turn_ended\""));
    }
    run.write("{\"type\":\"end\"}\n");
    let end = run.end();
    let lines = lines(&end.stdout);
    let each: Vec<&Value> = of(&lines, "turn_ended").iter().map(|line| &line["event"]["structured"]).collect();
    assert_eq!(each, [&json!({"n": 1}), &json!({"n": 2})]);
    assert_eq!(lines.last().unwrap()["event"]["structured"], json!({"n": 2}));
    // It is told once in the conversation.
    let told = server.chats()[1].texts("system").iter().filter(|text| text.contains("JSON Schema")).count();
    assert_eq!(told, 1);
}

#[test]
fn a_long_value_is_never_cut() {
    let long = "x".repeat(50_000);
    let schema = r#"{"type": "string"}"#;
    let server = Server::start([Reply::text(&json!(long).to_string())]);
    let program = exec(&server).file("work/s.json", schema).args(["--output-schema", "s.json"]);
    let lines = lines(&stdout(&program.args(["--json", "--max-event-bytes", "4096", "hello"]).output()));
    assert_eq!(lines.last().unwrap()["event"]["structured"], long);
}

#[test]
fn a_file_that_holds_no_schema_is_a_mistake() {
    let server = Server::start([]);
    for schema in ["no JSON", "{\"type\": 7}", "{\"$ref\": \"https://example.com/s.json\"}"] {
        let program = exec(&server).file("work/s.json", schema).args(["--output-schema", "s.json", "hello"]);
        let output = program.output();
        assert!(exit_code(&output) == 2 && stderr(&output).contains("s.json: it is"), "{}", stderr(&output));
    }
}
