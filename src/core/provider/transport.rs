//! `ChatTransport`: the model and the way to its server, as one value.
//!
//! Every chat gets it as one unit: main, rescue, sub-agent, think. It holds no client; a [`Connector`] turns it into a
//! provider.

use std::fmt;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::provider::{ChatProvider, ProviderError, Registry};
use steersman_base::dialect::Dialect;

/// A model and the way to its server. Immutable; cheap to clone.
///
/// ```
/// use steersman_core::provider::{ApiKey, ChatTransport};
///
/// let transport = ChatTransport {
///     model: Some("qwen3".to_owned()),
///     api_base: Some("http://127.0.0.1:8080/v1".to_owned()),
///     api_key: Some(ApiKey::new("secret")),
///     ..ChatTransport::default()
/// };
/// assert!(!format!("{transport:?}").contains("secret"), "a key is never shown");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatTransport {
    /// The model's name; `None` is replaced by the configured default when an agent is built.
    pub model: Option<String>,
    /// The provider's name: that of a dialect (`openai` when none is set), or `demo`, which speaks as `openai` does.
    pub provider: Option<String>,
    /// Whether to use a model that neither the registry knows nor its server lists. Otherwise such a model is
    /// refused when an agent is built; an empty registry refuses none.
    pub assume_model_exists: bool,
    /// The server's address, with or without `/v1`.
    pub api_base: Option<String>,
    /// The key; without one no Authorization header is sent.
    pub api_key: Option<ApiKey>,
    /// The context window in tokens, when the user set it.
    pub context_window: Option<u64>,
    /// How the model is to answer, where the user set it.
    pub answering: Answering,
}

/// The settings of an answer; the server decides about those that are not set. A dialect without a member for one
/// of them leaves it out.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Answering {
    /// The thinking effort.
    pub effort: Option<Effort>,
    /// The sampling temperature, from 0.
    pub temperature: Option<f64>,
    /// The tokens that one reply may have, thinking included.
    pub max_tokens: Option<u64>,
}

/// The amount of thinking before an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// None.
    Off,
    /// As little as possible.
    Minimal,
    /// A little.
    Low,
    /// In between.
    Medium,
    /// Much.
    High,
    /// As much as possible.
    Max,
}

impl ChatTransport {
    /// Returns a copy with another model.
    #[must_use]
    pub fn with_model(&self, model: impl Into<String>) -> Self {
        Self { model: Some(model.into()), ..self.clone() }
    }

    /// Returns the dialect that its server speaks.
    ///
    /// # Errors
    /// [`ProviderError::Configuration`] when the provider's name is not known.
    pub fn dialect(&self) -> Result<Dialect, ProviderError> {
        match self.provider.as_deref() {
            None | Some("demo") => Ok(Dialect::OpenAi),
            Some(name) => name
                .parse()
                .map_err(|known| ProviderError::Configuration(format!("there is no provider {name:?}; {known}"))),
        }
    }

    /// Returns whether its server is on this machine. The registry's facts may not hold there: a local server has
    /// its own windows and costs nothing.
    pub fn is_loopback(&self) -> bool {
        let url = self.api_base.as_deref().and_then(|base| Url::parse(base.trim()).ok());
        url.is_some_and(|url| is_loopback(&url))
    }

    /// Returns the model's name, empty when none is set.
    pub fn model_name(&self) -> &str {
        self.model.as_deref().unwrap_or("")
    }
}

/// Returns whether an address is on this machine.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// A secret key. Debug, Display and serde never show it (D22).
#[derive(Clone)]
pub struct ApiKey {
    key: SecretString,
    source: Option<Arc<str>>,
}

impl ApiKey {
    /// Wraps a key.
    pub fn new(key: impl Into<String>) -> Self {
        Self { key: SecretString::from(key.into()), source: None }
    }

    /// Says where the key comes from: a variable, a file, a command.
    #[must_use]
    pub fn with_source(self, source: impl Into<Arc<str>>) -> Self {
        Self { source: Some(source.into()), ..self }
    }

    /// Returns where the key comes from, where that was said.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Returns the key itself, for the Authorization header and nothing else.
    pub fn expose(&self) -> &str {
        self.key.expose_secret()
    }

    /// Returns whether a configured key is one that no text holds by chance: not a filler such as `ollama` or `lm-studio`,
    /// which servers without keys are given.
    pub fn is_distinctive(&self) -> bool {
        let key = self.expose().trim();
        let is_word = |c: char| c.is_ascii_lowercase() || matches!(c, '-' | '_' | '.' | ' ');
        key.len() >= SHORTEST_DISTINCTIVE && (key.len() >= LONGEST_FILLER || !key.chars().all(is_word))
    }

    /// Returns whether a value of unknown meaning is a key by its form: it begins as the keys of well-known services do, or is
    /// long, without spaces, of letters and digits, and as irregular as only random text is. Words, modes and paths are none.
    pub fn has_form_of_a_key(value: &str) -> bool {
        let value = value.trim();
        if value.starts_with(['/', '.', '~']) || value.contains("://") || value.contains(char::is_whitespace) {
            return false;
        }
        let is_known = KEY_PREFIXES.iter().any(|prefix| value.starts_with(prefix)) && value.len() >= SHORTEST_KNOWN;
        let has = |is: fn(&char) -> bool| value.chars().any(|c| is(&c));
        let is_mixed = has(char::is_ascii_digit) && has(char::is_ascii_alphabetic);
        is_known
            || value.len() >= SHORTEST_RANDOM && is_mixed && !is_of_words(value) && entropy(value) >= RANDOM_ENTROPY
    }

    /// Removes the key from a foreign text, also where the text was cut within the key (it ends with `…`).
    pub fn mask(&self, text: String) -> String {
        self.mask_by(text, |_| "[key]".to_owned())
    }

    /// As [`ApiKey::mask`]; `mask` makes what stands in its place, from how many bytes of the key were there if not all.
    pub fn mask_by(&self, text: String, mask: impl Fn(Option<usize>) -> String) -> String {
        let key = self.expose().trim();
        if key.len() < SHORTEST_SECRET {
            return text;
        }
        let mut text = if text.contains(key) { text.replace(key, &mask(None)) } else { text };
        if let Some(kept) = text.strip_suffix('…') {
            let mut cuts = key.char_indices().map(|(at, _)| at).rev().take_while(|at| *at >= SHORTEST_SECRET);
            if let Some((whole, at)) = cuts.find_map(|at| Some((kept.strip_suffix(key.get(..at)?)?, at))) {
                text = format!("{whole}{}…", mask(Some(at)));
            }
        }
        text
    }
}

/// The beginnings of the keys of well-known services.
const KEY_PREFIXES: [&str; 26] = [
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "AKIA",
    "ASIA",
    "AIza",
    "hf_",
    "npm_",
    "pypi-",
    "dop_v1_",
    "ya29.",
    "SG.",
    "shpat_",
    "gsk_",
    "xai-",
];
/// The shortest value that counts as a key by its prefix, bytes.
const SHORTEST_KNOWN: usize = 12;
/// The shortest value that counts as a key by its irregularity, bytes.
const SHORTEST_RANDOM: usize = 16;
/// The longest number beside words, digits: a date.
const LONGEST_NUMBER: usize = 8;
/// The entropy from which a value counts as random, bits per byte: 16 random hexadecimal digits have about 3.3.
const RANDOM_ENTROPY: f64 = 2.8;
/// The shortest configured key that is taken out of texts, bytes.
const SHORTEST_DISTINCTIVE: usize = 8;
/// From this length on a key of lower-case words is no filler, bytes.
const LONGEST_FILLER: usize = 20;

/// Returns whether a value is made of lower-case words and numbers with marks between, as the names of models, modes and
/// hosts are: `claude-3-5-sonnet-20241022`, `oauth2-client-credentials`.
fn is_of_words(value: &str) -> bool {
    const MARKS: [char; 6] = ['-', '_', '.', ':', '/', '@'];
    let is_plain = |part: &str| {
        let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = part.len() - word.len();
        let most = if word.is_empty() { LONGEST_NUMBER } else { 2 };
        digits <= most && word.chars().all(|c| c.is_ascii_lowercase())
    };
    value.contains(MARKS) && value.split(MARKS).all(is_plain)
}

/// Returns the entropy of a text by the frequency of its bytes, bits per byte.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let total = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
    let share = |count: &u32| f64::from(*count) / total;
    counts.iter().filter(|count| **count > 0).map(share).map(|share| -share * share.log2()).sum()
}

/// The shortest key that is masked, bytes. A shorter one is a filler (`x`, `-`) that may be a part of any word.
const SHORTEST_SECRET: usize = 4;

impl PartialEq for ApiKey {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// The maker of providers for transports. One per program; shared by every chat of a tree.
pub trait Connector: Send + Sync {
    /// Makes the provider that a transport names.
    ///
    /// # Errors
    /// [`ProviderError::Configuration`] when the transport names none.
    fn connect(&self, transport: &ChatTransport) -> Result<Arc<dyn ChatProvider>, ProviderError>;

    /// Returns the model that is used when a transport names none.
    fn default_model(&self) -> Option<String> {
        None
    }

    /// Returns the context window of a transport's model, tokens: the one that the user set, that of the registry, or what
    /// the server says at the probe's address or its own, where the connector can ask.
    fn find_context_window<'a>(
        &'a self,
        transport: &'a ChatTransport,
        set: Option<u64>,
        probe: Option<(String, Option<ApiKey>)>,
    ) -> BoxFuture<'a, Option<u64>> {
        let _ = probe;
        ready(set.or(transport.context_window).or_else(|| self.window_of(transport))).boxed()
    }

    /// Returns whether the transport's server lists its model; false where the connector cannot ask.
    fn is_listed<'a>(&'a self, transport: &'a ChatTransport) -> BoxFuture<'a, bool> {
        let _ = transport;
        ready(false).boxed()
    }

    /// Returns the registry of models.
    fn registry(&self) -> Arc<Registry> {
        Arc::default()
    }

    /// Returns the registered context window of a transport's model, tokens; `None` for a local server, which knows its
    /// own.
    fn window_of(&self, transport: &ChatTransport) -> Option<u64> {
        if transport.is_loopback() {
            return None;
        }
        self.context_window(transport.model_name())
    }

    /// Returns the registered context window of a model, tokens.
    fn context_window(&self, model: &str) -> Option<u64> {
        self.registry().card(model)?.context_window
    }
}

/// A connector that returns the same provider for every transport.
pub struct FixedProvider {
    provider: Arc<dyn ChatProvider>,
    default_model: Option<String>,
}

impl FixedProvider {
    /// Wraps one provider.
    pub fn new(provider: Arc<dyn ChatProvider>) -> Self {
        Self { provider, default_model: None }
    }

    /// Sets the model that is used when a transport names none.
    #[must_use]
    pub fn with_default_model(mut self, model: impl Into<String>) -> Self {
        self.default_model = Some(model.into());
        self
    }
}

impl Connector for FixedProvider {
    fn connect(&self, _transport: &ChatTransport) -> Result<Arc<dyn ChatProvider>, ProviderError> {
        Ok(Arc::clone(&self.provider))
    }

    fn default_model(&self) -> Option<String> {
        self.default_model.clone()
    }
}
