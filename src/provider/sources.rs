//! Where models come from: every server that the user can switch to, by a name.
//!
//! The program fills it from the configuration, from keys in the environment and from what answers on this machine; the
//! host resolves what the user types with it. Nothing here asks a server; a key that is in a vault is got when its server
//! is first wanted, and once.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::OnceCell;

use crate::provider::{ApiKey, ChatTransport};

/// Is one server that models can be taken from.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// What the user calls it: a profile's name, or that of a provider. Holds no `/`.
    pub name: String,
    /// How it is reached; its model, when it names one, is what the name alone stands for.
    pub transport: ChatTransport,
    /// Where its key is, when it is not in the transport yet.
    pub vault: Option<Vault>,
    /// What answers there, when it was found on this machine.
    pub found: Option<String>,
}

impl Source {
    /// Makes a source whose transport says everything.
    pub fn new(name: impl Into<String>, transport: ChatTransport) -> Self {
        Self { name: name.into(), transport, vault: None, found: None }
    }

    /// Returns how it is reached, with its key.
    ///
    /// # Errors
    /// One sentence about the key.
    pub async fn unlocked(&self) -> Result<ChatTransport, String> {
        unlock(self.transport.clone(), self.vault.as_ref()).await
    }
}

async fn unlock(transport: ChatTransport, vault: Option<&Vault>) -> Result<ChatTransport, String> {
    match vault {
        Some(vault) => Ok(ChatTransport { api_key: vault.key().await?, ..transport }),
        None => Ok(transport),
    }
}

type Reading = dyn Fn() -> BoxFuture<'static, Result<Option<ApiKey>, String>> + Send + Sync;

/// Gets a key out of where it is kept, when it is first wanted. Clones are the same vault.
#[derive(Clone)]
pub struct Vault(Arc<(OnceCell<Option<ApiKey>>, Box<Reading>)>);

impl Vault {
    /// Makes a vault that is opened with a function; one that failed is opened again at the next wish.
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

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[vault]")
    }
}

impl PartialEq for Vault {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Is what the user means by the name of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// How it is reached; the key may still be in the vault. Without a model nobody said which one.
    pub transport: ChatTransport,
    vault: Option<Vault>,
}

impl Wanted {
    /// Returns how it is reached, with its key.
    ///
    /// # Errors
    /// One sentence about the key.
    pub async fn unlocked(self) -> Result<ChatTransport, String> {
        unlock(self.transport, self.vault.as_ref()).await
    }

    /// Tells whether the key is there already.
    pub fn is_open(&self) -> bool {
        self.vault.is_none()
    }
}

/// Holds the sources, in the order in which they are listed. Of two with one name the first counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sources(Vec<Source>);

impl FromIterator<Source> for Sources {
    fn from_iter<I: IntoIterator<Item = Source>>(sources: I) -> Self {
        let mut kept: Vec<Source> = Vec::new();
        for source in sources {
            if !kept.iter().any(|earlier| earlier.name == source.name) {
                kept.push(source);
            }
        }
        Self(kept)
    }
}

impl Sources {
    /// Returns the sources.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.0.iter()
    }

    /// Returns the source that a transport belongs to.
    pub fn of(&self, transport: &ChatTransport) -> Option<&Source> {
        let same = |source: &&Source| {
            source.transport.provider == transport.provider && source.transport.api_base == transport.api_base
        };
        self.0.iter().find(same)
    }

    /// Returns what the user means by a name: `local/qwen3` is a model of the source `local`, `local` alone the model that
    /// this source names, anything else a model of the server that answers now. What that server lists itself is always
    /// its own, also when its name reads like a source's.
    pub fn resolve(&self, current: &ChatTransport, listed: &[String], name: &str) -> Wanted {
        let find = |name: &str| self.0.iter().find(|source| source.name == name);
        let (before, model) = name.split_once('/').unwrap_or((name, ""));
        let source = if listed.iter().any(|listed| listed == name) { None } else { find(before) };
        let Some(source) = source else {
            // What was said of the window of one model says nothing of another's.
            let context_window = current.context_window.filter(|_| current.model_name() == name);
            return Wanted { transport: ChatTransport { context_window, ..current.with_model(name) }, vault: None };
        };
        let own = source.transport.model_name();
        let transport = match model {
            "" => source.transport.clone(),
            model if model == own => source.transport.clone(),
            model => ChatTransport { context_window: None, ..source.transport.with_model(model) },
        };
        Wanted { transport, vault: source.vault.clone() }
    }
}
