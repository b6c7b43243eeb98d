//! Services with an interface for programs: `SearXNG`, Brave and Exa.

use std::time::Duration;

use futures_util::FutureExt;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;

use super::{SearchFuture, SearchService, ServiceError, listed, place, request_json};
use crate::web::Client;
use steersman_base::limits;

/// `SearXNG`: a server that the user set; its JSON format must be enabled there (`formats: [html, json]`).
pub(super) struct Searxng(Url);

impl Searxng {
    pub(super) fn new(base: &str) -> Result<Self, String> {
        let mut url = place(base, "SearXNG")?;
        if !url.path().ends_with("/search") {
            let path = format!("{}/search", url.path().trim_end_matches('/'));
            url.set_path(&path);
        }
        Ok(Self(url))
    }

    pub(super) fn url(&self) -> &Url {
        &self.0
    }
}

impl SearchService for Searxng {
    fn name(&self) -> &'static str {
        "SearXNG"
    }

    fn interval(&self) -> Duration {
        limits::SEARXNG_DISTANCE
    }

    fn search<'a>(&'a self, client: &'a Client, query: &'a str, _: usize) -> SearchFuture<'a> {
        async move {
            let mut url = self.0.clone();
            url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
            let answer = request_json(client, Method::GET, &url, headers, None).await?;
            let found = listed(answer.get("results"), |one| one["content"].as_str())?;
            let silent = answer["unresponsive_engines"].as_array().is_some_and(|engines| !engines.is_empty());
            if found.is_empty() && silent {
                return Err(ServiceError::Now("none of its own services answered".to_owned()));
            }
            Ok(found)
        }
        .boxed()
    }
}

/// Brave's search API, with a key of the user.
pub(super) struct Brave {
    url: Url,
    key: SecretString,
}

impl Brave {
    pub(super) fn new(url: &str, key: SecretString) -> Result<Self, String> {
        Ok(Self { url: place(url, "Brave")?, key })
    }
}

impl SearchService for Brave {
    fn name(&self) -> &'static str {
        "Brave"
    }

    fn interval(&self) -> Duration {
        limits::BRAVE_DISTANCE
    }

    fn search<'a>(&'a self, client: &'a Client, query: &'a str, limit: usize) -> SearchFuture<'a> {
        async move {
            let mut url = self.url.clone();
            url.query_pairs_mut().append_pair("q", query).append_pair("count", &limit.to_string());
            let headers = HeaderMap::from_iter([
                (ACCEPT, HeaderValue::from_static("application/json")),
                (HeaderName::from_static("x-subscription-token"), secret(&self.key)?),
            ]);
            let answer = request_json(client, Method::GET, &url, headers, None).await?;
            // An answer without results lacks this member.
            if answer.get("web").is_none() && answer["type"] == "search" {
                return Ok(Vec::new());
            }
            listed(answer["web"].get("results"), |one| one["description"].as_str())
        }
        .boxed()
    }
}

/// Exa's search API, with a key of the user.
pub(super) struct Exa {
    url: Url,
    key: SecretString,
}

impl Exa {
    pub(super) fn new(url: &str, key: SecretString) -> Result<Self, String> {
        Ok(Self { url: place(url, "Exa")?, key })
    }
}

impl SearchService for Exa {
    fn name(&self) -> &'static str {
        "Exa"
    }

    fn interval(&self) -> Duration {
        limits::EXA_DISTANCE
    }

    fn search<'a>(&'a self, client: &'a Client, query: &'a str, limit: usize) -> SearchFuture<'a> {
        async move {
            let json = HeaderValue::from_static("application/json");
            let headers = HeaderMap::from_iter([
                (ACCEPT, json.clone()),
                (CONTENT_TYPE, json),
                (HeaderName::from_static("x-api-key"), secret(&self.key)?),
            ]);
            let text = json!({ "maxCharacters": limits::SEARCH_SNIPPET_CHARS });
            let body = json!({ "query": query, "numResults": limit, "contents": { "text": text } });
            let answer = request_json(client, Method::POST, &self.url, headers, Some(body.to_string())).await?;
            listed(answer.get("results"), |one| one["text"].as_str().or_else(|| one["highlights"][0].as_str()))
        }
        .boxed()
    }
}

/// Makes a sensitive header from a key.
fn secret(key: &SecretString) -> Result<HeaderValue, ServiceError> {
    let mut value = HeaderValue::from_str(key.expose_secret().trim())
        .map_err(|_| ServiceError::Now("its key has invalid characters".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}
