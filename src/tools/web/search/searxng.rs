//! `SearXNG`: a server that the user set; its JSON format must be enabled there (`formats: [html, json]`).

use std::time::Duration;

use futures_util::FutureExt;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use reqwest::{Method, Url};

use super::{SearchFuture, SearchService, ServiceError, listed, place, request_json};
use crate::web::Client;
use steersman_base::limits;

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
