//! Which source of settings wins: a table over every key, so that no key is forgotten where sources are joined.

use steersman::program::config::{Config, Environment, KeyPlace, Layer, ModelSource, parse};

/// Two values of each key, as they stand in the file.
const KEYS: [(&str, &str, &str); 28] = [
    ("provider", "'openai'", "'demo'"),
    ("base_url", "'http://one'", "'http://two'"),
    ("model", "'one'", "'two'"),
    ("api_key_env", "'ONE'", "'TWO'"),
    ("api_key_file", "'one'", "'two'"),
    ("api_key_command", "['one']", "['two']"),
    ("ca_file", "'one'", "'two'"),
    ("reasoning_effort", "'low'", "'high'"),
    ("temperature", "0.1", "0.2"),
    ("max_tokens", "1", "2"),
    ("default_profile", "'one'", "'two'"),
    ("profile", "{ one = { model = 'one' } }", "{ two = { model = 'two' } }"),
    ("local_ports", "[1]", "[2]"),
    ("max_steps", "1", "2"),
    ("stream", "true", "false"),
    ("context_window", "1", "2"),
    ("system_prompt", "'one'", "'two'"),
    ("pace", "1", "2"),
    ("still_true_minutes", "1", "2"),
    ("still_true_steps", "1", "2"),
    ("prices", "{ one = { input = 1, output = 1 } }", "{ two = { input = 2, output = 2 } }"),
    ("max_cost", "1", "2"),
    ("max_tokens_total", "1", "2"),
    ("compact_at", "1", "2"),
    ("mode", "'ask'", "'read-only'"),
    ("context_files", "true", "false"),
    ("mcp", "{ one = { command = 'one' } }", "{ two = { command = 'two' } }"),
    ("mcp_window_percent", "1", "2"),
];

/// Two values of each key of each section.
const SECTION_KEYS: [(&str, &str, &str, &str); 27] = [
    ("rules", "allow", "['read: one']", "['read: two']"),
    ("rules", "ask", "['read: one']", "['read: two']"),
    ("rules", "deny", "['read: one']", "['read: two']"),
    ("sandbox", "kind", "'off'", "'auto'"),
    ("sandbox", "network", "true", "false"),
    ("sandbox", "readable", "['one']", "['two']"),
    ("sandbox", "writable", "['one']", "['two']"),
    ("sandbox", "pass_env", "['ONE']", "['TWO']"),
    ("web", "allow_hosts", "['one']", "['two']"),
    ("web", "searxng_url", "'http://one'", "'http://two'"),
    ("web", "brave_key_env", "'ONE'", "'TWO'"),
    ("web", "exa_key_env", "'ONE'", "'TWO'"),
    ("web", "on_main_agent", "true", "false"),
    ("screen", "theme", "'one'", "'two'"),
    ("screen", "screen_reader", "true", "false"),
    ("screen", "mouse", "true", "false"),
    ("screen", "notify", "'bell'", "'off'"),
    ("screen", "notify_when", "'always'", "'away'"),
    ("screen", "title", "true", "false"),
    ("screen", "pictures", "'auto'", "'off'"),
    ("screen", "keys", "'one'", "'two'"),
    ("editor", "keys", "'default'", "'vim'"),
    ("status", "command", "'one'", "'two'"),
    ("steering", "framing", "'plain'", "'framed'"),
    ("steering", "agents_give_way", "'now'", "'never'"),
    ("agents", "at_once", "1", "2"),
    ("sessions", "keep_days", "1", "2"),
];

fn layer(text: &str) -> Layer {
    parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

/// The file's text of one key, in its section where it has one.
fn line(section: Option<&str>, key: &str, value: &str) -> String {
    let head = section.map(|section| format!("[{section}]\n")).unwrap_or_default();
    format!("{head}{key} = {value}\n")
}

/// Checks that the upper source wins, and that the lower one fills its gap, beside whatever else there is.
fn check(section: Option<&str>, key: &str, one: &str, two: &str) {
    let [upper, lower] = [one, two].map(|value| layer(&line(section, key, value)));
    let name = section.map_or_else(|| key.to_owned(), |section| format!("{section}.{key}"));
    assert_ne!(upper, lower, "{name}: the table needs two values");
    assert_eq!(upper.clone().or(lower.clone()), upper, "{name}: the upper source wins");
    assert_eq!(Layer::default().or(lower.clone()), lower, "{name}: the lower source fills the gap");
    assert_eq!(upper.clone().or(Layer::default()), upper, "{name}: it stays where the lower source has none");
}

#[test]
fn every_key_of_an_upper_source_goes_before_that_of_a_lower_one() {
    let keys: Vec<&str> = Layer::KEYS.iter().map(|key| key.name).collect();
    assert_eq!(KEYS.map(|(key, ..)| key).to_vec(), keys, "the table has every key");
    for (key, one, two) in KEYS {
        check(None, key, one, two);
    }
}

#[test]
fn every_key_of_a_section_of_an_upper_source_goes_before_that_of_a_lower_one() {
    let all: Vec<(&str, &str)> =
        Layer::SECTIONS.iter().flat_map(|(section, keys)| keys.iter().map(|key| (*section, key.name))).collect();
    assert_eq!(SECTION_KEYS.map(|(section, key, ..)| (section, key)).to_vec(), all, "the table has every key");
    for (section, key, one, two) in SECTION_KEYS {
        check(Some(section), key, one, two);
    }
}

#[test]
fn the_keys_of_a_section_are_joined_one_by_one_but_rules_are_replaced_whole() {
    for (section, keys) in Layer::SECTIONS.iter().copied() {
        let keys: Vec<&str> = keys.iter().map(|key| key.name).collect();
        let value = |wanted: &str| {
            SECTION_KEYS.iter().find(|(of, key, ..)| (*of, *key) == (section, wanted)).map_or("", |row| row.2)
        };
        for (upper, lower) in keys.iter().zip(keys.iter().skip(1)) {
            let [first, second] = [upper, lower].map(|key| layer(&line(Some(section), key, value(key))));
            let both = format!("{}{lower} = {}\n", line(Some(section), upper, value(upper)), value(lower));
            let expected = if section == "rules" { first.clone() } else { layer(&both) };
            assert_eq!(first.or(second), expected, "{section}: {upper} above {lower}");
        }
    }
}

/// Returns what is asked and with which settings.
fn server(flags: Layer, file: &str) -> (ModelSource, Option<u64>) {
    let environment: Environment = [("ONE", "sk-one"), ("TWO", "sk-two")].into_iter().collect();
    let config = Config::resolve(flags, &environment, layer(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    (config.model, config.context_window)
}

/// What a server needs besides the key that is looked at.
fn rest(of: &str) -> String {
    let needed = [("provider", "'openai'"), ("base_url", "'http://base'"), ("model", "'base'")];
    needed.iter().filter(|(key, _)| *key != of).map(|(key, value)| line(None, key, value)).collect()
}

#[test]
fn each_setting_of_a_server_comes_from_the_flag_then_the_profile_then_the_top_of_the_file() {
    let keys = KEYS.into_iter().filter(|(key, ..)| Layer::PROFILE_KEYS.contains(key));
    assert_eq!(keys.clone().count(), Layer::PROFILE_KEYS.len(), "the table has every key of a profile");
    for (key, one, two) in keys {
        let (rest, upper, lower) = (rest(key), line(None, key, one), line(None, key, two));
        let expected = server(Layer::default(), &format!("{rest}{upper}"));
        let by_flag = server(layer(&upper), &format!("{rest}{lower}"));
        assert_eq!(by_flag, expected, "{key}: the flag goes before the file");
        let profile = format!("default_profile = 'p'\n{lower}[profile.p]\n{rest}{upper}");
        assert_eq!(server(Layer::default(), &profile), expected, "{key}: the profile goes before the top of the file");
        let profile = format!("default_profile = 'p'\n[profile.p]\n{rest}{lower}");
        assert_eq!(server(layer(&upper), &profile), expected, "{key}: the flag goes before the profile");
    }
}

/// Returns address, model, key and window of the server that is asked.
fn asked(flags: &str, variables: &[(&str, &str)], file: &str) -> (String, Option<String>, bool, Option<u64>) {
    let keys = [("ONE", "sk-one"), ("TWO", "sk-two")];
    let environment: Environment = keys.iter().chain(variables).copied().collect();
    let config = Config::resolve(layer(flags), &environment, layer(file)).unwrap_or_else(|error| panic!("{error}"));
    match config.model {
        ModelSource::Server(server) => {
            (server.base_url, server.model, server.key != KeyPlace::None, server.context_window)
        }
        ModelSource::Embedded { .. } => panic!("the embedded model was chosen"),
    }
}

/// A file whose profile and whose top name a server each.
const SERVERS: &str = "base_url = 'http://file'
model = 'file'
api_key_env = 'ONE'
context_window = 1
[profile.p]
base_url = 'http://profile'
model = 'profile'
api_key_env = 'TWO'
context_window = 2
";

#[test]
fn a_flag_goes_before_the_environment_that_before_a_profile_and_that_before_the_file_however_it_was_chosen() {
    let by_file = format!("default_profile = 'p'\n{SERVERS}");
    let server =
        |base: &str, model: Option<&str>, key, window| (base.to_owned(), model.map(str::to_owned), key, window);
    let model = ("STEERSMAN_MODEL", "environment");
    let other = ("OPENAI_BASE_URL", "http://shared");
    for (file, chosen) in [(by_file.as_str(), None), (SERVERS, Some(("STEERSMAN_PROFILE", "p")))] {
        let with = |flags: &str, more: &[(&str, &str)]| {
            let variables: Vec<(&str, &str)> = more.iter().copied().chain(chosen).collect();
            asked(flags, &variables, file)
        };
        assert_eq!(with("", &[]), server("http://profile", Some("profile"), true, Some(2)));
        assert_eq!(with("", &[model]), server("http://profile", Some("environment"), true, Some(2)));
        assert_eq!(with("model = 'flag'", &[model]), server("http://profile", Some("flag"), true, Some(2)));
        assert_eq!(
            with("", &[other]),
            server("http://profile", Some("profile"), true, Some(2)),
            "meant for others too"
        );
    }
    let top = asked("", &[model], SERVERS);
    assert_eq!(top, server("http://file", Some("environment"), true, Some(1)));
}

#[test]
fn what_a_profile_says_about_its_server_never_goes_to_an_address_of_the_environment() {
    let by_file = format!("default_profile = 'p'\n{SERVERS}");
    let address = ("STEERSMAN_BASE_URL", "http://environment");
    for (file, variables) in [(by_file.as_str(), vec![address]), (SERVERS, vec![address, ("STEERSMAN_PROFILE", "p")])] {
        let found = asked("", &variables, file);
        assert_eq!(found, ("http://environment".to_owned(), None, false, None), "{variables:?}");
    }
    // A profile that a flag names is said by a flag, and goes before the environment.
    let found = asked("default_profile = 'p'", &[address, ("STEERSMAN_MODEL", "environment")], SERVERS);
    assert_eq!(found, ("http://profile".to_owned(), Some("profile".to_owned()), true, Some(2)));
}

#[test]
fn ports_come_from_the_environment_then_the_file_then_the_default() {
    let ports = |variables: &[(&str, &str)], file: &str| {
        Config::resolve(Layer::default(), &variables.iter().copied().collect(), layer(file)).unwrap().local_ports
    };
    let variable = [("STEERSMAN_LOCAL_PORTS", "7")];
    assert_eq!(ports(&variable, "local_ports = [8]"), [7]);
    assert_eq!(ports(&[], "local_ports = [8]"), [8]);
    assert_eq!(ports(&[], "").len(), 4);
}
