//! Tests of `steersman export`: every form is written, to a file and to an endpoint.

use std::fs;
use std::num::NonZeroU16;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::saved::Saved;
use crate::support::server::{Reply as HttpReply, Server};

fn export(home: TempDir, args: &[&str]) -> (i32, String, String, TempDir) {
    let (output, home) = Program::within(home).args(["export"]).args(args.iter().copied()).output_with_home();
    (exit_code(&output), stdout(&output), stderr(&output), home)
}

#[test]
fn every_form_is_written_and_a_file_that_is_there_is_left_alone() {
    let saved = Saved::new();
    let file = saved.usual();
    let id = file.session.as_str().to_owned();
    let (code, page, err, home) = export(saved.home, &[&id]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(page.contains("# Transcript of main") && page.contains("# Transcript of researcher 0"), "{page}");
    assert!(page.contains("Count the files, please") && !page.contains('\u{1b}'), "{page}");
    let (_, ledger, _, home) = export(home, &[&id, "--format", "csv"]);
    let rows: Vec<&str> = ledger.lines().collect();
    assert_eq!(rows.len(), 3, "{ledger}");
    assert!(rows[2].starts_with("m2,main,\"and the \"\"tests\"\" too\",2026-11-22T20:35:34Z,"), "{ledger}");
    let mut home = home;
    for format in ["html", "json", "atif", "otlp", "cast"] {
        let (code, text, err, then) = export(home, &[&id, "--format", format]);
        assert_eq!((code, err.as_str()), (0, ""), "{format}");
        assert!(text.len() > 500, "{format}: {text}");
        home = then;
    }
    let (code, said, _, home) = export(home, &[&id, "-o", "page.html"]);
    assert_eq!((code, said.as_str()), (0, "written to page.html\n"));
    let path = home.path().join("work/page.html");
    assert!(fs::read_to_string(&path).unwrap().starts_with("<!doctype html>"));
    fs::write(&path, "mine").unwrap();
    let (code, _, err, home) = export(home, &[&id, "-o", "page.html"]);
    assert!(code == 1 && err.contains("page.html is there already"), "{err}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    // A journal that lies elsewhere, and what is none.
    let elsewhere = home.path().join("work/copy.jsonl");
    fs::copy(&file.path, &elsewhere).unwrap();
    let (code, page, _, home) = export(home, &["copy.jsonl"]);
    assert!(code == 0 && page.contains("# Transcript of main"));
    fs::write(&elsewhere, "{}\n").unwrap();
    let (code, _, err, _home) = export(home, &["./copy.jsonl"]);
    assert!(code == 1 && err.contains("is no journal of a session"), "{err}");
}

#[test]
fn a_recording_plays_on_a_terminal_and_ends_with_the_screen_as_it_was() {
    let saved = Saved::new();
    let file = saved.usual();
    let (code, recording, err, home) =
        export(saved.home, &[file.session.as_str(), "--format", "cast", "--size", "80x24"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let mut lines = recording.lines();
    let header: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    assert_eq!((&header["version"], &header["width"], &header["height"]), (&json!(2), &json!(80), &json!(24)));
    let mut terminal = vt100::Parser::new(NonZeroU16::new(24).unwrap(), NonZeroU16::new(80).unwrap(), 0);
    let mut last = 0.0;
    for line in lines {
        let (at, kind, data): (f64, String, String) = serde_json::from_str(line).unwrap();
        assert!(kind == "o" && at >= last, "{line}");
        last = at;
        terminal.process(data.as_bytes());
    }
    let (output, _home) =
        Program::within(home).args(["replay", file.session.as_str(), "--print", "--size", "80x24"]).output_with_home();
    let rows = |text: &str| text.lines().map(|row| row.trim_end().to_owned()).collect::<Vec<_>>();
    let printed = rows(&stdout(&output));
    assert_eq!(rows(&terminal.screen().contents())[..20], printed[..20]);
    assert!(printed.join("\n").contains("and the \"tests\" too"), "{printed:?}");
    assert!(last > 30.0, "{last}");
}

#[test]
fn traces_go_to_an_endpoint_and_what_it_does_not_take_is_said() {
    let saved = Saved::new();
    let id = saved.usual().session.to_string();
    let server = Server::start([]);
    server.on("/v1/traces", HttpReply::json(200, json!({})));
    server.on(
        "/partly",
        HttpReply::json(200, json!({ "partialSuccess": { "rejectedSpans": "3", "errorMessage": "too old" } })),
    );
    server.on("/closed", HttpReply::json(401, json!({ "message": "no key" })));
    let run = |home: TempDir, to: &str| {
        let program = Program::within(home).args(["export", &id, "--to", to]);
        let (output, home) =
            program.env("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20key, bad name=x").output_with_home();
        (exit_code(&output), stdout(&output), stderr(&output), home)
    };
    let (code, out, err, home) = run(saved.home, server.origin());
    assert_eq!((code, out, err.as_str()), (0, format!("sent to {}/v1/traces\n", server.origin()), ""));
    let request = &server.requests()[0];
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/traces"));
    assert_eq!((request.header("content-type"), request.header("api-key")), (Some("application/json"), Some("a key")));
    let spans = request.body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    let names: Vec<&str> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"invoke_agent main") && names.contains(&"execute_tool read"), "{names:?}");
    let (code, out, err, home) = run(home, &format!("{}/partly", server.origin()));
    assert!(code == 1 && out.is_empty() && err.contains("the server refused 3 spans: too old"), "{err}");
    let (code, _, err, home) = run(home, &format!("{}/closed?key=secret", server.origin()));
    assert!(
        code == 1 && err.contains("/closed did not take the trace: it answered 401") && err.contains("no key"),
        "{err}"
    );
    assert!(!err.contains("secret"), "{err}");
    let (code, _, err, home) = run(home, "http://127.0.0.1:1/v1/traces");
    assert!(code == 1 && err.contains("http://127.0.0.1:1/v1/traces did not take the trace"), "{err}");
    let (code, _, err, _home) = run(home, "ftp://localhost");
    assert!(code == 2 && err.contains("http://localhost:4318"), "{err}");
}
