//! Exa's search API, with a key of the user.

use std::time::Duration;

use futures_util::FutureExt;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use secrecy::SecretString;
use serde_json::json;

use super::brave::secret;
use super::{SearchFuture, SearchService, listed, place, request_json};
use crate::web::Client;
use steersman_base::limits;

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
