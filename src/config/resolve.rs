//! From the layers to one [`Config`]: who wins, when a model is configured, where the key comes from.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::config::{
    Config, ConfigError, DEFAULT_API_KEY_ENV, DEFAULT_BASE_URL, Layer, ModelSource, Provider, RuleLists,
    SandboxSettings, WebSection, WebSettings,
};
use crate::control::{Spending, Staleness};
use crate::limits;
use crate::provider::{ApiKey, Streaming};

/// Holds the environment as plain values, so that interpreting it needs no process.
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

impl Config {
    /// Makes the configuration out of flags, environment and file, the first of them that says something winning.
    ///
    /// A model is configured when one of them names a base URL, a model or a provider: a bare key is not enough, so that
    /// no file goes to a paid service unasked. For the same reason a file that says `demo` is not overruled by
    /// `OPENAI_BASE_URL`, which may be meant for other programs. `demo` as a flag overrules everything.
    ///
    /// # Errors
    /// [`ConfigError`], one sentence for the user.
    pub fn resolve(flags: Layer, environment: &Environment, file: Layer) -> Result<Self, ConfigError> {
        let own = Layer {
            base_url: environment.owned("STEERSMAN_BASE_URL"),
            model: environment.owned("STEERSMAN_MODEL"),
            ..Layer::default()
        };
        let shared = Layer { base_url: environment.owned("OPENAI_BASE_URL"), ..Layer::default() };
        let provider = [&flags, &own, &file, &shared].into_iter().find_map(Layer::asks_for).unwrap_or(Provider::Demo);
        let merged = flags.or(own).or(shared).or(file);
        Ok(Self {
            max_steps: merged.max_steps.map_or(limits::MAX_STEPS, Into::into),
            streaming: if merged.stream.unwrap_or(true) { Streaming::On } else { Streaming::Off },
            context_window: merged.context_window.map(Into::into),
            system_prompt: merged.system_prompt.clone(),
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
            compact_at: match merged.compact_at.unwrap_or(limits::COMPACT_AT) {
                percent @ 0..=100 => percent,
                more => return Err(ConfigError::CompactAt(more)),
            },
            mode: merged.mode.unwrap_or_default(),
            context_files: merged.context_files.unwrap_or(true),
            rules: rules(&merged)?,
            sandbox: sandbox(&merged)?,
            web: web(merged.web.clone().unwrap_or_default(), environment)?,
            model: match provider {
                Provider::Demo => ModelSource::Embedded { pace: merged.pace },
                Provider::OpenAi => server(merged, environment)?,
            },
        })
    }
}

fn server(merged: Layer, environment: &Environment) -> Result<ModelSource, ConfigError> {
    // Taking the first model of a list is for one's own server; nobody wants the first of a vendor's hundred.
    if merged.base_url.is_none() && merged.model.is_none() {
        return Err(ConfigError::NoModel);
    }
    let base_url = merged.base_url.unwrap_or_else(|| DEFAULT_BASE_URL.to_owned());
    if !is_address(&base_url) {
        return Err(ConfigError::BaseUrl(base_url));
    }
    let key = match merged.api_key_env {
        Some(name) => Some(key_in(&name, environment)?),
        None => environment.get(DEFAULT_API_KEY_ENV).map(ApiKey::new),
    };
    Ok(ModelSource::Server { base_url, model: merged.model, key })
}

fn rules(merged: &Layer) -> Result<RuleLists, ConfigError> {
    let lists = merged.rules.clone().unwrap_or_default();
    lists.parse()?;
    Ok(lists)
}

fn sandbox(merged: &Layer) -> Result<SandboxSettings, ConfigError> {
    let section = merged.sandbox.clone().unwrap_or_default();
    let web = merged.web.as_ref();
    let named = [
        merged.api_key_env.as_ref(),
        web.and_then(|web| web.brave_key_env.as_ref()),
        web.and_then(|web| web.exa_key_env.as_ref()),
    ];
    let key_variables: Vec<String> =
        [DEFAULT_API_KEY_ENV.to_owned()].into_iter().chain(named.into_iter().flatten().cloned()).collect();
    let pass_env = section.pass_env.unwrap_or_default();
    if let Some(name) = pass_env.iter().find(|name| key_variables.contains(name)) {
        return Err(ConfigError::PassesKey(name.clone()));
    }
    Ok(SandboxSettings {
        kind: section.kind.unwrap_or_default(),
        network: section.network.unwrap_or(false),
        readable: section.readable.unwrap_or_default(),
        writable: section.writable.unwrap_or_default(),
        pass_env,
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

fn is_address(text: &str) -> bool {
    reqwest::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}
