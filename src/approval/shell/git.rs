//! Which uses of git only look: no hook, no pager, no editor, no program of its configuration or of its arguments runs.

use crate::approval::pattern::lists;

use super::runners::{has_long, has_short};

/// Sub-commands that look, or stage; each may have any further words, but for the options below.
const LOOKING: &str = "\
    add annotate blame cat-file check-attr check-ignore count-objects describe diff diff-files diff-index \
    diff-tree for-each-ref grep log ls-files ls-tree merge-base name-rev range-diff rev-list rev-parse shortlog \
    show show-branch show-ref stage status var version whatchanged";

/// Long options that run a program, write a file or open an editor; also in their shortened spellings.
const LONG: &str =
    "ext-diff textconv output output-directory open-files-in-pager upload-pack exec show-signature filters paginate";

/// As [`LONG`], of `git add`.
const LONG_OF_ADD: &str = "interactive patch edit chmod";

/// Sub-commands that look with these words only; any other word, such as a name, is a change.
const LISTING: [(&str, &str); 5] = [
    ("branch", "-a -r -v -vv -l --all --list --verbose --remotes --show-current --no-color"),
    ("reflog", "show -n --all --no-color"),
    ("remote", "-v --verbose show"),
    ("stash", "list show -v -n --no-color"),
    ("tag", "-l -n --list --no-color"),
];

/// Tells whether a git command may run other code, or do more than look; the words are those behind `git`.
pub(super) fn runs_code(words: &[String]) -> bool {
    // Whatever stands before the sub-command changes configuration, place or pager.
    let rest = match words.split_first() {
        Some((first, rest)) if first == "--no-pager" || first == "--no-optional-locks" => rest,
        _ => words,
    };
    let Some((command, rest)) = rest.split_first() else { return false };
    if let Some((_, listing)) = LISTING.iter().find(|(listed, _)| listed == command) {
        // Without a word a stash is made.
        return (command == "stash" && rest.is_empty()) || !rest.iter().all(|word| lists(listing, word));
    }
    match command.as_str() {
        "add" | "stage" => has_long(rest, LONG_OF_ADD) || has_short(rest, "pie"),
        command if lists(LOOKING, command) => has_long(rest, LONG) || has_short(rest, "O"),
        _ => true,
    }
}

/// Tells whether a sub-command looks, or stages.
pub(super) fn looks(command: &str) -> bool {
    lists(LOOKING, command)
}

/// Tells whether a sub-command leaves the files of the workspace as they are, whatever words it has.
pub(super) fn keeps_files(words: &[String]) -> bool {
    let Some(command) = words.first().map(String::as_str) else { return true };
    let keeps = "branch commit fetch push reflog remote tag";
    (lists(LOOKING, command) || lists(keeps, command)) && !has_long(words, "output output-directory")
}
