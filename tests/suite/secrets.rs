//! D22: the key goes into the Authorization header and nowhere else, whatever a server says and whatever is logged.

use std::fs;
use std::path::Path;

use serde_json::json;
use steersman::provider::{ApiKey, ChatTransport, Http, ProviderError, list_models};

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server, Step};

/// A key with characters that JSON may escape.
const KEY: &str = "sk-canary/0123456789+abcdefghijklmnopqrstuvwxyz";
/// What no output may hold: any part of the key that would tell it from others.
const CANARY: &str = "canary";

fn exec(server: &Server) -> Program {
    Program::new()
        .args(["exec", "--json", "--base-url", &server.url(), "--model", "m", "hello"])
        .env("OPENAI_API_KEY", KEY)
        .env("STEERSMAN_LOG", "trace")
}

/// Returns the text of every file below a directory.
fn files(dir: &Path) -> String {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { files(&path) } else { fs::read_to_string(path).unwrap() }).collect()
}

/// Runs `exec` with everything logged, and returns all that it said anywhere, the log last.
fn said(server: &Server) -> String {
    let mut run = exec(server).piped().run();
    run.close_stdin();
    let (end, home) = run.end_with_home();
    let log = files(&home.path().join(".local/state/steersman"));
    assert!(log.lines().count() > 3, "everything is logged: {log}");
    assert_eq!(server.chats()[0].header("authorization"), Some(&*format!("Bearer {KEY}")));
    format!("{}\n{}\n{log}", end.stdout, end.stderr)
}

#[test]
fn the_key_shows_in_no_output_and_no_log() {
    let said = said(&Server::start([Reply::text("Hello.")]));
    assert!(said.contains("Hello.") && !said.contains(CANARY), "{said}");
}

#[test]
fn a_server_that_echoes_the_key_in_its_error_is_quoted_without_it() {
    let words = format!("Incorrect API key provided: Bearer {KEY}.");
    // A body that no word is cut from, one that escapes, and one that is cut off within the key.
    let plain = Reply::json(401, json!({"error": {"message": words}}));
    let escaped = Reply::body(401, &json!({"error": {"message": words}}).to_string().replace('/', "\\/"));
    let long = format!("{}{words}", "x".repeat(steersman::limits::ERROR_CHARS - 50));
    let cut = Reply::json(401, json!({"error": {"message": long}}));
    let within = Reply::stream([
        Step::delta(json!({"content": "Well, "})),
        Step::data(json!({"error": {"message": words, "code": 401}})),
    ]);
    for reply in [plain, escaped, cut, within] {
        let said = said(&Server::start([reply]));
        assert!(said.contains("Bearer [key]"), "{said}");
        assert!(!said.contains(CANARY), "{said}");
    }
}

#[test]
fn a_retry_is_announced_without_the_key() {
    let busy = Reply::json(429, json!({"error": {"message": format!("slow down, {KEY}")}}));
    let said = said(&Server::start([busy.header("retry-after-ms", "1"), Reply::text("Hello.")]));
    assert!(
        said.contains(r#""type":"retrying","attempt":2,"after_ms":1,"#) && said.contains("slow down, [key]"),
        "{said}"
    );
    assert!(said.contains("Hello.") && !said.contains(CANARY), "{said}");
}

#[test]
fn a_server_that_echoes_the_key_instead_of_its_models_is_quoted_without_it() {
    let server = Server::start([]);
    server.on("/v1/models", Reply::json(403, json!({"detail": format!("who is {KEY}?")})));
    let program = Program::new().args(["exec", "--base-url", &server.url(), "hello"]).env("OPENAI_API_KEY", KEY);
    let output = program.output();
    assert!(stderr(&output).contains("who is [key]?"), "{}", stderr(&output));
    assert!(!stdout(&output).contains(CANARY) && !stderr(&output).contains(CANARY));
}

#[test]
fn a_password_in_the_base_url_shows_in_no_error() {
    for reply in [Reply::body(307, "").header("location", "/elsewhere"), Reply::body(401, ""), Reply::body(200, "?")] {
        let server = Server::start([reply]);
        let url = server.url().replace("http://", &format!("http://user:{CANARY}@"));
        let output = Program::new().args(["exec", "--json", "--base-url", &url, "--model", "m", "hello"]).output();
        assert!(server.chats()[0].header("authorization").is_some_and(|value| value.starts_with("Basic ")));
        assert!(!stdout(&output).contains(CANARY) && !stderr(&output).contains(CANARY), "{}", stderr(&output));
        assert_eq!(exit_code(&output), 1);
    }
}

#[tokio::test]
async fn a_filler_for_a_key_is_not_cut_out_of_words() {
    let server = Server::start([]);
    server.on("/v1/models", Reply::json(403, json!({"detail": "extra words"})));
    let transport =
        ChatTransport { api_base: Some(server.url()), api_key: Some(ApiKey::new("x")), ..ChatTransport::default() };
    let error = list_models(&Http::default(), &transport).await.unwrap_err();
    assert!(matches!(error, ProviderError::Status { message, .. } if message == "extra words"));
}
