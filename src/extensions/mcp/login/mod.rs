//! The login at a server: OAuth 2.1 with PKCE, as the protocol wants it
//! (<https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization>).
//!
//! A token goes to the server that it was made for, and nowhere else. Tokens are in a file of the user's alone; they are
//! renewed when they are too old or the server says so, and another process that did so meanwhile is believed.
//!
//! # Where things are
//!
//! - who gives tokens for a server, and under which conditions: `discover.rs`
//! - the way through the browser: `flow.rs`, `callback.rs`
//! - tokens, their file, their renewal: `mod.rs`, `tokens.rs`

mod callback;
mod discover;
mod flow;
mod tokens;

use std::path::PathBuf;

use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::Mutex;

use crate::mcp::definition::{LoginSettings, Reached, ServerDefinition};
use crate::mcp::store::Store;
use steersman_base::sync::lock;
use steersman_provider::Http;

pub use flow::log_in;
use tokens::Tokens;

/// The login at one server.
#[derive(Debug)]
pub struct Login {
    settings: LoginSettings,
    file: Option<PathBuf>,
    /// The tokens as they were last read or made.
    tokens: Mutex<Option<Tokens>>,
    /// What the server said when it last wanted a login.
    challenge: std::sync::Mutex<Option<String>>,
}

impl Login {
    /// Makes the login of a server; what is kept of it is read when it is needed.
    pub fn new(server: &ServerDefinition, store: &Store) -> Self {
        let (settings, file) = match &server.reached {
            Reached::Address(address) => (address.login.clone(), store.login_path(server)),
            Reached::Process(_) => (LoginSettings::default(), None),
        };
        Self { settings, file, tokens: Mutex::default(), challenge: std::sync::Mutex::default() }
    }

    /// Notes that the server wants a login, and what it says about that.
    pub(super) fn challenged(&self, challenge: &str) {
        *lock(&self.challenge) = Some(challenge.to_owned());
    }

    /// Returns what the server said when it wanted a login; `None` when it has not.
    pub fn challenge(&self) -> Option<String> {
        lock(&self.challenge).clone()
    }

    /// Returns the token for a request; renews one that is too old. Without a login there is none.
    pub(super) async fn token(&self, http: &Http) -> Option<SecretString> {
        let mut tokens = self.tokens.lock().await;
        if tokens.is_none() {
            *tokens = Tokens::load(self.file.as_deref()?);
        }
        if tokens.as_ref()?.is_old() && tokens.as_ref()?.can_renew() {
            self.exchange(http, &mut tokens).await;
        }
        tokens.as_ref().map(|tokens| tokens.access.clone())
    }

    /// Returns another token than the one that the server did not take; `None` when the user has to log in.
    pub(super) async fn renew(&self, http: &Http, refused: Option<&SecretString>) -> Option<SecretString> {
        let mut tokens = self.tokens.lock().await;
        let is_other =
            |tokens: &Tokens| refused.is_none_or(|refused| refused.expose_secret() != tokens.access.expose_secret());
        if let Some(kept) = Tokens::load(self.file.as_deref()?).filter(is_other) {
            return Some(tokens.insert(kept).access.clone());
        }
        self.exchange(http, &mut tokens).await;
        tokens.as_ref().filter(|tokens| is_other(tokens)).map(|tokens| tokens.access.clone())
    }

    /// Gets new tokens for the old ones, where that is possible.
    async fn exchange(&self, http: &Http, tokens: &mut Option<Tokens>) {
        let Some(old) = tokens.as_ref() else { return };
        match old.renewed(http).await {
            Ok(new) => {
                if let Some(file) = &self.file
                    && let Err(error) = new.write(file)
                {
                    tracing::warn!(%error, "the renewed login of a server cannot be kept");
                }
                *tokens = Some(new);
            }
            Err(error) => tracing::info!(%error, "a login of a server cannot be renewed"),
        }
    }

    /// Forgets the login; tells whether there was one.
    ///
    /// # Errors
    /// The error of the file system.
    pub fn log_out(&self) -> std::io::Result<bool> {
        match self.file.as_deref().map(std::fs::remove_file) {
            None => Ok(false),
            Some(Ok(())) => Ok(true),
            Some(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Some(Err(error)) => Err(error),
        }
    }
}
