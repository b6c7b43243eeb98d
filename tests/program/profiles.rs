//! Servers by a name: which profile is used, what it takes the place of, and what keeps its key from other servers.

use steersman::program::config::{
    Config, ConfigError, Environment, KeyPlace, Layer, ModelSource, ProjectLayer, Provider, Server, parse,
};
use steersman_base::dialect::Dialect;
use steersman_core::provider::{Answering, Effort};

const FILE: &str = "
provider = 'anthropic'
model = 'claude-top'
api_key_env = 'TOP_KEY'
temperature = 0.5

[profile.local]
base_url = 'http://127.0.0.1:8080'
model = 'qwen3'
context_window = 4096
reasoning_effort = 'low'
max_tokens = 900

[profile.router]
base_url = 'https://openrouter.ai/api/v1'

[profile.broken]
model = 'm'
api_key_env = 'NOT_SET'
";

const KEYS: [(&str, &str); 3] = [("TOP_KEY", "top"), ("OPENROUTER_API_KEY", "or"), ("OPENAI_API_KEY", "oa")];

fn resolve(flags: Layer, more: &[(&str, &str)], file: &str) -> Result<Config, ConfigError> {
    let environment: Environment = KEYS.iter().chain(more).copied().collect();
    Config::resolve(flags, &environment, parse(file).expect("the file is right"))
}

fn by_name(name: &str) -> Layer {
    Layer { default_profile: Some(name.to_owned()), ..Layer::default() }
}

fn server(config: &Config) -> &Server {
    match &config.model {
        ModelSource::Server(server) => server,
        ModelSource::Embedded { .. } => panic!("the embedded model was chosen"),
    }
}

fn key(server: &Server) -> Option<&str> {
    match &server.key {
        KeyPlace::Variable { key, .. } => Some(key.expose()),
        KeyPlace::None | KeyPlace::File(_) | KeyPlace::Command(_) => None,
    }
}

#[test]
fn a_profile_takes_the_place_of_the_whole_server_above_it() {
    let config = resolve(by_name("local"), &[], FILE).unwrap();
    let local = server(&config);
    assert_eq!((local.dialect, local.base_url.as_str()), (Dialect::OpenAi, "http://127.0.0.1:8080"));
    assert_eq!((local.model.as_deref(), key(local)), (Some("qwen3"), None));
    assert_eq!((local.context_window, config.context_window), (Some(4096), Some(4096)));
    // How to answer is no part of a server: what the profile leaves open is taken from above it.
    let answering = Answering { effort: Some(Effort::Low), temperature: Some(0.5), max_tokens: Some(900) };
    assert_eq!(local.answering, answering);
    assert_eq!(config.source, "local");

    let without = resolve(Layer::default(), &[], FILE).unwrap();
    let top = server(&without);
    assert_eq!((top.dialect, top.base_url.as_str()), (Dialect::Anthropic, "https://api.anthropic.com/v1"));
    assert_eq!((top.model.as_deref(), key(top)), (Some("claude-top"), Some("top")));
    assert_eq!(without.source, "anthropic");
}

#[test]
fn the_flag_stands_above_the_environment_and_that_above_the_file() {
    let file = format!("default_profile = 'router'\n{FILE}");
    let chosen = |flags: Layer, more: &[(&str, &str)]| resolve(flags, more, &file).map(|config| config.source);
    let variable = [("STEERSMAN_PROFILE", "local")];
    assert_eq!(chosen(Layer::default(), &[]).unwrap(), "router");
    assert_eq!(chosen(Layer::default(), &variable).unwrap(), "local");
    assert_eq!(chosen(by_name("router"), &variable).unwrap(), "router");
    // What is said to this program in the environment stands above a profile of the file, below one of a flag.
    let url = ("STEERSMAN_BASE_URL", "http://127.0.0.1:9");
    let at = |flags: Layer| server(&resolve(flags, &[url], &file).unwrap()).base_url.clone();
    assert_eq!(at(Layer::default()), "http://127.0.0.1:9");
    assert_eq!(at(by_name("local")), "http://127.0.0.1:8080");
    // What is meant for other programs too stands below both.
    let shared = resolve(Layer::default(), &[("OPENAI_BASE_URL", "http://127.0.0.1:9")], &file).unwrap();
    assert_eq!(server(&shared).base_url, "https://openrouter.ai/api/v1");
}

#[test]
fn a_flag_changes_one_thing_about_a_profile() {
    let model = Layer { model: Some("other".to_owned()), ..by_name("local") };
    let config = resolve(model, &[], FILE).unwrap();
    assert_eq!((server(&config).model.as_deref(), config.source.as_str()), (Some("other"), "local"));
    let demo = Layer { provider: Some(Provider::Demo), ..by_name("local") };
    assert!(matches!(resolve(demo, &[], FILE).unwrap().model, ModelSource::Embedded { .. }));
}

#[test]
fn a_profile_that_is_not_there_is_named_with_those_that_are() {
    let error = resolve(by_name("locl"), &[], FILE).unwrap_err().to_string();
    assert_eq!(error, "there is no profile \"locl\"; there are broken, local, router");
    assert!(resolve(by_name("x"), &[], "").unwrap_err().to_string().contains("[profile.NAME]"));
}

#[test]
fn a_broken_profile_stops_nothing_until_it_is_used() {
    let config = resolve(by_name("local"), &[], FILE).unwrap();
    let names: Vec<&str> = config.profiles.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["broken", "local", "router"]);
    assert_eq!(config.profiles[0].1, Err(ConfigError::NoKey("NOT_SET".to_owned())));
    assert_eq!(key(config.profiles[2].1.as_ref().unwrap()), Some("or"));
    assert_eq!(resolve(by_name("broken"), &[], FILE).unwrap_err(), ConfigError::NoKey("NOT_SET".to_owned()));
    let slashed = resolve(Layer::default(), &[], "[profile.'a/b']\nmodel = 'm'").unwrap();
    assert_eq!(slashed.profiles[0].1, Err(ConfigError::ProfileName("a/b".to_owned())));
}

#[test]
fn the_key_of_a_lower_server_does_not_follow_to_another_one() {
    let elsewhere = Layer { base_url: Some("https://elsewhere.example/v1".to_owned()), ..Layer::default() };
    let file = "base_url = 'https://mine.example'\nmodel = 'm'\napi_key_env = 'TOP_KEY'";
    assert_eq!(key(server(&resolve(Layer::default(), &[], file).unwrap())), Some("top"));
    assert_eq!(key(server(&resolve(elsewhere.clone(), &[], file).unwrap())), None);
    let same = Layer { base_url: Some("https://mine.example/v1".to_owned()), ..Layer::default() };
    assert_eq!(key(server(&resolve(same, &[], file).unwrap())), Some("top"));
    // Another port is another server.
    let port = Layer { base_url: Some("https://mine.example:8443".to_owned()), ..Layer::default() };
    assert_eq!(key(server(&resolve(port, &[], file).unwrap())), None);
    // The key that the command line itself names goes where the command line says.
    let both = Layer { api_key_env: Some("TOP_KEY".to_owned()), ..elsewhere };
    assert_eq!(key(server(&resolve(both, &[], file).unwrap())), Some("top"));
}

#[test]
fn a_key_has_one_place_and_a_command_has_a_program() {
    let fault = |file: &str| resolve(Layer::default(), &[], file).unwrap_err();
    let two = "model = 'm'\napi_key_env = 'TOP_KEY'\napi_key_file = 'k'";
    assert_eq!(fault(two), ConfigError::TwoKeys);
    assert_eq!(fault("model = 'm'\napi_key_command = ' '"), ConfigError::KeyCommand);
    assert_eq!(fault("model = 'm'\ntemperature = 2.5"), ConfigError::Temperature("2.5".to_owned()));
    assert_eq!(fault("model = 'm'\ntemperature = nan"), ConfigError::Temperature("NaN".to_owned()));
    let words = |file: &str| match &server(&resolve(Layer::default(), &[], file).unwrap()).key {
        KeyPlace::Command(command) => command.arguments().join("|"),
        other => panic!("no command: {other:?}"),
    };
    assert_eq!(words("model = 'm'\napi_key_command = 'pass show \"a b\"'"), "pass|show|a b");
    assert_eq!(words("model = 'm'\napi_key_command = ['pass', 'a b']"), "pass|a b");
}

#[test]
fn unknown_keys_of_a_profile_name_their_line_and_the_nearest() {
    let error = parse("model = 'm'\n[profile.local]\nmodle = 'x'").unwrap_err();
    assert_eq!(error.line, 3);
    assert_eq!(error.message, "unknown key \"profile.local.modle\"; the nearest known key is \"profile.local.model\"");
    let swallowed = parse("[profile.local]\nmodel = 'x'\nmax_steps = 3").unwrap_err();
    assert_eq!((swallowed.line, swallowed.message.contains("belongs above the first [section]")), (3, true));
    assert_eq!(parse("[profile.local]\nreasoning_effort = 'huge'").unwrap_err().line, 2);
}

#[test]
fn a_project_sets_no_server_no_key_and_no_command() {
    for text in [
        "base_url = 'http://evil.example'",
        "provider = 'openai'",
        "api_key_env = 'HOME'",
        "api_key_file = '/etc/passwd'",
        "api_key_command = 'sh -c evil'",
        "default_profile = 'x'",
        "[profile.x]\nbase_url = 'http://evil.example'",
        "local_ports = [80]",
        "temperature = 1",
        "max_tokens = 1",
        "reasoning_effort = 'max'",
    ] {
        let error = ProjectLayer::parse(&format!("max_steps = 3\n{text}")).unwrap_err();
        assert!(error.line == 2 && error.message.starts_with("a project may not set"), "{text}: {error}");
    }
}
