//! From the layers to one [`Config`]: who wins, when a model is configured, where the key comes from.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::program::config::{
    Config, ConfigError, Layer, ModelSource, Provider, RuleLists, SandboxKind, SandboxSettings, Server, Service,
    StatusSection, WebSection, WebSettings, server,
};
use steersman_base::limits;
use steersman_base::steering::Framing;
use steersman_core::approval::{Mode, ModeRefused};
use steersman_core::control::{Spending, Staleness};
use steersman_core::provider::{ApiKey, Streaming};
use steersman_tools::workspace::UserCommand;

/// The ports at which llama.cpp, Ollama, LM Studio and `vLLM` usually answer.
const LOCAL_PORTS: [u16; 4] = [8080, 11434, 1234, 8000];

/// The environment as plain values, so that interpreting it needs no process.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Takes the variables of this process; those that are not UTF-8 are left out.
    pub fn of_process() -> Self {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// Returns a variable; an empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    fn owned(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }
}

impl fmt::Debug for Environment {
    /// Writes the names only: values may be keys (D22).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// Returns the command of the status line.
fn status_command(section: Option<&StatusSection>) -> Result<Option<UserCommand>, ConfigError> {
    let command = section.and_then(|section| section.command.as_ref());
    command.map(|command| command.split().map(UserCommand::new).ok_or(ConfigError::StatusCommand)).transpose()
}

impl Config {
    /// Makes the configuration out of flags, environment, profile and file, the first of them that says something winning.
    ///
    /// A profile that a flag names stands above the environment, as every flag does. Below an address of the environment
    /// none is used: what a profile says about its own server is not for another one.
    ///
    /// A model is configured when one of them names a base URL, a model or a provider: a bare key is not enough, so that
    /// no file goes to a paid service unasked. For the same reason a file that says `demo` is not overruled by
    /// `OPENAI_BASE_URL`, which may be meant for other programs. `demo` as a flag overrules everything.
    ///
    /// # Errors
    /// [`ConfigError`], one sentence for the user.
    pub fn resolve(flags: Layer, environment: &Environment, mut file: Layer) -> Result<Self, ConfigError> {
        let own = Layer {
            base_url: environment.owned("STEERSMAN_BASE_URL"),
            model: environment.owned("STEERSMAN_MODEL"),
            ..Layer::default()
        };
        let shared_base = environment.get("OPENAI_BASE_URL");
        let shared = Layer { base_url: shared_base.map(str::to_owned), ..Layer::default() };
        let local_ports = local_ports(environment, file.local_ports.as_deref())?;
        let key_variables = key_variables([&flags, &file]);
        // Taken out, so that no copy of the file holds all of them.
        let profiles = file.profile.take().unwrap_or_default();
        if profiles.len() > limits::PROFILES {
            return Err(ConfigError::Profiles(profiles.len()));
        }

        // A profile takes the place of every server that is named below it.
        let by_flag = flags.default_profile.as_deref();
        let later = environment.owned("STEERSMAN_PROFILE").or_else(|| file.default_profile.clone());
        let wanted = by_flag.or(later.as_deref());
        let profile = wanted.map(|name| profile_of(&profiles, name)).transpose()?;
        let over_environment = by_flag.and(profile.clone());
        let is_replaced = by_flag.is_none() && own.base_url.is_some();
        let under_environment = profile.clone().filter(|_| by_flag.is_none() && !is_replaced);
        let below =
            |layer: Layer, profile: &Option<Layer>| if profile.is_some() { layer.without_server() } else { layer };
        let own = below(own, &over_environment);
        let (shared, file) = (below(shared, &profile), below(file, &profile));
        let empty = Layer::default();
        let (over, under) = (over_environment.as_ref().unwrap_or(&empty), under_environment.as_ref().unwrap_or(&empty));
        // What is meant for other programs too does not decide whether a server is asked, but where it is.
        let provider = provider([&flags, over, &own, under, &file, &shared]);
        let layers = [&flags, over, &own, under, &shared, &file];
        let used = wanted.filter(|_| flags.base_url.is_none() && flags.provider.is_none() && !is_replaced);
        let model = match provider.unwrap_or(Provider::Demo).dialect() {
            None => ModelSource::Embedded { pace: file.pace },
            Some(dialect) => ModelSource::Server(server::server(&layers, dialect, environment, shared_base)?),
        };
        let source = match &model {
            ModelSource::Embedded { .. } => "demo".to_owned(),
            ModelSource::Server(server) => used.map_or_else(|| source_name(server), str::to_owned),
        };
        let beside = file.clone().without_server();
        let profiles = profiles
            .iter()
            .filter(|(_, profile)| profile.provider != Some(Provider::Demo))
            .map(|(name, profile)| (name.clone(), server_of(name, profile, &beside, environment)))
            .collect();
        let context_window = layers.iter().find_map(|layer| layer.context_window).map(Into::into);
        let merged = flags.or(file);
        Ok(Self {
            max_steps: merged.max_steps.map_or(limits::MAX_STEPS, Into::into),
            streaming: if merged.stream.unwrap_or(true) { Streaming::On } else { Streaming::Off },
            context_window,
            unconfigured: provider.is_none(),
            source,
            profiles,
            services: server::services(environment),
            local_ports,
            system_prompt: merged.system_prompt.clone(),
            ca_file: merged.ca_file.clone(),
            still_true: Staleness {
                age: match merged.still_true_minutes {
                    None => Some(limits::STILL_TRUE_AGE),
                    Some(0) => None,
                    Some(minutes) => Some(Duration::from_mins(minutes.into())),
                },
                steps: Some(merged.still_true_steps.unwrap_or(limits::STILL_TRUE_STEPS)).filter(|steps| *steps > 0),
            },
            spending: Spending {
                max_cost: merged.max_cost,
                max_tokens: merged.max_tokens_total.map(Into::into),
                prices: merged.prices.clone().unwrap_or_default(),
            },
            framing: merged.steering.as_ref().and_then(|steering| steering.framing).unwrap_or(Framing::Framed),
            agents_give_way: merged.steering.as_ref().and_then(|steering| steering.agents_give_way).unwrap_or_default(),
            agents_at_once: (merged.agents.as_ref().and_then(|agents| agents.at_once))
                .map_or(limits::AGENTS_AT_ONCE, NonZeroUsize::get),
            compact_at: match merged.compact_at.unwrap_or(limits::COMPACT_AT) {
                percent @ 0..=100 => percent,
                more => return Err(ConfigError::CompactAt(more)),
            },
            mode: mode(&merged)?,
            context_files: merged.context_files.unwrap_or(true),
            rules: rules(&merged)?,
            sandbox: sandbox(&merged, key_variables)?,
            screen: merged.screen.clone().unwrap_or_default(),
            status_command: status_command(merged.status.as_ref())?,
            message_keys: merged.editor.as_ref().and_then(|editor| editor.keys).unwrap_or_default(),
            keep_days: merged.sessions.as_ref().map_or(Some(limits::SESSION_DAYS), |sessions| {
                Some(sessions.keep_days.unwrap_or(limits::SESSION_DAYS)).filter(|days| *days > 0)
            }),
            web: web(merged.web.clone().unwrap_or_default(), environment)?,
            servers: merged.mcp.clone().unwrap_or_default(),
            mcp_window_percent: match merged.mcp_window_percent.unwrap_or(limits::MCP_WINDOW_PERCENT) {
                percent @ 0..=100 => percent,
                more => return Err(ConfigError::WindowPercent(more)),
            },
            model,
        })
    }
}

/// Returns what the layers ask for, the highest first: the kind of server that one of them names, chat completions when
/// it names an address alone. A model alone asks for a server, of whichever kind is named below.
fn provider(layers: [&Layer; 6]) -> Option<Provider> {
    let mut model = None;
    for layer in layers {
        let named = layer.provider.or(layer.base_url.as_ref().map(|_| Provider::OpenAi));
        match named {
            Some(Provider::Demo) if model.is_some() => return model,
            Some(named) => return Some(named),
            None if layer.model.is_some() => model = Some(Provider::OpenAi),
            None => {}
        }
    }
    model
}

fn profile_of(profiles: &BTreeMap<String, Layer>, name: &str) -> Result<Layer, ConfigError> {
    profiles.get(name).cloned().ok_or_else(|| {
        let names: Vec<&str> = profiles.keys().map(String::as_str).collect();
        let known = match names.as_slice() {
            [] => "the configuration has none: add [profile.NAME] to it".to_owned(),
            names => match names.get(..limits::MODELS_SHOWN) {
                None => format!("there are {}", names.join(", ")),
                Some(first) => format!("there are {} and {} more", first.join(", "), names.len() - first.len()),
            },
        };
        ConfigError::NoProfile { name: name.to_owned(), known }
    })
}

/// Reads the server of a profile; what is said above all profiles about how to answer holds for it too.
fn server_of(name: &str, profile: &Layer, beside: &Layer, environment: &Environment) -> Result<Server, ConfigError> {
    if name.is_empty() || name.contains(|c: char| c == '/' || c.is_whitespace()) {
        return Err(ConfigError::ProfileName(name.to_owned()));
    }
    let dialect = profile.provider.and_then(Provider::dialect).unwrap_or_default();
    let mut profile = profile.clone();
    // As a source a service needs no model: it has a list.
    if profile.base_url.is_none() && profile.model.is_none() {
        profile.base_url = Some(server::default_base(dialect).to_owned());
    }
    server::server(&[&profile, beside], dialect, environment, None)
}

/// Returns what a server without a profile is called: the service that it is, else its host.
pub(super) fn source_name(server: &Server) -> String {
    let host = || {
        let url = reqwest::Url::parse(server.base_url.trim()).ok()?;
        let host = url.host_str()?.to_owned();
        Some(url.port().map_or_else(|| host.clone(), |port| format!("{host}:{port}")))
    };
    let service = Service::at(&server.base_url).map(|service| service.name.to_owned());
    service.or_else(host).unwrap_or_default()
}

fn local_ports(environment: &Environment, file: Option<&[u16]>) -> Result<Vec<u16>, ConfigError> {
    match environment.get("STEERSMAN_LOCAL_PORTS").map(str::trim) {
        None => Ok(file.unwrap_or(&LOCAL_PORTS).to_vec()),
        Some("none") => Ok(Vec::new()),
        Some(list) => {
            let ports: Result<Vec<u16>, _> = list.split(',').map(|port| port.trim().parse()).collect();
            ports.map_err(|_| ConfigError::LocalPorts(list.to_owned()))
        }
    }
}

/// Returns the names of all variables that hold keys: those of the services, and those that are named.
fn key_variables(layers: [&Layer; 2]) -> Vec<String> {
    let named = layers.into_iter().flat_map(Layer::key_variables).cloned();
    let mut seen = HashSet::new();
    Service::all_variables().map(str::to_owned).chain(named).filter(|name| seen.insert(name.clone())).collect()
}

fn mode(merged: &Layer) -> Result<Mode, ConfigError> {
    let mode = merged.mode.unwrap_or_default();
    let kind = merged.sandbox.as_ref().and_then(|sandbox| sandbox.kind);
    if mode == Mode::Auto && kind == Some(SandboxKind::Off) { Err(ModeRefused::NotSandboxed.into()) } else { Ok(mode) }
}

fn rules(merged: &Layer) -> Result<RuleLists, ConfigError> {
    let lists = merged.rules.clone().unwrap_or_default();
    lists.parse()?;
    Ok(lists)
}

fn sandbox(merged: &Layer, key_variables: Vec<String>) -> Result<SandboxSettings, ConfigError> {
    let section = merged.sandbox.clone().unwrap_or_default();
    let pass_env = section.pass_env.unwrap_or_default();
    if let Some(name) = pass_env.iter().find(|name| key_variables.contains(name)) {
        return Err(ConfigError::PassesKey(name.clone()));
    }
    Ok(SandboxSettings {
        kind: section.kind.unwrap_or_default(),
        network: section.network.unwrap_or(false),
        readable: section.readable.unwrap_or_default(),
        writable: section.writable.unwrap_or_default(),
        added: Vec::new(),
        pass_env,
        variables: BTreeMap::new(),
        key_variables,
    })
}

fn web(section: WebSection, environment: &Environment) -> Result<WebSettings, ConfigError> {
    if let Some(url) = section.searxng_url.as_ref().filter(|url| !is_address(url)) {
        return Err(ConfigError::Searxng(url.clone()));
    }
    let key = |name: Option<String>| name.map(|name| key_in(&name, environment)).transpose();
    Ok(WebSettings {
        allow_hosts: section.allow_hosts.unwrap_or_default(),
        searxng_url: section.searxng_url,
        brave_key: key(section.brave_key_env)?,
        exa_key: key(section.exa_key_env)?,
        on_main_agent: section.on_main_agent.unwrap_or(false),
    })
}

fn key_in(name: &str, environment: &Environment) -> Result<ApiKey, ConfigError> {
    environment.get(name).map(ApiKey::new).ok_or_else(|| ConfigError::NoKey(name.to_owned()))
}

pub(super) fn is_address(text: &str) -> bool {
    reqwest::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}
