//! Search services, tried one after another: the first usable answer is taken.
//!
//! A failing service gives its reason in one sentence. Requests to one service keep a minimum interval, and a
//! service that reports too many requests is not asked for a while. Results are cached on disk for some hours.
//!
//! # Where things are
//!
//! - services with an interface for programs: `SearXNG`, which the user set, Brave and Exa, with keys of the user: `apis.rs`
//! - `DuckDuckGo`, through the pages that it serves to browsers without scripts: `duckduckgo.rs`
//! - the interval between requests to one service, and the pause after it reported too many: `pace.rs`

mod apis;
mod cache;
mod duckduckgo;
mod pace;

use std::path::PathBuf;
use std::time::Duration;

use dom_query::Document;
use futures_util::future::BoxFuture;
use reqwest::header::HeaderMap;
use reqwest::{Method, Url};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::web::readable::on_line;
use crate::web::{Body, Client, ContentType, Target, WebError, WebOptions};
use cache::Cache;
use pace::RequestPace;
use steersman_base::limits;
use steersman_base::text::halves::without_halves;
use steersman_base::text::visible_line;

/// A search result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchResult {
    /// The title, on one line without markup.
    pub title: String,
    /// The address, `http` or `https`.
    pub url: String,
    /// Some text of the page, on one line; may be empty.
    pub snippet: String,
}

/// The results of one service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchResults {
    /// The name of the service.
    pub service: String,
    /// The results, best first.
    pub found: Vec<SearchResult>,
}

/// The addresses of the services; only tests change them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceUrls {
    /// Brave's API.
    pub brave: String,
    /// Exa's API.
    pub exa: String,
    /// `DuckDuckGo`'s pages without scripts: the usual ones, then the light ones.
    pub duckduckgo: [String; 2],
}

impl Default for ServiceUrls {
    fn default() -> Self {
        Self {
            brave: "https://api.search.brave.com/res/v1/web/search".to_owned(),
            exa: "https://api.exa.ai/search".to_owned(),
            duckduckgo: [
                "https://html.duckduckgo.com/html/".to_owned(),
                "https://lite.duckduckgo.com/lite/".to_owned(),
            ],
        }
    }
}

/// The reason why a service has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ServiceError {
    /// It failed; the next request may succeed.
    Now(String),
    /// It got too many requests, and is not asked for this time.
    TooOften(String, Duration),
}

impl From<WebError> for ServiceError {
    fn from(error: WebError) -> Self {
        Self::Now(error.to_string())
    }
}

/// The results of a service, or why there are none.
type SearchFuture<'a> = BoxFuture<'a, Result<Vec<SearchResult>, ServiceError>>;

/// A search service.
trait SearchService: Send + Sync {
    /// Returns its name, as the user knows it.
    fn name(&self) -> &'static str;

    /// Returns the minimum interval between two requests.
    fn interval(&self) -> Duration;

    fn search<'a>(&'a self, client: &'a Client, query: &'a str, limit: usize) -> SearchFuture<'a>;
}

/// The search services that the settings name.
pub struct Search {
    client: Client,
    services: Vec<(Box<dyn SearchService>, RequestPace)>,
    cache: Option<Cache>,
}

impl Search {
    /// Makes the list of services: a `SearXNG` server, Brave and Exa where they are set, and `DuckDuckGo`.
    ///
    /// # Errors
    /// One sentence when a setting cannot be used.
    pub fn new(settings: &WebOptions) -> Result<Self, String> {
        let mut client = Client::new(settings)?.within(limits::SEARCH_TIME);
        let mut services: Vec<Box<dyn SearchService>> = Vec::new();
        if let Some(url) = &settings.searxng_url {
            let server = apis::Searxng::new(url)?;
            // The user set it, so it may be on this machine.
            client = client.allowing(server.url());
            services.push(Box::new(server));
        }
        if let Some(key) = &settings.brave_key {
            services.push(Box::new(apis::Brave::new(&settings.service_urls.brave, key.clone())?));
        }
        if let Some(key) = &settings.exa_key {
            services.push(Box::new(apis::Exa::new(&settings.service_urls.exa, key.clone())?));
        }
        services.push(Box::new(duckduckgo::DuckDuckGo::new(&settings.service_urls.duckduckgo)?));
        Ok(Self {
            client,
            services: services.into_iter().map(|service| (service, RequestPace::default())).collect(),
            cache: settings.cache_dir.as_ref().map(|directory: &PathBuf| Cache::new(directory.join("web_search"))),
        })
    }

    /// Returns the names of the services, in the order in which they are asked.
    pub fn services(&self) -> Vec<String> {
        self.services.iter().map(|(service, _)| service.name().to_owned()).collect()
    }

    /// Returns cached results that are still fresh, without a request.
    pub async fn kept(&self, query: &str, limit: usize) -> Option<SearchResults> {
        self.cache.as_ref()?.get(&self.services(), query, limit).await
    }

    /// Asks the named services one after another until one answers, and caches its results.
    ///
    /// # Errors
    /// One sentence with the reason of each service.
    pub async fn ask(&self, services: &[String], query: &str, limit: usize) -> Result<SearchResults, String> {
        let mut reasons = Vec::new();
        let named = self.services.iter().filter(|(service, _)| services.iter().any(|name| name == service.name()));
        for (service, pace) in named {
            let reason = match self.ask_one(service.as_ref(), pace, query, limit).await {
                Ok(found) => {
                    let results = SearchResults { service: service.name().to_owned(), found };
                    if let Some(cache) = &self.cache
                        && !results.found.is_empty()
                    {
                        cache.put(&self.services(), query, limit, &results).await;
                    }
                    return Ok(results);
                }
                Err(reason) => reason,
            };
            reasons.push(format!("{}: {reason}", service.name()));
        }
        Err(reasons.join("; "))
    }

    async fn ask_one(
        &self,
        service: &dyn SearchService,
        pace: &RequestPace,
        query: &str,
        limit: usize,
    ) -> Result<Vec<SearchResult>, String> {
        pace.turn(service.interval()).await?;
        match service.search(&self.client, query, limit).await {
            Ok(mut found) => {
                found.truncate(limit);
                Ok(found)
            }
            Err(ServiceError::Now(reason)) => Err(reason),
            Err(ServiceError::TooOften(reason, rest)) => {
                pace.rest(rest);
                Err(reason)
            }
        }
    }
}

/// Makes one request to a service and reads its answer.
async fn request(
    client: &Client,
    method: Method,
    url: &Url,
    headers: HeaderMap,
    body: Option<String>,
) -> Result<(Body, ContentType), ServiceError> {
    let target: Target = client.target(url.as_str())?;
    let reply = client.ask(&target, method, headers, body, client.deadline()).await?;
    let status = reply.status();
    if status.as_u16() == 429 {
        let asked = reply.header("retry-after").and_then(|seconds| seconds.trim().parse().ok());
        let rest = asked.map_or(limits::SEARCH_REST, Duration::from_secs).min(limits::SEARCH_REST_CAP);
        return Err(ServiceError::TooOften(format!("answered {status}"), rest));
    }
    // DuckDuckGo sends a 202 when it asks for a captcha.
    if status.as_u16() != 200 && status.as_u16() != 202 {
        return Err(ServiceError::Now(format!("answered {status}")));
    }
    let content_type = reply.content_type().clone();
    Ok((reply.read_body().await?, content_type))
}

/// As [`request`], for an answer in JSON.
async fn request_json(
    client: &Client,
    method: Method,
    url: &Url,
    headers: HeaderMap,
    body: Option<String>,
) -> Result<Value, ServiceError> {
    let (body, content_type) = request(client, method, url, headers, body).await?;
    // Snippets are cut anywhere, in the middle of a character too.
    serde_json::from_str(&without_halves(&String::from_utf8_lossy(&body.bytes))).map_err(|_| {
        let kind = if content_type.essence().is_empty() { "no type" } else { content_type.essence() };
        ServiceError::Now(format!("answered something that is not JSON ({})", visible_line(kind)))
    })
}

/// Reads the results of an answer in JSON.
fn listed(list: Option<&Value>, snippet: impl Fn(&Value) -> Option<&str>) -> Result<Vec<SearchResult>, ServiceError> {
    let list = list.and_then(Value::as_array);
    let list = list.ok_or_else(|| ServiceError::Now("answered without a list of results".to_owned()))?;
    let found = list.iter().filter_map(|one| {
        SearchResult::new(
            one["title"].as_str().unwrap_or_default(),
            one["url"].as_str()?,
            snippet(one).unwrap_or_default(),
        )
    });
    Ok(found.collect())
}

/// Parses the address of a service.
fn place(url: &str, what: &str) -> Result<Url, String> {
    let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    parsed
        .ok_or_else(|| format!("{what} is not at an address such as https://search.example.org: {}", visible_line(url)))
}

impl SearchResult {
    /// Makes a result from the texts of a service; `None` when its address is not `http` or `https`.
    fn new(title: &str, url: &str, snippet: &str) -> Option<Self> {
        let address = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        if address.as_str().len() > limits::PAGE_LINK_BYTES {
            return None;
        }
        let title = plain(title, limits::SEARCH_TITLE_CHARS);
        let title = if title.is_empty() { address.host_str().unwrap_or_default().to_owned() } else { title };
        Some(Self { title, url: address.into(), snippet: plain(snippet, limits::SEARCH_SNIPPET_CHARS) })
    }
}

/// Converts text with markup to a line of plain text.
fn plain(markup: &str, most: usize) -> String {
    let start = markup.char_indices().nth(most * 8).map_or(markup, |(end, _)| markup.get(..end).unwrap_or_default());
    let line = on_line(&Document::fragment(start).text());
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
        None => line,
    }
}
