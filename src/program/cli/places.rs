//! The user's directories: home, configuration, state, cache.
//!
//! Neither the environment nor a project can move them into the project: a directory there is not used as the user's.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

use steersman_base::protected::{DirectoryRole, ProtectedPlaces, settings};
use steersman_base::text::visible_line;
use steersman_tools::workspace::{directories_up_to, project_root};

/// The user's directories; `None` for those that cannot be found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserDirectories {
    /// The home directory, without links.
    pub home: Option<PathBuf>,
    /// The program's configuration directory.
    pub config: Option<PathBuf>,
    /// The program's state directory.
    pub state: Option<PathBuf>,
    /// The program's data directory.
    pub data: Option<PathBuf>,
    /// The program's cache directory.
    pub cache: Option<PathBuf>,
    /// Where sessions that run listen, the best directory first.
    pub sockets: Vec<PathBuf>,
    /// The directories of configurations, of state, of data and of what lives while programs run.
    pub bases: Vec<PathBuf>,
    /// The root of the project that contains the working directory.
    pub project: Option<PathBuf>,
    /// The directories below that root, down to the working directory, the nearest to it first.
    pub below: Vec<PathBuf>,
    /// Sentences about directories that are not used.
    pub notes: Vec<String>,
}

impl UserDirectories {
    /// Finds the directories for a working directory without links.
    pub fn find(cwd: &Path) -> Self {
        let home = etcetera::home_dir().ok().map(|home| home.canonicalize().unwrap_or(home));
        let project = project_root(cwd, home.as_deref());
        let below = project.iter().flat_map(|root| directories_up_to(root, cwd).filter(move |at| at != root));
        let below = below.map(Path::to_path_buf).collect();
        let mut places = Self { home, project, below, ..Self::default() };
        let Ok(base) = etcetera::base_strategy::Xdg::new() else { return places };
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|base| base.is_absolute());
        places.bases = [Some(base.config_dir()), base.state_dir(), Some(base.data_dir()), runtime.clone()]
            .into_iter()
            .flatten()
            .map(|base| real(&base))
            .collect();
        places.config = places.own("configuration", &base.config_dir(), ".config");
        places.state = base.state_dir().and_then(|state| places.own("state", &state, ".local/state"));
        places.data = places.own("data", &base.data_dir(), ".local/share");
        places.cache = places.own("cache", &base.cache_dir(), ".cache");
        // One that is not there was set for another user, or on another machine.
        let runtime = runtime.and_then(|base| base.canonicalize().ok());
        let is_own = |base: &PathBuf| places.project.as_ref().is_none_or(|project| !base.starts_with(project));
        let runtime = runtime.filter(is_own).map(|base| base.join("steersman"));
        places.sockets = runtime.into_iter().chain(places.state.as_ref().map(|state| state.join("sockets"))).collect();
        places
    }

    /// Returns what of the user's directories no command and no tool changes unasked.
    pub fn protected(&self) -> ProtectedPlaces {
        let own = [&self.config, &self.state, &self.cache].into_iter().flatten().chain(&self.sockets);
        let own = own.map(|path| (DirectoryRole::Own, path));
        let bases = self.bases.iter().map(|path| (DirectoryRole::Settings, path));
        let home = self.home.iter().map(|path| (DirectoryRole::Home, path));
        let linked = settings::linked(self.home.as_deref(), &self.bases);
        let all = own.chain(bases).chain(home);
        let places = all.fold(ProtectedPlaces::default(), |places, (role, path)| places.with(role, &real(path)));
        // A link among them stays one: it leads there.
        linked.iter().fold(places, |places, path| places.with(DirectoryRole::Named, path))
    }

    /// Makes this program's directories where a directory that commands write holds them, so that they can be hidden there;
    /// returns what there is to say about such a directory.
    pub fn within(&self, writable: &[PathBuf]) -> Option<String> {
        let holds = |path: &Path| writable.iter().any(|root| real(path).starts_with(real(root)));
        for path in [&self.config, &self.state].into_iter().flatten().chain(&self.sockets).filter(|path| holds(path)) {
            // Where that fails it cannot be hidden, and is closed all the same.
            let _ = DirBuilder::new().recursive(true).mode(0o700).create(path);
        }
        let held = if self.home.as_deref().is_some_and(holds) {
            "your home directory: commands cannot change what begins with a dot there"
        } else if self.bases.iter().any(|base| holds(base)) {
            "a directory of configurations or state of your programs: commands cannot change it"
        } else {
            return None;
        };
        Some(format!("the workspace holds {held}, nor see this program's own files"))
    }

    /// Returns the program's directory within a base directory, unless that was moved into the project.
    fn own(&mut self, what: &str, base: &Path, usual: &str) -> Option<PathBuf> {
        let inside = |path: &Path, project: &Path| {
            // A path that does not exist yet is placed by its nearest existing ancestor.
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

/// Returns a path without links as far as it is there.
fn real(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?)));
    // Joining nothing would put a slash behind a file.
    found.map_or_else(|| path.to_owned(), |(real, rest)| real.components().chain(rest.components()).collect())
}
