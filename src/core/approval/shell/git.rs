//! Which uses of git only look: no hook, no pager, no editor, no program of its configuration or of its arguments runs.

use crate::approval::pattern::lists;

use super::Shape;
use super::runners::{has_long, has_short};

/// Sub-commands that look, or stage; each may have any further words, but for the options below.
const LOOKING: &str = "\
    add annotate blame cat-file check-attr check-ignore count-objects describe diff diff-files diff-index \
    diff-tree for-each-ref grep log ls-files ls-tree merge-base name-rev range-diff rev-list rev-parse shortlog \
    show show-branch show-ref stage status var version whatchanged";

/// Long options that run a program, write a file or open an editor; also in their shortened spellings.
const LONG: &str = "ext-diff textconv output output-directory open-files-in-pager upload-pack exec show-signature filters paginate help";

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

/// Sub-commands that may be asked for outside of the sandbox. Git's own: no alias takes their names.
const OUTSIDE: &str = "\
    add am apply branch checkout cherry-pick clean clone commit config fetch gc init maintenance merge mv notes pull push \
    rebase remote reset restore revert rm sparse-checkout stash submodule switch tag update-index update-ref worktree";

/// Returns the arguments of a git command that may be asked for outside of the sandbox.
///
/// # Errors
/// What such a command is, for the model.
pub fn outside_arguments(command: &str) -> Result<Vec<String>, &'static str> {
    match Shape::parse(command) {
        Shape::Simple(words) if words.first().is_some_and(|program| program == "git") => {
            let arguments = words.get(1..).unwrap_or_default();
            match arguments.first() {
                Some(name) if lists(OUTSIDE, name) => Ok(arguments.to_vec()),
                Some(_) | None => {
                    Err("outside of the sandbox git runs with a command of its own as its first word, such as \
                                       init, clone or config; no option stands before it")
                }
            }
        }
        Shape::Simple(_) | Shape::Complex { .. } => Err(
            "outside of the sandbox runs one plain git command: no other program, no shell, no chain; call again for each",
        ),
    }
}

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
        command if lists(LOOKING, command) => has_long(rest, LONG) || has_short(rest, "O") || checks_signatures(rest),
        _ => true,
    }
}

/// Tells whether a format shows who signed, which the program for signatures is run to find out.
pub(super) fn checks_signatures(words: &[String]) -> bool {
    words.iter().any(|word| word.contains("%G") || word.contains("(signature"))
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
