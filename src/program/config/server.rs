//! One server as the configuration names it: the address, the dialect, the model, and where its key is kept.
//!
//! Pure; files and commands that hold keys are read by `cli`, when the server is first asked.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;

use crate::program::config::resolve::{Environment, is_address, source_name};
use crate::program::config::{ConfigError, Layer, Provider, Service};
use steersman_base::dialect::Dialect;
use steersman_core::provider::{Answering, ApiKey};
use steersman_tools::workspace::UserCommand;

/// One server with the model to ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    pub dialect: Dialect,
    /// Its address, with or without the version's path.
    pub base_url: String,
    /// The model's name; `None` means that the server is asked for its list.
    pub model: Option<String>,
    /// Where its key is; without one no key is sent.
    pub key: KeyPlace,
    /// The context window in tokens, when the user said it.
    pub context_window: Option<u64>,
    /// How the model is to answer.
    pub answering: Answering,
}

/// Where a key is kept.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyPlace {
    /// There is none.
    None,
    Variable {
        name: String,
        key: ApiKey,
    },
    /// In a file, which holds nothing else.
    File(PathBuf),
    /// Printed by a command: the program and its arguments.
    Command(UserCommand),
}

impl Server {
    /// Returns a sentence when its key would travel where others can read it: over http to another machine.
    pub fn plain_http(&self) -> Option<String> {
        let url = reqwest::Url::parse(self.base_url.trim()).ok()?;
        let host = url.host_str()?;
        let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
        let here = host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback());
        let open = self.key != KeyPlace::None && url.scheme() == "http" && !here;
        open.then(|| format!("the key for {host} travels unencrypted (http), readable for everybody on the way"))
    }
}

impl fmt::Display for KeyPlace {
    /// Writes where the key is, never the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("no key"),
            Self::Variable { name, .. } => write!(f, "the variable {name}"),
            Self::File(path) => write!(f, "the file {}", path.display()),
            Self::Command(command) => {
                write!(f, "the command {}", command.arguments().first().map_or("", String::as_str))
            }
        }
    }
}

/// The words of a command, written as a list or as one line that no shell reads.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum CommandSetting {
    /// The program and its arguments.
    Words(Vec<String>),
    /// The same on one line; quotes keep blanks together.
    Line(String),
}

impl CommandSetting {
    /// Returns the words; `None` when there is no program, or a quote is not closed.
    pub fn split(&self) -> Option<Vec<String>> {
        let words = match self {
            Self::Words(words) => words.clone(),
            Self::Line(line) => split(line)?,
        };
        words.first().is_some_and(|program| !program.is_empty()).then_some(words)
    }
}

/// Splits a line at its blanks; `'…'` and `"…"` keep what is in them together.
fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            Some(_) | None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// Reads the server out of layers, the highest first. `shared_base` is `OPENAI_BASE_URL`, whose key is `OPENAI_API_KEY`.
pub(super) fn server(
    layers: &[&Layer],
    dialect: Dialect,
    environment: &Environment,
    shared_base: Option<&str>,
) -> Result<Server, ConfigError> {
    fn first<'l, T>(layers: &[&'l Layer], of: impl Fn(&'l Layer) -> Option<T>) -> Option<T> {
        layers.iter().find_map(|layer| of(layer))
    }
    let model = first(layers, |layer| layer.model.clone());
    let named = first(layers, |layer| layer.base_url.clone());
    // Taking the first model of a list is for one's own server; nobody wants the first of a vendor's hundred.
    if named.is_none() && model.is_none() {
        return Err(ConfigError::NoModel);
    }
    let base_url = named.unwrap_or_else(|| default_base(dialect).to_owned());
    if !is_address(&base_url) {
        return Err(ConfigError::BaseUrl(base_url));
    }
    let key = match layers.iter().find(|layer| layer.names_key() && belongs(layer, &base_url)) {
        Some(layer) => named_key(layer, environment)?,
        None => usual_key(&base_url, environment, shared_base),
    };
    let temperature = first(layers, |layer| layer.temperature);
    if let Some(wrong) = temperature.filter(|heat| !(0.0..=2.0).contains(heat)) {
        return Err(ConfigError::Temperature(wrong.to_string()));
    }
    Ok(Server {
        dialect,
        base_url,
        model,
        key,
        context_window: first(layers, |layer| layer.context_window).map(Into::into),
        answering: Answering {
            effort: first(layers, |layer| layer.reasoning_effort),
            temperature,
            max_tokens: first(layers, |layer| layer.max_tokens).map(Into::into),
        },
    })
}

pub(super) fn default_base(dialect: Dialect) -> &'static str {
    let name = match dialect {
        Dialect::OpenAi | Dialect::OpenAiResponses => "openai",
        Dialect::Anthropic => "anthropic",
        Dialect::Gemini => "gemini",
    };
    super::SERVICES.iter().find(|service| service.name == name).map_or(super::DEFAULT_BASE_URL, |s| s.base_url)
}

/// Tells whether the key that a layer names may go to an address: one that stands beside another server may not.
fn belongs(layer: &Layer, base_url: &str) -> bool {
    let dialect = layer.provider.and_then(Provider::dialect);
    let own = layer.base_url.as_deref().or_else(|| dialect.map(default_base));
    own.is_none_or(|own| origin(own) == origin(base_url))
}

fn origin(base_url: &str) -> Option<(String, Option<u16>)> {
    let url = reqwest::Url::parse(base_url.trim()).ok()?;
    Some((url.host_str()?.to_owned(), url.port_or_known_default()))
}

fn named_key(layer: &Layer, environment: &Environment) -> Result<KeyPlace, ConfigError> {
    let Layer { api_key_env, api_key_file, api_key_command, .. } = layer;
    match (api_key_env, api_key_file, api_key_command) {
        (Some(name), None, None) => match environment.get(name) {
            Some(key) => Ok(KeyPlace::Variable { name: name.clone(), key: ApiKey::new(key) }),
            None => Err(ConfigError::NoKey(name.clone())),
        },
        (None, Some(path), None) => Ok(KeyPlace::File(path.clone())),
        (None, None, Some(command)) => {
            command.split().map(UserCommand::new).map(KeyPlace::Command).ok_or(ConfigError::KeyCommand)
        }
        _ => Err(ConfigError::TwoKeys),
    }
}

/// Returns the key that is in the environment for whoever answers at an address; nobody else's is taken.
fn usual_key(base_url: &str, environment: &Environment, shared_base: Option<&str>) -> KeyPlace {
    let variables: &[&str] = match Service::at(base_url) {
        Some(service) => service.variables,
        // The two are one setting, made for a server that stands in for OpenAI's.
        None if shared_base == Some(base_url) => &[super::DEFAULT_API_KEY_ENV],
        None => &[],
    };
    let set = variables.iter().find_map(|name| environment.get(name).map(|key| (name, key)));
    set.map_or(KeyPlace::None, |(name, key)| KeyPlace::Variable { name: (*name).to_owned(), key: ApiKey::new(key) })
}

pub(super) fn services(environment: &Environment) -> Vec<(String, Server)> {
    let server = |service: &Service| {
        let key = usual_key(service.base_url, environment, None);
        if key == KeyPlace::None {
            return None;
        }
        let named = service.address.and_then(|variable| environment.get(variable));
        let elsewhere = named.filter(|named| origin(named) != origin(service.base_url));
        let (dialect, answering) = (service.dialect, Answering::default());
        let base_url = elsewhere.unwrap_or(service.base_url).to_owned();
        let server = Server { dialect, base_url, model: None, key, context_window: None, answering };
        // What was said about the service does not hold for a gateway.
        let name = elsewhere.map_or_else(|| service.name.to_owned(), |_| source_name(&server));
        (!name.is_empty()).then_some((name, server))
    };
    super::SERVICES.iter().filter_map(server).collect()
}

#[cfg(test)]
mod tests {
    use super::{CommandSetting, split};

    #[test]
    fn a_line_is_split_at_blanks_and_quotes_keep_them() {
        let words = |line: &str| split(line).map(|words| words.join("|"));
        assert_eq!(words("pass show  api/openai").as_deref(), Some("pass|show|api/openai"));
        assert_eq!(words(r#" op read "op://a b/c" '' x'y z'"#).as_deref(), Some("op|read|op://a b/c||xy z"));
        assert_eq!(words("echo $HOME;ls").as_deref(), Some("echo|$HOME;ls"));
        assert_eq!(words("pass 'x"), None);
        assert_eq!(CommandSetting::Line("  ".to_owned()).split(), None);
        assert_eq!(CommandSetting::Words(vec![String::new()]).split(), None);
    }
}
