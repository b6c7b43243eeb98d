//! Tokens: what an authorization server gave, their file, their renewal.

use std::path::Path;
use std::{fmt, io};

use jiff::{SignedDuration, Timestamp};
use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::mcp::login::discover::{get_json, post_form};
use crate::mcp::store::write_own;
use steersman_base::limits;
use steersman_base::regular_file::read_own;
use steersman_base::text::{clip, visible_line};
use steersman_provider::Http;

/// Time before its end at which a token counts as old.
const EARLY: SignedDuration = SignedDuration::from_secs(30);

/// What an authorization server gave, and who gave it.
#[derive(Clone)]
pub(super) struct Tokens {
    pub access: SecretString,
    pub refresh: Option<SecretString>,
    pub until: Option<Timestamp>,
    pub client: ClientName,
    pub endpoint: Url,
    pub resource: String,
}

/// How an authorization server knows this program.
#[derive(Clone)]
pub(super) struct ClientName {
    pub id: String,
    pub secret: Option<SecretString>,
}

/// The form of the file.
#[derive(Serialize, Deserialize)]
struct TokenFile {
    access_token: String,
    refresh_token: Option<String>,
    expires_at: Option<Timestamp>,
    client_id: String,
    client_secret: Option<String>,
    token_endpoint: String,
    resource: String,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("until", &self.until).field("resource", &self.resource).finish_non_exhaustive()
    }
}

impl Tokens {
    /// Reads a file; one that is none is as if there were no login.
    pub(super) fn load(file: &Path) -> Option<Self> {
        let bytes = read_own(file, limits::OWN_FILE_BYTES).ok()?;
        let file: TokenFile = serde_json::from_slice(&bytes).ok()?;
        Some(Self {
            access: file.access_token.into(),
            refresh: file.refresh_token.map(SecretString::from),
            until: file.expires_at,
            client: ClientName { id: file.client_id, secret: file.client_secret.map(SecretString::from) },
            endpoint: Url::parse(&file.token_endpoint).ok()?,
            resource: file.resource,
        })
    }

    /// Writes the file, for the user alone.
    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        let exposed = |secret: &Option<SecretString>| secret.as_ref().map(|secret| secret.expose_secret().to_owned());
        let content = TokenFile {
            access_token: self.access.expose_secret().to_owned(),
            refresh_token: exposed(&self.refresh),
            expires_at: self.until,
            client_id: self.client.id.clone(),
            client_secret: exposed(&self.client.secret),
            token_endpoint: self.endpoint.to_string(),
            resource: self.resource.clone(),
        };
        let directory = file.parent().unwrap_or(Path::new("."));
        write_own(directory, file, &serde_json::to_vec_pretty(&content)?)
    }

    pub(super) fn is_old(&self) -> bool {
        self.until.is_some_and(|until| until.checked_sub(EARLY).unwrap_or(until) <= Timestamp::now())
    }

    pub(super) fn can_renew(&self) -> bool {
        self.refresh.is_some()
    }

    /// Gets new tokens for these.
    pub(super) async fn renewed(&self, http: &Http) -> Result<Self, String> {
        let refresh = self.refresh.as_ref().ok_or("there is no token to renew it with")?;
        let form =
            vec![("grant_type", "refresh_token".to_owned()), ("refresh_token", refresh.expose_secret().to_owned())];
        let mut new = Self::ask(http, &self.endpoint, &self.client, &self.resource, form).await?;
        // An old one stays good where no new one comes.
        new.refresh = new.refresh.or_else(|| self.refresh.clone());
        Ok(new)
    }

    /// Asks an authorization server for tokens.
    pub(super) async fn ask(
        http: &Http,
        endpoint: &Url,
        client: &ClientName,
        resource: &str,
        mut form: Vec<(&'static str, String)>,
    ) -> Result<Self, String> {
        form.push(("client_id", client.id.clone()));
        form.push(("resource", resource.to_owned()));
        if let Some(secret) = &client.secret {
            form.push(("client_secret", secret.expose_secret().to_owned()));
        }
        let answer = post_form(http, endpoint, &form).await?;
        let text = |name: &str| answer.get(name).and_then(Value::as_str);
        if let Some(error) = text("error") {
            let more = text("error_description").map(|more| format!(": {more}")).unwrap_or_default();
            let said = format!("{error}{more}");
            return Err(format!("the authorization server says {}", clip(&visible_line(&said), 200)));
        }
        let access = text("access_token").ok_or("the authorization server gave no token")?;
        if !text("token_type").is_none_or(|kind| kind.eq_ignore_ascii_case("bearer")) {
            return Err("the authorization server gave a token of an unknown type".to_owned());
        }
        let lives = answer.get("expires_in").and_then(Value::as_i64).map(SignedDuration::from_secs);
        Ok(Self {
            access: access.to_owned().into(),
            refresh: text("refresh_token").map(|text| text.to_owned().into()),
            until: lives.and_then(|lives| Timestamp::now().checked_add(lives).ok()),
            client: client.clone(),
            endpoint: endpoint.clone(),
            resource: resource.to_owned(),
        })
    }
}

/// Registers this program with an authorization server (RFC 7591).
pub(super) async fn register(http: &Http, endpoint: &Url, redirect: &str) -> Result<ClientName, String> {
    let wanted = serde_json::json!({
        "client_name": "steersman",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    });
    let answer = get_json(http, endpoint, Some(&wanted)).await?;
    let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
    let id = text("client_id").ok_or("the authorization server did not register this program")?;
    Ok(ClientName { id, secret: text("client_secret").map(SecretString::from) })
}
