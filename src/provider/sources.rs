//! Where models come from: every server that the user can switch to, by a name.
//!
//! The program fills it from the configuration, from keys in the environment and from what answers on this machine; the
//! host resolves what the user types with it. Nothing here asks a server.

use crate::provider::ChatTransport;

/// Is one server that models can be taken from.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// What the user calls it: a profile's name, or that of a provider. Holds no `/`.
    pub name: String,
    /// How it is reached; its model, when it names one, is what the name alone stands for.
    pub transport: ChatTransport,
}

/// Holds the sources, in the order in which they are listed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sources(Vec<Source>);

impl FromIterator<Source> for Sources {
    fn from_iter<I: IntoIterator<Item = Source>>(sources: I) -> Self {
        Self(sources.into_iter().collect())
    }
}

impl Sources {
    /// Returns the sources.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.0.iter()
    }

    /// Returns what the user means by a name: `local/qwen3` is a model of the source `local`, `local` alone the model that
    /// this source names, anything else a model of the server that answers now.
    pub fn resolve(&self, current: &ChatTransport, name: &str) -> ChatTransport {
        let find = |name: &str| self.0.iter().find(|source| source.name == name);
        let (before, behind) = name.split_once('/').unwrap_or((name, ""));
        match (find(before), behind) {
            (Some(source), "") if source.transport.model.is_some() => source.transport.clone(),
            (Some(_), "") | (None, _) => current.with_model(name),
            (Some(source), model) => source.transport.with_model(model),
        }
    }
}
