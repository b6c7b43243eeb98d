//! What lies in a working tree and is obeyed from outside of it: the files that settings of git name (directories of hooks, files
//! that are included, programs), and those that links of the home directory lead to. Neither a command nor a tool
//! changes them unasked, as they do not change the settings themselves.
//!
//! The settings are read for each command and each change, since the user may change them meanwhile. Reads too much rather
//! than too little: what could be a path is taken for one.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::nested::{self, RepositoryPlace};
use super::{DirectoryRole, ProtectedPlaces};
use crate::limits;
use crate::regular_file::read_head;

/// Settings whose whole value is a path, and what is in a directory there runs.
const PATHS: [&str; 4] = ["core.attributesfile", "core.hookspath", "include.path", "init.templatedir"];

/// Settings that name no program, whose values may look as if they did.
const HARMLESS: [&str; 10] =
    ["advice", "branch", "core.worktree", "gc", "push", "pull", "remote", "submodule", "url", "user"];

/// Returns what the settings of the user, of the machine and of the repositories around and within directories name within
/// these. `places` knows where programs keep their settings. Blocks.
pub fn named(roots: &[PathBuf], home: Option<&Path>, places: &ProtectedPlaces) -> BTreeSet<PathBuf> {
    let of_user = home.into_iter().flat_map(|home| [home.join(".gitconfig"), home.join(".config/git/config")]);
    let bases = places.directories.iter().filter(|known| known.role == DirectoryRole::Settings);
    let of_user = of_user.chain(bases.map(|base| base.path.join("git/config"))).chain(["/etc/gitconfig".into()]);
    let of_user: Vec<PathBuf> = of_user.collect();
    let mut found = BTreeSet::new();
    for root in roots {
        // Git of the user may be started above a directory that commands write.
        let trees = root.ancestors().filter(|tree| *tree == root || tree.join(".git").symlink_metadata().is_ok());
        let around = trees.map(|tree| RepositoryPlace { git: git_directory(tree), tree: tree.to_owned() });
        for repository in around.chain(nested::repositories(root)) {
            named_for(&repository, home, &of_user, roots, &mut found);
        }
    }
    // A directory that holds one of them whole says nothing.
    found.retain(|path| roots.iter().any(|root| path.starts_with(root)) && !roots.contains(path));
    found
}

/// Adds what settings name where git is started in a repository.
fn named_for(
    repository: &RepositoryPlace,
    home: Option<&Path>,
    of_user: &[PathBuf],
    roots: &[PathBuf],
    found: &mut BTreeSet<PathBuf>,
) {
    let RepositoryPlace { tree, git } = repository;
    // A worktree shares the settings of its repository.
    let common = line(&git.join("commondir")).map_or_else(|| git.clone(), |common| git.join(common));
    let files = of_user.iter().cloned().chain([common.join("config"), git.join("config.worktree")]);
    let is_inside = |path: &PathBuf| roots.iter().any(|root| path.starts_with(root));
    let mut open: Vec<(PathBuf, usize)> = files.map(|file| (file, 0)).collect();
    while let Some((file, depth)) = open.pop() {
        let Ok(head) = read_head(&file, limits::GIT_SETTINGS_BYTES) else { continue };
        for (name, value) in settings(&String::from_utf8_lossy(&head.bytes)) {
            let beside = file.parent().unwrap_or(&file);
            if name == "include.path" {
                let included = at(beside, &value, home);
                found.extend(way(&included));
                if depth < limits::GIT_INCLUDES {
                    open.push((included, depth + 1));
                }
            } else if PATHS.contains(&name.as_str()) {
                found.extend(way(&at(tree, &value, home)));
            } else if !HARMLESS.iter().any(|harmless| name.starts_with(harmless)) {
                let is_between = |c: char| c.is_whitespace() || "!\"';&|()<>=$`".contains(c);
                let words = value.split(is_between).filter(|word| !word.is_empty());
                let paths = words.flat_map(|word| way(&at(tree, word, home)));
                // A word alone is a program of the search path, unless a file of that name is there.
                found.extend(paths.filter(|path| is_inside(path) && path.symlink_metadata().is_ok()));
            }
        }
    }
}

/// Returns the settings of a file by their names in lower case, without what stands in quotes behind the first part.
fn settings(text: &str) -> Vec<(String, String)> {
    let text = text.replace("\\\r\n", "").replace("\\\n", "");
    let mut section = String::new();
    let mut all = Vec::new();
    for line in text.lines() {
        let mut line = line.trim_start_matches('\u{feff}').trim();
        if let Some(rest) = line.strip_prefix('[') {
            let (header, behind) = rest.rsplit_once(']').unwrap_or((rest, ""));
            let name = header.split([' ', '\t', '"', '.']).next().unwrap_or_default();
            // One that holds under a condition counts as one that always does.
            section = name.to_ascii_lowercase().replace("includeif", "include");
            line = behind.trim();
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let value = value.trim().trim_matches('"').replace("\\\"", "\"").replace("\\\\", "\\");
        all.push((format!("{section}.{}", key.trim().to_ascii_lowercase()), value));
    }
    all
}

fn line(file: &Path) -> Option<String> {
    let head = read_head(file, limits::GIT_SETTINGS_BYTES).ok()?;
    String::from_utf8(head.bytes).ok().map(|text| text.trim().to_owned())
}

/// Returns the path that a value means, which begins at a directory or the home.
fn at(directory: &Path, value: &str, home: Option<&Path>) -> PathBuf {
    match (value.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        (Some(_) | None, _) => directory.join(value),
    }
}

/// Returns where a path leads, there or not, behind each link on the way to it: whoever changes one of these makes it lead
/// elsewhere.
fn way(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut place = PathBuf::new();
    let mut rest: Vec<OsString> = path.components().rev().map(|part| part.as_os_str().to_owned()).collect();
    while let Some(part) = rest.pop() {
        match Path::new(&part).components().next() {
            Some(Component::ParentDir) => {
                place.pop();
            }
            Some(Component::CurDir) | None => {}
            Some(Component::Normal(_) | Component::RootDir | Component::Prefix(_)) => {
                place.push(&part);
                let target = place.read_link().ok().filter(|_| found.len() < limits::LINKS_ON_THE_WAY);
                if let Some(target) = target {
                    found.push(place.clone());
                    place.pop();
                    rest.extend(target.components().rev().map(|part| part.as_os_str().to_owned()));
                }
            }
        }
    }
    found.push(place);
    found
}

/// Returns where git keeps the repository of a working tree.
pub fn git_directory(tree: &Path) -> PathBuf {
    let git = tree.join(".git");
    let head = read_head(&git, limits::GIT_SETTINGS_BYTES).ok();
    let named = head.and_then(|head| String::from_utf8(head.bytes).ok());
    match named.as_deref().and_then(|text| text.strip_prefix("gitdir:")) {
        Some(named) => tree.join(named.trim()),
        None => git,
    }
}

/// Directories of a home in which programs keep their settings, and how deep the links in them are looked for.
const LINKED: [(&str, usize); 3] = [("", 0), (".config", 1), (".ssh", 0)];

/// Returns what the links in a home directory, and in other directories of settings, lead to that stand for settings of
/// programs: files of the home's own begin with a dot.
pub fn linked(home: Option<&Path>, others: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let of_home = home.into_iter().flat_map(|home| LINKED.map(|(name, depth)| (home.join(name), depth)));
    let mut open: Vec<(PathBuf, usize)> = of_home.chain(others.iter().map(|other| (other.clone(), 1))).collect();
    while let Some((directory, depth)) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten().take(limits::HOME_LINKS) {
            let is_setting =
                home.is_none_or(|home| directory != home) || entry.file_name().as_encoded_bytes().starts_with(b".");
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() && is_setting => found.extend(way(&entry.path()).into_iter().skip(1)),
                Ok(kind) if kind.is_dir() && depth > 0 => open.push((entry.path(), depth - 1)),
                Ok(_) | Err(_) => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_settings_name_in_the_tree_is_found_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (tree, home) = (root.join("tree"), root.join("home"));
        fs::create_dir_all(tree.join(".git")).unwrap();
        fs::create_dir(&home).unwrap();
        fs::write(tree.join("tool.sh"), "").unwrap();
        fs::write(home.join(".gitconfig"), "[core]\n\thooksPath = \"scripts/hooks\"\n[user]\n\tname = tool.sh\n")
            .unwrap();
        let own = "[core]\n\tbare = false\n\tfsmonitor = ~/../tree/tool.sh --fast\n[includeIf \"gitdir:/\"] path = ../shared/git\n\
                   [alias]\n\tst = !git status\n[filter \"x\"]\n\tclean = missing.sh\n[include]\n\tpath = /elsewhere\n";
        fs::write(tree.join(".git/config"), own).unwrap();
        let found = named(std::slice::from_ref(&tree), Some(&home), &ProtectedPlaces::default());
        let wanted = ["scripts/hooks", "shared/git", "tool.sh"].map(|name| tree.join(name));
        assert_eq!(found, BTreeSet::from(wanted));
    }

    #[test]
    fn what_a_repository_around_or_beside_and_settings_elsewhere_name_is_found_too() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (around, tree, other, settings) =
            (root.join("around"), root.join("around/deep/tree"), root.join("other"), root.join("settings"));
        for directory in [&around.join(".git"), &tree, &other.join(".git"), &settings.join("git")] {
            fs::create_dir_all(directory).unwrap();
        }
        fs::write(tree.join("watch"), "").unwrap();
        let own =
            "[core]\n\thooksPath = deep/tree/hooks\n\tfsmonitor = deep/tree/watch\n[include]\n\tpath = ../outside\n";
        fs::write(around.join(".git/config"), own).unwrap();
        let beside = format!("[core]\n\thooksPath = {}\n[include]\n\tpath = ../more\n", tree.join("beside").display());
        fs::write(other.join(".git/config"), beside).unwrap();
        let of_user = format!("[core]\n\tattributesFile = {}\n", tree.join("attributes").display());
        fs::write(settings.join("git/config"), of_user).unwrap();
        let places = ProtectedPlaces::default().with(DirectoryRole::Settings, &settings);
        let found = named(&[tree.clone(), other.clone()], None, &places);
        let wanted = ["hooks", "watch", "beside", "attributes"].map(|name| tree.join(name));
        assert_eq!(found, wanted.into_iter().chain([other.join("more")]).collect());
    }

    #[test]
    fn links_on_the_way_are_found_with_what_they_lead_to() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (tree, home) = (root.join("tree"), root.join("home"));
        for directory in [tree.join(".git"), tree.join("real"), tree.join("deep"), home.clone()] {
            fs::create_dir_all(directory).unwrap();
        }
        let links = [("real", "hooks"), ("../real", "deep/link"), ("hooks", "twice")];
        for (target, link) in links {
            std::os::unix::fs::symlink(target, tree.join(link)).unwrap();
        }
        std::os::unix::fs::symlink(tree.join("twice/rc"), home.join(".rc")).unwrap();
        let own = "[core]\n\thooksPath = twice\n[include]\n\tpath = ../deep/link/missing\n";
        fs::write(tree.join(".git/config"), own).unwrap();
        let found = named(std::slice::from_ref(&tree), None, &ProtectedPlaces::default());
        let wanted = ["twice", "hooks", "real", "deep/link", "real/missing"].map(|name| tree.join(name));
        assert_eq!(found, BTreeSet::from(wanted));
        let found: BTreeSet<PathBuf> = linked(Some(&home), &[]).into_iter().collect();
        assert_eq!(found, BTreeSet::from(["twice", "hooks", "real/rc"].map(|name| tree.join(name))));
        // A circle has an end.
        std::os::unix::fs::symlink("circle", tree.join("circle")).unwrap();
        assert!(way(&tree.join("circle/x")).len() <= limits::LINKS_ON_THE_WAY + 1);
    }

    #[test]
    fn what_links_in_the_home_lead_to_is_found_where_it_stands_for_settings() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (tree, home) = (root.join("tree"), root.join("home"));
        for directory in [&tree.join("nvim"), &home.join(".config/tool"), &home.join("bin")] {
            fs::create_dir_all(directory).unwrap();
        }
        let links =
            [(".bashrc", "bashrc"), (".config/nvim", "nvim"), (".config/tool/conf", "conf"), ("bin/run", "run")];
        for (link, file) in links {
            if file != "nvim" {
                fs::write(tree.join(file), "").unwrap();
            }
            std::os::unix::fs::symlink(tree.join(file), home.join(link)).unwrap();
        }
        let settings = root.join("settings");
        fs::create_dir_all(settings.join("helix")).unwrap();
        fs::write(tree.join("languages.toml"), "").unwrap();
        std::os::unix::fs::symlink(tree.join("languages.toml"), settings.join("helix/languages.toml")).unwrap();
        let found: BTreeSet<PathBuf> = linked(Some(&home), &[settings]).into_iter().collect();
        assert_eq!(found, BTreeSet::from(["bashrc", "nvim", "conf", "languages.toml"].map(|name| tree.join(name))));
    }
}
