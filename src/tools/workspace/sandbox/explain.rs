//! The note on a command that the sandbox refused something: errors of the system do not mention the sandbox.

use std::path::Path;

use crate::workspace::{Confinement, Network};
use steersman_base::text::visible_line;

/// The messages of programs when access is refused, in lower case.
const CLOSED: [&str; 10] = [
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "must be superuser",
    "device or resource busy",
    "permissionerror",
    "eacces",
    "eperm",
    "erofs",
    // Git does not say why.
    "could not create directory",
];

/// The messages of programs without a network, in lower case.
const NO_NETWORK: [&str; 10] = [
    "network is unreachable",
    "could not resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "connection refused",
    "failed to lookup address",
    "dial tcp",
    "eai_again",
    "enotfound",
    "econnrefused",
];

/// The directories whose files a confined command does not find.
const ELSEWHERE: [&str; 6] = ["/run/", "/var/", "/home/", "/root/", "/mnt/", "/sys/"];

/// What git says of a file that is hidden from it, before its path and behind it.
const GIT_SAYS: [(&str, &str); 4] = [
    ("error: ", ": can only add regular files, symbolic links or git-directories"),
    ("modified:", ""),
    (" M ", ""),
    ("M ", ""),
];

/// Names a file that git takes for another one because a rule hides it from commands; `None` where there is none.
pub(super) fn explain_hidden(confinement: &Confinement, cwd: &Path, output: &str) -> Option<String> {
    if confinement.denied.is_empty() && confinement.hidden.is_empty() {
        return None;
    }
    let cwd = cwd.canonicalize().ok()?;
    let path_in = |line: &str| {
        let path = GIT_SAYS.iter().find_map(|(before, behind)| {
            let line = if *before == "modified:" { line.trim_start() } else { line };
            line.strip_prefix(before)?.strip_suffix(behind)
        })?;
        let path = cwd.join(path.trim_start());
        (confinement.denied.contains(&path) || confinement.hidden.hides(&path)).then_some(path)
    };
    let path = output.lines().find_map(path_in)?;
    let path = path.strip_prefix(&cwd).unwrap_or(&path);
    Some(format!(
        "[a rule hides {0} from commands, so git finds something else there: nothing has changed the file, and it cannot be \
         added; leave it out, as in git add -A -- . ':!{0}']",
        visible_line(&path.to_string_lossy()),
    ))
}

/// Explains an output, in one line; `None` when nothing in it points at the sandbox.
pub(super) fn explain(name: &str, confinement: &Confinement, home: Option<&Path>, output: &str) -> Option<String> {
    let lower = output.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let is_network = confinement.network == Network::Off && says(&NO_NETWORK);
    let is_elsewhere = output.lines().filter(|line| line.contains("No such file or directory")).any(|line| {
        let is_home = home.is_some_and(|home| line.contains(&*home.to_string_lossy()));
        is_home || ELSEWHERE.iter().any(|place| line.contains(place))
    });
    if !is_network && !is_elsewhere && !says(&CLOSED) {
        return None;
    }
    let writable: Vec<_> = confinement.writable.iter().map(|path| path.to_string_lossy()).collect();
    let network = match confinement.network {
        Network::Off => "there is no network",
        Network::On => "there is a network",
    };
    Some(format!(
        "[the command ran in a sandbox ({name}): it can write in {} and in $TMPDIR, but make or change nothing there that \
         git or other programs run or obey later, such as .git/config, .git/hooks, a new .git, .github/workflows, .vscode, AGENTS.md or \
         .steersman: for those use write, or for git init, clone, config, submodule add and worktree add outside = true, \
         which the user is asked about; of the home directory it sees only toolchains; {network}; it cannot trace or signal \
         other processes, nor mount anything]",
        visible_line(&writable.join(", ")),
    ))
}
