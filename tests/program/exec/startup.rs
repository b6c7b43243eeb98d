//! The start of `exec`: its prompt, the settings it begins with, and a start that fails.

use std::fs;

use serde_json::json;
use steersman_base::event::Event;

use super::{envelopes, exec};
use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};

// --- a start that fails

#[test]
fn a_server_that_fails_before_the_first_turn_is_a_failure_and_one_sentence() {
    let refuses = Server::start([]);
    refuses.on("/v1/models", Reply::json(503, json!({"error": {"message": "loading"}})));
    // A port that was free a moment ago.
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (url, words) in [(refuses.url(), "503: loading"), (format!("http://{nobody}"), "cannot reach 127.0.0.1")] {
        let output = Program::new().args(["exec", "--base-url", &url, "hello"]).output();
        let said = stderr(&output);
        assert_eq!((exit_code(&output), stdout(&output)), (1, String::new()), "{said}");
        let (sentence, unsent) = said.split_once('\n').unwrap();
        assert!(sentence.starts_with("steersman: ") && sentence.contains(words), "{said}");
        assert_eq!(unsent, "steersman: not sent: hello\n");
    }
}

#[test]
fn the_record_begins_and_ends_also_when_nothing_could_run() {
    let refuses = Server::start([]);
    refuses.on("/v1/models", Reply::json(503, json!({"error": {"message": "loading"}})));
    let url = refuses.url();
    let cases: [(&[&str], u8, &str); 5] = [
        (&["hello"], 2, "no model is configured"),
        (&["--base-url", "localhost", "hello"], 2, "is not an address"),
        (&["--config", "/nonexistent.toml", "hello"], 2, "cannot read"),
        (&["--base-url", "http://127.0.0.1:9", " "], 2, "the prompt is blank"),
        (&["--base-url", &url, "hello"], 1, "503: loading"),
    ];
    for (args, code, words) in cases {
        let output = Program::new().args(["exec", "--json"]).args(args.iter().copied()).output();
        assert_eq!(exit_code(&output), i32::from(code), "{args:?}");
        let events: Vec<Event> = envelopes(&stdout(&output)).into_iter().map(|envelope| envelope.event).collect();
        assert!(matches!(events.first(), Some(Event::SessionStarted { .. })), "{args:?}: {events:?}");
        let Some(Event::SessionEnded { code: told, message: Some(message) }) = events.last() else {
            panic!("{args:?}: {events:?}");
        };
        assert_eq!(*told, code, "{args:?}");
        assert!(message.contains(words) && stderr(&output).contains(words), "{args:?}: {message}");
    }
}

// --- prompt and settings

#[test]
fn a_dash_reads_the_prompt_from_standard_input() {
    let server = Server::start([Reply::text("ok")]);
    let mut run = exec(&server).args(["-"]).piped().run();
    run.write("two\nlines\n");
    run.close_stdin();
    assert_eq!(run.end().code, Some(0));
    assert_eq!(server.chats()[0].texts("user"), ["two\nlines"]);
}

#[test]
fn a_dash_with_nothing_to_read_is_refused() {
    let server = Server::start([]);
    let output = exec(&server).args(["-"]).output();
    assert_eq!((exit_code(&output), stderr(&output)), (2, "steersman: the prompt is blank\n".to_owned()));
}

#[test]
fn without_a_key_no_authorization_is_sent_and_with_one_it_is() {
    let server = Server::start([Reply::text("a"), Reply::text("b"), Reply::text("c")]);
    assert_eq!(exit_code(&exec(&server).args(["hello"]).output()), 0);
    // A key that is for somebody else stays at home, until it is named.
    let with_key = || exec(&server).args(["hello"]).env("OPENAI_API_KEY", "sk-1");
    assert_eq!(exit_code(&with_key().output()), 0);
    assert_eq!(exit_code(&with_key().args(["--api-key-env", "OPENAI_API_KEY"]).output()), 0);
    let keys: Vec<Option<String>> =
        server.chats().iter().map(|chat| chat.header("authorization").map(str::to_owned)).collect();
    assert_eq!(keys, [None, None, Some("Bearer sk-1".to_owned())]);
}

#[test]
fn a_server_without_a_named_model_is_asked_and_the_first_is_taken_saying_so() {
    let server = Server::start([Reply::text("ok"), Reply::text("ok")]);
    server.on("/v1/models", Reply::json(200, json!({"data": [{"id": "first"}, {"id": "second"}]})));
    for base_url in [server.url(), server.origin().to_owned()] {
        let output = Program::new().args(["exec", "--base-url", &base_url, "hello"]).output();
        assert_eq!(exit_code(&output), 0);
        let said = stderr(&output);
        assert!(said.contains("steersman: using first, the first of the server's 2 models\n"), "{said}");
    }
    assert!(server.chats().iter().all(|chat| chat.body["model"] == "first"));
}

#[test]
fn a_server_that_lists_no_models_is_a_wrong_configuration() {
    let server = Server::start([]);
    server.on("/v1/models", Reply::json(200, json!({"data": []})));
    let output = Program::new().args(["exec", "--base-url", &server.url(), "hello"]).output();
    assert_eq!(exit_code(&output), 2);
    assert!(stderr(&output).contains("--model NAME"), "{}", stderr(&output));
}

#[test]
fn a_system_prompt_of_the_file_is_found_beside_it() {
    let server = Server::start([Reply::text("ok")]);
    let program = exec(&server).args(["--config", "conf/mine.toml", "hello"]);
    fs::create_dir(program.work().join("conf")).unwrap();
    fs::write(program.work().join("conf/mine.toml"), "system_prompt = 'prompt.md'").unwrap();
    fs::write(program.work().join("conf/prompt.md"), "You are terse.").unwrap();
    assert_eq!(exit_code(&program.output()), 0);
    assert!(server.chats()[0].texts("system")[0].starts_with("You are terse."));
}
