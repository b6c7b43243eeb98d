//! Which commands may run a program that their words do not plainly name: where a rule denies commands, or asks about
//! them, those are asked about, because nobody can tell whether the rule is about them.
//!
//! The list names what cannot, and in which form; every program, builtin and variable that is not known counts as one that
//! can. What the files of the project make a build tool run is beyond any list, and the manual says so.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::builtins;
use super::git;
use super::lexer::{Certainty, Command};
use super::runners::{self, Reach, has_long, has_short, is_harmless_sed, reach};
use crate::approval::pattern::lists;

/// Programs and builtins that run no other program, whatever their arguments; the words of compounds among them. Builtins
/// of which some uses do are in `builtins`.
static PLAIN: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "\
    : ]] } break cat cd chgrp chmod chown continue cp df dirs do done echo esac exit false fi in kill ln ls mkdir \
    mkfifo mktemp mv popd pushd pwd return rm rmdir seq shift shuf sleep sync tee then times touch true truncate \
    tsort type ulimit umask unlink yes"
        .split_ascii_whitespace()
        .collect()
});

/// Variables that make other programs run something.
const STEERING: &str = "\
    AR BASHOPTS BASH_ENV BROWSER CC CDPATH CXX EDITOR ENV FPATH GCONV_PATH GREP_OPTIONS HOME IFS LESS LESSCLOSE LESSOPEN \
    MANPAGER NODE_OPTIONS NODE_PATH PAGER PATH PROMPT_COMMAND PS4 RUSTFLAGS SHELL SHELLOPTS SUDO_ASKPASS SYSTEMD_PAGER \
    TAR_OPTIONS VISUAL XDG_CONFIG_HOME ZDOTDIR";

/// As [`STEERING`], how the names begin.
const STEERING_FAMILIES: [&str; 14] = [
    "BASH_", "CARGO_", "DYLD_", "GIT_", "JAVA_", "JDK_", "LD_", "MAKE", "PERL", "PYTHON", "RUBY", "RUSTC", "RUSTDOC",
    "SSH_",
];

/// Variables that say how something looks, not what runs.
const HARMLESS: &str = "\
    CI CLICOLOR COLUMNS DEBIAN_FRONTEND FORCE_COLOR LANG LANGUAGE LINES NODE_ENV NO_COLOR RUST_BACKTRACE RUST_LOG TERM TZ";

/// Values that name nothing that could run.
const HARMLESS_VALUES: &str = "always auto debug error false full info never no off on trace true warn yes";

/// Why a command that sets variables is asked about.
pub(super) const SETS_VARIABLE: &str = "it sets a variable that other programs obey";

/// Sub-commands of git that run no more than git and the hooks of the repository.
const GIT: &str = "\
    checkout cherry cherry-pick clean commit init merge mv push reset restore revert rm switch worktree branch tag \
    stash remote reflog fetch pull rebase describe";

/// Long options of those that run a program.
const GIT_LONG: &str = "exec upload-pack receive-pack config config-env template ext-diff textconv interactive strategy \
    open-files-in-pager output gpg-sign edit help";

/// Returns why a command may run a program that its words do not name.
pub(super) fn runs_others(command: &Command) -> Option<&'static str> {
    if command.variables.iter().any(|variable| steers(&variable.name)) {
        return Some(SETS_VARIABLE);
    }
    let (words, known) = (command.words.as_slice(), command.known.as_slice());
    if known.first()? != &Certainty::All {
        return Some("its program is known only when it runs");
    }
    // The time-out of a plain command is as plain.
    let (words, known) = match (words, known) {
        ([program, time, rest @ ..], [_, Certainty::All, known @ ..])
            if program == "timeout" && time.starts_with(|c: char| c.is_ascii_digit()) && !rest.is_empty() =>
        {
            (rest, known)
        }
        both => both,
    };
    let (program, rest) = words.split_first()?;
    // A program of the system is what its name says; one of the workspace may be anything.
    let system = ["/bin/", "/usr/bin/", "/usr/local/bin/"].iter().find_map(|place| program.strip_prefix(place));
    let name = system.unwrap_or(program);
    let arguments = known.split_first().map_or(known, |(_, arguments)| arguments);
    let is_plain = match builtins::is_plain(name, rest, arguments) {
        Some(is_plain) => is_plain && known.first() == Some(&Certainty::All),
        None if known.first() != Some(&Certainty::All) => false,
        None if PLAIN.contains(name) || runners::only_looks(name) => true,
        // Whose arguments matter, of that they must be known, and what it is told besides.
        None => {
            let named = [&[name.to_owned()], rest].concat();
            let all_known = arguments.iter().all(|known| *known == Certainty::All);
            let obeys = |value: Option<&str>, name: &str| !is_harmless(name, value);
            if command.variables.iter().any(|variable| obeys(variable.value.as_deref(), &variable.name)) {
                return Some(SETS_VARIABLE);
            }
            all_known && (matches!(reach(&named), Reach::Own(_)) || is_plain_use(name, rest))
        }
    };
    (!is_plain).then_some("it can run another program")
}

/// Tells whether a variable makes other programs run something.
pub fn steers(name: &str) -> bool {
    lists(STEERING, name) || STEERING_FAMILIES.iter().any(|family| name.starts_with(family))
}

/// Tells whether no program runs something for a variable that it gets with this value.
pub(super) fn is_harmless(name: &str, value: Option<&str>) -> bool {
    let is_plain = |value: &str| value.bytes().all(|b| b.is_ascii_digit()) || lists(HARMLESS_VALUES, value);
    !steers(name) && (lists(HARMLESS, name) || name.starts_with("LC_") || value.is_some_and(is_plain))
}

/// Tells whether a use of a program that can run others runs none.
fn is_plain_use(name: &str, words: &[String]) -> bool {
    match name {
        "git" => words.split_first().is_some_and(|(command, rest)| {
            let runs = has_long(rest, GIT_LONG)
                || has_short(rest, if command == "rebase" { "xisOS" } else { "OS" })
                || git::checks_signatures(rest)
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
