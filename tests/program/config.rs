//! `config`: who wins, when a model is configured, and what is said about a wrong file. All of it pure.

use std::num::NonZeroU32;
use std::path::PathBuf;

use steersman::program::config::{
    Config, ConfigError, Environment, KeyPlace, Layer, ModelSource, Provider, SandboxKind, SandboxSection,
    ScreenSection, Server, Service, parse,
};
use steersman_base::event::Usage;
use steersman_core::approval::Mode;
use steersman_core::control::Spending;
use steersman_core::provider::Streaming;

fn resolve(flags: Layer, environment: &[(&str, &str)], file: &str) -> Result<Config, ConfigError> {
    let environment = environment.iter().copied().collect::<Environment>();
    Config::resolve(flags, &environment, parse(file).expect("the file is right"))
}

fn server(config: Result<Config, ConfigError>) -> (String, Option<String>, Option<String>) {
    match config.expect("a configuration").model {
        ModelSource::Server(Server { base_url, model, key, .. }) => {
            let key = match key {
                KeyPlace::Variable { key, .. } => Some(key.expose().to_owned()),
                KeyPlace::None | KeyPlace::File(_) | KeyPlace::Command(_) => None,
            };
            (base_url, model, key)
        }
        ModelSource::Embedded { .. } => panic!("the embedded model was chosen"),
    }
}

fn is_embedded(config: Result<Config, ConfigError>) -> bool {
    matches!(config.expect("a configuration").model, ModelSource::Embedded { .. })
}

fn flags(change: impl FnOnce(&mut Layer)) -> Layer {
    let mut layer = Layer::default();
    change(&mut layer);
    layer
}

#[test]
fn nothing_configured_means_the_embedded_model_and_the_defaults() {
    let config = resolve(Layer::default(), &[], "").unwrap();
    assert_eq!(config.model, ModelSource::Embedded { pace: None });
    assert_eq!(config.max_steps, 300);
    assert_eq!(config.streaming, Streaming::On);
    assert_eq!(config.context_window, None);
    assert_eq!(config.system_prompt, None);
}

#[test]
fn the_theme_of_the_flag_goes_before_that_of_the_file() {
    let file = "[screen]\ntheme = 'light'";
    assert_eq!(resolve(Layer::default(), &[], "").unwrap().screen.theme, None);
    assert_eq!(resolve(Layer::default(), &[], file).unwrap().screen.theme.as_deref(), Some("light"));
    let theme = Some("sea".to_owned());
    let named = flags(|f| f.screen = Some(ScreenSection { theme: theme.clone(), ..ScreenSection::default() }));
    assert_eq!(resolve(named, &[], file).unwrap().screen.theme, theme);
}

// D22
#[test]
fn no_key_shows_in_the_debug_form_of_what_holds_it() {
    let environment: Environment = [("KEY", "sk-canary"), ("STEERSMAN_MODEL", "m")].into_iter().collect();
    let named = flags(|f| f.api_key_env = Some("KEY".into()));
    let config = Config::resolve(named, &environment, Layer::default()).unwrap();
    assert_eq!(server(Ok(config.clone())).2.as_deref(), Some("sk-canary"));
    assert!(!format!("{config:?} {environment:?}").contains("canary"));
    assert_eq!(format!("{environment:?}"), r#"{"KEY", "STEERSMAN_MODEL"}"#);
}

#[test]
fn a_bare_key_does_not_configure_a_model() {
    assert!(is_embedded(resolve(Layer::default(), &[("OPENAI_API_KEY", "sk-1")], "")));
    assert!(is_embedded(resolve(Layer::default(), &[("KEY", "sk-1")], "api_key_env = 'KEY'")));
    assert!(is_embedded(resolve(flags(|f| f.api_key_env = Some("KEY".into())), &[("KEY", "sk-1")], "")));
}

/// Flags, environment, file; the address and the model that are chosen.
type Case<'a> = (Layer, &'a [(&'a str, &'a str)], &'a str, (&'a str, Option<&'a str>));

#[test]
fn an_address_a_model_or_a_provider_configures_one_from_every_source() {
    let url = "http://localhost:8080";
    let cases: [Case; 9] = [
        (flags(|f| f.base_url = Some(url.into())), &[], "", (url, None)),
        (flags(|f| f.model = Some("m".into())), &[], "", ("https://api.openai.com/v1", Some("m"))),
        (flags(|f| f.provider = Some(Provider::OpenAi)), &[], "base_url = 'http://localhost:8080'", (url, None)),
        (Layer::default(), &[("STEERSMAN_BASE_URL", url)], "", (url, None)),
        (Layer::default(), &[("STEERSMAN_MODEL", "m")], "", ("https://api.openai.com/v1", Some("m"))),
        (Layer::default(), &[("OPENAI_BASE_URL", url)], "", (url, None)),
        (Layer::default(), &[], "base_url = 'http://localhost:8080'", (url, None)),
        (Layer::default(), &[], "model = 'm'", ("https://api.openai.com/v1", Some("m"))),
        (Layer::default(), &[], "provider = 'openai'\nmodel = 'm'", ("https://api.openai.com/v1", Some("m"))),
    ];
    for (flags, environment, file, (address, model)) in cases {
        let found = server(resolve(flags.clone(), environment, file));
        assert_eq!(found, (address.to_owned(), model.map(str::to_owned), None), "{flags:?} {environment:?} {file:?}");
    }
}

#[test]
fn flag_beats_environment_beats_file() {
    let file = "base_url = 'http://file'\nmodel = 'file'";
    let own = ("STEERSMAN_BASE_URL", "http://own");
    let shared = ("OPENAI_BASE_URL", "http://shared");
    let model = ("STEERSMAN_MODEL", "own");
    let flag = flags(|f| {
        f.base_url = Some("http://flag".into());
        f.model = Some("flag".into());
    });
    let address = |flags: Layer, environment: &[(&str, &str)]| {
        let (address, model, _) = server(resolve(flags, environment, file));
        (address, model.unwrap())
    };
    let pair = |address: &str, model: &str| (address.to_owned(), model.to_owned());
    assert_eq!(address(flag, &[own, shared, model]), pair("http://flag", "flag"));
    assert_eq!(address(Layer::default(), &[own, shared, model]), pair("http://own", "own"));
    assert_eq!(address(Layer::default(), &[shared]), pair("http://shared", "file"));
    assert_eq!(address(Layer::default(), &[]), pair("http://file", "file"));
}

#[test]
fn flags_without_a_variable_beat_the_file() {
    let file = "max_steps = 5\nstream = true\ncontext_window = 1000\nsystem_prompt = 'file.md'\napi_key_env = 'A'\nmodel = 'm'";
    let environment = [("A", "key-a"), ("B", "key-b")];
    let by_file = resolve(Layer::default(), &environment, file).unwrap();
    assert_eq!(by_file.max_steps, 5);
    assert_eq!(by_file.streaming, Streaming::On);
    assert_eq!(by_file.context_window, Some(1000));
    assert_eq!(by_file.system_prompt, Some(PathBuf::from("file.md")));
    let flags = flags(|f| {
        f.max_steps = NonZeroU32::new(9);
        f.stream = Some(false);
        f.context_window = 2000.try_into().ok();
        f.system_prompt = Some("flag.md".into());
        f.api_key_env = Some("B".into());
    });
    let by_flag = resolve(flags, &environment, file).unwrap();
    assert_eq!(by_flag.max_steps, 9);
    assert_eq!(by_flag.streaming, Streaming::Off);
    assert_eq!(by_flag.context_window, Some(2000));
    assert_eq!(by_flag.system_prompt, Some(PathBuf::from("flag.md")));
    assert_eq!(server(Ok(by_file)).2.as_deref(), Some("key-a"));
    assert_eq!(server(Ok(by_flag)).2.as_deref(), Some("key-b"));
}

#[test]
fn provider_demo_as_a_flag_wins_over_all() {
    let flags = flags(|f| {
        f.provider = Some(Provider::Demo);
        f.base_url = Some("http://flag".into());
        f.model = Some("flag".into());
    });
    let environment =
        [("STEERSMAN_BASE_URL", "http://own"), ("OPENAI_BASE_URL", "http://shared"), ("OPENAI_API_KEY", "k")];
    assert!(is_embedded(resolve(flags, &environment, "provider = 'openai'\nbase_url = 'http://file'")));
}

#[test]
fn demo_in_the_file_gives_way_to_what_is_said_to_this_program_but_not_to_a_shared_variable() {
    let file = "provider = 'demo'";
    assert!(is_embedded(resolve(Layer::default(), &[], file)));
    assert!(is_embedded(resolve(Layer::default(), &[("OPENAI_BASE_URL", "http://shared")], file)));
    assert_eq!(server(resolve(Layer::default(), &[("STEERSMAN_BASE_URL", "http://own")], file)).0, "http://own");
    assert_eq!(server(resolve(flags(|f| f.base_url = Some("http://flag".into())), &[], file)).0, "http://flag");
}

#[test]
fn the_key_comes_from_the_named_variable_only() {
    let file = "model = 'm'";
    let named = || flags(|f| f.api_key_env = Some("MY_KEY".into()));
    let key = |flags, environment: &[(&str, &str)]| server(resolve(flags, environment, file)).2;
    assert_eq!(key(Layer::default(), &[]), None);
    assert_eq!(key(Layer::default(), &[("OPENAI_API_KEY", "")]), None);
    assert_eq!(key(Layer::default(), &[("OPENAI_API_KEY", "sk")]).as_deref(), Some("sk"));
    assert_eq!(key(named(), &[("OPENAI_API_KEY", "sk"), ("MY_KEY", "mine")]).as_deref(), Some("mine"));
    let error = resolve(named(), &[("OPENAI_API_KEY", "sk")], file).unwrap_err();
    assert_eq!(error, ConfigError::NoKey("MY_KEY".into()));
    assert!(error.to_string().contains("MY_KEY"));
}

#[test]
fn no_form_of_the_configuration_shows_the_key() {
    let config = resolve(flags(|f| f.model = Some("m".into())), &[("OPENAI_API_KEY", "sk-canary")], "").unwrap();
    assert!(!format!("{config:?}").contains("canary"));
}

#[test]
fn a_provider_without_address_and_model_is_refused() {
    let error = resolve(Layer::default(), &[("OPENAI_API_KEY", "sk")], "provider = 'openai'").unwrap_err();
    assert_eq!(error, ConfigError::NoModel);
    assert!(error.to_string().contains("--model"));
}

#[test]
fn what_is_no_address_is_refused() {
    for wrong in ["localhost:8080", "ftp://host/v1", "http://", "host", "file:///etc/passwd"] {
        let error = resolve(flags(|f| f.base_url = Some(wrong.into())), &[], "").unwrap_err();
        assert_eq!(error, ConfigError::BaseUrl(wrong.into()));
    }
    for right in ["http://localhost:8080", "https://host/v1/", "http://[::1]:1/v1", "http://10.0.0.1/api/v3"] {
        assert_eq!(server(resolve(flags(|f| f.base_url = Some(right.into())), &[], "")).0, right);
    }
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    let environment = [("STEERSMAN_BASE_URL", ""), ("STEERSMAN_MODEL", ""), ("OPENAI_BASE_URL", "")];
    assert!(is_embedded(resolve(Layer::default(), &environment, "")));
}

#[test]
fn the_pace_reaches_the_embedded_model() {
    assert_eq!(resolve(Layer::default(), &[], "pace = 0").unwrap().model, ModelSource::Embedded { pace: Some(0) });
}

#[test]
fn a_waiting_text_is_asked_about_after_ten_minutes_or_twenty_steps_unless_set() {
    let asked = |file: &str| {
        let still_true = resolve(Layer::default(), &[], file).unwrap().still_true;
        (still_true.age.map(|age| age.as_secs()), still_true.steps)
    };
    assert_eq!(asked(""), (Some(600), Some(20)));
    assert_eq!(asked("still_true_minutes = 3"), (Some(180), Some(20)));
    assert_eq!(asked("still_true_steps = 7"), (Some(600), Some(7)));
    assert_eq!(asked("still_true_minutes = 0\nstill_true_steps = 0"), (None, None));
    assert_eq!(parse("still_true_minutes = -1").unwrap_err().line, 1);
}

#[test]
fn prices_are_read_per_model_in_each_form_of_the_file() {
    let usage = |model: &str| Usage { output: Some(1_000), model: Some(model.to_owned()), ..Usage::default() };
    for file in [
        "prices.big = { input = 2, output = 10 }\nprices.'vendor/small:1' = { input = 0.5, cached = 0.1, output = 1.5 }",
        "[prices.big]\ninput = 2.0\noutput = 10.0\n[prices.\"vendor/small:1\"]\ninput = 0.5\ncached = 0.1\noutput = 1.5",
    ] {
        let prices = resolve(Layer::default(), &[], file).unwrap().spending.prices;
        let costs = ["big", "vendor/small:1", "other"].map(|model| prices.cost_nanos(&usage(model)));
        assert_eq!(costs, [Some(10_000_000), Some(1_500_000), None]);
    }
}

#[test]
fn limits_on_what_is_spent_and_the_share_for_compaction_are_read_and_checked() {
    let config = resolve(Layer::default(), &[], "").unwrap();
    assert_eq!((config.spending, config.compact_at), (Spending::default(), 85));
    let file = "max_cost = 2\nmax_tokens_total = 5000\ncompact_at = 70";
    let config = resolve(Layer::default(), &[], file).unwrap();
    assert_eq!(config.spending.max_cost, Some("2.00".parse().unwrap()));
    assert_eq!((config.spending.max_tokens, config.compact_at), (Some(5_000), 70));
    let flags = Layer { max_cost: Some("0.5".parse().unwrap()), compact_at: Some(0), ..Layer::default() };
    let config = resolve(flags, &[], file).unwrap();
    assert_eq!(config.spending.max_cost.unwrap().to_string(), "$0.50");
    assert_eq!(config.compact_at, 0);
    for text in ["max_cost = 0", "max_cost = -1", "max_cost = 'much'", "max_tokens_total = 0", "compact_at = -1"] {
        assert_eq!(parse(text).unwrap_err().line, 1, "{text}");
    }
    assert_eq!(resolve(Layer::default(), &[], "compact_at = 101").unwrap_err(), ConfigError::CompactAt(101));
}

#[test]
fn a_price_that_is_none_names_its_line() {
    for (text, line) in [
        ("model = 'm'\nprices.big = { input = -1, output = 1 }", 2),
        ("prices.big = { input = 1 }", 1),
        ("prices.big = { input = nan, output = 1 }", 1),
        ("prices.big = { input = 1, output = 1, outptu = 1 }", 1),
        ("\nprices.big = 3", 2),
        ("prices = 3", 1),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!(error.line, line, "{text:?}: {error}");
        assert!(!error.to_string().contains('\n'), "one line: {error}");
    }
}

#[test]
fn an_unknown_key_names_its_line_and_the_nearest_known_key() {
    let error = parse("# a comment\nmodel = 'm'\n\nbase-url = 'http://localhost'\nzzz = 1\n").unwrap_err();
    assert_eq!(error.line, 4);
    assert_eq!(error.message, "unknown key \"base-url\"; the nearest known key is \"base_url\"");
    let error = parse("[max_stps]\nx = 1").unwrap_err();
    assert_eq!((error.line, error.message.contains("\"max_steps\"")), (1, true));
}

#[test]
fn a_key_above_its_section_or_below_one_of_another_program_names_its_section() {
    let message = |text: &str| parse(text).unwrap_err().message;
    for (text, says) in [
        ("allow = ['bash: ls']", "unknown key \"allow\"; \"allow\" belongs below [rules]"),
        ("deny = []\n[rules]", "unknown key \"deny\"; \"deny\" belongs below [rules]"),
        ("exa_key_env = 'X'", "unknown key \"exa_key_env\"; \"exa_key_env\" belongs below [web]"),
        ("[permissions]\nallow = []", "unknown section [permissions]; \"allow\" belongs below [rules]"),
        ("permissions = { default = 1, deny = [] }", "unknown section [permissions]; \"deny\" belongs below [rules]"),
        ("[rule]\nallow = []", "unknown key \"rule\"; the nearest known key is \"rules\""),
        ("[permissions]", "unknown key \"permissions\"; the nearest known key is"),
    ] {
        assert!(message(text).starts_with(says), "{text:?}: {}", message(text));
    }
}

#[test]
fn an_unknown_key_of_a_section_names_its_line_and_the_nearest_key_of_that_section() {
    let message = |text: &str, line: usize| {
        let error = parse(text).unwrap_err();
        assert_eq!(error.line, line, "{text:?}: {error}");
        error.message
    };
    let nearest = |unknown: &str, known: &str| format!("unknown key {unknown:?}; the nearest known key is {known:?}");
    assert_eq!(message("[rules]\nalow = []", 2), nearest("rules.alow", "rules.allow"));
    assert_eq!(message("mode = 'ask'\nrules.denny = []", 2), nearest("rules.denny", "rules.deny"));
    assert_eq!(message("sandbox = { kind = 'off', net = true }", 1), nearest("sandbox.net", "sandbox.network"));
    assert_eq!(message("[web]\n\nallowed_hosts = ['x']", 3), nearest("web.allowed_hosts", "web.allow_hosts"));
    // The first of several counts, wherever it stands.
    assert_eq!(message("[web]\nexa_key = 1\n[rules]\nyyy = 1", 2), nearest("web.exa_key", "web.exa_key_env"));
    // A table swallows the keys behind it.
    let swallowed = "unknown key \"rules.model\"; \"model\" belongs above the first [section]";
    assert_eq!(message("[rules]\nallow = []\nmodel = 'm'", 3), swallowed);
}

#[test]
fn a_wrong_value_of_a_section_names_its_line() {
    for (text, line) in [
        ("mode = 'automatic'", 1),
        ("\nmode = 'Ask'", 2),
        ("context_files = 'no'", 1),
        ("rules = 3", 1),
        ("[rules]\nallow = 'bash: ls'", 2),
        ("[rules]\nallow = ['bash: ls', 3]", 2),
        ("[sandbox]\nkind = 'chroot'", 2),
        ("[sandbox]\nnetwork = 'yes'", 2),
        ("[web]\non_main_agent = 1", 2),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!(error.line, line, "{text:?}: {error}");
        assert!(!error.to_string().contains('\n'), "one line: {error}");
    }
}

#[test]
fn tools_are_guarded_by_default() {
    let config = resolve(Layer::default(), &[], "").unwrap();
    assert_eq!((config.mode, config.context_files), (Mode::Ask, true));
    assert!(config.rules.is_empty());
    assert_eq!((config.sandbox.kind, config.sandbox.network), (SandboxKind::Auto, false));
    assert!(!config.web.on_main_agent && config.web.allow_hosts.is_empty());
}

#[test]
fn a_flag_overrules_one_key_of_a_section_and_leaves_the_others() {
    let file = "mode = 'auto'\n[sandbox]\nkind = 'landlock'\nnetwork = true\npass_env = ['CARGO_HOME']";
    let sandbox = SandboxSection { kind: Some(SandboxKind::Off), ..SandboxSection::default() };
    let over = flags(|f| (f.mode, f.sandbox) = (Some(Mode::ReadOnly), Some(sandbox)));
    let config = resolve(over, &[], file).unwrap();
    assert_eq!(config.mode, Mode::ReadOnly);
    assert_eq!((config.sandbox.kind, config.sandbox.network), (SandboxKind::Off, true));
    assert_eq!(config.sandbox.pass_env, ["CARGO_HOME"]);
    for name in ["ask", "auto-edit", "auto", "auto-without-sandbox", "read-only"] {
        let config = resolve(Layer::default(), &[], &format!("mode = '{name}'")).unwrap();
        assert_eq!(config.mode.name(), name);
    }
}

#[test]
fn no_variable_that_holds_a_key_is_passed_to_commands() {
    let web = "[web]\nbrave_key_env = 'BRAVE'\nexa_key_env = 'EXA'";
    let environment = [("OPENAI_API_KEY", "k"), ("MINE", "k"), ("BRAVE", "kb"), ("EXA", "ke")];
    for name in ["OPENAI_API_KEY", "MINE", "BRAVE", "EXA"] {
        let file = format!("api_key_env = 'MINE'\nsandbox.pass_env = ['LANG', '{name}']\n{web}");
        let error = resolve(Layer::default(), &environment, &file).unwrap_err();
        assert_eq!(error, ConfigError::PassesKey(name.into()));
    }
    let config = resolve(Layer::default(), &environment, &format!("api_key_env = 'MINE'\n{web}")).unwrap();
    let services: Vec<&str> = Service::all_variables().collect();
    assert_eq!(config.sandbox.key_variables, [services, vec!["MINE", "BRAVE", "EXA"]].concat());
    assert_eq!(config.web.brave_key.as_ref().map(steersman_core::provider::ApiKey::expose), Some("kb"));
    assert!(!format!("{config:?}").contains("kb"));
    let unset = resolve(Layer::default(), &[("BRAVE", "kb")], web).unwrap_err();
    assert_eq!(unset, ConfigError::NoKey("EXA".into()));
}

#[test]
fn what_is_no_address_of_a_search_server_is_refused() {
    let error = resolve(Layer::default(), &[], "web.searxng_url = 'searx.example.org'").unwrap_err();
    assert_eq!(error, ConfigError::Searxng("searx.example.org".into()));
}

#[test]
fn a_value_of_the_wrong_kind_names_its_line() {
    for (text, line) in [
        ("model = 'm'\nmax_steps = 'many'", 2),
        ("max_steps = 0", 1),
        ("max_steps = -1", 1),
        ("\n\nprovider = 'openia'", 3),
        ("stream = 1", 1),
        ("context_window = 0", 1),
        ("model = 'a'\nmodel = 'b'", 2),
        ("model = ", 1),
        ("model", 1),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!(error.line, line, "{text:?}: {error}");
        assert!(!error.to_string().contains('\n'), "one line: {error}");
    }
}

#[test]
fn the_example_documents_every_key_and_is_valid_when_uncommented() {
    let example = include_str!("../../assets/config.example.toml");
    assert_eq!(parse(example).unwrap(), Layer::default(), "as it is, it changes nothing");
    let settings: Vec<&str> = example
        .lines()
        .filter_map(|line| line.strip_prefix('#'))
        .filter(|line| !line.starts_with(' '))
        .filter(|line| !line.starts_with('(') && !line.is_empty())
        .collect();
    let layer = parse(&settings.join("\n")).unwrap();
    let mut keys: Vec<String> = Layer::KEYS.iter().map(|key| key.name.to_owned()).collect();
    let sections = Layer::SECTIONS.iter();
    keys.extend(sections.flat_map(|(section, keys)| keys.iter().map(move |key| format!("{section}.{}", key.name))));
    assert_eq!(settings.len(), keys.len());
    for key in keys {
        let documented = |line: &&str| line.starts_with(&format!("{key} = ")) || line.starts_with(&format!("{key}."));
        assert!(settings.iter().any(documented), "{key} is not documented");
    }
    assert_eq!(layer.model.as_deref(), Some("qwen3-coder"));
}
