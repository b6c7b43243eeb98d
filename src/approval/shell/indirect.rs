//! Which commands may run a program that their words do not plainly name: where a rule denies commands, or asks about
//! them, those are asked about, because nobody can tell whether the rule is about them.
//!
//! The list names what cannot; every program that is not known counts as one that can. What the files of the project
//! make a build tool run is beyond any list, and the manual says so.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::git;
use super::lexer::Command;
use super::runners::{self, Reach, has_long, has_short, is_harmless_sed, reach};
use crate::approval::pattern::lists;

/// Programs and builtins that run no other program, whatever their arguments; the words of compounds among them.
static PLAIN: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "\
    : [ [[ ]] } break cat cd chgrp chmod chown continue cp df dirs do done echo esac exit false fi for in kill ln \
    local ls mkdir mkfifo mktemp mv popd pushd pwd return rm rmdir seq set shift shuf sleep sync tee then \
    times touch true truncate tsort type ulimit umask unlink wait yes"
        .split_ascii_whitespace()
        .collect()
});

/// Builtins that set variables.
const SETTERS: &str = "declare export getopts local mapfile read readarray readonly typeset unset";

/// Builtins that evaluate their words once more, so that a substitution in a string runs.
const EVALUATORS: &str = "[ [[ declare export let local read readonly test typeset unset";

/// Variables that make other programs run something.
const STEERING: &str = "\
    AR BASHOPTS BASH_ENV BROWSER CC CDPATH CXX EDITOR ENV FPATH GCONV_PATH GREP_OPTIONS HOME IFS LESS LESSCLOSE LESSOPEN \
    MANPAGER NODE_OPTIONS NODE_PATH PAGER PATH PROMPT_COMMAND PS4 RUSTFLAGS SHELL SHELLOPTS SUDO_ASKPASS SYSTEMD_PAGER \
    TAR_OPTIONS VISUAL XDG_CONFIG_HOME ZDOTDIR";

/// As [`STEERING`], how the names begin.
const STEERING_FAMILIES: [&str; 14] = [
    "BASH_FUNC_",
    "CARGO_",
    "DYLD_",
    "GIT_",
    "JAVA_",
    "JDK_",
    "LD_",
    "MAKE",
    "PERL",
    "PYTHON",
    "RUBY",
    "RUSTC",
    "RUSTDOC",
    "SSH_",
];

/// Sub-commands of git that run no more than git and the hooks of the repository.
const GIT: &str = "\
    checkout cherry cherry-pick clean commit init merge mv push reset restore revert rm switch worktree branch tag \
    stash remote reflog fetch pull rebase describe";

/// Long options of those that run a program.
const GIT_LONG: &str = "exec upload-pack receive-pack config config-env template ext-diff textconv interactive strategy \
    open-files-in-pager output gpg-sign edit";

/// Returns why a command may run a program that its words do not name.
pub(super) fn runs_others(command: &Command) -> Option<&'static str> {
    let (words, known) = (command.words.as_slice(), command.known.as_slice());
    let (Some(program), Some(is_known)) = (words.first(), known.first()) else { return None };
    if !is_known {
        return Some("its program is known only when it runs");
    }
    // The time-out of a plain command is as plain.
    if program == "timeout"
        && let [_, time, rest @ ..] = words
        && let [true, true, known @ ..] = known
        && time.starts_with(|c: char| c.is_ascii_digit())
        && !rest.is_empty()
    {
        return runs_others(&Command { words: rest.to_vec(), known: known.to_vec() });
    }
    (!is_plain(words, known.iter().all(|known| *known))).then_some("it can run another program")
}

/// Tells whether a variable makes other programs run something.
pub(super) fn steers(name: &str) -> bool {
    lists(STEERING, name) || STEERING_FAMILIES.iter().any(|family| name.starts_with(family))
}

fn is_plain(words: &[String], all_known: bool) -> bool {
    let Some((program, rest)) = words.split_first() else { return true };
    // A program of the system is what its name says; one of the workspace may be anything.
    let system = ["/bin/", "/usr/bin/", "/usr/local/bin/"].iter().find_map(|place| program.strip_prefix(place));
    let name = system.unwrap_or(program);
    let runs_words = lists(EVALUATORS, name) && rest.iter().any(|word| word.contains("$(") || word.contains('`'));
    let sets = |word: &String| steers(word.split(['=', '+', '[']).next().unwrap_or_default());
    if runs_words || lists(SETTERS, name) && (!all_known || rest.iter().any(sets)) {
        return false;
    }
    if PLAIN.contains(name) || lists(SETTERS, name) || runners::only_looks(name) {
        return true;
    }
    // Whose arguments matter, of that they must be known.
    let named = [&[name.to_owned()], rest].concat();
    all_known && (matches!(reach(&named), Reach::Own(_)) || is_plain_use(name, rest))
}

/// Tells whether a use of a program that can run others runs none.
fn is_plain_use(name: &str, words: &[String]) -> bool {
    match name {
        "git" => words.split_first().is_some_and(|(command, rest)| {
            let runs = has_long(rest, GIT_LONG)
                || has_short(rest, if command == "rebase" { "xisOS" } else { "OS" })
                || rest.iter().any(|word| word.contains("::"));
            (lists(GIT, command) || git::looks(command)) && !runs
        }),
        // What the project's files make of a target is the project's.
        "make" => words.iter().all(|word| {
            let is_number = |word: &str| word.bytes().all(|b| b.is_ascii_digit());
            let is_option =
                matches!(word.as_str(), "-k" | "-s" | "-B" | "-n") || word.strip_prefix("-j").is_some_and(is_number);
            is_option
                || word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-/".contains(&b)) && !word.starts_with('-')
        }),
        "sed" => {
            let script: Vec<String> = words.iter().filter(|word| *word != "-i" && *word != "-i.bak").cloned().collect();
            is_harmless_sed(&script)
        }
        _ => false,
    }
}
