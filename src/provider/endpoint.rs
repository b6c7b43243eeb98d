//! The address of a server and the key for it: the base URL in every form that users write.
//!
//! Used by the provider, the model list and the `/props` probe.

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder, Url};

use crate::Http;
use steersman_base::dialect::Dialect;
use steersman_core::provider::{ApiKey, ChatTransport, ProviderError};

/// The form of addresses and headers of a dialect's servers.
struct DialectForm {
    /// The server that answers when no base URL is set.
    base: &'static str,
    /// The path of a base URL that has none.
    version: &'static str,
    /// The endings of a base URL that are removed.
    ends: &'static [&'static str],
    /// The header of the key, and its text before the key.
    key: (&'static str, &'static str),
    /// A header that every request has.
    always: Option<(&'static str, &'static str)>,
}

fn form(dialect: Dialect) -> DialectForm {
    let openai = DialectForm {
        base: "https://api.openai.com/v1",
        version: "/v1",
        ends: &["/chat/completions", "/responses"],
        key: ("authorization", "Bearer "),
        always: None,
    };
    match dialect {
        Dialect::OpenAi | Dialect::OpenAiResponses => openai,
        Dialect::Anthropic => DialectForm {
            base: "https://api.anthropic.com/v1",
            ends: &["/messages"],
            key: ("x-api-key", ""),
            always: Some(("anthropic-version", "2023-06-01")),
            ..openai
        },
        Dialect::Gemini => DialectForm {
            base: "https://generativelanguage.googleapis.com/v1beta",
            version: "/v1beta",
            ends: &["/models"],
            key: ("x-goog-api-key", ""),
            always: None,
        },
    }
}

/// The address of a server, with the headers of each request.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    base: Url,
    headers: Vec<(HeaderName, HeaderValue)>,
    key: Option<ApiKey>,
}

impl Endpoint {
    /// Reads a transport's base URL and key.
    pub(crate) fn from_transport(transport: &ChatTransport) -> Result<Self, ProviderError> {
        Self::new(transport.dialect()?, transport.api_base.as_deref(), transport.api_key.as_ref())
    }

    /// Reads a base URL (the version's path is added when it has none) and a key (a blank one is none).
    pub(crate) fn new(dialect: Dialect, api_base: Option<&str>, key: Option<&ApiKey>) -> Result<Self, ProviderError> {
        let form = form(dialect);
        let text = api_base.map_or(form.base, str::trim);
        let wrong = |why: &str| Err(ProviderError::Configuration(format!("the base URL {text:?} {why}")));
        let Ok(mut base) = Url::parse(text) else {
            return wrong("is not an address such as http://localhost:8080/v1");
        };
        if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
            return wrong("must start with http:// or https://");
        }
        let path = base.path().trim_end_matches('/');
        let path = form.ends.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path);
        let path = if path.is_empty() { form.version.to_owned() } else { path.to_owned() };
        base.set_path(&path);
        base.set_fragment(None);
        let mut headers: Vec<_> = form
            .always
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .into_iter()
            .collect();
        headers.extend(key.map(|key| header(form.key, key)).transpose()?.flatten());
        Ok(Self { base, headers, key: key.cloned() })
    }

    /// Returns the address of a path under the base URL.
    pub(crate) fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path()));
        url
    }

    /// Returns the address of a path beside `/v1`, as llama.cpp has them.
    pub(crate) fn sibling(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        let root = self.base.path().strip_suffix("/v1").unwrap_or_else(|| self.base.path());
        url.set_path(&format!("{root}{path}"));
        url
    }

    /// Returns the base URL's text without user and query: names the server in tables.
    pub(crate) fn name(&self) -> String {
        format!("{}://{}{}", self.base.scheme(), super::http::host(&self.base), self.base.path())
    }

    /// Returns whether the server is on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        steersman_core::provider::is_loopback(&self.base)
    }

    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// Returns the server's host name.
    pub(crate) fn host_name(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }

    /// Says which key it sends.
    fn describe_key(&self) -> String {
        match self.key.as_ref().filter(|key| !key.expose().trim().is_empty()) {
            None => "no key was sent".to_owned(),
            Some(key) => {
                key.source().map_or_else(|| "with a key".to_owned(), |source| format!("with the key of {source}"))
            }
        }
    }

    /// Names server and key in an error about the key, and removes the key from a server's message: some servers repeat the Authorization header in it (D22).
    pub(crate) fn masked(&self, error: ProviderError) -> ProviderError {
        let mask = |text: String| match &self.key {
            Some(key) => key.mask(text),
            None => text,
        };
        match error {
            ProviderError::Status { status: status @ (401 | 403), message, retry_after_ms } => {
                let message = format!("{} ({}, {})", mask(message), self.name(), self.describe_key());
                ProviderError::Status { status, message, retry_after_ms }
            }
            ProviderError::Status { status, message, retry_after_ms } => {
                ProviderError::Status { status, message: mask(message), retry_after_ms }
            }
            ProviderError::Unreachable { host, reason } => ProviderError::Unreachable { host, reason: mask(reason) },
            ProviderError::Server(words) => ProviderError::Server(mask(words)),
            ProviderError::Overflow { message, tokens, window } => {
                ProviderError::Overflow { message: mask(message), tokens, window }
            }
            ProviderError::Spent(words) => ProviderError::Spent(mask(words)),
            ProviderError::AsksToWait { wait_ms, message } => {
                ProviderError::AsksToWait { wait_ms, message: mask(message) }
            }
            ProviderError::Malformed(words) => ProviderError::Malformed(mask(words)),
            ProviderError::Redirect(target) => ProviderError::Redirect(mask(target)),
            ProviderError::Configuration(words) => ProviderError::Configuration(mask(words)),
            ProviderError::CutOff
            | ProviderError::Stalled(_)
            | ProviderError::InvalidHistory(_)
            | ProviderError::Cancelled(_) => error,
        }
    }

    /// Starts a request with the key, if there is one.
    pub(crate) fn request(&self, http: &Http, method: Method, url: Url) -> Result<RequestBuilder, ProviderError> {
        let request = http.client(&url)?.request(method, url);
        Ok(self.headers.iter().fold(request, |request, (name, value)| request.header(name, value)))
    }
}

/// Makes the header that carries a key; a blank key is none.
fn header(
    (name, before): (&'static str, &str),
    key: &ApiKey,
) -> Result<Option<(HeaderName, HeaderValue)>, ProviderError> {
    let key = key.expose().trim();
    if key.is_empty() {
        return Ok(None);
    }
    let Ok(mut value) = HeaderValue::from_str(&format!("{before}{key}")) else {
        return Err(ProviderError::Configuration("the API key holds characters that no key can have".to_owned()));
    };
    value.set_sensitive(true);
    Ok(Some((HeaderName::from_static(name), value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(base: &str) -> String {
        Endpoint::new(Dialect::OpenAi, Some(base), None)
            .map(|endpoint| endpoint.url("/chat/completions").to_string())
            .unwrap()
    }

    #[test]
    fn a_base_url_works_with_and_without_v1() {
        for base in ["http://h:1", "http://h:1/", " http://h:1/v1", "http://h:1/v1/", "http://h:1/v1/chat/completions"]
        {
            assert_eq!(chat(base), "http://h:1/v1/chat/completions", "{base}");
        }
        assert_eq!(chat("https://h/api/v3"), "https://h/api/v3/chat/completions");
        assert_eq!(chat("https://h/openai?api-version=2"), "https://h/openai/chat/completions?api-version=2");
    }

    #[test]
    fn props_stand_beside_v1() {
        let props =
            |base: &str| Endpoint::new(Dialect::OpenAi, Some(base), None).unwrap().sibling("/props").to_string();
        assert_eq!(props("http://h:1"), "http://h:1/props");
        assert_eq!(props("http://h:1/llama/v1"), "http://h:1/llama/props");
    }

    #[test]
    fn a_base_url_that_is_none_is_refused() {
        for base in ["localhost:8080", "h", "", "ftp://h/", "/v1"] {
            assert!(
                matches!(Endpoint::new(Dialect::OpenAi, Some(base), None), Err(ProviderError::Configuration(_))),
                "{base}"
            );
        }
    }
}
