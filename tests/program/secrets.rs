//! D22: the key goes into the Authorization header and nowhere else, whatever a server says and whatever is logged.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use steersman_core::provider::{ApiKey, ChatTransport, ProviderError};
use steersman_provider::{Http, list_models};
use steersman_tools::workspace::sandbox::SandboxChoice;

use steersman_base::details::Details;
use steersman_base::event::{Envelope, Event};

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Gate, Reply, Request, Server, Step};
use crate::support::skip::{Need, skip};
use crate::support::terminal::{Start, keys};

/// A key with characters that JSON may escape.
const KEY: &str = "sk-canary/0123456789+abcdefghijklmnopqrstuvwxyz";
/// What no output may hold: any part of the key that would tell it from others.
const CANARY: &str = "canary";

fn exec(server: &Server) -> Program {
    Program::new()
        .args(["exec", "--json", "--base-url", &server.url(), "--model", "m", "hello"])
        .args(["--api-key-env", "OPENAI_API_KEY"])
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
    let long = format!("{}{words}", "x".repeat(steersman_base::limits::ERROR_CHARS - 50));
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
    let args = ["exec", "--api-key-env", "OPENAI_API_KEY", "--base-url", &server.url(), "hello"];
    let program = Program::new().args(args).env("OPENAI_API_KEY", KEY);
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
    assert!(matches!(error, ProviderError::Status { message, .. } if message.starts_with("extra words (http")));
}

// --- twelve keys, and every place where one could turn up (K1, K2, K3)

/// Where a key can stand in the environment: those that this program uses, by name and by the configuration's word for
/// them, and those of other programs.
const VARIABLES: [&str; 12] = [
    "OPENAI_API_KEY",
    "MINE",
    "SEARCH_ONE",
    "SEARCH_TWO",
    "STEERSMAN_TOKEN",
    "ANTHROPIC_API_KEY",
    "GITHUB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "DATABASE_PASSWORD",
    "SESSION_COOKIE",
    "SSH_AUTH_SOCK",
    "SOME_OTHER_SETTING",
];

/// Passes some of them on by name and by pattern, and names those that are this program's own.
const CONFIG: &str = "api_key_env = 'MINE'\nweb.brave_key_env = 'SEARCH_ONE'\nweb.exa_key_env = 'SEARCH_TWO'\n\
                      sandbox.pass_env = ['GITHUB_TOKEN', 'AWS_*', 'DATABASE*', 'OPENAI*', 'COLOUR']\n";

fn canary(variable: &str) -> String {
    format!("canary-{}-0123456789abcdef", variable.to_lowercase())
}

/// Asserts that none of the keys stands in an artefact.
fn is_clean(artefact: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for variable in VARIABLES {
        let key = canary(variable);
        assert!(!text.contains(&key), "the key of {variable} is in {artefact}:\n{text:.4000}");
    }
}

/// Returns what a server got, without the header that is meant to hold the key.
fn received(requests: &[Request]) -> Vec<u8> {
    let headers = |request: &Request| {
        let others = request.headers.iter().filter(|(name, _)| name != "authorization");
        others.map(|(name, value)| format!("{name}: {value}\n")).collect::<Vec<_>>().concat()
    };
    let texts = requests.iter().map(|request| format!("{}\n{}{}\n", request.path, headers(request), request.body));
    texts.collect::<Vec<_>>().concat().into_bytes()
}

/// Returns every regular file below a directory.
fn below(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] }).collect()
}

/// Asserts that what lies below a directory of this program is the user's alone, the directory too.
fn is_private(dir: &Path) {
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(dir), 0o700, "{}", dir.display());
    for path in below(dir) {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        assert_eq!(mode(path.parent().unwrap()), 0o700, "{}", path.display());
    }
}

/// Shows all that a command can find out about its surroundings, more than the model gets.
fn nosy(and: &str) -> String {
    let command = format!("env; cat /proc/self/environ; cat /proc/[0-9]*/cmdline 2>/dev/null; {and} seq 1 30000; env");
    json!({ "command": command }).to_string()
}

fn run_with_keys(sandbox: &str, and: &str) {
    let gate = Gate::new();
    let server =
        Server::start([Reply::calls(&[("c1", "bash", &nosy(and))]), Reply::text("I have looked.").gated(&gate)]);
    let program = Program::new()
        .args(["exec", "--json", "--base-url", &server.url(), "--model", "m", "--sandbox", sandbox, "--yes", "look"])
        .config(CONFIG)
        .file("tmp/keep", "")
        .env("STEERSMAN_LOG", "trace")
        .env("RUST_BACKTRACE", "full")
        .env("COLOUR", "harmless-and-visible");
    let tmp = program.home().join("tmp").to_str().unwrap().to_owned();
    let program = VARIABLES.iter().fold(program.env("TMPDIR", &tmp), |program, name| program.env(name, canary(name)));
    let mut saved = None;
    let mut run = program.run();
    run.wait_for_line(|line| {
        let envelope: Envelope = serde_json::from_str(line).unwrap();
        if let Event::ToolDetails { details: Details::Command(end), .. } = envelope.event {
            saved = end.saved;
            return true;
        }
        false
    });
    gate.wait_reached();
    let saved = PathBuf::from(saved.expect("the whole output is in a file"));
    let output = fs::read(&saved).unwrap();
    let shown = String::from_utf8_lossy(&output);
    assert!(
        shown.contains("COLOUR=harmless-and-visible") && shown.contains("PATH="),
        "the command did look: {shown:.2000}"
    );
    is_clean("the saved output of a command, and in it the environment and arguments of processes", &output);
    is_private(saved.parent().unwrap());
    for entry in fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
        if let Ok(arguments) = fs::read(entry.path().join("cmdline")) {
            is_clean("the arguments of a process", &arguments);
        }
    }
    gate.open();
    let (end, home) = run.end_with_home();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    // It is in use: what is looked for below could be found.
    assert_eq!(server.chats()[0].header("authorization"), Some(&*format!("Bearer {}", canary("MINE"))));
    is_clean("standard error", end.stderr.as_bytes());
    is_clean("the events", end.stdout.as_bytes());
    is_clean("the requests", &received(&server.requests()));
    let config = home.path().join(".config");
    for path in below(home.path()).iter().filter(|path| !path.starts_with(&config)) {
        is_clean(&path.display().to_string(), &fs::read(path).unwrap());
    }
    let log = home.path().join(".local/state/steersman");
    assert!(!below(&log).is_empty(), "everything is logged");
    is_private(&log);
    let cache = home.path().join(".cache/steersman");
    if cache.exists() {
        is_private(&cache);
    }
    assert!(!saved.exists(), "the outputs go away with the session");
}

#[test]
fn no_key_gets_to_commands_requests_events_logs_or_files() {
    run_with_keys("off", "");
}

#[test]
fn in_the_sandbox_the_keys_are_not_found_in_other_processes_either() {
    let server = Server::start([Reply::text("ok")]);
    let probe = Program::new().args(["exec", "--json", "--base-url", &server.url(), "--model", "m", "x"]).output();
    if stderr(&probe).contains("not sandboxed") {
        skip(Need::of_sandbox(SandboxChoice::Auto), "keys are not looked for from within the sandbox");
        return;
    }
    run_with_keys("auto", "cat /proc/[0-9]*/environ /proc/[0-9]*/task/*/environ 2>/dev/null;");
}

#[test]
fn no_key_gets_to_the_screen_or_the_title() {
    let server = Server::start([Reply::calls(&[("c1", "bash", &nosy(""))]), Reply::text("I have looked.")]);
    let start = Start::against(&server)
        .arg("--api-key-env")
        .arg("OPENAI_API_KEY")
        .arg("--yes")
        .arg("--sandbox")
        .arg("off")
        .arg("look");
    let start = VARIABLES.iter().fold(start, |start, name| start.env(name, &canary(name)));
    let mut terminal = start.run();
    terminal.wait_for("I have looked.");
    // Everything unfolded, what was sent, and the keys and places that there are to see.
    terminal.send("\u{1b}o");
    terminal.wait_until("the whole output", |screen| screen.contains(" 29990") && screen.contains("PATH="));
    terminal.send(keys::F4);
    terminal.wait_for("Ledger of 1 text");
    terminal.send(keys::ESC);
    terminal.wait_gone("Ledger of 1 text");
    terminal.send(keys::F1);
    terminal.wait_for("Help: ");
    assert_eq!(server.chats()[0].header("authorization"), Some(&*format!("Bearer {}", canary("OPENAI_API_KEY"))));
    is_clean("the bytes to the terminal, its title among them", &terminal.raw());
    is_clean("the requests", &received(&server.requests()));
}

#[test]
fn a_start_that_fails_does_not_tell_a_key() {
    for (config, flags) in [
        ("sandbox.pass_env = ['OPENAI_API_KEY']", &[][..]),
        ("api_key = 'canary-openai_api_key-0123456789abcdef'", &[]),
        ("web.brave_key_env = 'UNSET'", &[]),
        ("", &["--base-url", "http://127.0.0.1:1"]),
        ("", &["--system-prompt", "/nonexistent"]),
    ] {
        let program = Program::new().args(["exec", "--json", "--model", "m"]).args(flags.iter().copied()).args(["x"]);
        let program = program.config(config).env("RUST_BACKTRACE", "full");
        let program = VARIABLES.iter().fold(program, |program, name| program.env(name, canary(name)));
        let output = program.output();
        assert_ne!(exit_code(&output), 0, "{config} {flags:?}");
        is_clean("standard error", &output.stderr);
        is_clean("standard output", &output.stdout);
    }
}
