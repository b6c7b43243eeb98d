//! The plugins that the user added: a file in the state directory. Whether one is trusted as it is now is in the record of
//! trust, as of projects.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::manifest::{Manifest, Marketplace};
use crate::program::cli::project::StateFile;

/// A plugin that the user added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedPlugin {
    /// Its name.
    pub name: String,
    /// What the user named: a directory, or an address of git.
    pub source: String,
    /// Its root.
    pub root: PathBuf,
    /// The directory whose list holds it; none for one that stands alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<PathBuf>,
    /// The commit that was cloned; none of a directory of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl AddedPlugin {
    /// Reads what it brings now.
    ///
    /// # Errors
    /// One sentence: why it cannot be used.
    pub fn manifest(&self) -> Result<Manifest, String> {
        let Some(list) = &self.list else { return Manifest::load(&self.root, None) };
        let listed = Marketplace::load(list)?.ok_or("its marketplace.json is gone")?.plugins;
        let entry = listed.into_iter().find(|listed| listed.name == self.name);
        let entry = entry.ok_or("its marketplace does not list it any more")?.entry;
        let manifest = Manifest::load(&self.root, Some(&entry))?;
        // The list names it.
        Ok(Manifest { name: self.name.clone(), ..manifest })
    }
}

/// The plugins of a state directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginRecord(StateFile);

#[derive(Debug, Default, Serialize, Deserialize)]
struct PluginFile {
    #[serde(default)]
    plugin: Vec<AddedPlugin>,
}

impl PluginRecord {
    /// Returns the record of a state directory; `None` without one.
    pub fn at(state: Option<&Path>) -> Option<Self> {
        state.map(|state| Self(StateFile::new(state, "plugins")))
    }

    /// Returns the plugins in the order in which they were added.
    ///
    /// # Errors
    /// That of the system, or of the file.
    pub fn load(&self) -> io::Result<Vec<AddedPlugin>> {
        self.0.read().map(|all: PluginFile| all.plugin)
    }

    /// Adds a plugin, in place of one of its name.
    ///
    /// # Errors
    /// That of the system; the record is unchanged.
    pub fn add(&self, plugin: AddedPlugin) -> io::Result<()> {
        self.change(|all| match all.iter_mut().find(|old| old.name == plugin.name) {
            Some(old) => *old = plugin,
            None => all.push(plugin),
        })
    }

    /// Removes a plugin.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn remove(&self, name: &str) -> io::Result<()> {
        self.change(|all| all.retain(|plugin| plugin.name != name))
    }

    fn change(&self, change: impl FnOnce(&mut Vec<AddedPlugin>)) -> io::Result<()> {
        self.0.change(|all: io::Result<PluginFile>| {
            let mut all = all.map_err(|error| io::Error::other(format!("{}: {error}", self.0.path().display())))?;
            change(&mut all.plugin);
            Ok(all)
        })
    }
}
