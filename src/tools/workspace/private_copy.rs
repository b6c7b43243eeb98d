//! A private copy of scripts that lie where agents can write: what was compared with what the user trusts is what runs,
//! whatever becomes of the files meanwhile.
//!
//! What lies beside a script, and beside each directory above it within the project, can be there as a link, so that it finds
//! what it loads; only what was compared is a copy.

use std::collections::HashSet;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::workspace::Script;
use steersman_base::limits;
use steersman_base::paths::without_dots;
use steersman_core::temporary::TemporaryDirectory;

/// What a copied script finds of what lies beside it and was not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiblingFiles {
    /// All of it, as it is when it is loaded.
    Linked,
    /// Nothing: what runs may do what agents may not.
    Missing,
}

/// The private copy of some scripts; gone with it.
#[derive(Debug)]
pub struct PrivateCopy {
    directory: TemporaryDirectory,
    /// Each file, or directory that holds one, with its copy.
    copies: Vec<(PathBuf, PathBuf)>,
}

impl PrivateCopy {
    /// Copies the scripts that lie below one of these directories; `None` without any.
    ///
    /// # Errors
    /// That of the file system.
    pub fn new(scripts: &[Script], roots: &[&Path], beside: SiblingFiles) -> io::Result<Option<Self>> {
        // By the place without `..`: a name that leads out of the project has no copy, and none is made outside of this one.
        let base = |place: &Path| {
            let roots = roots.iter().filter(|root| !root.as_os_str().is_empty() && place.starts_with(root));
            roots.min_by_key(|root| root.as_os_str().len()).copied()
        };
        let with_place = scripts.iter().map(|script| (script, without_dots(&script.path)));
        let copied: Vec<(&Script, PathBuf, &Path)> =
            with_place.filter_map(|(script, place)| base(&place).map(|root| (script, place, root))).collect();
        if copied.is_empty() {
            return Ok(None);
        }
        let directory = TemporaryDirectory::new_in(&std::env::temp_dir(), "script")?;
        let top = directory.path().join("project");
        let mut copies: Vec<(PathBuf, PathBuf)> = Vec::new();
        for (script, place, root) in &copied {
            let Ok(below) = place.strip_prefix(root) else { continue };
            if copies.iter().any(|(known, _)| *known == script.path) {
                continue;
            }
            let copy = top.join(below);
            if let Some(parent) = copy.parent() {
                DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
            }
            write(&copy, script)?;
            let above = below.ancestors().skip(1).filter(|below| !below.as_os_str().is_empty());
            for (from, to) in
                above.map(|below| (root.join(below), top.join(below))).chain([(script.path.clone(), copy)])
            {
                if !copies.iter().any(|(known, _)| *known == from) {
                    copies.push((from, to));
                }
            }
        }
        if beside == SiblingFiles::Linked {
            let roots: HashSet<&Path> = copied.iter().map(|(_, _, root)| *root).collect();
            let directories =
                copies.iter().filter(|(_, copy)| copy.is_dir()).map(|(from, to)| (from.as_path(), to.as_path()));
            for (from, to) in directories.chain(roots.into_iter().map(|root| (root, top.as_path()))) {
                link_sibling(from, to);
            }
        }
        Ok(Some(Self { directory, copies }))
    }

    /// Returns the directory that holds it.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the copy of a script, or of a directory that holds one.
    pub fn copy_of(&self, path: &Path) -> Option<&Path> {
        self.copies.iter().find(|(from, _)| from == path).map(|(_, copy)| copy.as_path())
    }
}

/// Makes links to what lies in a directory and has no copy, as far as it is little. What cannot be linked is missed by the
/// script alone.
fn link_sibling(from: &Path, to: &Path) {
    let Ok(entries) = from.read_dir() else { return };
    for entry in entries.flatten().take(limits::BESIDE_SCRIPTS) {
        // What is there already is a copy.
        let _ = symlink(entry.path(), to.join(entry.file_name()));
    }
}

fn write(path: &Path, script: &Script) -> io::Result<()> {
    if script.is_link() {
        // Whatever it leads to was not compared; relative, it leads to the copy of what was.
        return match std::str::from_utf8(&script.content) {
            Ok(target) => symlink(target, path),
            Err(error) => Err(io::Error::other(error)),
        };
    }
    fs::write(path, &script.content)?;
    fs::set_permissions(path, fs::Permissions::from_mode(script.mode & 0o700 | 0o400))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(path: PathBuf, content: &str) -> Script {
        Script { path, content: content.into(), mode: 0o100_755 }
    }

    #[test]
    fn a_name_that_leads_out_of_the_project_is_copied_nowhere() {
        let home = tempfile::TempDir::new().unwrap();
        let root = home.path().join("a/b/project");
        fs::create_dir_all(root.join("sub")).unwrap();
        for name in
            ["../run.sh", "sub/../../run.sh", "../../../../../../../../../../run.sh", "sub/../../project2/run.sh"]
        {
            let scripts = [script(root.join(name), "echo")];
            assert!(PrivateCopy::new(&scripts, &[&root], SiblingFiles::Missing).unwrap().is_none(), "{name}");
        }
    }

    #[test]
    fn a_name_with_dots_within_the_project_is_copied_to_its_place() {
        let home = tempfile::TempDir::new().unwrap();
        let root = home.path().join("project");
        let path = root.join("sub/.././bin/../run.sh");
        let copy = PrivateCopy::new(&[script(path.clone(), "echo")], &[&root], SiblingFiles::Missing).unwrap().unwrap();
        let place = copy.copy_of(&path).unwrap();
        assert_eq!(place, copy.directory().join("project/run.sh"));
        assert_eq!(fs::read_to_string(place).unwrap(), "echo");
    }
}
