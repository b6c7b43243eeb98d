//! Brave's search API, with a key of the user.

use std::time::Duration;

use futures_util::FutureExt;
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use secrecy::{ExposeSecret as _, SecretString};

use super::{SearchFuture, SearchService, ServiceError, listed, place, request_json};
use crate::web::Client;
use steersman_base::limits;

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

/// Makes a sensitive header from a key.
pub(super) fn secret(key: &SecretString) -> Result<HeaderValue, ServiceError> {
    let mut value = HeaderValue::from_str(key.expose_secret().trim())
        .map_err(|_| ServiceError::Now("its key has invalid characters".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}
