//! A line that the user adds to the instructions of a project.

use std::path::Path;

use steersman_base::text::is_blank;
use steersman_tools::workspace::{FileSnapshot, Names, RepositoryPart, Workspace};

/// The file that agents of many programs read.
const FILE: &str = "AGENTS.md";

/// Adds a line to the end of the file in a directory; a missing file is made. A link is not followed, so that no project
/// leads the user's words elsewhere.
///
/// # Errors
/// One sentence; the file is as it was.
pub(super) fn add_line(directory: &Path, line: &str) -> Result<(), String> {
    if is_blank(line) || line.chars().any(char::is_control) {
        return Err("it must be one line of text".to_owned());
    }
    let workspace = Workspace::new(directory).map_err(|error| format!("cannot open the directory: {error}"))?;
    if workspace.is_through_link(FILE) {
        return Err(format!("{FILE} is a link, which is not followed"));
    }
    let path = workspace.resolve_write(FILE)?;
    let held = workspace.look(&path)?;
    let before = held.as_ref().map(|held| &*held.bytes);
    let mut after = before.unwrap_or_default().to_vec();
    if after.last().is_some_and(|last| *last != b'\n') {
        after.push(b'\n');
    }
    after.extend_from_slice(line.as_bytes());
    after.push(b'\n');
    let linked = held.as_ref().filter(|held| workspace.other_names(&path, held).is_some());
    let names = linked.map_or(Names::Parted, FileSnapshot::names);
    workspace.write_names(&path, before, &after, names, RepositoryPart::Approved).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_line_goes_to_the_end_and_a_missing_file_is_made() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(FILE);
        add_line(directory.path(), "- use tabs").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "- use tabs\n");
        fs::write(&file, "# Rules\n\nno end").unwrap();
        add_line(directory.path(), "- use tabs").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "# Rules\n\nno end\n- use tabs\n");
    }

    #[test]
    fn a_link_or_more_than_one_line_adds_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let elsewhere = directory.path().join("profile");
        fs::write(&elsewhere, "kept\n").unwrap();
        std::os::unix::fs::symlink(&elsewhere, directory.path().join(FILE)).unwrap();
        for line in ["- use tabs", "one\ntwo", "\u{1b}[2J", " "] {
            assert!(add_line(directory.path(), line).is_err(), "{line:?}");
        }
        assert_eq!(fs::read_to_string(elsewhere).unwrap(), "kept\n");
    }
}
