//! The branch of the repository that is worked in, for the status line. Read anew after each turn, which may have changed it.

use std::path::Path;

use steersman_base::regular_file::read_head;

/// Most bytes of a branch's name that are read.
const HEAD: u64 = 1_024;
/// Digits of a commit that stand for it where there is no branch.
const DIGITS: usize = 7;

/// Returns the branch, or the beginning of the commit that is checked out; `None` outside of a repository. A `.git` that is
/// a file is not followed.
pub fn branch(directory: &Path) -> Option<String> {
    let root = directory.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())?;
    let head = read_head(&root.join(".git/HEAD"), HEAD).ok().filter(|head| !head.is_truncated())?;
    let text = String::from_utf8(head.bytes).ok()?;
    let line = text.trim_end();
    match line.strip_prefix("ref: refs/heads/") {
        Some(name) => Some(name.to_owned()),
        None if line.len() >= 40 && line.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            line.get(..DIGITS).map(str::to_owned)
        }
        None => None,
    }
}
