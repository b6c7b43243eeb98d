//! What the user does beside the commands, and what is there then.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Runs a script as the user does, outside of every sandbox; returns what it printed.
pub fn user(directory: &Path, home: &Path, script: &str) -> String {
    let mut command = std::process::Command::new("bash");
    command.args(["-ec", script]).current_dir(directory).env("HOME", home).env("GIT_CONFIG_NOSYSTEM", "1");
    for (name, value) in [("NAME", "A"), ("EMAIL", "a@example.com")] {
        command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{}{said}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns every file below a directory with its content and mode.
pub fn tree(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            if metadata.is_dir() {
                open.push(path);
            } else {
                let content = fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                found.push((name, format!("{:o} {}", metadata.permissions().mode(), content.unwrap_or_default())));
            }
        }
    }
    found.sort();
    found
}
