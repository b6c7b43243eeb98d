//! Who gives tokens for a server: the server names its authorization server (RFC 9728), and that says how it is asked
//! (RFC 8414, `OpenID` Connect Discovery).
//!
//! Nothing of it is trusted: every address must be https, or on this machine when the server itself is; redirects are not
//! followed, documents have a cap, and what an authorization server says about itself must name it.

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{RequestBuilder, Url};
use serde_json::Value;
use tokio::time::timeout;

use crate::mcp::transport::http::{causes, read_body};
use steersman_base::limits;
use steersman_base::text::{clip, visible_line};
use steersman_provider::Http;

/// How an authorization server is asked for tokens for one server.
#[derive(Debug, Clone)]
pub(super) struct Issuer {
    pub name: String,
    pub authorize: Url,
    pub token: Url,
    pub register: Option<Url>,
    /// Whether its answers name it.
    pub names_itself: bool,
    /// What is asked for, unless something else is configured.
    pub scopes: Vec<String>,
    /// The server that tokens are for.
    pub resource: String,
}

/// Finds the authorization server; `challenge` is what the server said when it wanted a login.
pub(super) async fn discover(http: &Http, server: &Url, challenge: &str) -> Result<Issuer, String> {
    let resource = resource_document(http, server, challenge).await;
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let texts = |value: &Value, name: &str| -> Vec<String> {
        let list = value.get(name).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(|one| one.as_str().map(str::to_owned)).collect()
    };
    let own = canonical(server);
    let (name, scopes, resource) = match &resource {
        Some(document) => {
            let named = text(document, "resource").unwrap_or_else(|| own.clone());
            // A token for another server would be theirs.
            if !is_within(server, &named) {
                return Err(format!(
                    "the server says that it is {}, which it is not",
                    clip(&visible_line(&named), 200)
                ));
            }
            let name = texts(document, "authorization_servers").into_iter().next();
            (name, texts(document, "scopes_supported"), named)
        }
        None => (None, Vec::new(), own),
    };
    let asked: Vec<String> = parameter(challenge, "scope")
        .map(|scope| scope.split_whitespace().map(str::to_owned).collect())
        .unwrap_or_default();
    let scopes = if asked.is_empty() { scopes } else { asked };
    // Servers of 2025-03-26 are their own authorization server.
    let name = name.unwrap_or_else(|| server.origin().ascii_serialization());
    let issuer =
        Url::parse(&name).map_err(|_| format!("the authorization server {} has no address", visible_line(&name)))?;
    check(server, &issuer)?;
    let document = issuer_document(http, &issuer).await;
    let endpoint = |name: &str, usual: &str| -> Result<Url, String> {
        let place = match &document {
            Some(document) => match text(document, name) {
                Some(place) => Url::parse(&place).map_err(|_| format!("its {name} is no address"))?,
                None => return Err(format!("the authorization server has no {name}")),
            },
            None => issuer.join(usual).map_err(|error| error.to_string())?,
        };
        check(server, &place)?;
        Ok(place)
    };
    if let Some(document) = &document {
        let said = text(document, "issuer").unwrap_or_default();
        if said.trim_end_matches('/') != name.trim_end_matches('/') {
            return Err(format!("the authorization server {name} calls itself {}", clip(&visible_line(&said), 200)));
        }
        if !texts(document, "code_challenge_methods_supported").iter().any(|method| method == "S256") {
            return Err(format!("the authorization server {name} does not say that it protects its codes (PKCE)"));
        }
    }
    let names_itself = document
        .as_ref()
        .and_then(|document| document.get("authorization_response_iss_parameter_supported").and_then(Value::as_bool));
    Ok(Issuer {
        authorize: endpoint("authorization_endpoint", "/authorize")?,
        token: endpoint("token_endpoint", "/token")?,
        register: endpoint("registration_endpoint", "/register").ok(),
        names_itself: names_itself.unwrap_or(false),
        name,
        scopes,
        resource,
    })
}

/// Gets what the server says about who gives tokens for it.
async fn resource_document(http: &Http, server: &Url, challenge: &str) -> Option<Value> {
    let mut places: Vec<Url> = Vec::new();
    if let Some(place) = parameter(challenge, "resource_metadata").and_then(|place| Url::parse(&place).ok()) {
        places.push(place);
    }
    places.extend(well_known(server, "oauth-protected-resource"));
    first(http, server, &places).await
}

async fn issuer_document(http: &Http, issuer: &Url) -> Option<Value> {
    let mut places = Vec::new();
    let path = issuer.path().trim_end_matches('/');
    for name in ["oauth-authorization-server", "openid-configuration"] {
        places.extend(issuer.join(&format!("/.well-known/{name}{path}")));
    }
    if !path.is_empty() {
        places.extend(issuer.join(&format!("{path}/.well-known/openid-configuration")));
    }
    first(http, issuer, &places).await
}

/// Returns the places of a document about an address: below its path, and of its host.
fn well_known(server: &Url, name: &str) -> Vec<Url> {
    let path = server.path().trim_end_matches('/');
    let below = server.join(&format!("/.well-known/{name}{path}"));
    let of_host = server.join(&format!("/.well-known/{name}"));
    let mut places: Vec<Url> = below.into_iter().chain(of_host).collect();
    places.dedup();
    places
}

async fn first(http: &Http, server: &Url, places: &[Url]) -> Option<Value> {
    for place in places {
        if check(server, place).is_ok()
            && let Ok(document) = get_json(http, place, None).await
            && document.is_object()
        {
            return Some(document);
        }
    }
    None
}

/// Refuses an address that a token or a code must not go to.
fn check(server: &Url, place: &Url) -> Result<(), String> {
    let is_here = |url: &Url| {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let address = host.parse::<std::net::IpAddr>();
        host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
    };
    match place.scheme() {
        "https" => Ok(()),
        "http" if is_here(place) && is_here(server) => Ok(()),
        _ => Err(format!("{place} is not https, so no login is made there")),
    }
}

/// Returns a server's name as one that tokens are for.
fn canonical(server: &Url) -> String {
    let mut server = server.clone();
    server.set_fragment(None);
    server.set_query(None);
    server.as_str().trim_end_matches('/').to_owned()
}

/// Tells whether a server is the one of this name, or below it.
fn is_within(server: &Url, named: &str) -> bool {
    let Ok(named) = Url::parse(named) else { return false };
    let (path, above) = (server.path().trim_end_matches('/'), named.path().trim_end_matches('/'));
    server.origin() == named.origin()
        && (path == above || path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/')))
}

/// Returns a parameter of what a server said when it wanted a login.
fn parameter(challenge: &str, name: &str) -> Option<String> {
    let mut rest = challenge;
    loop {
        let at = rest.find(name)?;
        let before = rest.get(..at)?.chars().next_back();
        let behind = rest.get(at + name.len()..)?;
        if before.is_none_or(|c| c == ' ' || c == ',')
            && let Some(value) = behind.trim_start().strip_prefix('=')
        {
            let value = value.trim_start();
            return match value.strip_prefix('"') {
                Some(quoted) => quoted.split('"').next().map(str::to_owned),
                None => value.split([',', ' ']).next().map(str::to_owned),
            };
        }
        rest = behind;
    }
}

/// Gets a document, or sends one and gets the answer.
pub(super) async fn get_json(http: &Http, place: &Url, body: Option<&Value>) -> Result<Value, String> {
    let client = http.client(place).map_err(|error| error.to_string())?;
    let request = match body {
        None => client.get(place.clone()),
        Some(body) => client.post(place.clone()).header(CONTENT_TYPE, "application/json").body(body.to_string()),
    };
    answered(place, request).await
}

/// Sends a form and gets the answer, also an error that is a document.
pub(super) async fn post_form(http: &Http, place: &Url, form: &[(&str, String)]) -> Result<Value, String> {
    let client = http.client(place).map_err(|error| error.to_string())?;
    // The library writes a form only as the query of an address.
    let mut writer = Url::parse("http://form/").map_err(|error| error.to_string())?;
    writer.query_pairs_mut().extend_pairs(form);
    let body = writer.query().unwrap_or_default().to_owned();
    let request = client.post(place.clone()).header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body);
    answered(place, request).await
}

async fn answered(place: &Url, request: RequestBuilder) -> Result<Value, String> {
    let host = place.host_str().unwrap_or_default();
    let work = async {
        let request = request.header(ACCEPT, "application/json");
        let response = request.send().await.map_err(|error| format!("{host} cannot be asked: {}", causes(&error)))?;
        let status = response.status();
        let body = read_body(response).await.map_err(|why| format!("{host}: {why}"))?;
        if body.len() > limits::MCP_LOGIN_BYTES {
            return Err(format!("{host} answered with more than a login needs"));
        }
        match serde_json::from_slice::<Value>(&body) {
            Ok(value) if status.is_success() || value.get("error").is_some() => Ok(value),
            _ => Err(format!("{host} answered with HTTP {}", status.as_u16())),
        }
    };
    timeout(limits::MCP_LOGIN_STEP, work).await.map_err(|_| format!("{host} took too long"))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn the_parameters_of_a_challenge_are_read_quoted_or_not() {
        let challenge = r#"Bearer error="invalid_token", resource_metadata="https://a/b,c", scope=files:read"#;
        assert_eq!(parameter(challenge, "resource_metadata").as_deref(), Some("https://a/b,c"));
        assert_eq!(parameter(challenge, "scope").as_deref(), Some("files:read"));
        assert_eq!(parameter(r#"Bearer my_scope="x""#, "scope"), None);
        assert_eq!(parameter("", "scope"), None);
    }

    #[test]
    fn a_server_cannot_ask_for_tokens_of_another() {
        for (named, fits) in [
            ("https://mcp.example.com/a", true),
            ("https://mcp.example.com", true),
            ("https://mcp.example.com/a/b", false),
            ("https://mcp.example.com/ab", false),
            ("https://evil.example.com/a", false),
            ("http://mcp.example.com/a", false),
        ] {
            assert_eq!(is_within(&url("https://mcp.example.com/a"), named), fits, "{named}");
        }
    }

    #[test]
    fn no_login_goes_over_plain_http_to_another_machine() {
        let far = url("https://mcp.example.com");
        assert!(check(&far, &url("https://auth.example.com")).is_ok());
        for place in ["http://auth.example.com", "http://127.0.0.1:9", "file:///etc/passwd"] {
            assert!(check(&far, &url(place)).is_err(), "{place}");
        }
        assert!(check(&url("http://localhost:1/mcp"), &url("http://127.0.0.1:9")).is_ok());
    }
}
