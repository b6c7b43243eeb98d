//! `steersman doctor`: each step of the way, what it says of a fault, and that it always ends.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;
use steersman_base::protected::ProtectedPlaces;
use steersman_tools::workspace::Sandbox;
use steersman_tools::workspace::sandbox::{SandboxChoice, Surroundings};

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};

const CALL: &[(&str, &str, &str)] = &[("c1", "calculator", r#"{"expression":"17 * 23"}"#)];

fn server(script: impl IntoIterator<Item = Reply>) -> Server {
    let server = Server::start(script);
    server.on("/v1/models", Reply::json(200, json!({ "data": [{ "id": "m" }, { "id": "n" }] })));
    server.on("/", Reply::body(404, ""));
    server
}

fn doctor(args: &[&str]) -> Program {
    Program::new().env("LANG", "C.UTF-8").env("TERM", "xterm-256color").args(args.iter().copied()).args(["doctor"])
}

/// Runs it; returns the exit code and what it said.
fn checked(program: Program) -> (i32, String) {
    let output = program.output();
    (exit_code(&output), stdout(&output))
}

#[test]
fn a_good_server_passes_every_check() {
    let server = server([Reply::text("ready"), Reply::calls(CALL)]);
    let (code, said) = checked(doctor(&["--base-url", &server.url(), "--model", "m"]).env("K", "sk-canary"));
    assert_eq!(code, 0, "{said}");
    for line in [
        "✓ ok        terminal: TERM is xterm-256color, 256 colours",
        "✓ ok        terminal: the locale is UTF-8",
        "✓ ok        key: none is sent",
        "✓ ok        connection: 127.0.0.1 answers on port",
        "✓ ok        HTTP: the server speaks HTTP/1.1",
        "✓ ok        models: the server lists 2, m among them",
        "✓ ok        reply: streamed in 1 piece",
        "✓ ok        tool call: the model called the tool it was offered",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    assert!(!said.contains(" name: "), "an address has no name to look up: {said}");
    assert!(said.ends_with("all is well\n"), "{said}");
    assert!(server.chats().iter().all(crate::support::server::Request::streams));
    assert_eq!(server.chats()[1].tools(), ["calculator"]);
}

#[tokio::test]
async fn the_sandbox_that_works_here_is_named_with_the_reason_why_none_is_better() {
    let program = doctor(&[]);
    let path: std::ffi::OsString = "/usr/bin:/bin".into();
    let around = |home: &std::path::Path, work| Surroundings {
        program: env!("CARGO_BIN_EXE_steersman").into(),
        home: Some(home.to_owned()),
        path: path.clone(),
        writable: vec![work],
        protected: ProtectedPlaces::default(),
        hidden: Vec::new(),
    };
    let found = Sandbox::detect(SandboxChoice::Auto, &around(program.home(), program.work())).await.unwrap();
    let line = match (found.name(), found.why_not_better()) {
        (Some(name), Some(why)) => format!("✓ ok        sandbox: commands are confined by {name} ({why})\n"),
        (Some(name), None) => format!("✓ ok        sandbox: commands are confined by {name}\n"),
        (None, _) => "· note      sandbox: commands are not sandboxed (".to_owned(),
    };
    let (_, said) = checked(program);
    assert!(said.contains(&line), "{line}\n{said}");

    let (code, said) = checked(doctor(&["--sandbox", "off"]));
    assert!(
        code == 0 && said.contains("· note      sandbox: commands are not sandboxed (it is switched off)"),
        "{said}"
    );
    // An empty PATH has no bubblewrap.
    let (code, said) = checked(doctor(&["--sandbox", "bubblewrap"]).env("PATH", "/nowhere"));
    assert!(code == 1 && said.contains("✗ problem   sandbox: the sandbox bubblewrap does not work here"), "{said}");
}

#[test]
fn the_embedded_model_passes_without_a_network() {
    let (code, said) = checked(doctor(&[]));
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("ok        reply: ") && said.contains("ok        tool call: "), "{said}");
    assert!(said.contains("there is no ") && said.contains("using defaults"), "{said}");
}

#[test]
fn where_the_key_is_from_is_said_and_never_the_key() {
    let good = server([Reply::text("ready"), Reply::calls(CALL)]);
    let program =
        doctor(&["--base-url", &good.url(), "--model", "m", "--api-key-env", "MY_KEY"]).env("MY_KEY", "sk-canary");
    let (code, said) = checked(program);
    assert!(code == 0 && said.contains("key: it is from the variable MY_KEY"), "{said}");
    assert!(!said.contains("canary"), "{said}");
    let config = format!(
        "[profile.p]\nbase_url = '{}'\nmodel = 'm'\napi_key_command = ['/bin/sh', '-c', 'echo locked >&2; exit 1']",
        good.url()
    );
    let (code, said) = checked(doctor(&["--profile", "p"]).config(&config));
    assert!(
        code == 1 && said.contains("✗ problem   key: api_key_command (/bin/sh) failed (exit status: 1): locked"),
        "{said}"
    );
}

#[test]
fn each_problem_says_what_to_do_about_it() {
    let refused = Server::start([Reply::json(401, json!({ "error": { "message": "bad key" } }))]);
    let empty = server([Reply::text(""), Reply::text("")]);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let closed = format!("http://{closed}");
    let cases = [
        (refused.url(), "problem   reply: ", "check the key"),
        (empty.url(), "problem   reply: ", ""),
        (closed, "problem   connection: ", "start the model server"),
    ];
    for (url, problem, todo) in cases {
        let (code, said) = checked(doctor(&["--base-url", &url, "--model", "m"]));
        assert_eq!(code, 1, "{said}");
        let at = said.find(problem).unwrap_or_else(|| panic!("{problem}: {said}"));
        let next = said[at..].lines().nth(1).unwrap_or_default();
        assert!(next.trim_start().starts_with("→ ") && next.contains(todo), "{said}");
        assert!(said.ends_with("1 problem\n"), "{said}");
    }
}

#[test]
fn a_model_that_answers_without_the_tool_is_no_problem_of_the_set_up() {
    let server = server([Reply::text("ready"), Reply::text("391.")]);
    let (code, said) = checked(doctor(&["--base-url", &server.url(), "--model", "m"]));
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("· note      tool call: the model answered without calling the tool"), "{said}");
    assert!(said.ends_with("all is well\n"), "{said}");
}

#[test]
fn a_wrong_configuration_is_one_problem_with_its_line() {
    let (code, said) = checked(doctor(&[]).config("model = 'm'\nmodle = 'x'"));
    assert_eq!(code, 1);
    assert!(said.contains("problem   configuration: ") && said.contains("line 2: unknown key \"modle\""), "{said}");
    let (code, said) = checked(doctor(&[]).config("[profile.x]\nmodel = 'm'\napi_key_env = 'NOPE'"));
    assert!(code == 1 && said.contains("the profile x: the environment variable NOPE"), "{said}");
    let (code, said) = checked(doctor(&[]).file(".config/steersman/models.toml", "a = { windw = 1 }"));
    assert!(code == 1 && said.contains("models.toml, line 1"), "{said}");
}

#[test]
fn without_utf8_the_signs_are_plain_and_that_is_a_problem() {
    let output = Program::new().env("TERM", "xterm").args(["doctor"]).output();
    let said = stdout(&output);
    assert_eq!(exit_code(&output), 1);
    assert!(said.contains("x problem   terminal: the locale is not UTF-8") && said.is_ascii(), "{said}");
}

#[test]
fn a_server_that_never_answers_does_not_hold_it_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let began = Instant::now();
    let (code, said) = checked(doctor(&["--base-url", &url, "--model", "m"]));
    assert!(code == 1 && said.contains("no answer within 5 s"), "{said}");
    assert!(said.contains("skipped   models, reply, tool call"), "{said}");
    assert!(began.elapsed() < Duration::from_mins(1), "{:?}", began.elapsed());
}

#[test]
fn ctrl_c_ends_it_at_once() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let mut run = doctor(&["--base-url", &url, "--model", "m"]).run();
    run.wait_for_line(|line| line.contains("connection: "));
    let began = Instant::now();
    run.signal(Signal::INT);
    assert_eq!(run.end().code, Some(130));
    // Without the signal it would wait for an answer.
    assert!(began.elapsed() < Duration::from_mins(1), "{:?}", began.elapsed());
}

#[test]
fn what_counts_for_nothing_of_a_set_up_is_named_in_full() {
    let tools: Vec<String> = (0..200).map(|number| format!("Tool{number}")).collect();
    let program = doctor(&["--provider", "demo"])
        .file(".claude/agents/README.md", "# About\n")
        .file(".claude/settings.json", &json!({ "permissions": { "allow": tools } }).to_string());
    let (_, said) = checked(program);
    for part in ["set-up: ~/.claude/settings.json: not applied as written: Tool0 (", "Tool199 (", "no head: README.md"]
    {
        assert!(said.contains(part), "{part}\n{said}");
    }
    // The start says where.
    let program =
        Program::new().file(".claude/settings.json", &json!({ "permissions": { "allow": tools } }).to_string());
    let said = stderr(&program.args(["--provider", "demo", "exec", "hi"]).output());
    assert!(
        said.contains("Tool0 (") && !said.contains("Tool199") && said.contains("; steersman doctor names all"),
        "{said}"
    );
}
