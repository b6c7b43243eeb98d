//! Questions and notes about changed protected files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use futures_util::future::BoxFuture;

use crate::limits;
use crate::text::visible_line;
use crate::workspace::diff::{diff, file_diff};
use crate::workspace::snapshot::Difference;
use crate::workspace::snapshot::content::PathContent;

/// Who changes files while a command runs: nothing tells them apart.
pub(super) const WHO: &str = "a command or another program";

/// What is said when the snapshot cannot be written.
pub(super) const NO_RECORD: &str = "the record of protected files cannot be kept on disk";

/// The way in which protected files are kept from a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Cover {
    /// Existing ones are read-only for it, so another program made a change.
    ReadOnly,
    /// Nothing.
    Nothing,
}

/// A question about protected files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// One line.
    pub title: String,
    /// Each file with both versions, or what an answer means.
    pub detail: String,
}

/// The decision about changed protected files, or about a command whose protected files are not on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Yes: they stay as they are; the command runs.
    Keep,
    /// No: they become what they were; the command does not run.
    Restore,
    /// Nobody can be asked: they become what they were; the command runs, and its result says how.
    Nobody,
    /// The question went away; it is asked again before anything runs.
    Postpone,
}

/// The function that asks the user.
pub type Ask<'a> = dyn Fn(Question) -> BoxFuture<'a, Decision> + Send + Sync + 'a;

/// Makes the question whether commands run although the snapshot is not on disk.
pub(super) fn without_record(error: &str) -> Question {
    Question {
        title: format!("{NO_RECORD} ({error}): run commands without it?"),
        detail:
            "While commands run, the files that git or another tool runs or reads as settings are kept on disk as they \
                 were. Without that, what a command changes in them stays when this program is killed meanwhile.\n\
                 Yes runs commands without it, until it can be kept again. No runs none until then.\n"
                .to_owned(),
    }
}

/// Makes the question about some changes.
pub(super) fn question(differences: &[Difference], repositories: &BTreeMap<PathBuf, u64>) -> Question {
    let files = match differences {
        [one] => shown(&one.path),
        more => format!("{} files", more.len()),
    };
    let title = format!("keep the change of {files}?");
    let mut detail = String::from(
        "A command or another program changed what git or another tool runs or reads as settings.\nYes keeps what is \
         there now. No puts back what was there before; the changed version is kept outside the workspace and named.\n",
    );
    for (number, difference) in differences.iter().enumerate() {
        if detail.len() > limits::SNAPSHOT_QUESTION_BYTES {
            // Writing to a string cannot fail.
            let _ = writeln!(detail, "\n… and {} more files", differences.len() - number);
            break;
        }
        let _ = writeln!(detail, "\n{}", describe(difference).trim_end());
        if difference.is_lost_repository(repositories) {
            let _ = writeln!(detail, "The repository that was there is gone: No only takes away what is there now.");
        }
    }
    Question { title, detail }
}

fn describe(difference: &Difference) -> String {
    let Difference { path, before, after, .. } = difference;
    let place = shown(path);
    let mut text = format!("{place}: it was {}, it is {}\n", before.words(), after.words());
    let is_file = |content: &PathContent| matches!(content, PathContent::File { .. } | PathContent::Missing);
    if is_file(before) && is_file(after) {
        let (old, new) = (before.bytes().unwrap_or_default(), after.bytes().unwrap_or_default());
        if std::str::from_utf8(old).is_ok() && std::str::from_utf8(new).is_ok() {
            text.push_str(&file_diff(place, before.bytes(), &diff(old, new)).hunks);
        } else {
            text.push_str("(it is not text)\n");
        }
    }
    text
}

/// Returns a path on one line, with nothing hidden.
pub(super) fn shown(path: &Path) -> String {
    visible_line(&path.to_string_lossy()).into_owned()
}
