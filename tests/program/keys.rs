//! Keys: whose variable is for whose server, files and commands that hold one, and that none is ever shown.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use steersman::program::cli::keys;
use steersman::program::config::{Config, Environment, KeyPlace, Layer, ModelSource, SERVICES, Server, parse};
use steersman_tools::workspace::UserCommand;
use tempfile::TempDir;

use crate::support::program::{Program, exit_code, stderr};
use crate::support::server::{Reply, Server as ModelServer};

fn server(base_url: &str, provider: &str, environment: &Environment) -> Server {
    let file = parse(&format!("provider = '{provider}'\nbase_url = '{base_url}'\nmodel = 'm'")).unwrap();
    match Config::resolve(Layer::default(), environment, file).unwrap().model {
        ModelSource::Server(server) => server,
        ModelSource::Embedded { .. } => panic!("the embedded model was chosen"),
    }
}

fn variable(server: &Server) -> Option<&str> {
    match &server.key {
        KeyPlace::Variable { name, .. } => Some(name),
        KeyPlace::None | KeyPlace::File(_) | KeyPlace::Command(_) => None,
    }
}

/// All keys there are.
fn every_key() -> Environment {
    SERVICES.iter().flat_map(|service| service.variables).map(|name| (*name, format!("key of {name}"))).collect()
}

#[test]
fn each_service_gets_its_own_key_and_nobody_elses() {
    let environment = every_key();
    for service in SERVICES {
        let its = server(service.base_url, service.dialect.name(), &environment);
        assert_eq!(variable(&its), Some(service.variables[0]), "{}", service.name);
        // However it is asked: the host decides, not the dialect.
        for provider in ["openai", "openai-responses", "anthropic", "gemini"] {
            assert_eq!(variable(&server(service.base_url, provider, &environment)), Some(service.variables[0]));
        }
        let alone: Environment = service.variables.iter().map(|name| (*name, "k")).collect();
        for other in SERVICES.iter().filter(|other| other.name != service.name) {
            let theirs = server(other.base_url, other.dialect.name(), &alone);
            assert_eq!(variable(&theirs), None, "the key of {} went to {}", service.name, other.name);
        }
    }
}

#[test]
fn no_key_goes_to_a_host_that_only_looks_like_a_services() {
    let environment = every_key();
    for base_url in [
        "http://127.0.0.1:8080",
        "https://proxy.example/v1",
        "https://api.openai.com.evil.example/v1",
        "https://evil-api.openai.com.example",
        "https://notapi.anthropic.com",
        "https://user:pass@evil.example/api.openai.com",
        "https://evil.example/?api.openai.com",
        "https://evil.example/#@api.openai.com",
        "https://openrouter.ai.",
    ] {
        let found = server(base_url, "openai", &environment);
        let allowed = base_url == "https://openrouter.ai.";
        assert_eq!(variable(&found).is_some(), allowed, "{base_url}: {:?}", found.key);
    }
    assert_eq!(variable(&server("https://eu.api.openai.com/v1", "openai", &environment)), Some("OPENAI_API_KEY"));
    assert_eq!(variable(&server("https://API.OpenAI.com", "openai", &environment)), Some("OPENAI_API_KEY"));
}

#[test]
fn the_shared_address_and_the_shared_key_belong_together() {
    let shared = [("OPENAI_BASE_URL", "http://gateway.example/v1"), ("OPENAI_API_KEY", "k")];
    let config = Config::resolve(Layer::default(), &shared.into_iter().collect(), Layer::default()).unwrap();
    let ModelSource::Server(server) = config.model else { panic!("no server") };
    assert_eq!(variable(&server), Some("OPENAI_API_KEY"));
    let note = server.plain_http().unwrap();
    assert!(note.contains("gateway.example") && note.contains("unencrypted"), "{note}");
}

#[test]
fn a_key_over_http_is_said_but_for_this_machine() {
    let environment: Environment = [("K", "secret")].into_iter().collect();
    let note = |base_url: &str, key: &str| {
        let file = parse(&format!("base_url = '{base_url}'\nmodel = 'm'\n{key}")).unwrap();
        match Config::resolve(Layer::default(), &environment, file).unwrap().model {
            ModelSource::Server(server) => server.plain_http(),
            ModelSource::Embedded { .. } => None,
        }
    };
    let key = "api_key_env = 'K'";
    assert!(note("http://192.168.1.5:8080", key).is_some_and(|note| !note.contains("secret")));
    for quiet in ["https://host.example", "http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1"] {
        assert_eq!(note(quiet, key), None, "{quiet}");
    }
    assert_eq!(note("http://192.168.1.5:8080", ""), None);
}

#[test]
fn a_bare_key_of_any_service_selects_none() {
    let config = Config::resolve(Layer::default(), &every_key(), Layer::default()).unwrap();
    assert!(matches!(config.model, ModelSource::Embedded { .. }) && config.unconfigured);
    let names: Vec<&str> = config.services.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, SERVICES.iter().map(|service| service.name).collect::<Vec<_>>());
    assert!(!format!("{config:?}").contains("key of"));
}

#[tokio::test]
async fn a_file_holds_one_key_and_is_for_the_user_alone() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("key");
    let place = KeyPlace::File(path.clone());
    assert!(keys::read_key(&place).await.unwrap_err().contains("cannot be read"));
    std::fs::write(&path, "  sk-canary \n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(keys::read_key(&place).await.unwrap().unwrap().expose(), "sk-canary");
    assert_eq!(keys::warning(&place), None);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let warning = keys::warning(&place).unwrap();
    assert!(warning.contains("chmod 600") && !warning.contains("canary"), "{warning}");
    for wrong in ["", " \n", "sk-canary second\n", "# comment\nsk-canary"] {
        std::fs::write(&path, wrong).unwrap();
        let error = keys::read_key(&place).await.unwrap_err();
        assert!(error.contains("does not hold one key") && !error.contains("canary"), "{error}");
    }
}

fn command(words: &[&str]) -> KeyPlace {
    KeyPlace::Command(UserCommand::new(words.iter().map(|word| (*word).to_owned()).collect()))
}

#[tokio::test]
async fn a_command_prints_the_key_and_its_complaint_is_told() {
    let key =
        keys::read_key(&command(&["/bin/sh", "-c", "echo '  sk-canary'; echo noise >&2"])).await.unwrap().unwrap();
    assert_eq!(key.expose(), "sk-canary");
    // No shell reads the words.
    assert_eq!(keys::read_key(&command(&["/bin/echo", "$HOME"])).await.unwrap().unwrap().expose(), "$HOME");
    let failed =
        keys::read_key(&command(&["/bin/sh", "-c", "echo sk-canary; echo 'vault is \u{1b}[31mlocked' >&2; exit 3"]))
            .await;
    let failed = failed.unwrap_err();
    assert!(failed.contains("vault is") && failed.contains("exit status: 3"), "{failed}");
    assert!(!failed.contains("canary") && !failed.contains('\u{1b}'), "{failed}");
    assert!(keys::read_key(&command(&["/does/not/exist"])).await.unwrap_err().contains("does not start"));
    assert!(keys::read_key(&command(&["/bin/true"])).await.unwrap_err().contains("did not print one key"));
}

#[tokio::test]
async fn a_command_that_does_not_end_or_leaves_something_behind_holds_nothing_up() {
    let began = Instant::now();
    let stuck = command(&["/bin/sh", "-c", "echo sk-canary; sleep 600 & wait"]);
    let error = keys::read_within(&stuck, Duration::from_millis(300)).await.unwrap_err();
    assert!(error.contains("took longer than 0.3 s"), "{error}");
    let left = command(&["/bin/sh", "-c", "sleep 600 & echo sk-canary"]);
    assert_eq!(keys::read_key(&left).await.unwrap().unwrap().expose(), "sk-canary");
    assert!(began.elapsed() < Duration::from_mins(5), "it waited for what was left behind");
}

// D22
#[test]
fn a_key_out_of_a_command_reaches_the_server_and_nothing_else() {
    let model = ModelServer::start([Reply::calls(&[("c1", "bash", r#"{"command":"env"}"#)]), Reply::text("Done.")]);
    let config = format!(
        "mode = 'auto-without-sandbox'\nsandbox.kind = 'off'\n[profile.mine]\nbase_url = '{}'\nmodel = 'm'\n\
         api_key_command = ['/bin/sh', '-c', 'echo $VAULT']\n",
        model.url()
    );
    let output = Program::new()
        .config(&config)
        .env("VAULT", "sk-canary")
        .env("GROQ_API_KEY", "sk-other")
        .args(["--profile", "mine", "exec", "--json", "go"])
        .output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let bearer = model.chats()[0].headers.iter().find(|(name, _)| name == "authorization").cloned();
    assert_eq!(bearer.unwrap().1, "Bearer sk-canary");
    let events = String::from_utf8_lossy(&output.stdout);
    assert!(!events.contains("sk-other") && !stderr(&output).contains("canary"), "{events}");
}
