//! Where the user's own files lie: home, configuration, state, cache. One place for all of it.
//!
//! Neither the environment nor a project moves them into the project: a directory there is not taken for the user's.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

use crate::text::visible_line;
use crate::workspace::project_root;

/// The user's directories; what cannot be found out is missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The home directory, real.
    pub home: Option<PathBuf>,
    /// The program's own directory of configuration.
    pub config: Option<PathBuf>,
    /// The program's own directory of what it remembers.
    pub state: Option<PathBuf>,
    /// The program's own directory of what it can forget.
    pub cache: Option<PathBuf>,
    /// The root of the project that the working directory lies in.
    pub project: Option<PathBuf>,
    /// Sentences about directories that were not taken.
    pub notes: Vec<String>,
}

impl Places {
    /// Finds the places for a real working directory.
    pub fn find(cwd: &Path) -> Self {
        let home = etcetera::home_dir().ok().map(|home| home.canonicalize().unwrap_or(home));
        let project = project_root(cwd, home.as_deref());
        let mut places = Self { home, project, ..Self::default() };
        let Ok(base) = etcetera::base_strategy::Xdg::new() else { return places };
        places.config = places.own("configuration", &base.config_dir(), ".config");
        places.state = base.state_dir().and_then(|state| places.own("state", &state, ".local/state"));
        places.cache = places.own("cache", &base.cache_dir(), ".cache");
        places
    }

    /// Returns the program's directory within a base directory, unless that was moved into the project.
    fn own(&mut self, what: &str, base: &Path, usual: &str) -> Option<PathBuf> {
        let inside = |path: &Path, project: &Path| {
            // What does not exist yet lies where its nearest existing ancestor lies.
            let real = path.ancestors().find_map(|ancestor| ancestor.canonicalize().ok());
            real.is_some_and(|real| real.starts_with(project))
        };
        if let Some(project) = &self.project {
            let home_is_safe = self.home.as_ref().filter(|home| !home.starts_with(project));
            let is_usual = home_is_safe.is_some_and(|home| home.join(usual) == base);
            if inside(base, project) && !is_usual {
                let base = visible_line(&base.to_string_lossy()).into_owned();
                self.notes.push(format!("the {what} directory {base} lies within this project: it is not used"));
                return home_is_safe.map(|home| home.join(usual).join("steersman"));
            }
        }
        Some(base.join("steersman"))
    }
}
