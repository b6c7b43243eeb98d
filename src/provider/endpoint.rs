//! Where a server is and how it knows us: the base URL in every form that users write, and the key.
//!
//! Used by the provider, the model list and the `/props` probe.

use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Method, RequestBuilder, Url};

use crate::provider::{ApiKey, Http, ProviderError};

/// The server that answers when no base URL is set.
const DEFAULT_BASE: &str = "https://api.openai.com/v1";

/// Is one server, ready to be asked.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    base: Url,
    bearer: Option<HeaderValue>,
    key: Option<ApiKey>,
}

impl Endpoint {
    /// Reads a base URL (`/v1` is added when it has no path) and a key (a blank one is none).
    pub fn new(api_base: Option<&str>, key: Option<&ApiKey>) -> Result<Self, ProviderError> {
        let text = api_base.map_or(DEFAULT_BASE, str::trim);
        let wrong = |why: &str| Err(ProviderError::Configuration(format!("the base URL {text:?} {why}")));
        let Ok(mut base) = Url::parse(text) else {
            return wrong("is not an address such as http://localhost:8080/v1");
        };
        if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
            return wrong("must start with http:// or https://");
        }
        let path = base.path().trim_end_matches('/');
        let path = path.strip_suffix("/chat/completions").unwrap_or(path);
        let path = if path.is_empty() { "/v1".to_owned() } else { path.to_owned() };
        base.set_path(&path);
        base.set_fragment(None);
        Ok(Self { base, bearer: key.map(bearer).transpose()?.flatten(), key: key.cloned() })
    }

    /// Returns the address of a path behind the base.
    pub fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path()));
        url
    }

    /// Returns the address of a path beside `/v1`, where llama.cpp keeps its own.
    pub fn beside(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        let root = self.base.path().strip_suffix("/v1").unwrap_or_else(|| self.base.path());
        url.set_path(&format!("{root}{path}"));
        url
    }

    /// Returns the base URL's text without user and query: names the server in tables.
    pub fn name(&self) -> String {
        format!("{}://{}{}", self.base.scheme(), super::http::host(&self.base), self.base.path())
    }

    /// Returns the server's host name.
    pub fn host_name(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }

    /// Takes the key out of a server's words: some echo the Authorization header in what they say (D22).
    pub fn masked(&self, error: ProviderError) -> ProviderError {
        let mask = |text: String| match &self.key {
            Some(key) => key.mask(text),
            None => text,
        };
        match error {
            ProviderError::Status { status, message, retry_after_ms } => {
                ProviderError::Status { status, message: mask(message), retry_after_ms }
            }
            ProviderError::Unreachable { host, reason } => ProviderError::Unreachable { host, reason: mask(reason) },
            ProviderError::Server(words) => ProviderError::Server(mask(words)),
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
    pub fn request(&self, http: &Http, method: Method, url: Url) -> Result<RequestBuilder, ProviderError> {
        let request = http.client(&url)?.request(method, url);
        Ok(match &self.bearer {
            Some(bearer) => request.header(AUTHORIZATION, bearer),
            None => request,
        })
    }
}

fn bearer(key: &ApiKey) -> Result<Option<HeaderValue>, ProviderError> {
    let key = key.expose().trim();
    if key.is_empty() {
        return Ok(None);
    }
    let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {key}")) else {
        return Err(ProviderError::Configuration("the API key holds characters that no key can have".to_owned()));
    };
    value.set_sensitive(true);
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(base: &str) -> String {
        Endpoint::new(Some(base), None).map(|endpoint| endpoint.url("/chat/completions").to_string()).unwrap()
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
        let props = |base: &str| Endpoint::new(Some(base), None).unwrap().beside("/props").to_string();
        assert_eq!(props("http://h:1"), "http://h:1/props");
        assert_eq!(props("http://h:1/llama/v1"), "http://h:1/llama/props");
    }

    #[test]
    fn a_base_url_that_is_none_is_refused() {
        for base in ["localhost:8080", "h", "", "ftp://h/", "/v1"] {
            assert!(matches!(Endpoint::new(Some(base), None), Err(ProviderError::Configuration(_))), "{base}");
        }
    }
}
