//! Which programs run other code, or write where they are told, by their arguments.
//!
//! A wildcard rule or a grant for a prefix never covers those: who allows `find *` does not mean `find -exec`. Of the
//! programs known here a prefix can be granted; one that is not known runs unasked by a rule of the user only.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::git;
use crate::approval::pattern::lists;

/// Programs whose very purpose is to run what they are given, or that can be made to in too many ways to tell.
static RUNNERS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    word_set(
        "\
    . 7z R Rscript alias apt apt-get ar ash at awk bash bat batch bind brew bsdtar builtin bun bundle busybox bwrap c++ cc \
    choom chroot chrt clang clang++ cmake cmd command compgen complete conda coproc cpio cpp crontab csh csplit ctest curl dash dbus-run-session \
    dd declare deno doas docker dotnet dpkg ed elixir elvish emacs enable entr env erl eval ex exec expect export \
    fakeroot ffmpeg firejail fish flock ftp fzf g++ gawk gcc gdb gem getopts ghc ghci gimp gmake gpg gradle groovy \
    gtar guile gvim hash hg hyperfine i386 iex info install ionice ip irb java jobs journalctl jshell julia just kotlin ksh \
    kubectl lazygit ld ldd less let lftp linux32 linux64 lldb ln local ltrace lua luajit make man mapfile mawk mc mix mksh more \
    mosh most mount mvn mysql nano nawk nc ncat neovim netcat nice ninja nmap node nodejs nodemon nohup npx \
    nsenter nu nvim octave open openssl osascript parallel perf perl pg php pico pip pipenv pipx pkexec pnpx podman \
    poetry powershell prlimit proot psql pwsh pypy python rake read readarray readonly rlwrap rsync ruby runcon runghc runuser \
    rustc rustup rvim sbcl scala scp screen script setarch setpriv setsid sftp sg sh socat source split sqlite ssh \
    ssh-keygen sshpass start-stop-daemon stdbuf strace su sudo svn swift systemd-run tar taskset tclsh tcsh tee telnet tig time \
    timeout tmux trap ts-node tsx typeset unset uname26 unshare unzip uv uvx valgrind vi view vim vimdiff wait watch \
    watchexec wget xargs x86_64 xdg-open xonsh xvfb-run zip zsh",
    )
});

/// Programs that only look at what they are given, whatever their arguments.
static LOOKERS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    word_set(
        "\
    b2sum basename cat cksum cmp column comm cut df dirname du echo egrep false fgrep fold grep head hexdump id \
    join jq ls md5sum nl nproc od paste pwd readlink realpath rev seq sha1sum sha256sum sleep stat strings tac \
    tail tr true uname wc whoami",
    )
});

/// A program of which some uses only look or test, and others run or write what they are told.
struct CheckedProgram {
    name: &'static str,
    /// The sub-commands that are harmless; none when the program has no sub-commands.
    subs: &'static str,
    /// Long options that are not harmless.
    long: &'static str,
    /// Letters of short options that are not.
    short: &'static str,
    /// Words with one dash that are not; also with `=…` and with two dashes.
    words: &'static str,
    /// Operands that it reads; one more would be written. `None` when it writes none.
    operands: Option<usize>,
}

const PLAIN: CheckedProgram = CheckedProgram { name: "", subs: "", long: "", short: "", words: "", operands: None };

const KNOWN: &[CheckedProgram] = &[
    CheckedProgram {
        name: "cargo",
        subs: "b bench build c check clippy doc fmt metadata t test tree",
        long: "config manifest-path target-dir artifact-dir out-dir lockfile-path open",
        short: "ZC",
        ..PLAIN
    },
    CheckedProgram { name: "date", long: "set", short: "s", ..PLAIN },
    CheckedProgram { name: "diff", long: "paginate", short: "l", ..PLAIN },
    CheckedProgram { name: "fd", long: "exec exec-batch list-details", short: "xXl", ..PLAIN },
    CheckedProgram { name: "file", long: "compile uncompress uncompress-noreport", short: "CzZm", ..PLAIN },
    CheckedProgram { name: "find", words: "exec execdir ok okdir delete fprint fprint0 fprintf fls", ..PLAIN },
    CheckedProgram {
        name: "go",
        subs: "build doc list test version vet",
        words: "\
            exec toolexec vettool overlay o C modfile ldflags gcflags asmflags gccgoflags compiler pkgdir \
            coverprofile cpuprofile memprofile blockprofile mutexprofile outputdir trace mod http",
        ..PLAIN
    },
    CheckedProgram {
        name: "jest",
        long: "\
            config env environment filter globals globalSetup globalTeardown moduleNameMapper outputFile preset \
            projects reporters resolver rootDir roots runner setupFiles testEnvironment testResultsProcessor \
            testRunner testSequencer transform watchPlugins",
        short: "c",
        ..PLAIN
    },
    CheckedProgram {
        name: "eslint",
        long: "config rulesdir plugin parser format resolve-plugins-relative-to output-file",
        short: "cfo",
        ..PLAIN
    },
    CheckedProgram { name: "mypy", long: "config-file python-executable install-types", short: "c", ..PLAIN },
    CheckedProgram {
        name: "npm",
        subs: "ls list outdated run run-script t test",
        long: NODE_OPTIONS,
        short: "C",
        ..PLAIN
    },
    CheckedProgram { name: "pnpm", subs: "ls list outdated run t test", long: NODE_OPTIONS, short: "C", ..PLAIN },
    CheckedProgram { name: "printf", short: "v", ..PLAIN },
    CheckedProgram { name: "ps", ..PLAIN },
    CheckedProgram {
        name: "pytest",
        long: "override-ini rootdir confcutdir pdbcls pdb trace basetemp config-file",
        short: "pco",
        ..PLAIN
    },
    CheckedProgram { name: "rg", long: "pre hostname-bin search-zip", short: "z", ..PLAIN },
    CheckedProgram { name: "sort", long: "output compress-program temporary-directory", short: "oT", ..PLAIN },
    CheckedProgram { name: "test", short: "vR", ..PLAIN },
    CheckedProgram { name: "tree", long: "output", short: "oR", ..PLAIN },
    CheckedProgram { name: "uniq", operands: Some(1), ..PLAIN },
    CheckedProgram { name: "unittest", ..PLAIN },
    CheckedProgram { name: "which", ..PLAIN },
    CheckedProgram { name: "xxd", short: "r", operands: Some(1), ..PLAIN },
    CheckedProgram { name: "yarn", subs: "list outdated run test", long: NODE_OPTIONS, short: "C", ..PLAIN },
];

const NODE_OPTIONS: &str = "\
    cwd dir editor git globalconfig init-module node-options prefix script-shell shell userconfig use-node-version \
    viewer";

fn word_set(list: &'static str) -> HashSet<&'static str> {
    list.split_ascii_whitespace().collect()
}

/// What the arguments of a command can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::approval) enum Reach {
    /// Nothing beyond the program's own purpose; a prefix of this many words may be granted.
    Own(usize),
    Unknown,
    /// They can run other code, or write where they say.
    Code,
}

/// Returns what the arguments of a simple command can do.
pub(in crate::approval) fn reach(words: &[String]) -> Reach {
    let Some((program, rest)) = words.split_first() else { return Reach::Unknown };
    let name = name_of(program);
    if let Some((module, arguments)) = python_module(words) {
        let is_plain = name == program && !module.runs_code(arguments);
        return if is_plain { Reach::Own(2 + module.prefix(arguments)) } else { Reach::Code };
    }
    if is_runner(name) {
        return Reach::Code;
    }
    // A program of another place only shares the name.
    let own = |length| if name == program { Reach::Own(length) } else { Reach::Unknown };
    if LOOKERS.contains(name) {
        return own(1);
    }
    let runs = |is_so: bool, length| if is_so { Reach::Code } else { own(length) };
    match name {
        "git" if rest.is_empty() => Reach::Unknown,
        "git" => runs(git::runs_code(rest), if rest.first().is_some_and(|word| word.starts_with('-')) { 3 } else { 2 }),
        "sed" => runs(!is_harmless_sed(rest), 1),
        _ => match KNOWN.iter().find(|known| known.name == name) {
            Some(known) => runs(known.runs_code(rest), known.prefix(rest)),
            None => Reach::Unknown,
        },
    }
}

/// Returns the program that `python -m` runs as it runs by its own name, with its arguments; `None` for any other use.
fn python_module(words: &[String]) -> Option<(&'static CheckedProgram, &[String])> {
    let [python, option, module, arguments @ ..] = words else { return None };
    let version = name_of(python).strip_prefix("python")?;
    let is_python = version.chars().all(|c| c.is_ascii_digit() || c == '.') && option == "-m";
    let known = || KNOWN.iter().find(|known| known.name == module && lists(MODULES, module));
    Some((is_python.then(known).flatten()?, arguments))
}

impl CheckedProgram {
    fn runs_code(&self, words: &[String]) -> bool {
        let has_sub = match words.first() {
            _ if self.subs.is_empty() => true,
            Some(sub) => lists(self.subs, sub),
            None => true,
        };
        let operands = words.iter().filter(|word| !word.starts_with('-') || word.as_str() == "-").count();
        !has_sub
            || has_long(words, self.long)
            || has_short(words, self.short)
            || words.iter().any(|word| self.has_word(word))
            || self.operands.is_some_and(|most| operands > most)
    }

    fn has_word(&self, word: &str) -> bool {
        let Some(name) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else { return false };
        let name = name.split_once('=').map_or(name, |(name, _)| name);
        // The testing options of go have a prefix besides.
        lists(self.words, name) || name.strip_prefix("test.").is_some_and(|name| lists(self.words, name))
    }

    /// How many words say what is done.
    fn prefix(&self, words: &[String]) -> usize {
        let sub = words.first().map(String::as_str);
        match sub {
            _ if self.subs.is_empty() => 1,
            Some("run" | "run-script") => 3,
            _ => 2,
        }
    }
}

/// Tells whether a word names one of these long options, also cut short and with a value.
pub(super) fn has_long(words: &[String], dangerous: &str) -> bool {
    words.iter().filter_map(|word| word.strip_prefix("--")).any(|word| {
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        !name.is_empty() && dangerous.split_ascii_whitespace().any(|option| option.starts_with(name))
    })
}

/// Tells whether a word has one of these letters among its short options.
pub(super) fn has_short(words: &[String], dangerous: &str) -> bool {
    words
        .iter()
        .filter(|word| !word.starts_with("--"))
        .filter_map(|word| word.strip_prefix('-'))
        .any(|letters| letters.chars().any(|letter| dangerous.contains(letter)))
}

/// Tells whether a program only looks, whatever its arguments.
pub(in crate::approval) fn only_looks(name: &str) -> bool {
    LOOKERS.contains(name)
}

/// Tells whether a simple command leaves every file as it is, or changes no more than what belongs to its tool.
pub(in crate::approval) fn keeps_files(words: &[String]) -> bool {
    let Some((program, rest)) = words.split_first() else { return true };
    match name_of(program) {
        "git" => git::keeps_files(rest),
        "cd" => false,
        _ => matches!(reach(words), Reach::Own(_)),
    }
}

/// Programs that run what the files of a project say.
const OF_THE_PROJECT: &str = "cargo eslint go jest mypy npm pnpm pytest unittest yarn";
/// Those of them that are modules of Python.
const MODULES: &str = "mypy pytest unittest";

/// Tells whether a simple command writes nothing at all, whatever the files of the project say.
pub(in crate::approval) fn only_reads_files(words: &[String]) -> bool {
    let stages = matches!(words, [git, command, ..] if git == "git" && lists("add stage", command));
    let is_project = words.first().is_some_and(|program| lists(OF_THE_PROJECT, name_of(program)));
    let is_project = is_project || python_module(words).is_some();
    words.is_empty() || (matches!(reach(words), Reach::Own(_)) && !stages && !is_project)
}

fn is_runner(name: &str) -> bool {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    let is_listed = |name: &str| RUNNERS.contains(name);
    let is_loader = ["git-", "ld-linux", "ld-musl", "ld.so", "ld64."].iter().any(|family| name.starts_with(family));
    is_listed(name) || (!bare.is_empty() && is_listed(bare)) || is_loader
}

/// Returns the name of a program without the directory that it is in.
pub(in crate::approval) fn name_of(program: &str) -> &str {
    match program.rsplit_once('/') {
        Some((_, name)) if !name.is_empty() => name,
        _ => program,
    }
}

/// Tells whether sed only prints lines, deletes them from its output, or replaces in it.
pub(super) fn is_harmless_sed(words: &[String]) -> bool {
    let mut scripts: Vec<&str> = Vec::new();
    let mut has_expression = false;
    let mut rest = words.iter().map(String::as_str);
    while let Some(word) = rest.next() {
        match word {
            "-n" | "-E" | "-r" | "-s" | "-u" | "-nE" | "-nr" | "-En" | "-rn" => {}
            "-e" => {
                has_expression = true;
                match rest.next() {
                    Some(script) => scripts.push(script),
                    None => return false,
                }
            }
            word if word.starts_with('-') => return false,
            script if !has_expression && scripts.is_empty() => scripts.push(script),
            _ => {}
        }
    }
    !scripts.is_empty() && scripts.iter().all(|script| is_harmless_script(script))
}

fn is_harmless_script(script: &str) -> bool {
    let command = script.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | '+' | '~'));
    if matches!(command, "p" | "d" | "q" | "=") {
        return true;
    }
    let Some(rest) = command.strip_prefix('s') else { return false };
    let mut chars = rest.chars();
    let Some(delimiter) = chars.next().filter(|c| matches!(c, '/' | '|' | '#' | ',' | ':' | '@')) else { return false };
    if rest.contains('\\') || rest.contains('[') {
        // What is escaped may hide where the parts end.
        return false;
    }
    let parts: Vec<&str> = chars.as_str().split(delimiter).collect();
    match parts.as_slice() {
        [_, _, flags] => flags.chars().all(|c| matches!(c, 'g' | 'p' | 'i' | 'I' | '0'..='9')),
        _ => false,
    }
}
