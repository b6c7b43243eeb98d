//! The way of a login through the browser: an address to open, a code that comes back, tokens for it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Url;
use sha2::{Digest as _, Sha256};
use tokio::time::timeout;

use crate::mcp::definition::{LoginSettings, Reached, ServerDefinition};
use crate::mcp::login::Login;
use crate::mcp::login::callback::Callback;
use crate::mcp::login::discover::{Issuer, discover};
use crate::mcp::login::tokens::{ClientName, Tokens, register};
use steersman_base::limits;
use steersman_provider::Http;

/// Logs in at a server. `open` gets the address that the user opens in a browser.
///
/// # Errors
/// One sentence.
pub async fn log_in(
    server: &ServerDefinition,
    login: &Login,
    http: &Http,
    challenge: &str,
    open: impl FnOnce(&Url),
) -> Result<(), String> {
    let Reached::Address(address) = &server.reached else {
        return Err("it is a process of this machine: there is nothing to log in at".to_owned());
    };
    let file = login.file.as_deref().ok_or("there is no state directory to keep a login in")?;
    let issuer = discover(http, &address.url, challenge).await?;
    let callback = Callback::listen(login.settings.port.unwrap_or(0)).await?;
    let redirect = callback.address();
    let client = client(&login.settings, &issuer, http, &redirect).await?;
    let (state, verifier) = (random()?, random()?);
    let mut place = issuer.authorize.clone();
    let scopes = login.settings.scopes.clone().unwrap_or_else(|| issuer.scopes.clone());
    {
        let mut query = place.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &client.id)
            .append_pair("redirect_uri", &redirect)
            .append_pair("state", &state)
            .append_pair("code_challenge", &URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier)))
            .append_pair("code_challenge_method", "S256")
            .append_pair("resource", &issuer.resource);
        if !scopes.is_empty() {
            query.append_pair("scope", &scopes.join(" "));
        }
    }
    open(&place);
    let came = timeout(limits::MCP_LOGIN_TIME, callback.wait(&state)).await;
    let came = came.map_err(|_| format!("nobody logged in within {} s", limits::MCP_LOGIN_TIME.as_secs()))??;
    match came.issuer {
        Some(named) if named.trim_end_matches('/') != issuer.name.trim_end_matches('/') => {
            return Err("the answer came from another authorization server than the one that was asked".to_owned());
        }
        None if issuer.names_itself => {
            return Err("the answer does not say which authorization server it is of".to_owned());
        }
        Some(_) | None => {}
    }
    let form = vec![
        ("grant_type", "authorization_code".to_owned()),
        ("code", came.code),
        ("redirect_uri", redirect),
        ("code_verifier", verifier),
    ];
    let tokens = Tokens::ask(http, &issuer.token, &client, &issuer.resource, form).await?;
    tokens.write(file).map_err(|error| format!("the login cannot be kept: {error}"))?;
    *login.tokens.lock().await = Some(tokens);
    Ok(())
}

async fn client(settings: &LoginSettings, issuer: &Issuer, http: &Http, redirect: &str) -> Result<ClientName, String> {
    if let Some(id) = &settings.client_id {
        return Ok(ClientName { id: id.clone(), secret: settings.client_secret.clone() });
    }
    match &issuer.register {
        Some(place) => register(http, place, redirect).await,
        None => Err(format!(
            "the authorization server {} registers no programs by itself: register one there and set client_id",
            issuer.name
        )),
    }
}

fn random() -> Result<String, String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
