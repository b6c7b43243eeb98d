//! The servers that the user can switch to, by name.
//!
//! The program fills it from the configuration, from keys in the environment and from servers found on this
//! machine; the host resolves the user's input with it. No server is contacted here; a key that is stored elsewhere
//! is loaded once, when its server is first used.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::OnceCell;

use crate::Http;
use steersman_core::provider::{ApiKey, ChatTransport};

/// A server that offers models.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelServer {
    /// The user's name for it: that of a profile or of a provider. Contains no `/`.
    pub name: String,
    /// How it is reached; its model, if any, is the one that the name alone means.
    pub transport: ChatTransport,
    /// The loader of its key, when the key is not in the transport.
    pub key_loader: Option<KeyLoader>,
    /// The program that answers there, when it was found on this machine.
    pub found: Option<String>,
}

impl ModelServer {
    /// Makes a source whose transport is complete.
    pub fn new(name: impl Into<String>, transport: ChatTransport) -> Self {
        Self { name: name.into(), transport, key_loader: None, found: None }
    }

    /// Returns how it is reached, with its key.
    ///
    /// # Errors
    /// One sentence about the key.
    pub async fn unlocked(&self) -> Result<ChatTransport, String> {
        unlock(self.transport.clone(), self.key_loader.as_ref()).await
    }
}

async fn unlock(transport: ChatTransport, key_loader: Option<&KeyLoader>) -> Result<ChatTransport, String> {
    match key_loader {
        Some(key_loader) => Ok(ChatTransport { api_key: key_loader.key().await?, ..transport }),
        None => Ok(transport),
    }
}

type Reading = dyn Fn() -> BoxFuture<'static, Result<Option<ApiKey>, String>> + Send + Sync;

/// The loader of a key that is stored elsewhere, run when the key is first needed. Clones share the key.
#[derive(Clone)]
pub struct KeyLoader(Arc<(OnceCell<Option<ApiKey>>, Box<Reading>)>);

impl KeyLoader {
    /// Makes a loader from a function; after a failure the function runs again at the next use.
    pub fn new<F>(read: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Option<ApiKey>, String>> + Send + 'static,
    {
        Self(Arc::new((OnceCell::new(), Box::new(move || Box::pin(read())))))
    }

    async fn key(&self) -> Result<Option<ApiKey>, String> {
        let (cell, read) = self.0.as_ref();
        cell.get_or_try_init(read).await.cloned()
    }
}

impl fmt::Debug for KeyLoader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key loader]")
    }
}

impl PartialEq for KeyLoader {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The server and the model that the user's input means.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestedModel {
    /// The server and the model, if one was named; the key may not be loaded yet.
    pub transport: ChatTransport,
    key_loader: Option<KeyLoader>,
}

impl RequestedModel {
    /// Returns how it is reached, with its key.
    ///
    /// # Errors
    /// One sentence about the key.
    pub async fn unlocked(self) -> Result<ChatTransport, String> {
        unlock(self.transport, self.key_loader.as_ref()).await
    }

    /// Returns whether no key has to be loaded.
    pub fn is_open(&self) -> bool {
        self.key_loader.is_none()
    }
}

/// The sources in listing order, and the HTTP clients that ask them for their models. Of two with one name the first counts.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    servers: Vec<ModelServer>,
    http: Http,
}

impl FromIterator<ModelServer> for Sources {
    fn from_iter<I: IntoIterator<Item = ModelServer>>(sources: I) -> Self {
        let mut kept: Vec<ModelServer> = Vec::new();
        for source in sources {
            if !kept.iter().any(|earlier| earlier.name == source.name) {
                kept.push(source);
            }
        }
        Self { servers: kept, http: Http::default() }
    }
}

impl Sources {
    /// Sets the HTTP clients.
    #[must_use]
    pub fn with_http(mut self, http: Http) -> Self {
        self.http = http;
        self
    }

    /// Returns the HTTP clients.
    pub fn http(&self) -> &Http {
        &self.http
    }

    /// Returns the sources.
    pub fn iter(&self) -> impl Iterator<Item = &ModelServer> {
        self.servers.iter()
    }

    /// Returns the source that a transport belongs to.
    pub fn server_of(&self, transport: &ChatTransport) -> Option<&ModelServer> {
        let same = |source: &&ModelServer| {
            source.transport.provider == transport.provider && source.transport.api_base == transport.api_base
        };
        self.servers.iter().find(same)
    }

    /// Returns the model that a name means: `local/qwen3` is a model of the source `local`, `local` alone the model
    /// of that source, any other name a model of the current server. A model that the current server lists is
    /// always its own, also when its name looks like that of a source.
    pub fn resolve(&self, current: &ChatTransport, listed: &[String], name: &str) -> RequestedModel {
        let find = |name: &str| self.servers.iter().find(|source| source.name == name);
        let (before, model) = name.split_once('/').unwrap_or((name, ""));
        let source = if listed.iter().any(|listed| listed == name) { None } else { find(before) };
        let Some(source) = source else {
            // The configured window of one model does not hold for another.
            let context_window = current.context_window.filter(|_| current.model_name() == name);
            return RequestedModel {
                transport: ChatTransport { context_window, ..current.with_model(name) },
                key_loader: None,
            };
        };
        let own = source.transport.model_name();
        let transport = match model {
            "" => source.transport.clone(),
            model if model == own => source.transport.clone(),
            model => ChatTransport { context_window: None, ..source.transport.with_model(model) },
        };
        RequestedModel { transport, key_loader: source.key_loader.clone() }
    }
}
