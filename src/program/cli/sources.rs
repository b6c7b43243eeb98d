//! The servers that the user can switch to: the current one, the profiles, local servers, and the services whose key is
//! in the environment.
//!
//! Keys in files and commands are loaded when their server is first used.

use std::path::Path;
use std::sync::Arc;

use crate::program::cli::first_start::FoundServer;
use crate::program::cli::keys;
use crate::program::cli::setup::transport_of;
use crate::program::config::{Config, KeyPlace, Server};
use steersman_base::assets;
use steersman_base::limits;
use steersman_base::regular_file::read_own_text;
use steersman_core::provider::{ApiKey, ChatTransport, Registry};
use steersman_provider::{KeyLoader, ModelServer, Sources};

/// Lists the servers; `current` is the one in use.
pub fn sources(config: &Config, current: Option<ModelServer>, found: &[FoundServer]) -> Sources {
    let profiles = config.profiles.iter().map(|(name, server)| match server {
        Ok(server) => of_server(name, server),
        Err(error) => broken(name, error.to_string()),
    });
    let services = config.services.iter().map(|(name, server)| of_server(name, server));
    let listed: Vec<ModelServer> = current.into_iter().chain(profiles).collect();
    let is_new = |found: &&FoundServer| {
        let bare = |url: &str| url.trim_end_matches('/').trim_end_matches("/v1").replace("localhost", "127.0.0.1");
        let same = |base: &String| bare(base) == bare(&found.base_url);
        !listed.iter().any(|source| source.transport.api_base.as_ref().is_some_and(same))
    };
    let local: Vec<ModelServer> = found.iter().filter(is_new).map(of_found).collect();
    listed.into_iter().chain(local).chain(services).collect()
}

/// Returns a configured server; a key in a file or a command is loaded when it is needed.
pub fn of_server(name: &str, server: &Server) -> ModelServer {
    let (key, key_loader) = match &server.key {
        KeyPlace::None => (None, None),
        KeyPlace::Variable { key, .. } => (Some(key.clone()), None),
        KeyPlace::File(_) | KeyPlace::Command(_) => {
            let place = server.key.clone();
            let read = move || {
                let place = place.clone();
                async move { keys::read_key(&place).await }
            };
            (None, Some(KeyLoader::new(read)))
        }
    };
    ModelServer { key_loader, ..ModelServer::new(name, transport_of(server, key)) }
}

fn of_found(found: &FoundServer) -> ModelServer {
    let transport = ChatTransport {
        model: found.models.first().cloned(),
        provider: Some("openai".to_owned()),
        assume_model_exists: true,
        api_base: Some(found.base_url.clone()),
        ..ChatTransport::default()
    };
    ModelServer { found: Some(found.what.to_owned()), ..ModelServer::new(found.name, transport) }
}

/// Returns a server that reports its fault whenever it is used.
fn broken(name: &str, sentence: String) -> ModelServer {
    let read = move || {
        let sentence = sentence.clone();
        async move { Err::<Option<ApiKey>, String>(sentence) }
    };
    ModelServer { key_loader: Some(KeyLoader::new(read)), ..ModelServer::new(name, ChatTransport::default()) }
}

/// Reads the registry of models: the bundled table, then the user's `models.toml`, then the user's prices.
///
/// # Errors
/// One sentence about the user's file.
pub fn registry(config: &Config, directory: Option<&Path>) -> Result<Registry, String> {
    let bundled = Registry::parse(assets::MODELS).map_err(|error| format!("the bundled models.toml, {error}"))?;
    let mut registry = bundled;
    if let Some(path) = directory.map(|directory| directory.join("models.toml")).filter(|path| path.exists()) {
        let text = read_own_text(&path, limits::OWN_FILE_BYTES)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let own = Registry::parse(&text).map_err(|error| format!("{}, {error}", path.display()))?;
        registry = registry.under(own);
    }
    Ok(registry.under(Registry::of_prices(&config.spending.prices)))
}

/// Reads the registry like [`registry`]; a faulty file of the user is noted and left out.
pub fn registry_or_bundled(config: &Config, directory: Option<&Path>, notes: &mut Vec<String>) -> Arc<Registry> {
    let read = registry(config, directory).or_else(|sentence| {
        notes.push(sentence);
        registry(config, None)
    });
    Arc::new(read.unwrap_or_default())
}
