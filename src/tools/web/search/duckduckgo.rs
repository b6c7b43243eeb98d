//! `DuckDuckGo`, through the pages that it serves to browsers without scripts: the usual ones, then the light ones.

use std::time::Duration;

use dom_query::{Document, NodeRef, Selection};
use futures_util::FutureExt;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use reqwest::{Method, Url};

use super::{SearchFuture, SearchResult, SearchService, ServiceError, place, request};
use crate::web::parse::parse;
use crate::web::{Client, decode};
use steersman_base::limits;

pub(super) struct DuckDuckGo([Url; 2]);

impl DuckDuckGo {
    pub(super) fn new([usual, light]: &[String; 2]) -> Result<Self, String> {
        Ok(Self([place(usual, "DuckDuckGo")?, place(light, "DuckDuckGo")?]))
    }
}

impl SearchService for DuckDuckGo {
    fn name(&self) -> &'static str {
        "DuckDuckGo"
    }

    fn interval(&self) -> Duration {
        limits::DUCKDUCKGO_DISTANCE
    }

    fn search<'a>(&'a self, client: &'a Client, query: &'a str, _: usize) -> SearchFuture<'a> {
        async move {
            let [usual, light] = &self.0;
            match ask(client, usual, query).await {
                Ok(found) => Ok(found),
                Err(_) => ask(client, light, query).await,
            }
        }
        .boxed()
    }
}

async fn ask(client: &Client, place: &Url, query: &str) -> Result<Vec<SearchResult>, ServiceError> {
    let mut url = place.clone();
    url.query_pairs_mut().append_pair("q", query);
    let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("text/html"))]);
    let (body, content_type) = request(client, Method::GET, &url, headers, None).await?;
    parse_results(&decode(&body.bytes, &content_type), place)
}

/// Reads a page of results of either kind.
fn parse_results(html: &str, place: &Url) -> Result<Vec<SearchResult>, ServiceError> {
    let (document, _) = parse(html);
    if document.select_single("#challenge-form, .anomaly-modal__modal, [action*=\"anomaly.js\"]").exists() {
        return Err(ServiceError::TooOften("asks for a captcha".to_owned(), limits::SEARCH_REST));
    }
    let mut found = Vec::new();
    for link in document.select("a.result__a, a.result-link").nodes() {
        // Advertisements are in the same list.
        let paid = |node: &NodeRef<'_>| node.has_class("result--ad") || node.has_class("result-sponsored");
        let Some(url) = link.attr("href").and_then(|href| target(&href, place)) else { continue };
        if !link.ancestors(Some(6)).iter().any(paid) {
            found.extend(SearchResult::new(&link.inner_html(), &url, &snippet(link)));
        }
    }
    if found.is_empty()
        && !document.select_single(".no-results, .result--no-result").exists()
        && !says_nothing(&document)
    {
        return Err(ServiceError::Now("answered with a page that is not one of results".to_owned()));
    }
    Ok(found)
}

fn says_nothing(document: &Document) -> bool {
    document.text().contains("No results.") || document.text().contains("No more results.")
}

/// Finds the text under a link: within its result, or, on the light pages, in the following rows of the table.
fn snippet(link: &NodeRef<'_>) -> String {
    if let Some(result) = link.ancestors(Some(6)).into_iter().find(|node| node.has_class("result")) {
        return Selection::from(result).select_single(".result__snippet").inner_html().to_string();
    }
    let mut row =
        link.ancestors(Some(4)).into_iter().find(|node| node.has_name("tr")).and_then(|row| row.next_element_sibling());
    while let Some(next) = row {
        let rows = Selection::from(next);
        if rows.select_single("a.result-link").exists() {
            break;
        }
        let words = rows.select_single(".result-snippet");
        if words.exists() {
            return words.inner_html().to_string();
        }
        row = next.next_element_sibling();
    }
    String::new()
}

/// Returns the target of a result's link, without the redirect through the service; `None` for an advertisement.
fn target(href: &str, place: &Url) -> Option<String> {
    let url = place.join(href).ok()?;
    let of_service = url.host_str().is_some_and(|host| host == "duckduckgo.com" || host.ends_with(".duckduckgo.com"));
    if !of_service && url.host_str() != place.host_str() {
        return Some(url.into());
    }
    match url.path() {
        "/l/" => url.query_pairs().find(|(name, _)| name == "uddg").map(|(_, target)| target.into_owned()),
        "/y.js" => None,
        _ => Some(url.into()),
    }
}
